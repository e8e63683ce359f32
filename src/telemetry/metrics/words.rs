//! Labels from closed lists.

/// A label's value: one of a list that is known when the program is compiled.
pub trait LabelValue: Copy + 'static {
    /// All of them, in the order of their indices.
    const ALL: &'static [Self];

    /// As it is written.
    fn word(self) -> &'static str;

    /// Its place in [`LabelValue::ALL`].
    fn index(self) -> usize;
}

/// An enum whose values are words: `words! { /// … pub enum Way { /// … Up => "up", } }`.
macro_rules! words {
    ($(#[$doc:meta])* pub enum $name:ident { $($(#[$each:meta])* $variant:ident => $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$each])* $variant,)+ }

        impl $name {
            /// The word that the log and the metrics use.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }
        }

        impl $crate::telemetry::LabelValue for $name {
            const ALL: &'static [Self] = &[$(Self::$variant,)+];

            fn word(self) -> &'static str {
                Self::word(self)
            }

            fn index(self) -> usize {
                self as usize
            }
        }
    };
}

pub(super) use words;
