//! What a name says of the value it is given: `db_password` gives a password, `password_hash` does not. A name's
//! words are what `_`, `-`, `.` and changes of case part; the last that is not neutral decides.

use std::collections::HashMap;
use std::sync::LazyLock;

/// The longest name that is looked at, in bytes.
pub(crate) const NAME: usize = 48;

/// What a name gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameMeaning {
    Password,
    Key,
    Secret,
    /// User and password, in base64.
    Basic,
    /// A number of a private key (RFC 7518 section 6), in base64.
    KeyNumber,
    /// The words of a wallet's seed.
    Seed,
}

/// How much a name says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Meaning {
    pub(crate) named: NameMeaning,
    /// Whether the name says it is a secret; a weak one needs a value that looks like one.
    pub(crate) strong: bool,
    /// Whether the name is a word that means something else as often, as `parola`: its value must be one that nobody writes by
    /// chance.
    pub(crate) doubtful: bool,
}

const PASSWORDS: &str = "\
    password passwd passphrase pass pwd passcode passwort kennwort contrasena contrasenya kontrasenyas senha \
    passe motdepasse passord pw pswd passw wachtwoord psk rootpw masterauth";
const SECRETS: &str = "secret secrete secreto credential credentials creds cred";
/// What ends a word that has no parts, as in `acmeapikey`.
const PASSWORD_TAILS: [&str; 6] = ["password", "passwd", "passphrase", "pwd", "passwort", "kennwort"];
const PASS_HEADS: &str =
    "db user admin root ftp smtp mail my require ldap auth ssh pg proxy store key trust imap";
const KEY_TAILS: [&str; 11] = [
    "apikey",
    "secretkey",
    "accesskey",
    "privatekey",
    "signingkey",
    "encryptionkey",
    "masterkey",
    "authkey",
    "accountkey",
    "licensekey",
    "sharedkey",
];

/// What, before `key`, makes it a secret.
const KEY_STRONG: &str = "\
    api access secret private signing sign encryption encrypt decryption cipher crypto master auth \
    authorization account shared service app application client storage deploy consumer admin server \
    hmac aes jwt root security secure session license apim subscription user token webhook write rest \
    integration";
/// What, before `key`, `token` or a password, says that it is none, or not one to hide.
const BEFORE_NOT: &str = "\
    public pub foreign partition sort cache row index hash bucket object route routing map hot lookup \
    message msg group event idempotency trace instrumentation composite unique natural shortcut arrow \
    enter any valid translation i18n csrf xsrf page next sync continuation cancellation cancel max total \
    num prompt output input eos bos pad unk sep mask special stop syntax pagination first last reading \
    column field property config setting dictionary image file path host known issuer fake dummy \
    boarding no without";
/// What, before `pass`, makes it a ticket, a way through mountains, a filter or a run.
const TICKETS: &str = "\
    boarding ski skiing bus train rail railway transit metro tram ferry lift season guest visitor day week \
    weekly weekend month monthly year yearly annual mountain alpine park parking museum city event festival \
    vip backstage press hall gym travel tourist battle game low high band all render rendering shader \
    depth shadow geometry lighting blur compute deferred compiler optimizer optimization optimisation \
    analysis lowering llvm first second third single two multi free";
/// What, before a password, makes it a deed or a question.
const DEEDS: &str = "\
    add change forgot forget reset show hide require validate verify check update set get has is use \
    enable disable allow generate create delete remove ask enter invalid wrong weak missing bad \
    incorrect manage encode compare random render test first second two multi next single";
/// What, behind a secret's word, leaves it what it is.
const NEUTRAL: &str = "\
    value val string super secure sec plain plaintext text clear cleartext raw prod production dev \
    development testing staging stage live sandbox local default old new current primary secondary main \
    backup admin user root db api app aws gcp azure b v my sit uat qa client confirm confirmation again";
