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
    // In the order of all forms; nothing where a name has none.
    let cases = [
        (
            "Maria Lopez",
            [
                "M. Lopez",
                "M Lopez",
                "Lopez, Maria",
                "Lopez, M.",
                "",
                "Lopez Maria",
                "Maria L",
                "Lopez M",
                "Maria Lopez",
                "Lopez Maria",
                "M Lopez",
            ],
        ),
        (
            "Jan Piet van der Bos",
            [
                "J. van der Bos",
                "J van der Bos",
                "van der Bos, Jan",
                "van der Bos, J.",
                "Jan van der Bos",
                "van der Bos Jan",
                "Jan B",
                "van der Bos J",
                "Jan vanderBos",
                "vanderBos Jan",
                "J vanderBos",
            ],
        ),
        (
            "Sean O'Brien",
            [
                "S. O'Brien",
                "S O'Brien",
                "O'Brien, Sean",
                "O'Brien, S.",
                "",
                "O'Brien Sean",
                "Sean O",
                "O'Brien S",
                "Sean OBrien",
                "OBrien Sean",
                "S OBrien",
            ],
        ),
        ("Maria", [""; 11]),
        ("M. Lopez", [""; 11]),
        ("Lopez, Maria", [""; 11]),
        ("27 Main", [""; 11]),
    ];
    for (name, expected) in cases {
        let forms = NameForm::ALL.map(|form| form.of(name).unwrap_or_default());
        assert_eq!(forms, expected, "{name}");
    }
}

