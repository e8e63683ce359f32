//! iCalendar (RFC 5545) and vCard (RFC 6350): lines of properties, some of which hold files, pages of HTML, or programs that
//! an alarm starts.

use encoding_rs::Encoding;

use crate::sanitize::format::mail::Transfer;
use crate::sanitize::format::markup::uri::is_script;
use crate::sanitize::format::{charset, text};
use crate::sanitize::{ChangedObject, ObjectAction, ObjectKind, Options, Rejection, Work};

/// Hold files, or lead to them.
const FILES: &[&str] = &["ATTACH", "PHOTO", "LOGO", "SOUND", "KEY", "X-MS-OLK-ATTACH"];

/// Alarms of vCalendar 1.0 in one property: they play a file, start a program.
const ALARMS: &[&str] = &["AALARM", "PALARM"];

/// The most bytes of a line that is folded (RFC 5545 section 3.1).
const LINE: usize = 75;

/// How much of a property is looked at for its coding, in bytes.
const HEAD: usize = 1024;

/// Stands for the end of a line within a value.
const BREAK: char = '\u{2028}';

/// A property with its continuations put together.
struct Property {
    /// As it is read.
    line: String,
    /// How it is written, if its value has a coding of its own.
    coded: Option<Coded>,
}

/// How a value is written that has a coding of its own (vCard 2.1 and vCalendar 1.0; base64 also RFC 2426).
struct Coded {
    line: String,
    transfer: Transfer,
    encoding: &'static Encoding,
}

impl Coded {
    /// A property that reads like this, in the same coding.
    fn spelled(&self, line: &str) -> String {
        let (head, value) = parts(line);
        let coded = |value: &str, eol: &str| {
            let bytes = charset::encoded(value, self.encoding, false).unwrap_or_else(|| value.into());
            String::from_utf8_lossy(&self.transfer.encoded(&bytes, eol)).trim_end().to_owned()
        };
        let coded = match self.transfer {
            // Ends of lines are spelled, and a line in this coding may end behind them.
            Transfer::Quoted => {
                let lines: Vec<String> = value.split(BREAK).map(|line| coded(line, "\r\n")).collect();
                lines.join("=0D=0A=\r\n")
            }
            _ => coded(&value.replace(BREAK, "\r\n"), ""),
        };
        format!("{head}:{coded}")
    }
}

impl Property {
    /// As it is read.
    fn read(line: String) -> Self {
        let property = Self { line, coded: None };
        let transfer = transfer(property.parts().0);
        let file = FILES.contains(&property.name().as_str());
        if transfer == Transfer::Plain || file && transfer == Transfer::Base64 {
            return property;
        }
        let (head, value) = property.parts();
        let Some((bytes, _)) = transfer.decoded(value.as_bytes()) else { return property };
        // Bytes of something else.
        if transfer == Transfer::Base64 && charset::text_of(&bytes).is_none() {
            return property;
        }
        let decoded = charset::of_text(&bytes);
        let text = decoded.text.replace("\r\n", "\n").replace(['\r', '\n'], &BREAK.to_string());
        let line = format!("{head}:{text}");
        Self { coded: Some(Coded { line: property.line, transfer, encoding: decoded.encoding }), line }
    }

