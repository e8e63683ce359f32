//! Published vectors, where `PORTCULLIS_VECTORS` names the folder they are in; otherwise these tests say that they are
//! skipped.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use data_encoding::HEXLOWER_PERMISSIVE;
use portcullis::base::clock::Timestamp;
use portcullis::base::secret::Secret;
use portcullis::crypto::fpe::FpeKey;
use serde_json::Value;

/// The rows of the files in a folder whose names begin so.
fn rows(folder: &str, begin: &str) -> Vec<Value> {
    let Ok(vectors) = std::env::var("PORTCULLIS_VECTORS") else {
        #[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
        {
            eprintln!("skipped: PORTCULLIS_VECTORS is not set");
        }
        return Vec::new();
    };
    let mut all = Vec::new();
    for entry in std::fs::read_dir(format!("{vectors}/{folder}")).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(begin)) {
            let text = std::fs::read_to_string(path).unwrap();
            all.extend(text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()));
        }
    }
    assert!(!all.is_empty());
    all
}

/// A text in its alphabet, or a list of numbers; `None` for what has a symbol that is none.
fn symbols(value: &Value, alphabet: &str, radix: u32) -> Option<Vec<u16>> {
    let number = |value: &Value| u16::try_from(value.as_i64()?).ok().filter(|n| u32::from(*n) < radix);
    match value {
        Value::Array(items) => items.iter().map(number).collect(),
        _ => {
            let place = |c: char| alphabet.chars().position(|symbol| symbol == c).map(|at| at as u16);
            value.as_str().unwrap().chars().map(place).collect()
        }
    }
}

#[test]
fn ff1_agrees_with_nist_and_wycheproof() {
    let mut counts = (0, 0);
    for row in rows("ff1", "").into_iter().chain(rows("wycheproof", "ff1_")) {
        let group = if row["group"].is_object() { &row["group"] } else { &row };
        let radix = u32::try_from(group["radix"].as_u64().unwrap()).unwrap();
        let alphabet = group["alphabet"].as_str().unwrap_or_default();
        let unhex = |name: &str| HEXLOWER_PERMISSIVE.decode(row[name].as_str().unwrap().as_bytes()).unwrap();
        let valid = row["result"].as_str().unwrap_or("valid") == "valid";
        let Ok(key) = FpeKey::new(Secret::new(unhex("key"))) else {
            assert!(!valid, "{}", row["id"]);
            counts.1 += 1;
            continue;
        };
        let tweak = unhex("tweak");
        let [plain, cipher] = [["pt", "msg"], ["ct", "ct"]].map(|names| {
            let value = names.iter().map(|name| &row[*name]).find(|value| !value.is_null()).unwrap();
            symbols(value, alphabet, radix)
        });
        // The specification asks for at least a million values (SP 800-38G revision 1); some old vectors have fewer.
        let known = plain.as_ref().is_some_and(|plain| FpeKey::in_domain(radix, plain.len()));
        if valid && known {
            let (mut there, mut back) = (plain.clone().unwrap(), cipher.clone().unwrap());
            key.encrypt(radix, &tweak, &mut there).unwrap();
            key.decrypt(radix, &tweak, &mut back).unwrap();
            assert_eq!((Some(there), Some(back)), (cipher, plain), "{}", row["id"]);
            counts.0 += 1;
        } else {
            let refused = plain.is_none_or(|mut plain| key.encrypt(radix, &tweak, &mut plain).is_err());
            assert!(refused, "{}", row["id"]);
            counts.1 += 1;
        }
    }
    #[expect(clippy::print_stderr, reason = "figures")]
    {
        eprintln!("{} agree, {} are refused", counts.0, counts.1);
    }
}

/// Times as RFC 3339 has them, but for these: ISO 8601 allows hours without minutes in an offset; a leap second that
/// never was and an offset of a whole day do no harm, since nothing is compared by them; and nobody has a clock that
/// tells less than a nanosecond.
const LOOSER: [(&str, bool); 5] = [
    ("1998-12-31T23:58:60Z", true),
    ("1998-12-31T22:59:60Z", true),
    ("1990-12-31T15:59:59-24:00", true),
    ("1985-04-12T23:20:50+01", true),
    ("1985-04-12T00:59:59.999999999999999Z", false),
];

#[test]
fn times_are_read_as_written() {
    for row in rows("jsonschema", "formats").into_iter().filter(|row| row["format"] == "date-time") {
        let Some(text) = row["data"].as_str() else { continue };
        let read = Timestamp::parse_iso8601(text).is_some();
        let known = LOOSER.contains(&(text, read));
        assert!(known || read == row["valid"].as_bool().unwrap(), "{text}: {read}");
    }
}
