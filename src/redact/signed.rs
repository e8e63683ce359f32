//! Signed blocks: what a model thought, with its provider's signature, must go back as it came. Where a value in it was
//! redacted beyond undoing, the caller gets a signature that is ours: the block's own text, sealed, and the provider's
//! signature behind it. It is opened on its way back.
//!
//! What is ours is base64 of whole groups of three bytes, so that with the provider's behind it, it is base64 still.

use data_encoding::BASE64_NOPAD;

use crate::crypto::aead::AeadKey;
use crate::redact::keys::Keys;

/// What ours begins with.
const MAGIC: &[u8; 6] = b"PcSig\x01";

/// The same as base64 text.
const BEGIN: &str = "UGNTaWcB";

/// The length in front of what is sealed, in bytes.
const LENGTH: usize = 4;

/// The largest text that is sealed, in bytes: it goes out and comes back with every turn.
const MOST: usize = 1 << 20;

/// What seals and opens the texts of signed blocks, for one scope.
#[derive(Clone, Copy)]
pub struct BlockSeal<'k> {
    keys: &'k Keys,
}

/// A signature of ours, taken apart.
pub struct OpenedSignature<'s> {
    /// The text that was sealed.
    pub text: String,
    /// The provider's own signature.
    pub signature: &'s str,
}

/// Whether any string in these bytes may be a signature of ours.
pub fn may_have_seals(body: &[u8]) -> bool {
    memchr::memmem::find(body, BEGIN.as_bytes()).is_some()
}

impl<'k> BlockSeal<'k> {
    /// Under these keys; without one for encryption nothing is sealed.
    pub fn new(keys: &'k Keys) -> Self {
        Self { keys }
    }

    /// A signature of ours: `text`, then the provider's. `None` where there is no key, or the text is too long.
    pub fn seal(&self, text: &str, signature: &str) -> Option<String> {
        if text.len() > MOST {
            return None;
        }
        let sealed = self.key(signature)?.seal(signature.as_bytes(), text.as_bytes()).ok()?;
        let length = u32::try_from(sealed.len()).ok()?;
        let mut ours = [MAGIC.as_slice(), &length.to_be_bytes(), &sealed].concat();
        ours.resize(ours.len().next_multiple_of(3), 0);
        Some(BASE64_NOPAD.encode(&ours) + signature)
    }

    /// Takes a signature of ours apart. `None` for any other, and for what was sealed elsewhere or changed since.
    pub fn open<'s>(&self, signature: &'s str) -> Option<OpenedSignature<'s>> {
        let head = signature.get(..16).filter(|head| head.starts_with(BEGIN))?;
        let head = BASE64_NOPAD.decode(&standard(head)).ok()?;
        let length = u32::from_be_bytes(head.get(MAGIC.len()..MAGIC.len() + LENGTH)?.try_into().ok()?);
        let length = usize::try_from(length).ok()?;
        let whole = (MAGIC.len() + LENGTH).checked_add(length)?.checked_next_multiple_of(3)?;
        let (ours, theirs) = signature.split_at_checked(whole.checked_div(3)?.checked_mul(4)?)?;
        let ours = BASE64_NOPAD.decode(&standard(ours)).ok()?;
        let sealed = ours.get(MAGIC.len() + LENGTH..)?.get(..length)?;
        let theirs_standard = String::from_utf8(standard(theirs)).ok()?;
        // A client that reads bytes may write them in the other alphabet.
        let opened = [theirs, theirs_standard.as_str()]
            .iter()
            .find_map(|theirs| self.key(theirs)?.open(theirs.as_bytes(), sealed).ok())?;
        let text = String::from_utf8(opened.expose().clone()).ok()?;
        Some(OpenedSignature { text, signature: theirs })
    }

    /// A key of its own for each signature: random nonces bound what one may seal.
    fn key(&self, signature: &str) -> Option<AeadKey> {
        let Keys { fpe, tenant, scope, .. } = self.keys;
        let parts = [b"signed block".as_slice(), tenant.as_bytes(), scope.as_part().unwrap_or_default()];
        let key = fpe.as_ref()?.prf(&[parts[0], parts[1], parts[2], signature.as_bytes()]);
        AeadKey::new(&key).ok()
    }
}

/// Base64 in the alphabet of RFC 4648 section 4.
fn standard(text: &str) -> Vec<u8> {
    let standard = |byte| match byte {
        b'-' => b'+',
        b'_' => b'/',
        byte => byte,
    };
    text.bytes().map(standard).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::SurrogateScope;
    use crate::redact::fixture::keys;

    const THEIRS: &str = "Thm/2AAxWWtOEvMoeBBJ8yrkFSkNjuxu/AA=";

    #[test]
    fn what_was_sealed_is_opened_in_either_alphabet() {
        let keys = keys();
        let seal = BlockSeal::new(&keys);
        for text in ["", "x", "xy", "User mail is jane@x.example – é", &"long ".repeat(1000)] {
            let ours = seal.seal(text, THEIRS).unwrap();
            assert!(ours.starts_with(BEGIN) && ours.ends_with(THEIRS) && may_have_seals(ours.as_bytes()));
            assert!(data_encoding::BASE64.decode(ours.as_bytes()).is_ok(), "base64 still");
            assert!(text.len() < 4 || !ours.contains(text));
            for back in [ours.clone(), ours.replace('+', "-").replace('/', "_")] {
                let opened = seal.open(&back).unwrap();
                assert_eq!(opened.text, text);
                assert!(back.ends_with(opened.signature) && opened.signature.len() == THEIRS.len());
            }
        }
    }

    #[test]
    fn nothing_else_is() {
        let keys = keys();
        let ours = BlockSeal::new(&keys).seal("text", THEIRS).unwrap();
        let other =
            Keys { scope: SurrogateScope::of(keys.fpe.as_ref().unwrap(), &[b"other"]), ..keys.clone() };
        let tenant = Keys { tenant: "other".into(), ..keys.clone() };
        assert!(
            BlockSeal::new(&other).open(&ours).is_none() && BlockSeal::new(&tenant).open(&ours).is_none()
        );
        let seal = BlockSeal::new(&keys);
        let changed = ours.replace("AA=", "AB=");
        let short = ours.get(..20).unwrap();
        for text in ["", THEIRS, BEGIN, "UGNTaWcB////////", "UGNTaWcBAAAAAé", short, &changed] {
            assert!(seal.open(text).is_none(), "{text}");
        }
        assert!(BlockSeal::new(&Keys::default()).seal("text", THEIRS).is_none(), "no key");
        assert!(seal.seal(&"x".repeat(MOST + 1), THEIRS).is_none());
    }
}
