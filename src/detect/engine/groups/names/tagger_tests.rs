use super::*;

fn tagged(text: &str) -> Vec<(Tag, &str)> {
    let view = View { text: text.as_bytes(), base: 0, complete: true };
    let mut found = Vec::new();
    let (mut at, mut words) = (0, Vec::new());
    while at < text.len() {
        let start = (at..text.len()).find(|&at| text.is_char_boundary(at) && is_capital(&view, at));
        let Some(start) = start else { break };
        match gather(&view, start, &mut words) {
            Gathered::Words(end) => {
                found.extend(tag(&view, &words));
                at = end;
            }
            Gathered::Nothing(end) => at = end,
            Gathered::NeedMore => unreachable!("the text is complete"),
        }
    }
    found.iter().map(|one| (one.tag, text.get(one.start..one.end).unwrap())).collect()
}

#[test]
fn names_are_told_from_other_capitals() {
    use Tag::{Location, Organization, Person};
    let cases: &[(&str, &[(Tag, &str)])] = &[
        ("Dear Jennifer, thanks", &[(Person, "Jennifer")]),
        ("Jenny Jenny sang", &[(Person, "Jenny Jenny")]),
        ("ask Mr. Luca Drescher?", &[(Person, "Luca Drescher")]),
        ("with Elle Sandström today", &[(Person, "Elle Sandström")]),
        ("J. R. Smith wrote", &[(Person, "J. R. Smith")]),
        ("by Ludwig van Beethoven.", &[(Person, "Ludwig van Beethoven")]),
        ("she lives in New York now", &[(Location, "New York")]),
        ("at 12 Main Street today", &[(Location, "12 Main Street")]),
        ("from Acme Industries Inc. of", &[(Organization, "Acme Industries Inc")]),
        ("with Müller Maschinenbau GmbH & Co. KG in", &[(Organization, "Müller Maschinenbau GmbH & Co. KG")]),
        ("to Northwind Traders, Inc. and", &[(Organization, "Northwind Traders, Inc")]),
        ("und Schmidt & Söhne KG zahlen", &[(Organization, "Schmidt & Söhne KG")]),
        ("by Talleres Gómez S.A. and", &[(Organization, "Talleres Gómez S.A")]),
        ("firma Kowalski Budownictwo Sp. z o.o. w", &[(Organization, "Kowalski Budownictwo Sp. z o.o")]),
        ("ditta Rossi Costruzioni S.r.l. di", &[(Organization, "Rossi Costruzioni S.r.l")]),
        ("with Jansen N.V. and Siemens AG", &[(Organization, "Jansen N.V"), (Organization, "Siemens AG")]),
        ("of Sharma Textiles Pvt. Ltd.", &[(Organization, "Sharma Textiles Pvt. Ltd")]),
        ("Nordic Seafood A/S won", &[(Organization, "Nordic Seafood A/S")]),
        ("Jennifer & Maria went", &[(Person, "Jennifer"), (Person, "Maria")]),
        ("The system will restart", &[]),
        ("User: Will you come?", &[]),
        ("Assistant: May I help?", &[]),
        ("Max said so", &[(Person, "Max")]),
        ("JENNIFER SMITH signed", &[(Person, "JENNIFER SMITH")]),
        ("Name: JENNIFER", &[(Person, "JENNIFER")]),
        ("Jean DUPONT, Lyon", &[(Person, "Jean DUPONT"), (Location, "Lyon")]),
        ("at 87 Ránargata, now", &[(Location, "87 Ránargata")]),
        ("on day 3 Maria Lopez wrote", &[(Person, "Maria Lopez")]),
        ("in 3 Sales rose", &[]),
        ("if len > MAX or SERVER_MAX", &[]),
        ("An RSA key of 64 KiB, see RFC 7518", &[]),
        ("Max::new(Host) and Max(1)", &[]),
        ("[12/Jan/2024:10:00:00 +0000] \"GET / HTTP/1.1\" 200", &[]),
        ("page=66 HTTP and 1.4 GB", &[]),
        ("404 NotFound", &[]),
        ("You are Claude Code, Anthropic's official CLI for Claude.", &[]),
        ("You are Claude, an assistant", &[]),
        ("with Claude Opus 4.1 or Claude Code", &[]),
        ("Co-Authored-By: Claude <", &[]),
        ("with Claude Monet and Claude", &[(Person, "Claude Monet"), (Person, "Claude")]),
        ("Bestellung von Herrn Müller", &[(Person, "Müller")]),
        ("Bitte rufen Sie Frau Schmidt an", &[(Person, "Schmidt")]),
        ("Karl Weber Frau Schmidt", &[(Person, "Karl Weber"), (Person, "Schmidt")]),
        ("van mevrouw de Vries en", &[(Person, "Vries")]),
        ("L'ordine del Sig. Rossi", &[(Person, "Rossi")]),
        ("Il dottor Galli riceve", &[(Person, "Galli")]),
        ("La Signora Esposito ha", &[(Person, "Esposito")]),
        ("El Sr. Benítez dijo", &[(Person, "Benítez")]),
        ("pana Kowalskiego dotarło", &[(Person, "Kowalskiego")]),
        ("with D'Angelo and", &[(Person, "D'Angelo")]),
        ("Remind Kenneth Powell to", &[(Person, "Kenneth Powell")]),
        ("Scala, Haskell and Helm", &[]),
        ("my name is Helm", &[(Person, "Helm")]),
        ("Paris, France now", &[(Location, "Paris"), (Location, "France")]),
        ("the capital of France is Paris.", &[(Location, "France"), (Location, "Paris")]),
        ("Berlin and Rome are", &[(Location, "Berlin"), (Location, "Rome")]),
        ("Customer Paris filed", &[(Person, "Paris")]),
        ("ask London, she", &[(Person, "London")]),
        ("ask Paris Baker", &[(Person, "Paris Baker")]),
        ("Mr. Claude Code", &[(Person, "Claude Code")]),
    ];
    for (text, expected) in cases {
        assert_eq!(tagged(text), *expected, "{text}");
    }
}
