//! The parts of the crate: what each may import, what pure ones do without, and which external crates live behind whose door.

/// Every part, and what it may import besides itself. A part imports only from rows above its own.
pub(crate) const PARTS: &[(&str, &[&str])] = &[
    ("base", &[]),
    ("net", &["base"]),
    ("telemetry", &["base"]),
    ("edit", &[]),
    ("stream", &["base", "edit"]),
    ("crypto", &["base"]),
    ("detect", &["base", "edit"]),
    ("redact", &["base", "crypto", "detect", "edit", "stream"]),
    ("store", &["base", "crypto", "telemetry"]),
    ("vault", &["base", "crypto", "net", "store", "telemetry"]),
    ("sanitize", &["base", "edit", "net", "stream", "detect", "redact", "store", "telemetry"]),
    ("audit", &["base", "crypto"]),
    ("valkey", &["base", "crypto", "telemetry"]),
    ("usage", &["base", "store", "valkey"]),
    ("rates", &["base", "valkey"]),
    (
        "api",
        &[
            "audit",
            "base",
            "crypto",
            "detect",
            "edit",
            "net",
            "redact",
            "sanitize",
            "store",
            "stream",
            "telemetry",
            "usage",
            "vault",
        ],
    ),
    (
        "gateway",
        &[
            "api",
            "audit",
            "base",
            "crypto",
            "edit",
            "net",
            "rates",
            "redact",
            "store",
            "stream",
            "telemetry",
            "usage",
            "vault",
        ],
    ),
    ("config", &["base", "detect", "gateway", "net", "store", "usage", "valkey"]),
    (
        "app",
        &[
            "api",
            "audit",
            "base",
            "config",
            "crypto",
            "detect",
            "gateway",
            "net",
            "rates",
            "redact",
            "sanitize",
            "store",
            "stream",
            "telemetry",
            "usage",
            "valkey",
            "vault",
        ],
    ),
    (
        "cli",
        &["api", "app", "audit", "base", "config", "detect", "redact", "sanitize", "store", "usage", "vault"],
    ),
];

/// The parts that compute and nothing else.
pub(crate) const PURE: &[&str] = &["edit", "stream", "crypto", "detect", "redact"];

/// What pure parts do without.
pub(crate) const IMPURE: &[&str] = &[
    ".await",
    "async fn",
    "tokio",
    "std::fs",
    "TcpStream",
    "UdpSocket",
    "std::env",
    "tracing::",
    "SystemTime",
    "Instant",
];

/// External crates that live behind one door. `main` is `src/main.rs`.
pub(crate) const DOORS: &[(&str, &[&str])] = &[
    ("aes", &["crypto"]),
    // Rules of the detector; values that go from a file.
    ("aho_corasick", &["detect", "sanitize"]),
    // What is swapped whole on a reload: made in `app`, read in `gateway`.
    ("arc_swap", &["app", "gateway"]),
    ("argon2", &["crypto"]),
    ("async_trait", &["gateway"]),
    ("aws_lc_rs", &["crypto"]),
    ("boreal", &["sanitize"]),
    ("brotli", &["stream"]),
    ("cfb", &["sanitize"]),
    ("clap", &["cli", "main"]),
    ("crc32c", &["crypto"]),
    ("crc32fast", &["stream"]),
    // Charsets of texts in files; labels of charsets in heads.
    ("encoding_rs", &["gateway", "sanitize"]),
    // In `api`, the CRC-32 of an archive of shared files.
    ("flate2", &["api", "sanitize", "stream"]),
    ("fpe", &["crypto"]),
    ("hayro_syntax", &["sanitize"]),
    ("hmac", &["crypto"]),
    ("jiff", &["base"]),
    ("jsonwebtoken", &["vault"]),
    ("lol_html", &["sanitize"]),
    ("lopdf", &["sanitize"]),
    ("md5", &["crypto"]),
    ("multer", &["api"]),
    ("object_store", &["store"]),
    ("pingora", &["gateway"]),
    ("prometheus", &["telemetry"]),
    ("prost", &["gateway"]),
    ("psl", &["sanitize"]),
    ("quick_xml", &["sanitize"]),
    // Routes match paths by pattern, and literal texts become patterns; what looks for values uses automata.
    ("redis", &["valkey"]),
    ("regex", &["config", "detect", "gateway"]),
    ("regex_automata", &["detect"]),
    // What the process asks of the operating system for itself, and of programs that it runs.
    ("rten", &["detect"]),
    ("rten_tensor", &["detect"]),
    ("rustix", &["app", "sanitize", "vault"]),
    // The process's provider is chosen before anything else runs.
    ("reqwest", &["net"]),
    ("rustls", &["gateway", "main", "net"]),
    ("serde_json_path", &["api"]),
    ("sqlx", &["store"]),
    ("strsim", &["config"]),
    ("subtle", &["base"]),
    // Rules are data.
    ("toml", &["config", "detect"]),
    ("tracing_subscriber", &["telemetry"]),
    ("unicode_normalization", &["detect"]),
    ("x509_parser", &["gateway"]),
    ("zip", &["sanitize"]),
    ("zstd", &["stream"]),
];
