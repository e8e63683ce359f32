//! What readers asked for, written down by `Fields` in tests: the document must have these members and no others.

use std::cell::RefCell;

use crate::base::pointer::Pointer;

thread_local! {
    static ASKED: RefCell<Vec<(String, &'static str)>> = const { RefCell::new(Vec::new()) };
}

/// The reader of the object at `at` asked for `name`.
pub(crate) fn note(at: &Pointer, name: &'static str) {
    ASKED.with_borrow_mut(|asked| asked.push((at.to_string(), name)));
}

/// All that was asked for on this thread since the last call: the place of the object, the member.
pub(crate) fn take() -> Vec<(String, &'static str)> {
    ASKED.take()
}

thread_local! {
    static WORDS: RefCell<Vec<(String, Vec<String>)>> = const { RefCell::new(Vec::new()) };
}

/// The member at `at` may be one of these words.
pub(crate) fn words<T>(at: &Pointer, words: &[(&str, T)]) {
    let words = words.iter().map(|(word, _)| (*word).to_owned()).collect();
    WORDS.with_borrow_mut(|all| all.push((at.to_string(), words)));
}

/// All words since the last call.
pub(crate) fn take_words() -> Vec<(String, Vec<String>)> {
    WORDS.take()
}
