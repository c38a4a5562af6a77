//! Smallest ball around points.

use feeler_geom::{P3, V3};
use feeler_particles::Sphere;
use nalgebra::Matrix3;

/// Returns the smallest ball that contains all points, up to rounding: its radius is at most 1 + 1e-9 times
/// the smallest possible one. Without points, it has the radius 0 and the origin as its centre.
///
/// The ball of a few support points is enlarged to the farthest point until it contains all points. Its
/// radius increases with each new support, so that no support occurs twice.
pub(crate) fn smallest_ball(points: &[P3]) -> Sphere {
    let Some(first) = points.first() else { return Sphere { center: P3::origin(), radius: 0.0 } };
    let (mut ball, mut support) = (Sphere { center: *first, radius: 0.0 }, vec![*first]);
    for _ in 0..MAX_ROUNDS {
        let Some(farthest) = points.iter().max_by(|a, b| distance(&ball, a).total_cmp(&distance(&ball, b)))
        else {
            break;
        };
        if distance(&ball, farthest) <= ball.radius * (1.0 + ROUNDING) {
            break;
        }
        let Some((next, kept)) = ball_of_support(&support, farthest) else { break };
        (ball, support) = (next, kept);
    }
    let radius = points.iter().map(|p| distance(&ball, p)).fold(0.0, f64::max);
    Sphere { radius, ..ball }
}

fn distance(ball: &Sphere, p: &P3) -> f64 {
    (p - ball.center).norm()
}

/// Returns the smallest ball around at most four `support` points and the point `new` outside of their ball,
/// with those of the five points that are on its surface. `None` if rounding hides that ball.
fn ball_of_support(support: &[P3], new: &P3) -> Option<(Sphere, Vec<P3>)> {
    let subsets = (0..1_u32 << support.len()).filter(|bits| bits.count_ones() <= 3);
    let candidates = subsets.filter_map(|bits| {
        let chosen = support.iter().enumerate().filter(|(k, _)| bits >> k & 1 == 1).map(|(_, p)| *p);
        let on_surface: Vec<P3> = [*new].into_iter().chain(chosen).collect();
        let ball = circumscribed(&on_surface)?;
        let slack = ball.radius * (1.0 + ROUNDING);
        support.iter().all(|p| distance(&ball, p) <= slack).then_some((ball, on_surface))
    });
    candidates.min_by(|a, b| a.0.radius.total_cmp(&b.0.radius))
}

/// Returns the smallest ball with one to four points on its surface; `None` if they are on a common line or
/// plane but not on a common circle.
fn circumscribed(points: &[P3]) -> Option<Sphere> {
    let sides: Vec<V3> = points[1..].iter().map(|p| p - points[0]).collect();
    // The centre is points[0] plus a combination of the sides, at equal distances from all points.
    let (mut gram, mut squares) = (Matrix3::identity(), V3::zeros());
    for (i, a) in sides.iter().enumerate() {
        squares[i] = 0.5 * a.norm_squared();
        for (j, b) in sides.iter().enumerate() {
            gram[(i, j)] = a.dot(b);
        }
    }
    let factors = gram.lu().solve(&squares)?;
    let to_center: V3 = sides.iter().zip(factors.iter()).map(|(side, f)| side * *f).sum();
    let radius = to_center.norm();
    radius.is_finite().then_some(Sphere { center: points[0] + to_center, radius })
}

/// Relative distance outside of a ball up to which a point counts as contained. With a larger value balls
/// miss points visibly; a smaller one is below the rounding of distances, so that rounds are wasted.
const ROUNDING: f64 = 1e-10;

/// Maximum number of enlargements of a ball; usually about ten are needed. With a larger number, points whose
/// distances rounding cannot distinguish take more time; with a smaller one, balls of many points are too
/// large.
const MAX_ROUNDS: u32 = 1_000;

#[cfg(test)]
mod tests {
    use super::*;
    use feeler_particles::Random;

    /// Balls with known support: the box has its corners on the ball, and the other points are inside.
    #[test]
    fn balls_are_those_of_closed_forms() {
        let mut random = Random(3);
        let mut part = || random.between(-1.0, 1.0);
        for _ in 0..50 {
            let (half, center) = (V3::new(2.0, part(), 0.3), P3::new(part(), 5.0 * part(), part()));
            let mut points: Vec<P3> = (0..8)
                .map(|k| {
                    let sign = |bit: u32| if k >> bit & 1 == 0 { -1.0 } else { 1.0 };
                    center + half.component_mul(&V3::new(sign(0), sign(1), sign(2)))
                })
                .collect();
            points.extend((0..40).map(|_| center + half.component_mul(&V3::new(part(), part(), part()))));
            points.reverse();
            let ball = smallest_ball(&points);
            assert!((ball.radius - half.norm()).abs() < 1e-8, "{ball:?}");
            assert!((ball.center - center).norm() < 1e-4, "{ball:?} {center}");
            assert!(points.iter().all(|p| distance(&ball, p) <= ball.radius), "outside");
        }
        // An equilateral triangle with sides of 1, in space; two equal points; points on a line.
        let h = 0.75_f64.sqrt();
        let triangle = [P3::new(0.0, 0.0, 7.0), P3::new(1.0, 0.0, 7.0), P3::new(0.5, h, 7.0)];
        assert!((smallest_ball(&triangle).radius - (1.0 / 3.0_f64).sqrt()).abs() < 1e-12);
        assert!(smallest_ball(&[triangle[0]; 2]).radius < 1e-300);
        let line: Vec<P3> = (0..9).map(|k| P3::new(f64::from(k), 0.0, 0.0)).collect();
        assert!((smallest_ball(&line).radius - 4.0).abs() < 1e-12);
    }

    /// Random points: no ball around another centre is smaller.
    #[test]
    fn no_smaller_ball_contains_the_points() {
        let mut random = Random(8);
        for _ in 0..30 {
            let mut point = || P3::from(V3::new(random.normal(), random.normal(), random.normal()));
            let points: Vec<P3> = (0..200).map(|_| point()).collect();
            let ball = smallest_ball(&points);
            for _ in 0..200 {
                let center = ball.center + point().coords * 0.05;
                let around = points.iter().map(|p| (p - center).norm()).fold(0.0, f64::max);
                assert!(around >= ball.radius * (1.0 - 1e-9), "{around} {}", ball.radius);
            }
        }
    }
}
