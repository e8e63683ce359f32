//! The binary: parse, run, exit code.

use std::process::ExitCode;

use portcullis::cli::{read, run};

#[cfg(feature = "jemalloc")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    // Before anything touches TLS: Pingora would make ring the active provider, and only the first call counts.
    drop(rustls::crypto::aws_lc_rs::default_provider().install_default());
    match read() {
        Ok(args) => run(args),
        Err(error) => error.exit(),
    }
}
