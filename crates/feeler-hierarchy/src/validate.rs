//! Checks that a decoded model is well formed.
//!
//! A correct checksum does not make a file trustworthy. After these checks every index and count is in
//! range and every number is finite and of a sensible magnitude, so code that uses a model need not check
//! again. Tightness and containment of the bounds are not checked here but by the tests of the
//! preparation.

use crate::data::{
    Area, Component, Edge, Face, Feature, Hierarchy, Inertia, Instance, Model, NearCanonical, Node, Vertex,
};
use feeler_geom::bezier::{BezierSpline, BezierSurface, H4, MAX_DEGREE};
use feeler_geom::trim::TrimCells;
use feeler_geom::{Curve, Frame, Obb, PolyCone, Rect, RevolutionCone, Surface, V3};
use std::f64::consts::{FRAC_PI_2, PI};
use std::fmt::Display;

/// Maximum depth of a hierarchy's tree, with the root at depth 1. Traversals with stacks of fixed size
/// rely on it; a larger value needs larger stacks, a smaller one rejects deep trees.
pub const MAX_DEPTH: u32 = 64;

/// Maximum magnitude of any length (mm) or parameter in a file. No model comes near it, and products of a
/// few such numbers stay finite; with a larger value they could overflow.
pub const MAX_NUMBER: f64 = 1e30;

/// Maximum error of the squared length of axes and unit quaternions, and maximum deviation (rad) of axes
/// from right angles. A larger value accepts skewed frames, a smaller one rejects files with rounded
/// numbers.
const AXIS_TOL: f64 = 1e-6;

/// Maximum magnitude of the parameters of a periodic curve or surface, as a multiple of the period. Up
/// to this value, wrapping a parameter into one period keeps about half of its digits; a larger value
/// leaves fewer.
const MAX_PERIODS: f64 = 1e9;

/// A defect of a decoded model and its location in the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {what}")]
pub struct IllFormed {
    /// Location of the defect in the model, from the outside in, such as `solid 0: face 12: surface`.
    pub at: String,
    /// Description of the defect.
    pub what: String,
}

type Check = Result<(), IllFormed>;

/// Checks a whole model: indices and counts are in range, numbers are finite, frames are orthonormal,
/// radii and weights are positive, breaks and ranges increase, and the numbers of control points match.
/// Each tree has at most [`MAX_DEPTH`] levels, and every node and area is reached exactly once.
///
/// # Errors
/// The first defect found.
pub fn check_well_formed(model: &Model) -> Check {
    require(model.options.flatness > 0.0 && sized(model.options.flatness), "flatness must be positive")
        .at("options")?;
    for (i, solid) in model.solids.iter().enumerate() {
        check_hierarchy(solid).at(format_args!("solid {i}"))?;
    }
    for (i, instance) in model.instances.iter().enumerate() {
        check_instance(instance, model.solids.len()).at(format_args!("instance {i}"))?;
    }
    for (i, remark) in model.remarks.iter().enumerate() {
        require(remark.point.iter().flatten().all(|x| sized(*x)), NOT_FINITE)
            .at(format_args!("remark {i}"))?;
    }
    let mut placed = vec![false; model.instances.len()];
    for (i, component) in model.components.iter().enumerate() {
        check_component(component, i, &mut placed).at(format_args!("component {i}"))?;
    }
    Ok(())
}

