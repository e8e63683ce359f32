//! Values in identifiers, which look like addresses and are none, and in names that programs give: of fonts, of styles, of
//! themselves. What was found elsewhere in a file goes from them, too; anything else is looked for only where it is no such
//! name by its form.

use crate::edit::spliced_text;
use crate::sanitize::generated_id::is_generated;
use crate::sanitize::link::LinkText;
use crate::sanitize::{Edit, NamedText, Rejection, Work};

/// What links to parts and messages begin with, which their identifiers follow (RFC 2392).
const SCHEMES: &[&str] = &["cid:", "mid:"];

/// From how many digits on a number may be a value.
const DIGITS: usize = 9;

/// Stands for a value in an identifier of which nothing else is left.
const SOMETHING: char = 'x';

/// Whether a text may hold a value of a form of its own: an address, or a long number, however it is parted.
pub(in crate::sanitize) fn has_form(text: &str) -> bool {
    let parted = |c: char| c.is_ascii_digit() || matches!(c, ' ' | '-' | '(' | ')');
    let mut runs = text.split(|c: char| !parted(c));
    text.contains('@') || runs.any(|run| run.chars().filter(char::is_ascii_digit).count() >= DIGITS)
}

/// What is to change in each of these texts; only in those that `is_read` is anything looked for that was not found elsewhere.
/// Whoever makes the change tells [`applied`](Work::applied).
///
/// # Errors
/// The host's.
pub(in crate::sanitize) fn edits(
    texts: &[&str],
    is_read: impl Fn(&str) -> bool,
    work: &mut Work<'_>,
) -> Result<Vec<Vec<Edit>>, Rejection> {
    let again = work.is_again();
    let named = NamedText::all_nowhere(texts).into_iter().enumerate();
    let (asked, others): (Vec<_>, Vec<_>) = named.partition(|(_, named)| again || is_read(named.text));
    for (_, named) in others {
        work.keep(&[named], &[Vec::new()]);
    }
    let named: Vec<NamedText<&str>> = asked.iter().map(|(_, named)| *named).collect();
    let mut all = vec![Vec::new(); texts.len()];
    for ((at, _), found) in asked.iter().zip(work.redactions(&named)?) {
        if let Some(place) = all.get_mut(*at) {
            *place = found;
        }
    }
    Ok(all)
}

/// What each of these identifiers of messages and parts becomes (RFC 5322, 3.6.4), the same wherever it stands; `None` where
/// nothing changes. Counted as applied.
///
/// # Errors
/// The host's.
pub(in crate::sanitize) fn changed(
    ids: &[&str],
    work: &mut Work<'_>,
) -> Result<Vec<Option<String>>, Rejection> {
    let all = edits(ids, |id| !is_generated(id), work)?;
    Ok(ids.iter().zip(all).map(|(id, edits)| spliced(id, edits, work)).collect())
}

/// What each of these targets of links becomes, as [`Work::targets`] says; those of parts and messages as their identifiers
/// do.
///
/// # Errors
/// The host's.
pub(in crate::sanitize) fn targets(
    targets: &[&str],
    work: &mut Work<'_>,
) -> Result<Vec<Option<String>>, Rejection> {
    let all = targets.iter().copied().enumerate();
    let (of_ids, links): (Vec<_>, Vec<_>) = all.partition(|(_, target)| identifier(target).is_some());
    let mut out: Vec<Option<String>> = vec![None; targets.len()];
    let followed: Vec<&str> = links.iter().map(|(_, link)| *link).collect();
    let new = work.targets(&followed)?;
    for ((at, _), new) in links.iter().zip(new) {
        if let Some(place) = out.get_mut(*at) {
            *place = new;
        }
    }
    let ids: Vec<&str> = of_ids.iter().map(|(_, target)| identifier(target).unwrap_or_default()).collect();
    let plain: Vec<Option<LinkText>> = ids.iter().map(|id| LinkText::of(id)).collect();
    let texts = ids.iter().zip(&plain);
    let texts: Vec<&str> = texts.map(|(id, plain)| plain.as_ref().map_or(*id, LinkText::text)).collect();
    let found = edits(&texts, |id| !is_generated(id), work)?;
    for ((((at, target), id), plain), mut found) in of_ids.iter().zip(&ids).zip(&plain).zip(found) {
        if let Some(plain) = plain {
            found.iter_mut().for_each(|edit| edit.range = plain.map().range(edit.range.clone()));
        }
        let scheme = target.strip_suffix(*id).unwrap_or_default();
        if let (Some(new), Some(place)) = (spliced(id, found, work), out.get_mut(*at)) {
            *place = Some(format!("{scheme}{new}"));
        }
    }
    Ok(out)
}

