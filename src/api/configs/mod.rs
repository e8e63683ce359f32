//! Stored redact configs.

mod method;

pub use method::{
    FpeAlphabet, FpeTweak, HashSpec, HashType, MaskingType, MethodSpec, PartialMasking, Written,
};
