//! [`OoxmlPlan`]: which parts and relationships of a package go, before anything is written.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::sanitize::format::link_target;
use crate::sanitize::format::ooxml::relations::{Relations, Types, source_of};
use crate::sanitize::format::ooxml::role::{self, PartRole};
use crate::sanitize::{ChangedObject, ObjectKind, RedactionMode, Rejection, Work};

/// What goes, and what becomes of links.
#[derive(Default)]
pub(super) struct OoxmlPlan {
    /// Parts that go, in lower case.
    pub(super) gone: HashSet<String>,
    /// Relationships that go, by source and id.
    pub(super) dead: HashMap<String, HashSet<String>>,
    /// Links that lead somewhere else now, by source and id.
    pub(super) links: HashMap<(String, String), String>,
    /// Whether there are signatures of the package.
    pub(super) signed: bool,
}

impl OoxmlPlan {
    /// Decides over the parts (`parts`: names in lower case; `programs`: which of them are some), and counts.
    ///
    /// # Errors
    /// The host's.
    pub(super) fn new(
        parts: &[String],
        types: &Types,
        relations: &[Relations],
        programs: &HashSet<String>,
        work: &mut Work<'_>,
    ) -> Result<Self, Rejection> {
        let mut plan = Self::default();
        if work.options().interactive {
            plan.gone.clone_from(programs);
            let in_order: BTreeSet<&String> = programs.iter().collect();
            in_order.into_iter().for_each(|part| work.acting(active(part)));
        }
        let known: HashSet<&str> = parts.iter().map(String::as_str).collect();
        plan.judge_parts(parts, types, relations, work);
        plan.judge_relations(relations, &known, work);
        plan.drop_stranded(relations, &known);
        plan.judge_links(relations, work)?;
        if work.options().redaction == RedactionMode::Apply {
            plan.drop_previews(relations, work);
        }
        let stranded: Vec<String> = parts
            .iter()
            .filter(|part| source_of(part).is_some_and(|source| plan.gone.contains(&source)))
            .cloned()
            .collect();
        plan.gone.extend(stranded);
        plan.signed = parts.iter().any(|part| part.starts_with("_xmlsignatures/"));
        Ok(plan)
    }

    /// Whether a relationship goes.
    pub(super) fn is_dead(&self, source: &str, id: &str) -> bool {
        self.dead.get(source).is_some_and(|dead| dead.contains(id))
    }

    fn kill(&mut self, source: &str, id: &str) {
        self.dead.entry(source.to_owned()).or_default().insert(id.to_owned());
    }

    fn judge_parts(&mut self, parts: &[String], types: &Types, relations: &[Relations], work: &mut Work<'_>) {
        let mut roles: HashMap<&str, PartRole> = HashMap::new();
        for relation in relations.iter().flat_map(|of| &of.all) {
            let part = relation.part.as_deref();
            let Some((part, role)) = part.zip(role::of_relation(&relation.kind, false)) else { continue };
            let worst = roles.entry(part).or_insert(role);
            *worst = role.max(*worst);
        }
        let others = parts.iter().filter(|part| !self.gone.contains(*part)).collect::<Vec<_>>();
        for part in others.into_iter().filter(|part| !part.is_empty() && !is_own(part)) {
            let by_type = types.of(part).map_or(Some(PartRole::Attachment), role::of_type);
            let role = by_type.max(role::of_path(part)).max(roles.get(part.as_str()).copied());
            let Some(role) = role.filter(|role| role.goes(work.options())) else { continue };
            self.gone.insert(part.clone());
            match role {
                PartRole::Attachment => {
                    work.detached(ChangedObject::removed(ObjectKind::Attachment).in_part(part))
                }
                PartRole::Active => work.acting(active(part)),
                PartRole::Appendix => {}
            }
        }
    }

    /// Relationships to what goes, and those that lead out. What leads to nothing in the package is counted here.
    fn judge_relations(&mut self, relations: &[Relations], known: &HashSet<&str>, work: &mut Work<'_>) {
        for of in relations {
            for relation in &of.all {
                let part = relation.part.as_deref();
                let to_gone = part.is_some_and(|part| self.gone.contains(part));
                let role = role::of_relation(&relation.kind, part.is_none() && !relation.is_link());
                if !to_gone && !role.is_some_and(|role| role.goes(work.options())) {
                    continue;
                }
                self.kill(&of.source, &relation.id);
                if !part.is_some_and(|part| known.contains(part)) && !self.gone.contains(&of.source) {
                    work.acting(ChangedObject::removed(ObjectKind::Reference).in_part(&of.source));
                }
            }
        }
    }

