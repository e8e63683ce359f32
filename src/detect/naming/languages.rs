//! Words for passwords and secret keys in the languages of the world, as they stand in forms and in names.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::case::distance;
use super::meaning::{Meaning, NameMeaning, is_owner};
use super::requirement::is_requirement;

/// Words for a password in names that leave no doubt, besides those that the names of programs have: a word, or two with `_`
/// between. In lower case; as words of scripts without spaces they may be a part of one.
pub(crate) const PASSWORDS: &[&str] = &[
    // Germanic and Nordic languages.
    "passwort",
    "kennwort",
    "wlan_schlüssel",
    "netzwerkschlüssel",
    "schlüsselinhalt",
    "wachtwoord",
    "toegangscode",
    "lösenord",
    "losenord",
    "adgangskode",
    "passord",
    "lykilorð",
    "wagwoord",
    "pasvoord",
    // Romance languages.
    "contraseña",
    "contrasena",
    "clave_de_acceso",
    "mot_de_passe",
    "motdepasse",
    "palavra_passe",
    "palavra-passe",
    "parola_d'ordine",
    "contrasenya",
    // Slavic and Baltic languages.
    "пароль",
    "парола",
    "лозинка",
    "lozinka",
    "zaporka",
    "slaptažodis",
    "slaptazodis",
    "құпиясөз",
    "құпия_сөз",
    // Others of Europe and Asia.
    "salasana",
    "salasanani",
    "salasanasi",
    "parool",
    "jelszó",
    "jelszo",
    "jelszavam",
    "jelszavad",
    "jelszava",
    "şifre",
    "sifre",
    "şifrem",
    "şifreniz",
    "şifresi",
    "parolam",
    "parolanız",
    "parolası",
    "κωδικός_πρόσβασης",
    "συνθηματικό",
    "סיסמה",
    "סיסמא",
    "הסיסמה",
    "הסיסמא",
    "كلمة_المرور",
    "كلمة_السر",
    "الرقم_السري",
    "رمز_عبور",
    "گذرواژه",
    "کلمه_عبور",
    "رمز_ورود",
    "پاس_ورڈ",
    "पासवर्ड",
    "कूटशब्द",
    "পাসওয়ার্ড",
    "รหัสผ่าน",
    "mật_khẩu",
    "mat_khau",
    "matkhau",
    "kata_sandi",
    "katasandi",
    "kata_laluan",
    "katalaluan",
    "nenosiri",
    "neno_la_siri",
    "kontrasenyas",
    "密码",
    "密碼",
    "口令",
    "パスワード",
    "暗証番号",
    "비밀번호",
    "암호",
    "비번",
];

/// Words for a secret key in names, in the same way.
pub(crate) const KEYS: &[&str] = &[
    "api_schlüssel",
    "schlüssel_api",
    "geheimer_schlüssel",
    "clé_api",
    "clé_d'api",
    "cle_api",
    "clé_secrète",
    "clave_api",
    "clave_secreta",
    "chave_api",
    "chave_secreta",
    "chiave_api",
    "chiave_segreta",
    "api_sleutel",
    "api_nyckel",
    "api_nøgle",
    "api_nøkkel",
    "api_avain",
    "api_ключ",
    "ключ_api",
    "секретный_ключ",
    "klucz_api",
    "api_klíč",
    "api_anahtarı",
    "密钥",
    "密鑰",
    "金鑰",
    "api_密钥",
    "秘密鍵",
    "api_キー",
    "シークレットキー",
    "비밀키",
    "api_키",
    "مفتاح_api",
    "מפתח_api",
    "khóa_api",
    "kunci_api",
];

/// Words for a password, in the same way, that mean something else as often: a word, a slogan, an entry of a dictionary, the code of
/// a product, the number of a ticket, a model of decisions.
pub(crate) const DOUBTFUL: &[&str] = &[
    "parola",
    "parolă",
    "parole",
    "parola_chiave",
    "mdp",
    "heslo",
    "geslo",
    "hasło",
    "haslo",
    "senha",
    "κωδικός",
    "κωδικος",
    "losungswort",
    "sandi",
    "kodeord",
];

/// Whether a text is itself a word for a secret, in any of the languages: what stands in a form, or its translation; or what
/// a form asks of a secret.
pub(crate) fn is_secret_word(text: &[u8]) -> bool {
    // Of `Passwort*`: what must be filled in has a star.
    let starred = text.strip_suffix(b"*").map(<[u8]>::trim_ascii_end);
    let word = starred.unwrap_or(text);
    let mut folded = FoldedText::default();
    folded.push(word).is_some() && folded.meaning(0, folded.len()).is_some()
        || starred.is_some() && word.eq_ignore_ascii_case(b"password")
        || is_requirement(text)
}

