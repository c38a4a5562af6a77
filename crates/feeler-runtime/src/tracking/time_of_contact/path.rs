//! Motions of solids over time: successive screw motions, or several simultaneous ones.
//!
//! A piece of a path is a product of exponentials: `exp(ξ₁ t) exp(ξ₂ t) … pose`, each twist in world
//! coordinates at the start of the piece. One twist is a screw motion; several are the joints of a chain
//! that move together, the joint nearest to the ground first.

use crate::body::coordinates::length;
use feeler_geom::{Pose, Twist, V3};
use nalgebra::Translation3;

/// A piece of a [`Path`].
#[derive(Clone, Debug, PartialEq)]
pub struct PathPiece {
    /// World pose of the solid at the start of the piece.
    pub pose: Pose,
    /// Twists of the joints that move the solid, per unit of time and in world coordinates at the start
    /// of the piece, the joint nearest to the ground first.
    pub twists: Vec<Twist>,
    /// Duration of the piece, above 0. The unit of time is arbitrary, but the same for all paths.
    pub duration: f64,
}

/// Motion of a solid as a sequence of pieces from time 0 on. After the last piece, the solid is at rest.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    pieces: Vec<PathPiece>,
    /// Start time of each piece, and end time of the last piece.
    times: Vec<f64>,
    /// World pose of the solid after the last piece.
    end: Pose,
    /// Upper bound (mm) of the coordinates with which [`Path::starting`] has computed the poses of this
    /// path, and whose rounding it therefore contains; 0 if the path was not computed by it.
    rounded: f64,
}

/// Error of the construction of a [`Path`].
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum PathError {
    /// The path has no poses.
    #[error("a path needs at least one pose")]
    Empty,
    /// The numbers of times and poses differ.
    #[error("a path has {times} times and {poses} poses; give one time for each pose")]
    Counts {
        /// Number of given times.
        times: usize,
        /// Number of given poses.
        poses: usize,
    },
    /// The time of a pose is not finite, or does not exceed that of the previous pose. The value is the
    /// index of the pose.
    #[error(
        "the times of a path must be finite and increase from pose to pose; the time of pose {0} does not"
    )]
    Times(usize),
    /// A pose, twist or duration of a piece is not finite, or the duration is not above 0. The value is
    /// the index of the piece.
    #[error("piece {0} of the path is invalid; give finite poses and twists, and a finite duration above 0")]
    Piece(usize),
}

impl Path {
    /// Path of a solid at rest, with duration 0.
    #[must_use]
    pub fn still(pose: Pose) -> Self {
        Self { pieces: vec![], times: vec![0.0], end: pose, rounded: 0.0 }
    }

    /// Screw motion with the constant `twist` per unit of time, in world coordinates, from `pose` on.
    ///
    /// # Errors
    /// [`PathError::Piece`] if a number is not finite or the duration is not above 0.
    pub fn screw(pose: Pose, twist: Twist, duration: f64) -> Result<Self, PathError> {
        Self::of_pieces(vec![PathPiece { pose, twists: vec![twist], duration }])
    }

    /// Interpolates poses by screw motions, each with the smaller one of both rotation angles. The path
    /// starts with the first pose at time 0; only differences of times matter. A single pose gives a path
    /// at rest.
    ///
    /// # Errors
    /// [`PathError::Empty`] without poses; [`PathError::Counts`] if the numbers of times and poses
    /// differ; [`PathError::Times`] if times do not increase; [`PathError::Piece`] if a pose is not
    /// finite.
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

    /// Path of successive pieces. Poses of pieces are not required to be continuous.
    ///
    /// # Errors
    /// [`PathError::Empty`] without pieces; [`PathError::Piece`] if a number is not finite or a duration
    /// is not above 0.
    pub fn of_pieces(pieces: Vec<PathPiece>) -> Result<Self, PathError> {
        let is_valid = |p: &PathPiece| {
            let finite = |t: &Twist| t.v.iter().chain(t.w.iter()).all(|x| x.is_finite());
            p.duration > 0.0
                && p.duration.is_finite()
                && crate::body::coordinates::is_finite(&p.pose)
                && p.twists.iter().all(finite)
        };
        if let Some(i) = pieces.iter().position(|p| !is_valid(p)) {
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

    /// Path of another solid that is fixed to the solid of this path and has the pose `own` in the frame
    /// of that solid.
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

    /// Path of the same motion in world coordinates with the origin moved to `origin`.
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

    /// Upper bound of the coordinates (mm) that occur when the poses of this path are computed:
    /// coordinates of the poses plus lengths of the paths between them. The points of the solid are up to
    /// `extent` (mm) from its origin.
    pub(crate) fn coordinates(&self, extent: f64) -> f64 {
        let of_piece = |p: &PathPiece| {
            let reach = length(&p.pose.translation.vector) + extent;
            let speed: f64 = p.twists.iter().map(|t| length(&t.v) + length(&t.w) * reach).sum();
            reach + speed * p.duration
        };
        let end = length(&self.end.translation.vector) + extent;
        self.pieces.iter().map(of_piece).fold(end, f64::max)
    }

    /// Upper bound (mm) of the coordinates whose rounding the path contains after [`Path::starting`] and
    /// after [`Path::seen_from`] with the origin `origin`.
    pub(crate) fn rounded_from(&self, origin: &V3) -> f64 {
        let turn = |p: &PathPiece| p.twists.iter().map(|t| length(&t.w)).sum::<f64>() * p.duration;
        self.rounded + length(origin) * self.pieces.iter().map(turn).fold(0.0, f64::max)
    }

    /// Number of pieces; 0 for a solid at rest.
    #[must_use]
    pub fn num_pieces(&self) -> usize {
        self.pieces.len()
    }

    /// End time of the last piece; 0 for a solid at rest.
    #[must_use]
    pub fn duration(&self) -> f64 {
        self.times.last().copied().unwrap_or(0.0)
    }

    /// World pose of the solid at a time. Before time 0 it is the pose at 0, and after the end the last pose.
    #[must_use]
    pub fn pose(&self, time: f64) -> Pose {
        self.state(time).pose
    }

    /// World pose of the solid at a time, and the twists of the joints that move it then.
    pub(crate) fn state(&self, time: f64) -> State {
        // The last piece that starts at this time or earlier.
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

/// World pose of a solid at a time, and the twists of the joints that move it then.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub pose: Pose,
    /// Twists of the joints per unit of time, in world coordinates at this time; empty for a solid at rest.
    pub twists: Vec<Twist>,
    /// End time of the current piece of the path; infinite for a solid at rest.
    pub until: f64,
}

/// World pose of a solid at the time `time` after the start of a piece, and the twists of its joints in
/// world coordinates at that time.
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
