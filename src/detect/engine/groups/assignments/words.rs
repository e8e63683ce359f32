//! The words by which places of secrets are known. Those of commands and settings are in
//! [`command_words`](super::command_words).

use super::command_words::{COMMANDS, SETTINGS};
use super::word_context::WordContext::{self, Call};

/// How many lists of words there are.
pub(super) const LISTS: usize = 8;

/// The longest of the words, in bytes.
pub(super) const LONGEST: usize = 24;

/// The words, without the first letter where its case varies. Case beyond that: all lower or all upper. In some
/// lists, for the packed search is quick with few words, and quicker with longer ones: those of three bytes stand in lists of
/// their own, since it looks at four where all words have as many. No list has more than fifty: its words share sixteen places, and
/// with more in each most of a text looks like one of them. The last list has those that are not ASCII.
pub(super) const WORDS: [&[(&str, WordContext)]; LISTS] =
    [NAMES, FOREIGN, PLACES, OTHER_PLACES, COMMANDS, SETTINGS, SHORT, OTHER_SCRIPTS];

/// Names, and the sign of an address.
const NAMES: &[(&str, WordContext)] = &[
    ("pass", WordContext::Name),
    ("Pass", WordContext::Name),
    ("PASS", WordContext::Name),
    ("pwd", WordContext::Name),
    ("Pwd", WordContext::Name),
    ("PWD", WordContext::Name),
    ("_pw", WordContext::Name),
    ("ecret", WordContext::Name),
    ("ECRET", WordContext::Name),
    ("oken", WordContext::Name),
    ("OKEN", WordContext::Name),
    ("key", WordContext::Name),
    ("Key", WordContext::Name),
    ("KEY", WordContext::Name),
    ("pw:", WordContext::Name),
    ("PW:", WordContext::Name),
    ("pw=", WordContext::Name),
    ("PW=", WordContext::Name),
    ("Pw:", WordContext::Name),
    ("://", WordContext::Address),
];

/// Words of other languages than English.
const FOREIGN: &[(&str, WordContext)] = &[
    ("achtwoord", WordContext::Foreign),
    ("haslo", WordContext::Foreign),
    ("eslo", WordContext::Foreign),
    ("senord", WordContext::Foreign),
    ("dgangskode", WordContext::Foreign),
    ("alasana", WordContext::Foreign),
    ("elsz", WordContext::Foreign),
    ("ifre", WordContext::Foreign),
    ("Haslo", WordContext::Foreign),
    ("osungswort", WordContext::Foreign),
    ("oegangscode", WordContext::Foreign),
    ("agwoord", WordContext::Foreign),
    ("asvoord", WordContext::Foreign),
    ("parol", WordContext::Foreign),
    ("Parol", WordContext::Foreign),
    ("PAROL", WordContext::Foreign),
    ("arool", WordContext::Foreign),
    ("ozinka", WordContext::Foreign),
    ("aporka", WordContext::Foreign),
    ("lapta", WordContext::Foreign),
    ("khau", WordContext::Foreign),
    ("laluan", WordContext::Foreign),
    ("sandi", WordContext::Foreign),
    ("Sandi", WordContext::Foreign),
    ("enosiri", WordContext::Foreign),
    ("eno la siri", WordContext::Foreign),
    ("ykilor", WordContext::Foreign),
    ("lave de acceso", WordContext::Foreign),
    ("lave_de_acceso", WordContext::Foreign),
    ("ave api", WordContext::Foreign),
    ("ave_api", WordContext::Foreign),
    ("ave-api", WordContext::Foreign),
    ("ave secreta", WordContext::Foreign),
    ("ave_secreta", WordContext::Foreign),
    ("ave segreta", WordContext::Foreign),
    ("leutel", WordContext::Foreign),
    ("yckel", WordContext::Foreign),
    ("avain", WordContext::Foreign),
    ("lucz", WordContext::Foreign),
    ("nahtar", WordContext::Foreign),
    ("odeord", WordContext::Foreign),
    ("kunci", WordContext::Foreign),
    ("Kunci", WordContext::Foreign),
    ("cle api", WordContext::Foreign),
    ("Cle api", WordContext::Foreign),
    ("cle_api", WordContext::Foreign),
    ("lave es ", WordContext::Said),
    ("redent", WordContext::Name),
    ("REDENT", WordContext::Name),
];

