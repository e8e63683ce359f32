//! Keys, and how long they last.

use crate::base::listing::Order;
use crate::vault::VaultError;
use crate::vault::items::{ItemFilter, Items, ListItemsRequest, ListedItem, OrderBy};

/// Keys that are shown, at the most.
pub(super) const MOST: usize = 500;

/// Keys and secrets of the vault, those first that are rotated next.
///
/// # Errors
/// What the store says.
pub(super) async fn keys(items: &Items) -> Result<Vec<ListedItem>, VaultError> {
    let (filter, after) = (ItemFilter::default(), None);
    let wanted = ListItemsRequest {
        filter,
        after,
        order: Order::Ascending,
        order_by: OrderBy::NextRotation,
        size: MOST,
    };
    let mut keys = items.list(&wanted).await?.items;
    // Those without a next rotation come last.
    keys.sort_by_key(|key| (key.next_rotation.is_none(), key.next_rotation));
    Ok(keys)
}
