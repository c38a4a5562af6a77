//! Decides whether two canonical surfaces or curves are the same set of points, and maps their
//! parameters.
//!
//! # Source
//! BREP Figure 2.4 (the parameters that must agree) and Table 2.3 (the isometries between
//! parametrisations), MATH §5.
//!
//! # Deviations
//! The points of the two surfaces are compared, not their raw parameters, over the extent of the face
//! whose boundary is mapped. Axes that differ by 1e-9 rad are a micrometre apart at a kilometre and a
//! picometre at a millimetre. Table 2.3 has no isometry for spheres with different axes:
//! [`SurfaceMap::Refit`].

use feeler_geom::trim::TrimPiece;
use feeler_geom::{Curve, Frame, P2, Rect, Surface, V3, math};

/// Directions farther apart than this (rad) never count as equal, however small the face, because the
/// normals that queries report would depend on the choice of the reference surface. A larger value
/// changes reported normals; a smaller one merges fewer features.
pub(crate) const ANGLE_TOL: f64 = 1e-6;

/// Affine map between the parameter planes of two equal surfaces: `uv' = m uv + t`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct UvMap {
    m: [[f64; 2]; 2],
    t: [f64; 2],
}

impl UvMap {
    /// The identity map.
    pub(crate) const IDENTITY: Self = Self { m: [[1.0, 0.0], [0.0, 1.0]], t: [0.0, 0.0] };

    /// Creates the map from `(u, v)` to `(su u + tu, sv v + tv)`.
    fn axes(su: f64, tu: f64, sv: f64, tv: f64) -> Self {
        Self { m: [[su, 0.0], [0.0, sv]], t: [tu, tv] }
    }

    /// Maps a point of the parameter plane.
    pub(crate) fn apply(&self, p: P2) -> P2 {
        let [mu, mv] = self.m;
        P2::new(mu[0] * p.x + mu[1] * p.y + self.t[0], mv[0] * p.x + mv[1] * p.y + self.t[1])
    }

    /// Maps a boundary piece of a trimmed domain. The domain stays on the left of the piece: a
    /// reflection reverses it.
    pub(crate) fn piece(&self, piece: &TrimPiece) -> TrimPiece {
        let mut image = *piece;
        image.control = piece.control.map(|p| self.apply(p));
        if self.m[0][0] * self.m[1][1] < self.m[0][1] * self.m[1][0] {
            image.control.reverse();
        }
        image
    }
}

/// Map from the parameters of one surface to those of another surface that is the same set of points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SurfaceMap {
    /// The parameters are related by an affine map.
    Affine(UvMap),
    /// The parameters are not related by an affine map (spheres with different axes): boundary pieces
    /// must be fitted again from their curves in space.
    Refit,
}

