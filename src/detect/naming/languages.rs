//! Words for passwords and secret keys in the languages of the world, as they stand in forms and in names.

use std::borrow::Cow;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::case::lower;
use super::meaning::{Meaning, meaning};

/// Words for a password in names, besides those that the names of programs have: a word, or two with `_` between.
/// In lower case; as words of scripts without spaces they may be a part of one.
pub(crate) const PASSWORDS: &[&str] = &[
    // Germanic and Nordic languages.
    "passwort",
    "kennwort",
    "losungswort",
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
    "mdp",
    "senha",
    "palavra_passe",
    "palavra-passe",
    "parola_d'ordine",
    "parola_chiave",
    "parolă",
    "parola",
    "contrasenya",
    // Slavic and Baltic languages.
    "пароль",
    "парола",
    "лозинка",
    "hasło",
    "haslo",
    "heslo",
    "lozinka",
    "zaporka",
    "geslo",
    "slaptažodis",
    "slaptazodis",
    "parole",
    "құпиясөз",
    "құпия_сөз",
    // Others of Europe and Asia.
    "salasana",
    "parool",
    "jelszó",
    "jelszo",
    "şifre",
    "sifre",
    "κωδικός",
    "κωδικος",
    "συνθηματικό",
    "סיסמה",
    "סיסמא",
    "كلمة_المرور",
    "كلمة_السر",
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

/// Whether a text is itself a word for a secret, in any of the languages: what stands in a form, or its translation.
pub(crate) fn is_secret_word(text: &[u8]) -> bool {
    secret_word(text).is_some()
}

/// What a text says that is itself a word for a secret.
pub(crate) fn secret_word(text: &[u8]) -> Option<Meaning> {
    let lower = lower(std::str::from_utf8(text).ok()?).replace([' ', '-'], "_").replace('’', "'");
    let folded = folded(&lower);
    let at = SECRETS.words.binary_search_by(|(word, _)| word.as_str().cmp(&folded)).ok()?;
    let (_, english) = SECRETS.words.get(at)?;
    meaning(english.as_bytes())
}

/// The words for secrets, to be looked for together, and what each is in English.
struct Secrets {
    search: Option<AhoCorasick>,
    /// In order.
    words: Vec<(String, &'static str)>,
}

static SECRETS: LazyLock<Secrets> = LazyLock::new(|| {
    let mut words = Vec::new();
    for (list, english) in [(PASSWORDS, "password"), (KEYS, "api_key")] {
        for word in list {
            // Both words of two may be written as one.
            words.push((folded(word).into_owned(), english));
            words.push((folded(word).replace('_', ""), english));
        }
    }
    words.sort_unstable();
    let search = AhoCorasick::new(words.iter().map(|(word, _)| word)).ok();
    Secrets { search, words }
});

/// The name with the word of another language for a secret in English.
pub(super) fn in_english(name: &str) -> Option<String> {
    let name = folded(name);
    let Secrets { search, words } = &*SECRETS;
    let hits = search.as_ref()?.find_overlapping_iter(&*name).filter_map(|hit| {
        let (word, english) = words.get(hit.pattern().as_usize())?;
        let (head, tail) = (name.get(..hit.start())?, name.get(hit.end()..)?);
        // A word, or a part of one if its script is written without spaces.
        let unspaced = word.chars().any(|c| c >= '\u{e00}');
        let whole = !head.ends_with(char::is_alphabetic) && !tail.starts_with(char::is_alphabetic);
        (unspaced || whole).then(|| (word.len(), [head, english, tail].concat()))
    });
    hits.max_by_key(|(length, _)| *length).map(|(_, said)| said)
}

/// Without what lower case leaves different: the sigma at a word's end, Turkish letters with and without a dot.
fn folded(word: &str) -> Cow<'_, str> {
    if word.is_ascii() {
        return Cow::Borrowed(word);
    }
    let fold = |c: char| match c {
        'ς' => Some('σ'),
        'ı' => Some('i'),
        '\u{307}' => None,
        _ => Some(c),
    };
    Cow::Owned(word.chars().filter_map(fold).collect())
}
