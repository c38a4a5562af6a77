//! Patches of polynomial graphs: one surface in two parametrisations, and surfaces with bumps.

use super::map::Net;
use super::*;
use crate::bezier::{BezierSurface, H4};
use crate::testing::rng;
use crate::{Pose, Surface, math};
use rand::Rng as _;
use rand::rngs::SmallRng;

pub(in crate::crossing) const TOL: f64 = 1e-6;
const LIMITS: FollowLimits = FollowLimits { shallow: 1.9 * TOL, deep: 3.0 * TOL, beside: 4.0 * TOL };

/// Heights above the (x, y) plane: z = Σ c x^i y^j, i, j ≤ 3.
pub(in crate::crossing) struct Graph([[f64; 4]; 4]);

impl Graph {
    pub(in crate::crossing) fn random(r: &mut SmallRng) -> Self {
        let scale = [1.0, 0.3, 0.02, 2e-3, 1e-4, 1e-5, 1e-6];
        Self(std::array::from_fn(|i| std::array::from_fn(|j| r.random_range(-1.0..1.0) * scale[i + j])))
    }

    pub(in crate::crossing) fn at(&self, x: f64, y: f64) -> f64 {
        let row = |c: &[f64; 4]| c.iter().rev().fold(0.0, |s, c| s * y + c);
        self.0.iter().rev().fold(0.0, |s, c| s * x + row(c))
    }
}

/// Bézier surface of degrees `n` over `rect` with the points that `f` returns, by interpolation.
pub(in crate::crossing) fn bezier(n: [usize; 2], rect: Rect, f: impl Fn(f64, f64) -> V3) -> Surface {
    let matrix = |n: usize| {
        nalgebra::DMatrix::from_fn(n + 1, n + 1, |k, i| {
            let s = k as f64 / n as f64;
            let binomial = (0..i).fold(1.0, |b, j| b * (n - j) as f64 / (j + 1) as f64);
            let power = |x: f64, n: usize| (0..n).fold(1.0, |p, _| p * x);
            binomial * power(s, i) * power(1.0 - s, n - i)
        })
        .try_inverse()
        .unwrap()
    };
    let (mu, mv) = (matrix(n[0]), matrix(n[1]));
    let mut control = Vec::new();
    for i in 0..=n[0] {
        for j in 0..=n[1] {
            let mut p = V3::zeros();
            for k in 0..=n[0] {
                for l in 0..=n[1] {
                    let u = rect.u0 + rect.width() * k as f64 / n[0] as f64;
                    let v = rect.v0 + rect.height() * l as f64 / n[1] as f64;
                    p += f(u, v) * (mu[(i, k)] * mv[(j, l)]);
                }
            }
            control.push(H4::new(p.x, p.y, p.z, 1.0));
        }
    }
    Surface::Bezier(BezierSurface {
        u_degree: u32::try_from(n[0]).unwrap(),
        v_degree: u32::try_from(n[1]).unwrap(),
        u_breaks: vec![rect.u0, rect.u1],
        v_breaks: vec![rect.v0, rect.v1],
        control,
        u_periodic: false,
        v_periodic: false,
    })
}

pub(in crate::crossing) fn patch(surface: &Surface, rect: Rect) -> Patch<'_> {
    let third = surface.third_derivatives(&rect).unwrap().map(|ball| ball.norm());
    Patch { surface, outward: true, pose: None, rect, third, cone: (V3::zeros(), 1.0) }
}

pub(in crate::crossing) fn rect(u0: f64, u1: f64, v0: f64, v1: f64) -> Rect {
    Rect { u0, u1, v0, v1 }
}

fn clearance(a: &Patch<'_>, b: &Patch<'_>) -> Option<f64> {
    clearance_of_following(a, b, &LIMITS, &mut FollowScratch::default())
}

