use super::super::gather::{AtCapital, gather};
use super::super::letters::is_capital;
use super::super::word::Sequence;
use super::*;

fn tagged(text: &str) -> Vec<(NameTag, &str)> {
    let view = View { text: text.as_bytes(), base: 0, complete: true };
    let mut found = Vec::new();
    let (mut at, mut words) = (0, Sequence::default());
    while at < text.len() {
        let start = (at..text.len()).find(|&at| text.is_char_boundary(at) && is_capital(&view, at));
        let Some(start) = start else { break };
        match gather(&view, start, &mut words) {
            AtCapital::Words(end) => {
                found.extend(tag(&view, &words));
                at = end;
            }
            AtCapital::Nothing(end) => at = end,
            AtCapital::NeedMore => unreachable!("the text is complete"),
        }
    }
    found.iter().map(|one| (one.tag, text.get(one.start..one.end).unwrap())).collect()
}

#[test]
fn names_are_told_from_other_capitals() {
    use NameTag::{Location, Organization, Person};
    let cases: &[(&str, &[(NameTag, &str)])] = &[
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
        ("his songs for Entertainment Weekly and", &[]),
        ("read by Maria Weekly and", &[(Person, "Maria Weekly")]),
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
        ("with Claude Monet and Claude", &[(Person, "Claude Monet")]),
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

/// Greetings and labels tell a name that no list has; things, limits and calendars are no names.
#[test]
fn what_stands_beside_a_name_tells_it_from_a_thing() {
    use NameTag::Person;
    let cases: &[(&str, &[(NameTag, &str)])] = &[
        ("the Iris dataset and the Adam optimizer", &[]),
        ("Nash equilibrium, Shannon entropy", &[]),
        ("Shannon said so", &[(Person, "Shannon")]),
        ("by Texas Instruments", &[]),
        ("/* Max # of Cells */", &[]),
        ("Max: 10", &[]),
        ("Dear Zbynek,", &[(Person, "Zbynek")]),
        ("Dear Customer,", &[]),
        ("Dear Recruiter,", &[]),
        ("Dear Shareholders,", &[]),
        ("Hi Team,", &[]),
        ("Beneficiary: Zbynek Hrdlicka", &[(Person, "Zbynek Hrdlicka")]),
        ("Next of kin: Zbynek Hrdlicka", &[(Person, "Zbynek Hrdlicka")]),
        ("Account holder: Zbynek Hrdlicka", &[(Person, "Zbynek Hrdlicka")]),
        ("months = ['Jan', 'Feb', 'Mar', 'Apr']", &[]),
        ("Jan Feb Mar Apr May Jun", &[]),
        ("| Jan | Feb |", &[]),
        ("Mo Tu We Th", &[]),
    ];
    for (text, expected) in cases {
        assert_eq!(tagged(text), *expected, "{text}");
    }
}

#[test]
fn a_number_and_a_capital_are_an_address_only_where_something_says_so() {
    use NameTag::Location;
    let addresses: &[(&str, &str)] = &[
        ("at 12 Main Street today", "12 Main Street"),
        ("153 FERNWOOD DR.", "153 FERNWOOD DR"),
        ("in der Lindenstraße 12, dort", "Lindenstraße 12"),
        ("LINDENSTRASSE 12\n", "LINDENSTRASSE 12"),
        ("die Hauptstr. 5 und", "Hauptstr. 5"),
        ("die Berliner Allee 4a,", "Berliner Allee 4a"),
        ("zu Am Rain 3, 69493 Hirschberg", "Am Rain 3"),
        ("Adresse: Am Rain 3", "Am Rain 3"),
        ("chez 14 rue des Lilas, 69003", "14 rue des Lilas"),
        ("14 RUE DES LILAS", "14 RUE DES LILAS"),
        ("en la Calle de Alcalá 45.", "Calle de Alcalá 45"),
        ("piso C/ Mayor 12, 3º", "C/ Mayor 12"),
        ("przy ul. Marszałkowska 10/12,", "ul. Marszałkowska 10/12"),
        ("aan de Keizersgracht 123, daar", "Keizersgracht 123"),
        ("abito in via Garibaldi 14.", "via Garibaldi 14"),
        ("Via Garibaldi 14, 20121", "Via Garibaldi 14"),
        ("på Storgatan 5 i", "Storgatan 5"),
        ("Rua Augusta 45", "Rua Augusta 45"),
        ("Atatürk Cad. No: 12", "Atatürk Cad. No: 12"),
        ("lives at 39 Csabai, there", "39 Csabai"),
        ("30 Veslebakken 48, Harstad", "30 Veslebakken"),
        ("to 98 Tylova 1036\nSuite 12", "98 Tylova"),
        ("> 70 Quxova 49\n> ", "70 Quxova"),
    ];
    for (text, address) in addresses {
        assert!(tagged(text).contains(&(Location, *address)), "{text}: {:?}", tagged(text));
    }
    let others = [
        "Dosis: 3,5 Milligramm Morphin",
        "in 14 Tagen um 10 Uhr für 12 Euro",
        "nach § 120 Abs. 2 und Artikel 5 Absatz 3",
        "mit Windows 11 Pro",
        "of 3 Patients, 1 Wages, 1 Modality",
        "Rechnung 4711 Kundennr 889123",
        "200 Gramm Mehl, 3 Eier",
        "Visual Basic 2022",
        "Upgrade Jenkins 2.440 to Tomcat 10.1",
        "1099-NEC Box 1",
        "5 Kelvin, 3 Henry, 2 Gray",
        "auf Sitzplatz 12, Parkplatz 3 und Platz 5",
        "Käufer 3, Brigade 5, Spring 6",
        "sent via Zoom 5 times",
        "um 14 Stück",
    ];
    for text in others {
        assert_eq!(tagged(text), [], "{text}");
    }
}
