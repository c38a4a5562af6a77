//! Curves whose motion is given by formulas: a compressed spring, a cable around a pulley, a knot that is
//! tightened, and a hose that is laid on a solid.

use feeler_curves::reference::shapes::spring;
use feeler_geom::{P3, V3, math};
use std::f64::consts::TAU;
use std::path::{Path, PathBuf};

/// A scenario in which a curve moves: control points of cubics as functions of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CurveScene {
    /// A spring of three turns (six half-turn pieces) with a radius of 10 mm, whose pitch changes from 8
    /// to 2.05 mm and back.
    Spring,
    /// A cable that is wound around the groove of `spool.step`.
    Pulley,
    /// A trefoil knot that shrinks while the radius of its tube is constant.
    Trefoil,
    /// A hose of forty pieces that comes down on a box.
    Hose,
}

/// All scenarios.
pub const CURVE_SCENES: [CurveScene; 4] =
    [CurveScene::Spring, CurveScene::Pulley, CurveScene::Trefoil, CurveScene::Hose];

impl CurveScene {
    /// Name for files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Spring => "spring",
            Self::Pulley => "pulley",
            Self::Trefoil => "trefoil",
            Self::Hose => "hose",
        }
    }

    /// Radius of the tube (mm).
    #[must_use]
    pub fn radius(self) -> f64 {
        match self {
            Self::Spring => 1.0,
            Self::Pulley => 0.2,
            Self::Trefoil => 0.8,
            Self::Hose => 3.0,
        }
    }

    /// Maximum gap of a query (mm).
    #[must_use]
    pub fn d_max(self) -> f64 {
        match self {
            Self::Spring => 2.0,
            Self::Pulley => 0.2,
            Self::Trefoil => 1.0,
            Self::Hose => 3.0,
        }
    }

    /// File (in `data`) of the solid that the curve touches, if any.
    #[must_use]
    pub fn solid(self) -> Option<PathBuf> {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data");
        match self {
            Self::Pulley => Some(data.join("spool.step")),
            Self::Hose => Some(data.join("bayonet-socket.step")),
            Self::Spring | Self::Trefoil => None,
        }
    }

    /// Whether the curve is closed.
    #[must_use]
    pub fn is_closed(self) -> bool {
        self == Self::Trefoil
    }

    /// Control points at a time in [0, 1]; `low` and `high` are the corners of the bounding box of the
    /// solid on which the hose is laid.
    #[must_use]
    pub fn points(self, time: f64, low: &P3, high: &P3) -> Vec<P3> {
        match self {
            // Compression and expansion.
            Self::Spring => spring(2.05 + (8.0 - 2.05) * 0.5 * (1.0 + math::cos(TAU * time))),
            Self::Pulley => pulley(0.25 + 2.5 * time),
            Self::Trefoil => trefoil(1.0 - 0.45 * time),
            Self::Hose => hose(time, low, high),
        }
    }
}

/// A cable with a straight end on each side, wound by `turns` turns around a groove of radius 1 mm,
/// whose section is centred on a circle of radius 1.5 mm. Each turn is beside the previous one, 0.01 mm
/// above the bottom of the groove.
fn pulley(turns: f64) -> Vec<P3> {
    let (radius, pieces) = (0.5 + 0.2 + 0.01, 24);
    let angle = TAU * turns;
    let h = angle / f64::from(pieces);
    let k = 4.0 / 3.0 * math::tan(h / 4.0);
    let pitch = 0.41;
    // The groove rises towards its sides.
    let along = |a: f64| {
        let z = pitch * (a / TAU - 0.5 * turns);
        (z, 1.5 - 0.79_f64.mul_add(0.79, -z * z).max(0.04).sqrt())
    };
    let at = |i: i32| {
        let a = h * f64::from(i);
        let (s, c) = math::sin_cos(a);
        let ((z, r), (z1, r1), (z0, r0)) = (along(a), along(a + 1e-4), along(a - 1e-4));
        let r = r.max(radius);
        let (dr, dz) = ((r1.max(radius) - r0.max(radius)) / 2e-4, (z1 - z0) / 2e-4);
        let around = V3::new(-s, c, 0.0) * (r * k);
        let rise = V3::new(c * dr, s * dr, dz) * (h / 3.0);
        (P3::new(r * c, r * s, z), around + rise)
    };
    let mut joints: Vec<(P3, V3)> = (0..=pieces).map(at).collect();
    let straight =
        |(p, t): (P3, V3), length: f64| (p + t.normalize() * length, t.normalize() * (length.abs() / 3.0));
    let (first, last) = (joints[0], joints[joints.len() - 1]);
    joints.insert(0, straight(first, -2.0));
    joints.push(straight(last, 2.0));
    chained(joints.into_iter(), false)
}

/// A trefoil of 24 pieces, whose size is proportional to `scale`.
fn trefoil(scale: f64) -> Vec<P3> {
    let (n, size) = (24, 3.0 * scale);
    let h = TAU / f64::from(n);
    let at = |i: i32| {
        let t = h * f64::from(i);
        let ((s, c), (s2, c2), (s3, c3)) = (math::sin_cos(t), math::sin_cos(2.0 * t), math::sin_cos(3.0 * t));
        let p = P3::new(s + 2.0 * s2, c - 2.0 * c2, -s3) * size;
        let d = V3::new(c + 4.0 * c2, -s + 4.0 * s2, -3.0 * c3) * size;
        (p, d * (h / 3.0))
    };
    chained((0..n).map(at), true)
}

/// A wavy ring of forty pieces that, at times from 0 to 1, descends onto the top of a box with the
/// corners `low` and `high` and drifts sideways.
fn hose(time: f64, low: &P3, high: &P3) -> Vec<P3> {
    let n = 40;
    let h = TAU * 0.9 / f64::from(n);
    let reach = 0.5 * (high.x - low.x).min(high.y - low.y);
    let (a, wave) = (0.7 * reach, 0.06 * reach);
    let drift = V3::new(0.4, 0.25, 0.0) * (reach * time);
    let height = high.z + 3.0 + wave + 2.0 - 2.2 * time;
    let at = |i: i32| {
        let t = h * f64::from(i);
        let ((s, c), (s7, c7)) = (math::sin_cos(t), math::sin_cos(7.0 * t));
        let p = P3::new(a * c, a * s, wave * c7 + height) + drift;
        let d = V3::new(-a * s, a * c, -7.0 * wave * s7);
        let middle = nalgebra::center(low, high);
        (P3::new(p.x + middle.x, p.y + middle.y, p.z), d * (h / 3.0))
    };
    chained((0..=n).map(at), false)
}

/// Control points of cubics through joints; each joint is given with a third of the derivative there.
fn chained(joints: impl Iterator<Item = (P3, V3)>, is_closed: bool) -> Vec<P3> {
    let joints: Vec<_> = joints.collect();
    let n = joints.len();
    let mut points = vec![joints[0].0];
    for i in 1..n + usize::from(is_closed) {
        let ((p, d), (q, e)) = (joints[i - 1], joints[i % n]);
        points.extend([p + d, q - e]);
        if i < n {
            points.push(q);
        }
    }
    points
}
