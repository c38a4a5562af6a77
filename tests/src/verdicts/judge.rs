//! What the closed forms of two solids say about the answer of a query.

use super::{Answer, Model, Verdict};
use crate::membership::Form;
use feeler_geom::{P3, Pose, V3};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// What is wrong with an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// The interiors meet, and the status denies it.
    Missed,
    /// The interiors do not meet, and the status says so.
    Invented,
    /// The status tells of an interference of less than half a tolerance.
    Hasty,
    /// In touch or a little in each other, and the status is apart.
    Unnoticed,
    /// Two points of the solids are nearer than the smallest distance.
    TooFar,
    /// A footpoint is farther from the other solid than the distance.
    TooNear,
    /// A footpoint is not on its solid.
    Astray,
    /// Apart with a distance below the tolerance, or in touch with a larger one.
    Contradiction,
    /// The witness of an interference is missing or not as deep as is said.
    Untrue,
}

/// How much deeper than its deepest common point a contact may be whose middle is in no common material: the
/// tips and edges of the generated solids are no sharper.
const SHARPEST: f64 = 24.0;

/// Two solids in closed form, in the frame of A.
#[derive(Clone, Copy, Debug)]
pub struct Forms<'a> {
    /// A.
    pub a: &'a Form,
    /// B in its own frame.
    pub b: &'a Form,
    /// From coordinates of A to those of B.
    pub pose_ba: Pose,
}

impl Forms<'_> {
    /// How deep a point is in A and in B.
    fn depths(&self, p: &P3) -> [f64; 2] {
        [self.a.depth(p), self.b.depth(&(self.pose_ba * p))]
    }

    /// How deep a point is in both.
    #[must_use]
    pub fn depth(&self, p: &P3) -> f64 {
        let [a, b] = self.depths(p);
        a.min(b)
    }

    fn slopes(&self, p: &P3, h: f64) -> [V3; 2] {
        [slope(&|q| self.a.depth(q), p, h), slope(&|q| self.b.depth(&(self.pose_ba * q)), p, h)]
    }
}

/// The gradient by differences over a length `h`.
#[must_use]
pub fn slope(f: &impl Fn(&P3) -> f64, p: &P3, h: f64) -> V3 {
    V3::from_fn(|k, _| {
        let mut d = V3::zeros();
        d[k] = h;
        (f(&(p + d)) - f(&(p - d))) / (2.0 * h)
    })
}

