//! Cycloidal gears: a disc rolls on an eccentric among the pins of a ring, which touch it all without play.
//!
//! A ring of n pins of radius r has its pins on a circle of radius R. The disc has n − 1 lobes, and its
//! centre circles the axis of the ring at the eccentricity e. While the eccentric turns by α, the disc
//! turns by −α / (n − 1). The centres of all pins then follow one curve in the frame of the disc,
//!
//! ```text
//! c(φ) = R (cos φ, sin φ) − e (cos n φ, sin n φ),
//! ```
//!
//! and the disc is the curve parallel to it at the distance r. The depth of a pin in the disc is therefore
//! the distance of the pin's centre from c, inside it.

use crate::conjugate::parallel_inside;
use crate::contact_motions::{ContactMotionCase, Depth, Draw, slide, turn};
use crate::part_of;
use crate::profiles::{Side, plate_with_pins, prism_over};
use feeler_geom::{P3, Pose, V3, math};
use feeler_import::DEFAULT_FLATNESS;
use nalgebra::{Translation3, UnitQuaternion};
use std::f64::consts::TAU;

/// Number of pieces of the spline of a lobe, which follow the closed form within 1e-7 mm.
const LOBE_PIECES: u32 = 48;
/// Smallest radius of curvature of the curve of the pins' centres, in radii of a pin. With a smaller one,
/// lobes would have sharp tips.
const MIN_CURVATURE_RADIUS: f64 = 1.6;

/// Curve of the centres of the pins in the frame of the disc.
#[derive(Clone, Copy, Debug)]
struct PinPath {
    /// Radius of the circle of the pins in the ring (mm).
    radius: f64,
    eccentricity: f64,
    pins: f64,
}

impl PinPath {
    /// Point of the curve and its first three derivatives by φ.
    fn derivatives(&self, phi: f64) -> [[f64; 2]; 4] {
        let (s, c) = math::sin_cos(phi);
        let (sn, cn) = math::sin_cos(self.pins * phi);
        let (r, e, n) = (self.radius, self.eccentricity, self.pins);
        let (e1, e2, e3) = (e * n, e * n * n, e * n * n * n);
        [
            [r * c - e * cn, r * s - e * sn],
            [-r * s + e1 * sn, r * c - e1 * cn],
            [-r * c + e2 * cn, -r * s + e2 * sn],
            [r * s - e3 * sn, -r * c + e3 * cn],
        ]
    }

    /// Smallest radius of curvature where the curve is convex; infinite if it is so nowhere.
    fn smallest_radius(&self) -> f64 {
        let radius = |i: i32| {
            let [_, q, q1, _] = self.derivatives(TAU / self.pins * f64::from(i) / 256.0);
            let speed = math::hypot(q[0], q[1]);
            let turn = q[0] * q1[1] - q[1] * q1[0];
            if turn > 0.0 { speed * speed * speed / turn } else { f64::INFINITY }
        };
        (0..256).map(radius).fold(f64::INFINITY, f64::min)
    }

    /// Depth (mm) of a pin whose centre is near the point of the curve at `phi`: the distance of the centre
    /// from the curve, positive inside it.
    fn depth(&self, center: [f64; 2], phi: f64) -> f64 {
        let dot = |a: [f64; 2], b: [f64; 2]| a[0] * b[0] + a[1] * b[1];
        let mut foot = phi;
        for _ in 0..20 {
            let [p, q, q1, _] = self.derivatives(foot);
            let d = [p[0] - center[0], p[1] - center[1]];
            foot -= dot(d, q) / (dot(q, q) + dot(d, q1));
        }
        let [p, q, ..] = self.derivatives(foot);
        dot([p[0] - center[0], p[1] - center[1]], [q[1], -q[0]]) / math::hypot(q[0], q[1])
    }
}

