//! How solids move over time: screw motions, one after the other or several at once.
//!
//! A piece of a path is a product of exponentials: `exp(ξ₁ t) exp(ξ₂ t) … pose`, each twist in the
//! coordinates of the world at the piece's start. One twist is a screw motion; several are the joints of a
//! chain that move together, the one nearest to the ground first.

use crate::body::coordinates::length;
use feeler_geom::{Pose, Twist, V3};
use nalgebra::Translation3;

/// A piece of a [`Path`].
#[derive(Clone, Debug, PartialEq)]
pub struct PathPiece {
    /// Where the solid is at the start of the piece.
    pub pose: Pose,
    /// Velocities per unit of time of the joints that move it, in world coordinates at the start of the
    /// piece, the one nearest to the ground first.
    pub twists: Vec<Twist>,
    /// How long it lasts, > 0.
    pub duration: f64,
}

/// The motion of a solid, from time 0 on. After its end the solid stands still.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    pieces: Vec<PathPiece>,
    /// When each piece begins, and when the last one ends.
    times: Vec<f64>,
    end: Pose,
    /// Largest coordinates (mm) that [`Path::starting`] has rounded.
    rounded: f64,
}

/// Why a path is none.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum PathError {
    /// No poses.
    #[error("a path needs at least one pose")]
    Empty,
    /// Times and poses, different in number.
    #[error("a path has {times} times and {poses} poses; give one time for each pose")]
    Counts {
        /// Number of times.
        times: usize,
        /// Number of poses.
        poses: usize,
    },
    /// Times that do not increase, or are not finite.
    #[error(
        "the times of a path must be finite and increase from one pose to the next; that of pose {0} does not"
    )]
    Times(usize),
    /// Poses, velocities or durations that are not finite.
    #[error("piece {0} of the path has a number that is not finite, or no duration above 0")]
    Piece(usize),
}

impl Path {
    /// A solid that stands still.
    #[must_use]
    pub fn still(pose: Pose) -> Self {
        Self { pieces: vec![], times: vec![0.0], end: pose, rounded: 0.0 }
    }

    /// A screw motion: the field `twist`, in world coordinates, for some time from `pose` on.
    ///
    /// # Errors
    /// [`PathError::Piece`] for numbers that are not finite and durations of 0 or less.
    pub fn screw(pose: Pose, twist: Twist, duration: f64) -> Result<Self, PathError> {
        Self::of_pieces(vec![PathPiece { pose, twists: vec![twist], duration }])
    }

    /// From pose to pose by screw motions, each the one with the shortest rotation. The path begins with the
    /// first pose at time 0, whatever its time; a single pose stands still.
    ///
    /// # Errors
    /// [`PathError`] where times do not increase, where there are more of one than of the other, and for
    /// numbers that are not finite.
    pub fn through(times: &[f64], poses: &[Pose]) -> Result<Self, PathError> {
        if times.len() != poses.len() {
            return Err(PathError::Counts { times: times.len(), poses: poses.len() });
        }
        let Some(last) = poses.last() else { return Err(PathError::Empty) };
        if let Some(i) = times.windows(2).position(|w| !(w[1] - w[0] > 0.0 && w[1].is_finite())) {
            return Err(PathError::Times(i + 1));
        }
        let piece = |(t, p): (&[f64], &[Pose])| {
            let duration = t[1] - t[0];
            let whole = Twist::log(&(p[1] * p[0].inverse()));
            PathPiece { pose: p[0], twists: vec![whole.times(1.0 / duration)], duration }
        };
        let path = Self::of_pieces(times.windows(2).zip(poses.windows(2)).map(piece).collect())?;
        Ok(Self { end: *last, ..path })
    }

    /// Pieces one after the other.
    ///
    /// # Errors
    /// [`PathError::Piece`] for numbers that are not finite and durations of 0 or less.
    pub fn of_pieces(pieces: Vec<PathPiece>) -> Result<Self, PathError> {
        let is_sound = |p: &PathPiece| {
            let finite = |t: &Twist| t.v.iter().chain(t.w.iter()).all(|x| x.is_finite());
            p.duration > 0.0
                && p.duration.is_finite()
                && crate::body::coordinates::is_finite(&p.pose)
                && p.twists.iter().all(finite)
        };
        if let Some(i) = pieces.iter().position(|p| !is_sound(p)) {
            return Err(PathError::Piece(i));
        }
        let Some(last) = pieces.last() else { return Err(PathError::Empty) };
        let end = placed(last, last.duration).0;
        let mut times = vec![0.0];
        let mut time = 0.0;
        times.extend(pieces.iter().map(|p| {
            time += p.duration;
            time
        }));
        Ok(Self { pieces, times, end, rounded: 0.0 })
    }

