//! The files of a configuration that only their users can judge: certificates, keys and authorities.

use crate::app::error::AppError;
use crate::app::tls_files::tls_files;
use crate::base::clock::{Clock, SystemClock};
use crate::config::{Config, Problem, Problems, shown_certificates};
use crate::gateway::listen::ListenerTls;
use crate::gateway::upstream::Authorities;

/// That they can be used; `name` is the configuration's file.
///
/// # Errors
/// All of those that cannot.
pub fn check_files(config: &Config, name: &str) -> Result<(), AppError> {
    // A key that is not here is among what is missing.
    let here = config.tls().map(|(_, tls)| tls_files(tls));
    let here = here.filter(|files| files.keys().all(|key| key.exists()));
    let certificates =
        here.filter_map(|files| ListenerTls::load(&files).err().map(|error| error.to_string()));
    let authorities = config.upstreams.values().filter_map(|upstream| {
        let ca = upstream.tls().ca?;
        Authorities::read(&ca).err().map(|why| format!("{}: {why}", ca.display()))
    });
    let said = |message| Problem { file: name.to_owned(), line: 0, column: 0, message, hint: None };
    match Problems::new(certificates.chain(authorities).map(said).collect()) {
        Some(problems) => Err(problems.into()),
        None => Ok(()),
    }
}

/// What may not be meant of files that can be used: certificates that have ended, or end soon.
pub fn file_doubts(config: &Config) -> Vec<String> {
    let now = SystemClock.now();
    shown_certificates(config).iter().filter_map(|certificate| certificate.doubt(now)).collect()
}
