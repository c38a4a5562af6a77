//! Equations of closed loops: residuals, their derivatives by the joints, and bounds along a piece of a
//! motion in which all joints move at constant rates.
//!
//! All rows are dimensionless: translations are divided by the size of the loops, and one unit of a prismatic
//! unknown is that size.

use crate::{Closure, ClosureKind, JointKind, Mechanism};
use feeler_geom::{P3, Pose, Twist, V3};
use nalgebra::{DMatrix, DVector};

/// Dependent joint, whose value is an unknown of the equations.
#[derive(Clone, Debug)]
pub(super) struct Unknown {
    /// Index of the joint.
    pub joint: usize,
    /// Change of the joint's value (rad, mm) per unit of the unknown.
    pub unit: f64,
    /// Joints that move with the unknown, the dependent joint included: their indices, and the change of
    /// their values (rad, mm) per unit of the unknown.
    pub moved: Vec<(usize, f64)>,
}

/// Equations of all loops of a mechanism.
#[derive(Clone, Debug)]
pub(super) struct Equations<'a> {
    pub mechanism: &'a Mechanism,
    /// Size (mm) by which lengths are divided.
    pub size: f64,
    pub unknowns: Vec<Unknown>,
    /// For each closure the joints that move the parent and those that move the child, without the joints
    /// that move both sides.
    chains: Vec<[Vec<usize>; 2]>,
}

/// Mechanism at one position.
pub(super) struct Position {
    /// World poses of the links.
    poses: Vec<Pose>,
    /// World twist of each joint for a rate of 1.
    pub twists: Vec<Twist>,
}

/// Bounds of the motion of a point that a chain of joints moves during a piece.
struct ChainMotion {
    /// Sum of the rotation angles (rad).
    turn: f64,
    /// Sum of the translations (mm).
    slide: f64,
    /// Maximum distance (mm) of the point from the axes of the chain.
    lever: f64,
}

impl ChainMotion {
    /// Upper bound (mm) of the length of the point's path.
    fn travel(&self) -> f64 {
        self.turn * self.lever + self.slide
    }
}

impl<'a> Equations<'a> {
    /// Sets up the equations with the loop joints that are not in `driven` as unknowns. The loops are
    /// measured at the joint values `values`.
    pub(super) fn new(mechanism: &'a Mechanism, driven: &[usize], values: &[f64]) -> Self {
        let own_chains = |c: &Closure| {
            let [mut a, mut b] = c.links.map(|link| mechanism.chain(link));
            let common = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
            a.drain(..common);
            b.drain(..common);
            [a, b]
        };
        let chains: Vec<_> = mechanism.closures.iter().map(own_chains).collect();
        let mut equations = Self { mechanism, size: 1.0, unknowns: vec![], chains };
        let unknown: Vec<usize> =
            equations.driven_joints().into_iter().filter(|k| !driven.contains(k)).collect();
        equations.set_unknowns(&unknown);
        equations.measure(values);
        equations
    }

    /// Equations of the same loops with other joints as unknowns. The joints must have values of their own.
    pub(super) fn with_unknowns(&self, joints: &[usize]) -> Self {
        let mut equations = self.clone();
        equations.set_unknowns(joints);
        equations.set_size(self.size);
        equations
    }

    fn set_unknowns(&mut self, joints: &[usize]) {
        let unknown = |&joint: &usize| {
            let sources = (0..self.mechanism.joints.len()).map(|k| (k, source(self.mechanism, k)));
            let moved = sources.filter(|(_, s)| s.0 == joint).map(|(k, s)| (k, s.1)).collect();
            Unknown { joint, unit: 1.0, moved }
        };
        self.unknowns = joints.iter().map(unknown).collect();
    }

    /// Sets the size of the loops: the largest distance between a closing point and another one or an axis
    /// of its loop at the joint values `values`; 1 mm if all are 0.
    pub(super) fn measure(&mut self, values: &[f64]) {
        let at = self.position(values);
        let points: Vec<[P3; 2]> = (0..self.chains.len()).map(|i| self.points(&at, i)).collect();
        let mut size: f64 = 0.0;
        for (chains, ends) in self.chains.iter().zip(&points) {
            for (chain, p) in chains.iter().zip(ends) {
                let levers =
                    chain.iter().filter(|k| self.is_revolute(**k)).map(|k| at.twists[*k].at(p).norm());
                size = levers.fold(size, f64::max);
            }
            size = points.iter().map(|other| (other[1] - ends[1]).norm()).fold(size, f64::max);
        }
        self.set_size(if size > 0.0 && size.is_finite() { size } else { 1.0 });
    }

