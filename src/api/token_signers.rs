//! Keys of AWS for tokens. A client that signs its requests as AWS has it (Signature Version 4) shows no secret, so a hash of
//! one proves nothing: what it signs with is made from the row of the token's secret and a key of the vault's, and can be made
//! again by nobody who has less than both. It ends where that secret ends: revoked, expired, or rotated and past its grace.

use std::sync::Arc;

use data_encoding::BASE64URL_NOPAD;

use crate::api::token::{Principal, TokenError, TokenInfo, Tokens};
use crate::api::token_ids;
use crate::api::token_record::{KIND, StoredToken};
use crate::base::id::TokenId;
use crate::base::secret::Secret;
use crate::crypto::kdf::MacKey;
use crate::store::Key;

/// Bytes of a secret, which make the 40 characters that those of AWS have.
const SECRET: usize = 30;

/// Secrets of one token that are looked at, each before the other.
const MOST: usize = 8;

/// Makes the secrets. Cheap to clone.
#[derive(Clone, Debug)]
pub struct AwsSecrets(MacKey);

impl AwsSecrets {
    /// With a key of the vault's that serves nothing else.
    pub fn new(key: &Secret<[u8; 32]>) -> Self {
        Self(MacKey::new(key.expose()))
    }

    /// What goes with the secret of this row. Neither part can have the NUL between them.
    fn of(&self, id: &TokenId, row: &Key) -> Secret<String> {
        let digest = self.0.digest(&[id.to_string().as_bytes(), b"\0", row.id().as_bytes()]);
        Secret::new(BASE64URL_NOPAD.encode(digest.get(..SECRET).unwrap_or_default()))
    }
}

/// What the holder of a token may sign with: its secret, and those before it that are accepted yet. Proves nothing by itself.
pub struct TokenSigners {
    signers: Vec<(Secret<String>, Arc<TokenInfo>)>,
}

impl Tokens {
    /// The access key of a token: its id, and the secret that goes with the token's own, to be given to its holder.
    ///
    /// # Errors
    /// [`TokenError::Unknown`], [`TokenError::Expired`] and [`TokenError::Revoked`]; what the store says.
    pub async fn aws_secret(&self, id: &TokenId, secrets: &AwsSecrets) -> Result<Secret<String>, TokenError> {
        let (row, stored) = token_ids::find(self.records.as_ref(), id).await?;
        stored.info()?.usable(self.clock.now())?;
        Ok(secrets.of(id, &row.key))
    }

    /// What whoever says to be the holder of a token may have signed with.
    ///
    /// # Errors
    /// [`TokenError::Unknown`] where there is none that is good; what the store says.
    pub async fn signers(&self, id: &TokenId, secrets: &AwsSecrets) -> Result<TokenSigners, TokenError> {
        let now = self.clock.now();
        let mut next = token_ids::noted(self.records.as_ref(), id).await?;
        let mut signers = Vec::new();
        for _ in 0..MOST {
            let Some(row) = next.take() else { break };
            let stored = StoredToken::read(&row)?;
            let (before, secret) = (stored.before.clone(), secrets.of(id, &row.key));
            let info = stored.info()?;
            if info.id == *id && info.usable(now).is_ok() {
                signers.push((secret, Arc::new(info)));
            }
            if let Some(before) = before {
                next = self.records.get(&Key::new(KIND, before)).await?;
            }
        }
        if signers.is_empty() { Err(TokenError::Unknown) } else { Ok(TokenSigners { signers }) }
    }

    /// Who has signed: `is_of` says whether a secret is the one that was signed with.
    pub fn signed(
        &self,
        signers: TokenSigners,
        is_of: impl Fn(&Secret<String>) -> bool,
    ) -> Option<Principal> {
        let (_, info) = signers.signers.into_iter().find(|(secret, _)| is_of(secret))?;
        self.uses.note(&info.id, self.clock.now());
        Some(Principal::of(info))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use super::*;
    use crate::api::token::NewToken;
    use crate::base::clock::{FixedClock, SharedClock, Timestamp};
    use crate::store::{EmbeddedRecords, Records};

    const HOUR: Duration = Duration::from_secs(3600);

    async fn tokens(folder: &Path) -> (Tokens, Arc<FixedClock>) {
        let clock = Arc::new(FixedClock::at(Timestamp::from_millis(1_800_000_000_000)));
        let shared: SharedClock = Arc::clone(&clock) as SharedClock;
        let file = folder.join("portcullis.sqlite");
        let records = EmbeddedRecords::open(&file, Arc::clone(&shared)).await.unwrap();
        (Tokens::new(Arc::new(records) as Arc<dyn Records>, shared), clock)
    }

    fn secrets(key: u8) -> AwsSecrets {
        AwsSecrets::new(&Secret::new([key; 32]))
    }

    /// Whether somebody who signs with this is the holder of the token.
    async fn holds(tokens: &Tokens, id: &TokenId, secret: &Secret<String>) -> bool {
        let Ok(signers) = tokens.signers(id, &secrets(1)).await else { return false };
        tokens.signed(signers, |one| one == secret).is_some_and(|who| who.id() == id)
    }

    #[tokio::test]
    async fn a_secret_lives_as_long_as_the_tokens_own() {
        let folder = tempfile::tempdir().unwrap();
        let (tokens, clock) = tokens(folder.path()).await;
        let named = || NewToken { name: "aws".to_owned(), ..NewToken::default() };
        let (id, token) = tokens.create(named()).await.unwrap();
        let (other, _) = tokens.create(named()).await.unwrap();
        let first = tokens.aws_secret(&id, &secrets(1)).await.unwrap();
        assert_eq!(first.expose().len(), 40);
        assert!(first == tokens.aws_secret(&id, &secrets(1)).await.unwrap(), "it can be made again");
        assert!(first != tokens.aws_secret(&id, &secrets(2)).await.unwrap(), "not without the vault's key");
        assert!(first != tokens.aws_secret(&other, &secrets(1)).await.unwrap());
        assert!(holds(&tokens, &id, &first).await && !holds(&tokens, &other, &first).await);
        assert!(!holds(&tokens, &id, &token).await, "the token's own secret is another");
        tokens.rotate(&id, HOUR).await.unwrap();
        let second = tokens.aws_secret(&id, &secrets(1)).await.unwrap();
        assert!(first != second && holds(&tokens, &id, &first).await && holds(&tokens, &id, &second).await);
        clock.advance(HOUR);
        assert!(!holds(&tokens, &id, &first).await && holds(&tokens, &id, &second).await);
        tokens.revoke(&id).await.unwrap();
        assert!(
            !holds(&tokens, &id, &second).await
                && holds(&tokens, &other, &tokens.aws_secret(&other, &secrets(1)).await.unwrap()).await
        );
        assert!(matches!(tokens.aws_secret(&id, &secrets(1)).await, Err(TokenError::Revoked)));
        let nobody = TokenId::from_random([7; 20]);
        assert!(matches!(tokens.signers(&nobody, &secrets(1)).await, Err(TokenError::Unknown)));
    }
}
