//! Upstreams of a configuration, built from the parts. What is known of their peers outlives a reload.

use std::sync::Arc;

use crate::app::credentials;
use crate::app::error::AppError;
use crate::app::services::Services;
use crate::config::settings::{Scheme, Upstream as UpstreamSetting};
use crate::gateway::upstream::{
    Authorities, AwsSigner, AwsSignerParts, Breaker, BreakerLimits, ConnectOptions, PeerHealth, PoolTls,
    Target, Upstream, UpstreamParts, watch,
};
use crate::net::SystemResolver;

/// Builds a pool; what it has to sign may have bodies of at most `collected` bytes. Nobody but its owner knows of it until [`begin`].
///
/// # Errors
/// A pool that cannot be built as configured; which, and why.
pub(super) fn upstream(
    name: &str,
    setting: &UpstreamSetting,
    collected: usize,
    parts: &Services,
) -> Result<Arc<Upstream>, AppError> {
    let wrong = |why: &str| AppError::Route(format!("to upstream {name}"), why.to_owned());
    let dialing = dialing(setting).map_err(wrong)?;
    let made = UpstreamParts {
        name: name.to_owned(),
        targets: setting
            .peers
            .iter()
            .map(|peer| {
                let target = Target { host: peer.host().to_owned(), port: peer.port() };
                (target, health(name, &format!("{}:{}", peer.host(), peer.port()), parts))
            })
            .collect(),
        base: setting.base.as_ref().map(|base| base.to_string()).unwrap_or_default(),
        dialing,
        credentials: credentials::of(setting, &parts.items).map_err(wrong)?,
        signer: signer(setting, collected),
        repeats: setting.repeat,
        ejection: setting.outliers,
        breaker: breaker(name, setting.breaker, parts),
        before: parts.pools.get(name).and_then(|before| before.upgrade()),
        resolver: Arc::new(SystemResolver::Configured),
        sockets: parts.sockets.clone(),
        metrics: parts.metrics.upstream(name),
        clock: Arc::clone(&parts.opened.clock),
    };
    Upstream::new(made).map(Arc::new).map_err(wrong)
}

/// A pool is in use from now on: it is looked at, and its peers are asked how they are as long as there is it.
pub(super) fn begin(name: &str, setting: &UpstreamSetting, upstream: &Arc<Upstream>, parts: &Services) {
    parts.pools.insert(name.to_owned(), Arc::downgrade(upstream));
    parts.breakers.insert(name.to_owned(), Arc::clone(upstream.breaker()));
    // A request of before may keep its pool for long, but no longer what is thought of the peers.
    if let Some((_, before)) = parts.checks.remove(name) {
        before.abort();
    }
    match &setting.health {
        Some(probe) => {
            let check = parts.opened.io.spawn(watch(Arc::downgrade(upstream), probe.clone()));
            parts.checks.insert(name.to_owned(), check.abort_handle());
        }
        None => upstream.unchecked(),
    }
}

fn dialing(setting: &UpstreamSetting) -> Result<ConnectOptions, &'static str> {
    let secure = setting.peers.first().is_some_and(|peer| peer.scheme() == Scheme::Https);
    let tls = setting.tls();
    let authorities = match &tls.ca {
        Some(path) => Some(Authorities::read(path)?),
        None => None,
    };
    let tls = secure.then(|| PoolTls {
        verify: *tls.verify,
        sni: tls.sni.as_ref().map(|sni| sni.to_string()),
        authorities,
    });
    Ok(ConnectOptions { tls, http: setting.http, times: setting.timeouts })
}

/// What signs requests with the gateway's keys of AWS, if there are any.
fn signer(setting: &UpstreamSetting, collected: usize) -> Option<AwsSigner> {
    let aws = setting.aws.as_ref().filter(|aws| aws.access_key.is_some() && aws.secret_key.is_some())?;
    Some(AwsSigner::new(AwsSignerParts {
        service: aws.service.to_string(),
        region: aws.region.as_ref().map(|region| region.to_string()),
        unsigned: !aws.implied,
        collected,
    }))
}

/// What is known of a peer.
fn health(upstream: &str, peer: &str, parts: &Services) -> Arc<PeerHealth> {
    Arc::clone(&parts.health.entry((upstream.to_owned(), peer.to_owned())).or_default())
}

/// The breaker of before, if its limits are the same.
fn breaker(name: &str, limits: Option<BreakerLimits>, parts: &Services) -> Arc<Breaker> {
    let limits = limits.unwrap_or(BreakerLimits::NONE);
    match parts.breakers.get(name) {
        Some(kept) if *kept.limits() == limits => Arc::clone(&kept),
        _ => Arc::new(Breaker::new(limits, Arc::clone(&parts.opened.clock))),
    }
}
