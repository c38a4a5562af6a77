//! Placed solids of one or several models, with unique paths.

use crate::AssemblyError;
use feeler_geom::Pose;
use feeler_hierarchy::{Instance, Model};
use feeler_runtime::{Body, ContactPair, QueryError, QueryOptions};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Placed solid of an assembly.
#[derive(Clone, Debug)]
pub struct AssemblyPart {
    /// Name of the part's product.
    pub name: String,
    /// Names of the components from the root of the assembly to the part, joined by `/`; the path of
    /// each part is unique in an [`Assembly`].
    pub path: String,
    /// Index of the part's model, in the order in which models were added to the assembly.
    pub model: usize,
    /// Index of the part's solid in that model.
    pub solid: usize,
    /// The solid, shared by all its instances.
    pub body: Arc<Body>,
    /// Pose that takes the solid's coordinates to the world.
    pub pose: Pose,
}

impl AssemblyPart {
    /// Creates the part of one instance of a model, given by the index in [`Model::instances`].
    ///
    /// # Errors
    /// The solid cannot be queried, or the index is out of range.
    pub fn from_instance(model: &Model, index: usize) -> Result<Self, AssemblyError> {
        let count = model.instances.len();
        let no_solid = feeler_runtime::BodyError::NoSolid { solid: index, count };
        let instance = model.instances.get(index).ok_or(no_solid)?;
        let body = Arc::new(Body::from_model(model, instance.solid as usize)?);
        Ok(Self::placed(instance, index, body))
    }

    fn placed(instance: &Instance, index: usize, body: Arc<Body>) -> Self {
        let path = [&instance.path, &instance.name].into_iter().find(|n| !n.is_empty());
        Self {
            name: instance.name.clone(),
            path: path.map_or_else(|| format!("solid {index}"), Clone::clone),
            model: 0,
            solid: instance.solid as usize,
            body,
            pose: instance.pose(),
        }
    }
}

/// Parts of one or several models.
#[derive(Clone, Debug, Default)]
pub struct Assembly {
    parts: Vec<AssemblyPart>,
    /// Path of each part, parallel to `parts`, without the numbers that are appended to equal paths.
    paths: Vec<String>,
    models: usize,
}

impl Assembly {
    /// Creates an assembly of all parts of a model, placed as in the model.
    ///
    /// # Errors
    /// A solid of the model cannot be queried.
    pub fn from_model(model: &Model) -> Result<Self, AssemblyError> {
        let mut assembly = Self::default();
        assembly.add(model, "", &Pose::identity())?;
        Ok(assembly)
    }

    /// Adds the parts of a model, moved by `pose` from their poses in the model. Unless `name` is empty,
    /// it precedes their paths as `name/`. Paths that occur several times in the assembly are numbered
    /// anew: `bolt#1`, `bolt#2`, …
    ///
    /// # Errors
    /// A solid of the model cannot be queried.
    pub fn add(&mut self, model: &Model, name: &str, pose: &Pose) -> Result<(), AssemblyError> {
        let bodies: Vec<Arc<Body>> = (0..model.solids.len())
            .map(|i| Body::from_model(model, i).map(Arc::new))
            .collect::<Result<_, _>>()?;
        for (i, instance) in model.instances.iter().enumerate() {
            let mut part = AssemblyPart::placed(instance, i, Arc::clone(&bodies[instance.solid as usize]));
            if !name.is_empty() {
                part.path = format!("{name}/{}", part.path);
            }
            part.model = self.models;
            part.pose = pose * part.pose;
            self.paths.push(part.path.clone());
            self.parts.push(part);
        }
        self.models += 1;
        for (part, path) in self.parts.iter_mut().zip(&self.paths) {
            part.path.clone_from(path);
        }
        number_equal_names(self.parts.iter_mut().map(|p| &mut p.path));
        Ok(())
    }

    /// The parts, in the order of the models and of their instances.
    #[must_use]
    pub fn parts(&self) -> &[AssemblyPart] {
        &self.parts
    }

    /// Returns the parts by value.
    #[must_use]
    pub fn into_parts(self) -> Vec<AssemblyPart> {
        self.parts
    }
}

/// Appends numbers to names that occur several times, in their order: `name#1`, `name#2`, … Other names
/// do not change.
pub fn number_equal_names<'a>(names: impl IntoIterator<Item = &'a mut String>) {
    let names: Vec<&mut String> = names.into_iter().collect();
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    for name in &names {
        *count.entry((*name).clone()).or_default() += 1;
    }
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for name in names.into_iter().filter(|name| count[*name] > 1) {
        let n = seen.entry(name.clone()).or_default();
        *n += 1;
        *name = format!("{name}#{n}");
    }
}

/// Computes the poses (world) of the solids A and B. `poses` has for each solid its motion and its pose
/// in its model, and the result is the product of the two. A large translation of the motion rounds the
/// solid's pose, and no query can correct this rounding.
///
/// # Errors
/// [`QueryError::CoordinatesTooLarge`] if both solids are so far from the origin that this rounding
/// exceeds a tenth of the tolerance. If only one of them is, this function returns no error, and the
/// query checks the coordinates.
pub fn compose_poses(
    pair: &ContactPair,
    poses: [(Pose, Pose); 2],
    options: &QueryOptions,
) -> Result<[Pose; 2], QueryError> {
    if poses.iter().any(|(_, own)| *own != Pose::identity()) {
        let [a, b] = poses.map(|(motion, _)| motion.translation.vector.amax());
        pair.check_coordinates(a.min(b), options)?;
    }
    Ok(poses.map(|(motion, own)| motion * own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_are_numbered() {
        let mut names = ["bolt", "nut", "bolt", "bolt"].map(str::to_owned);
        number_equal_names(names.iter_mut());
        assert_eq!(names, ["bolt#1", "nut", "bolt#2", "bolt#3"]);
    }
}
