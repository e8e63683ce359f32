#![no_main]

#[path = "../entries.rs"]
mod entries;

libfuzzer_sys::fuzz_target!(init: entries::run("formatted", b""), |data: &[u8]| entries::run("formatted", data));
