//! How a value is given to a name.

/// How a value is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueForm {
    /// `name = value`; tight without blanks, at the beginning of a line or a setting.
    Assigned { tight: bool, first: bool, colon: bool },
    /// `name == "value"`.
    Compared,
    /// `<name>value</name>`.
    Element,
    /// `("name", "value")`, or a list if `false`.
    Argument(bool),
    /// `--name value`.
    Flag,
    /// `name "value"`.
    Beside,
    /// `the password is value`.
    Prose,
    /// The same where nothing gives it: `the password (value)`, `Password⏎value`.
    Said,
    /// `login user password value`.
    Login,
    /// `name value`, as the words of a line of settings.
    Line,
    /// `name || "value"`.
    Or,
}
