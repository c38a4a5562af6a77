//! Outermost points of a set of points: the samples of a conformal set that carry loads.

use arrayvec::ArrayVec;
use feeler_geom::frame::complete_basis;
use feeler_geom::{P3, V3, math};
use std::f64::consts::TAU;

/// Number of directions in which the farthest points of a set in space are searched for, and so the
/// largest number of its outermost points. A larger number makes the steps of a simulator slower; with a
/// smaller one, corners of round sets separate later than they should.
const NUM_DIRECTIONS: usize = 26;
/// Number of directions for a set in a plane. A larger number makes the steps of a simulator slower; with
/// a smaller one, flanges tilt about a chord of their rim instead of the rim.
pub(super) const NUM_FLAT_DIRECTIONS: usize = 12;
/// Angle (rad) between successive directions of a set in a plane.
const FLAT_ANGLE: f64 = TAU / 12.0;

/// Components by which the directions deviate from the coordinate axes and diagonals. Without them,
/// corners of parts would be equally far along an axis, and samples would alternate between steps.
const SKEW: [f64; 2] = [0.137, 0.071];

/// Largest distance of the points of a flat set from their common plane or line, as a fraction of their
/// extent. A larger value drops samples of bent sets; a smaller one keeps more samples of flat sets than
/// needed.
const MAX_OUT_OF_PLANE: f64 = 1e-5;

/// Largest number of outermost points of a set in a plane. A larger number makes the steps of a simulator
/// slower; with a smaller one, corners of large areas with many sides are dropped.
const MAX_FLAT: usize = 128;

/// Points of a set that are farthest in one of several directions: the two ends of a set on a line, at
/// most [`NUM_FLAT_DIRECTIONS`] points of a set in a plane, at most [`NUM_DIRECTIONS`] points of any other
/// set, and of a set in a plane with obtuse corners that a step can close.
///
/// After a small motion, the gap of a flat conformal set is a linear function of position. While the gap
/// is positive at the outermost points, it is therefore positive at all others, except between two
/// directions: at obtuse corners, and on the bulge of a rounded outline. Of a set in a plane, such points
/// are kept, too, until none is farther than `max_loss` outside the polygon of the kept points, or
/// [`MAX_FLAT`] are kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outermost {
    /// Indices of the outermost points, ascending.
    pub places: ArrayVec<usize, MAX_FLAT>,
    /// Whether a point farther outside the polygon than `max_loss` is dropped.
    pub is_limited: bool,
}

impl Outermost {
    /// Selects the outermost of `n` points, where `place` returns the point at an index from 0 to `n` - 1.
    /// `plane` is the unit normal of the plane that contains the points, if it is known. Among equally far
    /// points, the first is selected. `max_loss` (mm) is the largest distance of a dropped point of a set in
    /// a plane from the polygon of the selected ones.
    pub(crate) fn of(n: usize, place: impl Fn(usize) -> P3, plane: Option<V3>, max_loss: f64) -> Self {
        let farthest = |direction: &dyn Fn(&P3) -> f64| {
            let mut best = (f64::NEG_INFINITY, 0);
            for i in 0..n {
                let reach = direction(&place(i));
                if reach > best.0 {
                    best = (reach, i);
                }
            }
            best.1
        };
        let mut out = Self::default();
        if n == 0 {
            return out;
        }
        let along = |d: V3| farthest(&|p| d.dot(&p.coords));
        let start = place(along(direction(0)));
        let chord = place(farthest(&|p| (p - start).norm_squared())) - start;
        let off = |p: &P3| (p - start).cross(&chord);
        let across = off(&place(farthest(&|p| off(p).norm_squared())));
        if across.norm() <= MAX_OUT_OF_PLANE * chord.norm_squared() {
            out.places.extend([chord, -chord].map(along));
        } else {
            let normal = upward(&plane.unwrap_or_else(|| across.normalize()));
            if (0..n).all(|i| normal.dot(&(place(i) - start)).abs() <= MAX_OUT_OF_PLANE * chord.norm()) {
                out.places.extend(flat_directions(&normal).into_iter().map(along));
                out.is_limited = add_corners(n, &place, &normal, max_loss, &mut out.places);
            } else {
                out.places.extend((0..NUM_DIRECTIONS).map(|k| along(direction(k))));
            }
        }
        out.places.sort_unstable();
        let mut last = None;
        out.places.retain(|place| last.replace(*place) != Some(*place));
        out
    }
}

