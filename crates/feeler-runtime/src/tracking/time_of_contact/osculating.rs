//! Osculating quadrics of pieces of a surface, which bound the depth of moving points below it.
//!
//! A contact whose footpoints move on both surfaces, as that of two gear teeth or of a cam and its follower,
//! has no supporting surface that moves into itself. Its signed distance g satisfies g = g′ = g″ = 0, but
//! bounds of g′ over two areas see only that normals vary. Near its middle p, a piece of a surface with the
//! normal n and the second fundamental form L follows the quadric
//!
//! Q(x) = n · (x − p) − ½ Lᵢⱼ (Sⁱ · (x − p)) (Sʲ · (x − p)) = 0,
//!
//! where Sⁱ is the dual basis of the first derivatives. Q at the moving points of the other solid is a
//! polynomial of degree 2 in their parameters and the time, up to a remainder of third order. The polynomial
//! contains the motion of the contact over both surfaces, so that its minimum stays near 0 for a correct
//! contact, for a time proportional to the cube root of the depth instead of the square root.
//!
//! # Source
//! Taylor's theorem; MATH §24.

use crate::body::Body;
use crate::body::edge_normals::guide_at;
use crate::body::tree::Allowance;
use feeler_geom::crossing::third_of_closed_form;
use feeler_geom::{P2, P3, Pose, Rect, Surface, Twist, V3, VectorBall, math};
use feeler_hierarchy::{AdjacentFace, EdgeId, Feature};
use nalgebra::{Matrix2, Matrix3, UnitQuaternion, Vector2};
use std::f64::consts::PI;

/// Middle of a piece of a face or of an edge, or a vertex, in the frame of its solid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Jet {
    /// Point (mm) at the middle of the piece.
    pub p: P3,
    /// First derivatives by u and v; 0 for parameters that the feature does not have.
    pub first: [V3; 2],
    /// Second derivatives uu, uv and vv.
    pub second: [V3; 3],
    /// Upper bounds of the lengths of the third derivatives (uuu, uuv, uvv, vvv) over the piece.
    pub third: [f64; 4],
    /// Half ranges of the parameters.
    pub half: [f64; 2],
}

impl Jet {
    /// Jet of the piece `rect` of a feature, widened so that it contains footpoints up to the length of
    /// `allowance` outside. `third` are bounds of the third derivatives by the parameters. `None` at singular
    /// points.
    pub(crate) fn of(
        body: &Body,
        feature: Feature,
        (rect, third): (&Rect, [f64; 4]),
        allowance: &Allowance,
    ) -> Option<Self> {
        let length = f64::from(allowance.length);
        match feature {
            Feature::Vertex(v) => Some(Self::of_point(body.vertex(v).point)),
            Feature::Edge(e) => {
                let d = body.edge(e).curve.derivs(rect.center().x);
                let speed = d.d1.norm();
                let half = [0.5 * rect.width() + 2.0 * length / speed, 0.0];
                let zero = V3::zeros();
                let (first, second) = ([d.d1, zero], [d.d2, zero, zero]);
                let jet = Self { first, second, half, third, ..Self::of_point(d.p) };
                (speed > f64::MIN_POSITIVE).then_some(jet)
            }
            Feature::Face(f) => {
                let middle = rect.center();
                let d = body.face(f).surface.derivs(P2::new(middle.x, middle.y));
                let first = [d.du, d.dv];
                let [x, y] = dual(&first)?;
                let half = [
                    0.5 * rect.width() + 2.0 * length * x.norm(),
                    0.5 * rect.height() + 2.0 * length * y.norm(),
                ];
                Some(Self { p: d.p, first, second: [d.duu, d.duv, d.dvv], third, half })
            }
        }
    }

    fn of_point(p: P3) -> Self {
        let zero = V3::zeros();
        Self { p, first: [zero; 2], second: [zero; 3], third: [0.0; 4], half: [0.0; 2] }
    }

    /// Jet of the middle of the piece alone.
    pub(crate) fn middle(&self) -> Self {
        Self { half: [0.0; 2], ..*self }
    }

    /// Upper bounds of the lengths of the second derivatives over the piece.
    fn largest_second(&self) -> [f64; 3] {
        let ([a, b, c], [t0, t1, t2, t3], [h, k]) = (&self.second, self.third, self.half);
        [a.norm() + t0 * h + t1 * k, b.norm() + t1 * h + t2 * k, c.norm() + t2 * h + t3 * k]
    }

    /// Upper bounds of the changes of the first derivatives over the piece.
    fn change_of_first(&self) -> [f64; 2] {
        let ([a, b, c], [h, k]) = (self.largest_second(), self.half);
        [a * h + b * k, b * h + c * k]
    }

    /// Upper bound of the third-order remainder of a point of the piece: a sixth of the third derivative.
    fn remainder(&self) -> f64 {
        let ([t0, t1, t2, t3], [h, k]) = (self.third, self.half);
        (t0 * h * h * h + 3.0 * (t1 * h + t2 * k) * h * k + t3 * k * k * k) / 6.0
    }
}

/// Vectors Sⁱ in the plane of two vectors with Sⁱ · Sⱼ = δᵢⱼ; `None` if the vectors are parallel.
fn dual([x, y]: &[V3; 2]) -> Option<[V3; 2]> {
    let (xx, xy, yy) = (x.norm_squared(), x.dot(y), y.norm_squared());
    let det = xx * yy - xy * xy;
    (det > 1e-12 * xx * yy).then(|| [(x * yy - y * xy) / det, (y * xx - x * xy) / det])
}