/// The identifier that a link leads to; `None` for other links.
fn identifier(target: &str) -> Option<&str> {
    let target = target.trim_start();
    let scheme = |scheme: &&&str| target.get(..scheme.len()).is_some_and(|s| s.eq_ignore_ascii_case(scheme));
    SCHEMES.iter().find(scheme).and_then(|scheme| target.get(scheme.len()..))
}

/// An identifier with these edits made; it stays one. `None` where there are none.
fn spliced(id: &str, mut edits: Vec<Edit>, work: &mut Work<'_>) -> Option<String> {
    for edit in &mut edits {
        work.applied(edit);
        let part = |c: char| c.is_ascii_alphanumeric() || ".-_@+=~".contains(c);
        edit.with.text.retain(part);
        if edit.with.text.is_empty() {
            edit.with.text.push(SOMETHING);
        }
    }
    (!edits.is_empty()).then(|| spliced_text(id, &edits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sanitize::bench::Bench;

    /// An identifier of a program, in which letters are a name by chance.
    const GENERATED: &str = "8f3aJane2b7c9d41@a.example";

    #[test]
    fn values_of_a_form_are_told_from_names_that_programs_give() {
        for text in
            ["jane.roe@corp.example;", "4111 1111-1111 1111", "x(415) 555-26712", "DE89370400440532013000"]
        {
            assert!(has_form(text), "{text}");
        }
        for text in [
            "Times New Roman;",
            "Msftedit 5.41.21.2510;",
            "LibreOffice/24.2.7.2$Linux_X86_64",
            "heading 1",
            "",
        ] {
            assert!(!has_form(text), "{text}");
        }
    }

    #[test]
    fn identifiers_of_programs_stay_and_those_of_persons_are_the_same_everywhere() {
        let mut bench = Bench::redacting("Jane");
        let mut work = bench.work();
        let owned = |want: &[Option<&str>]| -> Vec<Option<String>> {
            want.iter().map(|text| text.map(str::to_owned)).collect()
        };
        let ids = ["Jane@a.example", "1.Jane@a.example", "Jane.roe1@a.example", GENERATED, "a@b.example"];
        let want = [Some("N@a.example"), Some("1.N@a.example"), Some("N.roe1@a.example"), None, None];
        assert_eq!(changed(&ids, &mut work), Ok(owned(&want)));
        let generated = format!("mid:{GENERATED}");
        let links = ["cid:Jane@a.example", "x/Jane", "CID:J%61ne1@a.example", generated.as_str(), "cid:"];
        let want = [Some("cid:N@a.example"), Some("x/<N>"), Some("CID:N1@a.example"), None, None];
        assert_eq!(targets(&links, &mut work), Ok(owned(&want)));
        assert_eq!(work.into_stats().redacted.get("N"), Some(&6));
    }

    #[test]
    fn only_what_has_a_form_is_read() {
        let mut bench = Bench::redacting("Jane");
        let found = edits(&["Jane", "Jane@x"], has_form, &mut bench.work()).unwrap();
        assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), [0, 1]);
    }
}
