//! Continuation of a solution along a motion of the driven joints, in pieces in which all joints move
//! linearly.
//!
//! A piece is accepted if a contraction proves that exactly one branch of solutions is near it, and if the
//! exact motion deviates from it by at most the limit. docs/MATH.md, section 25, derives both bounds.

use super::equations::Equations;
use super::newton::Decomposition;
use super::{LinkBall, Progress};
use crate::MechanismError;
use nalgebra::DVector;

/// Maximum contraction factor of a piece. With a larger value the bound of the deviation is looser; with
/// a smaller one there are more pieces.
const MAX_CONTRACTION: f64 = 0.25;

/// Maximum rotation (rad) of one side of a closure during a piece, for which the bounds are derived.
const MAX_TURN: f64 = 0.5;

/// Duration of a piece, relative to that between two times of the motion, below which a dead point is
/// reported. With a larger value motions that end close to a dead point are refused; with a smaller one
/// dead points take longer to be reported.
const MIN_PIECE: f64 = 1e-9;

/// Norm of the pseudoinverse of the loop equations above which a motion that cannot be continued is at a dead
/// point. With a larger value dead points of short motions are reported as loops that do not close; with a
/// smaller one rounded axes and points are reported as dead points.
const MIN_DEAD_NORM: f64 = 300.0;

/// Maximum number of pieces of a motion. With a larger value motions with tiny deviations fill the memory;
/// with a smaller one long motions are refused.
pub(super) const MAX_PIECES: usize = 1_000_000;

/// Limits of the pieces of a motion.
pub(super) struct Limits<'a> {
    /// Maximum deviation (mm) of the points of all balls from the exact motion; infinite for none.
    pub deviation: f64,
    pub balls: &'a [LinkBall],
    /// Maximum number of pieces.
    pub pieces: usize,
}

/// Values of all joints at the ends of pieces.
pub(super) struct Followed {
    /// Ends of the pieces, as parts of the motion from 0 (excluded) to 1.
    pub parts: Vec<f64>,
    /// Values of all joints at these ends.
    pub values: Vec<Vec<f64>>,
    /// Upper bound (mm) of the deviation of the points of all balls.
    pub deviation: f64,
}

/// Properties of a piece.
enum Piece {
    /// The solutions are not proven to be one branch. The value is the contraction factor; infinite if the
    /// unknowns are not determined.
    Long(f64),
    Bounded {
        contraction: f64,
        deviation: f64,
    },
}

