#![no_main]

#[path = "../entries.rs"]
mod entries;

libfuzzer_sys::fuzz_target!(init: entries::run("json", b""), |data: &[u8]| entries::run("json", data));
