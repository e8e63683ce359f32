//! What the tests of this part share, and those of parts above it that need a redactor: a key, and
//! redactors with the default rules.

use std::sync::{Arc, OnceLock};

use bytes::BytesMut;

use crate::base::secret::Secret;
use crate::crypto::fpe::FpeKey;
use crate::detect::{Catalogue, Detector, RuleSelection};
use crate::edit::spliced;
use crate::redact::{
    AnswerTreatment, FindingLimits, Keys, Method, MethodPlan, Redactor, Report, SurrogateMap,
};
use crate::stream::json::PathSet;
use crate::stream::{Editor, Rewriter};

/// A key, for the tenant `acme`.
pub(super) fn keys() -> Keys {
    let key = FpeKey::new(Secret::new(vec![7; 32])).unwrap();
    Keys { fpe: Some(Arc::new(key)), tenant: "acme".into(), ..Keys::default() }
}

/// The default rules, built once.
pub(super) fn detector() -> Detector {
    static BUILT: OnceLock<Detector> = OnceLock::new();
    let build = || {
        let catalogue = Catalogue::builtin().unwrap();
        Detector::new(&catalogue, &RuleSelection::defaults(&catalogue)).unwrap()
    };
    BUILT.get_or_init(build).clone()
}

/// Everything found becomes what `method` says.
pub(crate) fn redactor(method: Method) -> Redactor {
    Redactor::new(detector(), MethodPlan::all(method))
}

/// What `rewriter` makes of a body.
pub(super) fn passed(rewriter: &mut dyn Rewriter, body: &str) -> String {
    let mut out = BytesMut::new();
    rewriter.write(body.as_bytes(), &mut out).unwrap();
    rewriter.finish(&mut out).unwrap();
    String::from_utf8(out.to_vec()).unwrap()
}

/// A document redacted by the default rules, what was found in it, and the way back.
pub(super) fn document(doc: &str, which: &PathSet) -> (String, Report, SurrogateMap) {
    let redactor = redactor(Method::Encrypt);
    let (redacted, undo) =
        redactor.document(doc.as_bytes(), which, &keys(), FindingLimits::default()).unwrap();
    let report = redacted.report().clone();
    (String::from_utf8(redacted.into_value()).unwrap(), report, undo)
}

/// An answer in which what `undo` knows is restored.
pub(super) fn restored(text: &str, undo: SurrogateMap) -> String {
    let mut answer = redactor(Method::Encrypt).answer(AnswerTreatment::Restore(Arc::new(undo)));
    let mut edits = Vec::new();
    answer.feed(text, &mut edits).unwrap();
    answer.end(&mut edits).unwrap();
    String::from_utf8(spliced(text.as_bytes(), &edits)).unwrap()
}

/// A document in which all that was found is replaced by the names of rules.
pub(super) fn masked(doc: &str) -> String {
    let (which, keys) = (PathSet::everything(), Keys::default());
    let done = redactor(Method::Replace).document(doc.as_bytes(), &which, &keys, FindingLimits::default());
    String::from_utf8(done.unwrap().0.into_value()).unwrap()
}