    /// The same motion of something that is `own` in the frame of what moves.
    #[must_use]
    pub fn starting(&self, own: &Pose) -> Self {
        let pieces = self.pieces.iter().map(|p| PathPiece { pose: p.pose * own, ..p.clone() }).collect();
        let far = |pose: &Pose| length(&pose.translation.vector);
        let rounded = match *own == Pose::identity() {
            true => self.rounded,
            false => {
                self.pieces.iter().map(|p| far(&p.pose)).fold(self.rounded.max(far(&self.end)), f64::max)
            }
        };
        Self { pieces, times: self.times.clone(), end: self.end * own, rounded }
    }

    /// The same motion in coordinates whose origin is at `origin`.
    pub(crate) fn seen_from(&self, origin: &V3) -> Self {
        let back = Translation3::from(-origin);
        let piece = |p: &PathPiece| PathPiece {
            pose: back * p.pose,
            twists: p.twists.iter().map(|t| t.moved(&back.into())).collect(),
            duration: p.duration,
        };
        let pieces = self.pieces.iter().map(piece).collect();
        Self { pieces, times: self.times.clone(), end: back * self.end, rounded: self.rounded }
    }

    /// Bound of the coordinates (mm) that its poses are computed with, for a solid whose points are up to
    /// `extent` (mm) from its origin: those of the poses, and the lengths of the ways in between.
    pub(crate) fn coordinates(&self, extent: f64) -> f64 {
        let of_piece = |p: &PathPiece| {
            let reach = length(&p.pose.translation.vector) + extent;
            let speed: f64 = p.twists.iter().map(|t| length(&t.v) + length(&t.w) * reach).sum();
            reach + speed * p.duration
        };
        let end = length(&self.end.translation.vector) + extent;
        self.pieces.iter().map(of_piece).fold(end, f64::max)
    }

    /// Bound of the coordinates (mm) that [`Path::starting`] has rounded and [`Path::seen_from`] rounds.
    pub(crate) fn rounded_from(&self, origin: &V3) -> f64 {
        let turn = |p: &PathPiece| p.twists.iter().map(|t| length(&t.w)).sum::<f64>() * p.duration;
        self.rounded + length(origin) * self.pieces.iter().map(turn).fold(0.0, f64::max)
    }

    /// When it ends; 0 of a solid that stands still.
    #[must_use]
    pub fn duration(&self) -> f64 {
        self.times.last().copied().unwrap_or(0.0)
    }

    /// Where the solid is at a time, before 0 where it is at 0.
    #[must_use]
    pub fn pose(&self, time: f64) -> Pose {
        self.state(time).pose
    }

    /// Where it is at a time and how it moves from there on.
    pub(crate) fn state(&self, time: f64) -> State {
        // The last piece that begins at this time or before.
        let i = self.times.partition_point(|t| *t <= time).saturating_sub(1);
        match self.pieces.get(i) {
            Some(piece) => {
                let (pose, twists) = placed(piece, (time - self.times[i]).max(0.0));
                State { pose, twists, until: self.times[i + 1] }
            }
            None => State { pose: self.end, twists: vec![], until: f64::INFINITY },
        }
    }
}

/// Where a solid is and how it moves: see [`PathPiece`].
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub pose: Pose,
    /// In world coordinates, now.
    pub twists: Vec<Twist>,
    /// When the piece ends.
    pub until: f64,
}

/// The solid some time after the start of a piece, and its twists then.
fn placed(piece: &PathPiece, time: f64) -> (Pose, Vec<Twist>) {
    let mut before = Pose::identity();
    let twists = piece.twists.iter().map(|twist| {
        let now = twist.moved(&before);
        before *= twist.times(time).exp();
        now
    });
    let twists = twists.collect();
    (before * piece.pose, twists)
}