/// Returns the map from the parameters of the canonical surface `from` to those of `to`, with an upper
/// bound of the distance (mm) between a point of `from` in the parameter rectangle `extent` and its
/// image on `to`. Returns `None` if the surfaces have different types or differ by more than `tol` (mm)
/// over `extent`. The orientations of faces are ignored.
pub(crate) fn surface_map(
    from: &Surface,
    to: &Surface,
    extent: &Rect,
    tol: f64,
) -> Option<(SurfaceMap, f64)> {
    if from == to {
        return Some((SurfaceMap::Affine(UvMap::IDENTITY), 0.0));
    }
    let (map, deviation) = match (from, to) {
        (Surface::Plane { frame: a }, Surface::Plane { frame: b }) => plane_map(a, b, extent),
        (Surface::Cylinder { frame: a, radius: ra }, Surface::Cylinder { frame: b, radius: rb }) => {
            let (sign, angle) = axis_angle(&a.z, &b.z)?;
            let turn = turn_of(a, b);
            let shift = b.local(&a.origin).z;
            let off = axis_offset(a, b, extent.v0).max(axis_offset(a, b, extent.v1));
            (UvMap::axes(sign, turn, sign, shift), off + (ra - rb).abs() + ra * angle).affine()
        }
        (Surface::Cone { frame: a, half_angle: fa }, Surface::Cone { frame: b, half_angle: fb }) => {
            let (sign, angle) = axis_angle(&a.z, &b.z)?;
            if sign < 0.0 || (fa - fb).abs() > ANGLE_TOL {
                return None;
            }
            // Near the apex a shift could move v below 0, outside the surface.
            let dv = b.local(&a.origin).z;
            let shift = if extent.v0 > 10.0 * dv.abs() { dv } else { 0.0 };
            let end = |v: f64| {
                let radius = v * math::tan(*fa);
                let radius_b = (v + shift) * math::tan(*fb);
                axis_offset(a, b, v) + (radius - radius_b).abs() + radius * angle
            };
            let deviation = end(extent.v0).max(end(extent.v1)) + (dv - shift).abs();
            (UvMap::axes(1.0, turn_of(a, b), 1.0, shift), deviation).affine()
        }
        (Surface::Sphere { frame: a, radius: ra }, Surface::Sphere { frame: b, radius: rb }) => {
            let off = (a.origin - b.origin).norm() + (ra - rb).abs();
            match axis_angle(&a.z, &b.z) {
                Some((sign, angle)) if off + ra * angle <= tol => {
                    (UvMap::axes(sign, turn_of(a, b), sign, 0.0), off + ra * angle).affine()
                }
                _ => (SurfaceMap::Refit, off),
            }
        }
        (
            Surface::Torus { frame: a, major: ma, minor: ra },
            Surface::Torus { frame: b, major: mb, minor: rb },
        ) => {
            let (sign, angle) = axis_angle(&a.z, &b.z)?;
            let off = (a.origin - b.origin).norm() + (ma - mb).abs() + (ra - rb).abs();
            (UvMap::axes(sign, turn_of(a, b), sign, 0.0), off + (ma + ra) * angle).affine()
        }
        _ => return None,
    };
    // The comparison also rejects NaN.
    (deviation <= tol).then_some((map, deviation))
}

trait IntoAffine {
    fn affine(self) -> (SurfaceMap, f64);
}

impl IntoAffine for (UvMap, f64) {
    fn affine(self) -> (SurfaceMap, f64) {
        (SurfaceMap::Affine(self.0), self.1)
    }
}

fn plane_map(a: &Frame, b: &Frame, extent: &Rect) -> (SurfaceMap, f64) {
    if axis_angle(&a.z, &b.z).is_none() {
        return (SurfaceMap::Refit, f64::INFINITY);
    }
    let corners =
        [(extent.u0, extent.v0), (extent.u1, extent.v0), (extent.u0, extent.v1), (extent.u1, extent.v1)];
    let deviation = corners.iter().map(|&(u, v)| b.local(&a.point(u, v, 0.0)).z.abs()).fold(0.0, f64::max);
    let origin = b.local(&a.origin);
    let m = [[a.x.dot(&b.x), a.y.dot(&b.x)], [a.x.dot(&b.y), a.y.dot(&b.y)]];
    (SurfaceMap::Affine(UvMap { m, t: [origin.x, origin.y] }), deviation)
}

/// Returns the sign by which `b` must be multiplied to point along `a`, and the angle (rad) between the
/// lines along both unit vectors. Returns `None` if the angle exceeds [`ANGLE_TOL`].
fn axis_angle(a: &V3, b: &V3) -> Option<(f64, f64)> {
    let angle = math::asin(a.cross(b).norm());
    (angle <= ANGLE_TOL).then_some((if a.dot(b) < 0.0 { -1.0 } else { 1.0 }, angle))
}

/// Angle (rad) of the x axis of `a` in the xy-plane of `b`, in (-π, π].
fn turn_of(a: &Frame, b: &Frame) -> f64 {
    math::atan2(a.x.dot(&b.y), a.x.dot(&b.x))
}

