//! Representations, their units, and where the assembly tree places them.

use std::collections::BTreeMap;

use feeler_geom::Pose;

use crate::entities::{Entities, Res};
use crate::error::Problem;
use crate::topology::is_solid;
use crate::units::{Units, units_of_context};

/// One place of a solid.
#[derive(Debug)]
pub(crate) struct Placed {
    /// Entity id of the solid.
    pub(crate) solid: u64,
    pub(crate) name: String,
    pub(crate) path: String,
    pub(crate) pose: Pose,
}

/// All solids of a file and their places.
#[derive(Debug)]
pub(crate) struct Layout {
    /// Units of each distinct solid's representation, or why they are not known.
    pub(crate) solids: BTreeMap<u64, Res<Units>>,
    pub(crate) instances: Vec<Placed>,
}

/// Finds the solids of a file and their places.
pub(crate) fn layout(entities: &Entities, problems: &mut Vec<Problem>) -> Layout {
    let _ = problems;
    let mut solids = BTreeMap::new();
    let mut instances = Vec::new();
    for r in entities.iter() {
        let Some(items) = representation(&r) else { continue };
        let Some(context) = items.maybe_reference(2) else { continue };
        for item in items.any_references(1) {
            if entities.find(item).is_some_and(|r| is_solid(&r)) {
                solids.entry(item).or_insert_with(|| units_of_context(entities, context, r.id));
            }
        }
    }
    for id in solids.keys() {
        instances.push(Placed {
            solid: *id,
            name: String::new(),
            path: String::new(),
            pose: Pose::identity(),
        });
    }
    Layout { solids, instances }
}

fn representation<'a>(r: &crate::entities::Record<'a>) -> Option<crate::entities::Record<'a>> {
    r.own("REPRESENTATION", 0).or_else(|| r.name.ends_with("REPRESENTATION").then(|| r.clone()))
}