/// Motion of the points of one solid in the frame of the other one: the product of the motions of several
/// joints, exp(τ η₁) … exp(τ ηₖ) · pose.
#[derive(Clone, Debug)]
pub(crate) struct PointMotion {
    pose: Pose,
    twists: Vec<Twist>,
    /// Angular velocity of the solid.
    w: V3,
    /// Sum of the angular velocities of the joints.
    turning: f64,
}

impl PointMotion {
    pub(crate) fn new(pose: Pose, twists: Vec<Twist>) -> Self {
        let w = twists.iter().map(|t| t.w).sum();
        let turning = twists.iter().map(|t| t.w.norm()).sum();
        Self { pose, twists, w, turning }
    }

    /// Rotation of the solid into the frame of the other one.
    pub(crate) fn rotation(&self) -> UnitQuaternion<f64> {
        self.pose.rotation
    }

    /// Shortest time in which the solid can turn by an angle (rad).
    pub(crate) fn time_to_turn(&self, angle: f64) -> f64 {
        if self.turning > 0.0 { angle / self.turning } else { f64::INFINITY }
    }

    /// Velocity and acceleration of the point that is at `p` now.
    fn derivatives(&self, p: &P3) -> (V3, V3) {
        let (mut velocity, mut acceleration) = (V3::zeros(), V3::zeros());
        // Each joint also moves the velocities that later joints cause.
        for t in self.twists.iter().rev() {
            let own = t.at(p);
            acceleration += t.w.cross(&(own + 2.0 * velocity));
            velocity += own;
        }
        (velocity, acceleration)
    }

    /// Second derivative of the rotation of a vector that is `x` now.
    fn turned_twice(&self, x: &V3) -> V3 {
        let (mut rate, mut second) = (V3::zeros(), V3::zeros());
        for t in self.twists.iter().rev() {
            let own = t.w.cross(x);
            second += t.w.cross(&(own + 2.0 * rate));
            rate += own;
        }
        second
    }

    /// Third derivative of the position of the point that is at `p` now.
    fn jerk(&self, p: &P3) -> V3 {
        let zero = V3::zeros();
        let (mut velocity, mut acceleration, mut jerk) = (zero, zero, zero);
        // The derivatives of later joints are vectors, which each joint turns.
        for t in self.twists.iter().rev() {
            let own = t.at(p);
            let twice = t.w.cross(&own);
            jerk += t.w.cross(&(twice + 3.0 * (t.w.cross(&velocity) + acceleration)));
            acceleration += twice + 2.0 * t.w.cross(&velocity);
            velocity += own;
        }
        jerk
    }

    /// Upper bound, for the time `time`, of the sum of the rates at which the joints turn a vector that is
    /// `x` now.
    pub(crate) fn turns(&self, x: &V3, time: f64) -> f64 {
        let mut sum = 0.0;
        for t in self.twists.iter().rev() {
            sum += t.w.cross(x).norm() + t.w.norm() * time * sum;
        }
        sum
    }

    /// Upper bound, for the time `time`, of the sum of the speeds that the joints cause at
    /// the point that is at `p` now.
    fn speeds(&self, p: &P3, time: f64) -> f64 {
        let mut sum = 0.0;
        for t in self.twists.iter().rev() {
            sum += t.at(p).norm() + t.w.norm() * time * sum;
        }
        sum
    }
}

/// Osculating quadric of a piece of a face.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quadric {
    p: P3,
    /// Outward normal.
    n: V3,
    dual: [V3; 2],
    /// Second fundamental form (uu, uv, vv) for the outward normal.
    form: [f64; 3],
    /// Upper bound of |Q| on the piece.
    pub off: f64,
    /// Lower bound of n′ · ∇Q over the outward normals n′ of the piece; 1 for planes.
    pub along: f64,
    /// Upper bound of the part of a direction of a minimum that is orthogonal to n.
    tilt: f64,
    /// Upper bound of |∇Q − n′| over the normals n′ of the piece, each at its point.
    deviation: f64,
    /// Upper bounds of |Sⁱ · (x − p) − δⁱ| over the piece.
    sigma: [f64; 2],
}

/// Angle (rad) by which the direction of a minimum may differ from the normal of the surface: the angular
/// slack of critical pairs.
const DIRECTION_SLACK: f64 = 2e-6;
/// Smallest n′ · ∇Q for which a quadric is used. With a smaller value, larger pieces are bounded, loosely.
const MIN_ALONG: f64 = 0.8;
/// Range of a face's parameters around a piece of its edge, as a multiple of that of the piece to first
/// order. With a larger value, bounds are looser; with a smaller one, larger pieces of edges are not
/// bounded.
const PARAMETER_SLACK: f64 = 1.1;
/// Smallest ratio of both ranges of a face's parameters (mm) around a piece of its edge. It affects bounds of
/// third derivatives: a larger value loosens them, a smaller one divides by tiny numbers.
const MIN_ASPECT: f64 = 0.01;
/// Smallest n″ · ∇Q over the directions n″ of minima at an edge for which a quadric of an adjacent face is
/// used. With a smaller value, flatter edges are bounded, loosely.
const MIN_SHARE: f64 = 0.3;
/// Factor by which a time is shortened until the bound of a quadric holds. A value nearer to 1 computes more
/// bounds, a smaller one gives shorter times.
const SHORTER: f64 = 0.75;

