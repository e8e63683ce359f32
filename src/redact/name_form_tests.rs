use std::sync::{Arc, Mutex};

use zeroize::Zeroizing;

use super::*;
use crate::redact::fixture::{keys, redactor};
use crate::redact::issued::{IssuedSurrogate, SurrogateIdentity};
use crate::redact::surrogate_map::FindingLimits;
use crate::redact::{AnswerEditor, IssuedToCaller, Keys, Method, Recall, SurrogateMap};
use crate::stream::Editor;

#[test]
fn a_name_has_forms() {
    let forms = |name: &str| NameForm::ALL.map(|form| form.of(name));
    let some = |form: &str| Some(form.to_owned());
    let cases = [
        ("Maria Lopez", [some("M. Lopez"), some("M Lopez"), some("Lopez, Maria"), some("Lopez, M."), None]),
        ("Elena Ruiz", [some("E. Ruiz"), None, some("Ruiz, Elena"), some("Ruiz, E."), None]),
        (
            "Jan Piet van der Bos",
            [
                some("J. van der Bos"),
                some("J van der Bos"),
                some("van der Bos, Jan"),
                some("van der Bos, J."),
                some("Jan van der Bos"),
            ],
        ),
        ("Maria", [const { None }; 5]),
        ("M. Lopez", [const { None }; 5]),
        ("Lopez, Maria", [const { None }; 5]),
        ("27 Main", [const { None }; 5]),
    ];
    for (name, expected) in cases {
        assert_eq!(forms(name), expected, "{name}");
    }
}

fn undo_of(issued: &[(&str, &str)]) -> Arc<SurrogateMap> {
    let issued = issued.iter().map(|(surrogate, original)| IssuedSurrogate {
        surrogate: (*surrogate).to_owned(),
        original: Zeroizing::new((*original).to_owned()),
        spelling: SurrogateIdentity::Person,
        parts: true,
    });
    Arc::new(SurrogateMap::of(issued.collect()))
}

/// Whole, and cut at every place.
fn restored(undo: &Arc<SurrogateMap>, text: &str) -> String {
    let cut = |cut: usize| {
        let (mut answer, mut edits) = (AnswerEditor::restore(Arc::clone(undo)), Vec::new());
        answer.feed(text.get(..cut).unwrap(), &mut edits).unwrap();
        answer.feed(text.get(cut..).unwrap(), &mut edits).unwrap();
        answer.end(&mut edits).unwrap();
        crate::edit::spliced_text(text, &edits)
    };
    let whole = cut(0);
    for at in (1..text.len()).filter(|at| text.is_char_boundary(*at)) {
        assert_eq!(cut(at), whole, "{text} cut at {at}");
    }
    whole
}

#[test]
fn every_part_and_spelling_comes_back_as_it_was_written() {
    let undo = undo_of(&[
        ("Elena Ruiz", "Maria Li"),
        ("Jan Piet van der Bos", "Klaus Jürgen van der Heide"),
        ("Oscar Vidal", "Pablo O'Brien"),
    ]);
    let cases = [
        ("Elena Ruiz", "Maria Li"),
        ("Ms Ruiz", "Ms Li"),
        ("Dear Elena,", "Dear Maria,"),
        ("RUIZ, Elena", "LI, Maria"),
        ("ELENA RUIZ", "MARIA LI"),
        ("elena ruiz", "maria li"),
        ("i met elena", "i met maria"),
        ("ruiz, elena", "li, maria"),
        ("RUIZ, E. and E. RUIZ", "LI, M. and M. LI"),
        ("E. Ruiz's letter", "M. Li's letter"),
        ("Ruiz, E., and", "Li, M., and"),
        ("Elena's", "Maria's"),
        ("Elena’s", "Maria’s"),
        ("**Elena** Ruiz", "**Maria** Li"),
        ("elena_ruiz.pdf", "maria_li.pdf"),
        ("?q=Elena%20Ruiz", "?q=Maria%20Li"),
        ("Jan van der Bos", "Klaus van der Heide"),
        ("J. van der Bos", "K. van der Heide"),
        ("Mr van der Bos", "Mr van der Heide"),
        ("Vidal", "O'Brien"),
        ("O. Vidal", "P. O'Brien"),
    ];
    for (written, expected) in cases {
        assert_eq!(restored(&undo, written), expected, "{written}");
    }
    for text in ["ruiz", "van der", "E. said", "E Ruizer", "a Ruizx"] {
        assert_eq!(restored(&undo, text), text);
    }
}