/// Distance (mm) from the point at height `v` on the z axis of `a` to the z axis of `b`.
fn axis_offset(a: &Frame, b: &Frame, v: f64) -> f64 {
    let l = b.local(&a.point(0.0, 0.0, v));
    math::hypot(l.x, l.y)
}

/// Map between the parameters of two equal curves: `t' = sign t + shift`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TMap {
    /// 1 if the two curves run in the same direction, −1 if they run in opposite directions.
    pub(crate) sign: f64,
    /// Parameter of the second curve at parameter 0 of the first one.
    pub(crate) shift: f64,
}

impl TMap {
    /// The identity map.
    pub(crate) const IDENTITY: Self = Self { sign: 1.0, shift: 0.0 };

    /// Maps a parameter of the first curve to the second one.
    pub(crate) fn apply(&self, t: f64) -> f64 {
        self.sign * t + self.shift
    }

    /// Maps a parameter of the second curve to the first one.
    pub(crate) fn invert(&self, t: f64) -> f64 {
        (t - self.shift) * self.sign
    }

    /// Returns whether the two curves run in opposite directions.
    pub(crate) fn reverses(&self) -> bool {
        self.sign < 0.0
    }
}

/// Returns the map from the parameters of `from` to those of `to`, with an upper bound of the distance
/// (mm) between points of `from` over the parameters `range` and their images on `to`. Returns `None` if
/// the curves are not equal. Canonical curves and conics are compared within `tol` (mm); splines are
/// equal only if they are identical.
pub(crate) fn curve_map(from: &Curve, to: &Curve, range: (f64, f64), tol: f64) -> Option<(TMap, f64)> {
    if from == to {
        return Some((TMap::IDENTITY, 0.0));
    }
    let (map, deviation) = match (from, to) {
        (Curve::Line { origin: a, dir: da }, Curve::Line { origin: b, dir: db }) => {
            let (sign, _) = axis_angle(da, db)?;
            let off = |t: f64| {
                let r = a + da * t - b;
                (r - db * r.dot(db)).norm()
            };
            (TMap { sign, shift: (a - b).dot(db) }, off(range.0).max(off(range.1)))
        }
        (Curve::Circle { frame: a, radius: ra }, Curve::Circle { frame: b, radius: rb }) => {
            let (sign, angle) = axis_angle(&a.z, &b.z)?;
            (TMap { sign, shift: turn_of(a, b) }, (a.origin - b.origin).norm() + (ra - rb).abs() + ra * angle)
        }
        (
            Curve::Ellipse { frame: a, semi_x: ax, semi_y: ay },
            Curve::Ellipse { frame: b, semi_x: bx, semi_y: by },
        ) => {
            // The major axes of equal ellipses can be opposite.
            let (map, turn) = axes_map(a, b)?;
            let off = (a.origin - b.origin).norm() + (ax - bx).abs() + (ay - by).abs() + ax.max(*ay) * turn;
            (map, off)
        }
        (Curve::Parabola { frame: a, focal: fa }, Curve::Parabola { frame: b, focal: fb }) => {
            let (map, turn) = axes_map(a, b).filter(|m| m.0.shift < 1.0)?;
            let t = range.0.abs().max(range.1.abs());
            let reach = (from.point(range.0) - a.origin).norm().max((from.point(range.1) - a.origin).norm());
            (map, (a.origin - b.origin).norm() + (fa - fb).abs() * (t * t + 2.0 * t) + reach * turn)
        }
        (
            Curve::Hyperbola { frame: a, semi: sa, semi_imag: ia },
            Curve::Hyperbola { frame: b, semi: sb, semi_imag: ib },
        ) => {
            let (map, turn) = axes_map(a, b).filter(|m| m.0.shift < 1.0)?;
            let t = range.0.abs().max(range.1.abs());
            let reach = (from.point(range.0) - a.origin).norm().max((from.point(range.1) - a.origin).norm());
            let size = ((sa - sb).abs() + (ia - ib).abs()) * math::exp(t);
            (map, (a.origin - b.origin).norm() + size + reach * turn)
        }
        _ => return None,
    };
    (deviation <= tol).then_some((map, deviation))
}

