//! Escapes of characters that workbooks have beside those of XML: `_x0041_` (ECMA-376 part 1, 22.9.2.19).

/// How long an escape is, in bytes.
pub(super) const LENGTH: usize = 7;

/// The character that a text begins with, if an escape spells it.
pub(super) fn escape(text: &str) -> Option<char> {
    code(text).and_then(char::from_u32)
}

/// The number in the escape that a text begins with, which may be half of a character.
fn code(text: &str) -> Option<u32> {
    let code = text.strip_prefix("_x")?.get(..5)?.strip_suffix('_')?;
    let hex = code.bytes().all(|byte| byte.is_ascii_hexdigit());
    u32::from_str_radix(code, 16).ok().filter(|_| hex)
}

/// Text without escapes.
pub(super) fn decoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.find("_x").and_then(|at| rest.split_at_checked(at)) {
        out.push_str(before);
        let (read, length) = escape(behind).map_or(('_', 1), |c| (c, LENGTH));
        out.push(read);
        rest = behind.get(length..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// Text in which nothing reads as an escape, and control characters are one.
pub(super) fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if code(rest).is_some() {
            out.push_str("_x005F_");
        } else if c.is_control() && !matches!(c, '\t' | '\n') {
            out.push_str(&format!("_x{:04X}_", u32::from(c)));
        } else {
            out.push(c);
        }
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_of_sheets() {
        assert_eq!(decoded("a_x0040_b_x000D_ _xZZZZ_ _x005F_x0041_"), "a@b\r _xZZZZ_ _x0041_");
        assert_eq!(encoded("_x0041_ \r_x"), "_x005F_x0041_ _x000D__x");
        assert_eq!(
            (escape("_x0041_b"), escape("_x+041_"), escape("_xé"), escape("")),
            (Some('A'), None, None, None)
        );
    }
}