    /// What stands before the value, and the value.
    fn parts(&self) -> (&str, &str) {
        parts(&self.line)
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

/// What stands before a property's value, and the value. A colon within quotes is a parameter's (RFC 5545 section 3.1).
fn parts(line: &str) -> (&str, &str) {
    let mut quoted = false;
    let colon = line.find(|c: char| {
        quoted ^= c == '"';
        c == ':' && !quoted
    });
    // Quotes that do not end hide nothing.
    let colon = colon.or_else(|| line.find(':')).unwrap_or(line.len());
    let (head, value) = line.split_at_checked(colon).unwrap_or((line, ""));
    (head, value.strip_prefix(':').unwrap_or(value).trim())
}

/// How a value is coded, by what stands before it.
fn transfer(head: &str) -> Transfer {
    let spelled = |c: &char| !c.is_whitespace() && *c != '"';
    let head: String = head.chars().filter(spelled).map(|c| c.to_ascii_lowercase()).collect();
    let has = |parameter: &[&str]| head.split(';').skip(1).any(|one| parameter.contains(&one));
    if has(&["encoding=quoted-printable", "quoted-printable"]) {
        Transfer::Quoted
    } else if has(&["encoding=base64", "encoding=b", "base64"]) {
        Transfer::Base64
    } else {
        Transfer::Plain
    }
}

/// Properties, and what was taken from among them.
#[derive(Default)]
struct KeptProperties {
    properties: Vec<Property>,
    /// How many properties stand before each alarm that has not ended, the outermost first.
    alarms: Vec<usize>,
    /// How many of these start a program: one that does so within others does it within each of them.
    starting: usize,
    files: u64,
    acting: u64,
}

impl KeptProperties {
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
    let mut kept = KeptProperties::default();
    let (properties, ambiguous) = unfolded(&decoded.text);
    properties.into_iter().for_each(|line| kept.take(Property::read(line), options));
    kept.end();
    let KeptProperties { properties, files, acting, .. } = kept;
    work.detached(ChangedObject::new(ObjectKind::Attachment, ObjectAction::Removed, files));
    work.acting(ChangedObject::new(ObjectKind::Action, ObjectAction::Removed, acting));
    let lines: String = properties.iter().flat_map(|property| [property.line.as_str(), "\r\n"]).collect();
    let clean = text::clean(lines.as_bytes(), work)?;
    if files == 0 && acting == 0 && !ambiguous && clean == lines.as_bytes() {
        return Ok(file.to_vec());
    }
    let clean = String::from_utf8_lossy(&clean);
    let mut out = String::new();
    for (line, property) in clean.lines().zip(&properties) {
        match &property.coded {
            Some(coded) if line != property.line && coded.transfer == Transfer::Quoted => {
                out.push_str(&coded.spelled(line));
                out.push_str("\r\n");
            }
            Some(coded) if line != property.line => out.push_str(&folded(&coded.spelled(line))),
            Some(coded) => out.push_str(&folded(&coded.line)),
            None => out.push_str(&folded(line)),
        }
    }
    Ok(out.into_bytes())
}

/// The properties of a text: a line that begins with a blank goes on with the one before, and so does one behind a line in
/// quoted-printable that does not end there. Some readers end lines at a carriage return alone. Also whether some may read
/// a property where a value goes on here.
fn unfolded(text: &str) -> (Vec<String>, bool) {
    let mut properties: Vec<String> = Vec::new();
    let mut ambiguous = false;
    // Whether the last one is in quoted-printable, as far as that was asked.
    let mut quoted: Option<bool> = None;
    for line in text.split(['\r', '\n']).filter(|line| !line.is_empty()) {
        let goes_on = properties.last().is_some_and(|property| {
            property.ends_with('=')
                && *quoted.get_or_insert_with(|| {
                    let head = property.get(..property.floor_char_boundary(HEAD)).unwrap_or(property);
                    transfer(parts(head).0) == Transfer::Quoted
                })
        });
        match (line.strip_prefix([' ', '\t']), properties.last_mut()) {
            (_, Some(property)) if goes_on => {
                property.pop();
                ambiguous |= line.contains(':');
                property.push_str(line);
            }
            (Some(rest), Some(property)) => {
                // What it is may be told only now.
                if property.len() < HEAD {
                    quoted = None;
                }
                property.push_str(rest);
            }
            _ => {
                quoted = None;
                properties.push(line.to_owned());
            }
        }
    }
    (properties, ambiguous)
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
            "URL;ENCODING=QUOTED-PRINTABLE:java=73cript:bad\n",
            "URL; encoding = \"Quoted-Printable\":java=73cript:bad\n",
            "URL;QUOTED-PRINTABLE:java=73cript:bad=00\n",
            "URL;ENCODING=B:amF2YXNjcmlwdDpiYWQ=\nATTACH:bad\n",
            "BEGIN:VALARM\nACTION;QUOTED-PRINTABLE:PRO=43EDURE\nX:bad\nEND:VALARM\n",
        ] {
            let file = format!("BEGIN:VCALENDAR\n{hidden}END:VCALENDAR\n");
            let (clean, stats) =
                Bench::disarming().clean(FileKind::Calendar, file.as_bytes()).expect("a clean file");
            assert!(!String::from_utf8_lossy(&clean).contains("bad"), "{hidden}");
            assert!(stats.interactive + stats.attachments > 0, "{hidden}");
        }
        let parted = "BEGIN:VCALENDAR\nSUMMARY;QUOTED-PRINTABLE:x=\nATTACH:bad\nEND:VCALENDAR\n";
        let joined = Bench::disarming().text(FileKind::Calendar, parted);
        assert!(joined.lines().all(|line| !line.starts_with("ATTACH")), "{joined}");
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
        assert_eq!(super::unfolded(&folded).0.first(), Some(&"\u{eb}".repeat(100)));
    }

    #[test]
    fn values_in_a_coding_of_their_own_are_read() {
        let card = "BEGIN:VCARD\r\nVERSION:2.1\r\nN;QUOTED-PRINTABLE:Ja=\r\nne\r\n\
                    NOTE;CHARSET=ISO-8859-1;ENCODING=QUOTED-PRINTABLE:J=61ne =E9=0D=0Aand so on\r\n\
                    LABEL;ENCODING=B:SmFuZSBEb2U=\r\nTEL;ENCODING=QUOTED-PRINTABLE:=31\r\nEND:VCARD\r\n";
        let mut bench = Bench::redacting("Jane");
        let (clean, _) = bench.clean(FileKind::Calendar, card.as_bytes()).expect("a clean file");
        let want = "BEGIN:VCARD\r\nVERSION:2.1\r\nN;QUOTED-PRINTABLE:<N>\r\n\
                    NOTE;CHARSET=ISO-8859-1;ENCODING=QUOTED-PRINTABLE:<N> =E9=0D=0A=\r\nand so on\r\n\
                    LABEL;ENCODING=B:PE4+IERvZQ==\r\nTEL;ENCODING=QUOTED-PRINTABLE:=31\r\nEND:VCARD\r\n";
        assert_eq!(String::from_utf8_lossy(&clean), want);
        assert_eq!(Bench::disarming().text(FileKind::Calendar, card), card);
    }
}