impl Quadric {
    /// Quadric of the piece of a face with the given jet, outward along its natural normal if `outward`.
    /// `None` at singular points, and for pieces that are not flat enough.
    pub(crate) fn of(jet: &Jet, outward: bool, angle: f64) -> Option<Self> {
        let normal = jet.first[0].cross(&jet.first[1]);
        let n = normal.try_normalize(f64::MIN_POSITIVE)? * if outward { 1.0 } else { -1.0 };
        let dual = dual(&jet.first)?;
        let form = jet.second.map(|s| n.dot(&s));
        let [h, k] = jet.half;
        // Sⁱ · (x − p) differs from the parameter δⁱ by σⁱ.
        let remainder = jet.remainder();
        let [uu, uv, vv] = jet.second;
        let sigma = dual.map(|s| {
            let bend = |x: &V3| s.dot(x).abs();
            0.5 * (bend(&uu) * h * h + 2.0 * bend(&uv) * h * k + bend(&vv) * k * k) + s.norm() * remainder
        });
        let second = [0.5 * sigma[0], 0.5 * sigma[1]];
        let off = remainder + paired(&form, &jet.half, &sigma) + paired(&form, &second, &sigma);
        let [du, dv] = jet.change_of_first();
        let change = jet.first[0].norm() * dv + jet.first[1].norm() * du + du * dv;
        let sin = change / normal.norm();
        // The normals of minima differ from those of the surface.
        let sin = sin + angle + DIRECTION_SLACK;
        if sin >= 0.5 {
            return None;
        }
        let most = [h + sigma[0], k + sigma[1]];
        let slope = paired(&form, &most, &dual.map(|s| s.norm()));
        let along = (1.0 - sin * sin).sqrt() - sin * slope;
        // |∇Q|² = 1 + slope².
        let deviation = (2.0 + slope * slope - 2.0 * along).max(0.0).sqrt();
        let quadric = Self { p: jet.p, n, dual, form, off, along, tilt: sin, deviation, sigma };
        (along >= MIN_ALONG).then_some(quadric)
    }

    /// Whether this quadric is less curved than another one at the middle of its piece; the first of two
    /// equal ones, with the index 0, counts as less curved.
    pub(crate) fn is_flatter(&self, other: &Self, index_of_other: usize) -> bool {
        let curvature = |q: &Self| {
            let lengths = q.dual.map(|s| s.norm());
            paired(&q.form, &lengths, &lengths)
        };
        let (own, others) = (curvature(self), curvature(other));
        if index_of_other == 0 { own < others } else { own <= others }
    }

    /// Outward unit normal at the middle of the piece.
    pub(crate) fn normal(&self) -> V3 {
        self.n
    }

    /// Upper bound of the angle (rad) between the outward normals of the piece and that at its middle.
    pub(crate) fn tilt(&self) -> f64 {
        // An angle of up to 30° is at most 1.05 times its sine.
        1.05 * self.tilt
    }

    fn components(&self, x: &V3) -> [f64; 2] {
        self.dual.map(|s| s.dot(x))
    }

    /// Lᵢⱼ xⁱ yʲ.
    fn product(&self, x: &[f64; 2], y: &[f64; 2]) -> f64 {
        let [a, b, c] = self.form;
        a * x[0] * y[0] + b * (x[0] * y[1] + x[1] * y[0]) + c * x[1] * y[1]
    }

    /// Value of Q (mm) at a point.
    #[cfg(test)]
    fn at(&self, x: &P3) -> f64 {
        let y = x - self.p;
        let own = self.components(&y);
        self.n.dot(&y) - 0.5 * self.product(&own, &own)
    }

    /// This quadric for minima whose directions n″ have n″ · n′ ≥ `share` with the normal n′ of the piece at
    /// the same point. `None` if the share is too small.
    fn shared(self, share: f64) -> Option<Self> {
        let along = share - self.deviation;
        (along >= MIN_SHARE).then_some(Self { along, tilt: 1.0, ..self })
    }

    /// Value that Q exceeds at no point that is `depth` (mm) below the piece along one of its normals.
    pub(crate) fn below(&self, depth: f64) -> f64 {
        let own = self.dual.map(|s| s.norm() * self.tilt * depth);
        self.off - depth * self.along + 0.5 * paired(&self.form, &own, &own)
    }

    /// Longest time of a geometric sequence from `most` down to `least` for which the points of a moving
    /// piece are proved not to be between the two depths (mm) below the piece of the quadric, up to the
    /// rounding `eps` (mm). If no such time exists, the result is `least` without a proof. The second value
    /// is the part of the errors (mm) at that time that smaller pieces do not have.
    pub(crate) fn safe_time(
        &self,
        (piece, motion): (&Jet, &PointMotion),
        ([depth, limit], eps): ([f64; 2], f64),
        (least, most): (f64, f64),
    ) -> (f64, f64) {
        // The bound is convex in the depth.
        let below = self.below(depth).max(self.below(limit)) + eps;
        // False for NaN.
        let is_clear = |lowest: f64| lowest > below;
        let (now, error) = self.lowest(piece, motion, 0.0);
        if !is_clear(now) {
            return (least, self.off + error);
        }
        let mut time = most;
        while time > least && !is_clear(self.lowest(piece, motion, time).0) {
            time *= SHORTER;
        }
        let time = time.max(least);
        let error = |piece: &Jet| self.lowest(piece, motion, time).1;
        (time, self.off + (error(piece) - error(&piece.middle())).max(0.0))
    }

