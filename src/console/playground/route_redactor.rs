//! [`RouteRedactors`]: redactors of the configuration's routes, as the gateway builds them.

use crate::config::Config;
use crate::config::settings::Route;
use crate::detect::Catalogue;
use crate::redact::Redactor;

/// What looks through the requests along a route.
pub struct RouteRedactor {
    /// Redacts them.
    pub redactor: Redactor,
    /// The rules, with the route's own thresholds.
    pub catalogue: Catalogue,
}

/// Builds that of a route; `None` where requests pass as they are, and why where it cannot be built.
pub type RouteRedactors = fn(&Config, &Route) -> Result<Option<RouteRedactor>, String>;
