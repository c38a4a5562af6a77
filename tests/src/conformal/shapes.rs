//! Solids with closed forms of the distance of any point, computed without the program under test.

use feeler_brep::SolidSource;
use feeler_brep::fixtures::{SourceBuilder, sphere, torus};
use feeler_brep::source::LoopSource;
use feeler_geom::{Curve, Frame, P3, Surface, V3, math};
use std::f64::consts::{FRAC_PI_2, TAU};

/// A solid around the origin of its own frame; all lengths are in mm.
#[derive(Clone, Debug)]
pub enum Shape {
    /// A box with corners `-half` and `half`, whose edges are rounded with radius `fillet` (0: sharp).
    Box {
        /// Half side lengths of the box, including the fillets.
        half: [f64; 3],
        /// Radius of all edges and corners; 0 for sharp ones.
        fillet: f64,
    },
    /// A sphere of the given radius.
    Ball(f64),
    /// A torus about the z axis.
    Torus {
        /// Distance of the tube's centre from the axis.
        major: f64,
        /// Radius of the tube.
        minor: f64,
    },
    /// A closed profile revolved about the z axis.
    Revolved(Vec<Corner>),
}

/// A corner of a profile, in counter-clockwise order of the half plane (distance from the axis, height).
#[derive(Clone, Copy, Debug)]
pub struct Corner {
    /// Distance from the axis and height of the corner.
    pub at: [f64; 2],
    /// Centre of the arc, of less than half a turn, to the next corner; `None` for a straight segment.
    pub around: Option<[f64; 2]>,
}

/// A revolved profile of straight segments.
#[must_use]
pub fn turned(corners: &[[f64; 2]]) -> Shape {
    Shape::Revolved(corners.iter().map(|at| Corner { at: *at, around: None }).collect())
}

/// A cylinder about the z axis.
#[must_use]
pub fn cylinder(radius: f64, half_height: f64) -> Shape {
    turned(&[[0.0, -half_height], [radius, -half_height], [radius, half_height], [0.0, half_height]])
}

/// A tube about the z axis.
#[must_use]
pub fn tube(inner: f64, outer: f64, half_height: f64) -> Shape {
    let h = half_height;
    turned(&[[inner, -h], [outer, -h], [outer, h], [inner, h]])
}

impl Shape {
    /// Signed distance (mm) from a point to the boundary, negative inside; for profiles with arcs it is
    /// positive inside, too.
    #[must_use]
    pub fn distance(&self, p: &P3) -> f64 {
        match self {
            Self::Box { half, fillet } => {
                let q = V3::from(*half).map(|h| h - fillet);
                let off = p.coords.abs() - q;
                off.map(|x| x.max(0.0)).norm() + off.max().min(0.0) - fillet
            }
            Self::Ball(r) => p.coords.norm() - r,
            Self::Torus { major, minor } => math::hypot(math::hypot(p.x, p.y) - major, p.z) - minor,
            Self::Revolved(profile) => {
                let x = [math::hypot(p.x, p.y), p.z];
                let pieces = || pieces(profile);
                let off = pieces().map(|(a, b)| piece_distance(a, b.at, x)).fold(f64::INFINITY, f64::min);
                if profile.iter().any(|c| c.around.is_some()) {
                    return off;
                }
                // The point is inside if the number of profile pieces above it is odd.
                let above = |(a, b): (&Corner, &Corner)| {
                    let ([x0, z0], [x1, z1]) = (a.at, b.at);
                    (x0 > x[0]) != (x1 > x[0]) && z0 + (z1 - z0) * (x[0] - x0) / (x1 - x0) > x[1]
                };
                if pieces().filter(|p| above(*p)).count() % 2 == 1 { -off } else { off }
            }
        }
    }