/// Checks one solid's hierarchy by the rules of [`check_well_formed`].
///
/// # Errors
/// The first defect found.
pub fn check_hierarchy(h: &Hierarchy) -> Check {
    let info = &h.info;
    let facts = [info.area, info.volume, info.max_trim_deviation, info.uncertainty];
    require(facts.iter().chain(&info.bbox_min).chain(&info.bbox_max).all(|x| sized(*x)), NOT_FINITE)
        .at("facts")?;
    check_inertia(info.inertia.as_ref()).at("inertia")?;
    // The thickness is infinite if no faces are opposite to each other.
    require(info.min_thickness >= 0.0, "must be a length that is not negative, or infinite")
        .at("min_thickness")?;
    require(h.hull.iter().all(|p| sized_vec(&p.coords)), NOT_FINITE).at("hull")?;
    for (i, face) in h.faces.iter().enumerate() {
        check_face(face).at(format_args!("face {i}"))?;
    }
    for (i, edge) in h.edges.iter().enumerate() {
        check_edge(edge, &h.faces).at(format_args!("edge {i}"))?;
    }
    for (i, vertex) in h.vertices.iter().enumerate() {
        check_vertex(vertex).at(format_args!("vertex {i}"))?;
    }
    for (i, area) in h.areas.iter().enumerate() {
        check_area(area, h).at(format_args!("area {i}"))?;
    }
    for (i, node) in h.nodes.iter().enumerate() {
        check_obb(&node.obb).and_then(|()| check_cone(&node.cone)).at(format_args!("node {i}"))?;
    }
    check_tree(&h.nodes, h.areas.len()).at("tree")?;
    require(h.hull.is_empty() == h.nodes.is_empty(), "a hull is needed exactly if there are nodes").at("hull")
}

const NOT_FINITE: &str = "a number is not finite, or larger than 1e30";

/// Adds a location to the defect of a failed check.
trait AtLocation {
    fn at(self, place: impl Display) -> Self;
}

impl AtLocation for Check {
    fn at(self, place: impl Display) -> Self {
        self.map_err(|e| {
            let at = if e.at.is_empty() { place.to_string() } else { format!("{place}: {}", e.at) };
            IllFormed { at, what: e.what }
        })
    }
}

fn require(holds: bool, what: &str) -> Check {
    if holds { Ok(()) } else { Err(IllFormed { at: String::new(), what: what.to_owned() }) }
}

/// Returns whether a number is finite and at most [`MAX_NUMBER`] in magnitude.
fn sized(x: f64) -> bool {
    x.abs() <= MAX_NUMBER
}

fn sized_vec(v: &V3) -> bool {
    v.iter().all(|x| sized(*x))
}

fn is_unit(v: &V3) -> bool {
    (v.norm_squared() - 1.0).abs() <= AXIS_TOL
}

fn check_inertia(inertia: Option<&Inertia>) -> Check {
    let Some(Inertia { centroid, tensor }) = inertia else { return Ok(()) };
    require(centroid.iter().chain(tensor.iter().flatten()).all(|x| sized(*x)), NOT_FINITE)?;
    let [a, b, c] = tensor;
    require([a[1] - b[0], a[2] - c[0], b[2] - c[1]].iter().all(|x| *x == 0.0), "must be symmetric")
}

fn check_instance(instance: &Instance, n_solids: usize) -> Check {
    require((instance.solid as usize) < n_solids, "refers to a missing solid")?;
    check_motion(&instance.translation, &instance.rotation)
}

fn check_motion(translation: &[f64; 3], rotation: &[f64; 4]) -> Check {
    require(translation.iter().all(|x| sized(*x)), NOT_FINITE).at("translation")?;
    let norm_sq: f64 = rotation.iter().map(|q| q * q).sum();
    require((norm_sq - 1.0).abs() <= AXIS_TOL, "must be a unit quaternion; normalise it").at("rotation")
}

/// Checks that the parent of the component with the index `index` comes before it, so that the
/// components form trees, and that each of its instances belongs to no other component. `placed` marks
/// the instances of earlier components, and those of this component are added.
fn check_component(component: &Component, index: usize, placed: &mut [bool]) -> Check {
    let parent_first = component.parent.is_none_or(|p| (p as usize) < index);
    require(parent_first, "must come after its parent")?;
    for i in &component.instances {
        let seen = placed.get_mut(*i as usize);
        let first = seen.is_some_and(|s| !std::mem::replace(s, true));
        require(first, "refers to an instance that is missing or in another component")?;
    }
    check_motion(&component.translation, &component.rotation)
}