/// Words of other languages, names, headers and calls.
const PLACES: &[(&str, WordContext)] = &[
    ("creds", WordContext::Name),
    ("ennwort", WordContext::Name),
    ("ontrasen", WordContext::Name),
    ("senha", WordContext::Name),
    ("essid", WordContext::Name),
    ("essionid", WordContext::Name),
    ("SESSID", WordContext::Name),
    ("SESSIONID", WordContext::Name),
    ("uthorization", WordContext::Authorization),
    ("UTHORIZATION", WordContext::Authorization),
    ("earer ", WordContext::Bearer),
    ("if (", WordContext::Compared),
    ("dentified by ", WordContext::Identified),
    ("DENTIFIED BY ", WordContext::Identified),
    ("SecureString ", WordContext::SecureString),
    ("PDO(", Call(2)),
    ("PlainAuth(", Call(2)),
    ("jwt.sign(", Call(1)),
    ("jwt.encode(", Call(1)),
    ("JWT.encode(", Call(1)),
    ("jwt.verify(", Call(1)),
    ("jwt.decode(", Call(1)),
    ("JWT.decode(", Call(1)),
    ("createHmac(", Call(1)),
    ("hash_hmac(", Call(2)),
    ("hmac.new(", Call(0)),
    ("Fernet(", Call(0)),
    ("->connect(", Call(2)),
    ("getConnection(", Call(2)),
    (".login(", Call(1)),
    ("auth=(", Call(1)),
    ("auth = (", Call(1)),
    ("asicAuth(", Call(1)),
    ("asic_auth(", Call(1)),
    ("PasswordCredentials(", Call(1)),
    ("PasswordAuthentication(", Call(1)),
    ("Senha", WordContext::Name),
    ("SENHA", WordContext::Name),
    ("<input", WordContext::Input),
    ("<INPUT", WordContext::Input),
    ("sid=", WordContext::SessionCookie),
    ("SID=", WordContext::SessionCookie),
    ("ession=", WordContext::SessionCookie),
    ("ESSION=", WordContext::SessionCookie),
    (":5432:", WordContext::Port),
    ("*:*:*:", WordContext::Port),
    ("\"auth", WordContext::Basic),
    ("_auth ", WordContext::Basic),
    ("_auth=", WordContext::Basic),
    ("eed phrase", WordContext::Seed),
];

/// More of them, and cookies.
const OTHER_PLACES: &[(&str, WordContext)] = &[
    ("eed_phrase", WordContext::Seed),
    ("EED PHRASE", WordContext::Seed),
    ("ecovery phrase", WordContext::Seed),
    ("ecovery_phrase", WordContext::Seed),
    ("nemonic", WordContext::Seed),
    ("NEMONIC", WordContext::Seed),
    ("\"dp\"", WordContext::KeyNumber),
    ("\"dp\\", WordContext::KeyNumber),
    ("\"dq\"", WordContext::KeyNumber),
    ("\"dq\\", WordContext::KeyNumber),
    ("\"qi\"", WordContext::KeyNumber),
    ("\"qi\\", WordContext::KeyNumber),
    ("<DP>", WordContext::KeyNumber),
    ("<DQ>", WordContext::KeyNumber),
    ("<InverseQ>", WordContext::KeyNumber),
    ("rootpw", WordContext::Name),
    ("masterauth", WordContext::Name),
    ("ogin: ", WordContext::Pair),
    ("u/p: ", WordContext::Pair),
    ("/password: ", WordContext::Pair),
    ("ookie:", WordContext::CookieHeader),
    ("OOKIE:", WordContext::CookieHeader),
    ("ookie=\"", WordContext::CookieHeader),
    ("ookie='", WordContext::CookieHeader),
    ("ookie=", WordContext::CookieHeader),
    ("ookie = \"", WordContext::CookieHeader),
    ("ookie = '", WordContext::CookieHeader),
    ("ookie\": \"", WordContext::CookieHeader),
    ("ookie\":\"", WordContext::CookieHeader),
    ("ookie\\\": \\\"", WordContext::CookieHeader),
    ("ookie': '", WordContext::CookieHeader),
    ("ookie \"", WordContext::CookieHeader),
    ("ookie '", WordContext::CookieHeader),
    ("-b \"", WordContext::CookieHeader),
    ("-b '", WordContext::CookieHeader),
    ("AKIA", WordContext::AwsKeyId),
    ("ASIA", WordContext::AwsKeyId),
    ("ookie(", WordContext::CookieCall),
    ("ookies={", WordContext::CookieMembers),
    ("ookies = {", WordContext::CookieMembers),
];

