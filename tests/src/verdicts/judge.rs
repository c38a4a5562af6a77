//! Checks of the results of a query against the closed forms of both solids.

use super::{Model, QueryResult, Verdict};
use crate::membership::Form;
use feeler_geom::{P3, Pose, V3};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Kind of a wrong result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// The interiors intersect, but the status denies it.
    Missed,
    /// The interiors do not intersect, but the status is `Interfering`.
    Invented,
    /// The status is `Interfering` although the depth is less than half a tolerance.
    Hasty,
    /// The solids touch or overlap slightly, but the status is `Separated`.
    Unnoticed,
    /// The reported smallest distance is larger than the distance of two points of the solids.
    TooFar,
    /// The reported distance is smaller than the distance of a footpoint from the other solid.
    TooNear,
    /// A footpoint is not on its solid.
    Astray,
    /// The status is `Separated` at a distance below the pair's tolerance, or `Touching` at a larger
    /// distance.
    Contradiction,
    /// The witness of an interference is missing or less deep than reported.
    Untrue,
}

/// Maximum ratio of the depth of a contact to that of the deepest common point, if the contact's midpoint
/// is not a common point. The tips and edges of the generated solids are not sharper than this.
const MAX_DEPTH_RATIO: f64 = 24.0;

/// Two solids in closed form, in the frame of A.
#[derive(Clone, Copy, Debug)]
pub struct Forms<'a> {
    /// Solid A, in its own frame.
    pub a: &'a Form,
    /// Solid B, in its own frame.
    pub b: &'a Form,
    /// Transformation from the frame of A to that of B.
    pub pose_ba: Pose,
}

impl Forms<'_> {
    /// Depths (mm) in A and in B of a point given in the frame of A.
    fn depths(&self, p: &P3) -> [f64; 2] {
        [self.a.depth(p), self.b.depth(&(self.pose_ba * p))]
    }

    /// Depth (mm) in both solids, the smaller one of the two depths, of a point given in the frame of A.
    #[must_use]
    pub fn depth(&self, p: &P3) -> f64 {
        let [a, b] = self.depths(p);
        a.min(b)
    }

    fn slopes(&self, p: &P3, h: f64) -> [V3; 2] {
        [slope(&|q| self.a.depth(q), p, h), slope(&|q| self.b.depth(&(self.pose_ba * q)), p, h)]
    }
}

/// Gradient of `f` at `p`, by central differences with step `h` (mm).
#[must_use]
pub fn slope(f: &impl Fn(&P3) -> f64, p: &P3, h: f64) -> V3 {
    V3::from_fn(|k, _| {
        let mut d = V3::zeros();
        d[k] = h;
        (f(&(p + d)) - f(&(p - d))) / (2.0 * h)
    })
}

/// Result of a search for the deepest common point.
#[derive(Clone, Copy, Debug)]
pub struct Deepest {
    /// Depth of the point in both solids (mm), negative if it is outside one of them.
    pub depth: f64,
    /// The point, in the frame of A.
    pub at: P3,
    /// Upper bound of the depth (mm) of all common points; infinite if unknown.
    pub bound: f64,
}

struct Cell {
    upper: f64,
    center: P3,
    half: V3,
}

impl PartialEq for Cell {
    fn eq(&self, o: &Self) -> bool {
        self.cmp(o) == Ordering::Equal
    }
}
impl Eq for Cell {}
impl PartialOrd for Cell {
    fn partial_cmp(&self, o: &Self) -> Option<Ordering> {
        Some(self.cmp(o))
    }
}
impl Ord for Cell {
    fn cmp(&self, o: &Self) -> Ordering {
        self.upper.total_cmp(&o.upper)
    }
}

