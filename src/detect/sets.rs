//! Rule sets: names for the rules of a category or of some regions, for those who don't want to name rules one by
//! one. A set is made of what its rules say of themselves, so a new rule is in its sets by itself.

use std::fmt;

use super::catalogue::Catalogue;
use super::finding::RuleId;
use super::rules::{Category, Rule, UnknownRule};
use super::selection::RuleSelection;

/// A named set of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleSet {
    name: &'static str,
    description: &'static str,
    of: SetMember,
}

/// What makes a rule one of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SetMember {
    Every,
    Default,
    Category(Category),
    Personal,
    /// ISO 3166-1 alpha-2.
    Regions(&'static [&'static str]),
}

const fn set(name: &'static str, of: SetMember, description: &'static str) -> RuleSet {
    RuleSet { name, description, of }
}

/// The member states.
const EU: &[&str] = &[
    "AT", "BE", "BG", "CY", "CZ", "DE", "DK", "EE", "ES", "FI", "FR", "GR", "HR", "HU", "IE", "IT", "LT",
    "LU", "LV", "MT", "NL", "PL", "PT", "RO", "SE", "SI", "SK", "EU",
];

/// The member states and all other states of the continent, those in two continents among them.
const EUROPE: &[&str] = &[
    "AT", "BE", "BG", "CY", "CZ", "DE", "DK", "EE", "ES", "FI", "FR", "GR", "HR", "HU", "IE", "IT", "LT",
    "LU", "LV", "MT", "NL", "PL", "PT", "RO", "SE", "SI", "SK", "EU", "AD", "AL", "AM", "AZ", "BA", "BY",
    "CH", "FO", "GB", "GE", "GG", "GI", "IM", "IS", "JE", "LI", "MC", "MD", "ME", "MK", "NO", "RS", "RU",
    "SM", "TR", "UA", "VA", "XK",
];

const NORTH_AMERICA: &[&str] = &["US", "CA", "MX", "PR"];

const LATAM: &[&str] = &[
    "AR", "BO", "BR", "CL", "CO", "CR", "CU", "DO", "EC", "GT", "HN", "HT", "JM", "MX", "NI", "PA", "PE",
    "PR", "PY", "SV", "TT", "UY", "VE",
];

const APAC: &[&str] = &[
    "AF", "AU", "BD", "BN", "BT", "CN", "FJ", "HK", "ID", "IN", "JP", "KG", "KH", "KP", "KR", "KZ", "LA",
    "LK", "MM", "MN", "MO", "MV", "MY", "NP", "NZ", "PG", "PH", "PK", "SG", "TH", "TJ", "TL", "TM", "TW",
    "UZ", "VN",
];

const MEA: &[&str] = &[
    "AE", "AO", "BF", "BH", "BI", "BJ", "BW", "CD", "CF", "CG", "CI", "CM", "CV", "DJ", "DZ", "EG", "ER",
    "ET", "GA", "GH", "GM", "GN", "GQ", "GW", "IL", "IQ", "IR", "JO", "KE", "KM", "KW", "LB", "LR", "LS",
    "LY", "MA", "MG", "ML", "MR", "MU", "MW", "MZ", "NA", "NE", "NG", "OM", "PS", "QA", "RW", "SA", "SC",
    "SD", "SL", "SN", "SO", "SS", "ST", "SY", "SZ", "TD", "TG", "TN", "TR", "TZ", "UG", "YE", "ZA", "ZM",
    "ZW",
];

const SETS: &[RuleSet] = &[
    set("DEFAULT", SetMember::Default, "The rules that are on where nobody chose."),
    set("ALL", SetMember::Every, "Every rule."),
    set(
        "PII",
        SetMember::Personal,
        "What points to a person: names, addresses, cards, accounts, numbers of states.",
    ),
    set("IDENTITY", SetMember::Category(Category::Identity), "Numbers that a state or an employer gave."),
    set("FINANCE", SetMember::Category(Category::Finance), "Cards, accounts, securities, money."),
    set("HEALTH", SetMember::Category(Category::Health), "Patients, practitioners, insurance."),
    set("NETWORK", SetMember::Category(Category::Network), "Addresses and devices."),
    set("SECRETS", SetMember::Category(Category::Secrets), "Keys, tokens, passwords."),
    set("CONTENT", SetMember::Category(Category::Content), "Words."),
    set("CUSTOM", SetMember::Category(Category::Custom), "Your own rules that state no category."),
    set("US", SetMember::Regions(&["US"]), "The United States."),
    set("UK", SetMember::Regions(&["GB"]), "The United Kingdom."),
    set("EU", SetMember::Regions(EU), "The member states of the European Union."),
    set(
        "EUROPE",
        SetMember::Regions(EUROPE),
        "The European Union, the United Kingdom and the rest of Europe.",
    ),
    set("NORTH_AMERICA", SetMember::Regions(NORTH_AMERICA), "The United States, Canada and Mexico."),
    set("LATAM", SetMember::Regions(LATAM), "Latin America and the Caribbean."),
    set("APAC", SetMember::Regions(APAC), "Asia and the Pacific."),
    set("MEA", SetMember::Regions(MEA), "The Middle East and Africa."),
];

impl RuleSet {
    /// Every set there is.
    pub fn all() -> &'static [Self] {
        SETS
    }

    /// The set of this name, in capitals or not.
    pub fn named(name: &str) -> Option<&'static Self> {
        SETS.iter().find(|set| set.name.eq_ignore_ascii_case(name))
    }

    /// Its name, upper snake case.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// One sentence for people.
    pub fn description(&self) -> &'static str {
        self.description
    }

    /// Whether `rule` is one of the set.
    pub fn has(&self, rule: &Rule) -> bool {
        match self.of {
            SetMember::Every => true,
            SetMember::Default => rule.default_on(),
            SetMember::Category(category) => rule.category() == category,
            SetMember::Personal => personal(rule),
            SetMember::Regions(regions) => regions.contains(&rule.region()),
        }
    }
}

