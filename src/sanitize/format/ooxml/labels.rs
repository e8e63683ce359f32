//! What values are called in parts that hold anybody's data (`customXml`): by their elements and attributes, as in XML that
//! comes alone.

use crate::sanitize::format::ooxml::escapes::decoded;
use crate::sanitize::format::xml_tree::Tree;

/// The longest label, in bytes: what is nearest to the value says the most.
const LONGEST: usize = 60;

/// What an attribute's value is called: `<add key="password" value="…"/>`, `<user password="…"/>`.
pub(super) fn of_attribute(tree: &Tree, at: usize, attribute: &str) -> String {
    if attribute.eq_ignore_ascii_case("value") {
        label(&title(tree, at))
    } else {
        label(&format!("{}.{attribute}", tree.name(at)))
    }
}

/// What the text of an element is called: the element, behind the one around it and a dot.
pub(super) fn of_text(tree: &Tree, at: usize) -> String {
    let around = tree.parent(at).map(|around| title(tree, around)).unwrap_or_default();
    label(&format!("{around}.{}", title(tree, at)))
}

/// What an element says that its content is, or what it is called itself.
fn title(tree: &Tree, at: usize) -> String {
    let titled = |name: &str| ["name", "key"].iter().any(|known| name.eq_ignore_ascii_case(known));
    let title = tree.attributes(at).find(|attribute| titled(attribute.name));
    title.map_or_else(|| tree.name(at).to_owned(), |title| title.value())
}

/// A name with nothing in it that the head of a column does not have.
fn label(name: &str) -> String {
    let part = |c: char| c.is_alphabetic() || matches!(c, '_' | '-' | '.');
    let name: String = decoded(name).chars().map(|c| if part(c) { c } else { ' ' }).collect();
    let from = name.ceil_char_boundary(name.len().saturating_sub(LONGEST));
    name.get(from..).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sanitize::bench::Bench;
    use crate::sanitize::format::xml_tree::Doctype;

    #[test]
    fn values_are_called_as_in_xml_that_comes_alone() {
        let xml = "<a><n:user n:Card_x0020_No=\"1\" key2=\"2\">x</n:user><add key=\"password\" value=\"3\">y</add></a>";
        let mut bench = Bench::disarming();
        let tree = Tree::read(xml.as_bytes(), Doctype::Refused, &mut bench.work()).unwrap();
        assert_eq!(of_attribute(&tree, 1, "Card_x0020_No"), "user.Card No");
        assert_eq!(of_attribute(&tree, 1, "key2"), "user.key ");
        assert_eq!(of_attribute(&tree, 2, "value"), "password");
        assert_eq!((of_text(&tree, 1), of_text(&tree, 2)), ("a.user".to_owned(), "a.password".to_owned()));
        assert!(label(&"é".repeat(60)).len() <= LONGEST);
    }
}
