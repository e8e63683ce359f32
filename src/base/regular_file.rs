//! [`open`]: files of others' making. What is no file is not opened: a pipe would be waited for, a device may never end. But what
//! the process was started with is its own, whatever it is: `/dev/stdout`, and a shell's `<(…)`.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// `O_NONBLOCK` of open(2): nothing is waited for, whatever is there by then.
const NONBLOCK: i32 = OFlags::NONBLOCK.bits().cast_signed();

/// By which names a process knows what it was started with, and folders of such.
const OWN: [&str; 4] = ["/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/null"];
const OWN_IN: [&str; 2] = ["/dev/fd", "/proc/self/fd"];

/// The most links that are followed to one of those.
const LINKS: usize = 8;

/// Opens a regular file, a link to one, or what the process was started with, as `options` say.
///
/// # Errors
/// [`ErrorKind::IsADirectory`] for a folder, [`ErrorKind::InvalidInput`] for whatever else is no file, and what the system says.
pub fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    if is_own(path) {
        return options.open(path);
    }
    match fs::metadata(path) {
        Ok(found) => judge(&found)?,
        // It may be one that is to be made.
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let file = options.custom_flags(NONBLOCK).open(path)?;
    // The opened file is judged too: its name may mean another by now.
    judge(&file.metadata()?)?;
    Ok(file)
}

/// Whether `path`, or what it links to, is what the process was started with, or another one (`/proc/1/fd/1`).
fn is_own(path: &Path) -> bool {
    let own = |path: &Path| {
        let folder = path.parent().and_then(Path::to_str).unwrap_or_default();
        let of_process = folder.strip_prefix("/proc/").and_then(|rest| rest.strip_suffix("/fd"));
        let numbered = of_process.is_some_and(|id| id.bytes().all(|byte| byte.is_ascii_digit()));
        OWN.iter().any(|own| path == Path::new(own)) || OWN_IN.contains(&folder) || numbered
    };
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        if own(&path) {
            return true;
        }
        let Ok(next) = fs::read_link(&path) else { return false };
        path = path.parent().map_or_else(|| next.clone(), |folder| folder.join(&next));
    }
    false
}

fn judge(found: &Metadata) -> io::Result<()> {
    match (found.is_file(), found.is_dir()) {
        (true, _) => Ok(()),
        (false, true) => Err(ErrorKind::IsADirectory.into()),
        (false, false) => Err(io::Error::new(ErrorKind::InvalidInput, "this is not a file")),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::unix::fs::symlink;
    use std::process::Command;

    use super::*;

    #[test]
    fn files_and_links_to_files_are_opened_and_nothing_else_is() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "text").unwrap();
        symlink("file", at("link")).unwrap();
        symlink("loop", at("loop")).unwrap();
        symlink("/dev/zero", at("endless")).unwrap();
        assert!(Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
        symlink("pipe", at("to-pipe")).unwrap();
        for name in ["file", "link"] {
            let mut text = String::new();
            open(&at(name), OpenOptions::new().read(true)).unwrap().read_to_string(&mut text).unwrap();
            assert_eq!(text, "text", "{name}");
        }
        let refused = |name: &str, options: &mut OpenOptions| open(&at(name), options).unwrap_err().kind();
        for name in ["pipe", "to-pipe", "endless"] {
            assert_eq!(refused(name, OpenOptions::new().read(true)), ErrorKind::InvalidInput, "{name}");
            assert_eq!(refused(name, OpenOptions::new().append(true)), ErrorKind::InvalidInput, "{name}");
        }
        for own in ["/dev/fd/1", "/dev/stdout"] {
            let link = at("own");
            drop(fs::remove_file(&link));
            symlink(own, &link).unwrap();
            assert!(is_own(Path::new(own)) && is_own(&link) && !is_own(&at("endless")), "{own}");
        }
        assert_eq!(refused(".", OpenOptions::new().read(true)), ErrorKind::IsADirectory);
        assert_eq!(refused("gone", OpenOptions::new().read(true)), ErrorKind::NotFound);
        assert!(open(&at("loop"), OpenOptions::new().read(true)).is_err());
        let mut made = open(&at("new"), OpenOptions::new().append(true).create(true)).unwrap();
        made.write_all(b"line\n").unwrap();
        assert_eq!(fs::read_to_string(at("new")).unwrap(), "line\n");
    }
}
