#![no_main]

#[path = "../entries.rs"]
mod entries;

libfuzzer_sys::fuzz_target!(init: entries::run("protocols", b""), |data: &[u8]| entries::run("protocols", data));
