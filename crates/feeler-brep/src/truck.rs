//! Conversion of solids of truck-modeling.
//!
//! The topology is copied, because truck's compressed shells hold indices as well. Lines and planes are
//! kept; lines of revolution become planes, cylinders and cones; other curves and surfaces become exact
//! NURBS. Entity ids are indices: vertices, edges and faces are numbered from 1 over all shells of the
//! solid.
//!
//! # Source
//! Revolution as rational quadratics: Piegl & Tiller, *The NURBS Book*, §8.5.

use std::f64::consts::FRAC_PI_2;

use feeler_geom::nurbs::{NurbsCurve, NurbsSurface};
use feeler_geom::{Curve, Frame, P3, Surface, V3, math};
use truck_modeling as truck;
use truck_modeling::Transformed as _;
use truck_modeling::{BoundedCurve as _, ParametricSurface as _, SquareMatrix as _};

use crate::source::{EdgeSource, FaceSource, LoopSource, SolidSource, VertexSource};

/// Maximum angle (rad) between directions that count as equal, and maximum distance of points that count
/// as on the axis of revolution, relative to the size of the curve. A larger value changes shapes, a
/// smaller one turns planes and other canonical surfaces into splines.
const CANONICAL_TOL: f64 = 1e-9;

/// Reason why a solid of truck-modeling cannot be converted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TruckError {
    /// The curve of an edge has no exact representation (an intersection of surfaces), or is degenerate.
    #[error("edge {edge}: {what}")]
    Curve {
        /// Number of the edge, from 1.
        edge: u64,
        /// Description of the curve's problem.
        what: String,
    },
    /// The surface of a face has no exact representation, or is degenerate.
    #[error("face {face}: {what}")]
    Surface {
        /// Number of the face, from 1.
        face: u64,
        /// Description of the surface's problem.
        what: String,
    },
    /// A stored solid refers to a vertex or an edge that it does not have.
    #[error("shell {shell}: an edge or a face refers to a vertex or an edge that is not in the file")]
    Index {
        /// Number of the shell, from 1.
        shell: usize,
    },
    /// The edges of a face do not connect, or the shells of a stored solid are not closed.
    #[error("{0}; repair the solid in truck")]
    Topology(String),
}

/// A solid as truck stores it.
pub type CompressedSolid =
    truck_topology::compress::CompressedSolid<truck::Point3, truck::Curve, truck::Surface>;

/// Restores a stored solid.
///
/// # Errors
/// [`TruckError::Index`] or [`TruckError::Topology`].
pub fn restored(solid: CompressedSolid) -> Result<truck::Solid, TruckError> {
    for (k, shell) in solid.boundaries.iter().enumerate() {
        let (vertices, edges) = (shell.vertices.len(), shell.edges.len());
        let is_known = shell.edges.iter().all(|e| e.vertices.0 < vertices && e.vertices.1 < vertices)
            && shell.faces.iter().flat_map(|f| &f.boundaries).flatten().all(|e| e.index < edges);
        if !is_known {
            return Err(TruckError::Index { shell: k + 1 });
        }
    }
    truck::Solid::extract(solid).map_err(|e| TruckError::Topology(e.to_string()))
}

/// Converts a solid, whose lengths are taken as millimetres. [`build_solid`](crate::build::build_solid)
/// turns the result into a [`Solid`](crate::Solid).
///
/// # Errors
/// [`TruckError`] if a curve or surface has no exact representation or is degenerate.
pub fn solid_source(name: &str, solid: &truck::Solid) -> Result<SolidSource, TruckError> {
    let mut out = SolidSource { name: name.to_owned(), ..SolidSource::default() };
    for (k, shell) in solid.compress().boundaries.into_iter().enumerate() {
        let (first_vertex, first_edge) = (count(out.vertices.len()), count(out.edges.len()));
        for p in &shell.vertices {
            out.vertices.push(VertexSource { id: out.vertices.len() as u64 + 1, point: point(*p) });
        }
        for e in &shell.edges {
            let id = out.edges.len() as u64 + 1;
            let (start, end) = (first_vertex + count(e.vertices.0), first_vertex + count(e.vertices.1));
            let what = |what| TruckError::Curve { edge: id, what };
            let (curve, range) = curve(&e.curve).map_err(what)?;
            out.edges.push(EdgeSource { id, curve, range: Some(range), start, end, same_sense: true });
        }
        for f in &shell.faces {
            let id = out.faces.len() as u64 + 1;
            let (surface, natural) =
                surface(&f.surface).map_err(|what| TruckError::Surface { face: id, what })?;
            let loops = f.boundaries.iter().map(|wire| {
                let uses = wire.iter().map(|e| (first_edge + count(e.index), e.orientation));
                // The boundaries of a compressed face are oriented with respect to its surface.
                let uses: Vec<_> =
                    if f.orientation { uses.collect() } else { uses.rev().map(|(e, o)| (e, !o)).collect() };
                LoopSource::Edges(uses)
            });
            out.faces.push(FaceSource {
                id,
                shell: count(k),
                surface,
                surface_deviation: 0.0,
                outward: f.orientation == natural,
                either_way: false,
                outer_sheet: None,
                loops: loops.collect(),
            });
        }
    }
    Ok(out)
}

