//! Full names that no list has, known by where they stand: before a mail address (RFC 5322 section 3.4), behind a greeting
//! or `Signed:`, below a letter, as the common name of an entry of a directory (RFC 4519 section 2.3), of a calendar
//! (RFC 5545 section 3.2.2) or of a card (RFC 6350 section 6.2.1), and before what somebody says in a chat.

use super::super::super::view::View;
use super::companies::company_end;
use super::correspondence::{COLLECTIVES, GREETED, GREETINGS, OFFICES, SHORT_SIGN_OFFS, SIGN_OFFS, SIGNERS};
use super::letters::{AHEAD, is_letter, text, text_before};
use super::lexicon::look_up_all;
use super::roles::NameList;
use super::spelling::WordCase;
use super::surroundings::{ends_line, goes_on};
use super::word::{JOINT, NameWord, Tagged};
use super::words::is;
use crate::detect::naming::lower;
use crate::detect::rules::NameTag;

/// How much is read before a name, in bytes.
const BEFORE: usize = 48;

/// The most words of a full name, with its initials, and without them; particles do not count.
const PARTS: usize = 4;
const WORDS: usize = 3;

/// The full name that a sequence is, if it stands where one does.
pub(super) fn unlisted(view: &View<'_>, words: &[NameWord]) -> Option<Tagged> {
    let last = words.last().filter(|_| words.len() > 1)?;
    let addressed = is_before_mail(view, last.end);
    let (greeted, named) = opened(words, addressed);
    let first = named.first()?;
    // Who has a given name that is known is found by it.
    let listed = first.classes.is_given() && !first.classes.is_common();
    let stands =
        || addressed || greeted && ends_greeting(view, last.end) || is_placed(view, first.start, last.end);
    let found = !listed && stands() && is_full(named, addressed) && company_end(view, named).is_none();
    let score = if addressed { 0.75 } else { 0.65 };
    found.then_some(Tagged { tag: NameTag::Person, start: first.start, end: last.end, score })
}

/// Whether a sequence begins with a greeting, and what stands behind that, or, before a mail address, behind what is
/// nobody's name.
fn opened(words: &[NameWord], addressed: bool) -> (bool, &[NameWord]) {
    let greeted = words.first().is_some_and(|word| is(&word.lower, GREETINGS));
    let others = if addressed { words.iter().take_while(|word| is_other(word)).count() } else { 0 };
    (greeted, words.get(others.max(usize::from(greeted))..).unwrap_or_default())
}

/// Whether a word before a name is none of its parts: `Thanks`, `Author`, `Reviewed-by`.
fn is_other(word: &NameWord) -> bool {
    let classes = word.classes;
    let known = classes.is_ordinary() || classes.is_function();
    known && !classes.is_person() || word.roles.has(NameList::NamedPerson) || word.lower.ends_with("-by")
}

/// What a word that no list has as a name is when it has a part in one of these.
const OTHERS: [NameList; 20] = [
    NameList::Brand,
    NameList::Company,
    NameList::Declaration,
    NameList::Form,
    NameList::Group,
    NameList::Maker,
    NameList::Model,
    NameList::ModelKind,
    NameList::Month,
    NameList::NamePart,
    NameList::NamedPerson,
    NameList::Placeholder,
    NameList::Product,
    NameList::Publication,
    NameList::Room,
    NameList::Street,
    NameList::StreetBehind,
    NameList::SureThing,
    NameList::Technical,
    NameList::Tool,
];

/// Whether words may be somebody's full name. `loosely`: where hardly anything else can stand, the surname may be a word.
fn is_full(words: &[NameWord], loosely: bool) -> bool {
    let parts = || words.iter().filter(|word| !word.particle);
    let full = parts().filter(|word| !is_initial(word)).count();
    let Some(last) = words.last().filter(|last| !last.particle && !is_initial(last)) else { return false };
    (2..=PARTS).contains(&parts().count())
        && full <= WORDS
        && words.iter().all(|word| word.lower != JOINT)
        && parts().enumerate().all(|(n, word)| is_initial(word) || may_be_part(word, n == 0, loosely))
        && (loosely || !is_crowd(last))
        && !look_up_all(words.iter().map(|word| word.lower.as_str())).is_place()
}

fn is_initial(word: &NameWord) -> bool {
    word.lower.chars().nth(1).is_none()
}

