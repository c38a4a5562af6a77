//! Lower bounds of the distance between faces whose boxes intersect, such as a plug and its bore.
//!
//! A canonical face is covered by spheres around its skeleton. Between two points, the signed distance
//! from another face's surface changes by at most the distance of the points. Over the face, it
//! therefore differs from its values on the skeleton by at most the radius of a sphere, and these values
//! have bounds in closed form. Nested cylinders, cones and tori with any play are thus separated,
//! whatever the size of their boxes.
//!
//! # Source
//! MATH §3 (oriented spheres).
//!
//! # Guarantees
//! A separation is certain up to rounding and, for faces that follow a canonical one, up to the accuracy
//! of their measured deviation: no two points of the trimmed faces are nearer than the bound.

use super::{Part, RevolvedFace, WHOLE, coaxial, side_of};
use feeler_geom::skeleton::{Primitive, range_over_box};
use feeler_geom::{Obb, P3, V3, math};
use std::f64::consts::TAU;

/// Range (mm) along the line of a primitive, from its origin, of a feature that is inside `boxes` and
/// deviates from the primitive by at most `off` (mm). The range of a cone is limited to its own nappe.
/// Other primitives have no line; their range is [0, 0].
pub(crate) fn along<'a>(
    primitive: Option<&Primitive>,
    off: f64,
    boxes: impl Iterator<Item = &'a Obb>,
) -> [f64; 2] {
    let Some(Primitive::Line { origin, dir, sigma, slope }) = primitive else { return [0.0; 2] };
    let apex = apex(*sigma, *slope);
    let [lo, hi] = boxes.fold([f64::INFINITY, f64::NEG_INFINITY], |[lo, hi], b| {
        let middle = (b.center - origin).dot(dir);
        let half = (0..3).fold(0.0, |s, k| s + b.half[k] * b.axes[k].dot(dir).abs());
        [lo.min(middle - half), hi.max(middle + half)]
    });
    [lo - off, hi + off].map(|h| h.max(apex))
}

/// Parameter (mm) of the apex of a cone along the line of its primitive; −∞ for a cylinder.
pub(crate) fn apex(sigma: f64, slope: f64) -> f64 {
    if slope == 0.0 { f64::NEG_INFINITY } else { -sigma / slope }
}

impl RevolvedFace {
    /// Range (mm), along the line of the primitive, of the centres of those spheres that touch the face.
    /// On a cone, the centre of a sphere is at a larger parameter than the circle in which the sphere
    /// touches the cone.
    fn centers(&self) -> [f64; 2] {
        let Primitive::Line { sigma, slope, .. } = self.primitive else { return self.along };
        self.along.map(|h| (h + slope * sigma) / (1.0 - slope * slope))
    }
}

/// Result of a test that separates two faces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Apart {
    /// Displacement (mm) of B up to which the faces cannot intersect. If it is 0 or negative, the faces
    /// may intersect at this pose.
    pub spare: f64,
    /// Whether `spare` is valid also after a rotation of the face of A (first value) or of B (second
    /// value) about its own axis.
    pub turned: [bool; 2],
}

impl Default for Apart {
    fn default() -> Self {
        Self { spare: f64::NEG_INFINITY, turned: [false; 2] }
    }
}

/// Tries to separate a face of A from a face of B by bounds of their primitives. The faces are separated
/// if one of them is everywhere at a signed distance above `-shallow` (mm) or below `-deep` (mm) from
/// the surface of the other one, positive outside the material, or if their distance exceeds `deep`.
/// Returns the first of several bounds that separates the faces, or [`Apart::default`] if none does.
pub(crate) fn apart(a: &RevolvedFace, b: &RevolvedFace, [shallow, deep]: [f64; 2]) -> Apart {
    let off = a.off + b.off;
    let beyond = |[lo, hi]: [f64; 2]| (lo + shallow).max(-hi - deep);
    // The distance from a plane is computed from the other face's box, which is not invariant under
    // rotations.
    let is_curved = |r: &RevolvedFace| !matches!(r.primitive, Primitive::Plane { .. });
    let bounds: [(&dyn Fn() -> f64, [bool; 2]); 5] = [
        (&|| coaxial::distance(a, b).map_or(f64::NEG_INFINITY, |d| d - deep), [true; 2]),
        (&|| coaxial::range(a, b).map_or(f64::NEG_INFINITY, beyond), [true; 2]),
        (&|| coaxial::range(b, a).map_or(f64::NEG_INFINITY, beyond), [true; 2]),
        (&|| beyond(range(&a.primitive, b)), [true, is_curved(a)]),
        (&|| beyond(range(&b.primitive, a)), [is_curved(b), true]),
    ];
    let apart = bounds.iter().map(|(bound, turned)| Apart { spare: bound() - off, turned: *turned });
    apart.into_iter().find(|apart| apart.spare > 0.0).unwrap_or_default()
}

