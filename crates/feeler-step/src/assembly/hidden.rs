//! Solids and instances that a file hides.
//!
//! `INVISIBILITY` lists styled items, layers, representations or items. A styled item that overrides
//! another one in a context hides its item only in the instances that are reached through that context.
//!
//! # Source
//! ISO 10303-46; the implementor forum's recommended practice for styling and organization.

use std::collections::{BTreeMap, BTreeSet};

use super::index::Index;
use crate::entities::Entities;
use crate::error::Problem;
use feeler_brep::Severity;

const IN_CONTEXT: &str = "CONTEXT_DEPENDENT_OVER_RIDING_STYLED_ITEM";
const STYLED_ITEMS: [&str; 3] = ["STYLED_ITEM", "OVER_RIDING_STYLED_ITEM", IN_CONTEXT];

/// Condition under which an item is hidden.
#[derive(Debug)]
struct Rule {
    /// Entity that hides the item, as listed by `INVISIBILITY`.
    by: u64,
    /// Entity ids (relations, usages, mapped items, representations) that are all on the route from the
    /// root to a hidden instance of the item; empty if all instances are hidden.
    contexts: Vec<u64>,
}

/// Everything that a file hides.
#[derive(Debug, Default)]
pub(super) struct Hidden {
    /// Solids and mapped items that are hidden everywhere: directly, through a styled item, on a layer,
    /// or as an item of a representation.
    items: BTreeSet<u64>,
    /// Rules by the hidden entity, which is an item hidden in a context, or a representation. A hidden
    /// representation hides the representations that are related to it and the components used in it.
    rules: BTreeMap<u64, Vec<Rule>>,
    /// All entities to which `rules` refer.
    mentioned: BTreeSet<u64>,
}

impl Hidden {
    /// Finds what the file hides.
    pub(super) fn new(entities: &Entities) -> Self {
        let mut out = Self::default();
        // Entities to visit, each with the entity listed by `INVISIBILITY` that leads to it, and with its
        // contexts.
        let mut left: Vec<(u64, u64, Vec<u64>)> = Vec::new();
        for r in entities.iter().filter(|r| r.is("INVISIBILITY")) {
            left.extend(r.any_references(0).map(|id| (id, id, Vec::new())));
        }
        let mut seen = BTreeSet::new();
        while let Some((id, by, mut contexts)) = left.pop() {
            let is_new = seen.insert((id, contexts.clone()));
            let Some(r) = entities.find(id).filter(|_| is_new) else { continue };
            if let Some(own) = STYLED_ITEMS.iter().find_map(|kind| r.own(kind, 1)) {
                if let Some(style) = r.own(IN_CONTEXT, 4) {
                    contexts.extend(style.any_references(0));
                }
                left.extend(own.maybe_reference(1).map(|item| (item, by, contexts)));
            } else if r.is("PRESENTATION_LAYER_ASSIGNMENT") {
                left.extend(r.any_references(2).map(|item| (item, by, contexts.clone())));
            } else if r.name.ends_with("REPRESENTATION") && !r.name.contains("PRESENTATION_") {
                if contexts.is_empty() {
                    left.extend(r.any_references(1).map(|item| (item, by, Vec::new())));
                }
                out.add_rule(id, by, contexts);
            } else if contexts.is_empty() {
                out.items.insert(id);
            } else {
                out.add_rule(id, by, contexts);
            }
        }
        out
    }

    fn add_rule(&mut self, item: u64, by: u64, contexts: Vec<u64>) {
        self.mentioned.insert(item);
        self.mentioned.extend(&contexts);
        self.rules.entry(item).or_default().push(Rule { by, contexts });
    }

    /// Returns whether a route must contain the entity `id` if the route leads through it.
    pub(super) fn mentions(&self, id: u64) -> bool {
        self.mentioned.contains(&id)
    }

