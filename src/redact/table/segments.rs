//! Fields of messages whose places say what they hold: segments of HL7 v2 (chapters 2A and 3: PID, NK1, GT1, IN1, PV1) and of
//! X12 (loops of names in 270 to 837), properties of vCard (RFC 6350) and surnames in LDIF (RFC 4519).

use std::ops::Range;

use memchr::memmem;

/// What fields are called by who reads them.
pub(super) const HEADS: [&str; 11] = [
    "last name",
    "first name",
    "middle name",
    "street address",
    "city",
    "zip code",
    "phone",
    "ssn",
    "mrn",
    "driver license number",
    "date of birth",
];
const LAST: usize = 0;
const FIRST: usize = 1;
const MIDDLE: usize = 2;
const STREET: usize = 3;
const CITY: usize = 4;
const POSTCODE: usize = 5;
const PHONE: usize = 6;
const SSN: usize = 7;
const MRN: usize = 8;
const LICENCE: usize = 9;
const BORN: usize = 10;

/// What the parts of a field are: each with its head, or none.
type FieldHeads = &'static [Option<usize>];

const NAME: FieldHeads = &[Some(LAST), Some(FIRST), Some(MIDDLE)];
/// Of somebody who has a number before the name.
const STAFF: FieldHeads = &[None, Some(LAST), Some(FIRST), Some(MIDDLE)];
const ADDRESS: FieldHeads = &[Some(STREET), None, Some(CITY), None, Some(POSTCODE)];

/// A kind of segment: how it begins, what parts its fields and the parts of those, and which fields hold what.
struct Segment {
    begins: &'static str,
    fields: &'static [(usize, FieldHeads)],
}

impl Segment {
    /// Whether the fields are a person's: HL7 numbers such segments, and X12 says in the second element that the name is an
    /// organisation's.
    fn holds(&self, fields: &str, sign: char) -> bool {
        let mut fields = fields.split(sign);
        let (first, second) = (fields.next().unwrap_or_default(), fields.next());
        let numbered = first.len() <= 4 && first.bytes().all(|byte| byte.is_ascii_digit());
        (sign != '|' || numbered) && (self.begins != "NM1*" || second != Some("2"))
    }
}

/// Of HL7; the first field is 1.
const HL7: [Segment; 5] = [
    Segment {
        begins: "PID|",
        fields: &[
            (2, &[Some(MRN)]),
            (3, &[Some(MRN)]),
            (5, NAME),
            (6, NAME),
            (7, &[Some(BORN)]),
            (9, NAME),
            (11, ADDRESS),
            (13, &[Some(PHONE)]),
            (14, &[Some(PHONE)]),
            (18, &[Some(MRN)]),
            (19, &[Some(SSN)]),
            (20, &[Some(LICENCE)]),
        ],
    },
    Segment { begins: "NK1|", fields: &[(2, NAME), (4, ADDRESS), (5, &[Some(PHONE)]), (6, &[Some(PHONE)])] },
    Segment {
        begins: "GT1|",
        fields: &[
            (3, NAME),
            (5, ADDRESS),
            (6, &[Some(PHONE)]),
            (7, &[Some(PHONE)]),
            (8, &[Some(BORN)]),
            (12, &[Some(SSN)]),
        ],
    },
    Segment { begins: "IN1|", fields: &[(16, NAME), (18, &[Some(BORN)]), (19, ADDRESS)] },
    Segment { begins: "PV1|", fields: &[(7, STAFF), (8, STAFF), (9, STAFF), (17, STAFF)] },
];

/// Of X12; the first element is 1.
const X12: [Segment; 6] = [
    Segment { begins: "NM1*", fields: &[(3, &[Some(LAST)]), (4, &[Some(FIRST)]), (5, &[Some(MIDDLE)])] },
    Segment { begins: "N3*", fields: &[(1, &[Some(STREET)]), (2, &[Some(STREET)])] },
    Segment { begins: "N4*", fields: &[(1, &[Some(CITY)]), (3, &[Some(POSTCODE)])] },
    Segment { begins: "PER*", fields: &[(4, &[Some(PHONE)]), (6, &[Some(PHONE)])] },
    Segment { begins: "DMG*", fields: &[(2, &[Some(BORN)])] },
    Segment { begins: "REF*SY*", fields: &[(1, &[Some(SSN)])] },
];

const LDIF: Segment = Segment { begins: "sn: ", fields: &[(1, &[Some(LAST)])] };

/// Of vCard, whose values are parted like components.
const CARD: [(&str, FieldHeads); 2] =
    [("N", NAME), ("ADR", &[None, None, Some(STREET), Some(CITY), None, Some(POSTCODE)])];

/// What messages hold that have such fields.
const MARKS: [&str; 5] = ["PID|", "NK1|", "NM1*", "BEGIN:VCARD", "sn: "];

/// Whether a text may hold messages.
pub(super) fn may_be_in(text: &str) -> bool {
    MARKS.iter().any(|mark| memmem::find(text.as_bytes(), mark.as_bytes()).is_some())
}

/// Shows the fields of a text's messages, each with the place of its head.
pub(super) fn read(text: &str, show: &mut dyn FnMut(usize, Range<usize>)) {
    HL7.iter().for_each(|segment| segments(text, segment, ['|', '^'], show));
    // Other texts have short words before stars.
    if memmem::find(text.as_bytes(), b"NM1*").is_some() {
        X12.iter().for_each(|segment| segments(text, segment, ['*', ':'], show));
    }
    cards(text, show);
    if memmem::find(text.as_bytes(), b"dn: ").is_some() {
        segments(text, &LDIF, ['\n', '\n'], show);
    }
}