#[test]
fn what_two_people_may_be_meant_by_stays() {
    let undo = undo_of(&[("Elena Ruiz", "Maria Lopez"), ("Emma Ruiz", "Paula Lopez")]);
    assert_eq!(restored(&undo, "E. Ruiz"), "E. Lopez");
    assert_eq!(restored(&undo, "Emma, Elena, Ms Ruiz"), "Paula, Maria, Ms Lopez");
    let undo = undo_of(&[("Elena Ruiz", "Maria Lopez"), ("Emma Ruiz", "Paula Garcia")]);
    assert_eq!(restored(&undo, "E. Ruiz; Emma; Ms Ruiz"), "E. Ruiz; Paula; Ms Ruiz");
}

fn shown(text: &str, keys: &Keys) -> (String, Arc<SurrogateMap>) {
    let (redacted, undo) =
        redactor(Method::Encrypt).plain(text.as_bytes(), keys, FindingLimits::default()).unwrap();
    (String::from_utf8(redacted.into_value()).unwrap(), Arc::new(undo))
}

#[test]
fn a_person_is_the_same_in_every_text() {
    let (first, _) = shown("My friend Maria Lopez called.", &keys());
    let name = first.trim_start_matches("My friend ").trim_end_matches(" called.").to_owned();
    let (given, last) = name.split_once(' ').unwrap();
    for (text, expected) in [
        ("I met Maria and Mr. Thomas Lopez.", format!("I met {given} and Mr. ")),
        ("Dear Maria, thank you.", format!("Dear {given}, thank you.")),
        (
            "Maria Lopez wrote; M. Lopez signed.",
            format!("{name} wrote; {}. {last} signed.", given.chars().next().unwrap()),
        ),
    ] {
        let (shown, undo) = shown(text, &keys());
        assert!(shown.starts_with(&expected), "{shown}");
        assert_eq!(restored(&undo, &shown), text);
    }
}

/// A name that stands for one in this text may be found in it too: it is replaced as well, and both come back.
#[test]
fn a_surrogate_may_be_somebody_in_the_text() {
    let (first, _) = shown("Dear Maria Lopez,", &keys());
    let other = first.trim_start_matches("Dear ").trim_end_matches(',').to_owned();
    let text = format!("Maria Lopez met {other} at noon.");
    let (both, undo) = shown(&text, &keys());
    assert!(both.starts_with(&other), "the same as before: {both}");
    assert!(!both.contains("Maria") && !both.contains("Lopez"), "{both}");
    assert_eq!(restored(&undo, &both), text);
}

/// Notes what is issued.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl IssuedToCaller for Notes {
    fn has(&self, canonical: &[u8]) -> bool {
        self.0.lock().unwrap().iter().any(|noted| noted.as_bytes() == canonical)
    }

    fn add(&self, canonical: &[u8]) {
        self.0.lock().unwrap().push(String::from_utf8(canonical.to_vec()).unwrap());
    }
}

/// What stands for a name is a name: to leave it alone in a later text would let a person of that name pass.
#[test]
fn surrogates_of_names_are_nobodys_own() {
    let notes = Arc::new(Notes::default());
    let keys = Keys { recall: Recall { caller: Some(notes.clone()), conversation: None }, ..keys() };
    let (first, _) = shown("Dear Maria Lopez, mail jane@harbour-post.com", &keys);
    let noted = notes.0.lock().unwrap().clone();
    let [address] = noted.as_slice() else { panic!("{noted:?}") };
    assert!(address.ends_with("com"), "{address}");
    let other = first.trim_start_matches("Dear ").split(',').next().unwrap();
    let (second, _) = shown(&format!("Dear {other}, hello."), &keys);
    assert!(!second.contains(other), "{second}");
}

/// What was issued before there were names stays in its conversation.
#[test]
fn a_conversation_that_has_begun_goes_on() {
    let old = IssuedSurrogate {
        surrogate: "Xtorjt Kxkvdm".to_owned(),
        original: Zeroizing::new("Maria Lopez".to_owned()),
        spelling: SurrogateIdentity::Words,
        parts: true,
    };
    let conversation = Some(Arc::new(SurrogateMap::of(vec![old])));
    let keys = Keys { recall: Recall { caller: None, conversation }, ..keys() };
    let (shown, undo) = shown("Dear Maria Lopez, hello.", &keys);
    assert_eq!(shown, "Dear Xtorjt Kxkvdm, hello.");
    assert_eq!(restored(&undo, "Ms Kxkvdm"), "Ms Lopez");
}