    /// Returns the entity that hides an instance, and `None` if the instance is visible. The instance
    /// consists of the entities `ends`; `route` contains the mentioned entities from the root to it.
    pub(super) fn hides(&self, route: &[u64], ends: &[u64]) -> Option<u64> {
        // Items that are hidden everywhere are handled by `leave_out_items`.
        if self.mentioned.is_empty() || ends.iter().any(|e| self.items.contains(e)) {
            return None;
        }
        let contains = |id: &u64| route.contains(id) || ends.contains(id);
        let rules = route.iter().chain(ends).filter_map(|id| self.rules.get(id)).flatten();
        let mut hiding = rules.filter(|rule| rule.contexts.iter().all(contains));
        hiding.next().map(|rule| rule.by)
    }

    /// Removes the solids and mapped items that are hidden everywhere from the index if the user requests
    /// it; otherwise reports their number. If all solids are hidden, all of them are kept and the other
    /// rules are removed.
    pub(super) fn leave_out_items(&mut self, index: &mut Index<'_>, problems: &mut Vec<Problem>) {
        let hidden = &self.items;
        let n_mapped = index.reps.values().flat_map(|r| &r.mapped).filter(|m| hidden.contains(m)).count();
        let solids: Vec<u64> = index.solids.iter().copied().filter(|s| hidden.contains(s)).collect();
        let Some(first) = solids.first().copied().or_else(|| hidden.first().copied()) else { return };
        let n = solids.len() + n_mapped;
        if n == 0 {
            return;
        }
        let (plural, verb) = if n == 1 { ("", "is") } else { ("s", "are") };
        let all = solids.len() == index.solids.len();
        let (severity, message) = if !index.entities.skip_hidden() {
            let message = format!(
                "is one of {n} solid{plural} that {verb} hidden in the file (INVISIBILITY) and {verb} read; \
                `--skip-hidden` leaves hidden solids out"
            );
            (Severity::Note, message)
        } else if all {
            self.rules.clear();
            self.mentioned.clear();
            (
                Severity::Warning,
                "is hidden in the file, as all its solids are; they are read nevertheless".to_owned(),
            )
        } else {
            index.solids.retain(|s| !hidden.contains(s));
            for rep in index.reps.values_mut() {
                rep.solids.retain(|s| !hidden.contains(s));
                rep.mapped.retain(|m| !hidden.contains(m));
            }
            (Severity::Note, format!("is one of {n} solid{plural} that {verb} hidden in the file; left out"))
        };
        problems.push(Problem::new(Some(first), severity, message));
    }
}

/// Treatment of the instances that a [`Hidden`] hides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Treatment {
    /// Instances are read.
    Read,
    /// Instances are left out.
    LeaveOut,
    /// Instances are read because the file hides all of them, although the user wants to leave them out.
    ReadAll,
}

/// Hidden instances that the traversal of the assembly found.
#[derive(Debug, Default)]
pub(super) struct HiddenInstances {
    /// Entity that hides the first one.
    by: Option<u64>,
    n: usize,
}

impl HiddenInstances {
    /// Counts an instance that the entity `by` hides.
    pub(super) fn count(&mut self, by: u64) {
        self.by.get_or_insert(by);
        self.n += 1;
    }

    /// Remark about the hidden instances; `None` if no instance was counted.
    pub(super) fn report(&self, treatment: Treatment) -> Option<Problem> {
        let by = self.by?;
        let (plural, verb) = if self.n == 1 { ("", "is") } else { ("s", "are") };
        let n = self.n;
        let (severity, message) = match treatment {
            Treatment::Read => (
                Severity::Note,
                format!(
                    "hides {n} instance{plural} (INVISIBILITY), which {verb} read; `--skip-hidden` leaves \
                     hidden solids out"
                ),
            ),
            Treatment::LeaveOut => {
                (Severity::Note, format!("hides {n} instance{plural} (INVISIBILITY), which {verb} left out"))
            }
            Treatment::ReadAll => (
                Severity::Warning,
                format!("hides all instances ({n}) of the file (INVISIBILITY); they are read nevertheless"),
            ),
        };
        Some(Problem::new(Some(by), severity, message))
    }
}