/// Converts a count, which fits in a `u32` for any solid in memory.
fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

fn point(p: truck::Point3) -> P3 {
    P3::new(p.x, p.y, p.z)
}

fn vector(v: truck::Vector3) -> V3 {
    V3::new(v.x, v.y, v.z)
}

/// Converts a curve. Returns it with its parameter range, or the reason why it cannot be converted.
fn curve(c: &truck::Curve) -> Result<(Curve, (f64, f64)), String> {
    if let truck::Curve::Line(line) = c {
        let (a, b) = (point(line.0), point(line.1));
        let length = (b - a).norm();
        if !(length > 0.0 && length.is_finite()) {
            return Err("is a line without length".to_owned());
        }
        return Ok((Curve::Line { origin: a, dir: (b - a) / length }, (0.0, length)));
    }
    let nurbs = nurbs_curve(c)?;
    let spline = nurbs.to_bezier().map_err(|e| e.to_string())?;
    let (from, to) = (spline.breaks[0], spline.breaks[spline.breaks.len() - 1]);
    Ok((Curve::Bezier(spline), (from, to)))
}

fn nurbs_curve(c: &truck::Curve) -> Result<NurbsCurve, String> {
    if matches!(c, truck::Curve::IntersectionCurve(_)) {
        return Err("is an intersection of surfaces; approximate it by a B-spline first".to_owned());
    }
    let lifted = c.clone().lift_up();
    let (points, weights) = lifted.control_points().iter().map(projected).unzip();
    Ok(NurbsCurve { degree: count(lifted.degree()), knots: lifted.knot_vec().to_vec(), points, weights })
}

/// Returns the point and the weight of a control point that is given in homogeneous coordinates.
fn projected(h: &truck::Vector4) -> (P3, f64) {
    (P3::new(h.x / h.w, h.y / h.w, h.z / h.w), h.w)
}

/// Converts a surface. Returns it with whether its natural normal has the direction of truck's normal,
/// or the reason why it cannot be converted.
fn surface(s: &truck::Surface) -> Result<(Surface, bool), String> {
    match s {
        truck::Surface::Plane(plane) => {
            let (x, z) = (vector(plane.u_axis()), vector(plane.normal()));
            let frame = Frame::from_z(point(plane.origin()), z, Some(x));
            frame
                .map(|frame| (Surface::Plane { frame }, true))
                .ok_or_else(|| "is a plane without a normal".to_owned())
        }
        truck::Surface::BSplineSurface(s) => {
            let rows =
                s.control_points().iter().map(|r| r.iter().map(|p| (point(*p), 1.0)).collect()).collect();
            nurbs_surface(&s.knot_vecs().0, &s.knot_vecs().1, rows)
        }
        truck::Surface::NurbsSurface(s) => {
            let s = s.non_rationalized();
            let rows = s.control_points().iter().map(|r| r.iter().map(projected).collect()).collect();
            nurbs_surface(&s.knot_vecs().0, &s.knot_vecs().1, rows)
        }
        truck::Surface::RevolutedCurve(processed) => revolved(processed),
    }
}

fn nurbs_surface(u: &[f64], v: &[f64], rows: Vec<Vec<(P3, f64)>>) -> Result<(Surface, bool), String> {
    let (n_u, n_v) = (rows.len(), rows.first().map_or(0, Vec::len));
    let degree = |knots: &[f64], n: usize| count(knots.len().saturating_sub(n + 1));
    let (points, weights): (Vec<P3>, Vec<f64>) = rows.into_iter().flatten().unzip();
    let nurbs = NurbsSurface {
        u_degree: degree(u, n_u),
        v_degree: degree(v, n_v),
        u_knots: u.to_vec(),
        v_knots: v.to_vec(),
        n_v,
        points,
        weights,
    };
    let grid = nurbs.to_bezier().map_err(|e| e.to_string())?;
    Ok((Surface::Bezier(grid), true))
}

type Revolved = truck::Processor<truck::RevolutedCurve<truck::Curve>, truck::Matrix4>;

