//! [`Relations`]: what a part refers to (ECMA-376 part 2, 9.3), and [`Types`]: what the parts are (10.1.2.2).

use std::collections::{HashMap, HashSet};

use crate::base::path::percent_decoded;
use crate::sanitize::Rejection;
use crate::sanitize::format::link_target::leads_out;
use crate::sanitize::format::xml_tree::Tree;

/// Elements whose link waits for somebody to follow it. The last says where a picture comes from, which nobody asks for.
const FOLLOWED: &[&str] = &["hyperlink", "hlinkClick", "hlinkHover", "hlinkMouseOver", "picAttrSrcUrl"];

/// One relationship.
pub(super) struct Relation {
    /// The element that states it.
    pub(super) at: usize,
    /// What its source calls it.
    pub(super) id: String,
    /// The last segment of its type, in lower case.
    pub(super) kind: String,
    /// Where it leads, as it is written.
    pub(super) target: String,
    /// The part that is, in lower case; `None` for what lies outside of the package.
    pub(super) part: Option<String>,
    /// Whether something refers to it that is no link: a picture, an object.
    fetched: bool,
}

impl Relation {
    /// Whether it is a link that leads out of the package, and waits for somebody to follow it.
    pub(super) fn is_link(&self) -> bool {
        self.leads_out_as_link() && !self.fetched
    }

    fn leads_out_as_link(&self) -> bool {
        self.kind == "hyperlink" && self.part.is_none()
    }
}

/// The relationships of one source.
pub(super) struct Relations {
    /// The part that has them, in lower case; empty for the package.
    pub(super) source: String,
    /// The document that states them.
    pub(super) tree: Tree,
    /// Each of them.
    pub(super) all: Vec<Relation>,
}

/// The source of the relationships in a part of this name, in lower case; `None` if it is no such part.
pub(super) fn source_of(path: &str) -> Option<String> {
    let path = path.to_lowercase();
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", &path));
    let file = file.strip_suffix(".rels")?;
    let folder = folder.strip_suffix("_rels")?;
    Some(format!("{folder}{file}"))
}

impl Relations {
    /// Reads the relationships of a source.
    ///
    /// # Errors
    /// [`Rejection::Malformed`] when two have the same name: readers differ over which is meant.
    pub(super) fn read(source: String, tree: Tree) -> Result<Self, Rejection> {
        let mut all: Vec<Relation> = Vec::new();
        let folder = source.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
        for at in (0..tree.len()).filter(|at| tree.name(*at) == "Relationship") {
            let say = |name| tree.attribute(at, name).unwrap_or_default();
            let kind = say("Type").trim().trim_end_matches('/').to_lowercase();
            let kind = kind.rsplit('/').next().unwrap_or_default().to_owned();
            let (id, target) = (say("Id"), say("Target"));
            let external = say("TargetMode").trim().eq_ignore_ascii_case("external") || leads_out(&target);
            let part = (!external).then(|| resolved(&folder, &target));
            all.push(Relation { at, id, kind, target, part, fetched: false });
        }
        let mut ids: Vec<&str> = all.iter().map(|relation| relation.id.as_str()).collect();
        ids.sort_unstable();
        if ids.windows(2).any(|pair| matches!(pair, [a, b] if a == b)) {
            return Err(Rejection::Malformed);
        }
        Ok(Self { source, tree, all })
    }

    /// Whether any is called a link that leads out.
    pub(super) fn have_links(&self) -> bool {
        self.all.iter().any(Relation::leads_out_as_link)
    }

    /// Looks up what refers to links in their `source`, where that is a document: what is called a link may be what a
    /// picture is fetched from.
    pub(super) fn look_up_links(&mut self, source: Option<&Tree>) {
        let links = self.all.iter().filter(|relation| relation.leads_out_as_link());
        let ids: HashSet<String> = links.map(|relation| relation.id.clone()).collect();
        let fetched = source.map(|source| fetched(source, &ids));
        for relation in self.all.iter_mut().filter(|relation| relation.leads_out_as_link()) {
            relation.fetched = fetched.as_ref().is_none_or(|fetched| fetched.contains(&relation.id));
        }
    }
}

/// Those of these relationships that something refers to which is no link.
fn fetched(source: &Tree, ids: &HashSet<String>) -> HashSet<String> {
    let mut fetched = HashSet::new();
    for at in (0..source.len()).filter(|at| !FOLLOWED.contains(&source.name(*at))) {
        let attributes = source.attributes(at);
        for attribute in attributes.filter(|attribute| !matches!(attribute.prefix, "" | "xmlns" | "xml")) {
            if attribute.raw.contains('&') || ids.contains(attribute.raw) {
                fetched.insert(attribute.value());
            }
        }
    }
    fetched
}

/// The part that a target means, in lower case.
fn resolved(folder: &str, target: &str) -> String {
    let target = target.split(['#', '?']).next().unwrap_or_default().replace('\\', "/").to_lowercase();
    let target = unquoted(&target);
    let mut path: Vec<&str> = if target.starts_with('/') { Vec::new() } else { folder.split('/').collect() };
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                path.pop();
            }
            part => path.push(part),
        }
    }
    path.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/")
}

/// A path without percent-encoding.
fn unquoted(path: &str) -> String {
    if !path.contains('%') {
        return path.to_owned();
    }
    String::from_utf8_lossy(&percent_decoded(path.as_bytes())).to_lowercase()
}

/// What the parts are.
pub(super) struct Types {
    /// The document that says it.
    pub(super) tree: Tree,
    defaults: HashMap<String, String>,
    overrides: HashMap<String, String>,
}

impl Types {
    /// Reads what is said of the parts.
    ///
    /// # Errors
    /// [`Rejection::Malformed`] when something is said twice.
    pub(super) fn read(tree: Tree) -> Result<Self, Rejection> {
        let (mut defaults, mut overrides) = (HashMap::new(), HashMap::new());
        for at in 0..tree.len() {
            let say = |name| tree.attribute(at, name).unwrap_or_default();
            let twice = match tree.name(at) {
                "Default" => defaults.insert(say("Extension").to_lowercase(), say("ContentType")),
                "Override" => overrides.insert(resolved("", &say("PartName")), say("ContentType")),
                _ => None,
            };
            if twice.is_some() {
                return Err(Rejection::Malformed);
            }
        }
        Ok(Self { tree, defaults, overrides })
    }

    /// The content type of a part; `None` if nothing is said of it.
    pub(super) fn of(&self, part: &str) -> Option<&str> {
        let file = part.rsplit('/').next().unwrap_or_default();
        let extension = || self.defaults.get(file.rsplit_once('.').map(|(_, extension)| extension)?);
        self.overrides.get(part).or_else(extension).map(String::as_str)
    }

    /// The part that an `Override` speaks of, in lower case.
    pub(super) fn part(&self, at: usize) -> Option<String> {
        let name = (self.tree.name(at) == "Override").then(|| self.tree.attribute(at, "PartName"))?;
        name.map(|name| resolved("", &name))
    }
}
