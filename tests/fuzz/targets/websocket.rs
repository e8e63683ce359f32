#![no_main]

#[path = "../entries.rs"]
mod entries;

libfuzzer_sys::fuzz_target!(init: entries::run("websocket", b""), |data: &[u8]| entries::run("websocket", data));