/// The result of a search.
#[derive(Clone, Copy, Debug)]
pub struct Deepest {
    /// How deep the point is in both solids (mm), negative when it is not.
    pub depth: f64,
    /// The point, in the frame of A.
    pub at: P3,
    /// No point is deeper (mm); infinite where that is not known.
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

/// Searches a box (middle and half extents, frame of A) for the point that is deepest in both solids, from
/// `starts` and from cells halved where the deepest point may be. Ends when it is deeper than `enough`.
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

/// An octree over the box of points that both solids may have in common: cells whose middle is farther
/// outside one solid than their corners are away hold none. Returns a bound of how deep (mm) common points
/// are after `cells` cells; below 0 there are none.
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

/// Makes both depths equal by steps along the difference of their slopes.
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

/// Uphill from a point to where it is as deep in both solids as can be found.
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
    // Along the shortest mean of the slopes: both depths grow.
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
    // At random: over the kinks of the depths.
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

/// Uphill where several smooth pieces of the depths meet, at corners and edges: to the highest point under
/// the tangent planes at places around, in a box that shrinks.
fn refined(forms: &Forms<'_>, mut best: (f64, P3), size: f64, enough: f64, rng: &mut SmallRng) -> (f64, P3) {
    let h = 1e-8 * size;
    let mut reach = 1e-3 * size;
    for _ in 0..30 {
        if best.0 > enough || reach < 1e-9 * size {
            break;
        }
        let x = best.1;
        // Slopes, and heights at x.
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

/// The highest point under planes (slope, height at the origin), within a cube.
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
    // Three equations ⟨n, s⟩ = e: of planes level with each other, and of sides of the cube.
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

/// What the judge found out about a pair.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The deepest point found.
    pub deepest: Deepest,
    /// The pair's tolerance (mm).
    pub tol: f64,
    /// What is wrong, and how it shows.
    pub faults: Vec<(Fault, String)>,
}

/// Judges an answer about A and B in their poses, with minima up to `d_max` asked for.
#[must_use]
pub fn judge(a: &Model, b: &Model, pose_a: &Pose, pose_b: &Pose, d_max: f64, answer: &Answer) -> Judged {
    let pose_ab = pose_a.inv_mul(pose_b);
    let forms = Forms { a: &a.shape.form, b: &b.shape.form, pose_ba: pose_ab.inverse() };
    let size = a.size().max(b.size());
    let reach = pose_a.translation.vector.norm() + pose_b.translation.vector.norm() + size;
    let tol = 1e-7 * size + 1e-13 * reach;
    let region = common_box(a, b, &pose_ab);
    let to_a = |p: &P3| pose_a.inverse() * p;
    let mut starts: Vec<P3> =
        answer.points.iter().map(|[p, q]| nalgebra::center(&to_a(p), &to_a(q))).collect();
    // Boundary points of each that are the deepest in the other.
    let mut near: Vec<(f64, P3)> =
        a.samples.iter().map(|(p, _)| (forms.b.depth(&(forms.pose_ba * p)), *p)).collect();
    near.extend(b.samples.iter().map(|(p, _)| pose_ab * p).map(|p| (forms.a.depth(&p), p)));
    near.sort_by(|x, y| y.0.total_cmp(&x.0));
    starts.extend(near.iter().take(12).map(|n| n.1));
    let enough = 2.5 * tol;
    starts.extend(answer.witness.map(|(p, _)| to_a(&p)));
    let mut found = deepest(&forms, region, &starts, 1, enough);
    if answer.verdict == Verdict::Interfering && found.depth < tol && found.bound > 0.5 * tol {
        let more = deepest(&forms, region, &starts, 8, enough);
        found = Deepest {
            bound: more.bound.min(found.bound),
            ..if more.depth > found.depth { more } else { found }
        };
    }
    let mut faults = vec![];
    let mut fault = |f: Fault, why: String| faults.push((f, why));
    match answer.verdict {
        Verdict::Interfering => {
            match answer.witness {
                Some((point, said)) => {
                    let [x, y] = forms.depths(&to_a(&point));
                    // What is said is off by as little as the feet of nearest points are.
                    let feet = 0.1 * tol;
                    let deeper = |said: f64, d: f64, form: &Form| form.is_exact_inside() && said > d + feet;
                    // The depth of a notch is a lower bound, of the right sign.
                    let least = |form: &Form| if form.is_exact_inside() { tol - feet } else { 0.0 };
                    let shallow = x < least(forms.a) || y < least(forms.b);
                    if shallow || deeper(said[0], x, forms.a) || deeper(said[1], y, forms.b) {
                        fault(Fault::Untrue, format!("witness {x:e} and {y:e} deep, said to be {said:?}"));
                    }
                }
                None => fault(Fault::Untrue, "no witness".into()),
            }
            if found.depth < 0.5 * tol {
                let kind = if found.depth < 0.05 * tol { Fault::Invented } else { Fault::Hasty };
                let parts = found.depth / tol;
                fault(kind, format!("deepest {:.3e} ({parts:.2} tolerances)", found.depth));
            }
        }
        Verdict::Separated | Verdict::Touching => {
            if found.depth > 2.0 * tol {
                fault(
                    Fault::Missed,
                    format!("{:.3e} deep, {:.2} tolerances", found.depth, found.depth / tol),
                );
            } else {
                distances(&forms, answer, &to_a, (tol, d_max), &found, &mut fault);
            }
        }
        Verdict::Undecided => {}
    }
    Judged { deepest: found, tol, faults }
}

/// Checks the smallest distance of solids that do not meet.
fn distances(
    forms: &Forms<'_>,
    answer: &Answer,
    to_a: &impl Fn(&P3) -> P3,
    (tol, d_max): (f64, f64),
    found: &Deepest,
    fault: &mut impl FnMut(Fault, String),
) {
    let exact = forms.a.is_exact_outside() && forms.b.is_exact_outside();
    // The point found has points of both solids so near.
    let [x, y] = forms.depths(&found.at);
    let most = (-x).max(0.0) + (-y).max(0.0);
    if exact && most + 2.0 * tol < answer.distance.unwrap_or(d_max) {
        let near = most < 0.5 * tol && answer.verdict == Verdict::Separated;
        let kind = if near { Fault::Unnoticed } else { Fault::TooFar };
        fault(kind, format!("{:?}, but {most:.9e} at most", answer.distance));
    }
    let Some(distance) = answer.distance else {
        if answer.verdict == Verdict::Touching {
            fault(Fault::Contradiction, "in touch without a distance".into());
        }
        return;
    };
    let touching = answer.verdict == Verdict::Touching;
    if touching && distance > 1.5 * tol || !touching && distance < 0.5 * tol {
        fault(Fault::Contradiction, format!("{:?} at {distance:e}", answer.verdict));
    }
    let Some([p, q]) = answer.points.first() else { return };
    let ([pa, pb], [qa, qb]) = (forms.depths(&to_a(p)), forms.depths(&to_a(q)));
    let [x, y] = forms.depths(&to_a(&nalgebra::center(p, q)));
    if exact && distance < -2.0 * tol && -distance > SHARPEST * found.depth && x.min(y) < -0.05 * tol {
        fault(Fault::Contradiction, format!("{distance:e}, but no point deeper than {:e}", found.depth));
    }
    if pa.abs() > 2.0 * tol || qb.abs() > 2.0 * tol {
        fault(Fault::Astray, format!("footpoints {pa:e} and {qb:e} deep in their own solids"));
    }
    // One footpoint is as far from the other one, which is on its solid; of sharp edges pressed into one
    // another both may be outside.
    if (-pb).max(-qa) > distance.abs() + 2.0 * tol {
        fault(Fault::TooNear, format!("{distance:e}, but footpoints are {:e} and {:e} off", -pb, -qa));
    }
}

/// Middle and half extents of the box (frame of A) that holds all points in both solids, or one around what
/// is between them.
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
