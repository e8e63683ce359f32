//! What a value is called where it stands: a member's name in a document, the head of a column, an element's name. It is
//! context of the value as words before it are in prose: `{"ssn": "536228726"}` says what `ssn: 536228726` says.

use super::languages::in_english;
use super::meaning::{Meaning, NameMeaning, meaning};
use crate::detect::normal::as_read;

/// How much is read of the end of a name, in bytes, and of all names together.
const NAME: usize = 64;
const NAMES: usize = 48;

/// Words at the end of a name that say that the value is about what the rest names, and is not it; each with the word that stands
/// before such a value, which counts against what it looks like.
const ABOUT: &[(&str, Option<&str>)] = &[
    ("at", None),
    ("build", Some("version")),
    ("count", Some("count")),
    ("len", Some("length")),
    ("length", Some("length")),
    ("ms", None),
    ("seconds", Some("seconds")),
    ("size", Some("size")),
    ("timestamp", Some("timestamp")),
    ("total", Some("total")),
    ("ttl", Some("ttl")),
    ("ver", Some("version")),
    ("version", Some("version")),
];

/// Words at the end of a name that leave a field of HTTP what it is.
const OF_FIELD: &[&str] = &["header", "headers", "value"];

/// A field of HTTP that holds credentials among other words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CredentialField {
    /// `Authorization` and `Proxy-Authorization` (RFC 9110 section 11).
    Authorization,
    /// `Cookie` and `Set-Cookie` (RFC 6265 section 4).
    Cookies,
}

impl CredentialField {
    /// That of a name with these words.
    fn of(words: &[String]) -> Option<Self> {
        let behind = words.iter().rev().take_while(|word| OF_FIELD.contains(&word.as_str())).count();
        match words.iter().rev().nth(behind)?.as_str() {
            "authorization" => Some(Self::Authorization),
            "auth" if behind > 0 => Some(Self::Authorization),
            "cookie" | "cookies" => Some(Self::Cookies),
            _ => None,
        }
    }
}

/// Which secret a label says is in the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LabelMeaning {
    /// All of it is one.
    Secret(Meaning),
    /// What such a field holds.
    Field(CredentialField),
}

/// What a value is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The words, as they stand before the value; a line of their own, for the value is all of its text.
    text: String,
    meaning: Option<Meaning>,
    field: Option<CredentialField>,
}