/// Range of a torus's meridian that contains a face, from sampled points of the face. At both ends it is
/// enlarged by `slack` (relative to the range), because the face may extend beyond the outermost
/// samples. The whole meridian for other primitives and for faces all around the tube.
pub(crate) fn part(primitive: Option<&Primitive>, points: impl Iterator<Item = P3>, slack: f64) -> Part {
    let Some(Primitive::Circle { frame, radius, .. }) = primitive else { return WHOLE };
    let angle = |p: P3| {
        let q = frame.local(&p);
        math::atan2(q.z, math::hypot(q.x, q.y) - radius).rem_euclid(TAU)
    };
    let mut angles: Vec<f64> = points.map(angle).collect();
    angles.sort_unstable_by(f64::total_cmp);
    let (Some(first), Some(last)) = (angles.first(), angles.last()) else { return WHOLE };
    // The face is in the complement of the widest gap between the angles.
    let mut widest = (first + TAU - last, *first);
    for w in angles.windows(2) {
        if w[1] - w[0] > widest.0 {
            widest = (w[1] - w[0], w[1]);
        }
    }
    let (gap, from) = widest;
    let turn = TAU - gap;
    if gap.is_nan() || gap < MIN_GAP { WHOLE } else { [from - slack * turn, turn * (1.0 + 2.0 * slack)] }
}

/// Smallest gap (rad) between the meridian angles of two neighbouring sampled points at which the face
/// has a gap there, and does not extend all around the tube. With a larger value, faces with gaps count
/// as whole; with a smaller one, gaps between samples count.
const MIN_GAP: f64 = 1.0;

/// Range from −∞ to ∞, if no bound is known.
const UNBOUNDED: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];

/// Bounds (mm) of the signed distance from the surface of `from` over the points of `face`, which is
/// given by its primitive and its ranges. Deviations from the primitives are not included.
fn range(from: &Primitive, face: &RevolvedFace) -> [f64; 2] {
    match *from {
        Primitive::Plane { origin, normal } => {
            let by_box = range_over_box(from, &face.bounds);
            let by_primitive = over_primitive(&origin, &normal, face);
            [by_box[0].max(by_primitive[0]), by_box[1].min(by_primitive[1])]
        }
        Primitive::Point { center, sigma } => {
            let distance = match face.primitive {
                Primitive::Plane { .. } => return UNBOUNDED,
                Primitive::Point { center: c, .. } => [(c - center).norm(); 2],
                Primitive::Line { origin, dir, .. } => {
                    let side = side_of(sigma, 0.0);
                    let value = |t: f64| side * (origin + dir * t - center).norm() - sigma;
                    let [first, last] = face.centers();
                    let t = (center - origin).dot(&dir).max(first).min(last);
                    return along_line(face, [value(first), value(last)], side, value(t));
                }
                Primitive::Circle { frame, radius, .. } => {
                    let q = frame.local(&center);
                    let rho = math::hypot(q.x, q.y);
                    [math::hypot(rho - radius, q.z), math::hypot(rho + radius, q.z)]
                }
            };
            widened(signed(distance, sigma), face)
        }
        Primitive::Line { origin, dir, sigma, slope } => {
            let side = side_of(sigma, slope);
            let cos = (1.0 - slope * slope).sqrt();
            let [rho, along] = match face.primitive {
                Primitive::Plane { .. } => return UNBOUNDED,
                Primitive::Point { center, .. } => around(&origin, &dir, &center, None),
                Primitive::Circle { frame, radius, .. } => {
                    around(&origin, &dir, &frame.origin, Some((&frame.z, radius)))
                }
                Primitive::Line { origin: o, dir: d, .. } => {
                    let ends = face.centers().map(|t| {
                        let x = o + d * t - origin;
                        let h = x.dot(&dir);
                        (side * cos * (x - dir * h).norm() - sigma, slope * h)
                    });
                    let range = ordered(ends[0].1, ends[1].1);
                    let extreme = side * cos * nearest(&origin, &dir, face) - sigma;
                    let extreme = extreme - if side > 0.0 { range[1] } else { range[0] };
                    return along_line(face, ends.map(|(v, w)| v - w), side, extreme);
                }
            };
            let (r, h) = (ordered(side * cos * rho[0], side * cos * rho[1]), along.map(|h| slope * h));
            let h = ordered(h[0], h[1]);
            widened([r[0] - sigma - h[1], r[1] - sigma - h[0]], face)
        }
        Primitive::Circle { frame, radius, sigma } => {
            let [rho, height] = match face.primitive {
                Primitive::Plane { .. } => return UNBOUNDED,
                Primitive::Point { center, .. } => around(&frame.origin, &frame.z, &center, None),
                Primitive::Circle { frame: other, radius: r, .. } => {
                    around(&frame.origin, &frame.z, &other.origin, Some((&other.z, r)))
                }
                Primitive::Line { origin, dir, .. } => {
                    let ends = face.centers().map(|t| {
                        let x = origin + dir * t - frame.origin;
                        let h = x.dot(&frame.z);
                        ((x - frame.z * h).norm(), h)
                    });
                    let lowest = nearest(&frame.origin, &frame.z, face);
                    [[lowest, ends[0].0.max(ends[1].0)], ordered(ends[0].1, ends[1].1)]
                }
            };
            let r = absolute([rho[0] - radius, rho[1] - radius]);
            let h = absolute(height);
            widened(signed([math::hypot(r[0], h[0]), math::hypot(r[1], h[1])], sigma), face)
        }
    }
}