/// Whether a word may be a part of a full name.
pub(super) fn may_be_part(word: &NameWord, first: bool, loosely: bool) -> bool {
    let classes = word.classes;
    let known = classes.is_person();
    let spelt = word.spelling == WordCase::Name || word.spelling == WordCase::Mixed && known;
    // A given name that is a word, too, stands in front: `Will`.
    let told = if first { classes.is_given() } else { loosely && classes.is_surname() };
    let common = classes.is_ordinary() && !told;
    let other = !known && OTHERS.iter().any(|&list| word.roles.has(list));
    let place = !known && classes.is_place() && (first || word.roles.has(NameList::LargePlace));
    let name = spelt && !(common || other || place || classes.is_title());
    name && !is(&word.lower, GREETED) && !is_listed(&word.lower, COLLECTIVES)
}

/// Whether a word is one of those between spaces.
fn is_listed(word: &str, of: &str) -> bool {
    of.split(' ').any(|one| one == word)
}

/// Endings of words for many people that no list has: `Maintainers`, `Shareholders`, `Residents`.
const CROWDS: [&str; 7] = ["ers", "ors", "ists", "ants", "ents", "ees", "ians"];

fn is_crowd(word: &NameWord) -> bool {
    !word.classes.is_person() && CROWDS.iter().any(|ending| word.lower.ends_with(*ending))
}

/// What stands between a name and its mail address.
const MAIL: [&str; 4] = ["<mailto:", "[mailto:", "&lt;", "<"];

/// Whether the mail address of somebody, and of no office, stands behind the name that ends at `end`: ` <jane@`.
fn is_before_mail(view: &View<'_>, end: usize) -> bool {
    let behind = text(view, end, end + AHEAD);
    let behind = behind.trim_start_matches(['\\', '"', '\'']);
    let Some(rest) = behind.strip_prefix(' ') else { return false };
    let address = MAIL.iter().find_map(|open| rest.strip_prefix(*open));
    let Some((mailbox, _)) = address.and_then(|address| address.split_once('@')) else { return false };
    let within = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '+' | '=' | '%' | '\'' | '~');
    !mailbox.is_empty() && mailbox.chars().all(within) && !is_office(mailbox)
}

/// Whether a mailbox is an office's, a list's or a program's.
fn is_office(mailbox: &str) -> bool {
    let mailbox = mailbox.to_ascii_lowercase();
    let mut parts = mailbox.split(|c: char| !is_letter(c)).filter(|part| !part.is_empty());
    parts.any(|part| is_listed(part, OFFICES))
}

/// Whether whom a greeting is for ends at `end`.
fn ends_greeting(view: &View<'_>, end: usize) -> bool {
    matches!(view.get(end), None | Some(b',' | b'!' | b'\n' | b'\r'))
}

/// Whether what stands around `start..end` says that it is somebody.
fn is_placed(view: &View<'_>, start: usize, end: usize) -> bool {
    let front = text_before(view, start, BEFORE);
    let whole = front.len() == start;
    ends_greeting(view, end) && is_greeting(front)
        || is_signed(front) && !goes_on(view, end)
        || is_common_name(front) && ends_entry(view, end)
        || ends_line(view, end) && is_below_letter(front, whole)
        || speaks(view, front, end)
}

/// The letters that a text ends with, in lower case.
fn last_word(text: &str) -> String {
    let rest = text.trim_end_matches(is_letter);
    lower(text.get(rest.len()..).unwrap_or_default())
}

/// Whether a greeting in a sequence of its own stands there: `Hello, `, `Sehr geehrte `.
fn is_greeting(front: &str) -> bool {
    let front = front.strip_suffix(' ').map(|front| front.strip_suffix(',').unwrap_or(front));
    front.is_some_and(|front| is(&last_word(front), GREETINGS))
}

/// Whether a label of who signs stands there: `Signed: `, `**Author:** `, `"author": "`.
fn is_signed(front: &str) -> bool {
    let sign = |c: char| matches!(c, ' ' | '*' | '_' | '"' | '\'');
    let label = front.trim_end_matches(sign).strip_suffix(':');
    label.is_some_and(|label| is(&last_word(label.trim_end_matches(sign)), SIGNERS))
}

/// What stands before a common name.
const COMMON_NAMES: [&str; 5] = ["CN=", "cn=", "CN = ", "cn: ", "FN:"];

fn is_common_name(front: &str) -> bool {
    let front = front.strip_suffix('"').unwrap_or(front);
    COMMON_NAMES
        .iter()
        .any(|name| front.strip_suffix(*name).is_some_and(|rest| !rest.ends_with(char::is_alphanumeric)))
}