/// What, behind a secret's word, says that the value is about it.
const AFTER_NOT: &str = "\
    hash hashed hashes digest id ids name names url urls uri endpoint host type types kind length len \
    size bits min max minimum maximum count limit file files filename filepath path paths dir folder \
    field fields input label placeholder hint title message messages msg error errors policy policies \
    rule rules regex pattern format reset changed change expires expiry expiration expire expired exp \
    ttl timeout age date time at on in by from to ref reference alias arn version algorithm alg algo \
    method provider manager store vault service server handler helper util utils validator validation \
    factory generator builder class model schema table column index prefix suffix header headers param \
    parameter parameters params var variable env option options config configuration setting settings \
    enabled required valid verified strength encoder encoding salt iterations rotation pair pairs map \
    mapping ring board word words press pressed down up selector set sets list array audience issuer \
    scope scopes status state source usage used bucket budget page form view screen button dialog link \
    icon checksum fingerprint thumbprint authentication attempts retries retry callback function func cb \
    command cmd script prompt grant combination manually less protected protection management info data \
    meta metadata spec template templates backend key keys tokens secrets cache queue chars char st \
    request response result signature signatures entropy per rate cost price mode level event events \
    description descriptions desc help note notes comment comments example examples enum ref \
    action owner is not was lifetime duration complexity generated exists match matches missing check \
    checker auth use uses annotation";

/// A name's words in lower case, up to as many as are looked at.
struct NameWords<'n> {
    name: &'n [u8],
    at: usize,
}

impl<'n> Iterator for NameWords<'n> {
    type Item = &'n [u8];

    fn next(&mut self) -> Option<&'n [u8]> {
        let rest = self.name.get(self.at..)?;
        let start = self.at + rest.iter().position(u8::is_ascii_alphabetic)?;
        let text = self.name.get(start..)?;
        let upper = text.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
        let lower = text.iter().skip(upper).take_while(|byte| byte.is_ascii_lowercase()).count();
        let length = match (upper, lower) {
            (_, 0) => upper,
            (0 | 1, _) => upper + lower,
            // The last of several capitals begins the next word, as in `APIToken`; `APIkey` is rare.
            _ => upper - 1,
        };
        self.at = start + length;
        text.get(..length)
    }
}

/// The lists a word of a name can stand in.
const LISTS: [&str; 9] =
    [PASSWORDS, SECRETS, PASS_HEADS, KEY_STRONG, BEFORE_NOT, DEEDS, NEUTRAL, AFTER_NOT, TICKETS];

/// For each word of the lists, a bit for each list it stands in.
static WORDS: LazyLock<HashMap<&'static str, u16>> = LazyLock::new(|| {
    let mut words = HashMap::new();
    for (n, list) in LISTS.into_iter().enumerate() {
        for word in list.split(' ') {
            *words.entry(word).or_default() |= 1 << n;
        }
    }
    words
});

/// The lists that a word stands in.
#[derive(Clone, Copy, Default)]
struct Lists(u16);

impl Lists {
    fn of(word: &str) -> Self {
        Self(WORDS.get(word).copied().unwrap_or(0))
    }

    fn password(self) -> bool {
        self.0 & 1 != 0
    }

    fn secret(self) -> bool {
        self.0 & 1 << 1 != 0
    }

    fn pass_head(self) -> bool {
        self.0 & 1 << 2 != 0
    }

    fn key_strong(self) -> bool {
        self.0 & 1 << 3 != 0
    }

    fn before_not(self) -> bool {
        self.0 & 1 << 4 != 0
    }

    fn deed(self) -> bool {
        self.0 & 1 << 5 != 0
    }

    fn neutral(self) -> bool {
        self.0 & 1 << 6 != 0
    }

    fn after_not(self) -> bool {
        self.0 & 1 << 7 != 0
    }

    fn ticket(self) -> bool {
        self.0 & 1 << 8 != 0
    }
}

fn tailed(tails: &[&str], word: &str) -> bool {
    tails.iter().any(|tail| word.ends_with(tail))
}

/// What a word says by itself, behind the word `before`, if there is one.
fn alone(word: &str, lists: Lists, before: Option<Lists>) -> Option<Meaning> {
    let strong = |named| Some(Meaning { named, strong: true, doubtful: false });
    let weak = |named| Some(Meaning { named, strong: false, doubtful: false });
    let not = before.is_some_and(Lists::before_not);
    // `ski_pass`, `low_pass`.
    if word == "pass" && before.is_some_and(Lists::ticket) {
        return None;
    }
    let joined = || word.strip_suffix("pass").is_some_and(|head| Lists::of(head).pass_head());
    if lists.password() || tailed(&PASSWORD_TAILS, word) || joined() {
        let short = matches!(word, "pass" | "passe" | "pw") && before.is_none();
        let deed = not || before.is_some_and(Lists::deed);
        let said = if short || deed { weak(NameMeaning::Password) } else { strong(NameMeaning::Password) };
        // A ticket of those who wait is one, too.
        let doubtful = word == "senha" && before.is_none();
        return said.map(|said| Meaning { doubtful, ..said });
    }
    if lists.secret() || word.ends_with("secret") {
        return if not { None } else { strong(NameMeaning::Secret) };
    }
    if word.ends_with("key") && tailed(&KEY_TAILS, word) {
        return strong(NameMeaning::Key);
    }
    if word.ends_with("token") {
        return if not { None } else { strong(NameMeaning::Key) };
    }
    // As cookies are called.
    if word.ends_with("sessionid") || word.ends_with("sessid") {
        return weak(NameMeaning::Key);
    }
    let before = before.filter(|_| word == "key" && !not)?;
    if before.key_strong() { strong(NameMeaning::Key) } else { weak(NameMeaning::Key) }
}