    fn set_size(&mut self, size: f64) {
        for unknown in &mut self.unknowns {
            let unit = if matches!(self.mechanism.joints[unknown.joint].kind, JointKind::Prismatic { .. }) {
                size
            } else {
                1.0
            };
            unknown.moved.iter_mut().for_each(|m| m.1 *= unit / unknown.unit);
            unknown.unit = unit;
        }
        self.size = size;
    }

    /// Indices of the joints on loops, increasing.
    pub(super) fn loop_joints(&self) -> Vec<usize> {
        let is_on_loop = |k: usize| {
            let is_moved = self.chains.iter().flatten().any(|chain| chain.contains(&k));
            is_moved && self.mechanism.joints[k].kind != JointKind::Fixed
        };
        (0..self.mechanism.joints.len()).filter(|k| is_on_loop(*k)).collect()
    }

    /// Indices of the joints on loops with values of their own that are not unknowns, increasing.
    pub(super) fn driven_joints(&self) -> Vec<usize> {
        let mut joints: Vec<usize> =
            self.loop_joints().iter().map(|&k| source(self.mechanism, k).0).collect();
        joints.sort_unstable();
        joints.dedup();
        joints.retain(|k| self.unknowns.iter().all(|u| u.joint != *k));
        joints
    }

    fn is_revolute(&self, joint: usize) -> bool {
        matches!(self.mechanism.joints[joint].kind, JointKind::Revolute { .. })
    }

    pub(super) fn position(&self, values: &[f64]) -> Position {
        let poses = self.mechanism.poses(values);
        let twists = self.mechanism.joints.iter().map(|j| j.kind.twist().moved(&poses[j.child])).collect();
        Position { poses, twists }
    }

    /// Closing point of the closure `i` in the world, as the parent and as the child move it.
    fn points(&self, at: &Position, i: usize) -> [P3; 2] {
        let closure = &self.mechanism.closures[i];
        let [parent, child] = closure.links.map(|link| at.poses[link]);
        [parent * (closure.origin * closure.point), child * closure.point]
    }

    /// Rotation vector (rad, world) from the parent's side of the closure `i` to the child's side.
    fn rotation(&self, at: &Position, i: usize) -> V3 {
        let closure = &self.mechanism.closures[i];
        let [parent, child] = closure.links.map(|link| at.poses[link].rotation);
        (child * (parent * closure.origin.rotation).inverse()).scaled_axis()
    }

    /// Distance (mm) and angle (rad) between the two sides of the closure `i`. The angle is 0 for a ball
    /// joint.
    pub(super) fn gap(&self, values: &[f64], i: usize) -> [f64; 2] {
        let at = self.position(values);
        let [p, q] = self.points(&at, i);
        let angle = match self.mechanism.closures[i].kind {
            ClosureKind::Fixed => self.rotation(&at, i).norm(),
            ClosureKind::Ball => 0.0,
        };
        [(q - p).norm(), angle]
    }

    /// Largest error of all closures: the distance over the size of the loops, or the angle (rad).
    pub(super) fn error(&self, values: &[f64]) -> f64 {
        let error = |i| {
            let [distance, angle] = self.gap(values, i);
            // A NaN counts as an infinite error.
            let error = (distance / self.size).max(angle);
            if distance.is_finite() && angle.is_finite() { error } else { f64::INFINITY }
        };
        (0..self.chains.len()).map(error).fold(0.0, f64::max)
    }

    /// Index of the closure with the largest error.
    pub(super) fn worst(&self, values: &[f64]) -> usize {
        let error = |i: &usize| {
            let [distance, angle] = self.gap(values, *i);
            (distance / self.size).max(angle)
        };
        (0..self.chains.len()).max_by(|a, b| error(a).total_cmp(&error(b))).unwrap_or(0)
    }

    /// Stacks the rows of all closures. `of` returns a translation (mm) and a rotation for each of them.
    fn stack(&self, of: impl Fn(usize) -> [V3; 2]) -> DVector<f64> {
        let mut rows = Vec::new();
        for (i, closure) in self.mechanism.closures.iter().enumerate() {
            let [translation, rotation] = of(i);
            rows.extend(translation.iter().map(|x| x / self.size));
            if closure.kind == ClosureKind::Fixed {
                rows.extend(rotation.iter());
            }
        }
        DVector::from_vec(rows)
    }

    pub(super) fn residual(&self, at: &Position) -> DVector<f64> {
        self.stack(|i| {
            let [p, q] = self.points(at, i);
            [q - p, self.rotation(at, i)]
        })
    }

