//! Axes of the features of revolution and normals of the planes of a solid. Culling results that depend
//! only on the shape of such a feature stay valid as the solid rotates about its axis.

use super::FeatureData;
use feeler_geom::skeleton::Primitive;
use feeler_geom::{Aabb, Obb, P3, V3};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Axis shared by features that are surfaces or curves of revolution about it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis {
    /// Point of the axis in the middle of the features that share it, in the frame of the solid.
    pub center: P3,
    /// Unit direction of the axis, in the frame of the solid.
    pub direction: V3,
    /// Radius (mm) of a ball around `center` that contains the features that share the axis.
    pub radius: f64,
    /// Upper bounds of the motion of the features per radian of rotation of the solid about this axis:
    /// displacement (mm/rad) and angle (rad/rad). Both are 0 if all features have exactly this axis,
    /// because a rotation about it then maps them to themselves.
    pub off: [f64; 2],
}

/// Maximum number of axes of a solid. More axes bound displacements more tightly and cost more in every
/// query.
pub(crate) const MAX_AXES: usize = 32;

/// Largest [`Axis::radius`], in sizes of the solid, up to which an axis is used. If a small part is cut
/// from a large cylinder, its axis is far away and moves far when the part tilts, so that regions bound
/// the motion more tightly. A larger value gives margins that are used up sooner; with a smaller one,
/// rotations of features about their axes count as motion more often.
const MAX_AXIS_DISTANCE: f64 = 2.0;

/// Step of the grid to which axes are rounded before they are compared: a fraction of the solid's size
/// for points, and absolute for components of unit directions. Deviations within a step add to
/// displacements. A larger value gives looser margins, a smaller one more axes.
const AXIS_GRID: f64 = 1e-6;

/// Axis in steps of [`AXIS_GRID`]: its direction, and its point nearest to the origin. The point is
/// `None` for a plane without a ring, because its normal may pass through any point.
type Key = ([i64; 3], Option<[i64; 3]>);

/// Returns the axes of the largest groups of features, at most [`MAX_AXES`], and for each feature the
/// index of its axis in that list. The index is `None` for a feature that has no axis, or whose axis is
/// not in the list. `size` and `deviation` (mm) are those of the solid.
pub(super) fn axes(features: &[FeatureData], size: f64, deviation: f64) -> (Vec<Axis>, Vec<Option<u8>>) {
    let mut groups: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
    for (i, data) in features.iter().enumerate() {
        if let Some(line) = line_of(data).filter(|_| !data.areas.is_empty()) {
            groups.entry(line.key(size)).or_default().push(i);
        }
    }
    // Planes without an axis of their own join the largest group with an axis along their normal.
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
    // The sort is stable: groups of equal size keep their order.
    lines.sort_by_key(|(_, members)| Reverse(members.len()));
    lines.truncate(MAX_AXES);
    let mut of_feature = vec![None; features.len()];
    let mut out = Vec::new();
    for (_, members) in &lines {
        let about: Vec<&FeatureData> = members.iter().map(|&i| &features[i]).collect();
        if let Some(axis) = around(&about, deviation).filter(|axis| axis.radius <= MAX_AXIS_DISTANCE * size) {
            let number = u8::try_from(out.len()).ok();
            members.iter().for_each(|&i| of_feature[i] = number);
            out.push(axis);
        }
    }
    (out, of_feature)
}

/// Axis of one feature.
#[derive(Clone, Copy, Debug)]
struct Line {
    /// A point of the axis; `None` for a plane without a ring, whose normal may pass through any point.
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
            reason = "axes at saturated distances are rejected in `around`"
        )]
        let steps = |v: V3, step: f64| [v.x, v.y, v.z].map(|x| (x / step).round() as i64);
        let direction = steps(self.direction, AXIS_GRID);
        // An axis has no sense, so the first nonzero component is made positive.
        let positive = direction.iter().find(|x| **x != 0).is_none_or(|x| *x > 0);
        let direction = if positive { direction } else { direction.map(|x| -x) };
        let foot = self.origin.map(|o| o.coords - self.direction * self.direction.dot(&o.coords));
        (direction, foot.map(|p| steps(p, AXIS_GRID * size)))
    }
}

/// Common axis of features that extend beyond their boxes by at most `deviation` (mm): that of the first
/// feature whose axis has a known position. `None` if no feature has an axis.
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
    /// Contribution of one feature to [`Axis::off`], which is the componentwise maximum over all
    /// features that share this axis. The feature's own axis has the unit direction `direction` and
    /// passes through `origin` (frame of the solid). `origin` is `None` for a plane without a ring,
    /// whose normal may pass through any point. If the solid rotates about this axis by an angle θ
    /// (rad), the feature is displaced by at most the first number (mm/rad) times θ, and its directions
    /// turn by at most the second number (rad/rad) times θ.
    pub(crate) fn off_of(&self, origin: Option<&P3>, direction: &V3) -> [f64; 2] {
        let away = origin.map_or(0.0, |o| direction.cross(&(self.center - o)).norm());
        let turned = (direction - self.direction).norm().min((direction + self.direction).norm());
        [away + (self.radius + away) * turned, turned]
    }
}
