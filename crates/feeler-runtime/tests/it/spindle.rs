//! Inner and outer sheets of spindle tori: barrels, barrel-shaped bores and bored apples, coaxial with
//! their partners and not. The reference is the distance from the circle of the sheet: √((ρ + R)² + z²) −
//! r for the inner one and √((ρ − R)² + z²) − r for the outer one.

use crate::common::{body, query, random_rotation};
use feeler_brep::fixtures::{self, SourceBuilder};
use feeler_brep::source::{LoopSource, SolidSource};
use feeler_geom::{Frame, P3, Pose, Surface, math};
use feeler_runtime::{Body, ContactPair, QueryOptions};
use nalgebra::{Translation3, UnitQuaternion};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use std::sync::Arc;

fn level(z: f64) -> Frame {
    Frame { origin: P3::new(0.0, 0.0, z), ..Frame::identity() }
}

fn forward(e: u32) -> LoopSource {
    LoopSource::Edges(vec![(e, true)])
}

fn backward(e: u32) -> LoopSource {
    LoopSource::Edges(vec![(e, false)])
}

/// A spindle torus about z, cut off at the heights ± `cut`.
#[derive(Clone, Copy, Debug)]
struct Spindle {
    major: f64,
    minor: f64,
    cut: f64,
}

impl Spindle {
    fn random(rng: &mut SmallRng) -> Self {
        let minor: f64 = rng.random_range(6.0..12.0);
        let major = minor * rng.random_range(0.2..0.8);
        let tip = (minor * minor - major * major).sqrt();
        Self { major, minor, cut: tip * rng.random_range(0.4..0.9) }
    }

    fn surface(&self) -> Surface {
        Surface::Torus { frame: level(0.0), major: self.major, minor: self.minor }
    }

    /// Distance (mm) of the inner sheet from the axis at a height (mm).
    fn radius(&self, z: f64) -> f64 {
        (self.minor * self.minor - z * z).sqrt() - self.major
    }

    /// A barrel: the solid inside the inner sheet, cut off at the heights ± `cut`.
    fn barrel(&self) -> SolidSource {
        let mut b = SourceBuilder::new();
        let (h, r) = (self.cut, self.radius(self.cut));
        let (low, high) = (b.vertex(r, 0.0, -h), b.vertex(-r, 0.0, h));
        let (bottom, top) = (b.circle(level(-h), r, low), b.circle(level(h), r, high));
        b.face(self.surface(), false, vec![forward(bottom), backward(top)]);
        b.face(Surface::Plane { frame: level(-h) }, false, vec![backward(bottom)]);
        b.face(Surface::Plane { frame: level(h) }, true, vec![forward(top)]);
        b.finish("barrel")
    }

    /// A rod with the inner sheet as its bore.
    fn bore(&self) -> SolidSource {
        let mut b = SourceBuilder::new();
        let (h, r, wide) = (self.cut, self.radius(self.cut), self.minor);
        let mut ring = |z: f64, r: f64| {
            let v = b.vertex(r, 0.0, z);
            b.circle(level(z), r, v)
        };
        let (bottom, top, low, high) = (ring(-h, r), ring(h, r), ring(-h, wide), ring(h, wide));
        b.face(self.surface(), true, vec![backward(bottom), forward(top)]);
        b.face(
            Surface::Cylinder { frame: level(0.0), radius: wide },
            true,
            vec![forward(low), backward(high)],
        );
        b.face(Surface::Plane { frame: level(-h) }, false, vec![backward(low), forward(bottom)]);
        b.face(Surface::Plane { frame: level(h) }, true, vec![forward(high), backward(top)]);
        b.finish("bore")
    }

    /// A bored apple: the solid inside the outer sheet, with a hole along the axis.
    fn bored_apple(&self, hole: f64) -> SolidSource {
        let mut b = SourceBuilder::new();
        let h = (self.minor * self.minor - (hole - self.major) * (hole - self.major)).sqrt();
        let (low, high) = (b.vertex(hole, 0.0, -h), b.vertex(hole, 0.0, h));
        let (bottom, top) = (b.circle(level(-h), hole, low), b.circle(level(h), hole, high));
        b.face(self.surface(), true, vec![forward(bottom), backward(top)]);
        b.face(
            Surface::Cylinder { frame: level(0.0), radius: hole },
            false,
            vec![backward(bottom), forward(top)],
        );
        b.finish("bored apple")
    }
}