/// Bounds (mm) of the signed height above a plane over the points of a face, which is given by its
/// primitive and its ranges.
fn over_primitive(origin: &P3, normal: &V3, face: &RevolvedFace) -> [f64; 2] {
    let across = |axis: &V3| axis.cross(normal).norm();
    match face.primitive {
        Primitive::Plane { .. } => UNBOUNDED,
        Primitive::Point { center, sigma } => {
            let middle = (center - origin).dot(normal);
            [middle - sigma.abs(), middle + sigma.abs()]
        }
        Primitive::Line { origin: o, dir, sigma, slope } => {
            // The face is between the circles at both ends, whose radii exceed those of the spheres
            // there.
            let tilt = across(&dir) / (1.0 - slope * slope).sqrt();
            let ends = face.along.map(|t| {
                let middle = (o + dir * t - origin).dot(normal);
                let reach = (sigma + slope * t).abs() * tilt;
                [middle - reach, middle + reach]
            });
            [ends[0][0].min(ends[1][0]), ends[0][1].max(ends[1][1])]
        }
        Primitive::Circle { frame, radius, sigma } => {
            let middle = (frame.origin - origin).dot(normal);
            let reach = radius * across(&frame.z) + sigma.abs();
            [middle - reach, middle + reach]
        }
    }
}

/// Ranges (mm) of the distance from an axis and of the height along it, for the point `center` or, if
/// `circle` is given by its axis and radius, for the circle about that point.
fn around(origin: &P3, dir: &V3, center: &P3, circle: Option<(&V3, f64)>) -> [[f64; 2]; 2] {
    let x = center - origin;
    let h = x.dot(dir);
    let off = (x - dir * h).norm();
    let Some((axis, radius)) = circle else { return [[off; 2], [h; 2]] };
    let (cos, sin) = (axis.dot(dir).abs(), axis.cross(dir).norm());
    // Seen along the axis, the circle is an ellipse with this smaller semi-axis.
    let nearest = (off - radius).max(radius * cos - off).max(0.0);
    [[nearest, off + radius], [h - radius * sin, h + radius * sin]]
}

