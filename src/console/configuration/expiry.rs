//! Certificates and keys, and how long they last.

use std::path::Path;

use crate::base::clock::Timestamp;
use crate::base::listing::Order;
use crate::config::settings::Settings;
use crate::gateway::listen::CertificateSubject;
use crate::vault::VaultError;
use crate::vault::items::{Filter, Items, ListRequest, Listed, OrderBy};

const DAY: u64 = 24 * 3600 * 1000;

/// What has fewer days left wants a look.
pub(super) const SOON: i64 = 30;

/// Keys that are shown, at the most.
pub(super) const MOST: usize = 500;

/// Whole days from one time to another; negative where it has passed.
pub(super) fn days(from: Timestamp, to: Timestamp) -> i64 {
    let (from, to) = (from.as_millis(), to.as_millis());
    let whole = |millis: u64| i64::try_from(millis / DAY).unwrap_or(i64::MAX);
    if to >= from { whole(to - from) } else { -whole(from - to) - 1 }
}

/// A certificate of a listener's.
pub(super) struct Certificate {
    /// The listener's address.
    pub(super) at: String,
    /// Its file.
    pub(super) file: String,
    /// Its names and its end; `None` where it cannot be read.
    pub(super) subject: Option<CertificateSubject>,
}

/// The certificates that listeners show, as the files are now. Reads them.
pub(super) fn certificates(settings: &Settings) -> Vec<Certificate> {
    let of = |at: &str, file: &Path| Certificate {
        at: at.to_owned(),
        file: file.display().to_string(),
        subject: CertificateSubject::read(file).ok(),
    };
    let all = settings.tls().flat_map(|(address, tls)| {
        let files = std::iter::once(&tls.certificate).chain(tls.sni.iter().map(|one| &one.certificate));
        files.map(move |file| of(&address.to_string(), file))
    });
    all.collect()
}

/// Keys and secrets of the vault, those first that are rotated next.
///
/// # Errors
/// What the store says.
pub(super) async fn keys(items: &Items) -> Result<Vec<Listed>, VaultError> {
    let (filter, after) = (Filter::default(), None);
    let wanted =
        ListRequest { filter, after, order: Order::Ascending, order_by: OrderBy::NextRotation, size: MOST };
    let mut keys = items.list(&wanted).await?.items;
    // Those without a next rotation come last.
    keys.sort_by_key(|key| (key.next_rotation.is_none(), key.next_rotation));
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_whole() {
        let at = Timestamp::from_millis;
        for (from, to, expected) in
            [(0, DAY, 1), (0, DAY - 1, 0), (0, 0, 0), (1, 0, -1), (DAY, 0, -2), (0, 400 * DAY, 400)]
        {
            assert_eq!(days(at(from), at(to)), expected, "{from} {to}");
        }
    }
}
