use super::*;

fn texts(unit: &str) -> UnitTexts {
    UnitTexts::of(unit.as_bytes(), b"", None)
}

#[test]
fn what_tells_texts_apart_is_bounded_and_shared() {
    let ids = r#""id":"a","#.repeat(500);
    let named: String = (0..500).map(|number| format!(r#""x{number}_id":"a","#)).collect();
    let strings: String = (0..300).map(|number| format!(r#","t{number}":"text""#)).collect();
    for members in [ids, named] {
        let found = texts(&format!(r#"{{{members}"n":1{strings}}}"#));
        assert_eq!(found.strings.len(), 300);
        let first = &found.strings[0].place.members;
        assert!((1..=8).contains(&first.len()), "{}", first.len());
        assert!(found.strings.iter().all(|string| Arc::ptr_eq(&string.place.members, first)));
        assert!(found.members.len() <= 8, "{}", found.members.len());
    }
    // However deep.
    let deep = r#"{"a_id":"x","b_id":"y","c_id":"z","o":"#.repeat(60);
    let found = texts(&format!("{deep}{{\"t\":\"text\"}}{}", "}".repeat(60)));
    assert_eq!(found.strings.len(), 1);
    assert!(found.strings[0].place.members.len() <= 32, "{}", found.strings[0].place.members.len());
}

#[test]
fn the_last_of_members_that_are_called_the_same_counts() {
    let place = |unit: &str| texts(unit).strings.remove(0).place;
    let (twice, once) = (place(r#"{"id":"a","id":"b","t":"x"}"#), place(r#"{"id":"b","t":"x"}"#));
    assert_eq!((twice.way, twice.members[0].value), (once.way, once.members[0].value));
    // What kind of document it is tells its texts apart whatever else does.
    assert_ne!(place(r#"{"type":"a","t":"x"}"#).way, place(r#"{"type":"b","t":"x"}"#).way);
}