/// Smallest distance (mm) between an axis and the range of centres on the line of a face; 0 for faces
/// without a line.
fn nearest(origin: &P3, dir: &V3, face: &RevolvedFace) -> f64 {
    let Primitive::Line { origin: o, dir: d, .. } = face.primitive else { return 0.0 };
    let flat = |v: V3| v - dir * v.dot(dir);
    let (x, d) = (flat(o - origin), flat(d));
    let d_sq = d.norm_squared();
    let t = if d_sq > 0.0 { -x.dot(&d) / d_sq } else { 0.0 };
    let [lo, hi] = face.centers();
    if lo.is_nan() || hi.is_nan() || lo > hi {
        return 0.0;
    }
    (x + d * t.clamp(lo, hi)).norm()
}

/// Bounds (mm), over the spheres of a face along a line, of a signed distance with the values `ends` at
/// the ends of the line. Along the line, the distance is a convex function (positive `side`) with the
/// lower bound `extreme`, or a concave function with the upper bound `extreme`.
fn along_line(face: &RevolvedFace, ends: [f64; 2], side: f64, extreme: f64) -> [f64; 2] {
    let Primitive::Line { sigma, slope, .. } = face.primitive else { return UNBOUNDED };
    // The radii are linear along the line.
    let [r, q] = face.centers().map(|t| sigma + slope * t);
    if r * q < 0.0 {
        return UNBOUNDED;
    }
    let (r, q) = (r.abs(), q.abs());
    if side > 0.0 {
        [extreme - r.max(q), (ends[0] + r).max(ends[1] + q)]
    } else {
        [(ends[0] - r).min(ends[1] - q), extreme + r.max(q)]
    }
}

/// Range of the signed distance from a surface with spheres of the signed radius `sigma`, given the
/// range of the distance from their centres (mm).
fn signed(distance: [f64; 2], sigma: f64) -> [f64; 2] {
    let side = side_of(sigma, 0.0);
    ordered(side * distance[0] - sigma, side * distance[1] - sigma)
}

/// Range of a signed distance over the centres of a face's spheres, enlarged by their largest radius
/// (mm).
fn widened([lo, hi]: [f64; 2], face: &RevolvedFace) -> [f64; 2] {
    let radius = match face.primitive {
        Primitive::Plane { .. } => return UNBOUNDED,
        Primitive::Point { sigma, .. } | Primitive::Circle { sigma, .. } => sigma.abs(),
        Primitive::Line { sigma, slope, .. } => {
            face.centers().iter().fold(0.0, |m: f64, t| m.max((sigma + slope * t).abs()))
        }
    };
    [lo - radius, hi + radius]
}

fn ordered(x: f64, y: f64) -> [f64; 2] {
    if x <= y { [x, y] } else { [y, x] }
}