/// Returns the map between the parameters of two conics whose frames agree up to the signs of their
/// axes, and the sum of the angles (rad) between their z axes and between their x axes. Returns `None`
/// if the lines along the axes differ. Opposite x axes shift the parameter by half a turn, which only an
/// ellipse allows.
fn axes_map(a: &Frame, b: &Frame) -> Option<(TMap, f64)> {
    let (sign, tilt) = axis_angle(&a.z, &b.z)?;
    let (along, turn) = axis_angle(&a.x, &b.x)?;
    let shift = if along < 0.0 { std::f64::consts::PI } else { 0.0 };
    Some((TMap { sign, shift }, tilt + turn))
}

/// Computes the key of an oriented surface: numbers that agree within [`key_tolerance`] for equal
/// surfaces with equal orientation. The first number encodes the type; it is NaN for a spline, which
/// equals no other surface. Positions are relative to `center`, the centre of the solid, so that the
/// tolerance applies near the solid.
pub(crate) fn surface_key(surface: &Surface, outward: bool, center: &feeler_geom::P3) -> [f64; 12] {
    let mut k = [0.0; 12];
    let side = if outward { 0.0 } else { 0.5 };
    match surface {
        Surface::Plane { frame } => {
            // The outward normal itself distinguishes the two orientations of a plane.
            let n = if outward { frame.z } else { -frame.z };
            k[0] = 1.0;
            k[1..4].copy_from_slice(n.as_slice());
            k[4] = n.dot(&(frame.origin - center));
        }
        Surface::Cylinder { frame, radius } => {
            k[0] = 2.0 + side;
            axis_key(&frame.z, &mut k[1..7]);
            let r = frame.origin - center;
            k[7..10].copy_from_slice((r - frame.z * r.dot(&frame.z)).as_slice());
            k[10] = *radius;
        }
        Surface::Cone { frame, half_angle } => {
            k[0] = 3.0 + side;
            k[1..4].copy_from_slice(frame.z.as_slice());
            k[4] = *half_angle;
            // The axis is well determined even if the apex of a slim cone is not.
            let r = frame.origin - center;
            k[7..10].copy_from_slice((r - frame.z * r.dot(&frame.z)).as_slice());
        }
        Surface::Sphere { frame, radius } => {
            k[0] = 4.0 + side;
            k[7..10].copy_from_slice((frame.origin - center).as_slice());
            k[10] = *radius;
        }
        Surface::Torus { frame, major, minor } => {
            k[0] = 5.0 + side;
            axis_key(&frame.z, &mut k[1..7]);
            k[7..10].copy_from_slice((frame.origin - center).as_slice());
            k[10] = *major;
            k[11] = *minor;
        }
        // Splines are never merged.
        Surface::Bezier(_) => k[0] = f64::NAN,
    }
    k
}