impl Equations<'_> {
    /// Follows the solution `from` while the driven joints move linearly to their values in `to`. `progress`
    /// states the moment for messages.
    pub(super) fn follow(
        &self,
        from: &[f64],
        to: &[f64],
        limits: &Limits<'_>,
        progress: &Progress,
    ) -> Result<Followed, MechanismError> {
        let mut out = Followed { parts: vec![], values: vec![], deviation: 0.0 };
        let mut now = from.to_vec();
        let (mut part, mut step) = (0.0, 1.0_f64);
        while part < 1.0 {
            // A last piece that is much shorter than its neighbour gains nothing.
            let left = 1.0 - part;
            let length = if step >= left { left } else { step.min(0.5 * left).max(step * 0.5) };
            let end = if length >= left { 1.0 } else { part + length };
            let next = self.predict(&now, from, to, [part, end]).and_then(|guess| self.correct(&guess));
            let piece = next.as_ref().map(|next| self.piece(&now, next, limits));
            let factor = match (piece, next) {
                (Some(Piece::Bounded { contraction, deviation }), Some(next))
                    if deviation <= limits.deviation =>
                {
                    if out.parts.len() >= limits.pieces {
                        return Err(MechanismError::Motion(format!(
                            "the motion of the loops needs more than {MAX_PIECES} pieces to deviate by at \
                             most {:.3e} mm; give a larger `deviation`, or a shorter motion",
                            limits.deviation
                        )));
                    }
                    out.deviation = out.deviation.max(deviation);
                    out.parts.push(end);
                    out.values.push(next.clone());
                    (now, part) = (next, end);
                    let by_deviation = (limits.deviation / deviation.max(f64::MIN_POSITIVE)).sqrt();
                    (0.9 * by_deviation.min(MAX_CONTRACTION / contraction.max(1e-9))).clamp(0.5, 4.0)
                }
                (Some(Piece::Bounded { deviation, .. }), _) => {
                    (0.9 * (limits.deviation / deviation).sqrt()).clamp(0.05, 0.9)
                }
                (Some(Piece::Long(contraction)), _) => (0.9 * MAX_CONTRACTION / contraction).clamp(0.2, 0.9),
                (None, _) => 0.3,
            };
            step = length * factor;
            if (step.is_nan() || step < MIN_PIECE) && part < 1.0 {
                return Err(self.failure(&now, part, progress));
            }
        }
        Ok(out)
    }

    /// Error for a motion that cannot be continued from the solution `now` at the part `part`: a dead point,
    /// or contradictory equations if the unknowns are well determined.
    fn failure(&self, now: &[f64], part: f64, progress: &Progress) -> MechanismError {
        let inverse = Decomposition::new(self.jacobian(&self.sensitivities(&self.position(now))));
        let norm = inverse.and_then(|d| d.inverse_norm()).unwrap_or(f64::INFINITY);
        if norm < MIN_DEAD_NORM {
            progress.open(self, now, part)
        } else {
            progress.dead_point(self, now, part)
        }
    }

    /// Values at the part `parts[1]` of a motion on the tangent of the solution `now` at the part
    /// `parts[0]`. `None` if the unknowns are not determined.
    fn predict(&self, now: &[f64], from: &[f64], to: &[f64], parts: [f64; 2]) -> Option<Vec<f64>> {
        let mut values: Vec<f64> = from
            .iter()
            .zip(to)
            .map(|(a, b)| if parts[1] < 1.0 { a + parts[1] * (b - a) } else { *b })
            .collect();
        for unknown in &self.unknowns {
            values[unknown.joint] = now[unknown.joint];
        }
        let values = self.mechanism.all_values(&values);
        if self.unknowns.is_empty() {
            return Some(values);
        }
        let at = self.position(now);
        let sensitivities = self.sensitivities(&at);
        let driven = DVector::from_iterator(now.len(), values.iter().zip(now).map(|(b, a)| b - a));
        let inverse = Decomposition::new(self.jacobian(&sensitivities))?;
        inverse.inverse_norm()?;
        Some(self.moved(&values, &-inverse.solve(&(sensitivities * driven))))
    }

    /// Bounds a piece between two solutions in which all joints move linearly.
    fn piece(&self, from: &[f64], to: &[f64], limits: &Limits<'_>) -> Piece {
        let increments: Vec<f64> = from.iter().zip(to).map(|(a, b)| b - a).collect();
        let middle: Vec<f64> = from.iter().zip(to).map(|(a, b)| 0.5 * (a + b)).collect();
        if self.unknowns.is_empty() {
            return Piece::Bounded { contraction: 0.0, deviation: 0.0 };
        }
        let turn = self.turn(&increments);
        if turn > MAX_TURN {
            return Piece::Long(MAX_CONTRACTION * turn / MAX_TURN);
        }
        let at = self.position(&middle);
        let inverse = Decomposition::new(self.jacobian(&self.sensitivities(&at)));
        let Some((inverse, norm)) = inverse.and_then(|d| d.inverse_norm().map(|n| (d, n))) else {
            return Piece::Long(f64::INFINITY);
        };
        let lead = inverse.solve(&self.acceleration(&at, &increments)) * 0.125;
        let third = self.third_bound(&at, &increments) / 16.0;
        #[expect(clippy::cast_precision_loss, reason = "a small count")]
        let rows = (6 * self.mechanism.closures.len()) as f64;
        let ends = self.error(from).max(self.error(to)) * rows.sqrt();
        let base = lead.norm() + norm * (third + ends);
        // The exact solution is within this radius of the piece, if the contraction factor is as demanded.
        let radius = base / (1.0 - MAX_CONTRACTION);
        let mut ranges: Vec<f64> = increments.iter().map(|x| 0.5 * x.abs()).collect();
        for (k, factor) in self.unknowns.iter().flat_map(|u| &u.moved) {
            ranges[*k] += radius * factor.abs();
        }
        let turns = limits.balls.iter().map(|ball| self.link_turn(ball.link, &ranges));
        let turn = turns.fold(self.turn(&ranges), f64::max);
        if turn > MAX_TURN {
            return Piece::Long(MAX_CONTRACTION * turn / MAX_TURN);
        }
        let contraction = norm * self.jacobian_change(&at, &ranges);
        if contraction > MAX_CONTRACTION {
            return Piece::Long(contraction);
        }
        let rest = (norm * (third + ends) + contraction * lead.norm()) / (1.0 - contraction);
        let bound = |ball: &LinkBall| self.displacement(&at, &ranges, ball, (&lead, rest));
        let deviation = limits.balls.iter().map(bound).fold(0.0, f64::max);
        Piece::Bounded { contraction, deviation }
    }
}
