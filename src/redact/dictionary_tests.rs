use super::*;
use crate::base::secret::Secret;

fn key(byte: u8) -> FpeKey {
    FpeKey::new(Secret::new(vec![byte; 32])).unwrap()
}

fn all() -> [&'static Dictionary; 3] {
    [Dictionary::persons(), Dictionary::towns(), Dictionary::streets()]
}

#[test]
fn no_two_names_share_a_surrogate_and_none_keeps_its_own() {
    for (byte, tweak) in [(1, [1; 16]), (1, [2; 16]), (2, [1; 16])] {
        for dictionary in all() {
            let (mut permutations, mut seen) = (Permutations::default(), HashSet::new());
            for (name, (at, _)) in &dictionary.names {
                let surrogate = permutations.surrogate(dictionary, &key(byte), tweak, name).unwrap();
                assert_ne!(surrogate.to_lowercase(), *name);
                assert!(seen.insert(surrogate), "{name}: {surrogate} is taken");
                let section = &dictionary.sections[usize::from(*at)];
                assert!(section.surrogates.contains(&surrogate), "{name} left {}", section.name);
            }
            assert_eq!(seen.len(), dictionary.names.len());
        }
    }
}

#[test]
fn another_key_or_tweak_gives_other_surrogates() {
    let of = |byte, tweak| {
        let mut permutations = Permutations::default();
        let names = ["maria", "lopez", "emily", "james", "smith", "garcia", "carmen", "pablo"];
        names.map(|name| permutations.surrogate(Dictionary::persons(), &key(byte), tweak, name))
    };
    assert_eq!(of(1, [1; 16]), of(1, [1; 16]));
    assert_ne!(of(1, [1; 16]), of(2, [1; 16]));
    assert_ne!(of(1, [1; 16]), of(1, [2; 16]));
}

/// The list as it is written: in each section as many names as surrogates, each word once, and no word that is an
/// ordinary one or a country among the surrogates.
#[test]
fn the_lists_are_whole() {
    const COUNTRIES: &[&str] = &[
        "jordan",
        "chad",
        "georgia",
        "israel",
        "cuba",
        "mali",
        "niger",
        "peru",
        "chile",
        "china",
        "india",
        "france",
        "germany",
        "spain",
        "italy",
        "kenya",
        "monaco",
        "malta",
        "cyprus",
        "panama",
        "austria",
        "ireland",
        "london",
        "paris",
        "berlin",
        "madrid",
        "sydney",
        "houston",
        "dallas",
        "austin",
        "washington",
    ];
    for dictionary in all() {
        let mut words = HashSet::new();
        for section in &dictionary.sections {
            assert_eq!(section.names.len(), section.surrogates.len(), "{}", section.name);
            for surrogate in &section.surrogates {
                assert!(words.insert(surrogate.to_lowercase()), "{surrogate} is there twice");
                assert!(surrogate.chars().count() > 2 && !surrogate.contains('-'), "{surrogate}");
                assert!(surrogate.chars().next().unwrap().is_uppercase(), "{surrogate}");
            }
        }
        for country in COUNTRIES {
            assert!(!dictionary.surrogates.contains(*country), "{country}");
        }
    }
}

/// What a name that names nobody stands for is itself: nobody's surrogate may be one, nor be put together from its words.
#[test]
fn no_surrogate_is_a_name_that_names_nobody() {
    for name in crate::redact::public_names::all() {
        // Streets are called after cities, and never by one word.
        let taken = |word: &str| {
            [Dictionary::persons(), Dictionary::towns()].iter().any(|list| list.surrogates.contains(word))
        };
        assert!(!taken(name), "{name}");
        assert!(!name.split([' ', '-']).all(taken), "each word of {name}");
    }
}

/// Whatever is kept, and whoever asked before.
#[test]
fn a_permutation_that_is_known_is_the_one_that_was_drawn() {
    let parts: [&[u8]; 3] = [b"tweak of this test", b"persons", b"en f"];
    let drawn = cycle(&key(1), &parts, 500);
    let first = recent_cycle(&key(1), parts, 500);
    assert_eq!((&first, &recent_cycle(&key(2), parts, 500)), (&drawn, &cycle(&key(2), &parts, 500)));
    for section in 0..3 * RECENT / 1000 {
        recent_cycle(&key(1), [parts[0], parts[1], &section.to_be_bytes()], 500);
    }
    assert!(Arc::strong_count(&first) == 1, "it is kept for ever");
    assert_eq!(recent_cycle(&key(1), parts, 500), drawn);
    assert!(Arc::ptr_eq(&recent_cycle(&key(1), parts, 500), &recent_cycle(&key(1), parts, 500)));
}

/// In small letters too, so that a name that is replaced there comes back.
#[test]
fn what_stands_for_no_ordinary_word_is_none() {
    let mut seen = 0;
    for (byte, tweak) in [(1, [1; 16]), (2, [3; 16])] {
        for dictionary in all() {
            let mut permutations = Permutations::default();
            for (name, &(at, rank)) in &dictionary.names {
                let section = &dictionary.sections[usize::from(at)];
                if section.names_only[usize::from(rank)] {
                    let with = permutations.surrogate(dictionary, &key(byte), tweak, name).unwrap();
                    assert!(!is_ordinary(&with.to_lowercase()), "{name}: {with}");
                    seen += 1;
                }
            }
        }
    }
    assert!(seen > 2000, "{seen}");
}

/// What stands for a name with an apostrophe has one, and nothing else has: a program quotes the one as the other.
#[test]
fn names_with_an_apostrophe_stand_for_one_another() {
    let mut marked = 0;
    for dictionary in all() {
        for section in &dictionary.sections {
            let marks = |word: &&&str| word.contains('\'');
            let count = section.names.iter().filter(marks).count();
            assert_eq!(section.surrogates.iter().filter(marks).count(), count);
            assert!(count == 0 || count == section.names.len() && count >= FEWEST, "{}", section.name);
            marked += count;
        }
    }
    assert!(marked > 2 * FEWEST, "{marked}");
}

#[test]
fn ordinary_words_are_of_the_dictionaries() {
    let words = ORDINARY.lines().filter(|line| !line.starts_with('#'));
    for word in words.flat_map(str::split_ascii_whitespace) {
        let known = [Dictionary::persons(), Dictionary::towns()].iter().any(|list| list.knows(word));
        assert!(known, "{word} is in no list");
    }
}
