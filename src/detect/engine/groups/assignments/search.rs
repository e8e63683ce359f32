//! The words by which places of secrets are known, found by one packed search.

use std::cmp::Reverse;

use aho_corasick::packed;
use aho_corasick::{AhoCorasick, MatchKind};

/// What a word that was found begins or is a part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordContext {
    /// A name such as `db_password`.
    Name,
    /// The header field of HTTP.
    Authorization,
    Bearer,
    /// The authority of an address.
    Address,
    /// `if ("…" == secret)`.
    Compared,
    /// `mysql -ppassword`, or what a driver of that name opens.
    Mysql,
    /// `dsn = "user:password@tcp(host)/db"`.
    DataSource,
    /// A command that takes a password behind one of these options, as they stand before it: `docker login -p password`.
    Option(&'static [&'static str]),
    /// A command that takes `user` and `password` behind one of these options, with this sign between.
    User(&'static [&'static str], u8),
    /// `sqlplus user/password@db`.
    Slashed,
    /// `net user name password /add`.
    NetUser,
    /// `net use Z: \\server\share /user:name password`.
    NetUse,
    /// `echo password | command`.
    Echo,
    /// `command <<< "password"`.
    HereString,
    /// SQL's `IDENTIFIED BY 'password'`.
    Identified,
    /// `ConvertTo-SecureString "password"`.
    SecureString,
    /// A call whose argument of this number, from 0, is a password: `SetBasicAuth("user", "password")`.
    Call(usize),
    /// A word of settings in which blanks alone part the words: `snmp-server community password`.
    Setting,
    /// `stats auth user:password`.
    UserSetting,
    /// `user name on >password`.
    AccessList,
    /// `send "password\r"`, behind what a program asks.
    Sent,
    /// The port of `host:port:database:user:password`.
    Port,
    /// `login: user / password`.
    Pair,
    /// The id of a key of AWS, beside which the key stands.
    AwsKeyId,
    /// `"auth": "…"`, base64 of `user:password`.
    Basic,
    /// `"d": "…"`, a number of a private key.
    KeyNumber,
    /// `seed phrase: …`, of a wallet.
    Seed,
    /// `hasło: password`, and the like in other languages.
    Foreign,
    /// `<input type="password" value="…">`.
    Input,
    /// `session=…; Path=/`.
    SessionCookie,
    /// `Cookie: a=b; session=…`, a header or an option.
    CookieHeader,
}

use WordContext::{Call, Option as Opt, Setting, User};

impl WordContext {
    /// Whether its value is somewhere on a command's line.
    pub(super) const fn has_options(self) -> bool {
        matches!(self, Opt(_) | User(..) | Self::NetUse)
    }
}