fn check_face(face: &Face) -> Check {
    check_surface(&face.surface).at("surface")?;
    check_trim(&face.trim).at("trimmed domain")?;
    if let Some(near) = &face.canonical_approximation {
        check_surface(&near.shape)
            .and_then(|()| check_near(near, is_simple(&near.shape) && !face.surface.is_canonical()))
            .at("nearly canonical surface")?;
    }
    for (i, (_, trim)) in face.sources.iter().enumerate() {
        if let Some(trim) = trim {
            check_trim(trim).at(format_args!("source {i}: trimmed domain"))?;
        }
    }
    Ok(())
}

/// Returns whether a surface is canonical and not a torus that intersects itself.
fn is_simple(surface: &Surface) -> bool {
    match surface {
        Surface::Bezier(_) => false,
        Surface::Torus { major, minor, .. } => major > minor,
        _ => true,
    }
}

/// Checks a canonical shape that a feature follows closely: its differences from the feature (distance in mm,
/// angle in rad and curvature in 1/mm) must be finite and not negative, and `fits` must be true. `fits` is
/// whether the shape is canonical and the feature's own surface or curve is free-form.
fn check_near<T>(near: &NearCanonical<T>, fits: bool) -> Check {
    require(fits, "the approximating shape must be canonical, and the approximated one free-form")?;
    let off = [near.deviation, near.angle, near.curvature];
    require(off.iter().all(|x| 0.0 <= *x && sized(*x)), "deviations must be finite and not negative")
}

fn check_trim(trim: &TrimCells) -> Check {
    check_rect(&trim.rect)?;
    let deviations = trim.pieces.iter().all(|p| 0.0 <= p.deviation && sized(p.deviation));
    require(deviations, "a deviation must be finite and not negative")?;
    require(trim.check(), "the cells contradict each other")
}

fn check_rect(rect: &Rect) -> Check {
    require([rect.u0, rect.u1, rect.v0, rect.v1].iter().all(|x| sized(*x)), NOT_FINITE)?;
    require(rect.u0 <= rect.u1 && rect.v0 <= rect.v1, "the rectangle is reversed")
}

fn check_frame(frame: &Frame) -> Check {
    require(sized_vec(&frame.origin.coords), NOT_FINITE).at("origin")?;
    check_axes([frame.x, frame.y, frame.z])
}

fn check_axes([x, y, z]: [V3; 3]) -> Check {
    let unit = [x, y, z].iter().all(is_unit);
    let right_handed = (x.cross(&y) - z).norm() <= AXIS_TOL;
    require(unit && right_handed, "axes must be orthonormal and right-handed")
}

fn positive(x: f64, what: &str) -> Check {
    require(0.0 < x && sized(x), what)
}

fn check_surface(surface: &Surface) -> Check {
    match surface {
        Surface::Plane { frame } => check_frame(frame),
        Surface::Cylinder { frame, radius } | Surface::Sphere { frame, radius } => {
            check_frame(frame)?;
            positive(*radius, "the radius must be positive")
        }
        Surface::Cone { frame, half_angle } => {
            check_frame(frame)?;
            let inside = 0.0 < *half_angle && *half_angle < FRAC_PI_2;
            require(inside, "the half-angle must be between 0 and a right angle")
        }
        Surface::Torus { frame, major, minor } => {
            check_frame(frame)?;
            positive(*major, "the major radius must be positive")?;
            positive(*minor, "the minor radius must be positive")
        }
        Surface::Bezier(grid) => check_grid(grid),
    }
}

fn check_curve(curve: &Curve) -> Check {
    match curve {
        Curve::Line { origin, dir } => {
            require(sized_vec(&origin.coords), NOT_FINITE).at("origin")?;
            require(is_unit(dir), "the direction must be of unit length")
        }
        Curve::Circle { frame, radius } => {
            check_frame(frame)?;
            positive(*radius, "the radius must be positive")
        }
        Curve::Ellipse { frame, semi_x: a, semi_y: b }
        | Curve::Hyperbola { frame, semi: a, semi_imag: b } => {
            check_frame(frame)?;
            positive(*a, "the semi-axes must be positive")?;
            positive(*b, "the semi-axes must be positive")
        }
        Curve::Parabola { frame, focal } => {
            check_frame(frame)?;
            positive(*focal, "the focal distance must be positive")
        }
        Curve::Bezier(spline) => check_spline(spline),
    }
}

