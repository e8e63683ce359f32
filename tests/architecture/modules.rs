//! Which file of a part names what which other file defines. A path is followed to where its item is defined, through
//! re-exports; what tests name does not count, and neither do calls of methods.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::{Source, block, ident, words};

/// A module as the names from the crate's root to it.
type Module = Vec<String>;

/// One file of a crate.
struct File<'s> {
    path: &'s str,
    /// Its code without what is compiled for tests alone.
    code: String,
    /// Names that `use` brings into its scope, and the paths they stand for.
    uses: BTreeMap<String, Vec<String>>,
    /// Modules that are written out in it.
    inline: Vec<std::ops::Range<usize>>,
}

/// The files of a crate as modules.
pub(crate) struct Modules<'s>(BTreeMap<Module, File<'s>>);

/// A file names what another defines.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    from: Module,
    to: Module,
    /// The line in `from`.
    line: usize,
}

impl<'s> Modules<'s> {
    pub(crate) fn of(sources: &'s [Source]) -> Self {
        let files = sources.iter().filter(|source| !source.path.ends_with("tests.rs"));
        Self(files.map(|source| (module(&source.path), File::of(source))).collect())
    }

    /// What is wrong in a part: files that name what a module above them defines, and circles among the modules of one
    /// folder.
    pub(crate) fn complaints(&self, part: &str) -> Vec<String> {
        let in_part = |module: &Module| module.first().is_some_and(|first| first == part);
        let edges = self.0.keys().filter(|module| in_part(module)).flat_map(|module| self.edges(module));
        let mut edges: Vec<Edge> = edges.collect();
        edges.sort();
        edges.dedup_by(|a, b| (&a.from, &a.to) == (&b.from, &b.to));
        let mut complaints = Vec::new();
        let mut folders: BTreeMap<Module, BTreeMap<Module, BTreeMap<Module, &Edge>>> = BTreeMap::new();
        for edge in edges.iter().filter(|edge| in_part(&edge.to)) {
            if edge.from.starts_with(&edge.to) {
                complaints.push(format!(
                    "{} names what is defined above it, in {}",
                    self.at(edge),
                    edge.to.join("::")
                ));
                continue;
            }
            let common = edge.from.iter().zip(&edge.to).take_while(|(a, b)| a == b).count();
            let Some(from) = edge.from.get(..=common) else { continue };
            let Some(to) = edge.to.get(..=common) else { continue };
            let folder = folders.entry(edge.from[..common].to_vec()).or_default();
            folder.entry(from.to_vec()).or_default().entry(to.to_vec()).or_insert(edge);
        }
        for graph in folders.values() {
            if let Some(circle) = circle(graph) {
                let steps =
                    circle.iter().map(|edge| format!("\n    {} names {}", self.at(edge), edge.to.join("::")));
                complaints.push(format!("`{part}` has a circle:{}", steps.collect::<String>()));
            }
        }
        complaints
    }

    fn at(&self, edge: &Edge) -> String {
        format!("{}:{}", self.0.get(&edge.from).map_or("?", |file| file.path), edge.line)
    }

    /// What a file names that other files define.
    fn edges(&self, from: &Module) -> Vec<Edge> {
        let file = &self.0[from];
        let mut edges = Vec::new();
        for (at, path) in paths(&file.code) {
            let depth = file.inline.iter().filter(|range| range.contains(&at)).count();
            let Some(to) = self.defined_in(from, &path, depth, 0).filter(|to| to != from) else { continue };
            let line = upto(&file.code, at).matches('\n').count() + 1;
            edges.push(Edge { from: from.clone(), to, line });
        }
        edges
    }

    /// The module in whose file the item is defined that `path` in `from` leads to, `depth` modules within the file;
    /// `None` for a module itself and for what is none of the crate's.
    fn defined_in(&self, from: &Module, path: &[String], depth: usize, turns: usize) -> Option<Module> {
        let (mut module, rest) = match path.first()?.as_str() {
            "crate" => (Vec::new(), &path[1..]),
            "self" => (from.clone(), &path[1..]),
            "super" => {
                let supers = path.iter().take_while(|name| *name == "super").count();
                let up = supers.saturating_sub(depth);
                (from.get(..from.len().checked_sub(up)?)?.to_vec(), &path[supers..])
            }
            name => {
                let child = [from.as_slice(), &[name.to_owned()]].concat();
                let known = self.0.contains_key(&child) || self.0[from].uses.contains_key(name);
                known.then(|| (from.clone(), path))?
            }
        };
        for (n, name) in rest.iter().enumerate() {
            let child = [module.as_slice(), std::slice::from_ref(name)].concat();
            if self.0.contains_key(&child) {
                module = child;
                continue;
            }
            let Some(used) = self.0.get(&module).and_then(|file| file.uses.get(name)) else {
                return Some(module);
            };
            let on = [used.as_slice(), &rest[n + 1..]].concat();
            return if turns < 16 { self.defined_in(&module, &on, 0, turns + 1) } else { None };
        }
        None
    }
}