/// Converts a surface of revolution that is moved by a transformation. Returns it with whether its
/// natural normal has the direction of truck's normal, or the reason why it cannot be converted.
fn revolved(processed: &Revolved) -> Result<(Surface, bool), String> {
    let m = *processed.transform();
    let entity = processed.entity();
    let profile = entity.entity_curve().transformed(m);
    // The transformation of the curve applies to the axis, too; a reflection reverses the sense of
    // rotation.
    let origin = point(truck::Transform::transform_point(&m, entity.origin()));
    let axis = vector(truck::Transform::transform_vector(&m, entity.axis()));
    let turn = if m.determinant() < 0.0 { -axis } else { axis };
    let Some(frame) = Frame::from_z(origin, turn, None) else {
        return Err("is a surface of revolution without an axis".to_owned());
    };
    let of_line = match &profile {
        truck::Curve::Line(line) => revolved_line(&frame, point(line.0), point(line.1)),
        _ => None,
    };
    let surface = match of_line {
        Some(surface) => surface,
        None => revolved_curve(&frame, &nurbs_curve(&profile)?)?,
    };
    // The natural normals are compared where the surface is most regular.
    let (u0, u1) = profile.range_tuple();
    let mut best: Option<(f64, bool)> = None;
    for k in 1..8 {
        let u = u0 + (u1 - u0) * f64::from(k) / 8.0;
        // The parameters of an inverted surface are swapped in truck.
        let (s, t) = if processed.orientation() { (u, 0.3) } else { (0.3, u) };
        let p = point(processed.subs(s, t));
        let n = vector(processed.uder(s, t).cross(processed.vder(s, t)));
        let here = surface.derivs(surface.invert(&p, None, None));
        let side = here.du.cross(&here.dv).normalize().dot(&n);
        if best.is_none_or(|(size, _)| side.abs() > size) && side.is_finite() {
            best = Some((side.abs(), side > 0.0));
        }
    }
    best.map(|(_, same)| (surface, same)).ok_or_else(|| "is a surface without a normal".to_owned())
}

/// Returns the surface that the line through `a` and `b` sweeps about the frame's z axis: a plane, a
/// cylinder or a cone; `None` for a hyperboloid, and if the line crosses the axis between `a` and `b`.
fn revolved_line(frame: &Frame, a: P3, b: P3) -> Option<Surface> {
    let (a, b) = (frame.local(&a), frame.local(&b));
    let size = a.norm().max(b.norm());
    let d = b - a;
    // The line and the axis must lie in one plane.
    if (a.x * b.y - a.y * b.x).abs() > CANONICAL_TOL * size * size {
        return None;
    }
    let radius = |p: &V3| math::hypot(p.x, p.y);
    let outer = if radius(&a) >= radius(&b) { a } else { b };
    let out = V3::new(outer.x, outer.y, 0.0) / radius(&outer).max(f64::MIN_POSITIVE);
    let (r_a, r_b) = (a.dot(&out), b.dot(&out));
    if r_a.min(r_b) < -CANONICAL_TOL * size {
        return None;
    }
    let at = |z: f64| frame.point(0.0, 0.0, z);
    if d.z.abs() <= CANONICAL_TOL * d.norm() {
        return Some(Surface::Plane { frame: Frame { origin: at(a.z), ..*frame } });
    }
    if (r_b - r_a).abs() <= CANONICAL_TOL * d.norm() {
        return Some(Surface::Cylinder { frame: *frame, radius: r_a });
    }
    // The cone opens from its apex towards the line.
    let slope = (r_b - r_a) / d.z;
    let apex = a.z - r_a / slope;
    let up = slope > 0.0;
    let z = if up { frame.z } else { -frame.z };
    let frame = Frame::from_z(at(apex), z, Some(frame.x))?;
    Some(Surface::Cone { frame, half_angle: math::atan2(slope.abs(), 1.0) })
}

/// Returns the exact surface that a NURBS curve sweeps in a full turn about the frame's z axis, with u
/// along the curve and v around.
fn revolved_curve(frame: &Frame, profile: &NurbsCurve) -> Result<Surface, String> {
    const HALF: f64 = std::f64::consts::FRAC_1_SQRT_2;
    // The control polygon of the circle is a square, whose corners have the weight cos 45°.
    let square = [
        (1., 0., 1.),
        (1., 1., HALF),
        (0., 1., 1.),
        (-1., 1., HALF),
        (-1., 0., 1.),
        (-1., -1., HALF),
        (0., -1., 1.),
        (1., -1., HALF),
        (1., 0., 1.),
    ];
    let rows = profile
        .points
        .iter()
        .enumerate()
        .map(|(i, p)| {
            let q = frame.local(p);
            let w = profile.weights.get(i).copied().unwrap_or(1.0);
            // The corners of the square are multiples of the radius vector and of the vector
            // perpendicular to it.
            square
                .iter()
                .map(|(c, s, h)| (frame.point(q.x * c - q.y * s, q.x * s + q.y * c, q.z), w * h))
                .collect()
        })
        .collect();
    let knots: Vec<f64> =
        [0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 4].iter().map(|k| f64::from(*k) * FRAC_PI_2).collect();
    nurbs_surface(&profile.knots, &knots, rows).map(|(s, _)| s)
}

#[cfg(test)]
mod tests;