impl Label {
    /// The label of a value that is called so; the names from the outermost to its own. `None` where they say nothing.
    pub fn of<'n>(names: impl IntoIterator<Item = &'n str>) -> Option<Self> {
        let mut words = Vec::new();
        for name in names {
            let cut =
                name.get(name.ceil_char_boundary(name.len().saturating_sub(NAME))..).unwrap_or_default();
            parted(&as_read(cut), &mut words);
            // Of a list of `phones` each is a phone.
            let one = words.last().and_then(|last| last.strip_suffix('s')).filter(|one| is_one(one));
            if let Some(one) = one.map(str::to_owned) {
                words.insert(words.len() - 1, one);
            }
        }
        // The id of a call is no number that is called.
        if let [.., call, id] = words.as_slice()
            && call == "call"
            && matches!(id.as_str(), "id" | "sid")
        {
            words.remove(words.len() - 2);
        }
        // What is nearest to the value says the most.
        let mut length = 0;
        let fits = |word: &&String| {
            length += word.len() + 1;
            length <= NAMES
        };
        let kept = words.iter().rev().take_while(fits).count();
        let words = words.get(words.len() - kept..).unwrap_or_default();
        let last = words.last().map(String::as_str).unwrap_or_default();
        if let Some((_, before)) = ABOUT.iter().find(|(word, _)| *word == last) {
            return before.map(|word| Self { text: format!("{word}:\n"), meaning: None, field: None });
        }
        if !words.iter().any(|word| word.chars().any(char::is_alphabetic)) {
            return None;
        }
        let name = words.join("_");
        let said = |name: &str| match in_english(name) {
            Some((english, doubtful)) => {
                let said = meaning(english.as_bytes());
                said.map(|said| Meaning { doubtful: said.doubtful || doubtful, ..said })
            }
            None => meaning(name.as_bytes()),
        };
        let one = || {
            words
                .split_last()
                .filter(|(last, _)| last.ends_with('s'))
                .and_then(|(_, rest)| said(&rest.join("_")))
        };
        let meaning = said(&name).or_else(one);
        Some(Self { text: format!("{name}:\n"), meaning, field: CredentialField::of(words) })
    }

    /// The label of a value that stands behind this text; `None` where both say nothing.
    pub fn behind(before: &str, label: Option<Self>) -> Option<Self> {
        let label = label.unwrap_or(Self { text: String::new(), meaning: None, field: None });
        let text = if before.is_empty() { label.text } else { format!("{before}\n{}", label.text) };
        (!text.is_empty()).then_some(Self { text, ..label })
    }

    /// The label as text that stands before the value.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it says that the value is a secret.
    pub fn is_secret(&self) -> bool {
        self.meaning.is_some() || self.field == Some(CredentialField::Authorization)
    }

    /// The name that a program would give the secret, such as `password`, if the label says that the value is one.
    pub fn assigned(&self) -> Option<&'static str> {
        self.meaning.map(|meaning| match (meaning.named, meaning.strong) {
            // As doubtful as the label is.
            (NameMeaning::Password, _) if meaning.doubtful => "mdp",
            (NameMeaning::Password, true) => "password",
            (NameMeaning::Password, false) => "pass",
            (NameMeaning::Key, true) => "api_key",
            (NameMeaning::Key, false) => "key",
            (NameMeaning::Secret, _) => "client_secret",
            (NameMeaning::Basic, _) => "auth",
            (NameMeaning::KeyNumber, _) => "d",
            (NameMeaning::Seed, _) => "mnemonic",
        })
    }

    /// Which secret it says is in the value.
    pub(crate) fn meaning(&self) -> Option<LabelMeaning> {
        self.field.map(LabelMeaning::Field).or(self.meaning.map(LabelMeaning::Secret))
    }
}

/// Whether this is a word to which an `s` was added.
fn is_one(word: &str) -> bool {
    word.chars().nth(1).is_some() && !word.ends_with('s')
}

/// Adds the words of a name, in lower case: what is not a letter or a digit parts them, and a change of case.
fn parted(name: &str, words: &mut Vec<String>) {
    for run in
        name.split(|c: char| !c.is_alphanumeric() && !is_mark(c) && c != '\'').filter(|run| !run.is_empty())
    {
        let letters: Vec<char> = run.chars().collect();
        let mut word = String::new();
        for (n, &c) in letters.iter().enumerate() {
            let before = n.checked_sub(1).and_then(|n| letters.get(n)).copied();
            let next = letters.get(n + 1).copied();
            let begins = c.is_uppercase()
                && before.is_some_and(|before| {
                    before.is_alphanumeric()
                        && (!before.is_uppercase() || next.is_some_and(char::is_lowercase))
                });
            if begins && !word.is_empty() {
                words.push(std::mem::take(&mut word));
            }
            word.extend(c.to_lowercase());
        }
        words.push(word);
    }
}

/// Marks that letters of some scripts cannot be without.
pub(crate) fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{591}'..='\u{5c7}' | '\u{64b}'..='\u{65f}' | '\u{900}'..='\u{963}' | '\u{966}'..='\u{dff}' | '\u{e31}'..='\u{e4e}')
}

#[cfg(test)]
mod tests {
    use super::super::languages::{DOUBTFUL, KEYS, PASSWORDS, is_secret_word};
    use super::*;