/// Side of a polygon, and the point that is farthest outside it.
#[derive(Clone, Copy)]
struct PolygonSide {
    from: usize,
    to: usize,
    corner: usize,
    /// Distance (mm) of the point `corner` from the side.
    distance: f64,
}

/// Adds to the convex polygon of some of `n` points in a plane with the unit normal `normal` the points
/// farthest outside its sides, the farthest one of all first, until none is farther outside than `max_loss`
/// (mm) or the polygon has [`MAX_FLAT`] corners. The corners in `polygon` are anticlockwise about `normal`
/// before, and not ordered after. Returns whether a point farther outside is dropped.
fn add_corners(
    n: usize,
    place: &impl Fn(usize) -> P3,
    normal: &V3,
    max_loss: f64,
    polygon: &mut ArrayVec<usize, MAX_FLAT>,
) -> bool {
    if !max_loss.is_finite() {
        return false;
    }
    let side = |from: usize, to: usize| {
        let start = place(from);
        let outward = (place(to) - start).cross(normal).try_normalize(0.0)?;
        let distance = |i: usize| outward.dot(&(place(i) - start));
        let (distance, corner) =
            (0..n).map(|i| (distance(i), i)).fold((0.0, from), |x, y| if y.0 > x.0 { y } else { x });
        (distance > max_loss).then_some(PolygonSide { from, to, corner, distance })
    };
    let next = |k: usize| polygon[(k + 1) % polygon.len()];
    // Sides with a point outside; each new corner replaces one of them by at most two.
    let mut sides: ArrayVec<PolygonSide, MAX_FLAT> =
        (0..polygon.len()).filter_map(|k| side(polygon[k], next(k))).collect();
    while let Some(k) = (0..sides.len()).max_by(|i, j| sides[*i].distance.total_cmp(&sides[*j].distance)) {
        let PolygonSide { from, to, corner, .. } = sides.swap_remove(k);
        if polygon.try_push(corner).is_err() {
            return true;
        }
        sides.extend([side(from, corner), side(corner, to)].into_iter().flatten());
    }
    false
}

/// Opposite unit normals give the same one of both.
pub(super) fn upward(normal: &V3) -> V3 {
    if normal[normal.iamax()] < 0.0 { -normal } else { *normal }
}

/// Unit vectors at equal angles, anticlockwise about the unit normal `normal` of a plane. The outermost
/// points of a set in this plane are the farthest ones in these directions.
pub(super) fn flat_directions(normal: &V3) -> [V3; NUM_FLAT_DIRECTIONS] {
    let (x, y) = complete_basis(normal);
    let mut directions = [V3::zeros(); NUM_FLAT_DIRECTIONS];
    for (k, direction) in (0_u32..).zip(&mut directions) {
        let (sin, cos) = math::sin_cos(SKEW[0] + f64::from(k) * FLAT_ANGLE);
        *direction = x * cos + y * sin;
    }
    directions
}

