//! Values that stand for others: variables, fields of templates, places of formats, masks.

use super::jumble::is_jumble;

/// Names that no variable has: `@dmin1` is written for `admin1`.
const WRITTEN: &[u8] = b"dmin";

pub(super) fn holds(text: &[u8], part: &str) -> bool {
    let first = part.bytes().next().unwrap_or_default();
    let starts = memchr::memchr_iter(first, text);
    starts.filter_map(|at| text.get(at..)).any(|rest| rest.starts_with(part.as_bytes()))
}

fn is_ident(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-')
}

/// `open` name `close`, with a name between that can be one.
fn enclosed(value: &[u8], open: &str, close: &str) -> bool {
    let mut rest = value;
    while let Some(at) = rest.windows(open.len()).position(|window| window == open.as_bytes()) {
        let inner = rest.get(at + open.len()..).unwrap_or_default();
        let blank =
            |byte: &&u8| is_ident(byte) || matches!(byte, b' ' | b':' | b'(' | b')' | b'$' | b'/' | b'=');
        let name = inner.iter().take_while(blank).count();
        if name > 0 && inner.get(name..).is_some_and(|tail| tail.starts_with(close.as_bytes())) {
            return true;
        }
        rest = inner;
    }
    false
}

/// Whether the value stands for another: a variable, a template's field, a format's place, a mask.
pub(crate) fn stands_in(value: &[u8]) -> bool {
    let first = value.first().copied().unwrap_or(b' ');
    let last = value.last().copied().unwrap_or(b' ');
    let name = value.get(1..).unwrap_or_default();
    let variable = first == b'$' && name.iter().all(is_ident) && !name.is_empty() && !is_woven(name)
        || value.starts_with(b"$(")
        || first == b'%' && (last == b'%' || name.len() <= 2)
        || value.starts_with(b"&lt;")
        || first == b'<' && last == b'>'
        || first == b'['
            && last == b']'
            && name.iter().all(|byte| is_ident(byte) || matches!(byte, b'[' | b']' | b' '))
        || refers(first, name)
        || filled_in(value);
    let opened = value.iter().any(|byte| matches!(byte, b'{' | b'(' | b'<' | b'%'));
    let template = opened && template(value);
    variable || template || masked(value)
}

/// Whether letters in both cases and digits turn into one another more often than in a variable's name: `Qx7kLm2Vr9`.
fn is_woven(name: &[u8]) -> bool {
    let digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    let turns = name.windows(2).filter(|pair| digit(pair.first()) != digit(pair.last())).count();
    let cases = name.iter().any(u8::is_ascii_uppercase) && name.iter().any(u8::is_ascii_lowercase);
    name.len() >= 8 && cases && (turns >= 5 || turns >= 1 && is_jumble(name))
}

/// Whether a value that begins with this sign is a variable, with what is taken of it: `$_POST[`, `$opts{password}`, `$a->b`,
/// `@Model.Pass`, `:pass2`, `${line##*:}`. `${X:-value}` has a value within.
fn refers(sign: u8, rest: &[u8]) -> bool {
    if let Some(braced) = rest.strip_prefix(b"{").filter(|_| sign == b'$') {
        let name = braced.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        let behind = braced.get(name..).unwrap_or_default();
        let other = behind.strip_prefix(b":").unwrap_or(behind);
        return name > 0 && !matches!(other.first(), Some(b'-' | b'='));
    }
    let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let (name, behind) = rest.split_at(length);
    let begins = name.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
    // Passwords may begin with these signs, and have numbers.
    let digits = name.iter().filter(|byte| byte.is_ascii_digit()).count();
    let bound = matches!(sign, b'@' | b':') && digits <= 2 && !name.starts_with(WRITTEN);
    let taken = match behind.first() {
        None => bound,
        Some(b'[') => behind.len() == 1 || behind.contains(&b']'),
        Some(b'{') => behind.len() == 1 || behind.contains(&b'}'),
        Some(b'-') => behind.get(1) == Some(&b'>'),
        Some(b'.') => behind.get(1).is_some_and(u8::is_ascii_alphabetic),
        Some(b')' | b';') => behind.iter().all(|byte| matches!(byte, b')' | b';' | b',')),
        Some(b'@') => behind.len() == 1 && sign == b'@',
        _ => false,
    };
    begins && taken && (sign == b'$' || bound || sign == b'@' && matches!(behind.first(), Some(b'.' | b'@')))
}