    /// Derivatives of the residual by the values (rad, mm) of all joints, one column each.
    pub(super) fn sensitivities(&self, at: &Position) -> DMatrix<f64> {
        let column = |k: usize| {
            self.stack(|i| {
                let [p, q] = self.points(at, i);
                let twist = &at.twists[k];
                let [of_parent, of_child] = [0, 1].map(|side: usize| self.chains[i][side].contains(&k));
                let mut sum = [V3::zeros(); 2];
                if of_child {
                    sum = [sum[0] + twist.at(&q), sum[1] + twist.w];
                }
                if of_parent {
                    sum = [sum[0] - twist.at(&p), sum[1] - twist.w];
                }
                sum
            })
        };
        let columns: Vec<DVector<f64>> = (0..self.mechanism.joints.len()).map(column).collect();
        if columns.is_empty() { DMatrix::zeros(0, 0) } else { DMatrix::from_columns(&columns) }
    }

    /// Derivatives of the residual by the unknowns, from those by the joints.
    pub(super) fn jacobian(&self, sensitivities: &DMatrix<f64>) -> DMatrix<f64> {
        let mut jacobian = DMatrix::zeros(sensitivities.nrows(), self.unknowns.len());
        for (c, unknown) in self.unknowns.iter().enumerate() {
            for (k, factor) in &unknown.moved {
                jacobian.column_mut(c).axpy(*factor, &sensitivities.column(*k), 1.0);
            }
        }
        jacobian
    }

    /// Second derivative of the residual by the time, while the joints move by `increments` (rad, mm) per
    /// unit of time. The closures must be closed up to rounding or up to a small deviation.
    pub(super) fn acceleration(&self, at: &Position, increments: &[f64]) -> DVector<f64> {
        self.stack(|i| {
            let points = self.points(at, i);
            let [a, b] = [0, 1].map(|side: usize| {
                let (mut velocity, mut change) = (Twist::default(), Twist::default());
                for &k in &self.chains[i][side] {
                    let twist = at.twists[k].times(increments[k]);
                    change = change + bracket(&velocity, &twist);
                    velocity = velocity + twist;
                }
                let p = &points[side];
                (change.at(p) + velocity.w.cross(&velocity.at(p)), change.w, velocity.w)
            });
            [b.0 - a.0, b.1 - a.1 - b.2.cross(&a.2)]
        })
    }

    /// Bounds of the motion of the closing point of the closure `i` on each side, during a piece with
    /// the increments `increments` (rad, mm) and the position `at` in its middle.
    fn chain_motions(&self, at: &Position, increments: &[f64], i: usize) -> [ChainMotion; 2] {
        let points = self.points(at, i);
        [0, 1].map(|side: usize| {
            let mut motion = ChainMotion { turn: 0.0, slide: 0.0, lever: 0.0 };
            for &k in &self.chains[i][side] {
                if self.is_revolute(k) {
                    motion.turn += increments[k].abs();
                    motion.lever = motion.lever.max(at.twists[k].at(&points[side]).norm());
                } else {
                    motion.slide += increments[k].abs();
                }
            }
            // The distance from an axis changes by at most the path, and the turn is at most 1/2: 1 / (1 −
            // turn) is at most 1 + 2 turn.
            motion.lever = (motion.lever + motion.slide) * (1.0 + 2.0 * motion.turn);
            motion
        })
    }

    /// Largest sum of rotation angles (rad) on one side of a closure.
    pub(super) fn turn(&self, increments: &[f64]) -> f64 {
        let turn = |chain: &Vec<usize>| {
            chain.iter().filter(|k| self.is_revolute(**k)).map(|k| increments[*k].abs()).sum::<f64>()
        };
        self.chains.iter().flatten().map(turn).fold(0.0, f64::max)
    }

    /// Upper bound of the norm of the third derivative of the residual during a piece of duration 1 with
    /// the increments `increments`, with the position `at` in its middle.
    pub(super) fn third_bound(&self, at: &Position, increments: &[f64]) -> f64 {
        let square = |i: usize| {
            let [a, b] = self.chain_motions(at, increments, i);
            let third = |m: &ChainMotion| m.turn * m.turn * m.travel();
            let point = (third(&a) + third(&b)) / self.size;
            let turn = match self.mechanism.closures[i].kind {
                ClosureKind::Fixed => a.turn + b.turn,
                ClosureKind::Ball => 0.0,
            };
            point * point + turn * turn * turn * turn * turn * turn
        };
        (0..self.chains.len()).map(square).sum::<f64>().sqrt()
    }

