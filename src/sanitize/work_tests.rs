//! What is done with texts, links and files within files.

use crate::sanitize::bench::Bench;
use crate::sanitize::column::head;
use crate::sanitize::{NamedText, Options, RedactionMode};

#[test]
fn links_are_asked_once_and_redaction_wins() {
    let text = "Jane http://bad.example/?q=Jane http://Jane.example www.bad.example";
    let mut bench = Bench::redacting("Jane");
    let mut work = bench.work();
    let out = work.texts(&[text, "none", "http://bad.example/?q=Jane"]);
    let want = [
        Some("<N> hxxp://bad[.]example/?q=<N> hxxp://<N>[.]example www[.]bad[.]example".to_owned()),
        None,
        Some("hxxp://bad[.]example/?q=<N>".to_owned()),
    ];
    assert_eq!(out, Ok(want.to_vec()));
    let stats = work.into_stats();
    assert_eq!((stats.defanged, stats.redacted.get("N")), (5, Some(&4)));
    assert_eq!(bench.links, 3);
}

#[test]
fn targets_are_read_as_they_are_followed() {
    let mut bench = Bench::redacting("Jane");
    let mut work = bench.work();
    let out = work.targets(&[" ht\ttp:/example.com/Jane\n", "page.html", "mailto:Jane", "//x.example"]);
    let want = [Some("hxxp://example[.]com/<N>"), None, Some("mailto:<N>"), Some("hxxps://x[.]example")];
    assert_eq!(out, Ok(want.map(|text| text.map(str::to_owned)).to_vec()));
}

#[test]
fn texts_are_shown_with_what_they_are_called() {
    let mut bench = Bench::redacting("name: Ja");
    let texts =
        [("name", "Jane"), ("", "name: Jane"), ("x", "Jane")].map(|(name, text)| NamedText { name, text });
    let edits = bench.work().named(&texts).unwrap();
    let ranges: Vec<Vec<_>> =
        edits.into_iter().map(|edits| edits.into_iter().map(|edit| edit.range).collect()).collect();
    let one = |end: usize| std::iter::once(0..end).collect::<Vec<_>>();
    assert_eq!(ranges, [one(2), one(8), Vec::new()]);
}

#[test]
fn a_head_is_a_name() {
    for (first, name) in
        [(" SSN ", "SSN"), ("Card no.", "Card no."), ("4111", ""), ("a@example.com", ""), ("x", "")]
    {
        assert_eq!(head(first), name, "{first}");
    }
}

#[test]
fn targets_are_read_without_their_escapes() {
    let mut bench = Bench::redacting("é Doe");
    bench.options.links = false;
    let targets = ["mailto:x?subject=Jan%C3%A9%20Doe%21", "a%zz%C3%A9+%", "%ff"];
    let want = [Some("mailto:x?subject=Jan<N>%21"), None, None];
    assert_eq!(bench.work().targets(&targets), Ok(want.map(|text| text.map(str::to_owned)).to_vec()));
}

#[test]
fn nothing_is_asked_that_nobody_ordered() {
    let mut bench = Bench::redacting("Jane");
    bench.options = Options { links: false, redaction: RedactionMode::Off, ..Options::default() };
    assert_eq!(bench.work().texts(&["Jane http://bad.example"]), Ok(vec![None]));
    assert_eq!(bench.links, 0);
}