/// Whether a rule finds what people call personal data. Of other categories than that of this name it is what is looked
/// for by default: not plates, companies or devices.
fn personal(rule: &Rule) -> bool {
    match rule.category() {
        Category::Pii => true,
        Category::Identity | Category::Finance | Category::Health | Category::Network => rule.default_on(),
        Category::Secrets | Category::Content | Category::Custom => false,
    }
}

/// A name that no rule set has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownSet {
    /// Which of the names given, counted from 0.
    pub index: usize,
}

// Names what there is and not what was given: a name from outside may be anything.
impl fmt::Display for UnknownSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "name {} of the list is not a rule set; there are ", self.index + 1)?;
        for (n, set) in SETS.iter().enumerate() {
            write!(f, "{}{}", if n > 0 { ", " } else { "" }, set.name)?;
        }
        Ok(())
    }
}

impl std::error::Error for UnknownSet {}

impl RuleSelection {
    /// The rules that are on by default.
    pub fn defaults(catalogue: &Catalogue) -> Self {
        let on = |id: &RuleId| catalogue.rule(*id).is_some_and(|rule| rule.default_on());
        catalogue.ids().filter(on).collect()
    }

    /// All rules.
    pub fn all(catalogue: &Catalogue) -> Self {
        catalogue.ids().collect()
    }

    /// The rules of these names, and no other.
    pub fn only<'n>(
        catalogue: &Catalogue,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Result<Self, UnknownRule> {
        let ids = names.into_iter().enumerate();
        ids.map(|(index, name)| catalogue.find(name).ok_or(UnknownRule { index })).collect()
    }

    /// The rules of all these sets together; names in capitals or not.
    pub fn sets<'n>(
        catalogue: &Catalogue,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Result<Self, UnknownSet> {
        let sets = names.into_iter().enumerate();
        let sets = sets.map(|(index, name)| RuleSet::named(name).ok_or(UnknownSet { index }));
        let sets = sets.collect::<Result<Vec<_>, _>>()?;
        let has = |rule: &Rule| sets.iter().any(|set| set.has(rule));
        Ok(catalogue.ids().filter(|id| catalogue.rule(*id).is_some_and(has)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_hold_what_their_names_say() {
        let catalogue = Catalogue::builtin().unwrap();
        let id = |name| catalogue.find(name).unwrap();
        let set = |name| RuleSelection::sets(&catalogue, [name]).unwrap();
        assert!(set("pii").has(id("EMAIL_ADDRESS")) && !set("PII").has(id("JWT_TOKEN")));
        assert!(set("US").has(id("US_SSN")) && set("North_America").has(id("US_SSN")));
        assert!(!set("LATAM").has(id("US_SSN")));
        assert_eq!(set("ALL"), RuleSelection::all(&catalogue));
        assert_eq!(set("DEFAULT"), RuleSelection::defaults(&catalogue));
        let both = RuleSelection::sets(&catalogue, ["secrets", "us"]).unwrap();
        assert!(both.has(id("JWT_TOKEN")) && both.has(id("US_SSN")) && !both.has(id("EMAIL_ADDRESS")));
    }

    #[test]
    fn personal_data_is_what_people_call_so() {
        let catalogue = Catalogue::builtin().unwrap();
        let set = RuleSelection::sets(&catalogue, ["PII"]).unwrap();
        let has = |name: &str| set.has(catalogue.find(name).unwrap());
        let people = [
            "EMAIL_ADDRESS",
            "PERSON",
            "PHONE_NUMBER",
            "LOCATION",
            "IP_ADDRESS",
            "US_SSN",
            "US_ITIN",
            "US_PASSPORT",
            "US_DRIVER_LICENSE",
            "CREDIT_CARD",
            "IBAN_CODE",
            "US_BANK_NUMBER",
            "UK_NHS",
            "MEDICAL_LICENSE",
            "FIN/NRIC",
            "AU_TFN",
        ];
        for name in people {
            assert!(has(name), "{name}");
        }
        for name in ["JWT_TOKEN", "AMAZON_AWS_ACCESS_KEY_ID", "PROFANITY", "US_LICENSE_PLATE"] {
            assert!(!has(name), "{name}");
        }
        // Whatever is looked for without being asked is a person's or a secret.
        let secrets = RuleSelection::sets(&catalogue, ["SECRETS"]).unwrap();
        let stray = RuleSelection::defaults(&catalogue).iter().find(|id| !set.has(*id) && !secrets.has(*id));
        assert_eq!(stray.and_then(|id| catalogue.rule(id)).map(Rule::name), None);
    }

    #[test]
    fn every_region_of_a_rule_is_in_a_set() {
        for rule in Catalogue::builtin().unwrap().rules().filter(|rule| !rule.region().is_empty()) {
            let known = SETS.iter().any(|set| matches!(set.of, SetMember::Regions(_)) && set.has(rule));
            assert!(known, "{} of {}", rule.name(), rule.region());
        }
    }

    #[test]
    fn names_that_no_set_has_are_pointed_at_not_shown() {
        let catalogue = Catalogue::builtin().unwrap();
        let error = RuleSelection::sets(&catalogue, ["US", "narnia"]).unwrap_err();
        assert_eq!(error.index, 1);
        let said = error.to_string();
        assert!(said.starts_with("name 2 ") && said.contains("NORTH_AMERICA") && !said.contains("narnia"));
    }
}
