//! What the words begin by which places of secrets are known.

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
    /// A command whose word of this number, from 0, is a password, without its options: `wpa_passphrase network password`.
    Word(usize),
    /// `htpasswd -b file user password`.
    Htpasswd,
    /// `smbclient //server/share password`, or `-U user%password`.
    Share,
    /// `psexec.py domain/user:password@host`.
    Impacket,
    /// `user name password`, as clients of FTP are told.
    FileTransfer,
    /// `net user name password /add`.
    NetUser,
    /// `net use Z: \\server\share /user:name password`.
    NetUse,
    /// `echo password | command`.
    Echo,
    /// `printf format password | command`.
    Printf,
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
    /// `::add-mask::value`, which a log is told to hide.
    Masked,
    /// `variable=name;issecret=true]value`, behind what sets a variable.
    SecretVariable,
    /// `ssm put-parameter --name name --value value`.
    Parameter,
    /// `WIFI:S:name;P:password;;`, the code of a network.
    NetworkCode,
    /// `user@host.com:password`, an account and its password in a line.
    Account,
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
    /// `la clave es password`: the word alone is any key of a table.
    Said,
    /// `<input type="password" value="…">`.
    Input,
    /// `<add value="…" key="password"/>`, a setting whose value stands before its name.
    Member,
    /// `session=…; Path=/`.
    SessionCookie,
    /// `Cookie: a=b; session=…`, a header or an option.
    CookieHeader,
    /// `cookies = {"session": "…"}`.
    CookieMembers,
    /// `setcookie("session", "…")`.
    CookieCall,
    /// A line of a file of cookies, as curl and browsers' tools write it.
    CookieFile,
}

impl WordContext {
    /// Whether its value is somewhere on a command's line.
    pub(super) const fn has_options(self) -> bool {
        matches!(self, Self::Option(_) | Self::User(..) | Self::NetUse | Self::Share | Self::Parameter)
    }
}
