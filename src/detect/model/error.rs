//! Why files are no names model.

/// Why files are no names model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// A file's SHA-256 is not the one that SHA256SUMS has for it.
    #[error(
        "`{0}` is not the file that SHA256SUMS beside it names; bring the model anew with examples/names-model"
    )]
    Digest(&'static str),
    /// The file is not ONNX, or computes with what the names model does not need.
    #[error("this is no ONNX file that can be run; bring the model anew with examples/names-model")]
    Unreadable,
    /// The vocabulary lacks what begins, ends or stands for unknown words.
    #[error("`vocab.txt` is no vocabulary of such a model; bring the model anew with examples/names-model")]
    Vocabulary,
    /// It has other inputs or labels, or fewer pieces than the vocabulary.
    #[error("this is another model than the names model; bring it with examples/names-model")]
    Other,
}