/// Range of the absolute values of a range.
fn absolute([lo, hi]: [f64; 2]) -> [f64; 2] {
    if lo > 0.0 {
        [lo, hi]
    } else if hi < 0.0 {
        [-hi, -lo]
    } else {
        [0.0, hi.max(-lo)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::ring::Ring;
    use feeler_geom::skeleton::signed_distance;
    use feeler_geom::{Aabb, Frame};
    use rand::rngs::SmallRng;
    use rand::{Rng, SeedableRng};

    fn direction(rng: &mut SmallRng) -> V3 {
        loop {
            let v = V3::from_fn(|_, _| rng.random_range(-1.0..1.0));
            if v.norm() > 0.1 && v.norm() < 1.0 {
                return v.normalize();
            }
        }
    }

    fn point(rng: &mut SmallRng) -> P3 {
        P3::from(V3::from_fn(|_, _| rng.random_range(-2.0..2.0)))
    }

    /// Random face, often nearly coaxial with the z axis, and points on it.
    fn form(rng: &mut SmallRng) -> (RevolvedFace, Vec<P3>) {
        let tilt = [0.0, 1e-6, 1e-2, 2.0][rng.random_range(0..4)];
        let z = (V3::z() + direction(rng) * tilt).normalize();
        let o = P3::from(direction(rng) * [0.0, 1e-3, 0.1, 3.0][rng.random_range(0..4)]);
        let frame = Frame::from_z(o, z, None).expect("a direction");
        let sign = if rng.random_bool(0.5) { 1.0 } else { -1.0 };
        let r = rng.random_range(0.1..2.0);
        let (mut part, mut ring) = (WHOLE, None);
        let mut points = Vec::new();
        let (s, t): (f64, f64) = (rng.random_range(-2.0..2.0), rng.random_range(0.1..3.0));
        let primitive = match rng.random_range(0..5) {
            0 => {
                for i in 0..40 {
                    let (sin, cos) = math::sin_cos(TAU * f64::from(i) / 40.0);
                    let rho = s.abs() + t * rng.random_range(0.0..=1.0);
                    points.push(frame.point(rho * cos, rho * sin, 0.0));
                }
                ring = Some(Ring { center: o, radii: [s.abs(), s.abs() + t] });
                Primitive::Plane { origin: o, normal: z }
            }
            1 => {
                for _ in 0..40 {
                    points.push(o + direction(rng) * r);
                }
                Primitive::Point { center: o, sigma: sign * r }
            }
            2 | 3 => {
                let slope: f64 = if rng.random_bool(0.5) { 0.0 } else { sign * rng.random_range(0.01..0.9) };
                // The nappe on which the radius has the sign of the slope.
                let sigma = if slope == 0.0 { sign * r } else { sign * r - slope * s };
                for i in 0..80 {
                    let h = s + t * f64::from(i % 8) / 7.0;
                    let a = TAU * rng.random_range(0.0..1.0);
                    let (sin, cos) = math::sin_cos(a);
                    let n = (frame.x * cos + frame.y * sin) * (1.0 - slope * slope).sqrt() - z * slope;
                    points.push(o + z * h + n * (sigma + slope * h));
                }
                Primitive::Line { origin: o, dir: z, sigma, slope }
            }
            _ => {
                let major = r + rng.random_range(0.1..2.0);
                if rng.random_bool(0.7) {
                    part = [rng.random_range(-7.0..7.0), rng.random_range(0.1..5.0)];
                }
                for _ in 0..80 {
                    let (sin, cos) = math::sin_cos(TAU * rng.random_range(0.0..1.0));
                    let (l, k) = math::sin_cos(part[0] + part[1] * rng.random_range(0.0..=1.0));
                    let e = frame.x * cos + frame.y * sin;
                    points.push(o + e * major + (e * k + z * l) * r);
                }
                Primitive::Circle { frame, radius: major, sigma: sign * r }
            }
        };
        let bounds = Obb::from_aabb(&Aabb::of_points(points.iter()));
        // The box extends beyond the points, also beyond the apex of a cone.
        let along = along(Some(&primitive), 0.0, std::iter::once(&bounds));
        (RevolvedFace { primitive, off: 0.0, along, part, ring, bounds }, points)
    }

    /// No point of a face is outside the range of distances from another one.
    #[test]
    fn ranges_contain_samples() {
        let mut rng = SmallRng::seed_from_u64(5);
        let (mut finite, mut positive) = (0, 0);
        for _ in 0..20_000 {
            let ((from, others), (face, points)) = (form(&mut rng), form(&mut rng));
            let [lo, hi] = range(&from.primitive, &face);
            finite += usize::from(lo.is_finite() || hi.is_finite());
            let coaxial = coaxial::range(&from, &face).unwrap_or(UNBOUNDED);
            let bound = coaxial::distance(&from, &face).unwrap_or(0.0);
            positive += usize::from(bound > 0.0);
            let sampled = others.iter().flat_map(|p| points.iter().map(move |q| (p - q).norm()));
            let nearest = sampled.fold(f64::INFINITY, f64::min);
            assert!(bound <= nearest + 1e-12, "{bound} > {nearest}: {from:?} and {face:?}");
            for p in &points {
                let Some(d) = signed_distance(&from.primitive, p) else { continue };
                assert!(
                    lo - 1e-12 <= d.value && d.value <= hi + 1e-12,
                    "{} not in [{lo}, {hi}]: {:?} over {face:?}",
                    d.value,
                    from.primitive
                );
                let [lo, hi] = coaxial;
                assert!(
                    lo - 1e-12 <= d.value && d.value <= hi + 1e-12,
                    "{} not in [{lo}, {hi}] by profiles: {:?} over {face:?}",
                    d.value,
                    from.primitive
                );
            }
        }
        assert!(finite > 10_000 && positive > 2000, "{finite} {positive}");
    }

    /// Parts of faces are separated as reported, also after rotations about their axes. Planes have many
    /// axes.
    #[test]
    fn turned_pieces_are_apart() {
        let mut rng = SmallRng::seed_from_u64(7);
        let mut seen = [[0; 2]; 2];
        for _ in 0..40_000 {
            let [(mut a, of_a), (mut b, of_b)] = [form(&mut rng), form(&mut rng)];
            let mut piece = |face: &mut RevolvedFace, points: Vec<P3>| {
                let side = direction(&mut rng);
                let middle = points.iter().fold(0.0, |s, p| s + p.coords.dot(&side)) / 80.0;
                let points: Vec<P3> = points.into_iter().filter(|p| p.coords.dot(&side) >= middle).collect();
                face.bounds = Obb::from_aabb(&Aabb::of_points(points.iter()));
                if rng.random_bool(0.5) {
                    face.ring = None;
                }
                points
            };
            let (of_a, of_b) = (piece(&mut a, of_a), piece(&mut b, of_b));
            let Apart { spare, turned } = apart(&a, &b, [0.0; 2]);
            if spare <= 0.0 {
                continue;
            }
            let mut spun = |face: &RevolvedFace, points: &[P3]| -> Vec<P3> {
                let (origin, axis) = match face.primitive {
                    Primitive::Plane { normal, .. } => {
                        (face.ring.map_or(point(&mut rng), |r| r.center), normal)
                    }
                    Primitive::Point { center, .. } => (center, V3::x()),
                    Primitive::Line { origin, dir, .. } => (origin, dir),
                    Primitive::Circle { frame, .. } => (frame.origin, frame.z),
                };
                let by = nalgebra::Rotation3::new(axis * rng.random_range(-4.0..4.0));
                points.iter().map(|p| origin + by * (p - origin)).collect()
            };
            for (which, is_turned) in turned.into_iter().enumerate() {
                seen[which][usize::from(is_turned)] += 1;
                let moved = [spun(&a, &of_a), spun(&b, &of_b)];
                let [p, q] = if !is_turned {
                    [&of_a, &of_b]
                } else if which == 0 {
                    [&moved[0], &of_b]
                } else {
                    [&of_a, &moved[1]]
                };
                let nearest = p.iter().flat_map(|p| q.iter().map(move |q| (p - q).norm()));
                let nearest = nearest.fold(f64::INFINITY, f64::min);
                assert!(spare <= nearest + 1e-12, "{spare} > {nearest}: {a:?} and {b:?}, {turned:?}");
            }
        }
        assert!(seen.as_flattened().iter().all(|n| *n > 100), "{seen:?}");
    }

    /// Nested faces with play are separated, up to rounding.
    #[test]
    fn nested_forms_are_apart() {
        let mut rng = SmallRng::seed_from_u64(6);
        for _ in 0..1000 {
            let frame = Frame::from_z(point(&mut rng), direction(&mut rng), None).expect("a direction");
            let play = 1e-3;
            let line =
                |sigma: f64, slope: f64| Primitive::Line { origin: frame.origin, dir: frame.z, sigma, slope };
            let circle = |sigma: f64| Primitive::Circle { frame, radius: 5.0, sigma };
            let sphere = |sigma: f64| Primitive::Point { center: frame.origin, sigma };
            for (inner, outer) in [
                (line(2.0, 0.0), line(-2.0 - play, 0.0)),
                (line(2.0, 0.3), line(-2.0 - play, -0.3)),
                (circle(2.0), circle(-2.0 - play)),
                (sphere(2.0), sphere(-2.0 - play)),
                (circle(2.0), line(-7.0 - play, 0.0)),
                (sphere(2.0), line(-2.0 - play, 0.0)),
                (line(3.0 - play, 0.0), circle(2.0)),
            ] {
                let bounds = Obb::from_aabb(&Aabb::of_points(&[frame.origin]));
                let face = |primitive| RevolvedFace {
                    primitive,
                    off: 0.0,
                    along: [-1.0, 4.0],
                    part: WHOLE,
                    ring: None,
                    bounds,
                };
                let (a, b) = (face(inner), face(outer));
                let off_by = |plays: f64| apart(&RevolvedFace { off: plays * play, ..a }, &b, [0.0; 2]);
                assert!(
                    off_by(0.2).spare > 0.0 && apart(&b, &a, [0.0; 2]).spare > 0.2 * play,
                    "{inner:?} {outer:?}"
                );
                assert!(off_by(2.0).spare <= 0.0, "not separated beyond the play");
            }
        }
    }
}