/// What a word says whose values are known by their form.
fn formed(word: &str) -> Option<Meaning> {
    let named = match word {
        "auth" => NameMeaning::Basic,
        "d" | "k" | "p" | "q" | "dp" | "dq" | "qi" => NameMeaning::KeyNumber,
        "mnemonic" | "phrase" | "seed" => NameMeaning::Seed,
        _ => return None,
    };
    Some(Meaning { named, strong: false, doubtful: false })
}

impl Meaning {
    /// Whether the name says that its value is a password, and nothing else.
    pub(crate) fn is_password(self) -> bool {
        self.named == NameMeaning::Password && self.strong
    }

    /// Whether the name says it is a secret.
    #[cfg(test)]
    pub(crate) const fn is_strong(self) -> bool {
        self.strong
    }
}

/// Whether a word says whose password it is, or of what, in the names of programs.
pub(super) fn is_owner(word: &str) -> bool {
    Lists::of(word).pass_head()
}

/// What `name` says; `None` if it says nothing of a secret.
pub(crate) fn meaning(name: &[u8]) -> Option<Meaning> {
    let mut buffer = [0; NAME];
    let mut before = None;
    let mut said: Option<Meaning> = None;
    for word in (NameWords { name, at: 0 }) {
        let place = buffer.get_mut(..word.len())?;
        place.copy_from_slice(word);
        place.make_ascii_lowercase();
        let word = std::str::from_utf8(place).ok()?;
        let lists = Lists::of(word);
        said = match (said, alone(word, lists, before)) {
            (_, Some(now)) => Some(now),
            (None, None) => formed(word),
            (said, None) if lists.neutral() => said,
            (_, None) if lists.after_not() => None,
            (Some(said), None) => Some(Meaning { strong: false, ..said }),
        };
        before = Some(lists);
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_words_decide() {
        let strong = |named| Some(Meaning { named, strong: true, doubtful: false });
        let weak = |named| Some(Meaning { named, strong: false, doubtful: false });
        let cases = [
            ("password", strong(NameMeaning::Password)),
            ("dbPassword", strong(NameMeaning::Password)),
            ("PGPASSWORD", strong(NameMeaning::Password)),
            ("MYSQL_PWD", strong(NameMeaning::Password)),
            ("root_password_plain", strong(NameMeaning::Password)),
            ("pass", weak(NameMeaning::Password)),
            ("db_pass", strong(NameMeaning::Password)),
            ("acme_pass", strong(NameMeaning::Password)),
            ("Boarding pass", None),
            ("ski_pass", None),
            ("battlePass", None),
            ("high-pass", None),
            ("low_pass_filter", None),
            ("first_pass", None),
            ("guest_password", strong(NameMeaning::Password)),
            ("addPassword", weak(NameMeaning::Password)),
            ("X-Api-Key", strong(NameMeaning::Key)),
            ("APIKey", strong(NameMeaning::Key)),
            ("acmeapikey", strong(NameMeaning::Key)),
            ("private_key", strong(NameMeaning::Key)),
            ("acme_key", weak(NameMeaning::Key)),
            ("accessToken2", strong(NameMeaning::Key)),
            ("clientSecret", strong(NameMeaning::Secret)),
            ("secret_access_key", strong(NameMeaning::Key)),
            ("password_hash", None),
            ("public_key", None),
            ("key_id", None),
            ("key", None),
            ("token_url", None),
            ("token_type", None),
            ("secret_name", None),
            ("monkey", None),
            ("keyboard", None),
            ("passwordless", None),
            ("max_tokens", None),
            ("client_id", None),
            ("csrf_token", None),
            ("compass", None),
            ("keySelector", None),
            ("senha", Some(Meaning { named: NameMeaning::Password, strong: true, doubtful: true })),
            ("db_senha", strong(NameMeaning::Password)),
        ];
        for (name, expected) in cases {
            assert_eq!(meaning(name.as_bytes()), expected, "{name}");
        }
    }
}
