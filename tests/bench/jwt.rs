//! What a token costs: `cargo bench --bench jwt`. Prints for each algorithm the signatures, whole tokens and verifications
//! a second of CPU time on one thread, the best of several rounds, beside what `openssl speed` does in the same moment (its
//! RSA is that of RS256). Nothing here fails on a slow machine. A word after `--` chooses the algorithms that begin so.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark prints, and ends where something is wrong"
)]

use std::hint::black_box;
use std::process::{Command, Stdio};

use portcullis::base::clock::{Clock, SystemClock};
use portcullis::crypto::jws::{JwsAlgorithm, RsaBits, SigningKey};
use portcullis::vault::jwt::{Unverified, VerifyingKey, sign};

const ROUNDS: usize = 3;

/// Least time of a round, in seconds.
const ROUND: f64 = 0.3;

const KID: &str = "pvi_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa|1";

/// Some claims as services have them, 212 bytes.
const CLAIMS: &str = r#"{"iss":"https://issuer.example.com/","sub":"user-0123456789","aud":"https://api.example.com/","iat":1766000000,"exp":1766003600,"scope":"read:orders write:orders","jti":"0192f0c1-5b1e-7c3a-9d43-3f1f0c3f9a11"}"#;

/// What `openssl speed` calls a key that signs; HMAC it counts in bytes.
const PEERS: [(&str, &str); 8] = [
    ("ES256", "ecdsap256"),
    ("ES384", "ecdsap384"),
    ("ES512", "ecdsap521"),
    ("EdDSA", "ed25519"),
    ("2048", "rsa2048"),
    ("3072", "rsa3072"),
    ("4096", "rsa4096"),
    ("HS", "hmac"),
];

/// CPU time of this thread, in seconds: others may use the machine too. The time of day where the system does not tell.
fn spent() -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|told| told.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| SystemClock.now().as_millis() as f64 / 1e3, |nanoseconds| nanoseconds / 1e9)
}

/// The best round's calls of `work` a second.
fn a_second(mut work: impl FnMut()) -> f64 {
    // Reading the CPU time costs too, and it moves in ticks: it is read after as many calls as one hundredth of a second takes.
    let (clock, mut batch) = (SystemClock, 0);
    let start = clock.instant();
    while clock.instant().duration_since(start).as_millis() < 10 {
        work();
        batch += 1;
    }
    let mut round = || {
        let start = spent();
        for batches in 1.. {
            (0..batch).for_each(|_| work());
            let passed = spent() - start;
            if passed >= ROUND {
                return f64::from(batches) * f64::from(batch) / passed;
            }
        }
        0.0
    };
    (0..ROUNDS).map(|_| round()).fold(0.0, f64::max)
}

/// The last fields of a line of `openssl speed -mr`, in operations a second.
fn openssl(arguments: &[&str], line: &str) -> Option<Vec<f64>> {
    let all = ["speed", "-seconds", "1", "-mr"].iter().chain(arguments);
    let said = Command::new("openssl").args(all).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8(said.stdout).ok()?;
    let found = text.lines().find(|one| one.starts_with(line))?;
    Some(found.split(':').skip(3).filter_map(|field| field.parse().ok()).collect())
}

/// Signatures and verifications a second of OpenSSL's, if it is here.
fn peer(name: &str, size: &str, message: usize) -> Option<(f64, f64)> {
    let wanted = |(ours, _): &&(&str, &str)| name.starts_with(ours) || size == *ours;
    match PEERS.iter().find(wanted)?.1 {
        "hmac" => {
            let (hash, bytes) = (format!("sha{}", name.get(2..)?), message.to_string());
            let fields = openssl(&["-hmac", &hash, "-bytes", &bytes], "+F:")?;
            let macs = fields.first()? / message as f64;
            Some((macs, macs))
        }
        key => match openssl(&[key], "+F").as_deref()? {
            [.., signs, verifies] => Some((*signs, *verifies)),
            _ => None,
        },
    }
}

fn row(algorithm: JwsAlgorithm, bits: RsaBits, size: &str) {
    let name = algorithm.name();
    let key = SigningKey::generate(algorithm, bits).expect("a key");
    let verifying = VerifyingKey::of(&key).expect("a key");
    let token = sign(&key, KID, CLAIMS).expect("a token");
    let (message, _) = token.rsplit_once('.').expect("three parts");
    let bare = a_second(|| drop(black_box(key.sign(black_box(message.as_bytes())))));
    let tokens = a_second(|| drop(black_box(sign(&key, KID, black_box(CLAIMS)))));
    let verifies = a_second(|| {
        let read = Unverified::parse(black_box(&token)).expect("a token");
        black_box(read.verify(&verifying).expect("a good one"));
    });
    let shown = if size.is_empty() { name.to_owned() } else { format!("{name} {size}") };
    print!("{shown:<12} {bare:>12.0} {tokens:>12.0} {verifies:>12.0}");
    match peer(name, size, message.len()) {
        Some((signs, checks)) => {
            let ratios = (bare / signs, verifies / checks);
            println!(" {signs:>16.0} {checks:>16.0} {:>8.2} {:>8.2}", ratios.0, ratios.1);
        }
        None => println!(),
    }
}

fn main() {
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let heads = ["algorithm", "signatures/s", "tokens/s", "verifies/s"];
    print!("{:<12} {:>12} {:>12} {:>12}", heads[0], heads[1], heads[2], heads[3]);
    println!(" {:>16} {:>16} {:>8} {:>8}", "openssl signs/s", "openssl verif./s", "sign x", "verify x");
    let sizes = [(RsaBits::Two, "2048"), (RsaBits::Three, "3072"), (RsaBits::Four, "4096")];
    for algorithm in JwsAlgorithm::ALL.into_iter().filter(|one| one.name().starts_with(&wanted)) {
        // The hash makes no difference to RSA.
        let taken = match algorithm.name() {
            "RS256" | "PS256" => 3,
            name if name.starts_with(['R', 'P']) => 1,
            _ => {
                row(algorithm, RsaBits::Two, "");
                continue;
            }
        };
        sizes.into_iter().take(taken).for_each(|(bits, size)| row(algorithm, bits, size));
    }
}
