//! Surrogates: values of the same format that stand for found values. Deterministic for a key, a tenant, a scope and a
//! rule, so that a value looks the same in every turn of a conversation. Whoever may have values encrypted can try them
//! until one gives a surrogate that it knows; a quota bounds how many.
//!
//! | file | noun |
//! |---|---|
//! | `cipher` | keyed permutations of strings and tuples |
//! | `letters` | letters and digits where they stand |
//! | `number` | cards, national ids, accounts, addresses of machines |
//! | `phone` | phone numbers, of nobody and any |
//! | `unassigned` | beginnings of phone numbers that are assigned to nobody |
//! | `word` | e-mail addresses, URLs, keys, and all other text |
//! | `naming` | names of persons, places and organisations, word by word |
//! | `invented` | words for names that no dictionary has |
//! | `kept` | words within names that stay |
//! | `plain_letters` | Latin letters in ASCII, for places that take nothing else |

mod cipher;
mod invented;
mod kept;
mod letters;
mod naming;
mod number;
mod phone;
mod plain_letters;
mod unassigned;
mod word;

use std::collections::HashMap;
use std::sync::Arc;

use data_encoding::HEXLOWER;

use crate::base::quota::Quota;
use crate::crypto::fpe::FpeKey;
use crate::detect::{Format, Rule, RuleId};
use crate::redact::alphabet::Alphabet;
use crate::redact::dictionary::Permutations;
use crate::redact::error::RedactError;
use crate::redact::keys::{Keys, SurrogateScope};
use crate::redact::method::{Fpe, Method};
use crate::redact::style::{NameKind, Style};

use cipher::{Cipher, ValuePart};
use naming::Naming;
pub(super) use naming::are_names;
pub(super) use plain_letters::in_plain_letters;

/// The longest surrogate that is looked for by its print, in bytes.
pub(super) const LONGEST: usize = 255;

/// Tries before a value gets a surrogate that has no format: only layouts of a few values get there.
const ATTEMPTS: u32 = 32;

/// Tries before a phone number gets a surrogate that may be somebody's: of short ones few are nobody's, and a request may
/// have more than those.
const OF_NOBODY: u32 = 16;

/// The purpose of digests; no tweak's is so long.
const DIGEST: &[u8] = b"digest of a value";

/// Makes surrogates for one tenant; keeps the tweaks it has derived.
pub(super) struct Surrogates {
    key: Option<Arc<FpeKey>>,
    tenant: Arc<str>,
    scope: SurrogateScope,
    quota: Quota,
    tweaks: HashMap<(RuleId, u32), [u8; 16]>,
    permutations: Permutations,
}

/// What a surrogate is wanted for: the rule that found its value, and how it is to look.
#[derive(Clone, Copy)]
pub(super) struct SurrogateRequest<'r> {
    pub(super) id: RuleId,
    pub(super) rule: &'r Rule,
    pub(super) style: Style,
}

impl Surrogates {
    pub(super) fn new(keys: &Keys) -> Self {
        let Keys { fpe, tenant, scope, quota, .. } = keys.clone();
        Self { key: fpe, tenant, scope, quota, tweaks: HashMap::new(), permutations: Permutations::default() }
    }

    /// Counts a value of which something that tells it again is about to be made: a surrogate, or a digest.
    pub(super) fn count(&self, value: &str) -> Result<(), RedactError> {
        Ok(self.quota.take(value)?)
    }

    /// The value's digest, in lower-case hexadecimal: the same for equal values of a rule within a scope.
    fn digest(&self, rule: &Rule, value: &str) -> Result<String, RedactError> {
        let key = self.key.as_ref().ok_or(RedactError::NoKey)?;
        let mut parts = vec![self.tenant.as_bytes()];
        parts.extend(self.scope.as_part());
        parts.extend([rule.name().as_bytes(), DIGEST, value.as_bytes()]);
        Ok(HEXLOWER.encode(&key.prf(&parts)))
    }

    /// The replacement of a method that needs no key. A digest tells its value again as a surrogate does.
    pub(super) fn plain(
        &self,
        method: &Method,
        rule: &Rule,
        value: &str,
    ) -> Result<Option<String>, RedactError> {
        if matches!(method, Method::Hash(_) | Method::Digest) {
            self.count(value)?;
        }
        Ok(match method {
            Method::Mask => Some("*".repeat(value.chars().count())),
            Method::Replace => Some(format!("<{}>", rule.name())),
            Method::DetectOnly | Method::Block => Some(value.to_owned()),
            Method::Digest => Some(self.digest(rule, value)?),
            Method::Text(text) => Some(text.to_string()),
            Method::Partial(partial) => Some(partial.apply(value)),
            Method::Hash(salted) => Some(salted.apply(value)),
            Method::Encrypt | Method::Fpe(_) => None,
        })
    }

    /// The tweak of a rule for one purpose.
    fn tweak(&self, key: &FpeKey, rule: &Rule, purpose: &[u8]) -> [u8; 16] {
        let mut parts = vec![self.tenant.as_bytes()];
        parts.extend(self.scope.as_part());
        parts.extend([rule.name().as_bytes(), purpose]);
        key.prf(&parts).first_chunk().copied().unwrap_or_default()
    }

    /// What stood for a phone number in builds before those that give it one of nobody; `None` for all else.
    pub(super) fn before(
        &self,
        wanted: SurrogateRequest<'_>,
        value: &str,
    ) -> Result<Option<String>, RedactError> {
        let SurrogateRequest { rule, style, .. } = wanted;
        let (Style::Lifelike, Format::Phone, Some(key)) = (style, rule.format(), &self.key) else {
            return Ok(None);
        };
        let tweak = self.tweak(key, rule, &0_u32.to_be_bytes());
        phone::any(&Cipher { key, tweak }, value)
    }

