//! A line of comma-separated values (RFC 4180; a field has no line break).

/// The fields of a line, without their quotes; `None` where a quote is left open.
pub(super) fn fields(line: &str) -> Option<Vec<String>> {
    let mut all = Vec::new();
    let mut rest = line.trim();
    loop {
        let (field, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted_field(quoted)?,
            None => {
                let end = rest.find(',').unwrap_or(rest.len());
                let (field, after) = rest.split_at_checked(end)?;
                (field.trim().to_owned(), after)
            }
        };
        all.push(field);
        match after.trim_start().strip_prefix(',') {
            // ThreatFox writes a blank after a comma.
            Some(after) => rest = after.trim_start(),
            None => return after.trim().is_empty().then_some(all),
        }
    }
}

/// A field whose opening quote is gone, and what follows its closing one.
fn quoted_field(mut rest: &str) -> Option<(String, &str)> {
    let mut field = String::new();
    loop {
        let (before, after) = rest.split_once('"')?;
        field.push_str(before);
        match after.strip_prefix('"') {
            Some(after) => {
                field.push('"');
                rest = after;
            }
            None => return Some((field, after)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::fields;

    #[test]
    fn fields_lose_their_quotes() {
        let cases: [(&str, Option<&[&str]>); 7] = [
            ("a,b", Some(&["a", "b"])),
            ("\"1\", \"x,y\", \"say \"\"hi\"\"\"", Some(&["1", "x,y", "say \"hi\""])),
            ("a,,", Some(&["a", "", ""])),
            ("", Some(&[""])),
            ("\"open", None),
            ("\"a\"b", None),
            (" a , b ", Some(&["a", "b"])),
        ];
        for (line, want) in cases {
            let want = want.map(|want| want.iter().map(ToString::to_string).collect::<Vec<_>>());
            assert_eq!(fields(line), want, "{line}");
        }
    }
}