impl<'s> File<'s> {
    fn of(source: &'s Source) -> Self {
        let code = untested(&source.code);
        let inline = words(&code, "mod ").filter_map(|at| {
            let open = at + from(&code, at).find(['{', ';'])?;
            from(&code, open).starts_with('{').then(|| open..open + block(from(&code, open)))
        });
        let inline: Vec<_> = inline.collect();
        let mut uses = BTreeMap::new();
        for at in words(&code, "use ").filter(|at| !inline.iter().any(|range| range.contains(at))) {
            let tree = from(&code, at + 4).split(';').next().unwrap_or_default();
            for mut path in tree_paths(tree) {
                let alias = path.pop().unwrap_or_default();
                if path.last().is_some_and(|last| last == "self") {
                    path.pop();
                }
                uses.insert(alias, path);
            }
        }
        Self { path: &source.path, code, uses, inline }
    }
}

/// The module that a file is.
fn module(path: &str) -> Module {
    let inside = path.strip_prefix("src/").unwrap_or(path);
    let inside = inside.strip_suffix(".rs").unwrap_or(inside);
    let mut names: Module = inside.split('/').map(str::to_owned).collect();
    if names.last().is_some_and(|last| last == "mod" || last == "lib") {
        names.pop();
    }
    names
}

/// Code without the items that are compiled for tests alone; same lines.
fn untested(code: &str) -> String {
    let mut out = String::new();
    let mut rest = code;
    while let Some(at) = rest.find("#[cfg(test)]") {
        let (head, item) = rest.split_at(at);
        let end = item.find(['{', ';']).unwrap_or(item.len());
        let end = if from(item, end).starts_with('{') && !upto(item, end).contains("use ") {
            end + block(from(item, end))
        } else {
            item.find(';').map_or(item.len(), |end| end + 1)
        };
        out.push_str(head);
        out.extend(upto(item, end).chars().filter(|c| *c == '\n'));
        rest = from(item, end);
    }
    out + rest
}

/// The paths that code names, and where each stands: those of `use`, and `a::b` elsewhere.
fn paths(code: &str) -> Vec<(usize, Vec<String>)> {
    let mut all = Vec::new();
    let mut used = Vec::new();
    for at in words(code, "use ") {
        let tree = from(code, at + 4).split(';').next().unwrap_or_default();
        used.push(at..at + 4 + tree.len());
        all.extend(tree_paths(tree).into_iter().map(|mut path| {
            path.pop();
            (at, path)
        }));
    }
    let mut at = 0;
    while let Some(found) = from(code, at).find("::").map(|n| n + at) {
        let head = upto(code, found).trim_end_matches(|c: char| c.is_alphanumeric() || c == '_').len();
        let mut path = vec![from(upto(code, found), head).to_owned()];
        at = found;
        while let Some(rest) = from(code, at).strip_prefix("::") {
            let name = ident(rest);
            at += 2 + name.len();
            if name.is_empty() {
                break;
            }
            path.push(name.to_owned());
        }
        if head < found && !used.iter().any(|range| range.contains(&head)) {
            all.push((head, path));
        }
    }
    all
}

/// The paths of a `use` tree, each with the name it has in scope behind it.
fn tree_paths(tree: &str) -> Vec<Vec<String>> {
    let tree = tree.trim();
    if let Some((head, rest)) = tree.split_once('{') {
        let inside = rest.rsplit_once('}').map_or(rest, |(inside, _)| inside);
        let prefix: Vec<String> =
            head.split("::").map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect();
        let mut nested = 0_i32;
        let parts = inside.split(|c: char| {
            nested += i32::from(c == '{') - i32::from(c == '}');
            c == ',' && nested == 0
        });
        let parts: Vec<&str> = parts.filter(|part| !part.trim().is_empty()).collect();
        let under = |path: Vec<String>| [prefix.clone(), path].concat();
        return parts.into_iter().flat_map(|part| tree_paths(part).into_iter().map(under)).collect();
    }
    let (path, alias) = tree.split_once(" as ").unwrap_or((tree, ""));
    let mut path: Vec<String> = path.split("::").map(|name| name.trim().to_owned()).collect();
    let last = path.last().cloned().unwrap_or_default();
    let own = if last == "self" { path.iter().rev().nth(1).cloned().unwrap_or_default() } else { last };
    path.push(if alias.is_empty() { own } else { alias.trim().to_owned() });
    vec![path]
}

fn from(text: &str, at: usize) -> &str {
    text.get(at..).unwrap_or_default()
}

fn upto(text: &str, at: usize) -> &str {
    text.get(..at).unwrap_or_default()
}

/// The edges of a circle, if there is one.
fn circle<'e>(graph: &BTreeMap<Module, BTreeMap<Module, &'e Edge>>) -> Option<Vec<&'e Edge>> {
    let mut done: BTreeSet<&Module> = BTreeSet::new();
    for start in graph.keys() {
        let mut way: Vec<(&Module, Vec<&Module>)> = vec![(start, targets(graph, start))];
        while let Some((node, open)) = way.last_mut() {
            let node = *node;
            let Some(next) = open.pop() else {
                done.insert(node);
                way.pop();
                continue;
            };
            if let Some(first) = way.iter().position(|(known, _)| *known == next) {
                let mut nodes: Vec<&Module> = way[first..].iter().map(|(node, _)| *node).collect();
                nodes.push(next);
                return Some(nodes.windows(2).map(|pair| graph[pair[0]][pair[1]]).collect());
            }
            if !done.contains(next) {
                way.push((next, targets(graph, next)));
            }
        }
    }
    None
}

fn targets<'g>(graph: &'g BTreeMap<Module, BTreeMap<Module, &Edge>>, node: &Module) -> Vec<&'g Module> {
    graph.get(node).map(|targets| targets.keys().collect()).unwrap_or_default()
}
