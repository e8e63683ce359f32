//! Zip archives (PKWARE APPNOTE 6.3).

use crate::sanitize::format::archive::member::member;
use crate::sanitize::format::archive::names;
use crate::sanitize::format::package::{NewPackage, Package};
use crate::sanitize::{Rejection, Work};

/// Cleans an archive. What stays as it is keeps its compressed bytes.
///
/// # Errors
/// See [`super`].
pub(in crate::sanitize::format) fn clean(file: &[u8], work: &mut Work<'_>) -> Result<Vec<u8>, Rejection> {
    let mut package = Package::open(file, work)?;
    let files = package.entries().iter().enumerate().filter(|(_, entry)| !entry.folder);
    let files: Vec<(usize, String)> = files.map(|(at, entry)| (at, entry.name.clone())).collect();
    let called: Vec<&str> = files.iter().map(|(_, name)| name.as_str()).collect();
    let (written, mut names) = names::written(&called, work)?;
    let mut fresh = NewPackage::new();
    for ((at, name), written) in files.iter().zip(&written) {
        let content = package.read(*at, work)?;
        let Some(clean) = member(name, &content, work)? else { continue };
        let fitting = clean.fitting(written, work).map(|fitting| names.add(&fitting));
        let written = fitting.as_ref().unwrap_or(written);
        match clean.content == content && name == written {
            true => fresh.keep(&mut package, *at, &content)?,
            false => fresh.put(written, &clean.content, false)?,
        }
    }
    fresh.finish()
}
