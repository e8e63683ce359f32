//! [`JwsAlgorithm`]: the `alg` values of RFC 7518 section 3.1 and RFC 8037 section 3.1 that sign.

/// How a token is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JwsAlgorithm {
    /// ECDSA on P-256 with SHA-256.
    Es256,
    /// ECDSA on P-384 with SHA-384.
    Es384,
    /// ECDSA on P-521 with SHA-512.
    Es512,
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    Rs256,
    /// RSASSA-PKCS1-v1_5 with SHA-384.
    Rs384,
    /// RSASSA-PKCS1-v1_5 with SHA-512.
    Rs512,
    /// RSASSA-PSS with SHA-256.
    Ps256,
    /// RSASSA-PSS with SHA-384.
    Ps384,
    /// RSASSA-PSS with SHA-512.
    Ps512,
    /// Ed25519.
    EdDsa,
    /// HMAC with SHA-256.
    Hs256,
    /// HMAC with SHA-384.
    Hs384,
    /// HMAC with SHA-512.
    Hs512,
}

/// What kind of key an algorithm takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// On an elliptic curve; so many bytes a coordinate.
    Ec(usize),
    /// RSA.
    Rsa,
    /// Ed25519.
    Okp,
    /// A secret that both sides have; at least so many bytes (RFC 7518 section 3.2).
    Secret(usize),
}

impl JwsAlgorithm {
    /// Every one.
    pub const ALL: [Self; 13] = [
        Self::Es256,
        Self::Es384,
        Self::Es512,
        Self::Rs256,
        Self::Rs384,
        Self::Rs512,
        Self::Ps256,
        Self::Ps384,
        Self::Ps512,
        Self::EdDsa,
        Self::Hs256,
        Self::Hs384,
        Self::Hs512,
    ];

    /// Its `alg` value.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Es256 => "ES256",
            Self::Es384 => "ES384",
            Self::Es512 => "ES512",
            Self::Rs256 => "RS256",
            Self::Rs384 => "RS384",
            Self::Rs512 => "RS512",
            Self::Ps256 => "PS256",
            Self::Ps384 => "PS384",
            Self::Ps512 => "PS512",
            Self::EdDsa => "EdDSA",
            Self::Hs256 => "HS256",
            Self::Hs384 => "HS384",
            Self::Hs512 => "HS512",
        }
    }

    /// The algorithm of this `alg` value.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|algorithm| algorithm.name() == name)
    }

    /// The keys it takes.
    pub const fn key(self) -> KeyKind {
        match self {
            Self::Es256 => KeyKind::Ec(32),
            Self::Es384 => KeyKind::Ec(48),
            Self::Es512 => KeyKind::Ec(66),
            Self::Rs256 | Self::Rs384 | Self::Rs512 | Self::Ps256 | Self::Ps384 | Self::Ps512 => KeyKind::Rsa,
            Self::EdDsa => KeyKind::Okp,
            Self::Hs256 => KeyKind::Secret(32),
            Self::Hs384 => KeyKind::Secret(48),
            Self::Hs512 => KeyKind::Secret(64),
        }
    }

    /// Its `crv` value, where keys lie on a curve.
    pub const fn curve(self) -> Option<&'static str> {
        match self {
            Self::Es256 => Some("P-256"),
            Self::Es384 => Some("P-384"),
            Self::Es512 => Some("P-521"),
            Self::EdDsa => Some("Ed25519"),
            _ => None,
        }
    }
}
