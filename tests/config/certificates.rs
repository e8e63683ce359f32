//! Certificates that listeners show: which names they are for, and who is shown which.

use super::*;

/// For `a.test`, and any label before `b.test`.
const ONE: &str = "\
    MIHcMIGPoAMCAQICAQEwBQYDK2VwMA0xCzAJBgNVBAMMAmNhMCAXDTIwMDEwMTAwMDAwMFoYDzIxMjYwMTAxMDAwMDAwWjAAMCow\
    BQYDK2VwAyEA6kpsY+KcUgq+9VB7Ey7F+ZVHdq6+vnuSQh7qaRRG0iyjHzAdMBsGA1UdEQQUMBKCBkEudGVzdIIIKi5iLnRlc3Qw\
    BQYDK2VwA0EAieMiyzQN7iMGNxP9Pfsu9rsjuQG3oL5IbzpirTA4bBTuJxZele/w+HiSf7R7u1tAueJuH6sql8oM5Q1c7zciDQ==";

/// For `b.test` and `a.test`.
const TWO: &str = "\
    MIHbMIGOoAMCAQICAQEwBQYDK2VwMA0xCzAJBgNVBAMMAmNhMCAXDTIwMDEwMTAwMDAwMFoYDzIxMjYwMTAxMDAwMDAwWjAAMCow\
    BQYDK2VwAyEA6kpsY+KcUgq+9VB7Ey7F+ZVHdq6+vnuSQh7qaRRG0iyjHjAcMBoGA1UdEQQTMBGCBmIudGVzdIIHYS50ZXN0LjAF\
    BgMrZXADQQBg0lUUTFSVsOB/A1dBXehaO9XRD+ZLfm69rszVtXSIZJoWagjCnRNHQjPd39+KUOiroNUgdc7WRqMaQmS8NxoA";

/// For nobody: a common name is no DNS name.
const NOBODY: &str = "\
    MIHhMIGUoAMCAQICAQEwBQYDK2VwMA0xCzAJBgNVBAMMAmNhMCAXDTIwMDEwMTAwMDAwMFoYDzIxMjYwMTAxMDAwMDAwWjARMQ8w\
    DQYDVQQDDAZhLnRlc3QwKjAFBgMrZXADIQDqSmxj4pxSCr71UHsTLsX5lUd2rr6+e5JCHuppFEbSLKMTMBEwDwYDVR0RBAgwBocE\
    wAACATAFBgMrZXADQQCZyFs17GsFZIqigjBui9/rEen0vtW0KAVD1lxcZK9O3OTWKyLun2hk5m4UM/X9V+Y4nzEtglPlK3NohROH\
    aWMF";

/// For `a.test`, with a key of another kind.
const OTHER_KEY: &str = "\
    MIIBATCBtKADAgECAgEBMAUGAytlcDANMQswCQYDVQQDDAJjYTAgFw0yMDAxMDEwMDAwMDBaGA8yMTI2MDEwMTAwMDAwMFowADBZ\
    MBMGByqGSM49AgEGCCqGSM49AwEHA0IABI5TO2+gv3tGJbswZnwB+2B++fi4qA/vWzAGKHAxh7Kjc+sdveAzGDZtBp+DpvWQAFPH\
    NjPLBBshxV4ahsH0ALSjFTATMBEGA1UdEQQKMAiCBmEudGVzdDAFBgMrZXADQQDk+kAKklG4/4s5VQRIjlch/WRywMmmncbuhARr\
    QaVD3zesTmn2gKhDV3+cnzejaCvAoNfXTdWJuLYic/jUfK0B";

/// What is wrong with a listener that shows these, and what may not be meant. The first is the default.
fn judged(certificates: &[&str]) -> std::io::Result<(Vec<String>, Vec<String>)> {
    let folder = tempfile::tempdir()?;
    let at = |name: &str| folder.path().join(name);
    let mut text = "[[listen]]\naddress = '127.0.0.1:1'\n[listen.tls]\n".to_owned();
    for (n, certificate) in certificates.iter().enumerate() {
        let pem = format!("-----BEGIN CERTIFICATE-----\n{certificate}\n-----END CERTIFICATE-----\n");
        std::fs::write(at(&format!("{n}.pem")), pem)?;
        std::fs::write(at(&format!("{n}.key")), "")?;
        let table = if n == 0 { "" } else { "[[listen.tls.sni]]\n" };
        text.push_str(&format!("{table}certificate = '{n}.pem'\nkey = '{n}.key'\n"));
    }
    std::fs::write(at("gate.toml"), text)?;
    let plain = |problem: &portcullis::config::Problem| {
        let folder = format!("{}/", folder.path().display());
        format!("{}:{}: {}", problem.line, problem.column, problem.message).replace(&folder, "")
    };
    Ok(match load(&at("gate.toml"), &env(&[]), &rules()) {
        Ok(config) => (Vec::new(), config.warnings.iter().map(plain).collect()),
        Err(problems) => (problems.iter().map(plain).collect(), Vec::new()),
    })
}

#[test]
fn certificates_for_one_name_are_told_and_those_for_no_name_are_refused() {
    let rows: [(&[&str], &[&str], &[&str]); 6] = [
        (&[ONE], &[], &[]),
        // Whoever asks for no name is shown the first.
        (&[NOBODY, ONE], &[], &[]),
        (&[ONE, TWO], &[], &["7:15: `0.pem` is a certificate for `a.test` too"]),
        (&[NOBODY, TWO, ONE], &[], &["10:15: `1.pem` is a certificate for `a.test` too"]),
        // Callers that cannot verify the one are shown the other.
        (&[ONE, OTHER_KEY], &[], &[]),
        (&[ONE, NOBODY], &["7:15: nobody is shown this certificate: it has no DNS name"], &[]),
    ];
    for (certificates, wrong, doubts) in rows {
        let (problems, warnings) = judged(certificates).unwrap();
        assert_eq!((problems, warnings), (strings(wrong), strings(doubts)));
    }
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn a_listener_has_a_bounded_number_of_certificates() {
    let some = |count: usize| {
        let one = |n: usize| format!("[[listen.tls.sni]]\ncertificate = 'no{n}'\nkey = 'no'\n");
        let many: String = (0..count).map(one).collect();
        let text = format!(
            "[[listen]]\naddress = '127.0.0.1:1'\n[listen.tls]\ncertificate = 'no'\nkey = 'no'\n{many}"
        );
        lines(read(&text))
            .into_iter()
            .filter(|line| !line.contains("there is no such file"))
            .collect::<Vec<_>>()
    };
    assert!(some(1000).is_empty());
    assert_eq!(some(1001).len(), 1);
}