/// The words, without the first letter where its case varies. Case beyond that: all lower or all upper. In some
/// lists, for the packed search is quick with few words, and quicker with longer ones: those of three bytes stand in lists of
/// their own, since it looks at four where all words have as many. No list has more than fifty: its words share sixteen places, and
/// with more in each most of a text looks like one of them. The last list has those that are not ASCII.
pub(super) const WORDS: [&[(&str, WordContext)]; SEARCHES] = [
    &[
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
    ],
    &[
        ("redent", WordContext::Name),
        ("REDENT", WordContext::Name),
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
        ("curl", User(&["--user", "-u", "--proxy-user", "-U"], b':')),
        ("mysql", WordContext::Mysql),
        ("docker login", Opt(LOGIN)),
        ("podman login", Opt(LOGIN)),
        ("az login", Opt(LOGIN)),
        ("net user ", WordContext::NetUser),
        ("dentified by ", WordContext::Identified),
        ("DENTIFIED BY ", WordContext::Identified),
        ("redis-cli", Opt(&["--pass ", "-a "])),
        ("sqlcmd", Opt(&["-P "])),
        ("ldapsearch", Opt(&["-w "])),
        ("ldapmodify", Opt(&["-w "])),
        ("ldapadd", Opt(&["-w "])),
        ("SecureString ", WordContext::SecureString),
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
    ],
    &[
        ("mongosh", Opt(LOGIN)),
        ("mongodump", Opt(LOGIN)),
        ("mongorestore", Opt(LOGIN)),
        ("mongoexport", Opt(LOGIN)),
        ("mongoimport", Opt(LOGIN)),
        ("psexec", Opt(&["-p "])),
        ("PsExec", Opt(&["-p "])),
        ("rdesktop", Opt(&["-p "])),
        ("hdbsql", Opt(&["-p "])),
        ("beeline", Opt(&["-p "])),
        ("twine upload", Opt(LOGIN)),
        ("svn ", Opt(&["--password "])),
        ("mosquitto_", Opt(&["-P ", "--pw "])),
        ("zip -", Opt(&["-P "])),
        ("7za ", Opt(&["-p"])),
        ("bcp ", Opt(&["-P"])),
        ("freerdp", Opt(&["/p:"])),
        ("schtasks", Opt(&["/rp "])),
        ("smbclient", User(&["-U ", "--user="], b'%')),
        ("lftp", User(&["-u "], b',')),
        ("http --auth", User(&["--auth"], b':')),
        ("http -a ", User(&["-a "], b':')),
        ("https -a ", User(&["-a "], b':')),
        ("sqlplus ", WordContext::Slashed),
        ("sqlldr ", WordContext::Slashed),
        ("expdp ", WordContext::Slashed),
        ("impdp ", WordContext::Slashed),
        ("oracle:thin:", WordContext::Slashed),
        ("net use ", WordContext::NetUse),
        ("echo ", WordContext::Echo),
        ("printf ", WordContext::Echo),
        ("mongo ", Opt(LOGIN)),
        ("cf login", Opt(LOGIN)),
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
    ],
    &[
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
        ("isakmp key ", Setting),
        ("radius-server key ", Setting),
        ("tacacs-server key ", Setting),
        ("key-string ", Setting),
        ("shared-key ", Setting),
        ("shared-secret ", Setting),
        ("authentication-key ", Setting),
        ("server community ", Setting),
        ("rocommunity ", Setting),
        ("rwcommunity ", Setting),
        ("IDENTIFY ", Setting),
        ("AUTH PLAIN ", Setting),
        ("nahtar", WordContext::Foreign),
        ("odeord", WordContext::Foreign),
        ("kunci", WordContext::Foreign),
        ("Kunci", WordContext::Foreign),
        ("cle api", WordContext::Foreign),
        ("Cle api", WordContext::Foreign),
        ("cle_api", WordContext::Foreign),
        ("Senha", WordContext::Name),
        ("SENHA", WordContext::Name),
        ("<input", WordContext::Input),
        ("<INPUT", WordContext::Input),
        ("sid=", WordContext::SessionCookie),
        ("SID=", WordContext::SessionCookie),
        ("ession=", WordContext::SessionCookie),
        ("ESSION=", WordContext::SessionCookie),
    ],
    &[
        ("XAUTH \"", Setting),
        ("stats auth ", WordContext::UserSetting),
        ("on >", WordContext::AccessList),
        ("send \"", WordContext::Sent),
        (":5432:", WordContext::Port),
        ("*:*:*:", WordContext::Port),
        ("\"auth", WordContext::Basic),
        ("_auth ", WordContext::Basic),
        ("_auth=", WordContext::Basic),
        ("eed phrase", WordContext::Seed),
        ("eed_phrase", WordContext::Seed),
        ("EED PHRASE", WordContext::Seed),
        ("ecovery phrase", WordContext::Seed),
        ("ecovery_phrase", WordContext::Seed),
        ("nemonic", WordContext::Seed),
        ("NEMONIC", WordContext::Seed),
        ("--proxy-user ", WordContext::UserSetting),
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
        ("ookie\\\": \\\"", WordContext::CookieHeader),
        ("ookie': '", WordContext::CookieHeader),
        ("ookie \"", WordContext::CookieHeader),
        ("ookie '", WordContext::CookieHeader),
        ("-b \"", WordContext::CookieHeader),
        ("-b '", WordContext::CookieHeader),
        ("mariadb", WordContext::Mysql),
        ("AKIA", WordContext::AwsKeyId),
        ("ASIA", WordContext::AwsKeyId),
    ],
    &[
        ("dsn", WordContext::DataSource),
        ("Dsn", WordContext::DataSource),
        ("DSN", WordContext::DataSource),
        ("7z ", Opt(&["-p"])),
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
    ],
    &[
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
        ("lé d'api", WordContext::Foreign),
        ("lé d’api", WordContext::Foreign),
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
    ],
];

