//! Compound files (MS-CFB): the binary formats of Office before 2007, messages of Outlook, and Office packages that
//! are encrypted. No reader here writes them, so they are only looked into: every stream is shown to the scanners.

use std::io::{Cursor, Read};

use cfb::CompoundFile;

use crate::sanitize::{Rejection, Work};

/// Shows a file's streams to the scanners; passes it as it is, where that is ordered.
///
/// # Errors
/// [`Rejection::Encrypted`] for what asks for a password, [`Rejection::Unsupported`] for the rest; the host's.
pub(super) fn clean(file: &[u8], work: &mut Work<'_>) -> Result<Vec<u8>, Rejection> {
    let mut compound = CompoundFile::open(Cursor::new(file)).map_err(|_| Rejection::Malformed)?;
    let mut streams = Vec::new();
    for entry in compound.walk() {
        work.items(1)?;
        if entry.is_stream() {
            streams.push((entry.path().to_owned(), entry.name().to_owned()));
        }
    }
    let mut encrypted = false;
    for (path, name) in streams {
        let stream = compound.open_stream(&path).map_err(|_| Rejection::Malformed)?;
        let cap = u64::try_from(work.room()).unwrap_or(u64::MAX).saturating_add(1);
        let mut content = Vec::new();
        stream.take(cap).read_to_end(&mut content).map_err(|_| Rejection::Malformed)?;
        work.unpacked(content.len())?;
        work.part(&name, &content)?;
        encrypted |= is_encrypted(&name, &content);
    }
    if encrypted {
        return Err(Rejection::Encrypted);
    }
    work.pass(file)
}

/// Whether a stream says that its file is encrypted.
fn is_encrypted(name: &str, content: &[u8]) -> bool {
    match name {
        // MS-OFFCRYPTO 2.3.
        "EncryptedPackage" | "EncryptedSummary" => true,
        // `fEncrypted` of the Fib's base (MS-DOC 2.5.2).
        "WordDocument" => content.get(11).is_some_and(|flags| flags & 1 == 1),
        // A `FilePass` record among the first of the globals (MS-XLS 2.4.117).
        "Workbook" | "Book" => has_file_pass(content),
        // `headerToken` of the CurrentUserAtom (MS-PPT 2.3.2).
        "Current User" => content.get(12..16) == Some(&[0xdf, 0xc4, 0xd1, 0xf3]),
        _ => false,
    }
}

fn has_file_pass(content: &[u8]) -> bool {
    const FILE_PASS: u16 = 0x002f;
    let mut rest = content;
    // Only a few records may come before it.
    for _ in 0..8 {
        let Some(([a, b, c, d], behind)) = rest.split_first_chunk::<4>() else { return false };
        if u16::from_le_bytes([*a, *b]) == FILE_PASS {
            return true;
        }
        let length = usize::from(u16::from_le_bytes([*c, *d]));
        rest = behind.get(length..).unwrap_or_default();
    }
    false
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::sanitize::bench::Bench;
    use crate::sanitize::{FileKind, Note};

    fn made(streams: &[(&str, &[u8])]) -> Vec<u8> {
        let mut file = CompoundFile::create(Cursor::new(Vec::new())).expect("a file");
        for (name, content) in streams {
            file.create_stream(name).expect("a stream").write_all(content).expect("written");
        }
        file.into_inner().into_inner()
    }

    #[test]
    fn files_are_looked_into_and_pass_only_when_ordered() {
        let file = made(&[("/WordDocument", &[0; 32]), ("/Macros", b"x")]);
        let mut bench = Bench::disarming();
        assert_eq!(bench.clean(FileKind::Ole2, &file).err(), Some(Rejection::Unsupported));
        assert_eq!(bench.parts.len(), 2);
        bench.options.policy.pass_unknown = true;
        let (clean, stats) = bench.clean(FileKind::Ole2, &file).expect("the file");
        assert!(clean == file && stats.notes.get(&Note::Passed) == Some(&1));
        assert_eq!(
            bench.clean(FileKind::Ole2, file.get(..600).expect("a piece")).err(),
            Some(Rejection::Malformed)
        );
    }

    #[test]
    fn encrypted_files_are_known() {
        let word: Vec<u8> = (0..32).map(|at| u8::from(at == 11)).collect();
        let book = [9, 8, 2, 0, 0, 6, 0x2f, 0, 0, 0];
        let slides = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xdf, 0xc4, 0xd1, 0xf3];
        for (name, content) in [
            ("/EncryptedPackage", b"x".as_slice()),
            ("/WordDocument", &word),
            ("/Workbook", &book),
            ("/Current User", &slides),
        ] {
            let mut bench = Bench::disarming();
            bench.options.policy.pass_unknown = true;
            let file = made(&[(name, content)]);
            assert_eq!(bench.clean(FileKind::Ole2, &file).err(), Some(Rejection::Encrypted), "{name}");
        }
    }
}