/// Whether a part of an entry may end at `end`.
fn ends_entry(view: &View<'_>, end: usize) -> bool {
    let sign = |byte: u8| matches!(byte, b',' | b';' | b':' | b'/' | b'+' | b'"' | b'\'' | b'\n' | b'\r');
    view.get(end).is_none_or(sign)
}

/// The most words of a line that ends a letter: `Mit ganz herzlichen Grüßen`.
const CLOSING: usize = 5;

/// Whether the line above, or the one above an empty one, ends a letter: `Best regards,`. `whole`: nothing stands before
/// the text.
fn is_below_letter(front: &str, whole: bool) -> bool {
    let blank = |c: char| matches!(c, ' ' | '\t' | '\r' | '>');
    let Some(above) = front.trim_end_matches(blank).strip_suffix('\n') else { return false };
    let above = above.trim_end_matches(|c: char| blank(c) || c == '\n');
    let begins = above.rfind('\n').map(|at| at + 1);
    let line = above.get(begins.unwrap_or(0)..).unwrap_or_default();
    let said = line.trim_end_matches([',', '!', '.']);
    let (count, last) = (said.split_whitespace().count(), last_word(said));
    let short = line.ends_with(',') && count <= 2 && is(&last, SHORT_SIGN_OFFS);
    (whole || begins.is_some()) && (short || count <= CLOSING && is(&last, SIGN_OFFS))
}

/// Whether a line of a chat begins there and what is said stands behind: `[10:04] … : `, `12/31/23, 10:04 PM - … : `.
fn speaks(view: &View<'_>, front: &str, end: usize) -> bool {
    let bracket = front.strip_suffix("] ");
    let Some(time) = bracket.or_else(|| front.strip_suffix(" - ")) else { return false };
    let colon = matches!(view.slice(end, end + 2), b":" | [b':', b' ' | b'\n' | b'\r']);
    let half = |c: char| matches!(c, 'A' | 'P' | 'M' | 'a' | 'p' | 'm' | '.' | ' ');
    let clock = time.trim_end_matches(half).as_bytes();
    let timed = matches!(clock, [.., b'0'..=b'9', b':', b'0'..=b'5', b'0'..=b'9']);
    timed && (colon || bracket.is_some() && ends_line(view, end))
}

#[cfg(test)]
mod tests {
    use super::super::introductions::tests::found;

    /// Texts of which a whole person is found, and nothing else.
    fn all_are_found(rows: &[(&str, &str)]) {
        for (text, name) in rows {
            assert_eq!(found(text), [format!("PERSON {name}")], "{text}");
        }
    }