/// Computes the key of a curve, like [`surface_key`]. Keys of conics other than circles omit the
/// semi-axes, and keys of splines the inner control points, so [`curve_map`] must decide whether curves
/// with equal keys are equal.
pub(crate) fn curve_key(curve: &Curve, center: &feeler_geom::P3) -> [f64; 12] {
    let mut k = [0.0; 12];
    match curve {
        Curve::Line { origin, dir } => {
            k[0] = 1.0;
            axis_key(dir, &mut k[1..7]);
            let r = origin - center;
            k[7..10].copy_from_slice((r - dir * r.dot(dir)).as_slice());
        }
        Curve::Circle { frame, radius } => {
            k[0] = 2.0;
            axis_key(&frame.z, &mut k[1..7]);
            k[7..10].copy_from_slice((frame.origin - center).as_slice());
            k[10] = *radius;
        }
        Curve::Ellipse { frame, .. } => position_key(3.0, frame, center, &mut k),
        Curve::Parabola { frame, .. } => position_key(4.0, frame, center, &mut k),
        Curve::Hyperbola { frame, .. } => position_key(5.0, frame, center, &mut k),
        Curve::Bezier(spline) => {
            k[0] = 6.0;
            if let Some(h) = spline.control.first() {
                k[7..10].copy_from_slice(&h.as_slice()[..3]);
            }
            k[10] = spline.breaks.first().copied().unwrap_or(0.0);
            k[11] = spline.breaks.last().copied().unwrap_or(0.0);
        }
    }
    k
}

fn position_key(kind: f64, frame: &Frame, center: &feeler_geom::P3, k: &mut [f64; 12]) {
    k[0] = kind;
    axis_key(&frame.z, &mut k[1..7]);
    k[7..10].copy_from_slice((frame.origin - center).as_slice());
}

/// Writes the products of the components of a direction to `out`. They are equal for a direction and its
/// opposite, and continuous.
fn axis_key(z: &V3, out: &mut [f64]) {
    out.copy_from_slice(&[z.x * z.x, z.y * z.y, z.z * z.z, z.x * z.y, z.y * z.z, z.z * z.x]);
}

/// Upper bounds of the differences between keys of equal surfaces or curves in a solid whose box has the
/// diagonal `size` (mm), with a safety factor of 4. `tol` (mm) is the maximum distance between surfaces
/// or curves that count as equal.
pub(crate) fn key_tolerance(size: f64, tol: f64) -> [f64; 12] {
    let position = 4.0 * (tol + ANGLE_TOL * size);
    let mut t = [4.0 * ANGLE_TOL; 12];
    t[0] = 0.0;
    // k[4] is a position for planes, and an angle or a product of direction components otherwise.
    t[4] = position.max(t[4]);
    t[7..].fill(position);
    t
}

#[cfg(test)]
mod tests {
    use super::*;
    use feeler_geom::P3;
    use rand::rngs::SmallRng;
    use rand::{Rng, SeedableRng};
    use std::f64::consts::TAU;

    fn random_unit(rng: &mut SmallRng) -> V3 {
        loop {
            let v = V3::from_fn(|_, _| rng.random_range(-1.0..1.0));
            if v.norm() > 0.1 {
                return v.normalize();
            }
        }
    }

    fn random_frame(rng: &mut SmallRng) -> Frame {
        let o = P3::from(V3::from_fn(|_, _| rng.random_range(-20.0..20.0)));
        Frame::from_z(o, random_unit(rng), Some(random_unit(rng))).unwrap()
    }

    /// Copy of `frame` with its z axis kept or (`flip`) reversed, shifted along that axis and rotated
    /// about it by a random angle.
    fn other_frame(rng: &mut SmallRng, frame: &Frame, flip: bool, shift: f64) -> Frame {
        let z = if flip { -frame.z } else { frame.z };
        Frame::from_z(frame.origin + frame.z * shift, z, Some(random_unit(rng))).unwrap()
    }

    fn pairs(rng: &mut SmallRng) -> Vec<(Surface, Surface)> {
        let f = random_frame(rng);
        let flip = rng.random_bool(0.5);
        let shift = rng.random_range(-5.0..5.0);
        let along = other_frame(rng, &f, flip, shift);
        let in_place = other_frame(rng, &f, flip, 0.0);
        let same_way = other_frame(rng, &f, false, 0.0);
        let mut plane = other_frame(rng, &f, flip, 0.0);
        plane.origin += f.x * shift - f.y * 3.0;
        vec![
            (Surface::Plane { frame: f }, Surface::Plane { frame: plane }),
            (Surface::Cylinder { frame: f, radius: 3.0 }, Surface::Cylinder { frame: along, radius: 3.0 }),
            (Surface::Cone { frame: f, half_angle: 0.4 }, Surface::Cone { frame: same_way, half_angle: 0.4 }),
            (Surface::Sphere { frame: f, radius: 3.0 }, Surface::Sphere { frame: in_place, radius: 3.0 }),
            (
                Surface::Torus { frame: f, major: 7.0, minor: 2.0 },
                Surface::Torus { frame: in_place, major: 7.0, minor: 2.0 },
            ),
        ]
    }

