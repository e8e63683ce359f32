//! [`clean`]: a file, asked about and written.

use crate::sanitize::format::rtf::changes::PlannedChanges;
use crate::sanitize::format::rtf::plan::RtfPlan;
use crate::sanitize::identifiers::{self, has_form};
use crate::sanitize::{Rejection, Work};

/// Cleans a file.
///
/// # Errors
/// [`Rejection::OverLimit`], [`Rejection::Malformed`], the host's.
pub(in crate::sanitize::format) fn clean(file: &[u8], work: &mut Work<'_>) -> Result<Vec<u8>, Rejection> {
    let PlannedChanges { mut patches, blocks, names } = RtfPlan::of(file, work)?;
    let texts: Vec<&str> = blocks.iter().map(|block| block.text()).collect();
    let mut edits = work.edits(&texts)?;
    let texts: Vec<&str> = names.iter().map(|name| name.text()).collect();
    edits.extend(identifiers::edits(&texts, has_form, work)?);
    for (block, edits) in blocks.iter().chain(&names).zip(edits) {
        for edit in edits {
            work.applied(&edit);
            patches.edit_each(block, &edit, escaped);
        }
    }
    Ok(patches.apply(file))
}

/// Text as RTF spells it, in braces: so the control word before it does not run into it.
fn escaped(text: &str) -> String {
    let mut out = String::from("{");
    for c in text.chars() {
        match c {
            '\\' | '{' | '}' => out.extend(['\\', c]),
            '\n' => out.push_str("\\line "),
            '\t' => out.push_str("\\tab "),
            ' '..='~' => out.push(c),
            _ if c.is_control() => {}
            _ => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    out.push_str(&format!("\\uc1\\u{}?", i16::from_ne_bytes(unit.to_ne_bytes())));
                }
            }
        }
    }
    out.push('}');
    out
}
