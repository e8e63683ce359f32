//! [`PathShape`]: what a JSONPath query costs to read and to answer, judged by its letters before anybody reads it.
//!
//! A query of some dozen bytes can take for ever: filters within filters are read anew at each level, and a bracket with several
//! selectors finds each place as many times as they overlap.

/// Brackets and parentheses that may stand within each other.
const DEEPEST: usize = 10;

/// The same counted with what is read anew at each level, over the whole query.
const HEAVIEST: f64 = 4096.0;

/// A query's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PathShape {
    /// How many steps reading it takes, in no unit.
    pub(super) weight: f64,
    /// How many times it may find each place.
    pub(super) multiplicity: f64,
    /// How many values its filters look at for each node that they test, at the least 1.
    pub(super) operands: f64,
}

/// A bracket or a parenthesis that is open.
struct Open {
    is_bracket: bool,
    /// Where its selector begins.
    from: usize,
    selectors: Vec<Selector>,
}

#[derive(PartialEq, Eq)]
enum Selector {
    /// One member or element, as it is spelled without quotes.
    One(String),
    /// What may find any.
    Several,
}

impl Selector {
    fn of(text: &str) -> Self {
        let text = text.trim();
        let inner = text.trim_matches(['\'', '"']);
        let quoted = inner.len() + 2 == text.len() && !inner.contains('\\');
        let is_index = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if quoted || is_index { Self::One(inner.to_owned()) } else { Self::Several }
    }
}

impl PathShape {
    /// Of a query; `None` where it is too deep or too heavy to be read.
    pub(super) fn of(query: &str) -> Option<Self> {
        let mut shape = Self { weight: 0.0, multiplicity: 1.0, operands: 1.0 };
        let (mut open, mut quote): (Vec<Open>, Option<char>) = (Vec::new(), None);
        let mut letters = query.char_indices();
        while let Some((at, letter)) = letters.next() {
            match (quote, letter) {
                (Some(_), '\\') => drop(letters.next()),
                (Some(ends), letter) => quote = quote.filter(|_| ends != letter),
                (None, '\'' | '"') => quote = Some(letter),
                (None, '[' | '(') => {
                    if open.len() >= DEEPEST {
                        return None;
                    }
                    shape.weight += f64::from(1u32 << open.len().min(31));
                    open.push(Open { is_bracket: letter == '[', from: at + 1, selectors: Vec::new() });
                }
                (None, ',' | ']' | ')') => {
                    if let Some(last) = open.last_mut().filter(|last| last.is_bracket) {
                        last.selectors.push(Selector::of(query.get(last.from..at).unwrap_or_default()));
                        last.from = at + 1;
                    }
                    if letter != ',' {
                        shape.multiplicity *= open.pop().map_or(1.0, |last| overlap(&last.selectors));
                    }
                }
                (None, '@') => shape.operands += 1.0,
                (None, _) => {}
            }
        }
        (shape.weight <= HEAVIEST).then_some(shape)
    }
}

/// How many of these may find the same place.
fn overlap(selectors: &[Selector]) -> f64 {
    let several = selectors.iter().filter(|one| **one == Selector::Several).count();
    let mut names: Vec<&str> = selectors
        .iter()
        .filter_map(|one| match one {
            Selector::One(name) => Some(name.as_str()),
            Selector::Several => None,
        })
        .collect();
    names.sort_unstable();
    let same = names.chunk_by(|one, next| one == next).map(<[&str]>::len).max().unwrap_or(0);
    ((several + same) as f64).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_say_what_queries_cost() {
        let cases = [
            ("$.a[*].b", 1.0, 1.0, 1.0),
            ("$['a','b',\"c\"]", 1.0, 1.0, 1.0),
            ("$['a',\"a\"][0,0,1]", 2.0, 4.0, 1.0),
            ("$[*,*][*,1]", 2.0, 4.0, 1.0),
            ("$['[(\\'',*]", 1.0, 2.0, 1.0),
            ("$[?@.a == 1 && (@.b || @.c)]", 3.0, 1.0, 4.0),
            ("$[?length(@[?@.x])>1]", 7.0, 1.0, 3.0),
            ("$[-1,1:2]", 1.0, 2.0, 1.0),
            ("]])", 0.0, 1.0, 1.0),
        ];
        for (query, weight, multiplicity, operands) in cases {
            assert_eq!(PathShape::of(query), Some(PathShape { weight, multiplicity, operands }), "{query}");
        }
        for (before, within, behind, count) in [
            ("$[?", "(", ")", 900),
            ("$", "[?@", "]", 12),
            ("$[?", "!(", "", 1000),
            ("$[?@", " || @[?@[?@[?@[?@[?@]]]]]", "]", 80),
        ] {
            let query = format!("{before}{}{}", within.repeat(count), behind.repeat(count));
            assert_eq!(PathShape::of(&query), None, "{query}");
        }
    }
}