/// Searches a box (centre and half extents, frame of A) for the point that is deepest in both solids,
/// from `starts` and from cells that are halved while they may contain that point. Stops at a depth
/// above `enough` (mm).
#[must_use]
pub fn deepest(
    forms: &Forms<'_>,
    (center, half): (P3, V3),
    starts: &[P3],
    effort: usize,
    enough: f64,
) -> Deepest {
    let size = half.norm().max(1e-9);
    let mut best = Deepest { depth: forms.depth(&center), at: center, bound: f64::INFINITY };
    let mut seen: Vec<(f64, P3)> = starts.iter().map(|p| (forms.depth(p), *p)).collect();
    let mut heap = BinaryHeap::from([Cell { upper: best.depth + half.norm(), center, half }]);
    for _ in 0..300 * effort {
        let Some(cell) = heap.pop() else { break };
        best.bound = cell.upper;
        if cell.upper < 0.0 {
            break;
        }
        let k = cell.half.imax();
        let mut half = cell.half;
        half[k] *= 0.5;
        for sign in [-1.0, 1.0] {
            let mut c = cell.center;
            c[k] += sign * half[k];
            let d = forms.depth(&c);
            seen.push((d, c));
            heap.push(Cell { upper: d + half.norm(), center: c, half });
        }
        if seen[seen.len() - 1].0.max(seen[seen.len() - 2].0) > enough {
            break;
        }
    }
    seen.sort_by(|x, y| y.0.total_cmp(&x.0));
    let mut rng = SmallRng::seed_from_u64(seen.len() as u64);
    let mut chosen: Vec<P3> = Vec::new();
    for &(d, p) in &seen {
        if chosen.len() >= 8 * effort || best.depth > enough || best.bound < 0.0 {
            break;
        }
        if d > best.depth {
            (best.depth, best.at) = (d, p);
        }
        if chosen.iter().all(|q| (q - p).norm() > 0.04 * size) {
            chosen.push(p);
            let mut top = climb(forms, p, size, effort, enough, &mut rng);
            if effort > 1 && top.0 <= enough {
                top = refined(forms, top, size, enough, &mut rng);
            }
            if top.0 > best.depth {
                (best.depth, best.at) = top;
            }
        }
    }
    if best.depth <= enough && best.bound >= 0.0 {
        (best.depth, best.at) = refined(forms, (best.depth, best.at), size, enough, &mut rng);
    }
    best
}

/// Upper bound of the depth (mm) of common points, from an octree of at most about `cells` cells over
/// the box of possible common points. A cell is rejected if the distance of its centre from one solid
/// exceeds the distance of its corners from the centre. If the bound is negative, the interiors are
/// disjoint.
#[must_use]
pub fn proven(a: &Model, b: &Model, pose_a: &Pose, pose_b: &Pose, cells: usize) -> f64 {
    let pose_ab = pose_a.inv_mul(pose_b);
    let forms = Forms { a: &a.shape.form, b: &b.shape.form, pose_ba: pose_ab.inverse() };
    let (center, half) = common_box(a, b, &pose_ab);
    let mut heap = BinaryHeap::from([Cell { upper: f64::INFINITY, center, half }]);
    let mut taken = 0;
    while let Some(cell) = heap.pop() {
        if cell.upper < 0.0 || taken >= cells {
            return cell.upper;
        }
        let half = cell.half * 0.5;
        for k in 0..8 {
            let step = V3::from_fn(|i, _| if k >> i & 1 == 1 { half[i] } else { -half[i] });
            let center = cell.center + step;
            heap.push(Cell { upper: forms.depth(&center) + half.norm(), center, half });
        }
        taken += 8;
    }
    f64::NEG_INFINITY
}

/// Moves `p` by steps along the difference of the gradients until the depths in both solids are equal;
/// returns the depth (mm) and the point.
fn equalized(forms: &Forms<'_>, mut p: P3, h: f64) -> (f64, P3) {
    let mut best = (forms.depth(&p), p);
    for _ in 0..3 {
        let [a, b] = forms.depths(&p);
        let [ga, gb] = forms.slopes(&p, h);
        let g = ga - gb;
        let n = g.norm_squared();
        if n < 1e-6 || (a - b).abs() < 1e-3 * h {
            break;
        }
        p += g * ((b - a) / n);
        let d = forms.depth(&p);
        if d > best.0 {
            best = (d, p);
        }
    }
    best
}

