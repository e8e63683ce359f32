//! A rule as data: what it is called, what its values look like, how the engine finds them, what proves them and
//! which words nearby support or contradict them. Rules come from TOML (the files of this folder and the operator's own);
//! a field that is not listed here is an error.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::detect::finding::RuleId;

/// What a value looks like, so that `redact` can make another of the same shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// `local@domain`.
    Email,
    /// Digits with `+`, parentheses and separators.
    Phone,
    /// A payment card number, grouped or not.
    Card,
    /// A US social security number.
    Ssn,
    /// A US individual taxpayer number.
    Itin,
    /// Country, check digits, account; spaces allowed.
    Iban,
    /// IPv4 or IPv6.
    Ip,
    /// Scheme, host, path.
    Url,
    /// Digits, separators kept.
    Digits,
    /// A secret whose constant prefix is kept.
    Key,
    /// A block between BEGIN and END lines.
    Pem,
    /// Anything else.
    Text,
}

/// What kind of thing a rule finds: coarse, for metrics and reports that need no detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Family {
    Email,
    Phone,
    Card,
    Bank,
    Iban,
    Crypto,
    Ssn,
    NationalId,
    Health,
    Network,
    Ip,
    Url,
    Secret,
    Person,
    Location,
    Organization,
    Nrp,
    DateTime,
    Money,
    Profanity,
    Other,
}

impl Family {
    /// Its name in metrics and reports, upper snake case; a closed list.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Email => "EMAIL_ADDRESS",
            Self::Phone => "PHONE_NUMBER",
            Self::Card => "CREDIT_CARD",
            Self::Bank => "BANK",
            Self::Iban => "IBAN_CODE",
            Self::Crypto => "CRYPTO",
            Self::Ssn => "US_SSN",
            Self::NationalId => "NATIONAL_ID",
            Self::Health => "HEALTH",
            Self::Network => "NETWORK",
            Self::Ip => "IP_ADDRESS",
            Self::Url => "URL",
            Self::Secret => "SECRET",
            Self::Person => "PERSON",
            Self::Location => "LOCATION",
            Self::Organization => "ORGANIZATION",
            Self::Nrp => "NRP",
            Self::DateTime => "DATE_TIME",
            Self::Money => "MONEY",
            Self::Profanity => "PROFANITY",
            Self::Other => "OTHER",
        }
    }
}

/// The heading a rule is listed under; rule sets are made of these and of regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
pub enum Category {
    /// What points to a person anywhere.
    #[serde(rename = "PII")]
    Pii,
    /// Numbers that a state or an employer gave a person, a vehicle or a company.
    Identity,
    /// Cards, accounts, securities, money.
    Finance,
    /// Patients, practitioners, insurance.
    Health,
    /// Addresses and devices.
    Network,
    /// Keys, tokens, passwords.
    Secrets,
    /// Words.
    Content,
    /// Operators' own.
    Custom,
}

impl Category {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pii => "PII",
            Self::Identity => "Identity",
            Self::Finance => "Finance",
            Self::Health => "Health",
            Self::Network => "Network",
            Self::Secrets => "Secrets",
            Self::Content => "Content",
            Self::Custom => "Custom",
        }
    }
}

/// How bad it is if a value gets out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Of interest together with other data.
    Low,
    /// Points to a person.
    #[default]
    Medium,
    /// Can be misused by itself.
    High,
    /// Gives access by itself.
    Critical,
}

impl Severity {
    /// Its name in rules and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
}

/// How the engine comes upon a value; all but `Free` cost nothing where their bytes don't occur.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Anchor {
    /// By a digit in the value's first or second word.
    Digit,
    /// As a token: from the start of a long run of letters, digits, `_` and `-`.
    Token,
    /// As an e-mail address, outward from `@`.
    At,
    /// As an IP address: by a digit as the rule's patterns say, and as IPv6 outward from `:`.
    Address,
    /// By one of the rule's prefixes.
    Prefix,
    /// By the name it is given to, or another place that says what it is: `gives` says which.
    Assign,
    /// As a name, by words that begin with a capital: `tag` says of what.
    Name,
    /// Anywhere: patterns of operators' own rules.
    #[default]
    Free,
    /// Not at all: an analyzer that the configuration names reports its values ([`Rule::reported`]).
    #[serde(skip)]
    Reported,
}