    /// Lower bound of Q (mm) for the time `time` at the points of a moving piece, and the
    /// bound of the terms of higher order that it contains.
    pub(crate) fn lowest(&self, piece: &Jet, motion: &PointMotion, time: f64) -> (f64, f64) {
        let rotation = motion.pose.rotation;
        let p = motion.pose * piece.p;
        let first = piece.first.map(|x| rotation * x);
        let second = piece.second.map(|x| rotation * x);
        let (velocity, acceleration) = motion.derivatives(&p);
        let ([h, k], t) = (piece.half, time);

        let y = p - self.p;
        let own = self.components(&y);
        // ∇Q at the middle of the piece.
        let [a, b, c] = self.form;
        let gradient =
            self.n - self.dual[0] * (a * own[0] + b * own[1]) - self.dual[1] * (b * own[0] + c * own[1]);
        let start = self.n.dot(&y) - 0.5 * self.product(&own, &own);
        let rates = [first[0], first[1], velocity];
        let turned = first.map(|x| motion.w.cross(&x));
        let linear = V3::from_fn(|i, _| gradient.dot(&rates[i]));
        let parts = rates.map(|x| self.components(&x));
        let bends = [
            [second[0], second[1], turned[0]],
            [second[1], second[2], turned[1]],
            [turned[0], turned[1], acceleration],
        ];
        let quadratic =
            Matrix3::from_fn(|i, j| gradient.dot(&bends[i][j]) - self.product(&parts[i], &parts[j]));
        let lower = lowest_in_box(&linear, &quadratic, &V3::new(-h, -k, 0.0), &V3::new(h, k, t));

        // Terms of third order along a direction, and a bound of the remainder of fourth order in the time
        // and of third order in the parameters.
        let w = motion.turning;
        let turned_bends = second.map(|x| motion.w.cross(&x));
        let turned_twice = first.map(|x| motion.turned_twice(&x));
        let jerk = motion.jerk(&p);
        let pairs = [h * h, 2.0 * h * k, k * k];
        let third = |x: &V3| {
            let bends = (0..3).map(|i| x.dot(&turned_bends[i]).abs() * pairs[i]).sum::<f64>();
            let turns = x.dot(&turned_twice[0]).abs() * h + x.dot(&turned_twice[1]).abs() * k;
            0.5 * t * (bends + t * turns) + x.dot(&jerk).abs() * t * t * t / 6.0
        };
        let bent: f64 = (0..3).map(|i| second[i].norm() * pairs[i]).sum();
        let turning = motion.turns(&first[0], t) * h + motion.turns(&first[1], t) * k;
        // In a product of rotations, derivatives by inner joints have multinomial coefficients: the third one
        // of a direction is at most 3 W² Σ |wₗ × Rᵢ|, the fourth one of the middle 4 W³ Σ |uₗ|.
        let late = 0.25 * bent + 0.5 * t * turning + w * motion.speeds(&p, t) * t * t / 6.0;
        let fourth = piece.remainder() + w * w * t * t * late;

        let sizes = [h, k, t];
        let order_one: [f64; 2] = std::array::from_fn(|i| (0..3).map(|j| parts[j][i].abs() * sizes[j]).sum());
        let bends = bends.map(|row| row.map(|x| self.components(&x)));
        let higher: [f64; 2] = std::array::from_fn(|i| {
            let pairs = (0..3).flat_map(|j| (0..3).map(move |l| (j, l)));
            let of_order_two = pairs.map(|(j, l)| bends[j][l][i].abs() * sizes[j] * sizes[l]).sum::<f64>();
            0.5 * of_order_two + third(&self.dual[i]) + self.dual[i].norm() * fourth
        });
        let half_higher = [0.5 * higher[0], 0.5 * higher[1]];
        let rest = third(&gradient)
            + gradient.norm() * fourth
            + paired(&self.form, &order_one, &higher)
            + paired(&self.form, &half_higher, &higher);
        (start + lower - rest, rest)
    }
}

/// Osculating quadrics of both faces of an edge, at the middle of a piece of it.
///
/// A minimum at the edge has a direction between the normals of both faces, so that at least one of them has
/// half of their angle with it. A point that is deep below the edge is therefore deep below one of the
/// quadrics. If the direction is known, because the other footpoint is on a face, it is deep below the one
/// whose normal is nearer.
pub(crate) fn quadrics_of_edge(
    body: &Body,
    edge: EdgeId,
    (t, jet): (f64, &Jet),
    angle: f64,
    direction: Option<(V3, f64)>,
) -> Option<[Option<Quadric>; 2]> {
    let sides = &body.edge(edge).sides;
    let deviation = body.data(Feature::Edge(edge)).deviation;
    let [q, r] = [0, 1].map(|i| beside_edge(body, &sides[i], (t, jet), (angle, deviation)));
    if let Some((n, within)) = direction {
        let share = |q: &Option<Quadric>| {
            let cos = q.map_or(-1.0, |q| n.dot(&q.n)).clamp(-1.0, 1.0);
            math::sin_cos((math::acos(cos) + within + q.map_or(0.0, |q| q.tilt())).min(PI)).1
        };
        let (x, y) = (share(&q), share(&r));
        let best = if x >= y { q?.shared(x) } else { r?.shared(y) };
        return best.map(|q| [Some(q), None]);
    }
    let (q, r) = (q?, r?);
    let between = math::acos(q.n.dot(&r.n).clamp(-1.0, 1.0)) + q.tilt() + r.tilt();
    let share = math::sin_cos((0.5 * between).min(PI)).1;
    Some([Some(q.shared(share)?), Some(r.shared(share)?)])
}