    #[test]
    fn names_are_words_however_they_are_written() {
        let cases: &[(&[&str], &str)] = &[
            (&["account_number"], "account_number:\n"),
            (&["accountNumber"], "account_number:\n"),
            (&["AccountNumber"], "account_number:\n"),
            (&["account-number"], "account_number:\n"),
            (&["account.number"], "account_number:\n"),
            (&["Account Number"], "account_number:\n"),
            (&["ACCOUNT_NUMBER"], "account_number:\n"),
            (&["ＡＣＣＯＵＮＴ"], "account:\n"),
            (&["card", "number"], "card_number:\n"),
            (&["phone_numbers"], "phone_number_numbers:\n"),
            (&["address"], "address:\n"),
            (&["SSNNumber"], "ssn_number:\n"),
            (&["toolCallId"], "tool_id:\n"),
            (&["call_sid"], "sid:\n"),
            (&["Téléphone"], "téléphone:\n"),
            (&["电话号码"], "电话号码:\n"),
            (&["हैंडल"], "हैंडल:\n"),
        ];
        for (names, text) in cases {
            assert_eq!(
                Label::of(names.iter().copied()).map(|label| label.text),
                Some((*text).to_owned()),
                "{names:?}"
            );
        }
        for names in [&[""][..], &["12"], &["-"], &["phoneVerifiedAt"], &[]] {
            assert_eq!(Label::of(names.iter().copied()), None, "{names:?}");
        }
        let long = "x".repeat(100);
        assert!(Label::of([long.as_str(), "ssn"]).is_some_and(|label| label.text == "ssn:\n"));
    }

    #[test]
    fn what_is_about_a_value_counts_against_what_it_looks_like() {
        for (name, text) in [
            ("version", "version:\n"),
            ("AssemblyVersion", "version:\n"),
            ("webpages:Version", "version:\n"),
            ("build", "version:\n"),
            ("card_timestamp", "timestamp:\n"),
            ("account_count", "count:\n"),
            ("password_length", "length:\n"),
            ("version_ip", "version_ip:\n"),
        ] {
            let label = Label::of([name]).unwrap();
            assert_eq!((label.text(), label.is_secret()), (text, false), "{name}");
        }
    }

    #[test]
    fn fields_of_http_hold_credentials() {
        for (name, field) in [
            ("Authorization", Some(CredentialField::Authorization)),
            ("headers.proxy-authorization", Some(CredentialField::Authorization)),
            ("HTTP_AUTHORIZATION", Some(CredentialField::Authorization)),
            ("Authorization.value", Some(CredentialField::Authorization)),
            ("authHeader", Some(CredentialField::Authorization)),
            ("Set-Cookie", Some(CredentialField::Cookies)),
            ("cookies", Some(CredentialField::Cookies)),
            ("auth", None),
            ("authorization_url", None),
            ("cookie_policy", None),
            ("value", None),
        ] {
            assert_eq!(Label::of([name]).unwrap().field, field, "{name}");
        }
        let label = Label::behind("before", Label::of(["Cookie"])).unwrap();
        assert_eq!(label.meaning(), Some(LabelMeaning::Field(CredentialField::Cookies)));
    }

    #[test]
    fn secrets_are_known_in_other_languages() {
        for name in PASSWORDS.iter().chain(DOUBTFUL).chain(KEYS) {
            for spelled in
                [(*name).to_owned(), name.to_uppercase(), name.replace('_', " "), format!("db_{name}")]
            {
                let label = Label::of([spelled.as_str()]).unwrap();
                assert!(label.meaning.is_some_and(Meaning::is_strong), "{spelled}");
            }
        }
        assert!(Label::of(["ŞİFRE"]).unwrap().meaning.is_some());
        assert!(
            is_secret_word("Mot de passe".as_bytes())
                && is_secret_word("密码".as_bytes())
                && !is_secret_word(b"hunter2!")
        );
        for name in ["parola", "Κωδικός", "MDP", "hasło", "senha"] {
            let label = Label::of([name]).unwrap();
            assert!(
                label.meaning.is_some_and(|said| said.doubtful) && label.assigned() == Some("mdp"),
                "{name}"
            );
        }
        for name in ["db_parola", "user_mdp", "contraseña", "пароль"] {
            let label = Label::of([name]).unwrap();
            assert_eq!(label.assigned(), Some("password"), "{name}");
        }
        for name in [
            "password_hash",
            "passwort_hash",
            "description",
            "max_tokens",
            "compass",
            "parolee",
            "clave",
            "chave",
        ] {
            assert!(Label::of([name]).unwrap().meaning.is_none(), "{name}");
        }
    }
}
