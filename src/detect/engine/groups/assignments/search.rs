//! The words by which places of secrets are known, found by one packed search.

use std::cmp::Reverse;

use aho_corasick::packed;
use aho_corasick::{AhoCorasick, MatchKind};

/// What a word that was found begins or is a part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
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
    /// `"auth": "…"`, base64 of `user:password`.
    Basic,
    /// `"d": "…"`, a number of a private key.
    KeyNumber,
    /// `seed phrase: …`, of a wallet.
    Seed,
    /// `hasło: password`, and the like in other languages.
    Foreign,
}

use Place::{Call, Option as Opt, Setting, User};

impl Place {
    /// Whether its value is somewhere on a command's line.
    pub(super) const fn has_options(self) -> bool {
        matches!(self, Opt(_) | User(..) | Self::NetUse)
    }
}

/// The words, without the first letter where its case varies. Case beyond that: all lower or all upper. In some
/// lists, for the packed search is quick with few words, and quicker with longer ones.
pub(super) const WORDS: [&[(&str, Place)]; LISTS] = [
    &[
        ("pass", Place::Name),
        ("Pass", Place::Name),
        ("PASS", Place::Name),
        ("pwd", Place::Name),
        ("Pwd", Place::Name),
        ("PWD", Place::Name),
        ("_pw", Place::Name),
        ("ecret", Place::Name),
        ("ECRET", Place::Name),
        ("oken", Place::Name),
        ("OKEN", Place::Name),
        ("key", Place::Name),
        ("Key", Place::Name),
        ("KEY", Place::Name),
        ("pw:", Place::Name),
        ("PW:", Place::Name),
        ("pw=", Place::Name),
        ("PW=", Place::Name),
        ("://", Place::Address),
    ],
    &[
        ("redent", Place::Name),
        ("REDENT", Place::Name),
        ("creds", Place::Name),
        ("ennwort", Place::Name),
        ("ontrasen", Place::Name),
        ("senha", Place::Name),
        ("essid", Place::Name),
        ("essionid", Place::Name),
        ("SESSID", Place::Name),
        ("SESSIONID", Place::Name),
        ("uthorization", Place::Authorization),
        ("UTHORIZATION", Place::Authorization),
        ("earer ", Place::Bearer),
        ("if (", Place::Compared),
        ("curl", User(&["--user", "-u", "--proxy-user", "-U"], b':')),
        ("mysql", Place::Mysql),
        ("dsn", Place::DataSource),
        ("Dsn", Place::DataSource),
        ("DSN", Place::DataSource),
        ("docker login", Opt(LOGIN)),
        ("podman login", Opt(LOGIN)),
        ("az login", Opt(LOGIN)),
        ("net user ", Place::NetUser),
        ("dentified by ", Place::Identified),
        ("DENTIFIED BY ", Place::Identified),
        ("redis-cli", Opt(&["--pass ", "-a "])),
        ("sqlcmd", Opt(&["-P "])),
        ("ldapsearch", Opt(&["-w "])),
        ("ldapmodify", Opt(&["-w "])),
        ("ldapadd", Opt(&["-w "])),
        ("SecureString ", Place::SecureString),
        ("achtwoord", Place::Foreign),
        ("ontraseñ", Place::Foreign),
        ("asło", Place::Foreign),
        ("haslo", Place::Foreign),
        ("heslo", Place::Foreign),
        ("senord", Place::Foreign),
        ("dgangskode", Place::Foreign),
        ("alasana", Place::Foreign),
        ("elszó", Place::Foreign),
        ("ifre", Place::Foreign),
        ("ароль", Place::Foreign),
        ("парол", Place::Foreign),
        ("密码", Place::Foreign),
        ("密碼", Place::Foreign),
        ("パスワード", Place::Foreign),
        ("비밀번호", Place::Foreign),
        ("סיסמ", Place::Foreign),
        ("كلمة", Place::Foreign),
        ("κωδικ", Place::Foreign),
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
        ("7z ", Opt(&["-p"])),
        ("7za ", Opt(&["-p"])),
        ("bcp ", Opt(&["-P"])),
        ("freerdp", Opt(&["/p:"])),
        ("schtasks", Opt(&["/rp "])),
        ("smbclient", User(&["-U ", "--user="], b'%')),
        ("lftp", User(&["-u "], b',')),
        ("http --auth", User(&["--auth"], b':')),
        ("http -a ", User(&["-a "], b':')),
        ("https -a ", User(&["-a "], b':')),
        ("sqlplus ", Place::Slashed),
        ("sqlldr ", Place::Slashed),
        ("expdp ", Place::Slashed),
        ("impdp ", Place::Slashed),
        ("oracle:thin:", Place::Slashed),
        ("net use ", Place::NetUse),
        ("echo ", Place::Echo),
        ("printf ", Place::Echo),
        ("<<<", Place::HereString),
        ("PDO(", Call(2)),
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
        ("XAUTH \"", Setting),
        ("stats auth ", Place::UserSetting),
        ("on >", Place::AccessList),
        ("send \"", Place::Sent),
        (":5432:", Place::Port),
        ("*:*:*:", Place::Port),
        ("\"auth", Place::Basic),
        ("_auth ", Place::Basic),
        ("_auth=", Place::Basic),
        ("eed phrase", Place::Seed),
        ("eed_phrase", Place::Seed),
        ("EED PHRASE", Place::Seed),
        ("ecovery phrase", Place::Seed),
        ("ecovery_phrase", Place::Seed),
        ("nemonic", Place::Seed),
        ("NEMONIC", Place::Seed),
        ("--proxy-user ", Place::UserSetting),
        ("\"d\"", Place::KeyNumber),
        ("\"d\\", Place::KeyNumber),
        ("\"k\"", Place::KeyNumber),
        ("\"k\\", Place::KeyNumber),
        ("\"p\"", Place::KeyNumber),
        ("\"p\\", Place::KeyNumber),
        ("\"q\"", Place::KeyNumber),
        ("\"q\\", Place::KeyNumber),
        ("\"dp\"", Place::KeyNumber),
        ("\"dp\\", Place::KeyNumber),
        ("\"dq\"", Place::KeyNumber),
        ("\"dq\\", Place::KeyNumber),
        ("\"qi\"", Place::KeyNumber),
        ("\"qi\\", Place::KeyNumber),
        ("<D>", Place::KeyNumber),
        ("<P>", Place::KeyNumber),
        ("<Q>", Place::KeyNumber),
        ("<DP>", Place::KeyNumber),
        ("<DQ>", Place::KeyNumber),
        ("<InverseQ>", Place::KeyNumber),
        ("rootpw", Place::Name),
        ("masterauth", Place::Name),
        ("psk", Place::Name),
        ("PSK", Place::Name),
    ],
];

/// How many lists there are.
pub(super) const LISTS: usize = 3;

const LOGIN: &[&str] = &["--password ", "-p "];

/// The longest of them, in bytes.
pub(super) const LONGEST: usize = 24;

/// The search for one list of words.
pub(super) enum Search {
    Packed(packed::Searcher),
    // Where the processor lacks what the packed search needs.
    Plain(AhoCorasick),
}

impl Search {
    pub(super) fn new(words: &[(&str, Place)]) -> Option<Self> {
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

    fn find(&self, text: &[u8], from: usize, words: &[(&str, Place)]) -> Option<Hit> {
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
    pub(super) place: Place,
}

/// The words of both lists in the order of their starts.
pub(super) struct Hits<'a> {
    pub(super) searches: &'a [Search; LISTS],
    pub(super) text: &'a [u8],
    /// The next of each list; `None` where it was not looked for since the last was taken.
    pub(super) next: [Option<Option<Hit>>; LISTS],
}

impl Hits<'_> {
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
