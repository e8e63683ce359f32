//! iCalendar (RFC 5545) and vCard (RFC 6350): lines of properties, some of which hold files, pages of HTML, or programs that
//! an alarm starts.

use crate::sanitize::format::markup::uri::is_script;
use crate::sanitize::format::{charset, text};
use crate::sanitize::{Rejection, Work};

/// Hold files, or lead to them.
const FILES: &[&str] = &["ATTACH", "PHOTO", "LOGO", "SOUND", "KEY", "X-MS-OLK-ATTACH"];

/// The most bytes of a line that is folded (RFC 5545 section 3.1).
const LINE: usize = 75;

/// A property with its continuations put together.
struct Property {
    line: String,
}

impl Property {
    /// Its name in capitals, without a vCard's group.
    fn name(&self) -> String {
        let name = self.line.split([';', ':']).next().unwrap_or_default();
        name.rsplit('.').next().unwrap_or_default().trim().to_ascii_uppercase()
    }

    /// What stands behind its name and parameters, in capitals.
    fn value(&self) -> String {
        self.line.split_once(':').map(|(_, value)| value.trim().to_ascii_uppercase()).unwrap_or_default()
    }

    /// Whether it holds a page, which programs show.
    fn is_page(&self) -> bool {
        let parameters = self.line.split(':').next().unwrap_or_default().to_ascii_lowercase();
        self.name() == "X-ALT-DESC" || parameters.contains("text/html")
    }
}

/// Cleans a calendar or contacts: files go with attachments, pages and alarms that start programs with what acts.
///
/// # Errors
/// The host's.
pub(super) fn clean(file: &[u8], work: &mut Work<'_>) -> Result<Vec<u8>, Rejection> {
    let options = work.options();
    let decoded = charset::of_text(file);
    let mut kept: Vec<Property> = Vec::new();
    let (mut files, mut acting) = (0_u64, 0_u64);
    // Where the innermost alarm begins that is open, and whether it starts a program.
    let mut alarm: Option<(usize, bool)> = None;
    for property in unfolded(&decoded.text) {
        let name = property.name();
        if options.attachments && FILES.contains(&name.as_str()) {
            files = files.saturating_add(1);
            continue;
        }
        if options.interactive && (property.is_page() || is_script(&property.value())) {
            acting = acting.saturating_add(1);
            continue;
        }
        match (name.as_str(), property.value().as_str(), &mut alarm) {
            ("BEGIN", "VALARM", _) => alarm = Some((kept.len(), false)),
            ("ACTION", "PROCEDURE", Some((_, starts))) => *starts = true,
            ("END", "VALARM", Some((from, true))) if options.interactive => {
                kept.truncate(*from);
                acting = acting.saturating_add(1);
                alarm = None;
                continue;
            }
            _ => {}
        }
        kept.push(property);
    }
    let stats = work.stats();
    stats.attachments = stats.attachments.saturating_add(files);
    stats.interactive = stats.interactive.saturating_add(acting);
    let lines: String = kept.iter().flat_map(|property| [property.line.as_str(), "\r\n"]).collect();
    let clean = text::clean(lines.as_bytes(), work)?;
    if files == 0 && acting == 0 && clean == lines.as_bytes() {
        return Ok(file.to_vec());
    }
    Ok(folded(&String::from_utf8_lossy(&clean)).into_bytes())
}

/// The properties of a text: a line that begins with a blank goes on with the one before.
fn unfolded(text: &str) -> Vec<Property> {
    let mut properties: Vec<Property> = Vec::new();
    for line in text.lines() {
        let line = line.trim_end_matches('\r');
        match (line.strip_prefix([' ', '\t']), properties.last_mut()) {
            (Some(rest), Some(property)) => property.line.push_str(rest),
            _ => properties.push(Property { line: line.to_owned() }),
        }
    }
    properties.retain(|property| !property.line.is_empty());
    properties
}

fn folded(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let mut rest = line;
        let mut most = LINE;
        while rest.len() > most {
            let (head, tail) = rest.split_at(rest.floor_char_boundary(most));
            out.push_str(head);
            out.push_str("\r\n ");
            (rest, most) = (tail, LINE.saturating_sub(1));
        }
        out.push_str(rest);
        out.push_str("\r\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use crate::sanitize::FileKind;
    use crate::sanitize::bench::Bench;

    const ENTRY: &str = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nSUMMARY:Lunch with Ja\r\n ne\r\n\
                         ATTACH;FMTTYPE=application/octet-stream;ENCODING=BASE64;VALUE=BINARY:TVqQ\r\n AAMA\r\n\
                         X-ALT-DESC;FMTTYPE=text/html:<html><script>x</script></html>\r\n\
                         URL:javascript:alert(1)\r\n\
                         BEGIN:VALARM\r\nACTION:PROCEDURE\r\nATTACH:file:///c:/calc.exe\r\nEND:VALARM\r\n\
                         BEGIN:VALARM\r\nACTION:DISPLAY\r\nEND:VALARM\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";

    #[test]
    fn an_entry_loses_what_acts_and_keeps_the_rest() {
        let mut bench = Bench::redacting("Jane");
        let (clean, stats) = bench.clean(FileKind::Calendar, ENTRY.as_bytes()).expect("a clean file");
        let want = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nSUMMARY:Lunch with <N>\r\n\
                    BEGIN:VALARM\r\nACTION:DISPLAY\r\nEND:VALARM\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
        assert_eq!(String::from_utf8(clean).expect("text"), want);
        assert_eq!((stats.attachments, stats.interactive), (2, 3));
    }

    #[test]
    fn what_has_nothing_of_that_stays_byte_for_byte() {
        let card =
            "BEGIN:VCARD\nVERSION:4.0\nFN:Zo\u{eb}\nNOTE:a long line that is\n  folded by hand\nEND:VCARD\n";
        assert_eq!(Bench::disarming().text(FileKind::Calendar, card), card);
    }

    #[test]
    fn long_lines_are_folded_between_characters() {
        let folded = super::folded(&"\u{eb}".repeat(100));
        assert!(folded.lines().all(|line| line.len() <= super::LINE), "{folded}");
        assert_eq!(super::unfolded(&folded).first().map(|p| p.line.clone()), Some("\u{eb}".repeat(100)));
    }
}