fn check_spline(spline: &BezierSpline) -> Check {
    check_degree(spline.degree)?;
    let pieces = check_breaks(&spline.breaks)?;
    check_control(&spline.control, [pieces, spline.degree as usize + 1])
}

fn check_grid(grid: &BezierSurface) -> Check {
    check_degree(grid.u_degree)?;
    check_degree(grid.v_degree)?;
    let (nu, nv) = (check_breaks(&grid.u_breaks)?, check_breaks(&grid.v_breaks)?);
    check_control(&grid.control, [nu, nv, grid.u_degree as usize + 1, grid.v_degree as usize + 1])
}

fn check_degree(degree: u32) -> Check {
    require((1..=MAX_DEGREE).contains(&degree), "the degree is out of range")
}

/// Checks the breaks of a spline or grid in one parameter; returns the number of Bézier pieces between
/// them.
fn check_breaks(breaks: &[f64]) -> Result<usize, IllFormed> {
    require(breaks.len() >= 2, "at least two breaks (ends of pieces) are needed")?;
    require(breaks.iter().all(|x| sized(*x)), NOT_FINITE).at("breaks")?;
    require(breaks.windows(2).all(|w| w[0] < w[1]), "the breaks must increase")?;
    Ok(breaks.len() - 1)
}

fn check_control<const N: usize>(control: &[H4], factors: [usize; N]) -> Check {
    let expected = factors.iter().try_fold(1_usize, |n, f| n.checked_mul(*f));
    require(
        expected == Some(control.len()),
        "the number of control points does not match breaks and degree",
    )?;
    require(control.iter().all(|h| h.iter().all(|x| sized(*x))), NOT_FINITE).at("control points")?;
    require(control.iter().all(|h| h.w > 0.0), "weights must be positive")
}

fn check_edge(edge: &Edge, faces: &[Face]) -> Check {
    check_curve(&edge.curve).at("curve")?;
    if let Some(near) = &edge.canonical_approximation {
        let round = matches!(near.shape, Curve::Line { .. } | Curve::Circle { .. });
        check_curve(&near.shape)
            .and_then(|()| check_near(near, round && matches!(edge.curve, Curve::Bezier(_))))
            .at("nearly canonical curve")?;
    }
    require(!edge.spans.is_empty(), "has no span")?;
    require(!edge.closed || edge.spans.len() == 1, "is closed but has several spans")?;
    for (i, span) in edge.spans.iter().enumerate() {
        let check = check_range(&edge.curve, span.t0, span.t1).and_then(|()| {
            require(
                0.0 <= span.deviation && sized(span.deviation),
                "the deviation must be finite and not negative",
            )
        });
        check.at(format_args!("span {i}"))?;
    }
    for (i, side) in edge.sides.iter().enumerate() {
        let known = require(side.face.index() < faces.len(), "refers to a missing face");
        let numbers = require(side.guide.iter().flatten().all(|x| sized(*x)), NOT_FINITE);
        let is_ordered = side.guide.windows(2).all(|w| w[0][0] <= w[1][0]);
        let order = require(is_ordered, "the samples in guide must be in order of the curve's parameter t");
        known.and(numbers).and(order).at(format_args!("side {i}"))?;
    }
    Ok(())
}

/// Checks a parameter range of a curve, which may be at most one period long.
fn check_range(curve: &Curve, t0: f64, t1: f64) -> Check {
    require(sized(t0) && sized(t1), NOT_FINITE)?;
    require(t0 < t1, "the range is empty or reversed")?;
    check_period(curve.period(), t0, t1)
}

/// Checks that a parameter range is at most one period long, which keeps loops over periods short. Also
/// checks that the range is near enough to 0 for wrapping to keep enough digits. Parameters without a
/// period pass.
fn check_period(period: Option<f64>, t0: f64, t1: f64) -> Check {
    let Some(period) = period else { return Ok(()) };
    require(t1 - t0 <= period * (1.0 + 1e-6), "the range is longer than the period")?;
    require(
        t0.abs().max(t1.abs()) <= MAX_NUMBER.min(MAX_PERIODS * period),
        "the range is more than 1e9 periods away from 0; shift it towards 0 by whole periods",
    )
}

