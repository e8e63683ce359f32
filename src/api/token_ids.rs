//! Which row is that of a token whose id is known: rows of tokens are named by a hash of what nobody keeps.

use crate::api::token_info::TokenError;
use crate::api::token_record::{KIND, StoredToken};
use crate::base::id::TokenId;
use crate::store::{Change, Key, NewRow, Pages, Precondition, Records, Row, StoreError, update};

/// Rows by the token's id: the id of the token's own row.
const IDS: &str = "api.token.id";

/// Notes which row is the token's. Before that row is there, so that there is none that cannot be found so.
pub(super) async fn note(records: &dyn Records, id: &TokenId, row: &Key) -> Result<(), StoreError> {
    let entry = NewRow::lasting(row.id().as_bytes().to_vec());
    match records.put_if(&Key::new(IDS, id.to_string()), Precondition::Absent, entry).await {
        Ok(_) | Err(StoreError::Conflict) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Notes that another row is the token's now, in place of the one `from`.
///
/// # Errors
/// [`StoreError::Conflict`]: another row than `from` was, so that somebody else has made one meanwhile.
pub(super) async fn renote(
    records: &dyn Records,
    id: &TokenId,
    from: &Key,
    row: &Key,
) -> Result<(), StoreError> {
    update(records, &Key::new(IDS, id.to_string()), |noted| {
        if noted.is_some_and(|noted| noted.entry.value != from.id().as_bytes()) {
            return Err(StoreError::Conflict);
        }
        Ok(Change::Put(NewRow::lasting(row.id().as_bytes().to_vec()), ()))
    })
    .await
}

/// The row of the token that was made to take the place of this one, if there is one that was not noted.
pub(super) async fn successor(records: &dyn Records, of: &Key) -> Result<Option<Key>, TokenError> {
    let mut pages = Pages::all(records, KIND);
    while let Some(page) = pages.next().await? {
        for row in page {
            if StoredToken::read(&row).is_ok_and(|stored| stored.before.as_deref() == Some(of.id())) {
                return Ok(Some(row.key));
            }
        }
    }
    Ok(None)
}

/// The row that was noted as that of the token of this id, which costs little whoever asks.
pub(super) async fn noted(records: &dyn Records, id: &TokenId) -> Result<Option<Row>, StoreError> {
    let Some(noted) = records.get(&Key::new(IDS, id.to_string())).await? else { return Ok(None) };
    match String::from_utf8(noted.entry.value) {
        Ok(name) => records.get(&Key::new(KIND, name)).await,
        Err(_) => Ok(None),
    }
}

/// The row of the token of this id. Those of versions before were not noted: then all are read, once.
///
/// # Errors
/// [`TokenError::Unknown`]; what the store says.
pub(super) async fn find(records: &dyn Records, id: &TokenId) -> Result<(Row, StoredToken), TokenError> {
    let wanted = id.to_string();
    if let Some(row) = noted(records, id).await? {
        let stored = StoredToken::read(&row)?;
        if stored.id == wanted {
            return Ok((row, stored));
        }
    }
    let mut pages = Pages::all(records, KIND);
    while let Some(page) = pages.next().await? {
        for row in page {
            let stored = StoredToken::read(&row)?;
            if stored.id == wanted {
                note(records, id, &row.key).await?;
                return Ok((row, stored));
            }
        }
    }
    Err(TokenError::Unknown)
}