/// Climbs from a point to a local maximum of the depth in both solids.
fn climb(
    forms: &Forms<'_>,
    start: P3,
    size: f64,
    effort: usize,
    enough: f64,
    rng: &mut SmallRng,
) -> (f64, P3) {
    let h = 1e-8 * size;
    let mut best = equalized(forms, start, h);
    let mut step = 0.02 * size;
    // Along the shortest convex combination of the gradients both depths grow.
    for _ in 0..25 * effort {
        if best.0 > enough {
            return best;
        }
        let [ga, gb] = forms.slopes(&best.1, h);
        let d = gb - ga;
        let n = d.norm_squared();
        let t = if n > 1e-12 { (-ga.dot(&d) / n).clamp(0.0, 1.0) } else { 0.5 };
        let Some(to) = (ga + d * t).try_normalize(1e-12) else { break };
        let next = equalized(forms, best.1 + to * step, h);
        if next.0 > best.0 {
            best = next;
            step *= 2.0;
        } else {
            step *= 0.25;
        }
        if step < 1e-10 * size {
            break;
        }
    }
    // Random steps overcome kinks of the depths.
    let mut scale = 0.05 * size;
    for _ in 0..40 * effort {
        if best.0 > enough || scale < 1e-9 * size {
            break;
        }
        let to = V3::from_fn(|_, _| rng.random_range(-1.0..1.0)) * scale;
        let next = equalized(forms, best.1 + to, h);
        if next.0 > best.0 {
            best = next;
            scale *= 2.0;
        } else {
            scale *= 0.75;
        }
    }
    best
}

/// Refines a maximum at kinks, where several smooth pieces of the depths intersect: steps to the highest
/// point under the tangent planes at nearby points, within a shrinking box.
fn refined(forms: &Forms<'_>, mut best: (f64, P3), size: f64, enough: f64, rng: &mut SmallRng) -> (f64, P3) {
    let h = 1e-8 * size;
    let mut reach = 1e-3 * size;
    for _ in 0..30 {
        if best.0 > enough || reach < 1e-9 * size {
            break;
        }
        let x = best.1;
        // Gradients, and values extrapolated to `x`.
        let mut planes: Vec<(V3, f64)> = Vec::with_capacity(12);
        for i in 0..6 {
            let off = V3::from_fn(|_, _| rng.random_range(-1.0..1.0)) * if i == 0 { 0.0 } else { reach };
            let q = x + off;
            for (g, d) in forms.slopes(&q, h).into_iter().zip(forms.depths(&q)) {
                let c = d - g.dot(&off);
                if planes.iter().all(|(o, e)| (o - g).norm() > 1e-5 || (e - c).abs() > 1e-3 * reach) {
                    planes.push((g, c));
                }
            }
        }
        let s = highest(&planes, reach);
        let next = (forms.depth(&(x + s)), x + s);
        let moved = s.amax() > 0.9 * reach;
        if next.0 > best.0 {
            best = next;
            reach *= if moved { 1.5 } else { 0.3 };
        } else {
            reach *= 0.3;
        }
    }
    best
}

/// Highest point below planes (gradient, value at the origin) within the cube of half extent `reach`.
fn highest(planes: &[(V3, f64)], reach: f64) -> V3 {
    let low = |s: &V3| planes.iter().map(|(g, c)| c + g.dot(s)).fold(f64::INFINITY, f64::min);
    let mut best = (low(&V3::zeros()), V3::zeros());
    let mut offer = |s: V3| {
        if s.amax() <= reach * (1.0 + 1e-9) {
            let t = low(&s);
            if t > best.0 {
                best = (t, s);
            }
        }
    };
    for i in 0..8 {
        offer(V3::from_fn(|k, _| if i >> k & 1 == 1 { reach } else { -reach }));
    }
    // Three equations ⟨n, s⟩ = e: for planes of equal height, and for sides of the cube.
    let walls: Vec<(V3, f64)> =
        (0..6).map(|i| (V3::ith(i / 2, 1.0), if i % 2 == 0 { reach } else { -reach })).collect();
    for (i, (g, c)) in planes.iter().enumerate() {
        let mut equations: Vec<(V3, f64)> = planes[i + 1..].iter().map(|(o, e)| (o - g, c - e)).collect();
        let own = equations.len();
        equations.extend(&walls);
        for j in 0..own {
            for k in j + 1..equations.len() {
                for l in k + 1..equations.len() {
                    let [(n0, e0), (n1, e1), (n2, e2)] = [j, k, l].map(|m| equations[m]);
                    let cross = n1.cross(&n2);
                    let det = n0.dot(&cross);
                    if det.abs() > 1e-14 {
                        offer((cross * e0 + n2.cross(&n0) * e1 + n0.cross(&n1) * e2) / det);
                    }
                }
            }
        }
    }
    best.1
}