    /// The value's first surrogate that isn't the value itself and isn't refused.
    pub(super) fn issue(
        &mut self,
        wanted: SurrogateRequest<'_>,
        value: &str,
        refuse: &mut dyn FnMut(&str) -> bool,
    ) -> Result<String, RedactError> {
        let SurrogateRequest { id, rule, style } = wanted;
        let key = self.key.clone().ok_or(RedactError::NoKey)?;
        self.count(value)?;
        let mut attempt: u32 = 0;
        loop {
            let tweak = match self.tweaks.get(&(id, attempt)) {
                Some(known) => *known,
                None => {
                    let tweak = self.tweak(&key, rule, &attempt.to_be_bytes());
                    self.tweaks.insert((id, attempt), tweak);
                    tweak
                }
            };
            let cipher = Cipher { key: &key, tweak };
            let lifelike = match style {
                Style::Lifelike if attempt < ATTEMPTS => self.lifelike(&cipher, rule, attempt, value)?,
                _ => None,
            };
            let surrogate = match lifelike {
                Some(surrogate) => surrogate,
                None if attempt < ATTEMPTS => shaped(&cipher, rule, value)?,
                None => shapeless(&cipher, value),
            };
            if surrogate != value && !refuse(&surrogate) {
                return Ok(surrogate);
            }
            attempt += 1;
        }
    }
}

impl Surrogates {
    /// What could be the value of somebody else, for those rules whose values have such.
    fn lifelike(
        &mut self,
        cipher: &Cipher<'_>,
        rule: &Rule,
        attempt: u32,
        value: &str,
    ) -> Result<Option<String>, RedactError> {
        match (rule.format(), NameKind::of(rule.family())) {
            (Format::Text, Some(kind)) if value.len() <= LONGEST_NAME => {
                // One tweak for all rules of a kind: a person is the same by whatever rule.
                let mut parts = vec![self.tenant.as_bytes()];
                parts.extend(self.scope.as_part());
                let attempt = attempt.to_be_bytes();
                parts.extend([NAMES, rule.family().name().as_bytes(), &attempt]);
                let tweak = cipher.key.prf(&parts).first_chunk().copied().unwrap_or_default();
                let permutations = &mut self.permutations;
                Ok(Naming { key: cipher.key, tweak, permutations }.surrogate(kind, value))
            }
            (Format::Phone, _) if attempt < OF_NOBODY => phone::unassigned(cipher, value),
            _ => Ok(None),
        }
    }
}

/// The purpose of the tweaks of names; no rule is called so.
const NAMES: &[u8] = b"names of a family";

/// The longest text that is taken for a name, in bytes.
const LONGEST_NAME: usize = 256;

/// How FF1 alone undoes a surrogate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ff1Inverse {
    pub(super) alphabet: Alphabet,
    pub(super) tweak: Vec<u8>,
}

impl Surrogates {
    /// The value with its symbols of the alphabet encrypted; `None` where they are too few for FF1 (SP 800-38G
    /// section 5.2), or more than a context's reader looks through.
    pub(super) fn permute(
        &self,
        fpe: &Fpe,
        rule: &Rule,
        value: &str,
    ) -> Result<Option<(String, Ff1Inverse)>, RedactError> {
        let key = self.key.as_ref().ok_or(RedactError::NoKey)?;
        let alphabet = fpe.alphabet;
        let mut numbers = alphabet.numbers(value);
        if !FpeKey::in_domain(alphabet.radix(), numbers.len()) || value.len() > LONGEST {
            return Ok(None);
        }
        self.count(value)?;
        let tweak = fpe.tweak.clone().unwrap_or_else(|| self.tweak(key, rule, b"fpe").to_vec());
        key.encrypt(alphabet.radix(), &tweak, &mut numbers)?;
        Ok(Some((alphabet.write(value, &numbers), Ff1Inverse { alphabet, tweak })))
    }
}

impl std::fmt::Debug for Surrogates {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Surrogates(..)")
    }
}

/// The longest value that gets a surrogate of its own length, in bytes. What stands for a longer one is short: it is
/// looked for in answers as they stream, and its original is kept for the way back anyway.
const LONGEST_SURROGATE: usize = 4096;

fn shaped(cipher: &Cipher<'_>, rule: &Rule, value: &str) -> Result<String, RedactError> {
    if value.len() > LONGEST_SURROGATE {
        return Ok(word::short(cipher, value, rule.prefix_of(value)));
    }
    let shape = match rule.format() {
        Format::Card => number::card(cipher, value)?,
        Format::Ssn => number::ssn(cipher, value)?,
        Format::Itin => number::itin(cipher, value)?,
        Format::Phone => phone::any(cipher, value)?,
        Format::Iban => number::iban(cipher, value)?,
        Format::Ip => number::ip(cipher, value)?,
        Format::Digits => number::digits(cipher, value)?,
        Format::Email => word::email(cipher, value)?,
        Format::Url => word::url(cipher, value)?,
        Format::Key => word::key(cipher, value, rule.prefix_of(value))?,
        Format::Pem => word::pem(cipher, value),
        Format::Text => match rule.prefix_of(value) {
            "" => None,
            prefix => word::key(cipher, value, prefix)?,
        },
    };
    match shape {
        Some(surrogate) => Ok(surrogate),
        None => word::text(cipher, value),
    }
}

/// Sixteen letters: for values whose layout has no other value left to give.
fn shapeless(cipher: &Cipher<'_>, value: &str) -> String {
    let mut symbols = [0; 16];
    cipher.draws(ValuePart::Beyond, value.as_bytes()).fill(26, &mut symbols);
    symbols.iter().map(|&symbol| char::from(b'a' + symbol as u8)).collect()
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
