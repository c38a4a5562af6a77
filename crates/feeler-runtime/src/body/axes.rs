//! Axes about which features of a solid are of revolution, and normals of its planes: how far the solid turns
//! about one of them is no matter for what is told by the form of such a feature.

use super::FeatureData;
use feeler_geom::skeleton::Primitive;
use feeler_geom::{Aabb, Obb, P3, V3};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// An axis with features that are of revolution about it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis {
    /// A point in the middle of the features.
    pub center: P3,
    /// Unit direction.
    pub direction: V3,
    /// Distance (mm) from the centre within which the features are.
    pub radius: f64,
    /// By how much features can move more than the axis for each radian that the solid turns, for they have
    /// axes of their own, which are a little off: length (mm) and angle (rad).
    pub off: [f64; 2],
}

/// Axes of each solid: more of them bound displacements better, and cost more in every query.
pub(crate) const MOST: usize = 32;

/// Distance from the middle of its features, in sizes of the solid, beyond which an axis tells less than a
/// region of the solid: those of large cylinders that a small part is cut from move far when the part tilts.
const FAR: f64 = 2.0;

/// Steps by which axes are told apart, relative to the size of the solid and in directions: what they are off
/// each other within a step adds to displacements.
const STEP: f64 = 1e-6;

/// An axis in steps: its direction, and its point that is nearest to the origin; of planes, where any point
/// will do, none.
type Key = ([i64; 3], Option<[i64; 3]>);

/// The axes of those groups of features, no more than [`MOST`], that have most features, and for each feature
/// the position of its own. `size` and `deviation` (mm) are of the solid.
pub(super) fn axes(features: &[FeatureData], size: f64, deviation: f64) -> (Vec<Axis>, Vec<Option<u8>>) {
    let mut groups: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
    for (i, data) in features.iter().enumerate() {
        if let Some(line) = line_of(data).filter(|_| !data.areas.is_empty()) {
            groups.entry(line.key(size)).or_default().push(i);
        }
    }
    // Planes alone join what is of revolution about their normals, the largest group.
    let mut lines: Vec<(Key, Vec<usize>)> = Vec::new();
    let mut largest: BTreeMap<[i64; 3], usize> = BTreeMap::new();
    for (key, members) in groups.iter().filter(|(key, _)| key.1.is_some()) {
        let first = *largest.entry(key.0).or_insert(lines.len());
        if lines.get(first).is_some_and(|(_, of_first)| of_first.len() < members.len()) {
            largest.insert(key.0, lines.len());
        }
        lines.push((*key, members.clone()));
    }
    for (key, members) in groups.into_iter().filter(|(key, _)| key.1.is_none()) {
        match largest.get(&key.0) {
            Some(&k) => lines[k].1.extend(members),
            None => lines.push((key, members)),
        }
    }
    // Stable: those of as many features stay in their order.
    lines.sort_by_key(|(_, members)| Reverse(members.len()));
    lines.truncate(MOST);
    let mut of_feature = vec![None; features.len()];
    let mut out = Vec::new();
    for (_, members) in &lines {
        let about: Vec<&FeatureData> = members.iter().map(|&i| &features[i]).collect();
        if let Some(axis) = around(&about, deviation).filter(|axis| axis.radius <= FAR * size) {
            let number = u8::try_from(out.len()).ok();
            members.iter().for_each(|&i| of_feature[i] = number);
            out.push(axis);
        }
    }
    (out, of_feature)
}

/// The axis of a feature.
#[derive(Clone, Copy, Debug)]
struct Line {
    /// A point of it; none of a plane's.
    origin: Option<P3>,
    direction: V3,
}

fn line_of(data: &FeatureData) -> Option<Line> {
    let (origin, direction) = match *data.around()? {
        Primitive::Plane { normal, .. } => (data.ring.map(|r| r.center), normal),
        Primitive::Line { origin, dir, .. } => (Some(origin), dir),
        Primitive::Circle { frame, .. } => (Some(frame.origin), frame.z),
        Primitive::Point { .. } => return None,
    };
    Some(Line { origin, direction })
}

impl Line {
    fn key(&self, size: f64) -> Key {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "what is too large is equal, and stays far off: see around"
        )]
        let steps = |v: V3, step: f64| [v.x, v.y, v.z].map(|x| (x / step).round() as i64);
        let direction = steps(self.direction, STEP);
        // An axis has no sign.
        let positive = direction.iter().find(|x| **x != 0).is_none_or(|x| *x > 0);
        let direction = if positive { direction } else { direction.map(|x| -x) };
        let foot = self.origin.map(|o| o.coords - self.direction * self.direction.dot(&o.coords));
        (direction, foot.map(|p| steps(p, STEP * size)))
    }
}

/// The axis of features; they are within their boxes but for a `deviation` (mm). `None` of none.
fn around(members: &[&FeatureData], deviation: f64) -> Option<Axis> {
    let lines = || members.iter().filter_map(|data| line_of(data));
    let Line { origin, direction } = lines().find(|l| l.origin.is_some()).or_else(|| lines().next())?;
    let bounds = members.iter().fold(Aabb::empty(), |b, data| b.union(&data.bounds));
    let middle = bounds.center();
    let center = origin.map_or(middle, |o| o + direction * direction.dot(&(middle - o)));
    let corners = Obb::from_aabb(&bounds).corners();
    let radius = corners.iter().fold(0.0_f64, |r, p| r.max((p - center).norm())) + deviation;
    let axis = Axis { center, direction, radius, off: [0.0; 2] };
    let off = lines().map(|own| axis.off_of(own.origin.as_ref(), &own.direction));
    let off = off.fold([0.0_f64; 2], |[length, angle], own| [length.max(own[0]), angle.max(own[1])]);
    Some(Axis { off, ..axis })
}

impl Axis {
    /// What the axis of a feature adds, given a point of it, unless any will do, and its direction: see
    /// [`Axis::off`].
    pub(crate) fn off_of(&self, origin: Option<&P3>, direction: &V3) -> [f64; 2] {
        let away = origin.map_or(0.0, |o| direction.cross(&(self.center - o)).norm());
        let turned = (direction - self.direction).norm().min((direction + self.direction).norm());
        [away + (self.radius + away) * turned, turned]
    }
}
