//! The names model that `[detect.names]` points to: files of a folder, read and tried when the configuration is.

use std::fs::OpenOptions;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::base::regular_file;
use crate::config::diagnostics::Diagnostics;
use crate::config::resolve;
use crate::config::settings::Names;
use crate::detect::{Catalogue, MODEL_FILES, ModelFiles, NamesModel, NamesOptions};

/// The largest model, in bytes: the int8 one has 19 MB.
const MODEL: u64 = 256 << 20;

/// The largest vocabulary, and the largest list of digests, in bytes.
const LIST: u64 = 4 << 20;

/// The files of a model: those of this folder, or the folder of this file.
fn places(path: &Path) -> [PathBuf; 3] {
    let folder = if path.is_dir() { path } else { path.parent().unwrap_or_else(|| Path::new("")) };
    let [model, vocabulary, digests] = MODEL_FILES.map(|name| folder.join(name));
    let model = if path.is_dir() { model } else { path.to_owned() };
    [model, vocabulary, digests]
}

/// Reads the model of a folder, or a model's file with the vocabulary and the digests beside it.
///
/// # Errors
/// What is wrong with which file, and what to do.
pub fn names_model(path: &Path, options: NamesOptions) -> Result<NamesModel, String> {
    if !path.exists() {
        return Err(
            "there is no such file or folder; examples/names-model brings the model into one".to_owned()
        );
    }
    let [model, vocabulary, digests] = places(path);
    let read = |path: &Path, limit| {
        bytes(path, limit).map_err(|error| format!("{}: {}", path.display(), resolve::unreadable(&error)))
    };
    let (model, vocabulary) = (read(&model, MODEL)?, read(&vocabulary, LIST)?);
    let digests = read(&digests, LIST)?;
    let digests = String::from_utf8_lossy(&digests);
    let files = ModelFiles { model: &model, vocabulary: &vocabulary, digests: &digests };
    NamesModel::load(files, options).map_err(|error| error.to_string())
}

fn bytes(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = regular_file::open(path, OpenOptions::new().read(true))?;
    let read = file.take(limit + 1).read_to_end(&mut bytes)?;
    if read as u64 > limit { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes) }
}

/// The catalogue with the model that the settings name, if they do. One that `known` has is used again, with what it
/// remembers.
pub(crate) fn with_model(
    catalogue: Catalogue,
    names: &Names,
    folder: &Path,
    known: Option<&Catalogue>,
    diagnostics: &mut Diagnostics,
) -> Catalogue {
    if !(0.0..=1.0).contains(&*names.threshold) {
        diagnostics.say(names.threshold.span().start, "a threshold is a score from 0 to 1");
    }
    let Some(path) = &names.model else { return catalogue.reading_names(None) };
    let options = NamesOptions {
        threshold: *names.threshold,
        cache: names.cache.bytes(),
        max_tokens: names.max_tokens,
        beyond: names.beyond,
    };
    match names_model(&folder.join(&**path), options) {
        Ok(model) => {
            let known = known.and_then(Catalogue::names_model).filter(|known| known.is_like(&model));
            let model = known.map_or_else(|| Arc::new(model), Arc::clone);
            catalogue.reading_names(Some(model))
        }
        Err(wrong) => {
            diagnostics.say(path.span().start, wrong);
            catalogue
        }
    }
}

/// The files that are read for a model.
pub(crate) fn files(names: &Names, folder: &Path) -> Vec<PathBuf> {
    names.model.as_ref().map(|path| places(&folder.join(&**path)).to_vec()).unwrap_or_default()
}