    fn none_is_found(texts: &[&str]) {
        for text in texts {
            assert_eq!(found(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn a_mail_address_says_whose_it_is() {
        all_are_found(&[
            ("Author: Dmitry Ivanov <dmitry@corp-x.com>", "Dmitry Ivanov"),
            ("Signed-off-by: Oksana Shevchenko <o@corp-x.com>\n", "Oksana Shevchenko"),
            ("From: \"Oksana Shevchenko\" <o@corp-x.com>", "Oksana Shevchenko"),
            ("From: Oksana Shevchenko [mailto:o@corp-x.com]", "Oksana Shevchenko"),
            ("Cc: Oksana Shevchenko &lt;o@corp-x.com&gt;", "Oksana Shevchenko"),
            ("thanks to Zbynek van Hrdlicka <zh@corp-x.com> for it", "Zbynek van Hrdlicka"),
            ("Zbynek Q. Hrdlicka <12345+zbynek@corp-x.com>", "Zbynek Q. Hrdlicka"),
            ("Thanks Zbynek Hrdlicka <zh@corp-x.com>", "Zbynek Hrdlicka"),
            ("Author Zbynek Hrdlicka <zh@corp-x.com>", "Zbynek Hrdlicka"),
            ("Will Hrdlicka <will@corp-x.com>", "Will Hrdlicka"),
            ("Dmitry Long <long@corp-x.com>", "Dmitry Long"),
        ]);
        none_is_found(&[
            "The Team <team@corp-x.com>",
            "From: Customer Support <help@corp-x.com>",
            "Zuza Foundation <zuza@corp-x.com>",
            "Tokio Contributors <tokio@corp-x.com>",
            "Public Suffix List <psl@corp-x.com>",
            "Zuza Xyloma <no-reply@corp-x.com>",
            "Zuza Xyloma <zuza-support@corp-x.com>",
            "Stadtwerke Xyloma <info@corp-x.com>",
            "Your Name <you@corp-x.com>",
            "Firstname Lastname <name@corp-x.com>",
            "Claude Code <x@corp-x.com>",
            "GitHub Actions <x@corp-x.com>",
            "HashMap Xyloma <String>",
            "Zuza Xyloma < 3",
            "Zuza <zuza@corp-x.com>",
            "Zuza Xyloma Qwert Brzoza Hlava <z@corp-x.com>",
        ]);
        assert_eq!(found("San Francisco <x@corp-x.com>"), ["LOCATION San Francisco"]);
    }

    #[test]
    fn who_is_greeted_or_signs_has_a_name() {
        all_are_found(&[
            ("Dear Oksana Shevchenko,\nwe", "Oksana Shevchenko"),
            ("Dear Dmitry Ivanov, thank you.", "Dmitry Ivanov"),
            ("Hi Oksana Shevchenko,", "Oksana Shevchenko"),
            ("Hallo Zbynek Hrdlicka!", "Zbynek Hrdlicka"),
            ("Hello, Oksana Shevchenko!", "Oksana Shevchenko"),
            ("Sehr geehrte Oksana Shevchenko,", "Oksana Shevchenko"),
            ("dear Oksana Shevchenko,", "Oksana Shevchenko"),
            ("Signed: Dmitry Ivanov", "Dmitry Ivanov"),
            ("**Author:** Oksana Shevchenko", "Oksana Shevchenko"),
            ("{\"author\": \"Oksana Shevchenko\"}", "Oksana Shevchenko"),
            ("see you.\n\nRegards,\nDmitry Ivanov", "Dmitry Ivanov"),
            ("Best regards\n\nOksana Shevchenko\nCEO", "Oksana Shevchenko"),
            ("> Thanks,\n> Oksana Shevchenko\n> x", "Oksana Shevchenko"),
            ("Mit freundlichen Gr\u{fc}\u{df}en\r\nZbynek Hrdlicka\r\n", "Zbynek Hrdlicka"),
        ]);
        none_is_found(&[
            "Dear Hiring Manager,",
            "Dear Xyloma Maintainers,",
            "Dear Xyloma Team,",
            "Dear Valued Customer,",
            "Hello World!",
            "Hello Qwert World!",
            "Hi Claude Code,",
            "Dear Oksana and",
            "Signed: Today",
            "Signed: Xyloma Hlava runs",
            "unsigned: Xyloma Hlava",
            "Regards,\nThe Xyloma Team",
            "Regards,\nCustomer Support",
            "Thanks,\nXyloma Hlava is down",
            "with best regards to all of them there, thank you,\nXyloma Hlava\n",
            "Summary\nXyloma Hlava\n",
        ]);
    }

    #[test]
    fn entries_and_chats_say_who_is_meant() {
        all_are_found(&[
            ("ORGANIZER;CN=Oksana Shevchenko:mailto:o@corp-x.com", "Oksana Shevchenko"),
            ("ATTENDEE;CN=\"Oksana Shevchenko\";RSVP=TRUE", "Oksana Shevchenko"),
            ("CN=Oksana Shevchenko,OU=Users", "Oksana Shevchenko"),
            ("Subject: O = x, CN = Dmitry Ivanov", "Dmitry Ivanov"),
            ("/O=x/CN=Dmitry Ivanov/", "Dmitry Ivanov"),
            ("FN:Oksana Shevchenko\n", "Oksana Shevchenko"),
            ("[10:04] Oksana Shevchenko: hi", "Oksana Shevchenko"),
            ("[10:04 AM] Oksana Shevchenko\nhi", "Oksana Shevchenko"),
            ("[31.12.23, 10:04:05] Dmitry Ivanov: hi", "Dmitry Ivanov"),
            ("12/31/23, 10:04 PM - Dmitry Ivanov: hi", "Dmitry Ivanov"),
        ]);
        none_is_found(&[
            "CN=Domain Users,OU=x",
            "CN=Xyloma Global Root,O=x",
            "CN=Xyloma Root CA",
            "CN=Xyloma Publishers,OU=x",
            "XCN=Oksana Hlava,",
            "CN=Oksana,OU=x",
            "[10:04] Server Started: ok",
            "[10:04] Build Failed: x",
            "[WARN] Xyloma Hlava: x",
            "[10:04] Xyloma Hlava is up",
            "10:04 Xyloma Hlava: x",
            "[10:04:05.123] Xyloma Hlava: x",
        ]);
    }
}