    /// Points of the boundary, about `step` (mm) apart, including points on sharp edges and corners.
    #[must_use]
    pub fn boundary(&self, step: f64) -> Vec<P3> {
        let mut out = Vec::new();
        match self {
            Self::Box { half, fillet } => {
                let core = V3::from(*half).map(|h| h - fillet);
                // Grid on the surface of the core; the boundary is at a distance of the fillet's radius
                // from it.
                let n = core.map(|c| (2.0 * c / step).ceil().max(1.0) as i32);
                let at = |i: i32, k: usize| core[k] * (2.0 * f64::from(i) / f64::from(n[k]) - 1.0);
                for i in 0..=n.x {
                    for j in 0..=n.y {
                        for k in 0..=n.z {
                            let ends = [(i, n.x), (j, n.y), (k, n.z)].map(|(i, n)| i == 0 || i == n);
                            if !ends.contains(&true) {
                                continue;
                            }
                            let p = P3::new(at(i, 0), at(j, 1), at(k, 2));
                            out.extend(normals(&p, &ends, *fillet > 0.0).iter().map(|v| p + v * *fillet));
                        }
                    }
                }
            }
            Self::Ball(r) => {
                let n = (FRAC_PI_2 * 2.0 * r / step).ceil() as i32;
                let arc: Vec<[f64; 2]> = (0..=n)
                    .map(|i| {
                        let (s, c) = math::sin_cos(FRAC_PI_2 * (2.0 * f64::from(i) / f64::from(n) - 1.0));
                        [r * c, r * s]
                    })
                    .collect();
                revolve(&arc, step, &mut out);
            }
            Self::Torus { major, minor } => {
                let n = (TAU * minor / step).ceil() as i32;
                let section: Vec<[f64; 2]> = (0..n)
                    .map(|i| {
                        let (s, c) = math::sin_cos(TAU * f64::from(i) / f64::from(n));
                        [major + minor * c, minor * s]
                    })
                    .collect();
                revolve(&section, step, &mut out);
            }
            Self::Revolved(profile) => {
                for (a, b) in pieces(profile).filter(|(a, b)| a.at[0] > 0.0 || b.at[0] > 0.0) {
                    let n = (math::hypot(b.at[0] - a.at[0], b.at[1] - a.at[1]) / step).ceil().max(1.0) as i32;
                    let along: Vec<[f64; 2]> =
                        (0..=n).map(|i| piece_point(a, b.at, f64::from(i) / f64::from(n))).collect();
                    revolve(&along, step, &mut out);
                }
            }
        }
        out
    }

    /// The sharp circles of a revolved shape: radius and height.
    #[must_use]
    pub fn rims(&self) -> Vec<[f64; 2]> {
        match self {
            Self::Revolved(profile) => profile.iter().map(|c| c.at).filter(|at| at[0] > 0.0).collect(),
            _ => Vec::new(),
        }
    }

    /// Boundary representation for the program under test.
    #[must_use]
    pub fn source(&self) -> SolidSource {
        match self {
            Self::Box { half, fillet } => {
                let [x, y, z] = *half;
                if *fillet > 0.0 {
                    rounded_box(*half, *fillet)
                } else {
                    feeler_brep::fixtures::block([-x, -y, -z], [x, y, z])
                }
            }
            Self::Ball(r) => sphere(*r),
            Self::Torus { major, minor } => torus(*major, *minor),
            Self::Revolved(profile) => revolved(profile),
        }
    }
}

/// Unit outward normals at a point of the core of a box: samples of the cone of normals for rounded
/// boxes, a zero vector for sharp ones. `ends`: whether the point is at an end of the core along each
/// axis.
fn normals(p: &P3, ends: &[bool; 3], rounded: bool) -> Vec<V3> {
    if !rounded {
        return vec![V3::zeros()];
    }
    let on: Vec<V3> =
        (0..3).filter(|k| ends[*k]).map(|k| V3::ith(k, if p.coords[k] < 0.0 { -1.0 } else { 1.0 })).collect();
    // All normals between those of the adjacent faces, in steps of about a quarter of a right angle.
    let mut out = Vec::new();
    let weights = [0.0, 0.2, 0.5, 0.8, 1.0];
    match on.as_slice() {
        [a] => out.push(*a),
        [a, b] => out.extend(weights.iter().map(|w| (a * *w + b * (1.0 - w)).normalize())),
        [a, b, c] => {
            for v in weights {
                for w in weights {
                    out.push((a * (v * w) + b * (v * (1.0 - w)) + c * (1.0 - v)).normalize());
                }
            }
        }
        _ => {}
    }
    out
}

fn pieces(profile: &[Corner]) -> impl Iterator<Item = (&Corner, &Corner)> {
    profile.iter().zip(profile.iter().cycle().skip(1))
}

/// Signed angle (rad) of the shorter arc from `a` to `b` about `center`: positive if it runs
/// counter-clockwise (convex).
fn turn(a: &Corner, b: [f64; 2], center: [f64; 2]) -> f64 {
    let (u, v) = ([a.at[0] - center[0], a.at[1] - center[1]], [b[0] - center[0], b[1] - center[1]]);
    math::atan2(u[0] * v[1] - u[1] * v[0], u[0] * v[0] + u[1] * v[1])
}

