//! [`Scheme`]: what a URL's scheme says of where it leads, and of who fetches it.

/// What is known of a URL by its scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scheme {
    /// One whose URLs have an authority however many slashes there are, and its port (WHATWG URL, section 4.2).
    Special(u16),
    /// `file:`, whose URLs may have no host.
    File,
    /// What a browser runs.
    Script,
    /// One that opens a database, a queue or a shell: what shows a text fetches none of these.
    Service,
    /// Any other: it may be fetched, and its authority begins behind two slashes.
    Other,
}

/// Such schemes. Behind a `+` stands with which driver one is opened: `postgresql+asyncpg`.
const SERVICES: &[&str] = &[
    "amqp",
    "amqps",
    "bolt",
    "cassandra",
    "clickhouse",
    "cockroachdb",
    "couchbase",
    "couchbases",
    "duckdb",
    "etcd",
    "hive",
    "imap",
    "imaps",
    "influxdb",
    "kafka",
    "ldap",
    "ldaps",
    "libsql",
    "mariadb",
    "memcached",
    "mongodb",
    "mqtt",
    "mqtts",
    "mssql",
    "mysql",
    "mysqlx",
    "nats",
    "neo4j",
    "oracle",
    "postgis",
    "postgres",
    "postgresql",
    "presto",
    "pulsar",
    "redis",
    "rediss",
    "redshift",
    "rsync",
    "sftp",
    "smtp",
    "smtps",
    "snowflake",
    "sqlite",
    "sqlserver",
    "ssh",
    "stomp",
    "teradata",
    "trino",
    "vertica",
    "zookeeper",
];

impl Scheme {
    /// That of the scheme which a text ends with.
    pub(super) fn of(word: &str) -> Self {
        let is = |scheme: &str| {
            let before = word.strip_suffix(scheme);
            before.is_some_and(|before| !before.ends_with(|c: char| c.is_ascii_alphabetic()))
        };
        match () {
            () if is("https") || is("wss") => Self::Special(443),
            () if is("http") || is("ws") => Self::Special(80),
            () if is("ftp") => Self::Special(21),
            () if is("file") => Self::File,
            () if SERVICES.contains(&word.split_once('+').map_or(word, |(service, _)| service)) => {
                Self::Service
            }
            () if is("javascript") || is("vbscript") => Self::Script,
            () => Self::Other,
        }
    }
}