/// Motion of a cycloidal disc among pins: correct, at a wrong ratio of the speeds, or pushed aside.
pub(crate) fn case(name: &'static str, draw: &mut Draw) -> ContactMotionCase {
    let pins = draw.range(5.0, 11.0).round();
    let radius = draw.length(12.0, 30.0);
    let mut path = PinPath { radius, eccentricity: draw.range(0.1, 0.4) * radius / pins, pins };
    let pin = (10.0 * draw.range(0.075, 0.175) * TAU * radius / pins).round() / 10.0;
    while path.smallest_radius() < MIN_CURVATURE_RADIUS * pin {
        path.eccentricity *= 0.8;
    }
    let (e, lobes) = (path.eccentricity, pins - 1.0);
    #[expect(clippy::cast_possible_truncation, reason = "a small integer")]
    let count = pins as i32;
    let centers: Vec<[f64; 2]> = (0..count)
        .map(|k| {
            let (s, c) = math::sin_cos(TAU * f64::from(k) / pins);
            [radius * c, radius * s]
        })
        .collect();
    let sides: Vec<Side> = (0..count - 1)
        .map(|k| {
            let from = TAU / lobes * f64::from(k);
            let profile = |phi: f64| parallel_inside(path.derivatives(phi), pin);
            Side::through(profile, (from, from + TAU / lobes), LOBE_PIECES)
        })
        .collect();
    // Ends of the pins in the plane of the disc's end are frequent, and discs that slide on the plate.
    let (height, width) = (draw.length(2.0, 6.0), draw.length(2.0, 6.0));
    let low = match draw.range(0.0, 4.0) {
        kind if kind < 1.0 => 0.0,
        kind if kind < 2.0 => (height - width).max(0.0),
        _ => draw.range(0.1, 0.9) * height,
    };
    let plate = plate_with_pins((radius + 3.0 * pin, 3.0), &centers, (pin, height));
    let disc = prism_over(&sides, width);

    let start_angle = draw.range(0.0, TAU);
    let crank = draw.sign() * draw.range(0.05, 0.6);
    let (fault, size) = (draw.range(0.0, 3.0), math::powf(10.0, draw.range(-5.0, -2.0)));
    let error = if (1.0..2.0).contains(&fault) { draw.sign() * size } else { 0.0 };
    let (sin, cos) = math::sin_cos(draw.range(0.0, TAU));
    let aside = V3::new(cos, sin, 0.0);
    let push = if fault >= 2.0 { 0.1 * size * radius } else { 0.0 };
    let (s, c) = math::sin_cos(start_angle);
    let center = P3::new(e * c, e * s, 0.0);
    let rotation = UnitQuaternion::from_scaled_axis(V3::z() * (-start_angle / lobes));
    let start = [Pose::identity(), Pose::from_parts(Translation3::new(center.x, center.y, low), rotation)];
    // Rotation of the disc relative to the eccentric.
    let own = -crank * pins / lobes * (1.0 + error);
    let mut of_disc = vec![turn(center, V3::z(), own)];
    let mut of_ring = vec![];
    if draw.chance(0.5) {
        of_disc.insert(0, turn(P3::origin(), V3::z(), crank));
    } else {
        of_ring.push(turn(P3::origin(), V3::z(), -crank));
    }
    if fault >= 2.0 {
        of_disc.insert(0, slide(aside, push));
    }
    let is_turned = of_ring.is_empty();
    let depth: Depth = Box::new(move |time| {
        // In the frame of the ring. A ring that turns back sees the push turned with the eccentric.
        let angle = start_angle + crank * time;
        let turned = -start_angle / lobes + crank * time + own * time;
        let (s, c) = math::sin_cos(angle);
        let (sp, cp) = if is_turned { (0.0, 1.0) } else { math::sin_cos(crank * time) };
        let moved = aside * (push * time);
        let middle = [e * c + cp * moved.x - sp * moved.y, e * s + sp * moved.x + cp * moved.y];
        let (sin, cos) = math::sin_cos(turned);
        let depth_of = |(k, p): (usize, &[f64; 2])| {
            let d = [p[0] - middle[0], p[1] - middle[1]];
            #[expect(clippy::cast_precision_loss, reason = "a small integer")]
            let phi = TAU * k as f64 / pins - turned;
            path.depth([cos * d[0] + sin * d[1], cos * d[1] - sin * d[0]], phi)
        };
        centers.iter().enumerate().map(depth_of).fold(f64::NEG_INFINITY, f64::max)
    });
    let parts = [plate, disc].map(|s| part_of(&s, DEFAULT_FLATNESS));
    ContactMotionCase {
        family: name,
        parts,
        start,
        joints: [of_ring, of_disc],
        depth: (fault >= 1.0).then_some(depth),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact_motions::FAMILIES;
    use feeler_geom::{P2, Surface};

    /// Depths of faulty motions are those of the distances between the axes of the pins and points of the
    /// disc's edges, which are moved by the joints one after the other.
    #[test]
    fn depths_follow_from_moved_points_of_the_disc() {
        let family = FAMILIES.iter().position(|f| *f == "cycloidal disc among pins").expect("a family");
        let mut faulty = 0;
        for seed in 0..12 {
            let case = ContactMotionCase::new(family, seed);
            let [ring, disc] = case.parts.each_ref().map(|part| part.body.hierarchy());
            let pins: Vec<_> = ring
                .faces
                .iter()
                .filter_map(|face| match &face.surface {
                    Surface::Cylinder { frame, radius } => Some((frame.origin, *radius)),
                    _ => None,
                })
                .collect();
            assert!((5..=11).contains(&pins.len()), "{} pins", pins.len());
            let mut points = vec![];
            for face in &disc.faces {
                if let Surface::Bezier(surface) = &face.surface {
                    let [from, to] = [surface.u_breaks[0], surface.u_breaks[surface.u_breaks.len() - 1]];
                    let at = |i: u32| from + (to - from) * f64::from(i) / 20_000.0;
                    points.extend((0..20_000).map(|i| face.surface.point(P2::new(at(i), 0.0))));
                }
            }
            assert!(!points.is_empty(), "the disc has spline faces");
            for time in [0.0, 0.3, 0.7, 1.0] {
                let to_ring = case.relative_pose(time);
                let moved: Vec<P3> = points.iter().map(|p| to_ring * p).collect();
                let depth_of = |(center, radius): &(P3, f64)| {
                    let distance = |p: &P3| math::hypot(p.x - center.x, p.y - center.y);
                    radius - moved.iter().map(distance).fold(f64::INFINITY, f64::min)
                };
                let sampled = pins.iter().map(depth_of).fold(f64::NEG_INFINITY, f64::max);
                let expected = case.depth.as_ref().map_or(0.0, |depth| depth(time));
                // Points are up to 2e-4 mm from the nearest one of the curve, the splines 1e-7 mm beside it.
                assert!((sampled - expected).abs() < 3e-7, "{seed} at {time}: {sampled:e}, {expected:e}");
            }
            faulty += u32::from(case.depth.is_some());
        }
        assert!((4..12).contains(&faulty), "{faulty} faulty motions");
    }
}