fn piece_point(a: &Corner, b: [f64; 2], s: f64) -> [f64; 2] {
    match a.around {
        None => [a.at[0] + (b[0] - a.at[0]) * s, a.at[1] + (b[1] - a.at[1]) * s],
        Some(center) => {
            let (sin, cos) = math::sin_cos(turn(a, b, center) * s);
            let (x, z) = (a.at[0] - center[0], a.at[1] - center[1]);
            [center[0] + cos * x - sin * z, center[1] + sin * x + cos * z]
        }
    }
}

fn piece_distance(a: &Corner, b: [f64; 2], x: [f64; 2]) -> f64 {
    let to = |p: [f64; 2]| math::hypot(x[0] - p[0], x[1] - p[1]);
    let ends = to(a.at).min(to(b));
    match a.around {
        None => {
            if a.at[0] == 0.0 && b[0] == 0.0 {
                return f64::INFINITY;
            }
            let d = [b[0] - a.at[0], b[1] - a.at[1]];
            let length = math::hypot(d[0], d[1]);
            let (u, w) = ([d[0] / length, d[1] / length], [x[0] - a.at[0], x[1] - a.at[1]]);
            let along = u[0] * w[0] + u[1] * w[1];
            if (0.0..=length).contains(&along) { (u[0] * w[1] - u[1] * w[0]).abs() } else { ends }
        }
        Some(center) => {
            let radius = math::hypot(a.at[0] - center[0], a.at[1] - center[1]);
            let (whole, part) = (turn(a, b, center), turn(a, x, center));
            let between = part * whole.signum() >= 0.0 && part.abs() <= whole.abs();
            if between { (to(center) - radius).abs() } else { ends }
        }
    }
}

/// Appends the points of a profile, revolved about the axis, about `step` (mm) apart.
fn revolve(profile: &[[f64; 2]], step: f64, out: &mut Vec<P3>) {
    for [r, z] in profile {
        let n = (TAU * r / step).ceil().max(1.0) as i32;
        out.extend((0..n).map(|i| {
            let (s, c) = math::sin_cos(TAU * f64::from(i) / f64::from(n));
            P3::new(r * c, r * s, *z)
        }));
    }
}

fn level(z: f64) -> Frame {
    Frame { origin: P3::new(0.0, 0.0, z), ..Frame::identity() }
}

/// Creates a face for every piece of the profile that is not on the axis, bounded by full circles.
#[expect(clippy::float_cmp, reason = "vertical and horizontal pieces have exactly equal coordinates")]
fn revolved(profile: &[Corner]) -> SolidSource {
    let mut b = SourceBuilder::new();
    let circles: Vec<Option<u32>> = profile
        .iter()
        .map(|c| {
            let [r, z] = c.at;
            (r > 0.0).then(|| {
                let start = b.vertex(r, 0.0, z);
                b.circle(level(z), r, start)
            })
        })
        .collect();
    for (i, (from, to)) in pieces(profile).enumerate() {
        let ([r0, z0], [r1, z1]) = (from.at, to.at);
        let (start, end) = (circles[i], circles[(i + 1) % circles.len()]);
        if start.is_none() && end.is_none() {
            continue;
        }
        // The material is to the left of the profile. The face is to the left of the circle at its
        // start.
        let (surface, outward) = match from.around {
            Some(center) => {
                let radius = math::hypot(r0 - center[0], z0 - center[1]);
                let frame = level(center[1]);
                let surface = if center[0] == 0.0 {
                    Surface::Sphere { frame, radius }
                } else {
                    Surface::Torus { frame, major: center[0], minor: radius }
                };
                (surface, turn(from, to.at, center) > 0.0)
            }
            None if z0 == z1 => (Surface::Plane { frame: level(z0) }, r1 < r0),
            None if r0 == r1 => (Surface::Cylinder { frame: level(0.0), radius: r0 }, z1 > z0),
            None => {
                let slope = (r1 - r0) / (z1 - z0);
                let apex = P3::new(0.0, 0.0, z0 - r0 / slope);
                let up = Frame { origin: apex, ..Frame::identity() };
                let down = Frame { origin: apex, x: V3::x(), y: -V3::y(), z: -V3::z() };
                let frame = if slope > 0.0 { up } else { down };
                (Surface::Cone { frame, half_angle: math::atan2(slope.abs(), 1.0) }, z1 > z0)
            }
        };
        let is_cone = matches!(surface, Surface::Cone { .. });
        let mut apex = |z: f64| is_cone.then(|| LoopSource::Vertex(b.vertex(0.0, 0.0, z)));
        let begin = start.map(|e| LoopSource::Edges(vec![(e, true)])).or_else(|| apex(z0));
        let close = end.map(|e| LoopSource::Edges(vec![(e, false)])).or_else(|| apex(z1));
        b.face(surface, outward, begin.into_iter().chain(close).collect());
    }
    b.finish("revolved")
}

