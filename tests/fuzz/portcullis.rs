//! The parts that take input from outside and only compute, by themselves: with the fuzzer's instruments they build
//! in a minute or two, the whole gateway would not.

#[path = "../../src/base/mod.rs"]
pub mod base;
#[path = "../../src/config/mod.rs"]
pub mod config;
#[path = "../../src/crypto/mod.rs"]
pub mod crypto;
#[path = "../../src/detect/mod.rs"]
pub mod detect;
#[path = "../../src/redact/mod.rs"]
pub mod redact;
#[path = "../../src/stream/mod.rs"]
pub mod stream;