/// What a name is of, for rules with the anchor `Name`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NameTag {
    /// A human being.
    Person,
    /// A city, a country, a street.
    Location,
    /// A company, an institution.
    Organization,
    /// A nation, a religion, a party.
    Group,
}

/// What the place of a value says it is, for rules with the anchor `Assign`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SecretKind {
    /// Given to a name such as `db_password`.
    Password,
    /// Given to a name such as `api_key` or `token`.
    Key,
    /// Given to a name such as `client_secret`.
    Secret,
    /// Behind a scheme of HTTP authentication.
    Bearer,
    /// User and password of HTTP: in a header or in an address.
    Basic,
    /// User and password in another address.
    Userinfo,
    /// User and password of a command line.
    Command,
    /// What opens a database or a queue, in its address or list of settings.
    Connection,
}

/// What may not stand right before and after a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Edge {
    /// Anything may.
    Open,
    /// No ASCII letter or digit.
    Word,
    /// As `Word`, and before it no `_`, `-` or `#` either, behind it no `_`: the value is a whole token.
    Token,
    /// No base64 character: the value is a whole run of them.
    Blob,
    /// As `Word`, and no `.` with a digit behind it: the value is not a part of a decimal.
    Decimal,
    /// As `Decimal`, and nothing beside it says that it is a version: `Chrome/120.0.0.0`, `Java 17.0.1.12`.
    Address,
    /// As `Decimal`, and the same for `-`: the value is not a part of a longer number.
    Number,
}

/// One regular expression of a rule. ASCII semantics: `\d`, `\w` and `\b` know ASCII only.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pattern {
    pub(crate) regex: String,
    pub(crate) score: Option<f32>,
    pub(crate) check: Option<String>,
    pub(crate) edge: Option<Edge>,
}

/// Context words of one language, lower case; a phrase's words are separated by spaces.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ContextWords {
    pub(crate) before: Vec<String>,
    pub(crate) after: Vec<String>,
    pub(crate) negative: Vec<String>,
}

/// One rule, as it is written. Read through its methods; it counts once a [`Catalogue`](crate::detect::Catalogue) took it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    pub(crate) name: String,
    /// Whether it is one of the built-in rules, of which tests know what they cost together.
    #[serde(skip)]
    pub(crate) builtin: bool,
    #[serde(default = "other")]
    pub(crate) family: Family,
    #[serde(default = "text")]
    pub(crate) format: Format,
    #[serde(default = "custom")]
    pub(crate) category: Category,
    #[serde(default)]
    pub(crate) region: String,
    #[serde(default)]
    pub(crate) anchor: Anchor,
    #[serde(default)]
    pub(crate) prefixes: Vec<String>,
    /// What places give its values; for the anchor `Assign` only.
    pub(crate) gives: Option<SecretKind>,
    /// What its values are names of; for the anchor `Name` only.
    pub(crate) tag: Option<NameTag>,
    #[serde(default)]
    pub(crate) patterns: Vec<Pattern>,
    /// Texts to find as they are, between words; stands beside or in place of patterns.
    #[serde(default)]
    pub(crate) literals: Vec<String>,
    /// Whether `literals` are found in upper and lower case (ASCII letters).
    #[serde(default)]
    pub(crate) any_case: bool,
    /// The label of a PEM block as a regular expression; stands in place of patterns.
    pub(crate) pem: Option<String>,
    pub(crate) check: Option<String>,
    #[serde(default = "likely")]
    pub(crate) score: f32,
    #[serde(default = "half")]
    pub(crate) threshold: f32,
    #[serde(default = "half")]
    pub(crate) augment: f32,
    /// What a word that contradicts takes off the score.
    #[serde(default = "half")]
    pub(crate) against: f32,
    #[serde(default)]
    pub(crate) context: BTreeMap<String, ContextWords>,
    pub(crate) reach: Option<u16>,
    #[serde(default)]
    pub(crate) severity: Severity,
    #[serde(default)]
    pub(crate) description: String,
    #[serde(default)]
    pub(crate) source: String,
    #[serde(default)]
    pub(crate) matches: Vec<String>,
    #[serde(default)]
    pub(crate) misses: Vec<String>,
    #[serde(default = "yes")]
    pub(crate) default_on: bool,
}

fn other() -> Family {
    Family::Other
}

fn custom() -> Category {
    Category::Custom
}

fn text() -> Format {
    Format::Text
}

fn likely() -> f32 {
    0.8
}

fn half() -> f32 {
    0.5
}

