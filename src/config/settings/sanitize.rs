//! Who is asked about files and links, and where files may come from.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use serde::{Deserialize, Deserializer};

use crate::base::from_text::FromText;
use crate::config::{Period, Size, Spanned, Supplied};
use crate::net::{AllowEntry, AllowEntryError, Url};

/// `[sanitize]`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sanitize {
    /// Places besides the public internet that a `source_url` may name. Default none.
    pub fetch_allow: Vec<FetchPlace>,
    /// What becomes of files of a kind that cannot be rewritten. Default `refuse`.
    pub unknown: UnknownFiles,
    /// What becomes of scripts, shortcuts and the like. Default `refuse`.
    pub scripts: ScriptFiles,
    /// What becomes of a redacted file that could not be read whole. Default `note`.
    pub on_unread: UnreadFiles,
    /// What processes that read files must not have. Default `available`.
    pub sandbox: SandboxMode,
    /// How much of what.
    pub limits: FileLimits,
    /// Scanners.
    pub scan: Scan,
    /// What is known of URLs and domains.
    pub intel: Intel,
}

/// What becomes of files of a kind that cannot be rewritten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UnknownFiles {
    /// They are not released.
    #[default]
    Refuse,
    /// They pass as they are once they are scanned.
    Pass,
}

/// What becomes of scripts, shortcuts and other texts that act when they are opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScriptFiles {
    /// They are not released; in an archive or a mail they are left out.
    #[default]
    Refuse,
    /// They are released as texts, under names that end in `.txt`.
    Text,
    /// They are released under their own names.
    Pass,
}

/// What becomes of a redacted file of which something was not read: images, pages of images, characters without a meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UnreadFiles {
    /// It is released, and the summary says so.
    #[default]
    Note,
    /// It is not released.
    Refuse,
}

/// What processes that read files must not have: paths, connections, calls that they do not need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SandboxMode {
    /// What the kernel can take away.
    #[default]
    Available,
    /// All of that, or no file is read: a kernel without Landlock does not do.
    Required,
}

/// `[sanitize.limits]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FileLimits {
    /// The largest upload. Default 2 GiB.
    pub upload: Spanned<Size>,
    /// The largest file that is cleaned. Default 256 MiB.
    pub file: Spanned<Size>,
    /// What a file may unfold to. Default 1 GiB.
    pub unfolded: Spanned<Size>,
    /// Files within files. Default 8.
    pub depth: u32,
    /// Address space of a process that reads one file. Default 2 GiB.
    pub memory: Spanned<Size>,
    /// How long that may take. Default 60 s.
    pub time: Spanned<Period>,
    /// Such processes at once. Default 4.
    pub processes: NonZeroUsize,
    /// How long a clean file and its answer are kept. Default 1 h.
    pub keep: Spanned<Period>,
}

impl Default for FileLimits {
    fn default() -> Self {
        Self {
            upload: Spanned::new(Size::mib(2048)),
            file: Spanned::new(Size::mib(256)),
            unfolded: Spanned::new(Size::mib(1024)),
            depth: 8,
            memory: Spanned::new(Size::mib(2048)),
            time: Spanned::new(Period::secs(60)),
            processes: four(),
            keep: Spanned::new(Period::secs(3600)),
        }
    }
}

/// A place that may be fetched from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchPlace(pub AllowEntry);

impl<'de> Deserialize<'de> for FetchPlace {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let parse = |text: &str| text.parse().map(Self).map_err(|error: AllowEntryError| error);
        FromText { expected: "a place such as \"files.example.com\" or \"10.1.0.0/16\"", parse }
            .read(deserializer)
    }
}

/// `[sanitize.scan]`; read again on a reload.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Scan {
    /// A folder of rules (`*.yar`) and lists of digests (`*.sha256`), in place of the built-in ones.
    pub rules: Option<Spanned<PathBuf>>,
    /// How long the rules may take for one part of a file. Default 10 s.
    pub time: Spanned<Period>,
    /// Provider names and the engines behind them. Default: all names of the specification, `embedded`.
    pub providers: BTreeMap<String, Spanned<ProviderEngine>>,
    /// A clamd.
    pub clamd: Option<ClamdSocket>,
}

impl Default for Scan {
    fn default() -> Self {
        let names = ["crowdstrike", "reversinglabs"];
        let providers = names.map(|name| (name.to_owned(), Spanned::new(ProviderEngine::Embedded))).into();
        Self { rules: None, time: Spanned::new(Period::secs(10)), providers, clamd: None }
    }
}

/// What is behind a scan provider's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProviderEngine {
    /// Rules in this process.
    Embedded,
    /// The clamd of `[sanitize.scan.clamd]`.
    Clamd,
}