/// Quadric of a face beside an edge that contains a piece of the edge with the middle at the parameter `t`.
/// `deviation` (mm) is the largest measured distance of the edge from its faces.
fn beside_edge(
    body: &Body,
    side: &AdjacentFace,
    (t, piece): (f64, &Jet),
    (angle, deviation): (f64, f64),
) -> Option<Quadric> {
    let face = body.face(side.face);
    let uv = face.surface.invert(&piece.p, guide_at(&side.guide, t), None);
    let d = face.surface.derivs(uv);
    let first = [d.du, d.dv];
    let dual = dual(&first)?;
    // The edge may be beside its face.
    let beside = (d.p - piece.p).norm().max(deviation);
    let [h, _] = piece.half;
    let along = dual.map(|s| {
        let bent = 0.5 * s.dot(&piece.second[0]).abs() * h * h;
        s.dot(&piece.first[0]).abs() * h + bent + s.norm() * (piece.remainder() + 2.0 * beside)
    });
    // A range of 0 has no third derivatives.
    let longest = (0..2).map(|i| along[i] * first[i].norm()).fold(0.0, f64::max);
    let half: [f64; 2] =
        std::array::from_fn(|i| PARAMETER_SLACK * along[i].max(MIN_ASPECT * longest / first[i].norm()));
    let rect = Rect { u0: uv.x - half[0], u1: uv.x + half[0], v0: uv.y - half[1], v1: uv.y + half[1] };
    let third = match &face.surface {
        Surface::Bezier(_) if longest > 0.0 => {
            face.surface.third_derivatives(&rect)?.each_ref().map(VectorBall::norm)
        }
        Surface::Bezier(_) => return None,
        surface => third_of_closed_form(surface, &rect),
    };
    let jet = Jet { p: d.p, first, second: [d.duu, d.duv, d.dvv], third, half };
    let quadric = Quadric::of(&jet, face.outward, angle)?;
    // The parameters of the edge stay inside by continuity.
    let reach: [f64; 2] = std::array::from_fn(|i| along[i] + quadric.sigma[i]);
    let is_inside = (0..2).all(|i| reach[i] <= half[i]);
    // Beyond a break of the surface, second derivatives differ.
    let (mut beyond, mut bend) = (0.0, jet.second.iter().map(|s| s.norm()).sum::<f64>());
    if let Surface::Bezier(s) = &face.surface {
        let (u, v) = (overrun(&s.u_breaks, uv.x, reach[0])?, overrun(&s.v_breaks, uv.y, reach[1])?);
        if (u, v) != (0.0, 0.0) {
            beyond = u.abs() + v.abs();
            let next = face.surface.derivs(uv + Vector2::new(reach[0].copysign(u), reach[1].copysign(v)));
            bend += [next.duu, next.duv, next.dvv].iter().map(|s| s.norm()).sum::<f64>();
        }
    }
    is_inside.then_some(Quadric { off: quadric.off + 2.0 * (beside + bend * beyond * beyond), ..quadric })
}

/// Length by which the range of a parameter around `t` exceeds the interval of the breaks that contains it,
/// negative below the interval. `None` if it exceeds the interval by more than [`MAX_OVERRUN`].
fn overrun(breaks: &[f64], t: f64, half: f64) -> Option<f64> {
    let i = breaks.partition_point(|b| *b <= t).clamp(1, breaks.len().max(2) - 1);
    let (Some(lo), Some(hi)) = (breaks.get(i - 1), breaks.get(i)) else { return Some(0.0) };
    let (below, above) = ((lo - (t - half)).max(0.0), (t + half - hi).max(0.0));
    (below.max(above) <= MAX_OVERRUN * half).then_some(if above >= below { above } else { -below })
}

/// Largest length by which a piece of an edge may extend beyond a break of its face, as a fraction of half of
/// the piece. It covers the allowance of pieces that end at a break; the first derivatives, which are
/// continuous, are those of the piece up to this fraction of their change. A larger value takes quadrics for
/// surfaces that they do not follow; a smaller one gives up pieces.
const MAX_OVERRUN: f64 = 0.1;

/// Upper bound of |Lᵢⱼ xⁱ yʲ| over all |xⁱ| ≤ `x` and |yʲ| ≤ `y`.
fn paired(form: &[f64; 3], x: &[f64; 2], y: &[f64; 2]) -> f64 {
    let [a, b, c] = form.map(f64::abs);
    a * x[0] * y[0] + b * (x[0] * y[1] + x[1] * y[0]) + c * x[1] * y[1]
}

