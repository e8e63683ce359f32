//! What a token costs: `cargo bench --bench jwt`. Prints signs and verifications a second for each algorithm, the best of
//! several rounds on one thread; nothing here fails on a slow machine.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark prints, and ends where something is wrong"
)]

use std::hint::black_box;

use portcullis::base::clock::{Clock, SystemClock};
use portcullis::crypto::jws::{JwsAlgorithm, RsaBits, SigningKey};
use portcullis::vault::jwt::{Unverified, VerifyingKey, sign};

const ROUNDS: usize = 5;

/// Least time of a round, in seconds.
const ROUND: f64 = 0.1;

const KID: &str = "pvi_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa|1";

/// Some claims as services have them, 212 bytes.
const CLAIMS: &str = r#"{"iss":"https://issuer.example.com/","sub":"user-0123456789","aud":"https://api.example.com/","iat":1766000000,"exp":1766003600,"scope":"read:orders write:orders","jti":"0192f0c1-5b1e-7c3a-9d43-3f1f0c3f9a11"}"#;

/// The best round's calls of `work` a second.
fn a_second(mut work: impl FnMut()) -> f64 {
    let clock = SystemClock;
    let mut round = || {
        let start = clock.instant();
        for calls in 1.. {
            work();
            let passed = clock.instant().duration_since(start).as_secs_f64();
            if passed >= ROUND {
                return f64::from(calls) / passed;
            }
        }
        0.0
    };
    (0..ROUNDS).map(|_| round()).fold(0.0, f64::max)
}

fn main() {
    println!("{:<12} {:>12} {:>12}", "algorithm", "signs/s", "verifies/s");
    let sizes = [(RsaBits::Two, "2048"), (RsaBits::Three, "3072"), (RsaBits::Four, "4096")];
    for algorithm in JwsAlgorithm::ALL {
        let name = algorithm.name();
        // The hash makes no difference to RSA.
        let sized = ["RS256", "PS256"].contains(&name);
        for (bits, size) in sizes.into_iter().take(if sized { 3 } else { 1 }) {
            let key = SigningKey::generate(algorithm, bits).expect("a key");
            let verifying = VerifyingKey::of(&key).expect("a key");
            let token = sign(&key, KID, CLAIMS).expect("a token");
            let signs = a_second(|| drop(black_box(sign(&key, KID, black_box(CLAIMS)))));
            let verifies = a_second(|| {
                let read = Unverified::parse(black_box(&token)).expect("a token");
                black_box(read.verify(&verifying).expect("a good one"));
            });
            let shown = if sized { format!("{name} {size}") } else { name.to_owned() };
            println!("{shown:<12} {signs:>12.0} {verifies:>12.0}");
        }
    }
}