/// Whether a value is what a program or a person fills in: `{% pw %}`, `__PW__`, `&nbsp;`, `{{ a('b') }}`, `{}123`, `%8s`.
fn filled_in(value: &[u8]) -> bool {
    let within =
        |open: &[u8], close: &[u8]| value.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
    let all = |inner: Option<&[u8]>, class: fn(&u8) -> bool| {
        inner.is_some_and(|inner| !inner.is_empty() && inner.iter().all(class))
    };
    let width = || value.iter().skip(1).take_while(|byte| byte.is_ascii_digit()).count();
    within(b"{%", b"%}").is_some()
        || within(b"{{", b"}}").is_some()
        || all(within(b"__", b"__"), is_ident)
        || all(within(b"&", b";"), |byte| byte.is_ascii_alphanumeric() || *byte == b'#')
        || value.first() == Some(&b'%') && value.get(width() + 1) == Some(&b's')
        || has_place(value)
}

/// Whether a value has a place of a format in it, with no name: `{}`, `{0}`.
fn has_place(value: &[u8]) -> bool {
    value.split(|&byte| byte == b'{').skip(1).any(|rest| {
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        digits <= 1 && rest.get(digits) == Some(&b'}')
    })
}

/// Whether the value holds the field of a template or a format.
fn template(value: &[u8]) -> bool {
    enclosed(value, "${", "}")
        || enclosed(value, "{{", "}}")
        || enclosed(value, "#{", "}")
        || enclosed(value, "$(", ")")
        || enclosed(value, "%(", ")s")
        || value.starts_with(b"{") && value.ends_with(b"}") && enclosed(value, "{", "}")
        || enclosed(value, "<%", "%>")
        || value.starts_with(b"${") && value.ends_with(b"}") && value.contains(&b'(')
        || holds(value, "<?")
        || holds(value, "%s")
        || value.starts_with(b"(?")
        || only_fields(value)
}

/// Whether nothing but signs stands around names in braces: `:{password}`.
fn only_fields(value: &[u8]) -> bool {
    let mut rest = value;
    let mut fields = 0;
    while let Some(open) = rest.iter().position(|&byte| byte == b'{') {
        let (front, behind) = rest.split_at(open);
        let small = |byte: &&u8| byte.is_ascii_lowercase() || **byte == b'_';
        let name = behind.iter().skip(1).take_while(small).count();
        if name < 3 || behind.get(name + 1) != Some(&b'}') || front.iter().any(u8::is_ascii_alphanumeric) {
            return false;
        }
        fields += 1;
        rest = behind.get(name + 2..).unwrap_or_default();
    }
    fields > 0 && !rest.iter().any(u8::is_ascii_alphanumeric)
}

/// Few characters, over and over.
fn masked(value: &[u8]) -> bool {
    let mut kinds = [0u8; 256];
    for byte in value {
        if let Some(count) = kinds.get_mut(usize::from(*byte)) {
            *count = count.saturating_add(1);
        }
    }
    let most = kinds.iter().copied().max().unwrap_or(0);
    let filler = value.iter().filter(|byte| matches!(byte, b'*' | b'x' | b'X' | b'.' | b'#' | b'-')).count();
    value.len() >= 3 && usize::from(most) == value.len() || filler * 10 >= value.len() * 7 && value.len() >= 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_for_another_is_told_from_passwords() {
        let references = [
            "$_POST[",
            "$oauth2ClientV3Key",
            "$x1y2z3",
            "$opts{password}",
            "$ARGV[1]",
            "$args[0]",
            "$row[",
            "$user->password",
            "$pass);",
            "${ARGS[1]}",
            "${line##*:}",
            "${GITHUB_TOKEN:?}",
            "@pw2",
            "@Model.Pass2",
            "@db.password2@",
            ":haslo2",
            "{}123",
            "{0}abc",
            "{% pw %}",
            "[[pw2]]",
            "__PW2__",
            "&nbsp;",
            "%8s2",
            "{{ lookup('env','X2') }}",
        ];
        for value in references {
            assert!(stands_in(value.as_bytes()), "{value}");
        }
        let values = [
            "$Summer2024!",
            "$Qx7kLm2Vr9Tz4",
            "$k7[q9!Lm",
            "@dmin1",
            "@Winter2024!",
            "@Winter2024",
            ":Kx9mQz7!",
            "win$ter9",
            "${X:-k7%Vq2}",
            "__k7%Vq2",
            "k7{Vq2}x",
            "&k7Vq2x9",
        ];
        for value in values {
            assert!(!stands_in(value.as_bytes()), "{value}");
        }
    }
}