#[test]
fn what_may_be_another_word_is_no_form() {
    let joined = [("Damian Lopez", false), ("Do Li", true), ("R Osalind", true), ("S Pring", true)];
    for (written, ambiguous) in joined {
        assert_eq!(NameForm::Joined.is_ambiguous(written), ambiguous, "{written}");
    }
    for (written, ambiguous) in [("Damian L", false), ("Monday M", true)] {
        assert_eq!(NameForm::GivenInitial.is_ambiguous(written), ambiguous, "{written}");
    }
    let cases = [
        (NameForm::BareInitial, false, "m lopez", true),
        (NameForm::BareInitial, true, "a lopez", false),
        (NameForm::BareInitial, true, "a.lopez", true),
        (NameForm::GivenInitial, false, "Maria L", true),
        (NameForm::GivenInitial, false, "Maria l", false),
        (NameForm::GivenInitial, false, "Maria\nL", false),
        (NameForm::GivenInitial, true, "Maria V", false),
        (NameForm::GivenInitial, true, "maria_v", true),
        (NameForm::SurnameBareInitial, false, "lopez.m", true),
        (NameForm::SurnameGiven, false, "lopez maria", true),
        (NameForm::SurnameGiven, true, "May will", false),
        (NameForm::SurnameGiven, true, "may_will", true),
        (NameForm::Joined, false, "MariaLopez", true),
    ];
    for (form, signed, written, admitted) in cases {
        assert_eq!(form.admits(signed, written), admitted, "{written}");
    }
    for (form, written, signed) in [
        (NameForm::BareInitial, "A Lopez", true),
        (NameForm::BareInitial, "M Lopez", false),
        (NameForm::GivenInitial, "Maria V", true),
        (NameForm::GivenInitial, "Maria L", false),
        (NameForm::SurnameGiven, "Monday Maybe", true),
        (NameForm::SurnameGiven, "Lopez Rebecca", false),
    ] {
        assert_eq!(form.needs_sign(written), signed, "{written}");
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
fn an_initial_is_that_of_the_original_whatever_stands_beside_it() {
    let undo = undo_of(&[("Rosalind Navarro", "Maria Lopez"), ("Elena Quarmby", "Damian Drostel")]);
    let cases = [
        ("R. Navarro", "M. Lopez"),
        ("R.Navarro", "M.Lopez"),
        ("r.navarro", "m.lopez"),
        ("r_navarro", "m_lopez"),
        ("r-navarro", "m-lopez"),
        ("R Navarro", "M Lopez"),
        ("navarro.r, navarro_r", "lopez.m, lopez_m"),
        ("Navarro R. and Navarro, R.", "Lopez M. and Lopez, M."),
        ("rosalind.n@harbour-post.com", "maria.l@harbour-post.com"),
        ("Rosalind N said", "Maria L said"),
        ("rosalind_n", "maria_l"),
        ("e.quarmby, e_quarmby, E.Quarmby", "d.drostel, d_drostel, D.Drostel"),
        ("e. quarmby", "d. drostel"),
        // Another word behind a name.
        ("Rosalind n", "Maria n"),
        ("Rosalind Nye", "Maria Nye"),
        ("Ms Navarro. R is", "Ms Lopez. R is"),
    ];
    for (written, expected) in cases {
        assert_eq!(restored(&undo, written), expected, "{written}");
    }
}

#[test]
fn both_names_come_back_in_any_order_and_as_one_word() {
    let undo = undo_of(&[("Rosalind Navarro", "Maria Lopez"), ("Consuelo Cruz", "Sean O'Brien")]);
    let cases = [
        ("Navarro Rosalind", "Lopez Maria"),
        ("navarro_rosalind.pdf", "lopez_maria.pdf"),
        ("cruz.consuelo, cruz-consuelo", "o'brien.sean, o'brien-sean"),
        ("RosalindNavarro", "MariaLopez"),
        ("NavarroRosalind", "LopezMaria"),
        ("rosalindNavarro", "mariaLopez"),
        ("@rosalindnavarro #ROSALINDNAVARRO", "@marialopez #MARIALOPEZ"),
        ("rnavarro", "mlopez"),
        ("RNavarro", "MLopez"),
        (r"C:\Users\RosalindNavarro", r"C:\Users\MariaLopez"),
        ("ConsueloCruz", "SeanOBrien"),
    ];
    for (written, expected) in cases {
        assert_eq!(restored(&undo, written), expected, "{written}");
    }
    for text in ["rosalindnavarros", "rnavarrow", "xrnavarro", "roSalindNavarro", "rosalindn"] {
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

/// Neither half of a name leaves beside the other, and what left in a spelling comes back in it.
#[test]
fn a_name_leaves_in_no_spelling() {
    let signed: [fn(&str, &str) -> String; 8] = [
        |given, last| format!("{last}_{given}").to_lowercase(),
        |given, last| format!("{last}.{given}").to_lowercase(),
        |given, last| format!("{last}-{given}").to_lowercase(),
        |given, last| format!("{given}.{last}").to_lowercase(),
        |given, last| format!("{last} {given}"),
        |given, last| format!("{last}_{given}.pdf"),
        |given, last| format!("{last}_{given}").to_uppercase(),
        |given, last| format!("{last}, {given}"),
    ];
    let others: [fn(&str, &str) -> String; 12] = [
        |given, last| format!("{}.{last}", initial(given)),
        |given, last| format!("{}.{last}", initial(given)).to_lowercase(),
        |given, last| format!("{}_{last}", initial(given)).to_lowercase(),
        |given, last| format!("{last}.{}", initial(given)).to_lowercase(),
        |given, last| format!("{given}.{}", initial(last)).to_lowercase(),
        |given, last| format!("{given} {}", initial(last)),
        |given, last| format!("{given}{last}"),
        |given, last| format!("{last}{given}"),
        |given, last| format!("@{given}{last}").to_lowercase(),
        |given, last| format!("#{}{last}", given.to_lowercase()),
        |given, _| given.to_lowercase(),
        |_, last| last.to_lowercase(),
    ];
    let all = || signed.iter().chain(&others);
    for (given, last, spellings) in [
        ("Rebecca", "Lopez", all().collect::<Vec<_>>()),
        ("Damian", "Lopez", all().collect()),
        ("Laura", "Durand", signed.iter().collect()),
        ("Thomas", "Miller", signed.iter().collect()),
        ("Gudrun", "Krause", signed.iter().collect()),
    ] {
        for spelling in spellings {
            let spelled = spelling(given, last);
            let text = format!("My colleague is {given} {last}. The folder is {spelled} here.");
            let (shown, undo) = shown(&text, &keys());
            let lower = shown.to_lowercase();
            for half in [given, last] {
                assert!(!lower.contains(&half.to_lowercase()), "{text} → {shown}");
            }
            assert_eq!(restored(&undo, &shown), text, "{shown}");
        }
    }
    for text in [
        "My colleague is Damian Lopez. The price of a damiana is spring.",
        "My colleague is Paul Rice. The price is a slice of spice.",
    ] {
        let behind = |text: &str| text.split_once(". ").unwrap().1.to_owned();
        assert_eq!(behind(&shown(text, &keys()).0), behind(text));
    }
}

fn initial(name: &str) -> char {
    name.chars().next().unwrap()
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
