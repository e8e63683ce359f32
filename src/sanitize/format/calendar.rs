//! iCalendar (RFC 5545) and vCard (RFC 6350): lines of properties, some of which hold files, pages of HTML, or programs that
//! an alarm starts.

use crate::sanitize::format::markup::uri::is_script;
use crate::sanitize::format::{charset, text};
use crate::sanitize::{Options, Rejection, Work};

/// Hold files, or lead to them.
const FILES: &[&str] = &["ATTACH", "PHOTO", "LOGO", "SOUND", "KEY", "X-MS-OLK-ATTACH"];

/// Alarms of vCalendar 1.0 in one property: they play a file, start a program.
const ALARMS: &[&str] = &["AALARM", "PALARM"];

/// The most bytes of a line that is folded (RFC 5545 section 3.1).
const LINE: usize = 75;

/// A property with its continuations put together.
struct Property {
    line: String,
}

impl Property {
    /// What stands before the value, and the value. A colon within quotes is a parameter's (RFC 5545 section 3.1).
    fn parts(&self) -> (&str, &str) {
        let mut quoted = false;
        let colon = self.line.find(|c: char| {
            quoted ^= c == '"';
            c == ':' && !quoted
        });
        // Quotes that do not end hide nothing.
        let colon = colon.or_else(|| self.line.find(':')).unwrap_or(self.line.len());
        let (head, value) = self.line.split_at_checked(colon).unwrap_or((&self.line, ""));
        (head, value.strip_prefix(':').unwrap_or(value).trim())
    }

    /// Its name in capitals, without a vCard's group.
    fn name(&self) -> String {
        let name = self.line.split([';', ':']).next().unwrap_or_default();
        name.rsplit('.').next().unwrap_or_default().trim().to_ascii_uppercase()
    }

    /// Whether it holds a page, which programs show, or leads to a script.
    fn acts(&self, name: &str) -> bool {
        let (head, value) = self.parts();
        let head = head.to_ascii_lowercase();
        name == "X-ALT-DESC"
            || ALARMS.contains(&name)
            || head.contains("text/html")
            || head.contains("javascript:")
            || is_script(value)
    }

    /// Whether its value is this word, in whatever case.
    fn says(&self, word: &str) -> bool {
        self.parts().1.eq_ignore_ascii_case(word)
    }
}

/// Properties, and what was taken from among them.
#[derive(Default)]
struct Kept {
    properties: Vec<Property>,
    /// How many properties stand before each alarm that has not ended, the outermost first.
    alarms: Vec<usize>,
    /// How many of these start a program: one that does so within others does it within each of them.
    starting: usize,
    files: u64,
    acting: u64,
}

impl Kept {
    fn take(&mut self, property: Property, options: Options) {
        let name = property.name();
        if options.attachments && FILES.contains(&name.as_str()) {
            self.files = self.files.saturating_add(1);
            return;
        }
        if !options.interactive {
            return self.properties.push(property);
        }
        match name.as_str() {
            "BEGIN" if property.says("VALARM") => {
                self.alarms.push(self.properties.len());
            }
            "ACTION" if property.says("PROCEDURE") => {
                self.starting = self.alarms.len();
                if self.alarms.is_empty() {
                    self.acting = self.acting.saturating_add(1);
                    return;
                }
            }
            "END" if property.says("VALARM") => {
                let ended = self.alarms.pop().filter(|_| self.alarms.len() < self.starting);
                if let Some(from) = ended {
                    self.starting = self.alarms.len();
                    return self.cut(from);
                }
            }
            name if property.acts(name) => {
                self.acting = self.acting.saturating_add(1);
                return;
            }
            _ => {}
        }
        self.properties.push(property);
    }

    /// Takes an alarm out that begins there, with all within it.
    fn cut(&mut self, from: usize) {
        self.properties.truncate(from);
        self.acting = self.acting.saturating_add(1);
    }

    /// An alarm that never ends is one for some readers.
    fn end(&mut self) {
        if let Some(from) = self.alarms.first().copied().filter(|_| self.starting > 0) {
            self.cut(from);
        }
    }
}

/// Cleans a calendar or contacts: files go with attachments, pages, scripts and alarms that start programs with what acts.
///
/// # Errors
/// The host's.
pub(super) fn clean(file: &[u8], work: &mut Work<'_>) -> Result<Vec<u8>, Rejection> {
    let options = work.options();
    let decoded = charset::of_text(file);
    let mut kept = Kept::default();
    unfolded(&decoded.text).into_iter().for_each(|property| kept.take(property, options));
    kept.end();
    let Kept { properties, files, acting, .. } = kept;
    let stats = work.stats();
    stats.attachments = stats.attachments.saturating_add(files);
    stats.interactive = stats.interactive.saturating_add(acting);
    let lines: String = properties.iter().flat_map(|property| [property.line.as_str(), "\r\n"]).collect();
    let clean = text::clean(lines.as_bytes(), work)?;
    if files == 0 && acting == 0 && clean == lines.as_bytes() {
        return Ok(file.to_vec());
    }
    Ok(folded(&String::from_utf8_lossy(&clean)).into_bytes())
}

/// The properties of a text: a line that begins with a blank goes on with the one before. Some readers end lines at a
/// carriage return alone.
fn unfolded(text: &str) -> Vec<Property> {
    let mut properties: Vec<Property> = Vec::new();
    for line in text.split(['\r', '\n']).filter(|line| !line.is_empty()) {
        match (line.strip_prefix([' ', '\t']), properties.last_mut()) {
            (Some(rest), Some(property)) => property.line.push_str(rest),
            _ => properties.push(Property { line: line.to_owned() }),
        }
    }
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
    fn nothing_is_hidden_by_how_it_is_written() {
        for hidden in [
            "BEGIN:VALARM\nACTION:PROCEDURE\nBEGIN:VALARM\nEND:VALARM\nX:bad\nEND:VALARM\n",
            "BEGIN:VALARM\nBEGIN:VALARM\nACTION:PROCEDURE\nX:bad\nEND:VALARM\nEND:VALARM\n",
            "BEGIN:VALARM\nACTION;X=\"a:b\":procedure\nX:bad\nEND:VALARM\n",
            "begin:valarm\naction: PROCEDURE\nX:bad\n",
            "BEGIN:VALARM\nACTION:PRO\n CEDURE\nX:bad\nEND:VALARM\n",
            "SUMMARY:x\rATTACH:bad\r",
            "item1.attach;X=\"a:b\":bad\n",
            "AALARM:19960101T000000;;;file://bad/x.exe\n",
            "palarm:19960101T000000;PT5M;2;c:\\bad.exe\n",
            "DESCRIPTION;X=\"a:b\";FMTTYPE=text/html:bad\n",
            "URL;X=\"a:b\":Java\n Script:bad\n",
            "DESCRIPTION;ALTREP=\"javascript:bad\":x\n",
        ] {
            let file = format!("BEGIN:VCALENDAR\n{hidden}END:VCALENDAR\n");
            let (clean, stats) =
                Bench::disarming().clean(FileKind::Calendar, file.as_bytes()).expect("a clean file");
            assert!(!String::from_utf8_lossy(&clean).contains("bad"), "{hidden}");
            assert!(stats.interactive + stats.attachments > 0, "{hidden}");
        }
        let shown = "BEGIN:VCALENDAR\nBEGIN:VALARM\nACTION:DISPLAY\nEND:VALARM\nX:kept\nEND:VCALENDAR\n";
        assert_eq!(Bench::disarming().text(FileKind::Calendar, shown), shown);
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