    /// Parts that only parts which go had led to.
    fn drop_stranded(&mut self, relations: &[Relations], known: &HashSet<&str>) {
        let (before, after) = (self.reached(relations, false), self.reached(relations, true));
        let stranded = before.difference(&after).filter(|part| known.contains(part.as_str()));
        self.gone.extend(stranded.cloned().collect::<Vec<_>>());
    }

    /// The parts that the package leads to: with all relationships, or those that stay.
    fn reached(&self, relations: &[Relations], staying: bool) -> HashSet<String> {
        let by_source: HashMap<&str, &Relations> =
            relations.iter().map(|of| (of.source.as_str(), of)).collect();
        let mut reached = HashSet::new();
        let mut open = vec![String::new()];
        while let Some(source) = open.pop() {
            let Some(of) = by_source.get(source.as_str()) else { continue };
            for relation in &of.all {
                let Some(part) = &relation.part else { continue };
                let stays = !self.gone.contains(part) && !self.is_dead(&source, &relation.id);
                if (stays || !staying) && reached.insert(part.clone()) {
                    open.push(part.clone());
                }
            }
        }
        reached
    }

    /// Links that wait for a click: those that start programs or reach into a network go, others may be defanged.
    fn judge_links(&mut self, relations: &[Relations], work: &mut Work<'_>) -> Result<(), Rejection> {
        let mut asked: Vec<(&str, &str, &str)> = Vec::new();
        for of in relations.iter().filter(|of| !self.gone.contains(&of.source)) {
            let dead = self.dead.entry(of.source.clone()).or_default();
            for relation in of.all.iter().filter(|relation| relation.part.is_none()) {
                if dead.contains(&relation.id) {
                    continue;
                }
                if relation.is_link() && work.options().interactive && link_target::acts(&relation.target) {
                    dead.insert(relation.id.clone());
                    work.acting(ChangedObject::removed(ObjectKind::Reference).in_part(&of.source));
                } else {
                    asked.push((&of.source, &relation.id, &relation.target));
                }
            }
        }
        let targets: Vec<&str> = asked.iter().map(|(_, _, target)| *target).collect();
        let changed = work.targets(&targets)?;
        for ((source, id, _), target) in asked.into_iter().zip(changed) {
            let Some(target) = target else { continue };
            self.links.insert((source.to_owned(), id.to_owned()), link_target::written(&target));
        }
        Ok(())
    }

    /// Pictures of a page as it was.
    fn drop_previews(&mut self, relations: &[Relations], work: &mut Work<'_>) {
        for of in relations {
            for relation in of.all.iter().filter(|relation| relation.kind == "thumbnail") {
                let Some(part) = &relation.part else { continue };
                self.kill(&of.source, &relation.id);
                if self.gone.insert(part.clone()) {
                    work.leave_out(ChangedObject::left_out(ObjectKind::Preview).in_part(part));
                }
            }
        }
    }

    /// Lets the signatures of the package go: a change has made them invalid.
    pub(super) fn unsign(&mut self, parts: &[String], relations: &[Relations]) {
        let signatures = parts.iter().filter(|part| part.starts_with("_xmlsignatures/"));
        self.gone.extend(signatures.cloned());
        for of in relations {
            for relation in &of.all {
                if relation.part.as_ref().is_some_and(|part| self.gone.contains(part)) {
                    self.kill(&of.source, &relation.id);
                }
            }
        }
    }
}

/// A part that acts, as it is told of.
fn active(part: &str) -> ChangedObject {
    let macros = part.contains("vba") || part.contains("macrosheet");
    ChangedObject::removed(if macros { ObjectKind::Macro } else { ObjectKind::ActivePart }).in_part(part)
}

/// Whether a part is what holds the package together.
pub(super) fn is_own(part: &str) -> bool {
    part == "[content_types].xml" || source_of(part).is_some()
}