/// Result of the check of a pair.
#[derive(Clone, Debug)]
pub struct Checked {
    /// Deepest common point that the search found.
    pub deepest: Deepest,
    /// Tolerance of the pair (mm).
    pub tol: f64,
    /// Faults with descriptions.
    pub faults: Vec<(Fault, String)>,
}

/// Checks the results for A and B in their poses, from a query with the given `d_max`.
#[must_use]
pub fn check(
    a: &Model,
    b: &Model,
    pose_a: &Pose,
    pose_b: &Pose,
    d_max: f64,
    result: &QueryResult,
) -> Checked {
    let pose_ab = pose_a.inv_mul(pose_b);
    let forms = Forms { a: &a.shape.form, b: &b.shape.form, pose_ba: pose_ab.inverse() };
    let size = a.size().max(b.size());
    let reach = pose_a.translation.vector.norm() + pose_b.translation.vector.norm() + size;
    let tol = 1e-7 * size + 1e-13 * reach;
    let region = common_box(a, b, &pose_ab);
    let to_a = |p: &P3| pose_a.inverse() * p;
    let mut starts: Vec<P3> =
        result.points.iter().map(|[p, q]| nalgebra::center(&to_a(p), &to_a(q))).collect();
    // Boundary points of each solid, with their depths in the other solid.
    let mut near: Vec<(f64, P3)> =
        a.samples.iter().map(|(p, _)| (forms.b.depth(&(forms.pose_ba * p)), *p)).collect();
    near.extend(b.samples.iter().map(|(p, _)| pose_ab * p).map(|p| (forms.a.depth(&p), p)));
    near.sort_by(|x, y| y.0.total_cmp(&x.0));
    starts.extend(near.iter().take(12).map(|n| n.1));
    let enough = 2.5 * tol;
    starts.extend(result.witness.map(|(p, _)| to_a(&p)));
    let mut found = deepest(&forms, region, &starts, 1, enough);
    if result.verdict == Verdict::Interfering && found.depth < tol && found.bound > 0.5 * tol {
        let more = deepest(&forms, region, &starts, 8, enough);
        found = Deepest {
            bound: more.bound.min(found.bound),
            ..if more.depth > found.depth { more } else { found }
        };
    }
    let mut faults = vec![];
    let mut fault = |f: Fault, why: String| faults.push((f, why));
    match result.verdict {
        Verdict::Interfering => {
            match result.witness {
                Some((point, reported)) => {
                    let [x, y] = forms.depths(&to_a(&point));
                    // The reported depth has the error of the feet of nearest points.
                    let feet = 0.1 * tol;
                    let deeper =
                        |reported: f64, d: f64, form: &Form| form.is_exact_inside() && reported > d + feet;
                    // The depth in a concave solid is a lower bound with the right sign.
                    let min_depth = |form: &Form| if form.is_exact_inside() { tol - feet } else { 0.0 };
                    let shallow = x < min_depth(forms.a) || y < min_depth(forms.b);
                    if shallow || deeper(reported[0], x, forms.a) || deeper(reported[1], y, forms.b) {
                        fault(
                            Fault::Untrue,
                            format!("witness {x:e} and {y:e} mm deep, reported {reported:?}"),
                        );
                    }
                }
                None => fault(Fault::Untrue, "no witness".into()),
            }
            if found.depth < 0.5 * tol {
                let kind = if found.depth < 0.05 * tol { Fault::Invented } else { Fault::Hasty };
                let parts = found.depth / tol;
                fault(
                    kind,
                    format!("the deepest point is {:.3e} mm deep ({parts:.2} tolerances)", found.depth),
                );
            }
        }
        Verdict::Separated | Verdict::Touching => {
            if found.depth > 2.0 * tol {
                fault(
                    Fault::Missed,
                    format!("a point is {:.3e} mm deep ({:.2} tolerances)", found.depth, found.depth / tol),
                );
            } else {
                distances(&forms, result, &to_a, (tol, d_max), &found, &mut fault);
            }
        }
        Verdict::Undecided => {}
    }
    Checked { deepest: found, tol, faults }
}

