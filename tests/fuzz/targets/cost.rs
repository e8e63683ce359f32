#![no_main]

#[path = "../entries.rs"]
mod entries;

libfuzzer_sys::fuzz_target!(init: entries::run("cost", b""), |data: &[u8]| entries::run("cost", data));
