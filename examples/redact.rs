//! What a text becomes on its way to a model, and what the model's answer becomes on its way back: values are encrypted
//! so that they keep their format (FF1), and restored wherever the answer has them.
//!
//! `echo 'mail jane@example.com' | cargo run --no-default-features --features redact --example redact`

use std::error::Error;
use std::io::{Read, Write, stdin, stdout};
use std::sync::Arc;

use portcullis::base::secret::Secret;
use portcullis::crypto::fpe::FpeKey;
use portcullis::detect::{Catalogue, Detector, RuleSelection};
use portcullis::redact::{FindingLimits, Keys, Method, MethodPlan, Redactor};

fn main() -> Result<(), Box<dyn Error>> {
    let rules = Catalogue::builtin()?;
    let detector = Detector::new(&rules, &RuleSelection::defaults(&rules))?;
    let redactor = Redactor::new(detector, MethodPlan::all(Method::Encrypt));
    // Of an example: yours comes from where your secrets are.
    let key = Arc::new(FpeKey::new(Secret::new(vec![7; 32]))?);
    let keys = Keys { fpe: Some(Arc::clone(&key)), tenant: "example".into(), ..Keys::default() };

    let mut text = String::new();
    stdin().read_to_string(&mut text)?;
    let (redacted, context) = redactor.text(&text, &keys, FindingLimits::default())?;
    let mut out = stdout().lock();
    write!(out, "{}", redacted.value())?;

    let answer = format!("You wrote: {}", redacted.value());
    write!(out, "{}", context.restorer(key).text(&answer)?)?;
    Ok(())
}
