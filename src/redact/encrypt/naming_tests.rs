use super::*;
use crate::base::secret::Secret;

fn surrogate(kind: NameKind, name: &str) -> Option<String> {
    let key = FpeKey::new(Secret::new(vec![7; 32])).unwrap();
    Naming { key: &key, tweak: [9; 16], permutations: &mut Permutations::default() }.surrogate(kind, name)
}

fn person(name: &str) -> String {
    surrogate(NameKind::Person, name).unwrap()
}

/// Given names and surnames of many cultures, some of which no list has.
const GIVEN: &[&str] =
    &["Maria", "Thomas", "Grace", "Aafiya", "Jürgen", "Björn", "Анна", "Xiaomei", "Zoë", "Ng"];
const SURNAMES: &[&str] =
    &["Lopez", "Miller", "King", "Quarmby", "Müller", "Иванов", "Wang", "Li", "O'Brien", "O'Shea"];

#[test]
fn a_part_stands_for_the_same_part_wherever_it_is_said() {
    for given in GIVEN {
        for surname in SURNAMES {
            let (first, last) = (person(given), person(surname));
            assert!(first != *given && last != *surname, "{given} {surname}");
            for (name, expected) in [
                (format!("{given} {surname}"), format!("{first} {last}")),
                (format!("{surname}, {given}"), format!("{last}, {first}")),
                (format!("Ms {surname}"), format!("Ms {last}")),
                (format!("Dr. {given} van {surname}"), format!("Dr. {first} van {last}")),
                (format!("{given}-{given} {surname}"), format!("{first}-{first} {last}")),
                (format!("{given} {surname}'s"), format!("{first} {last}'s")),
                (format!("{given}’s"), format!("{first}’s")),
                (format!("{given} al-{surname}"), format!("{first} al-{last}")),
                (format!("{given} Von {surname}"), format!("{first} Von {last}")),
            ] {
                assert_eq!(person(&name), expected);
            }
            assert_eq!(person(&surname.to_uppercase()), last.to_uppercase());
            assert_eq!(person(&given.to_lowercase()), first.to_lowercase());
        }
    }
}

/// A program quotes what has an apostrophe otherwise than what has none, and the original must fit where its surrogate stood.
#[test]
fn a_name_has_an_apostrophe_where_its_surrogate_has_one() {
    let marks = |text: &str| text.chars().filter(|c| matches!(c, '\'' | '’')).collect::<String>();
    for name in [
        "Sean O'Brien",
        "Sean O’Brien",
        "SEAN O'BRIEN",
        "sean o'brien",
        "Kate O'Shea-Miller",
        "Ines D'Souza",
        "Marco D'Angelo",
        "Elena Dell'Acqua",
        "Elena Dell’Arte",
        "Paolo Sant'Angelo",
        "Ja'Marr Quarmby",
        "Sha'Quille Quarmby",
        "Maria Lopez",
        "Thomas Miller",
        "Giulia Rossi",
        "Wietse Drostel",
    ] {
        let shown = person(name);
        assert_eq!(marks(&shown), marks(name), "{name} → {shown}");
        for word in name.split([' ', '-']).filter(|word| !word.starts_with("Sant")) {
            assert!(!shown.split([' ', '-']).any(|other| other == word), "{name} → {shown}");
        }
    }
    assert_eq!(person("Sean O’Brien"), person("Sean O'Brien").replace('\'', "’"));
}

#[test]
fn no_word_of_a_name_stays_but_those_that_are_none() {
    // The word, and whether it stays beside a name.
    let cases = [
        ("Ben Smith", "Ben", false),
        ("Al Smith", "Al", false),
        ("Da Smith", "Da", false),
        ("Ludwig van Hoven", "van", true),
        ("Van", "Van", false),
        ("Mr Smith", "Mr", true),
        ("Omar ibn Said", "ibn", true),
        ("María y Pedro", "y", true),
    ];
    for (name, word, stays) in cases {
        let shown = person(name);
        assert_eq!(shown.split(' ').any(|other| other == word), stays, "{name} → {shown}");
    }
}