/// The fields of all segments of a kind, which `signs` part: fields, and their parts.
fn segments(text: &str, segment: &Segment, signs: [char; 2], show: &mut dyn FnMut(usize, Range<usize>)) {
    let [field_sign, part_sign] = signs;
    // All before has been read.
    let mut known = 0;
    for at in memmem::find_iter(text.as_bytes(), segment.begins) {
        let before = text.get(..at).and_then(|head| head.chars().next_back());
        if at < known || before.is_some_and(|before| before.is_alphanumeric() || before == '_') {
            continue;
        }
        let start = at + segment.begins.len();
        let rest = text.get(start..).unwrap_or_default();
        // In HL7 a tilde parts what is said twice in a field, and in X12 it ends the segment.
        let ends = |c: char| matches!(c, '\n' | '\r') || c == '~' && field_sign == '*';
        let line = rest.split(ends).next().unwrap_or_default();
        known = start + line.len();
        if !segment.holds(line, field_sign) {
            continue;
        }
        let mut field = start;
        for (n, written) in (1..).zip(line.split(field_sign)) {
            let of = segment.fields.iter().find(|(place, _)| *place == n);
            if let Some((_, heads)) = of {
                let mut said = field;
                for written in written.split('~') {
                    parts(said, written, part_sign, heads, show);
                    said += written.len() + 1;
                }
            }
            field += written.len() + field_sign.len_utf8();
        }
    }
}

/// The parts of a field that begins at `start`.
fn parts(
    start: usize,
    field: &str,
    sign: char,
    heads: FieldHeads,
    show: &mut dyn FnMut(usize, Range<usize>),
) {
    let mut at = start;
    for (part, head) in field.split(sign).zip(heads) {
        let blank = part.len() - part.trim_start().len();
        let inner = part.trim();
        if let (Some(head), false) = (head, inner.is_empty()) {
            show(*head, at + blank..at + blank + inner.len());
        }
        at += part.len() + sign.len_utf8();
    }
}

/// The properties of cards: `N;CHARSET=utf-8:Family;Given`.
fn cards(text: &str, show: &mut dyn FnMut(usize, Range<usize>)) {
    if memmem::find(text.as_bytes(), b"BEGIN:VCARD").is_none() {
        return;
    }
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if let Some((name, value)) = line.split_once(':') {
            let property = name.split(';').next().unwrap_or_default();
            let known = CARD.iter().find(|(known, _)| property.eq_ignore_ascii_case(known));
            if let Some((_, heads)) = known {
                parts(start + name.len() + 1, value, ';', heads, show);
            }
        }
        start += line.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(text: &str) -> Vec<(&str, &str)> {
        let mut all = Vec::new();
        read(text, &mut |head, at| all.push((at.start, HEADS[head], text.get(at).unwrap())));
        all.sort_unstable();
        all.into_iter().map(|(_, head, part)| (head, part)).collect()
    }

    #[test]
    fn places_say_what_fields_are() {
        let rows: [(&str, &[(&str, &str)]); 6] = [
            (
                "MSH|^~\\&|A\rPID|1||482917^^^H^MR~99||QUIST^ADA^B||19800312|F|||4 ELM ST^^AYR^KA^17||555-1\r",
                &[
                    ("mrn", "482917"),
                    ("mrn", "99"),
                    ("last name", "QUIST"),
                    ("first name", "ADA"),
                    ("middle name", "B"),
                    ("date of birth", "19800312"),
                    ("street address", "4 ELM ST"),
                    ("city", "AYR"),
                    ("zip code", "17"),
                    ("phone", "555-1"),
                ],
            ),
            ("NK1|1|QUIST^ADA|SPO", &[("last name", "QUIST"), ("first name", "ADA")]),
            ("PID|1\nPV1|1|I|||||77^Quist^Ada", &[("last name", "Quist"), ("first name", "Ada")]),
            (
                "ST*270~NM1*IL*1*QUIST*ADA****MI*9~N3*4 ELM ST~REF*SY*536228741~",
                &[
                    ("last name", "QUIST"),
                    ("first name", "ADA"),
                    ("street address", "4 ELM ST"),
                    ("ssn", "536228741"),
                ],
            ),
            (
                "BEGIN:VCARD\r\nN:Quist;Ada;;;\r\nADR;TYPE=home:;;4 Elm St;Ayr;;17;\r\nEND:VCARD",
                &[
                    ("last name", "Quist"),
                    ("first name", "Ada"),
                    ("street address", "4 Elm St"),
                    ("city", "Ayr"),
                    ("zip code", "17"),
                ],
            ),
            ("dn: cn=x\nsn: Quist\nasn: 7", &[("last name", "Quist")]),
        ];
        for (text, expected) in rows {
            assert_eq!(fields(text), expected, "{text}");
        }
    }

    #[test]
    fn other_texts_have_none() {
        for text in [
            "",
            "RAPID|1|2",
            "a * NM1 * b",
            "N:Quist;Ada",
            "sn: Quist",
            "PID|",
            "NM1*",
            "PID|||~~^^|",
            "PID|TTY|TIME|CMD|NICE|PRI",
            "NM1*85*2*GENERAL HOSPITAL*",
        ] {
            assert_eq!(fields(text), [], "{text}");
        }
    }
}
