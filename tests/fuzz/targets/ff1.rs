#![no_main]

#[path = "../entries.rs"]
mod entries;

libfuzzer_sys::fuzz_target!(init: entries::run("ff1", b""), |data: &[u8]| entries::run("ff1", data));