#[test]
fn scripts_are_kept() {
    let cases = [
        ("Мстислав", '\u{400}'..='\u{4ff}'),
        ("Αχιλλέας", '\u{370}'..='\u{3ff}'),
        ("王小明", '\u{4e00}'..='\u{9fff}'),
        ("김민수", '\u{ac00}'..='\u{d7a3}'),
        ("さくら", '\u{3040}'..='\u{309f}'),
        ("أحمد", '\u{600}'..='\u{6ff}'),
    ];
    for (name, script) in cases {
        let shown = person(name);
        assert!(shown != name && shown.chars().all(|c| script.contains(&c)), "{name} → {shown}");
    }
}

#[test]
fn places_and_companies_keep_what_they_are() {
    let cases = [
        (NameKind::Place, "27 Qwer Rd.", r"^\d\d [A-Z][a-z]+ Rd\.$"),
        (
            NameKind::Place,
            "12 Main St, Springfield, IL 62704",
            r"^[1-9]\d [A-Z][a-z]+ St, [A-Z][a-z]+, IL \d{5}$",
        ),
        (NameKind::Place, "Lindenstraße 5", r"^\p{Lu}\p{Ll}+straße \d$"),
        (NameKind::Place, "Rue de la Paix", r"^Rue de la \p{Lu}\p{Ll}+$"),
        (NameKind::Place, "Weimar", r"^\p{Lu}\p{Ll}+$"),
        (NameKind::Place, "TX", r"^[A-Z]{2,}$"),
        (NameKind::Organization, "Siemens AG", r"^[A-Z][a-z]+ AG$"),
        (NameKind::Organization, "IBM", r"^[A-Z]{3}$"),
        (NameKind::Organization, "Harbour Post Ltd.", r"^[A-Z][a-z]+ [A-Z][a-z]+ Ltd\.$"),
        (NameKind::Organization, "Bosch GmbH & Co. KG", r"^[A-Z][a-z]+ GmbH & Co\. KG$"),
    ];
    for (kind, name, layout) in cases {
        let shown = surrogate(kind, name).unwrap();
        assert!(regex::Regex::new(layout).unwrap().is_match(&shown), "{name} → {shown}");
        assert_ne!(shown, name);
    }
    assert!(Dictionary::towns().knows(&surrogate(NameKind::Place, "Weimar").unwrap().to_lowercase()));
    assert_eq!(surrogate(NameKind::Person, "?!"), None);
}

#[test]
fn a_house_keeps_its_number_and_a_postcode_does_not() {
    let place = |name| surrogate(NameKind::Place, name).unwrap();
    let street = place("Maple Street");
    for (written, shown) in [
        ("27 Maple Street", format!("27 {street}")),
        ("Maple Street 27", format!("{street} 27")),
        ("27-29 Maple Street", format!("27-29 {street}")),
        ("1250 Maple Street", format!("1250 {street}")),
        ("12a Maple Street", format!("12a {street}")),
    ] {
        assert_eq!(place(written), shown);
    }
    for (written, code) in [
        ("Maple Street, Rye 10580", "10580"),
        ("Hauptstraße 27, 8001 Zürich", "8001"),
        ("1060 Wien", "1060"),
        ("Storgata 12, 0155 Oslo", "0155"),
    ] {
        assert!(!place(written).contains(code), "{written} → {}", place(written));
    }
    assert!(place("Hauptstraße 27, 8001 Zürich").contains("27, "));
}

#[test]
fn a_word_that_is_nothing_else_is_known_for_a_name() {
    for (name, known) in [
        ("Maria Lopez", true),
        ("Thomas van der Becker", true),
        ("Grace Lopez", false),
        ("Maria Quarmby", false),
        ("Will Baker", false),
    ] {
        assert_eq!(are_names(name), known, "{name}");
    }
}

mod any {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Whatever is taken for a name has a surrogate of as many words, or none.
        #[test]
        fn words_are_as_many(name in "\\PC{0,40}|([A-Z][a-z]{1,9} ){1,4}[A-Z]\\.") {
            for kind in [NameKind::Person, NameKind::Place, NameKind::Organization] {
                if let Some(shown) = surrogate(kind, &name) {
                    prop_assert_eq!(shown.split(' ').count(), name.split(' ').count());
                    prop_assert_eq!(surrogate(kind, &name), Some(shown));
                }
            }
        }
    }
}
