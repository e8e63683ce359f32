//! Finds what was probably meant.

/// The candidate closest to `word`, if any is close: about one edit for every three letters.
pub(crate) fn closest<'a>(word: &str, among: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let distance = |known: &str| strsim::damerau_levenshtein(&word, &known.to_lowercase());
    let allowed = (word.chars().count() + 1) / 3;
    let (edits, known) = among.into_iter().map(|known| (distance(known), known)).min()?;
    (edits <= allowed).then_some(known)
}

/// `closest` as a question to the reader.
pub(crate) fn did_you_mean<'a>(word: &str, among: impl IntoIterator<Item = &'a str>) -> Option<String> {
    closest(word, among).map(|known| format!("did you mean `{known}`?"))
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn typing_errors_are_seen_through() {
        let known = ["address", "tls", "h2c"];
        let cases = [
            ("adress", Some("address")),
            ("ADDRESS", Some("address")),
            ("tsl", Some("tls")),
            ("h2", Some("h2c")),
            ("colour", None),
            ("x", None),
            ("", None),
        ];
        for (word, want) in cases {
            assert_eq!(closest(word, known), want, "{word}");
        }
    }
}