/// Direction with the index `k`, not of unit length: from the centre of a slightly skewed cube to the
/// centre of a face, the middle of an edge, or a corner.
fn direction(k: usize) -> V3 {
    // The centre of the 27 points of the cube has no direction.
    let k = if k < NUM_DIRECTIONS / 2 { k } else { k + 1 };
    let step = |digit: usize| [-1.0, 0.0, 1.0][digit % 3];
    let d = V3::new(step(k), step(k / 3), step(k / 9));
    d + V3::new(d.y, d.z, d.x) * SKEW[0] + V3::new(d.z, d.x, d.y) * SKEW[1]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outermost(places: &[P3]) -> Vec<usize> {
        Outermost::of(places.len(), |i| places[i], None, f64::INFINITY).places.to_vec()
    }

    #[test]
    fn a_line_has_two_ends_and_a_point_one() {
        let on_line = |k: u32| P3::new(1.0, 2.0, f64::from((k * 7) % 11));
        assert_eq!(outermost(&(0..11).map(on_line).collect::<Vec<_>>()), [0, 3]);
        assert_eq!(outermost(&[P3::origin(); 2]), [0]);
        assert!(outermost(&[]).is_empty());
    }

    /// The corners of a square are kept of four strips of points around it.
    #[test]
    fn a_frame_has_four_corners() {
        let strip = |side: u32| {
            (0..30).map(move |k| {
                let s = f64::from(k) - 14.5;
                match side {
                    0 => P3::new(s, 14.5, 0.0),
                    1 => P3::new(s, -14.5, 0.0),
                    2 => P3::new(14.5, s, 0.0),
                    _ => P3::new(-14.5, s, 0.0),
                }
            })
        };
        let places: Vec<P3> = (0..4).flat_map(strip).collect();
        let corners: Vec<P3> = outermost(&places).iter().map(|k| places[*k]).collect();
        assert!(
            corners.len() == 4 && corners.iter().all(|p| p.coords.xy().abs().min() > 14.0),
            "{corners:?}"
        );
    }

    /// Obtuse corners of a polygon, whose normals lie between two directions, are kept if a dropped one would
    /// be farther outside than the limit; points inside the polygon are not.
    #[test]
    fn obtuse_corners_are_kept_up_to_the_limit() {
        let at = |x: f64, y: f64| P3::new(x, y, 1.0);
        // Two corners are 0.3 mm outside the square of the other four.
        let mut places = vec![at(-10.0, -8.0), at(10.0, -8.0), at(10.0, 8.0), at(-10.0, 8.0)];
        places.extend([at(-1.0, 8.3), at(4.0, -8.3), at(0.0, 0.0), at(9.0, 7.9)]);
        for normal in [V3::z(), -V3::z()] {
            for (max_loss, count) in [(f64::INFINITY, 4), (0.4, 4), (0.2, 6), (0.0, 6)] {
                let found = Outermost::of(places.len(), |i| places[i], Some(normal), max_loss);
                assert!(found.places.iter().copied().eq(0..count), "{max_loss}: {found:?}");
                assert!(!found.is_limited);
            }
        }
    }

    /// Few points of a disc are kept: points of its rim, all around it.
    #[test]
    fn a_disc_has_places_all_round_its_rim() {
        for turned in [0.0, 0.3, 1.1] {
            let at = |k: u32| {
                let (angle, r) = (turned + TAU * f64::from(k) / 60.0, 10.0 - f64::from(k % 4));
                P3::new(r * math::cos(angle), r * math::sin(angle), 5.0)
            };
            let places: Vec<P3> = (0..240).map(at).collect();
            let kept = outermost(&places);
            assert!((8..=12).contains(&kept.len()), "{kept:?}");
            let angle = |k: &usize| {
                let p = places[*k];
                assert!(p.coords.xy().norm() > 9.9, "{p}");
                math::atan2(p.y, p.x).rem_euclid(TAU)
            };
            let mut angles: Vec<f64> = kept.iter().map(angle).collect();
            angles.sort_by(f64::total_cmp);
            angles.push(angles[0] + TAU);
            // Directions are 30° apart, points of the rim 24°.
            let widest = (30.0_f64 + 24.0).to_radians() + 1e-9;
            assert!(angles.windows(2).all(|w| w[1] - w[0] <= widest), "{angles:?}");
        }
    }

    /// At most one point of a ball is kept for each direction, and all of them are on its surface.
    #[test]
    fn a_ball_has_at_most_one_place_for_each_direction() {
        let at = |k: u32| {
            let z = 1.0 - f64::from(2 * k + 1) / 500.0;
            let (sin, cos) = math::sin_cos(2.4 * f64::from(k));
            let r = (1.0 - z * z).sqrt();
            P3::from(V3::new(r * cos, r * sin, z) * (1.0 - 0.3 * f64::from(k % 2)))
        };
        let places: Vec<P3> = (0..500).map(at).collect();
        let kept = outermost(&places);
        assert!((20..=NUM_DIRECTIONS).contains(&kept.len()) && kept.is_sorted(), "{kept:?}");
        assert!(kept.iter().all(|k| k % 2 == 0), "{kept:?}");
    }

    #[test]
    fn directions_are_distinct() {
        for i in 0..NUM_DIRECTIONS {
            let d = direction(i);
            assert!(d.norm() > 0.5);
            assert!((0..i).all(|j| d.normalize().dot(&direction(j).normalize()) < 0.95), "{i}");
        }
    }
}
