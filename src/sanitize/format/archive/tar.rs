//! Tar archives (POSIX.1-2017 pax, ustar interchange format; GNU's long names and sparse files are read).

use std::collections::HashSet;
use std::io::Read;

use tar::{Archive, Builder, EntryType, Header};

use crate::sanitize::format::archive::member::{Clean, member};
use crate::sanitize::format::archive::names;
use crate::sanitize::format::package::is_inside;
use crate::sanitize::{ChangedObject, ObjectKind, Rejection, Work};

/// A file that is cleaned already.
struct Member {
    name: String,
    /// Seconds since 1970.
    changed: u64,
    program: bool,
    clean: Clean,
}

/// Cleans an archive. Of what is attached to a member, the time of its last change stays, and whether a script that
/// passes may be run.
///
/// # Errors
/// See [`super`].
pub(in crate::sanitize::format) fn clean(file: &[u8], work: &mut Work<'_>) -> Result<Vec<u8>, Rejection> {
    let members = read(file, work)?;
    let called: Vec<&str> = members.iter().map(|member| member.name.as_str()).collect();
    let (written, mut names) = names::written(&called, work)?;
    let mut builder = Builder::new(Vec::new());
    for (member, written) in members.iter().zip(&written) {
        let fitting = member.clean.fitting(written, work).map(|fitting| names.add(&fitting));
        let name = fitting.as_ref().unwrap_or(written);
        let content = &member.clean.content;
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Regular);
        header.set_size(content.len() as u64);
        // A shell runs any text that may be run.
        header.set_mode(if member.program && member.clean.is_script() { 0o755 } else { 0o644 });
        header.set_mtime(member.changed);
        header.set_uid(0);
        header.set_gid(0);
        builder.append_data(&mut header, name, content.as_slice()).map_err(|_| Rejection::Malformed)?;
    }
    builder.into_inner().map_err(|_| Rejection::Malformed)
}

fn read(file: &[u8], work: &mut Work<'_>) -> Result<Vec<Member>, Rejection> {
    let mut archive = Archive::new(file);
    let mut members = Vec::new();
    let mut taken = HashSet::new();
    for entry in archive.entries().map_err(|_| Rejection::Malformed)? {
        work.items(1)?;
        let mut entry = entry.map_err(|_| Rejection::Malformed)?;
        let name = String::from_utf8(entry.path_bytes().into_owned()).map_err(|_| Rejection::Malformed)?;
        let kind = entry.header().entry_type();
        if kind.is_dir() || kind.is_pax_global_extensions() || name.ends_with('/') {
            continue;
        }
        if !matches!(kind, EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse) {
            let link = matches!(kind, EntryType::Symlink | EntryType::Link);
            let why = if link { Rejection::Symlink } else { Rejection::Unsupported };
            work.leave_out(ChangedObject::left_out(ObjectKind::File).in_part(&name).because(why));
            continue;
        }
        let name = name.trim_start_matches("./");
        if !is_inside(name) {
            return Err(Rejection::Traversal);
        }
        if !taken.insert(name.to_lowercase()) {
            return Err(Rejection::DuplicateName);
        }
        let changed = entry.header().mtime().unwrap_or(0);
        let program = entry.header().mode().unwrap_or(0) & 0o111 != 0;
        let mut content = Vec::new();
        let (size, room) = (entry.size(), work.room() as u64);
        if size > room {
            return Err(Rejection::OverLimit);
        }
        entry.read_to_end(&mut content).map_err(|_| Rejection::Malformed)?;
        work.unpacked(content.len())?;
        if let Some(clean) = member(name, &content, work)? {
            members.push(Member { name: name.to_owned(), changed, program, clean });
        }
    }
    Ok(members)
}