fn tube(radius: f64, height: f64) -> SolidSource {
    let mut b = SourceBuilder::new();
    let wide = 2.0 * radius + 1.0;
    let mut ring = |z: f64, r: f64| {
        let v = b.vertex(r, 0.0, z);
        b.circle(level(z), r, v)
    };
    let (bottom, top) = (ring(-height, radius), ring(height, radius));
    let (low, high) = (ring(-height, wide), ring(height, wide));
    b.face(Surface::Cylinder { frame: level(0.0), radius }, false, vec![backward(bottom), forward(top)]);
    b.face(Surface::Cylinder { frame: level(0.0), radius: wide }, true, vec![forward(low), backward(high)]);
    b.face(Surface::Plane { frame: level(-height) }, false, vec![backward(low), forward(bottom)]);
    b.face(Surface::Plane { frame: level(height) }, true, vec![forward(high), backward(top)]);
    b.finish("tube")
}

/// Compares smallest distances with expected ones in both orders of the solids, at random world poses.
struct Reference {
    rng: SmallRng,
    n: usize,
    faults: Vec<String>,
}

impl Reference {
    fn check(&mut self, what: &str, (a, b): (&Arc<Body>, &Arc<Body>), pose: &Pose, expected: f64) {
        let world = Pose::from_parts(Translation3::new(5.0, -3.0, 2.0), random_rotation(&mut self.rng));
        let options =
            QueryOptions { detect_interference: false, ..QueryOptions::within(2.0 * expected + 1.0) };
        for swap in [false, true] {
            let (p, q) = (world, world * pose);
            let found = if swap {
                ContactPair::new(b.clone(), a.clone()).query(&q, &p, &options).expect("finite").to_vec()
            } else {
                ContactPair::new(a.clone(), b.clone()).query(&p, &q, &options).expect("finite").to_vec()
            };
            let least = found.first().map(|l| l.distance);
            self.n += 1;
            if least.is_none_or(|d| (d - expected).abs() > 1e-9) {
                self.faults.push(format!("{what}, swapped: {swap}: {least:?} instead of {expected}"));
            }
        }
    }
}

#[test]
fn minima_of_both_sheets() {
    let mut rng = SmallRng::seed_from_u64(53);
    let mut reference = Reference { rng: SmallRng::seed_from_u64(54), n: 0, faults: Vec::new() };
    for _ in 0..40 {
        let s = Spindle::random(&mut rng);
        let belly = s.minor - s.major;
        let (barrel, bore) = (body(&s.barrel()), body(&s.bore()));
        let gap = rng.random_range(0.01..0.3);
        let at = |x: f64, y: f64, z: f64| Pose::translation(x, y, z);
        let turned = |z: f64| {
            let about = UnitQuaternion::from_scaled_axis(nalgebra::Vector3::z() * (1.0 + z));
            Pose::from_parts(Translation3::new(0.0, 0.0, z), about)
        };
        let up = 0.3 * s.cut * rng.random_range(-1.0..1.0);
        // Coaxial solids.
        reference.check(
            &format!("barrel in a tube {s:?}"),
            (&barrel, &body(&tube(belly + gap, 20.0))),
            &turned(up),
            gap,
        );
        let ring = body(&fixtures::torus(belly + gap + 1.0, 1.0));
        let z: f64 = up;
        reference.check(&format!("ring round a barrel {s:?}"), (&barrel, &ring), &turned(z), {
            let rho = belly + gap + 1.0 + s.major;
            (rho * rho + z * z).sqrt() - s.minor - 1.0
        });
        let ball = body(&fixtures::sphere(belly - gap));
        reference.check(&format!("ball in a bore {s:?}"), (&bore, &ball), &turned(0.0), gap);
        let thin = Spindle { major: s.major + gap, ..s };
        if thin.major < 0.95 * thin.minor && thin.radius(s.cut) > 0.05 {
            // The sheets are nearest where the bore ends.
            let nearest = math::hypot(s.radius(s.cut) + thin.major, s.cut) - s.minor;
            reference.check(
                &format!("barrel in a bore {s:?}"),
                (&bore, &body(&thin.barrel())),
                &turned(0.0),
                nearest,
            );
        }
        // The solids are next to each other.
        let small = body(&fixtures::sphere(0.2));
        let turn = rng.random_range(0.0..std::f64::consts::TAU);
        // The expected contact has a footpoint on the sheet and a given distance along its normal.
        let z = 0.8 * s.cut * rng.random_range(-1.0..1.0);
        let (rho, offset) = (s.radius(z), 0.2 + gap);
        let (lean, rise) = ((rho + s.major) / s.minor, z / s.minor);
        let pose =
            |k: f64| at((rho + k * lean) * math::cos(turn), (rho + k * lean) * math::sin(turn), z + k * rise);
        reference.check(&format!("ball by a barrel {s:?}"), (&barrel, &small), &pose(offset), gap);
        if offset < 0.7 * rho {
            reference.check(
                &format!("ball beside the axis of a bore {s:?}"),
                (&bore, &small),
                &pose(-offset),
                gap,
            );
        }
        // The outer sheet: balls in both dimples, on the axis and next to it.
        let hole = (0.5 * belly).min(0.3 * s.major).min(0.1 * s.minor);
        let apple = body(&s.bored_apple(hole));
        for side in [1.0, -1.0] {
            let reach = s.minor + 0.2 + gap;
            let high = (reach * reach - s.major * s.major).sqrt();
            // On the axis, the footpoint can be in the hole.
            if s.major * s.minor / reach < s.major - 1.2 * hole {
                reference.check(
                    &format!("ball over an apple {s:?}"),
                    (&apple, &small),
                    &at(0.0, 0.0, side * high),
                    gap,
                );
            }
            let x = 0.5 * s.major;
            let high = (reach * reach - (s.major - x) * (s.major - x)).sqrt();
            let beside = at(x * math::cos(turn), x * math::sin(turn), side * high);
            reference.check(
                &format!("ball beside the axis of an apple {s:?}"),
                (&apple, &small),
                &beside,
                gap,
            );
        }
    }
    let Reference { n, faults, .. } = reference;
    assert!(n > 500, "{n}");
    assert!(faults.is_empty(), "{} of {n}: {faults:#?}", faults.len());
}