fn check_vertex(vertex: &Vertex) -> Check {
    require(sized_vec(&vertex.point.coords), NOT_FINITE).at("point")?;
    require(vertex.constraints.iter().all(sized_vec), NOT_FINITE).at("constraints")?;
    require(
        0.0 <= vertex.deviation && sized(vertex.deviation),
        "the deviation must be finite and not negative",
    )
}

fn check_area(area: &Area, h: &Hierarchy) -> Check {
    check_rect(&area.rect)?;
    let r = &area.rect;
    match area.feature {
        Feature::Face(i) => {
            let face = h.faces.get(i.index());
            require(face.is_some(), "refers to a missing face")?;
            let surface = face.map(|f| &f.surface);
            check_period(surface.and_then(Surface::u_period), r.u0, r.u1)?;
            check_period(surface.and_then(Surface::v_period), r.v0, r.v1)?;
        }
        Feature::Edge(i) => {
            let edge = h.edges.get(i.index());
            require(edge.is_some(), "refers to a missing edge")?;
            check_period(edge.and_then(|e| e.curve.period()), r.u0, r.u1)?;
        }
        Feature::Vertex(i) => require(i.index() < h.vertices.len(), "refers to a missing vertex")?,
    }
    check_poly_cone(&area.cone).at("cone")
}

fn check_poly_cone(cone: &PolyCone) -> Check {
    require(cone.generators.iter().all(is_unit), "generators must be of unit length")
}

fn check_cone(cone: &RevolutionCone) -> Check {
    require(is_unit(&cone.axis), "must be of unit length").at("cone axis")?;
    require((0.0..=PI).contains(&cone.half_angle), "must be between 0 and π").at("cone half-angle")
}

fn check_obb(obb: &Obb) -> Check {
    let sizes = sized_vec(&obb.half) && obb.half.iter().all(|h| *h >= 0.0);
    require(sized_vec(&obb.center.coords), NOT_FINITE).at("box centre")?;
    require(sizes, "half-lengths must be lengths").at("box")?;
    check_axes(obb.axes).at("box")
}

/// Checks the tree in one forward pass. Children come after their parent, so the depth of each node is
/// set before the pass reaches it. Each node except the root must receive a depth exactly once.
fn check_tree(nodes: &[Node], n_areas: usize) -> Check {
    if nodes.is_empty() {
        return require(n_areas == 0, "there are areas but no nodes");
    }
    let mut depth = vec![0_u32; nodes.len()];
    let mut reached = vec![false; n_areas];
    depth[0] = 1;
    for (i, node) in nodes.iter().enumerate() {
        check_node(i, node, nodes, &mut depth, &mut reached).at(format_args!("node {i}"))?;
    }
    let missed = reached.iter().position(|r| !r);
    require(missed.is_none(), &format!("area {} has no leaf", missed.unwrap_or_default()))
}

fn check_node(i: usize, node: &Node, nodes: &[Node], depth: &mut [u32], reached: &mut [bool]) -> Check {
    let here = depth[i];
    require(here > 0, "is not reached from the root")?;
    require(here <= MAX_DEPTH, "is deeper than 64 levels")?;
    if let Some([a, b]) = node.children() {
        let (a, b) = (a.index(), b.index());
        require(i < a && b < nodes.len(), "its children are missing or do not come after it")?;
        require(depth[a] == 0 && depth[b] == 0, "its children have two parents")?;
        (depth[a], depth[b]) = (here + 1, here + 1);
        let below = nodes[a].types | nodes[b].types;
        return require(node.types & below == below, "lacks types of its children");
    }
    let seen = node.area().and_then(|area| reached.get_mut(area.index()));
    let first = seen.is_some_and(|r| !std::mem::replace(r, true));
    require(first, "its area is missing or has another leaf")
}

#[cfg(test)]
mod tests;
