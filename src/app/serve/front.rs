//! The listeners of the configuration, and what holds at them.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;

use crate::app::error::AppError;
use crate::app::process::DescriptorShares;
use crate::app::services::Services;
use crate::app::tls_files::tls_files;
use crate::app::{admin, console};
use crate::config::{Config, settings};
use crate::gateway::bounds::RequestBounds;
use crate::gateway::clients::ClientResolver;
use crate::gateway::in_flight::InFlight;
use crate::gateway::listen::{ConnectionLimit, Listen, ListenError, ListenLimits, ListenerTls, Serving};
use crate::gateway::min_rate::ByteRate;
use crate::gateway::proxy::{Gateway, GatewayParts};
use crate::gateway::route::RouteTable;

/// A caller that says nothing for this long in the middle of its request is cut off.
const CALLER_SILENCE: Duration = Duration::from_secs(60);

/// The listeners of the configuration, and of metrics and health.
pub(super) fn servings(
    config: &Config,
    parts: &Arc<Services>,
    routes: &Arc<ArcSwap<RouteTable>>,
) -> Result<Vec<Serving>, AppError> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = config.threads.map_or(processors, usize::from);
    let DescriptorShares { connections, admin: looking, .. } = parts.shares;
    let metrics = Arc::new(parts.metrics.front.clone());
    let mut servings = vec![Serving {
        gateway: gateway(config, parts, Arc::clone(routes), parts.in_flight.clone()),
        listen: config.listen.iter().map(|listen| listen_of(listen)).collect::<Result<_, _>>()?,
        threads,
        connections: ConnectionLimit::new(connections, config.limits.connections_per_address.get()),
        limits: limits(config),
        metrics: Arc::clone(&metrics),
    }];
    if let Some(admin) = &config.admin {
        let tls = listener_tls(admin.tls.as_ref())?;
        let listen = Listen { address: *admin.address, tls, h2c: false, proxied: false, ext_proc: false };
        let table = Arc::new(ArcSwap::from_pointee(admin::table(parts, console::route(config, parts)?)?));
        let gateway = gateway(config, parts, table, InFlight::default());
        let connections = ConnectionLimit::of_admin(looking);
        let limits = limits(config);
        servings.push(Serving { gateway, listen: vec![listen], threads: 1, connections, limits, metrics });
    }
    Ok(servings)
}

/// The gateway over a table of routes.
pub(in crate::app) fn gateway(
    config: &Config,
    parts: &Services,
    routes: Arc<ArcSwap<RouteTable>>,
    in_flight: InFlight,
) -> Gateway {
    let limits = &config.limits;
    let bounds = RequestBounds {
        head: limits.head.bytes(),
        per_request: limits.per_request.bytes(),
        read: CALLER_SILENCE,
        write: CALLER_SILENCE,
        body_rate: ByteRate { per_second: limits.body_rate.bytes(), grace: limits.body_grace.get() },
        underscores: config.clients.underscores,
    };
    Gateway::from(GatewayParts {
        routes,
        budget: parts.budget.clone(),
        bounds,
        clients: Arc::new(clients(config)),
        clock: Arc::clone(&parts.opened.clock),
        in_flight,
        kept: parts.shares.kept,
        tracer: parts.tracer.clone(),
    })
}

fn clients(config: &Config) -> ClientResolver {
    ClientResolver::new(
        config.clients.trusted_peers.iter().map(|peers| peers.0).collect(),
        *config.clients.forwarded,
    )
}

fn limits(config: &Config) -> ListenLimits {
    let limits = &config.limits;
    ListenLimits {
        head: limits.head.bytes(),
        fields: usize::try_from(*limits.headers).unwrap_or(usize::MAX),
        head_time: limits.head_time.get(),
        idle: limits.idle.get(),
        body_rate: ByteRate { per_second: limits.body_rate.bytes(), grace: limits.body_grace.get() },
        write_rate: ByteRate { per_second: limits.body_rate.bytes(), grace: limits.write_stall.get() },
        streams: *limits.streams,
    }
}

fn listen_of(setting: &settings::Listen) -> Result<Listen, ListenError> {
    Ok(Listen {
        address: *setting.address,
        tls: listener_tls(setting.tls.as_ref())?,
        h2c: *setting.h2c,
        proxied: *setting.proxy_protocol,
        ext_proc: *setting.ext_proc,
    })
}

fn listener_tls(setting: Option<&settings::ListenTls>) -> Result<Option<Arc<ListenerTls>>, ListenError> {
    setting.map(|tls| ListenerTls::load(&tls_files(tls)).map(Arc::new)).transpose()
}