/// `[sanitize.scan.clamd]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClamdSocket {
    /// Where it listens.
    pub address: ScanAddress,
    /// The largest part it is sent, at most `StreamMaxLength` of clamd.conf. Default 25 MiB.
    #[serde(default = "stream")]
    pub max: Spanned<Size>,
    /// For one scan. Default 60 s.
    #[serde(default = "minute")]
    pub time: Spanned<Period>,
    /// Scans at once, at most `MaxThreads` of clamd.conf. Default 4.
    #[serde(default = "four")]
    pub scans: NonZeroUsize,
}

fn stream() -> Spanned<Size> {
    Spanned::new(Size::mib(25))
}

fn minute() -> Spanned<Period> {
    Spanned::new(Period::secs(60))
}

fn four() -> NonZeroUsize {
    NonZeroUsize::MIN.saturating_add(3)
}

/// Where a clamd listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScanAddress {
    /// A socket's path, absolute.
    Unix(PathBuf),
    /// An address and port; plaintext.
    Tcp(SocketAddr),
}

/// Says that a text is no address of a clamd.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an address, write one such as \"unix:/run/clamav/clamd.ctl\" or \"127.0.0.1:3310\"")]
pub struct ClamdAddressError;

impl ScanAddress {
    /// Reads the written form.
    pub fn parse(text: &str) -> Result<Self, ClamdAddressError> {
        match text.strip_prefix("unix:") {
            Some(path) if path.starts_with('/') => Ok(Self::Unix(path.into())),
            Some(_) => Err(ClamdAddressError),
            None => text.parse().map(Self::Tcp).map_err(|_| ClamdAddressError),
        }
    }
}

impl<'de> Deserialize<'de> for ScanAddress {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        FromText { expected: "an address such as \"127.0.0.1:3310\"", parse: Self::parse }.read(deserializer)
    }
}

/// `[sanitize.intel]`; read again on a reload.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Intel {
    /// Feeds, or folders of them: `*.csv` of URLhaus or ThreatFox, `*.json` of those or MISP, `*.txt` with a URL or
    /// host a line.
    pub feeds: Vec<Spanned<PathBuf>>,
    /// Lists of hosts so common that what is listed on them says nothing about them, beside the built-in one.
    pub common: Vec<Spanned<PathBuf>>,
    /// Provider names for URLs, and what is behind them: `embedded`, or a name of `remote`.
    pub url_providers: BTreeMap<String, Spanned<String>>,
    /// The same for domains.
    pub domain_providers: BTreeMap<String, Spanned<String>>,
    /// Providers that are asked over HTTP, by name.
    pub remote: BTreeMap<String, Spanned<RemoteIntel>>,
}

impl Default for Intel {
    fn default() -> Self {
        let embedded = |name: &str| (name.to_owned(), Spanned::new("embedded".to_owned()));
        Self {
            feeds: Vec::new(),
            common: Vec::new(),
            url_providers: ["crowdstrike"].map(embedded).into(),
            domain_providers: ["crowdstrike", "domaintools"].map(embedded).into(),
            remote: BTreeMap::new(),
        }
    }
}

/// `[sanitize.intel.remote.NAME]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemoteIntel {
    /// Where it is asked.
    pub url: Spanned<RemoteUrl>,
    /// Fields of the head, such as a key.
    #[serde(default)]
    pub headers: BTreeMap<String, Spanned<Supplied>>,
    /// For one question. Default 5 s.
    #[serde(default = "five")]
    pub time: Spanned<Period>,
    /// The most answers that are kept. Default 100 000.
    #[serde(default = "cached")]
    pub cached: NonZeroUsize,
    /// How long an answer is kept. Default 1 h.
    #[serde(default = "hour")]
    pub keep: Period,
}

fn five() -> Spanned<Period> {
    Spanned::new(Period::secs(5))
}

fn cached() -> NonZeroUsize {
    NonZeroUsize::MIN.saturating_add(99_999)
}

fn hour() -> Period {
    Period::secs(3600)
}

/// Where a provider is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteUrl(pub Url);

/// Says that a text is no URL of a provider. It does not show the text, which may hold a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an http or https URL without user and password")]
pub struct ProviderUrlError;

impl RemoteUrl {
    /// Reads the written form.
    pub fn parse(text: &str) -> Result<Self, ProviderUrlError> {
        let url = Url::parse(text).map_err(|_| ProviderUrlError)?;
        let fine =
            matches!(url.scheme(), "http" | "https") && url.username().is_empty() && url.password().is_none();
        if fine { Ok(Self(url)) } else { Err(ProviderUrlError) }
    }
}

impl<'de> Deserialize<'de> for RemoteUrl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        FromText { expected: "a URL such as \"https://intel.example.com/judge\"", parse: Self::parse }
            .read(deserializer)
    }
}