/// The longest text that is folded, in bytes.
const LONGEST: usize = 128;

/// A text as the words for secrets are kept: in lower case, with `_` between words. Parts of it are looked up without making
/// others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoldedText {
    bytes: [u8; LONGEST],
    length: usize,
}

impl Default for FoldedText {
    fn default() -> Self {
        Self { bytes: [0; LONGEST], length: 0 }
    }
}

impl FoldedText {
    /// Adds a text; `None` where it is none, or longer than any of the words.
    pub(crate) fn push(&mut self, text: &[u8]) -> Option<()> {
        if text.is_ascii() {
            let end = self.length + text.len();
            for (place, &byte) in self.bytes.get_mut(self.length..end)?.iter_mut().zip(text) {
                *place = if matches!(byte, b' ' | b'-') { b'_' } else { byte.to_ascii_lowercase() };
            }
            self.length = end;
            return Some(());
        }
        for c in std::str::from_utf8(text).ok()?.chars() {
            match c {
                ' ' | '-' => self.push_char('_')?,
                '’' => self.push_char('\'')?,
                c if distance(c) == Some(0) => fold(c).map_or(Some(()), |c| self.push_char(c))?,
                c => c.to_lowercase().filter_map(fold).try_for_each(|c| self.push_char(c))?,
            }
        }
        Some(())
    }

    fn push_char(&mut self, c: char) -> Option<()> {
        let end = self.length + c.len_utf8();
        c.encode_utf8(self.bytes.get_mut(self.length..end)?);
        self.length = end;
        Some(())
    }

    /// How long it is so far.
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// What the part `start..end` says, if it is a word for a secret.
    pub(crate) fn meaning(&self, start: usize, end: usize) -> Option<Meaning> {
        SECRETS.meanings.get(self.bytes.get(start..end.min(self.length))?).copied()
    }
}

/// A word for a secret.
struct SecretWord {
    folded: String,
    english: &'static str,
    meaning: Meaning,
}

/// The words for secrets, to be looked for together.
struct Secrets {
    search: Option<AhoCorasick>,
    words: Vec<SecretWord>,
    meanings: HashMap<Box<[u8]>, Meaning>,
}

static SECRETS: LazyLock<Secrets> = LazyLock::new(|| {
    let mut words = Vec::new();
    let lists = [
        (PASSWORDS, "password", NameMeaning::Password, false),
        (DOUBTFUL, "password", NameMeaning::Password, true),
        (KEYS, "api_key", NameMeaning::Key, false),
    ];
    for (list, english, named, doubtful) in lists {
        let meaning = Meaning { named, strong: true, doubtful };
        for word in list {
            let folded = folded(word).into_owned();
            // Both words of two may be written as one.
            words.push(SecretWord { folded: folded.replace('_', ""), english, meaning });
            words.push(SecretWord { folded, english, meaning });
        }
    }
    let search = AhoCorasick::new(words.iter().map(|word| &word.folded)).ok();
    let meanings = words.iter().map(|word| (word.folded.as_bytes().into(), word.meaning)).collect();
    Secrets { search, words, meanings }
});

/// The name with the word of another language for a secret in English, and whether that word leaves a doubt.
pub(super) fn in_english(name: &str) -> Option<(String, bool)> {
    let name = folded(name);
    let Secrets { search, words, .. } = &*SECRETS;
    let hits = search.as_ref()?.find_overlapping_iter(&*name).filter_map(|hit| {
        let SecretWord { folded, english, meaning } = words.get(hit.pattern().as_usize())?;
        let (head, tail) = (name.get(..hit.start())?, name.get(hit.end()..)?);
        // A word, or a part of one if its script is written without spaces.
        let unspaced = folded.chars().any(|c| c >= '\u{e00}');
        let whole = !head.ends_with(char::is_alphabetic) && !tail.starts_with(char::is_alphabetic);
        let owned = || head.split('_').chain(tail.split('_')).any(is_owner);
        (unspaced || whole)
            .then(|| (folded.len(), [head, english, tail].concat(), meaning.doubtful && !owned()))
    });
    hits.max_by_key(|(length, ..)| *length).map(|(_, said, doubtful)| (said, doubtful))
}

/// A small letter without what lower case leaves different.
const fn fold(c: char) -> Option<char> {
    match c {
        'ς' => Some('σ'),
        'ı' => Some('i'),
        '\u{307}' => None,
        _ => Some(c),
    }
}

/// Without what lower case leaves different: the sigma at a word's end, Turkish letters with and without a dot.
fn folded(word: &str) -> Cow<'_, str> {
    if word.is_ascii() {
        return Cow::Borrowed(word);
    }
    Cow::Owned(word.chars().filter_map(fold).collect())
}