/// Balls at random points of the tube of bends about a point of the tube, whose radii are equal up to
/// rounding.
#[test]
fn balls_over_horn_bends() {
    let mut rng = SmallRng::seed_from_u64(56);
    let mut reference = Reference { rng: SmallRng::seed_from_u64(57), n: 0, faults: Vec::new() };
    let small = body(&fixtures::sphere(0.2));
    for i in 0..12 {
        let (radius, angle) = (rng.random_range(0.5..3.0), rng.random_range(1.0..2.5));
        let difference = [0.0, 4e-16, -4e-16, -1e-10][i % 4];
        let bend = body(&fixtures::horn_bend(radius, difference, angle, i % 2 == 0));
        for _ in 0..40 {
            let gap = rng.random_range(0.01..0.2);
            let (turn, v): (f64, f64) = (angle * rng.random_range(0.05..0.95), rng.random_range(-3.0..3.0));
            let reach = radius + 0.2 + gap;
            let rho = radius + reach * math::cos(v);
            if rho > 0.05 * radius {
                let pose =
                    Pose::translation(rho * math::cos(turn), rho * math::sin(turn), reach * math::sin(v));
                reference.check(&format!("radius {radius}, latitude {v}"), (&bend, &small), &pose, gap);
            }
        }
    }
    let Reference { n, faults, .. } = reference;
    assert!(n > 200, "{n}");
    assert!(faults.is_empty(), "{} of {n}: {faults:#?}", faults.len());
}

/// The traversal finds the same minima as brute force at random poses.
#[test]
fn traversal_equals_brute_force() {
    let mut rng = SmallRng::seed_from_u64(55);
    let options = QueryOptions { detect_interference: false, ..QueryOptions::within(3.0) };
    let mut n = 0;
    for _ in 0..16 {
        let s = Spindle::random(&mut rng);
        let solids = [s.barrel(), s.bore(), s.bored_apple(0.2), fixtures::torus(3.0, 1.0)].map(|s| body(&s));
        for (i, a) in solids.iter().enumerate() {
            for b in &solids[i..] {
                let pose = crate::common::random_pose(&mut rng, 12.0);
                n += query(a, b, &Pose::identity(), &pose, &options).len();
            }
        }
    }
    assert!(n > 20, "{n}");
}
