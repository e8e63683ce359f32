//! What the tests of this part share: a key, and redactors with the default rules.

use std::sync::{Arc, OnceLock};

use bytes::BytesMut;

use crate::base::secret::Secret;
use crate::crypto::fpe::FpeKey;
use crate::detect::{Catalogue, Detector, RuleSelection};
use crate::redact::{Keys, Method, MethodPlan, Redactor};
use crate::stream::Rewriter;

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
pub(super) fn redactor(method: Method) -> Redactor {
    Redactor::new(detector(), MethodPlan::all(method))
}

/// What `rewriter` makes of a body.
pub(super) fn passed(rewriter: &mut dyn Rewriter, body: &str) -> String {
    let mut out = BytesMut::new();
    rewriter.write(body.as_bytes(), &mut out).unwrap();
    rewriter.finish(&mut out).unwrap();
    String::from_utf8(out.to_vec()).unwrap()
}