/// One polynomial surface in two parametrisations: reversed, exchanged, of higher degree, shifted,
/// over another part that overlaps, contains, is contained or only shares a border; and with a
/// parameter that is not affine. Moved by less than the limit it is clear, by more it is not, and
/// far behind it is again.
#[test]
fn same_surface_in_other_parameters() {
    let mut r = rng(7);
    for k in 0..12 {
        let graph = Graph::random(&mut r);
        let whole = rect(-2.0, 2.0, -2.0, 2.0);
        let a = bezier([3, 3], whole, |u, v| V3::new(u, v, graph.at(u, v)));
        let pose = Pose::new(V3::new(30.0, -4.0, 11.0), V3::new(0.3, 1.0, -2.0));
        // Heights are measured along the normals, which are tilted by up to about 30 degrees.
        let shifts = [
            (0.0, true),
            (1e-6, true),
            (-1e-6, true),
            (-1.8e-6, true),
            (-2.3e-6, false),
            (-1e-5, true),
            (1e-3, true),
        ];
        for (shift, expected) in shifts {
            let z = |x: f64, y: f64| V3::new(x, y, graph.at(x, y) - shift);
            let bend = |s: f64| s + 0.005 * (1.0 - s * s);
            let others = [
                (bezier([3, 3], whole, |u, v| z(-u, v)), true),
                (bezier([3, 3], whole, |u, v| z(v, u)), true),
                (bezier([5, 4], whole, z), true),
                (bezier([3, 3], whole, |u, v| z(0.5 * u - 0.7, v + 0.2)), true),
                (bezier([3, 3], whole, |u, v| z(u + 4.0, v)), false),
                (bezier([6, 6], whole, |u, v| z(0.8 * u + 0.6 * v, 0.8 * v - 0.6 * u)), true),
                (bezier([6, 3], whole, |u, v| z(bend(u), v)), true),
                (bezier([6, 6], whole, |u, v| z(bend(u), bend(v))), true),
            ];
            for (i, (b, overlap)) in others.iter().enumerate() {
                let natural = b.normal(P2::new(0.0, 0.0)).z > 0.0;
                let placed = b.transformed(&pose.inverse());
                let b = Patch { outward: natural, pose: Some(&pose), ..patch(&placed, whole) };
                let got = clearance(&patch(&a, whole), &b);
                // Near the limit, parameters that are not affine need more cells than are examined.
                if (-1.8e-6..=-1e-6).contains(&shift) && i >= 6 {
                    continue;
                }
                assert_eq!(got.is_some(), expected, "{k} {i} {shift}: {got:?}");
                if shift == 0.0 && *overlap {
                    let got = got.unwrap();
                    assert!((5e-8..=1.9e-6).contains(&got), "{k} {i}: {got}");
                }
            }
        }
    }
}

/// Patches with bumps of any size on one of two surfaces that follow each other: if they are clear, no
/// sampled point of the first one is at a depth between the limits, even after the second one has moved
/// by the clearance.
#[test]
fn clear_patches_have_no_point_between_the_limits() {
    let mut r = rng(8);
    let (mut clear, mut crossing) = (0, 0);
    for k in 0..150 {
        let graph = Graph::random(&mut r);
        let bump = Graph::random(&mut r);
        let size = math::powf(10.0, r.random_range(-7.0..-1.0)) * r.random_range(-1.0..1.0);
        let lift = size * r.random_range(-3.0..3.0);
        let (c, s) = if r.random_bool(0.5) { (1.0, 0.0) } else { (0.8, r.random_range(-0.6..0.6)) };
        let at = |u: f64, v: f64| (c * u + s * v + 0.1 * s, c * v - s * u);
        let whole = rect(-2.0, 2.0, -2.0, 2.0);
        let a = bezier([3, 3], whole, |u, v| V3::new(u, v, graph.at(u, v)));
        let b = bezier([6, 6], whole, |u, v| {
            let (x, y) = at(u, v);
            V3::new(x, y, graph.at(x, y) + lift + size * bump.at(x, y))
        });
        let part = rect(r.random_range(-2.0..0.0), 2.0, -2.0, r.random_range(0.0..2.0));
        let Some(clearance) = clearance(&patch(&a, part), &patch(&b, whole)) else {
            crossing += 1;
            continue;
        };
        clear += 1;
        let direction = crate::testing::unit(&mut r) * clearance;
        for moved in [V3::zeros(), direction] {
            for _ in 0..200 {
                // A point of A at a height above its nearest point on B.
                let uv = P2::new(r.random_range(part.u0..part.u1), r.random_range(part.v0..part.v1));
                let p = a.point(uv) - moved;
                let of_b = patch(&b, whole);
                let Some(foot) = Net::new(&of_b).unwrap().foot(&p, uv, [1.0; 2]) else { continue };
                let off = p - b.point(foot);
                let n = b.normal(foot);
                if whole.contains(foot) && off.cross(&n).norm() <= 1e-9 {
                    let depth = -off.dot(&n);
                    let between = LIMITS.shallow < depth && depth < LIMITS.deep;
                    assert!(!between, "{k}: depth {depth:e}, clearance {clearance:e}, moved {moved}");
                }
            }
        }
    }
    assert!(clear > 60 && crossing > 15, "{clear} {crossing}");
}
