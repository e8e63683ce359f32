//! What companies and institutions are called beside their names: legal forms behind them (ISO 20275), and last words.

use super::super::super::view::View;
use super::letters::{is_letter, text};
use super::word::Word;
use super::words::is;

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

/// End a company's name.
const COMPANIES: &[&str] = &[
    "ab",
    "ag",
    "agency",
    "airlines",
    "associates",
    "association",
    "bank",
    "bhd",
    "bv",
    "clinic",
    "club",
    "co",
    "college",
    "company",
    "corp",
    "corporation",
    "department",
    "enterprises",
    "foundation",
    "gmbh",
    "group",
    "holding",
    "holdings",
    "hospital",
    "inc",
    "incorporated",
    "industries",
    "institute",
    "insurance",
    "jsc",
    "kg",
    "kgaa",
    "limited",
    "llc",
    "llp",
    "ltd",
    "ministry",
    "motors",
    "nv",
    "ohg",
    "oy",
    "partners",
    "pharmaceuticals",
    "plc",
    "pty",
    "pvt",
    "sa",
    "sarl",
    "société",
    "solutions",
    "sons",
    "spa",
    "srl",
    "systems",
    "technologies",
    "university",
];

/// Where the name of a company that begins with these words ends, if it is one.
pub(super) fn company_end(view: &View<'_>, words: &[Word]) -> Option<usize> {
    let named = words.iter().filter(|word| !word.particle);
    if let Some(end) = named.clone().find_map(|word| legal_form(view, word.end)) {
        return Some(end);
    }
    let last = words.last()?;
    (named.count() > 1 && is(&last.lower, COMPANIES)).then_some(last.end)
}

/// Where the legal form ends that stands behind a name's `end`, without a full stop, which may be the sentence's.
fn legal_form(view: &View<'_>, end: usize) -> Option<usize> {
    let behind = text(view, end, end + LONGEST);
    let form = behind.strip_prefix(", ").or_else(|| behind.strip_prefix(' '))?;
    let first = form.bytes().next()?;
    let upto = LEGAL_FORMS.partition_point(|known| *known <= form);
    let before = LEGAL_FORMS.get(..upto).unwrap_or_default();
    let alike = before.iter().rev().take_while(|known| known.bytes().next() == Some(first));
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
        }
    }
}