fn yes() -> bool {
    true
}

impl Rule {
    /// A rule of this name whose values the engine does not look for: an analyzer reports them. What they look like is
    /// what `like` says, a rule for the same kind of thing, if there is one; else they are text.
    pub fn reported(name: String, like: Option<&Self>) -> Self {
        Self {
            name,
            builtin: false,
            family: like.map_or_else(other, |rule| rule.family),
            // Other formats are read by a syntax that what is reported need not have.
            format: text(),
            category: custom(),
            region: String::new(),
            anchor: Anchor::Reported,
            prefixes: Vec::new(),
            gives: None,
            tag: None,
            patterns: Vec::new(),
            literals: Vec::new(),
            any_case: false,
            pem: None,
            check: None,
            score: likely(),
            threshold: 0.0,
            augment: half(),
            against: half(),
            context: BTreeMap::new(),
            reach: None,
            severity: like.map_or_else(Severity::default, |rule| rule.severity),
            description: "Reported by an analyzer".to_owned(),
            source: String::new(),
            matches: Vec::new(),
            misses: Vec::new(),
            default_on: false,
        }
    }

    /// Whether its values are found by analyzers only.
    pub fn is_reported(&self) -> bool {
        self.anchor == Anchor::Reported
    }

    /// The rule's name, unique in its catalogue ([`is_name`](super::is_name)).
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The kind of thing it finds.
    pub fn family(&self) -> Family {
        self.family
    }

    /// What its values look like.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The heading it is listed under.
    pub fn category(&self) -> Category {
        self.category
    }

    /// The region whose values it finds, as ISO 3166-1 alpha-2; empty for everywhere.
    pub fn region(&self) -> &str {
        &self.region
    }

    /// How bad it is if a value gets out.
    pub fn severity(&self) -> Severity {
        self.severity
    }

    /// One sentence for people.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The document that says what its values are.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The score below which nothing is reported, 0 to 1.
    pub fn threshold(&self) -> f32 {
        self.threshold
    }

    /// Whether it is on unless a selection says otherwise.
    pub fn default_on(&self) -> bool {
        self.default_on
    }

    /// Bytes that a value of this rule can take at most before it is decided: the hold-back of a stream.
    pub fn reach(&self) -> usize {
        usize::from(self.reach.unwrap_or(DEFAULT_REACH))
    }

    /// What each of its patterns scores by itself, and the check that its values pass.
    pub fn forms(&self) -> Vec<(f32, Option<&str>)> {
        let (score, check) = (self.score, self.check.as_deref());
        if self.patterns.is_empty() {
            return vec![(score, check)];
        }
        let patterns = self.patterns.iter();
        patterns.map(|pattern| (pattern.score.unwrap_or(score), pattern.check.as_deref().or(check))).collect()
    }

    /// What its values are names of; `None` for rules of other values.
    pub fn tag(&self) -> Option<NameTag> {
        self.tag
    }

    /// The same rule under another name, without its examples.
    #[must_use]
    pub fn named(&self, name: &str) -> Self {
        Self { name: name.to_owned(), matches: Vec::new(), misses: Vec::new(), ..self.clone() }
    }

    /// The constant beginning of `value` by which this rule knew it (`ghp_`); empty if it has none.
    pub fn prefix_of<'t>(&self, value: &'t str) -> &'t str {
        let known = self.prefixes.iter().filter(|prefix| value.starts_with(prefix.as_str()));
        let longest = known.map(String::len).max().unwrap_or(0);
        value.get(..longest).unwrap_or("")
    }

    pub(crate) fn edge(&self, pattern: &Pattern) -> Edge {
        pattern.edge.unwrap_or_else(|| self.default_edge())
    }

    pub(crate) fn default_edge(&self) -> Edge {
        match self.anchor {
            Anchor::Free | Anchor::At | Anchor::Assign | Anchor::Reported => Edge::Open,
            Anchor::Address | Anchor::Name => Edge::Word,
            Anchor::Digit => Edge::Number,
            Anchor::Token | Anchor::Prefix => Edge::Token,
        }
    }
}

/// A rule and its place in its catalogue.
#[derive(Clone, Copy)]
pub(crate) struct RuleRef<'r> {
    pub(crate) id: RuleId,
    pub(crate) rule: &'r Rule,
}

/// The reach of a rule whose patterns have no bound and that states none, in bytes.
pub(crate) const DEFAULT_REACH: u16 = 512;