    #[test]
    fn maps_agree_in_space_and_keep_the_domain_on_the_left() {
        let mut rng = SmallRng::seed_from_u64(1);
        let extent = Rect { u0: 0.1, u1: 1.3, v0: 0.2, v1: 1.4 };
        for _ in 0..50 {
            for (a, b) in pairs(&mut rng) {
                let (map, deviation) = surface_map(&a, &b, &extent, 1e-9).unwrap();
                let SurfaceMap::Affine(map) = map else { panic!("{a:?} to {b:?} should be affine") };
                assert!(deviation < 1e-12, "{a:?} to {b:?}: {deviation}");
                for _ in 0..10 {
                    let uv = P2::new(rng.random_range(0.1..1.3), rng.random_range(0.2..1.4));
                    let gap = (a.point(uv) - b.point(map.apply(uv))).norm();
                    assert!(gap < 1e-11, "{a:?} to {b:?}: {gap}");
                }
                // The map keeps the domain on the left of a piece, seen against the outward normal.
                let uv = P2::new(0.7, 0.8);
                let step = P2::new(0.7 + 1e-3, 0.8);
                let piece = TrimPiece { control: [uv, uv, step, step], edge: 0, deviation: 0.0 };
                let image = map.piece(&piece);
                let left = |s: &Surface, p: &TrimPiece| {
                    let mid = p.control[0] + (p.control[3] - p.control[0]) * 0.5;
                    let along = s.point(p.control[3]) - s.point(p.control[0]);
                    s.normal(mid).cross(&along).normalize()
                };
                let agree = left(&a, &piece).dot(&left(&b, &image));
                assert!(agree > 0.999, "{a:?} to {b:?}: the domain changed sides, {agree}");
            }
        }
    }

    #[test]
    fn differences_are_measured_over_the_extent() {
        let f = Frame::identity();
        let tilted = Frame::from_z(P3::origin(), V3::new(1e-9, 0.0, 1.0), Some(V3::x())).unwrap();
        let (a, b) = (Surface::Plane { frame: f }, Surface::Plane { frame: tilted });
        let rect = |s: f64| Rect { u0: -s, u1: s, v0: -s, v1: s };
        assert!(
            surface_map(&a, &b, &rect(1.0), 1e-8).is_some(),
            "a tilt of 1e-9 rad is negligible over 1 mm"
        );
        assert!(
            surface_map(&a, &b, &rect(100.0), 1e-8).is_none(),
            "100 mm away the planes differ by 1e-7 mm"
        );
        let wide = Surface::Cylinder { frame: f, radius: 3.0 + 1e-6 };
        let (a, b) =
            (Surface::Cylinder { frame: f, radius: 3.0 }, Surface::Cylinder { frame: tilted, radius: 3.0 });
        assert!(surface_map(&a, &b, &rect(1.0), 1e-8).is_some(), "the cylinders are equal");
        assert!(surface_map(&a, &b, &rect(100.0), 1e-8).is_none(), "the axes differ at the ends");
        assert!(surface_map(&a, &wide, &rect(1.0), 1e-8).is_none(), "the radii differ");
        let s = |z: V3| Surface::Sphere { frame: Frame::from_z(P3::origin(), z, None).unwrap(), radius: 2.0 };
        let refit = surface_map(&s(V3::z()), &s(V3::x()), &rect(1.0), 1e-8);
        assert_eq!(refit.map(|r| r.0), Some(SurfaceMap::Refit), "spheres with different axes need a refit");
    }