/// Checks the smallest distance of solids that do not interfere.
fn distances(
    forms: &Forms<'_>,
    result: &QueryResult,
    to_a: &impl Fn(&P3) -> P3,
    (tol, d_max): (f64, f64),
    found: &Deepest,
    fault: &mut impl FnMut(Fault, String),
) {
    let exact = forms.a.is_exact_outside() && forms.b.is_exact_outside();
    // The distance is at most the sum of the distances of the found point from both solids.
    let [x, y] = forms.depths(&found.at);
    let upper = (-x).max(0.0) + (-y).max(0.0);
    if exact && upper + 2.0 * tol < result.distance.unwrap_or(d_max) {
        let near = upper < 0.5 * tol && result.verdict == Verdict::Separated;
        let kind = if near { Fault::Unnoticed } else { Fault::TooFar };
        fault(kind, format!("distance {:?}, but at most {upper:.9e} mm are possible", result.distance));
    }
    let Some(distance) = result.distance else {
        if result.verdict == Verdict::Touching {
            fault(Fault::Contradiction, "touching without a distance".into());
        }
        return;
    };
    let touching = result.verdict == Verdict::Touching;
    if touching && distance > 1.5 * tol || !touching && distance < 0.5 * tol {
        fault(Fault::Contradiction, format!("{:?} at {distance:e} mm", result.verdict));
    }
    let Some([p, q]) = result.points.first() else { return };
    let ([pa, pb], [qa, qb]) = (forms.depths(&to_a(p)), forms.depths(&to_a(q)));
    let [x, y] = forms.depths(&to_a(&nalgebra::center(p, q)));
    if exact && distance < -2.0 * tol && -distance > MAX_DEPTH_RATIO * found.depth && x.min(y) < -0.05 * tol {
        fault(
            Fault::Contradiction,
            format!("distance {distance:e} mm, but no point is deeper than {:e} mm", found.depth),
        );
    }
    if pa.abs() > 2.0 * tol || qb.abs() > 2.0 * tol {
        fault(Fault::Astray, format!("footpoints {pa:e} and {qb:e} mm deep in their own solids"));
    }
    // The distance of a footpoint from the other solid is at most that from the other footpoint. If sharp
    // edges penetrate each other, both footpoints may be outside.
    if (-pb).max(-qa) > distance.abs() + 2.0 * tol {
        fault(
            Fault::TooNear,
            format!(
                "distance {distance:e} mm, but the footpoints are {:e} and {:e} mm from the other solid",
                -pb, -qa
            ),
        );
    }
}

/// Centre and half extents (mm, in the frame of A) of the box that contains all common points of both
/// solids, or of the region between the boxes if these are separated.
pub(super) fn common_box(a: &Model, b: &Model, pose_ab: &Pose) -> (P3, V3) {
    let bounds = |m: &Model, pose: &Pose| {
        let c = m.body.bounds();
        let (mid, half) = (nalgebra::center(&c.min, &c.max), (c.max - c.min) * 0.5);
        let r = pose.rotation.to_rotation_matrix();
        (pose * mid, r.matrix().abs() * half)
    };
    let ((ma, ha), (mb, hb)) = (bounds(a, &Pose::identity()), bounds(b, pose_ab));
    let low = (ma - ha).coords.sup(&(mb - hb).coords);
    let high = (ma + ha).coords.inf(&(mb + hb).coords);
    let slack = V3::repeat(1e-3 * a.size().max(b.size()));
    (P3::from((low + high) * 0.5), (high - low).abs() * 0.5 + slack)
}
