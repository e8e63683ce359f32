//! What companies and institutions are called beside their names: legal forms behind them (ISO 20275), and last words.

use super::super::super::view::View;
use super::letters::{is_letter, text};
use super::roles::NameList;
use super::word::NameWord;

/// Legal forms as they are written, in the order of their bytes; of those in capitals only what is no other word.
const LEGAL_FORMS: &[&str] = &[
    "A/S",
    "AB",
    "AG",
    "AG & Co. KG",
    "ASA",
    "ApS",
    "B.V.",
    "BV",
    "Bhd",
    "Bhd.",
    "Co.",
    "Co. Ltd.",
    "Co., Ltd.",
    "Corp",
    "Corp.",
    "EIRELI",
    "EURL",
    "GbR",
    "Ges.m.b.H.",
    "GmbH",
    "GmbH & Co. KG",
    "Inc",
    "Inc.",
    "Incorporated",
    "JSC",
    "K.K.",
    "KG",
    "KGaA",
    "Kft",
    "Kft.",
    "L.L.C.",
    "L.P.",
    "LLC",
    "LLP",
    "Limited",
    "Ltd",
    "Ltd.",
    "Ltda",
    "Ltda.",
    "N.V.",
    "NV",
    "Nyrt.",
    "OHG",
    "OJSC",
    "Oy",
    "Oyj",
    "OÜ",
    "PJSC",
    "PLC",
    "Pte Ltd",
    "Pte. Ltd.",
    "Pty Ltd",
    "Pty. Ltd.",
    "Pvt Ltd",
    "Pvt. Ltd.",
    "S.A.",
    "S.A.R.L.",
    "S.A.S.",
    "S.K.A.",
    "S.L.",
    "S.L.U.",
    "S.R.L.",
    "S.a.s.",
    "S.n.c.",
    "S.p.A.",
    "S.r.l.",
    "S.à r.l.",
    "S/A",
    "SARL",
    "SAS",
    "SASU",
    "SIA",
    "SRL",
    "Sdn Bhd",
    "Sdn. Bhd.",
    "Sp. k.",
    "Sp. z o.o.",
    "SpA",
    "Srl",
    "UAB",
    "UG",
    "VOF",
    "Zrt.",
    "a.s.",
    "d.d.",
    "d.o.o.",
    "e.G.",
    "e.K.",
    "e.V.",
    "mbH",
    "plc",
    "s.r.o.",
    "sp. k.",
    "sp. z o.o.",
    "spol. s r.o.",
];

/// The longest legal form with what stands around it, in bytes.
const LONGEST: usize = 16;

/// Where the name of a company that begins with these words ends, if it is one.
pub(super) fn company_end(view: &View<'_>, words: &[NameWord]) -> Option<usize> {
    let named = words.iter().filter(|word| !word.particle);
    if let Some(end) = named.clone().find_map(|word| legal_form(view, word.end)) {
        return Some(end);
    }
    let last = words.last()?;
    (named.count() > 1 && last.roles.has(NameList::Company)).then_some(last.end)
}

/// Whether a legal form may begin with a byte.
const fn begins(byte: u8) -> bool {
    matches!(byte, b'A'..=b'Z' | b'a' | b'd' | b'e' | b'm' | b'p' | b's')
}

/// Where the legal form ends that stands behind a name's `end`, without a full stop, which may be the sentence's.
fn legal_form(view: &View<'_>, end: usize) -> Option<usize> {
    let ([b',', b' ', first] | [b' ', first, ..]) = *view.slice(end, end + 3) else { return None };
    if !begins(first) {
        return None;
    }
    let behind = text(view, end, end + LONGEST);
    let form = behind.strip_prefix(", ").or_else(|| behind.strip_prefix(' '))?;
    // By two bytes, which all of them have: most words part from all of them there.
    let beginning = form.as_bytes().first_chunk::<2>()?;
    let from = LEGAL_FORMS.partition_point(|known| known.as_bytes().first_chunk() < Some(beginning));
    let rest = LEGAL_FORMS.get(from..).unwrap_or_default();
    let alike = rest.iter().take_while(|known| known.as_bytes().first_chunk() == Some(beginning));
    let whole = |known: &&&str| {
        let rest = form.strip_prefix(**known);
        rest.is_some_and(|rest| {
            known.ends_with('.') || !rest.starts_with(|c: char| is_letter(c) || c.is_ascii_digit())
        })
    };
    let known = alike.filter(whole).max_by_key(|known| known.len())?;
    Some(end + behind.len() - form.len() + known.trim_end_matches('.').len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn legal_forms_are_in_order_and_fit_into_what_is_looked_at() {
        assert!(LEGAL_FORMS.is_sorted());
        for form in LEGAL_FORMS {
            assert!(form.len() + ", ".len() <= LONGEST, "{form}");
            assert!(form.len() >= 2 && form.bytes().next().is_some_and(begins), "{form}");
        }
    }
}