    /// Upper bound of the Frobenius norm of the change of the Jacobian by the unknowns, from the position
    /// `at` to all positions whose joints differ from it by at most `ranges` (rad, mm).
    pub(super) fn jacobian_change(&self, at: &Position, ranges: &[f64]) -> f64 {
        let mut sum = 0.0;
        for i in 0..self.chains.len() {
            let motions = self.chain_motions(at, ranges, i);
            let is_fixed = self.mechanism.closures[i].kind == ClosureKind::Fixed;
            for unknown in &self.unknowns {
                let mut change = 0.0;
                for (k, factor) in &unknown.moved {
                    for (chain, m) in self.chains[i].iter().zip(&motions) {
                        if !chain.contains(k) {
                            continue;
                        }
                        change += factor.abs()
                            * if self.is_revolute(*k) {
                                let turn = if is_fixed { m.turn } else { 0.0 };
                                feeler_geom::math::hypot(m.travel() / self.size, turn)
                            } else {
                                m.turn / self.size
                            };
                    }
                }
                sum += change * change;
            }
        }
        sum.sqrt()
    }

    /// Sum of the rotation angles (rad) of the joints between the first one that an unknown moves and the
    /// link `link`, and of their translations (mm), for the increments `increments`; with these joints.
    fn dependent_chain(&self, link: usize, increments: &[f64]) -> (Vec<usize>, f64, f64) {
        let is_moved = |k: &usize| self.unknowns.iter().any(|u| u.moved.iter().any(|m| m.0 == *k));
        let chain: Vec<usize> = self.mechanism.chain(link).into_iter().skip_while(|k| !is_moved(k)).collect();
        let sum = |is_turn: bool| {
            let of_kind = chain.iter().filter(|k| self.is_revolute(**k) == is_turn);
            of_kind.map(|k| increments[*k].abs()).sum::<f64>()
        };
        let (turn, slide) = (sum(true), sum(false));
        (chain, turn, slide)
    }

    /// Rotation (rad) of a link by the joints from the first one on that an unknown moves.
    pub(super) fn link_turn(&self, link: usize, increments: &[f64]) -> f64 {
        self.dependent_chain(link, increments).1
    }

    /// Upper bound (mm) of the displacement of all points of a ball that is fixed to a link, if the unknowns
    /// differ by `step` plus a vector whose norm is at most `rest`. It holds at all positions whose joints
    /// differ from `at` by at most `ranges` (rad, mm). [`Equations::link_turn`] of the ranges must be at most
    /// 1/2.
    pub(super) fn displacement(
        &self,
        at: &Position,
        ranges: &[f64],
        ball: &super::LinkBall,
        (step, rest): (&DVector<f64>, f64),
    ) -> f64 {
        let (chain, turn, slide) = self.dependent_chain(ball.link, ranges);
        let center = at.poses[ball.link] * ball.center;
        let levers = chain.iter().filter(|k| self.is_revolute(**k)).map(|k| at.twists[*k].at(&center).norm());
        let lever = (levers.fold(0.0, f64::max) + ball.radius + slide) * (1.0 + 2.0 * turn);
        // Joints before a revolute joint turn its velocity at the point; joints after it move the point.
        let change = 2.0 * turn * lever + slide;
        let (mut whole, mut square, mut changes) = (Twist::default(), 0.0, 0.0);
        for (unknown, step) in self.unknowns.iter().zip(step.iter()) {
            let (mut twist, mut own) = (Twist::default(), 0.0);
            for (k, factor) in unknown.moved.iter().filter(|(k, _)| chain.contains(k)) {
                twist = twist + at.twists[*k].times(*factor);
                own += factor.abs() * if self.is_revolute(*k) { change } else { turn };
            }
            whole = whole + twist.times(*step);
            changes += own * step.abs();
            let speed = twist.at(&center).norm() + twist.w.norm() * ball.radius + own;
            square += speed * speed;
        }
        whole.at(&center).norm() + whole.w.norm() * ball.radius + changes + rest * square.sqrt()
    }
}

/// Rate of change of the twist `moved` that is carried along by the twist `carrier`.
fn bracket(carrier: &Twist, moved: &Twist) -> Twist {
    Twist { v: carrier.w.cross(&moved.v) + carrier.v.cross(&moved.w), w: carrier.w.cross(&moved.w) }
}

/// Joint that determines the value of the joint `k` by couplings, and the factor between both; the joint
/// itself with the factor 1 if it is not coupled.
pub(super) fn source(mechanism: &Mechanism, mut k: usize) -> (usize, f64) {
    let mut ratio = 1.0;
    while let Some(mimic) = mechanism.joints[k].mimic {
        ratio *= mimic.ratio;
        k = mimic.joint;
    }
    (k, ratio)
}
