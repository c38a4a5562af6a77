//! Pieces of the trims of two planes that can hold load-bearing samples of their common area.
//!
//! Load-bearing samples are the farthest ones in each of a few directions, and the lowest one. The lowest and
//! the highest one show whether all samples belong to one set. A piece whose control points do not extend
//! beyond the samples found so far in any of these directions is skipped. In each direction the piece that
//! extends farthest is followed first, so that most pieces of a face with many holes or a finely divided
//! outline are skipped.
//!
//! # Source
//! MATH §9.

use super::image::Faces;
use super::outermost::{NUM_FLAT_DIRECTIONS, flat_directions};
use super::{FamilySet, MAX_BESIDE_TRIM, MAX_DISTANCE_SPREAD, Sample};
use crate::body::side::Which;
use feeler_geom::V3;
use feeler_geom::skeleton::Primitive;

/// Number of directions of an outline: those of [`flat_directions`], and the two in which the gap between
/// the planes falls and rises.
const NUM_DIRECTIONS: usize = NUM_FLAT_DIRECTIONS + 2;
/// Change of the gap between the planes over the extent of the features, in tolerances, below which all
/// samples count as equally low. A larger value can miss the lowest sample; a smaller one follows pieces
/// because of rounding.
const MIN_SLOPE: f64 = 1e-3;

/// Selection of the pieces of the trims of two planes, and scratch buffers.
#[derive(Debug, Default)]
pub(super) struct Outline {
    /// Pieces of the trims of A's face, then those of B's face.
    pieces: Vec<PieceExtent>,
    /// Unit vectors, or zero if the direction is not used.
    directions: [V3; NUM_DIRECTIONS],
    /// Extent (mm) of the samples found so far in each direction.
    reached: [f64; NUM_DIRECTIONS],
    /// Direction in which pieces are searched for.
    direction: usize,
    /// Position in `pieces` of the piece that is being followed, and the number of samples before it.
    current: Option<(usize, usize)>,
    /// For each followed piece: its position in `pieces` and the numbers of its first sample and of the
    /// first sample after it.
    followed: Vec<(usize, [usize; 2])>,
    /// Scratch buffer: samples in the order of `pieces`.
    sorted: Vec<Sample>,
    /// Whether all pieces are followed.
    takes_all: bool,
    /// Distance (mm) by which a piece may end before the samples found so far and is still followed, and by
    /// which a piece that is cut off by the other face must extend beyond them.
    slack: f64,
    /// Smallest distance (mm) of a sample for which the set is not pressed, and largest difference (mm) of
    /// the distances of the samples of one set.
    distances: [f64; 2],
    /// Smallest and largest distance (mm) of the samples found so far.
    range: [f64; 2],
}

/// A piece of a trim, with upper bounds of the coordinates of its samples in each direction.
#[derive(Clone, Copy, Debug)]
struct PieceExtent {
    which: Which,
    /// Index among the pieces of the face.
    piece: usize,
    /// Upper bound (mm) of the coordinates of the piece's samples in each direction, in A's frame. It is the
    /// largest coordinate of the piece's control points or, if `is_cut`, that of the control points of all
    /// trims of the other face. Samples beside the other face exceed the latter by at most the distance at
    /// which they still count as on that face.
    extent: [f64; NUM_DIRECTIONS],
    /// For each direction, whether `extent` is the bound of the other face.
    is_cut: [bool; NUM_DIRECTIONS],
    is_followed: bool,
}

impl PieceExtent {
    /// Whether a sample of the piece may have a coordinate above `reached` (mm) in the direction `k`, up to
    /// `slack` (mm). A piece that the other face cuts off has no sample beyond those on the border of that
    /// face.
    fn extends_beyond(&self, k: usize, reached: f64, slack: f64) -> bool {
        self.extent[k] > reached + if self.is_cut[k] { slack } else { -slack }
    }
}