/// How many searches there are: one for each list of words.
pub(super) const SEARCHES: usize = 7;

const LOGIN: &[&str] = &["--password ", "-p "];

/// The longest of them, in bytes.
pub(super) const LONGEST: usize = 24;

/// The search for one list of words.
pub(super) enum WordSearch {
    Packed(packed::Searcher),
    // Where the processor lacks what the packed search needs.
    Plain(AhoCorasick),
}

impl WordSearch {
    pub(super) fn new(words: &[(&str, WordContext)]) -> Option<Self> {
        let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let mut builder = packed::Config::new().heuristic_pattern_limits(false).builder();
        builder.extend(&words);
        match builder.build() {
            Some(packed) => Some(Self::Packed(packed)),
            None => {
                let plain = AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(&words);
                plain.ok().map(Self::Plain)
            }
        }
    }

    pub(super) fn memory(&self) -> usize {
        match self {
            Self::Packed(packed) => packed.memory_usage(),
            Self::Plain(plain) => plain.memory_usage(),
        }
    }

    fn find(&self, text: &[u8], from: usize, words: &[(&str, WordContext)]) -> Option<Hit> {
        let from = from.min(text.len());
        let hit = match self {
            Self::Packed(packed) => {
                packed.find_in(text, aho_corasick::Span { start: from, end: text.len() })?
            }
            Self::Plain(plain) => plain.find(aho_corasick::Input::new(text).range(from..))?,
        };
        Some(Hit { start: hit.start(), end: hit.end(), place: words.get(hit.pattern().as_usize())?.1 })
    }
}

/// A word that was found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) place: WordContext,
}

/// The words of all lists in the order of their starts.
pub(super) struct Hits<'a> {
    searches: &'a [WordSearch; SEARCHES],
    text: &'a [u8],
    /// The next of each list; `None` where it was not looked for since the last was taken.
    next: [Option<Option<Hit>>; SEARCHES],
}

impl<'a> Hits<'a> {
    /// Those of `text` that start at or after `from`.
    pub(super) fn new(searches: &'a [WordSearch; SEARCHES], text: &'a [u8], from: usize) -> Self {
        let mut next = [None; SEARCHES];
        // Where all is ASCII, none of the last list is.
        if text.get(from..).is_some_and(<[u8]>::is_ascii)
            && let Some(last) = next.last_mut()
        {
            *last = Some(None);
        }
        Self { searches, text, next }
    }

    /// The first that starts at or after `from`.
    pub(super) fn from(&mut self, from: usize) -> Option<Hit> {
        for ((next, search), words) in self.next.iter_mut().zip(self.searches).zip(WORDS) {
            if next.is_none_or(|known| known.is_some_and(|hit| hit.start < from)) {
                *next = Some(search.find(self.text, from, words));
            }
        }
        // Of words that begin at one place the longest.
        self.next.iter().flatten().flatten().min_by_key(|hit| (hit.start, Reverse(hit.end))).copied()
    }
}

/// Whether `text`, which ends where the window does, is the beginning of a word.
pub(super) fn may_begin(text: &[u8]) -> bool {
    WORDS.into_iter().flatten().any(|(word, _)| word.as_bytes().starts_with(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_as_the_search_wants_them() {
        for (n, list) in WORDS.into_iter().enumerate() {
            assert!(list.len() <= 50, "list {n} has {}", list.len());
            for (word, _) in list {
                assert!((3..=LONGEST).contains(&word.len()), "{word}");
                assert_eq!(word.is_ascii(), n + 1 < SEARCHES, "{word}");
            }
        }
    }
}