    #[test]
    fn curve_maps_agree_in_space() {
        let mut rng = SmallRng::seed_from_u64(2);
        for _ in 0..50 {
            let f = random_frame(&mut rng);
            let flip = rng.random_bool(0.5);
            let g = other_frame(&mut rng, &f, flip, 0.0);
            let shift = rng.random_range(-5.0..5.0);
            let dir = if flip { -f.z } else { f.z };
            let cases = [
                (Curve::Circle { frame: f, radius: 2.0 }, Curve::Circle { frame: g, radius: 2.0 }),
                (
                    Curve::Line { origin: f.origin, dir: f.z },
                    Curve::Line { origin: f.origin + f.z * shift, dir },
                ),
            ];
            for (a, b) in cases {
                let (map, _) = curve_map(&a, &b, (-1.0, 2.0), 1e-9).unwrap();
                assert_eq!(map.reverses(), flip, "{a:?} to {b:?}");
                for t in [-1.0, 0.3, 2.0] {
                    assert!((a.point(t) - b.point(map.apply(t))).norm() < 1e-11, "{a:?} to {b:?}");
                    assert!((map.invert(map.apply(t)) - t).abs() < 1e-12, "inverse");
                }
            }
            // Conics with equal axes, each with either sign.
            for (x, z) in [(f.x, -f.z), (-f.x, f.z), (-f.x, -f.z)] {
                let g = Frame::from_z(f.origin, z, Some(x)).unwrap();
                let ellipse = |frame| Curve::Ellipse { frame, semi_x: 3.0, semi_y: 2.0 };
                let parabola = |frame| Curve::Parabola { frame, focal: 0.7 };
                let hyperbola = |frame| Curve::Hyperbola { frame, semi: 1.5, semi_imag: 0.8 };
                for (a, b) in
                    [(ellipse(f), ellipse(g)), (parabola(f), parabola(g)), (hyperbola(f), hyperbola(g))]
                {
                    let map = curve_map(&a, &b, (-1.0, 2.0), 1e-9);
                    let opposite = x.dot(&f.x) < 0.0;
                    let open = !matches!(a, Curve::Ellipse { .. });
                    assert_eq!(map.is_none(), opposite && open, "{a:?} to {b:?}");
                    let Some((map, _)) = map else { continue };
                    for t in [-1.0, 0.3, 2.0] {
                        assert!((a.point(t) - b.point(map.apply(t))).norm() < 1e-11, "{a:?} to {b:?}");
                    }
                    let off = ellipse(Frame { origin: f.origin + f.y * 1e-6, ..f });
                    assert!(
                        curve_map(&ellipse(f), &off, (-1.0, 2.0), 1e-9).is_none(),
                        "ellipses with different centres"
                    );
                }
            }
        }
    }

    #[test]
    fn keys_of_equal_surfaces_agree() {
        let mut rng = SmallRng::seed_from_u64(3);
        let center = P3::new(1.0, 2.0, 3.0);
        let tol = key_tolerance(TAU, 1e-8);
        for _ in 0..50 {
            for (a, b) in pairs(&mut rng) {
                let turned = matches!((&a, &b), (Surface::Plane { frame: f }, Surface::Plane { frame: g })
                    if f.z.dot(&g.z) < 0.0);
                let (ka, kb) = (surface_key(&a, true, &center), surface_key(&b, !turned, &center));
                assert!((0..12).all(|i| (ka[i] - kb[i]).abs() <= tol[i]), "{ka:?} {kb:?}");
                let opposite = surface_key(&b, turned, &center);
                assert!(
                    (0..12).any(|i| (ka[i] - opposite[i]).abs() > tol[i]),
                    "keys must depend on the orientation"
                );
            }
        }
    }
}