impl Outline {
    /// Starts the selection for the pieces of both faces of a set. Returns `false` if the faces are not
    /// planes.
    pub(super) fn start(&mut self, set: &FamilySet<'_>, faces: [&Faces<'_>; 2]) -> bool {
        let (Primitive::Plane { normal: a, .. }, Primitive::Plane { normal: b, .. }) = (&set.a, &set.b)
        else {
            return false;
        };
        let tol = &set.ctx.tol;
        self.directions = [V3::zeros(); NUM_DIRECTIONS];
        let (flat, along_slope) = self.directions.split_at_mut(NUM_FLAT_DIRECTIONS);
        flat.copy_from_slice(&flat_directions(a));
        // Gradient of the distance from B's plane along A's plane.
        let slope = b - a * b.dot(a);
        if slope.norm() * set.extent > MIN_SLOPE * tol.tol {
            let rising = slope.normalize();
            along_slope.copy_from_slice(&[rising, -rising]);
        }
        self.pieces.clear();
        let mut of_faces = [[f64::NEG_INFINITY; NUM_DIRECTIONS]; 2];
        for (of_face, faces) in of_faces.iter_mut().zip(faces) {
            for (piece, trim) in faces.from.trim.pieces.iter().enumerate() {
                let corners =
                    trim.control.map(|uv| set.ctx.in_a(faces.own, &faces.from.surface.point(uv)).coords);
                let farthest = |d: V3| corners.iter().fold(f64::NEG_INFINITY, |e, c| e.max(d.dot(c)));
                let extent = self.directions.map(farthest);
                of_face.iter_mut().zip(extent).for_each(|(all, of_piece)| *all = all.max(of_piece));
                let is_cut = [false; NUM_DIRECTIONS];
                self.pieces.push(PieceExtent { which: faces.own, piece, extent, is_cut, is_followed: false });
            }
        }
        // Samples are on both faces, up to the distance at which footpoints still count as on them. For
        // pressed samples it is larger, but then all pieces are followed.
        let beside = MAX_BESIDE_TRIM * tol.trim + set.ctx.a.deviation() + set.ctx.b.deviation();
        for piece in &mut self.pieces {
            let other = of_faces[piece.which.other() as usize];
            for ((extent, is_cut), other) in piece.extent.iter_mut().zip(&mut piece.is_cut).zip(other) {
                *is_cut = other + beside < *extent;
                *extent = if *is_cut { other } else { *extent };
            }
        }
        (self.direction, self.current, self.takes_all) = (0, None, false);
        (self.slack, self.distances) = (tol.same, [tol.min_distance(), MAX_DISTANCE_SPREAD * tol.tol]);
        // No piece extends beyond infinity, so directions that are not used select none.
        self.reached =
            self.directions.map(|d| if d == V3::zeros() { f64::INFINITY } else { f64::NEG_INFINITY });
        self.range = [f64::INFINITY, f64::NEG_INFINITY];
        self.followed.clear();
        true
    }

    /// Returns the next piece to be followed: the body of its face, and its index among the pieces of that
    /// face. `None` if no further piece can hold a load-bearing sample. `samples` are the samples found so
    /// far, in the frame of A. All pieces are followed if samples are pressed, or if their distances differ
    /// by more than those of one set.
    pub(super) fn next_piece(&mut self, samples: &[Sample]) -> Option<(Which, usize)> {
        if let Some((at, first)) = self.current.take() {
            self.followed.push((at, [first, samples.len()]));
            self.add(&samples[first..]);
        }
        let at = self.farthest()?;
        let piece = &mut self.pieces[at];
        piece.is_followed = true;
        self.current = Some((at, samples.len()));
        Some((piece.which, piece.piece))
    }

    /// Adds samples to those found so far.
    fn add(&mut self, samples: &[Sample]) {
        for sample in samples {
            let (p, distance) = (&sample.pair.p_a.coords, sample.pair.distance);
            for (reached, direction) in self.reached.iter_mut().zip(&self.directions) {
                *reached = reached.max(direction.dot(p));
            }
            self.range = [self.range[0].min(distance), self.range[1].max(distance)];
        }
        let ([least, spread], [low, high]) = (self.distances, self.range);
        self.takes_all |= low < least || high - low > spread;
    }

    /// Returns the position of the piece that extends farthest in the first direction in which a piece
    /// extends beyond the samples found so far.
    fn farthest(&mut self) -> Option<usize> {
        if self.takes_all {
            return self.pieces.iter().position(|piece| !piece.is_followed);
        }
        while self.direction < NUM_DIRECTIONS {
            let k = self.direction;
            let open = self.pieces.iter().enumerate().filter(|(_, piece)| !piece.is_followed);
            // Of equal pieces, one whose own points extend as far comes first.
            let order = |x: &PieceExtent, y: &PieceExtent| {
                x.extent[k].total_cmp(&y.extent[k]).then(y.is_cut[k].cmp(&x.is_cut[k]))
            };
            let farthest = open.max_by(|(_, x), (_, y)| order(x, y));
            match farthest {
                Some((at, piece)) if piece.extends_beyond(k, self.reached[k], self.slack) => return Some(at),
                _ => self.direction += 1,
            }
        }
        None
    }

    /// Sorts the samples by the order of their pieces in both faces, because the first one of equally far
    /// samples is kept. `samples` contains the samples of the followed pieces.
    pub(super) fn sort(&mut self, samples: &mut [Sample]) {
        self.followed.sort_unstable_by_key(|(at, _)| *at);
        self.sorted.clear();
        self.sorted.extend(self.followed.iter().flat_map(|(_, [first, end])| &samples[*first..*end]));
        samples.copy_from_slice(&self.sorted);
    }
}