/// Smallest value of `linear` · x + ½ x · `quadratic` x over a box, up to rounding. The minimum is a critical
/// point of the restriction to the box, one of its faces, edges or corners, with a positive definite matrix,
/// because otherwise it is also attained on the border of that face.
fn lowest_in_box(linear: &V3, quadratic: &Matrix3<f64>, lo: &V3, hi: &V3) -> f64 {
    if !(linear.sum() + quadratic.sum()).is_finite() {
        return f64::NEG_INFINITY;
    }
    let value = |x: &V3| linear.dot(x) + 0.5 * x.dot(&(quadratic * x));
    let mut lowest = f64::INFINITY;
    for choice in 0..27 {
        let side = [choice % 3, choice / 3 % 3, choice / 9];
        // Parameters without a range have one value.
        if (0..3).any(|i| side[i] != 0 && lo[i] >= hi[i]) {
            continue;
        }
        let mut x = V3::from_fn(|i, _| if side[i] == 0 { lo[i] } else { hi[i] });
        let free: Vec<usize> = (0..3).filter(|&i| side[i] == 2).collect();
        for &i in &free {
            x[i] = 0.0;
        }
        let slope = linear + quadratic * x;
        let q = |i: usize, j: usize| quadratic[(free[i], free[j])];
        let solution = match free.len() {
            0 => Some(V3::zeros()),
            1 => (q(0, 0) > 0.0).then(|| V3::new(-slope[free[0]] / q(0, 0), 0.0, 0.0)),
            2 => {
                let m = Matrix2::new(q(0, 0), q(0, 1), q(1, 0), q(1, 1));
                let found = m.cholesky().map(|m| m.solve(&-Vector2::new(slope[free[0]], slope[free[1]])));
                found.map(|y| V3::new(y.x, y.y, 0.0))
            }
            _ => quadratic.cholesky().map(|m| m.solve(&-slope)),
        };
        let Some(y) = solution else { continue };
        for (i, &k) in free.iter().enumerate() {
            x[k] = y[i].clamp(lo[k], hi[k]);
        }
        lowest = lowest.min(value(&x));
    }
    lowest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::edge_normals::edge_normals;
    use feeler_brep::build::{BuildOptions, build_solid};
    use feeler_brep::fixtures;
    use feeler_brep::source::SolidSource;
    use feeler_geom::Frame;
    use feeler_geom::bezier::{BezierSurface, homogeneous};
    use nalgebra::Translation3;
    use rand::rngs::SmallRng;
    use rand::{Rng, SeedableRng};

    fn vector(r: &mut SmallRng, size: f64) -> V3 {
        V3::from_fn(|_, _| r.random_range(-size..size))
    }

    /// A random surface with parameters from 0 to 1, curved by up to about 1/mm.
    fn surface(r: &mut SmallRng) -> Surface {
        let frame = Frame { origin: P3::from(vector(r, 3.0)), ..Frame::identity() };
        match r.random_range(0..6) {
            0 => Surface::Plane { frame },
            1 => Surface::Cylinder { frame, radius: r.random_range(1.0..5.0) },
            2 => Surface::Sphere { frame, radius: r.random_range(1.0..5.0) },
            3 => Surface::Torus { frame, major: r.random_range(3.0..6.0), minor: r.random_range(0.5..2.0) },
            _ => {
                let (m, n) = (r.random_range(1..5), r.random_range(1..4));
                let mut control = Vec::new();
                for i in 0..=m {
                    for j in 0..=n {
                        let at = V3::new(
                            4.0 * f64::from(i) / f64::from(m),
                            4.0 * f64::from(j) / f64::from(n),
                            0.0,
                        );
                        let p = P3::from(at + vector(r, 0.4));
                        control.push(homogeneous(&p, r.random_range(0.8..1.2)));
                    }
                }
                Surface::Bezier(BezierSurface {
                    u_degree: m,
                    v_degree: n,
                    u_breaks: vec![0.0, 1.0],
                    v_breaks: vec![0.0, 1.0],
                    control,
                    u_periodic: false,
                    v_periodic: false,
                })
            }
        }
    }

    fn jet(surface: &Surface, rect: &Rect) -> Jet {
        let third = match surface.third_derivatives(rect) {
            Some(balls) => balls.each_ref().map(VectorBall::norm),
            None => third_of_closed_form(surface, rect),
        };
        let middle = rect.center();
        let d = surface.derivs(P2::new(middle.x, middle.y));
        let half = [0.5 * rect.width(), 0.5 * rect.height()];
        Jet { p: d.p, first: [d.du, d.dv], second: [d.duu, d.duv, d.dvv], third, half }
    }

    /// A piece of a random size, often much longer than wide.
    fn piece(r: &mut SmallRng) -> Rect {
        let size = |r: &mut SmallRng| [1e-3, 1e-2, 0.05, 0.2][r.random_range(0..4)];
        let (w, h) = (size(r), size(r));
        let (u0, v0) = (r.random_range(0.0..1.0 - w), r.random_range(0.0..1.0 - h));
        Rect { u0, u1: u0 + w, v0, v1: v0 + h }
    }

    fn inside(r: &mut SmallRng, rect: &Rect) -> P2 {
        // Often at the border, where the remainders are largest.
        let s = |r: &mut SmallRng| r.random_range(-0.5_f64..1.5).clamp(0.0, 1.0);
        P2::new(rect.u0 + s(r) * rect.width(), rect.v0 + s(r) * rect.height())
    }

    #[test]
    fn derivatives_of_motions_are_those_of_differences() {
        let mut r = SmallRng::seed_from_u64(24);
        for _ in 0..500 {
            let twist = |r: &mut SmallRng| Twist { v: vector(r, 1.0), w: vector(r, 1.0) };
            let twists: Vec<Twist> = (0..r.random_range(1..4)).map(|_| twist(&mut r)).collect();
            let motion = PointMotion::new(Pose::identity(), twists.clone());
            let (p, x) = (P3::from(vector(&mut r, 2.0)), vector(&mut r, 2.0));
            let moved = |t: f64| twists.iter().fold(Pose::identity(), |m, twist| m * twist.times(t).exp());
            let h = 1e-2;
            let at = |k: f64| (moved(k * h) * p).coords;
            let third = (at(2.0) - at(-2.0) - 2.0 * (at(1.0) - at(-1.0))) / (2.0 * h * h * h);
            assert!((third - motion.jerk(&p)).norm() < 2e-2, "{third} {}", motion.jerk(&p));
            let second = (moved(h) * x + moved(-h) * x - 2.0 * x) / (h * h);
            assert!((second - motion.turned_twice(&x)).norm() < 1e-2, "{second}");
            let (velocity, acceleration) = motion.derivatives(&p);
            assert!(((at(1.0) - at(-1.0)) / (2.0 * h) - velocity).norm() < 1e-2, "{velocity}");
            let second = (at(1.0) + at(-1.0) - 2.0 * at(0.0)) / (h * h);
            assert!((second - acceleration).norm() < 1e-2, "{second} {acceleration}");
        }
    }

    #[test]
    fn pieces_follow_their_quadrics() {
        let mut r = SmallRng::seed_from_u64(21);
        let (mut largest, mut used) = (0.0_f64, 0);
        for _ in 0..4000 {
            let (surface, rect) = (surface(&mut r), piece(&mut r));
            let outward = r.random_bool(0.5);
            let Some(quadric) = Quadric::of(&jet(&surface, &rect), outward, 0.0) else { continue };
            used += 1;
            for _ in 0..20 {
                let d = surface.derivs(inside(&mut r, &rect));
                let off = quadric.at(&d.p).abs();
                assert!(off <= quadric.off + 1e-13, "{off:e} {quadric:?} {surface:?}");
                if quadric.off > 1e-9 {
                    largest = largest.max(off / quadric.off);
                }
                let normal = d.du.cross(&d.dv).normalize() * if outward { 1.0 } else { -1.0 };
                let depth = r.random_range(0.0..1e-2);
                let q = quadric.at(&(d.p - normal * depth));
                assert!(q <= quadric.below(depth) + 1e-13, "{q:e} {depth:e} {quadric:?}");
            }
        }
        assert!(largest > 0.3 && used > 2000, "{largest} {used}");
    }

    /// Bodies whose edges lie between planes, cylinders, cones, spheres and patches.
    fn bodies() -> Vec<Body> {
        let sources = [
            fixtures::block_with_hole(6.0, 4.0, 3.0),
            fixtures::cone(3.0, 5.0),
            fixtures::hemisphere(4.0),
            fixtures::stadium(6.0, 2.0, 3.0),
            fixtures::ball_wedge(5.0, 1.2),
            fixtures::bump(4.0, &[&[0.5, 1.0, 0.3], &[0.2, 0.8, 0.6]], 1.3),
        ];
        let body = |source: SolidSource| {
            let solid = build_solid(&source, &BuildOptions::default()).expect("a solid");
            let options = feeler_hierarchy::Options { flatness: 0.2 };
            Body::new(feeler_prepare::prepare_solid(&solid, &options).expect("a hierarchy")).expect("a body")
        };
        sources.map(body).into()
    }

    #[test]
    fn edges_follow_the_quadrics_of_their_faces() {
        let bodies = bodies();
        let mut r = SmallRng::seed_from_u64(25);
        let (mut pairs, mut single) = (0, 0);
        for _ in 0..3000 {
            let body = &bodies[r.random_range(0..bodies.len())];
            let edge = r.random_range(0..body.hierarchy().edges.len());
            let id = EdgeId(u32::try_from(edge).expect("an index"));
            let areas = &body.hierarchy().areas;
            let own: Vec<_> = areas.iter().filter(|a| a.feature == Feature::Edge(id)).collect();
            if own.is_empty() {
                continue;
            }
            let rect = own[r.random_range(0..own.len())].rect;
            let width = rect.width() * [1e-3, 1e-2, 0.1, 1.0][r.random_range(0..4)];
            let u0 = rect.u0 + r.random_range(0.0..1.0) * (rect.width() - width);
            let piece = Rect { u0, u1: u0 + width, ..rect };
            let curve = &body.edge(id).curve;
            let third = [curve.third_derivatives(piece.u0, piece.u1).norm(), 0.0, 0.0, 0.0];
            let t = piece.center().x;
            let Some(jet) = Jet::of(body, Feature::Edge(id), (&piece, third), &Allowance::default()) else {
                continue;
            };
            let Some(normals) = edge_normals(body, id, t) else { continue };
            if normals.dihedral() < 0.0 {
                continue;
            }
            let mix = |r: &mut SmallRng, n: &[V3; 2]| {
                let s = r.random_range(-0.3_f64..1.3).clamp(0.0, 1.0);
                (n[0] * (1.0 - s) + n[1] * s).normalize()
            };
            let within = 0.1;
            let known = r.random_bool(0.5).then(|| (mix(&mut r, &normals.normals), within));
            let Some(quadrics) = quadrics_of_edge(body, id, (t, &jet), 0.0, known) else { continue };
            for _ in 0..10 {
                let t = piece.u0 + width * r.random_range(-0.3_f64..1.3).clamp(0.0, 1.0);
                let p = curve.derivs(t).p;
                let Some(at) = edge_normals(body, id, t) else { continue };
                let n = match known {
                    Some((n, within)) => (n + vector(&mut r, 0.3 * within)).normalize(),
                    None => mix(&mut r, &at.normals),
                };
                let depth = r.random_range(0.0..1e-3);
                let q = p - n * depth;
                // The point is below one of the quadrics at least.
                let is_below = quadrics.iter().flatten().any(|k| k.at(&q) <= k.below(depth) + 1e-12);
                assert!(is_below, "{edge} {t} {depth} {n:?} {quadrics:?}");
            }
            if known.is_some() {
                single += 1;
            } else {
                pairs += 1;
            }
        }
        assert!(pairs > 200 && single > 200, "{pairs} {single}");
    }

    #[test]
    fn moving_points_stay_above_their_bounds() {
        let mut r = SmallRng::seed_from_u64(22);
        let (mut tightest, mut total) = (f64::INFINITY, 0.0);
        for _ in 0..4000 {
            let (a, b) = (surface(&mut r), surface(&mut r));
            let (rect_a, rect_b) = (piece(&mut r), piece(&mut r));
            let (jet_a, mut jet_b) = (jet(&a, &rect_a), jet(&b, &rect_b));
            let Some(quadric) = Quadric::of(&jet_a, true, 0.0) else { continue };
            // Points and curves are pieces without one or both parameters.
            let free = r.random_range(0..3);
            if free < 2 {
                (jet_b.first[1], jet_b.second[1], jet_b.second[2]) = (V3::zeros(), V3::zeros(), V3::zeros());
                (jet_b.half[1], jet_b.third) = (0.0, [jet_b.third[0], 0.0, 0.0, 0.0]);
            }
            if free < 1 {
                (jet_b.first[0], jet_b.second[0], jet_b.third, jet_b.half) =
                    (V3::zeros(), V3::zeros(), [0.0; 4], [0.0; 2]);
            }
            // B's piece begins near the middle of A's piece.
            let rotation = UnitQuaternion::from_scaled_axis(vector(&mut r, 3.0));
            let to = jet_a.p.coords + vector(&mut r, 0.1) - rotation * jet_b.p.coords;
            let pose = Pose::from_parts(Translation3::from(to), rotation);
            let twist = |r: &mut SmallRng| Twist { v: vector(r, 3.0), w: vector(r, 2.0) };
            let twists: Vec<Twist> = (0..r.random_range(1..4)).map(|_| twist(&mut r)).collect();
            let motion = PointMotion::new(pose, twists.clone());
            let time = [1e-3, 1e-2, 0.1][r.random_range(0..3)];
            let (lower, rest) = quadric.lowest(&jet_b, &motion, time);
            let mut lowest = f64::INFINITY;
            for _ in 0..60 {
                let mut uv = inside(&mut r, &rect_b);
                let middle = rect_b.center();
                if free < 2 {
                    uv.y = middle.y;
                }
                if free < 1 {
                    uv.x = middle.x;
                }
                let tau = time * r.random_range(-0.5_f64..1.5).clamp(0.0, 1.0);
                let moved = twists.iter().fold(Pose::identity(), |m, t| m * t.times(tau).exp());
                lowest = lowest.min(quadric.at(&(moved * (pose * b.point(uv)))));
            }
            assert!(lower <= lowest + 1e-12, "{lower:e} {lowest:e} {rest:e} {free} {time}");
            if rest > 1e-9 {
                tightest = tightest.min((lowest - lower) / rest);
            }
            total += 1.0;
        }
        // The remainders are needed: samples come nearer to the bound than without them.
        assert!(tightest < 0.98 && total > 2000.0, "{tightest} {total}");
    }

    #[test]
    fn quadratic_forms_have_their_lowest_values() {
        let mut r = SmallRng::seed_from_u64(23);
        for _ in 0..2000 {
            let linear = vector(&mut r, 1.0);
            let m = Matrix3::from_fn(|_, _| r.random_range(-1.0..1.0));
            let rank = r.random_range(1..4);
            let kept = Matrix3::from_diagonal(&V3::from_fn(|i, _| if i < rank { 1.0 } else { 0.0 }));
            let definite = r.random_bool(0.5);
            let quadratic = if definite { m.transpose() * kept * m } else { m + m.transpose() };
            let hi = V3::new(r.random_range(0.1..2.0), r.random_range(0.0..2.0), 1.0);
            let lo = V3::new(-hi.x, -hi.y, 0.0);
            let lowest = lowest_in_box(&linear, &quadratic, &lo, &hi);
            let steps = 12;
            let mut sampled = f64::INFINITY;
            for i in 0..=steps {
                for j in 0..=steps {
                    for k in 0..=steps {
                        let s = V3::new(f64::from(i), f64::from(j), f64::from(k)) / f64::from(steps);
                        let x = lo + (hi - lo).component_mul(&s);
                        sampled = sampled.min(linear.dot(&x) + 0.5 * x.dot(&(quadratic * x)));
                    }
                }
            }
            assert!(lowest <= sampled + 1e-12 && lowest >= sampled - 0.2, "{lowest} {sampled}");
        }
    }
}