/// Words of three bytes, and what is as rare.
const SHORT: &[(&str, WordContext)] = &[
    ("dsn", WordContext::DataSource),
    ("Dsn", WordContext::DataSource),
    ("DSN", WordContext::DataSource),
    ("7z ", WordContext::Option(&["-p"])),
    ("<<<", WordContext::HereString),
    ("\"d\"", WordContext::KeyNumber),
    ("\"d\\", WordContext::KeyNumber),
    ("\"k\"", WordContext::KeyNumber),
    ("\"k\\", WordContext::KeyNumber),
    ("\"p\"", WordContext::KeyNumber),
    ("\"p\\", WordContext::KeyNumber),
    ("\"q\"", WordContext::KeyNumber),
    ("\"q\\", WordContext::KeyNumber),
    ("<D>", WordContext::KeyNumber),
    ("<P>", WordContext::KeyNumber),
    ("<Q>", WordContext::KeyNumber),
    ("pw ", WordContext::Name),
    ("psk", WordContext::Name),
    ("PSK", WordContext::Name),
    ("mdp", WordContext::Foreign),
    ("Mdp", WordContext::Foreign),
    ("MDP", WordContext::Foreign),
    ("E\t/", WordContext::CookieFile),
];

/// Words that are not ASCII.
const OTHER_SCRIPTS: &[(&str, WordContext)] = &[
    ("ontraseñ", WordContext::Foreign),
    ("asło", WordContext::Foreign),
    ("арол", WordContext::Foreign),
    ("АРОЛ", WordContext::Foreign),
    ("озинк", WordContext::Foreign),
    ("ұпия", WordContext::Foreign),
    ("密码", WordContext::Foreign),
    ("密碼", WordContext::Foreign),
    ("口令", WordContext::Foreign),
    ("パスワード", WordContext::Foreign),
    ("暗証番号", WordContext::Foreign),
    ("비밀번호", WordContext::Foreign),
    ("암호", WordContext::Foreign),
    ("비번", WordContext::Foreign),
    ("סיסמ", WordContext::Foreign),
    ("كلمة", WordContext::Foreign),
    ("ωδικ", WordContext::Foreign),
    ("υνθηματικ", WordContext::Foreign),
    ("رمز ", WordContext::Foreign),
    ("گذرواژ", WordContext::Foreign),
    ("کلمه عبور", WordContext::Foreign),
    ("پاس ور", WordContext::Foreign),
    ("پاسور", WordContext::Foreign),
    ("पासवर", WordContext::Foreign),
    ("कूटशब", WordContext::Foreign),
    ("পাসও", WordContext::Foreign),
    ("รหัสผ", WordContext::Foreign),
    ("ật kh", WordContext::Foreign),
    ("chlüssel", WordContext::Foreign),
    ("lé api", WordContext::Foreign),
    ("lé secr", WordContext::Foreign),
    ("øgle", WordContext::Foreign),
    ("økkel", WordContext::Foreign),
    ("люч", WordContext::Foreign),
    ("líč", WordContext::Foreign),
    ("密钥", WordContext::Foreign),
    ("密鑰", WordContext::Foreign),
    ("金鑰", WordContext::Foreign),
    ("秘密鍵", WordContext::Foreign),
    ("キー", WordContext::Foreign),
    ("비밀키", WordContext::Foreign),
    ("I키", WordContext::Foreign),
    ("I 키", WordContext::Foreign),
    ("i키", WordContext::Foreign),
    ("i 키", WordContext::Foreign),
    ("مفتاح", WordContext::Foreign),
    ("מפתח", WordContext::Foreign),
    ("hóa api", WordContext::Foreign),
    ("lé d", WordContext::Foreign),
    ("السري", WordContext::Foreign),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_as_the_search_wants_them() {
        for (n, list) in WORDS.into_iter().enumerate() {
            assert!(list.len() <= 50, "list {n} has {}", list.len());
            for (word, _) in list {
                assert!((3..=LONGEST).contains(&word.len()), "{word}");
                assert_eq!(word.is_ascii(), n + 1 < LISTS, "{word}");
            }
        }
    }
}