/// Creates a box of planes, quarter cylinders and octants of spheres, joined smoothly.
fn rounded_box(half: [f64; 3], fillet: f64) -> SolidSource {
    let mut b = SourceBuilder::new();
    let core = half.map(|h| h - fillet);
    // Vertex of a corner (given by signs) on the plane normal to an axis.
    let mut vertex = [[0; 3]; 8];
    for (corner, on) in vertex.iter_mut().enumerate() {
        for (axis, v) in on.iter_mut().enumerate() {
            let p = corner_point(corner, core) + V3::ith(axis, sign(corner, axis) * fillet);
            *v = b.vertex(p.x, p.y, p.z);
        }
    }
    // Arc of a corner about an axis, from the vertex of the next axis to that of the one after it.
    let mut arc = [[0; 3]; 8];
    for (corner, around) in arc.iter_mut().enumerate() {
        for (axis, e) in around.iter_mut().enumerate() {
            let (j, k) = ((axis + 1) % 3, (axis + 2) % 3);
            let (x, y) = (V3::ith(j, sign(corner, j)), V3::ith(k, sign(corner, k)));
            let frame = Frame { origin: P3::from(corner_point(corner, core)), x, y, z: x.cross(&y) };
            *e = b.edge(Curve::Circle { frame, radius: fillet }, vertex[corner][j], vertex[corner][k]);
        }
    }
    for axis in 0..3 {
        let (j, k) = ((axis + 1) % 3, (axis + 2) % 3);
        let bit = |axis: usize, up: bool| usize::from(up) << axis;
        for up in [false, true] {
            // The plane normal to the axis, counter-clockwise seen from outside.
            let mut ring = [(false, false), (true, false), (true, true), (false, true)]
                .map(|(y, z)| vertex[bit(axis, up) | bit(j, y) | bit(k, z)][axis]);
            if !up {
                ring.reverse();
            }
            b.polygon(&[&ring]);
        }
        for (y, z) in [(false, false), (true, false), (true, true), (false, true)] {
            // The quarter cylinder parallel to the axis.
            let (low, high) = (bit(j, y) | bit(k, z), bit(axis, true) | bit(j, y) | bit(k, z));
            let origin = P3::from(corner_point(low, core));
            // The frame is chosen such that seams and poles are not on the face.
            let x = (V3::ith(j, sign(low, j)) + V3::ith(k, sign(low, k))).normalize();
            let dir = V3::ith(axis, 1.0);
            let frame = Frame { origin, x, y: dir.cross(&x), z: dir };
            let (from, _) = b.line(vertex[low][j], vertex[high][j]);
            let (to, _) = b.line(vertex[low][k], vertex[high][k]);
            // Seen from outside with the axis upwards, the lower border runs to the right if it turns
            // about the axis.
            let right = sign(low, j) * sign(low, k) > 0.0;
            let ring = if right {
                vec![(arc[low][axis], true), (to, true), (arc[high][axis], false), (from, false)]
            } else {
                vec![(from, true), (arc[high][axis], true), (to, false), (arc[low][axis], false)]
            };
            b.face(Surface::Cylinder { frame, radius: fillet }, true, vec![LoopSource::Edges(ring)]);
        }
    }
    for (corner, arcs) in arc.iter().enumerate() {
        let [x, y, z] = [0, 1, 2].map(|axis| V3::ith(axis, sign(corner, axis)));
        let pole = (x - y).normalize();
        let frame = Frame {
            origin: P3::from(corner_point(corner, core)),
            x: (x + y + z).normalize(),
            y: pole.cross(&(x + y + z).normalize()),
            z: pole,
        };
        let mut ring: Vec<(u32, bool)> = [2, 0, 1].iter().map(|axis| (arcs[*axis], true)).collect();
        if x.cross(&y).dot(&z) < 0.0 {
            ring = ring.iter().rev().map(|(e, _)| (*e, false)).collect();
        }
        b.face(Surface::Sphere { frame, radius: fillet }, true, vec![LoopSource::Edges(ring)]);
    }
    b.finish("rounded_box")
}

fn sign(corner: usize, axis: usize) -> f64 {
    if corner >> axis & 1 == 1 { 1.0 } else { -1.0 }
}

fn corner_point(corner: usize, core: [f64; 3]) -> V3 {
    V3::from_fn(|axis, _| sign(corner, axis) * core[axis])
}
