//! Pieces of the trims of two planes that can hold load-bearing samples of their common area.
//!
//! Load-bearing samples are the farthest ones in each of a few directions, the lowest one and, for the set of
//! a step, corners of the convex hull of all samples. The lowest and the highest one show whether all samples
//! belong to one set. In each direction the piece whose control points extend farthest is followed first,
//! until no piece extends beyond the samples found so far, so that most pieces of a face with many holes or a
//! finely divided outline are skipped.
//!
//! The corners are found as by Quickhull (Barber, Dobkin, Huhdanpaa 1996): the polygon of the samples that
//! are farthest in the given directions is refined. The piece that extends farthest outside a side is
//! followed; if no piece does, the side is replaced by two at the sample farthest outside it; if no sample
//! is, it is a side of the hull.
//!
//! # Guarantees
//! No sample of a piece that is not followed is outside the convex hull of the samples by more than about the
//! requested distance and, for a piece that the other face cuts off, the distance at which samples still
//! count as on that face, unless the maximum number of sides is reached.
//!
//! # Source
//! MATH §9, §23.

use super::image::Faces;
use super::outermost::{NUM_FLAT_DIRECTIONS, flat_directions, upward};
use super::{FamilySet, MAX_BESIDE_TRIM, MAX_DISTANCE_SPREAD, Sample};
use crate::body::side::Which;
use arrayvec::ArrayVec;
use feeler_geom::V3;
use feeler_geom::skeleton::Primitive;

/// Number of directions that are always searched: those of [`flat_directions`], and the two in which the gap
/// between the planes falls and rises.
const NUM_DIRECTIONS: usize = NUM_FLAT_DIRECTIONS + 2;
/// Change of the gap between the planes over the extent of the features, in tolerances, below which all
/// samples count as equally low. A larger value can miss the lowest sample; a smaller one follows pieces
/// because of rounding.
const MIN_SLOPE: f64 = 1e-3;
/// Maximum number of sides of the polygon that are replaced by two. A larger value allows more work for large
/// rotations of finely divided outlines; with a smaller one, corners of large areas are missed.
const MAX_SPLITS: usize = 1024;

/// Selection of the pieces of the trims of two planes, and scratch buffers.
#[derive(Debug, Default)]
pub(super) struct Outline {
    /// Pieces of the trims of A's face, then those of B's face.
    pieces: Vec<PieceExtent>,
    /// Unit vectors, or zero if the direction is not used.
    directions: [V3; NUM_DIRECTIONS],
    /// Index in `directions` of the one in which pieces are searched for; [`NUM_DIRECTIONS`] while sides of
    /// the polygon are refined.
    direction: usize,
    /// Whether the extents of `pieces` are those in this direction.
    is_measured: bool,
    /// Sides of the polygon that are not known to be sides of the hull: the positions of their ends among the
    /// samples found so far.
    sides: Vec<[usize; 2]>,
    /// Number of sides that were replaced by two.
    splits: usize,
    /// Unit normal of the plane, about which the polygon runs anticlockwise.
    normal: V3,
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
    /// Distance (mm) by which a cut piece can have samples outside the other face.
    beside: f64,
    /// Smallest distance (mm) of a sample for which the set is not pressed, and largest difference (mm) of
    /// the distances of the samples of one set.
    distances: [f64; 2],
    /// Largest distance (mm) of a sample outside the polygon of those found; infinite if corners between the
    /// directions are not requested.
    max_loss: f64,
}

/// A piece of a trim, with an upper bound of the coordinates of its samples in the current direction.
#[derive(Clone, Copy, Debug)]
struct PieceExtent {
    which: Which,
    /// Index among the pieces of the face.
    piece: usize,
    /// Control points (mm) of the piece on its face, in A's frame.
    control: [V3; 4],
    /// Upper bound (mm) of the coordinates of the piece's samples. It is the largest coordinate of the
    /// piece's control points or, if `is_cut`, that of the control points of all trims of the other face.
    /// Samples beside the other face exceed the latter by at most the distance at which they still count as
    /// on that face.
    extent: f64,
    /// Whether `extent` is the bound of the other face.
    is_cut: bool,
    is_followed: bool,
}

impl PieceExtent {
    /// Whether a sample of the piece may have a coordinate above `reached` (mm), up to `slack` (mm). A piece
    /// that the other face cuts off has no sample beyond those on the border of that face.
    fn extends_beyond(&self, reached: f64, slack: f64) -> bool {
        self.extent > reached + if self.is_cut { slack } else { -slack }
    }
}

impl Outline {
    /// Starts the selection for the pieces of both faces of a set. `max_loss` (mm) is the largest distance of
    /// a sample from the convex hull of the samples of the selected pieces; infinite for those in a few
    /// directions only. Returns `false` if the faces are not planes.
    pub(super) fn start(&mut self, set: &FamilySet<'_>, faces: [&Faces<'_>; 2], max_loss: f64) -> bool {
        let (Primitive::Plane { normal: a, .. }, Primitive::Plane { normal: b, .. }) = (&set.a, &set.b)
        else {
            return false;
        };
        let tol = &set.ctx.tol;
        self.directions = [V3::zeros(); NUM_DIRECTIONS];
        let (flat, along_slope) = self.directions.split_at_mut(NUM_FLAT_DIRECTIONS);
        self.normal = upward(a);
        flat.copy_from_slice(&flat_directions(&self.normal));
        // Gradient of the distance from B's plane along A's plane.
        let slope = b - a * b.dot(a);
        if slope.norm() * set.extent > MIN_SLOPE * tol.tol {
            let rising = slope.normalize();
            along_slope.copy_from_slice(&[rising, -rising]);
        }
        self.pieces.clear();
        for faces in faces {
            for (piece, trim) in faces.from.trim.pieces.iter().enumerate() {
                let control =
                    trim.control.map(|uv| set.ctx.in_a(faces.own, &faces.from.surface.point(uv)).coords);
                let (which, extent, is_cut, is_followed) = (faces.own, 0.0, false, false);
                self.pieces.push(PieceExtent { which, piece, control, extent, is_cut, is_followed });
            }
        }
        (self.direction, self.is_measured, self.current, self.takes_all) = (0, false, None, false);
        self.sides.clear();
        self.splits = 0;
        // Samples are on both faces, up to the distance at which footpoints still count as on them. For
        // pressed samples it is larger, but then all pieces are followed.
        self.beside = MAX_BESIDE_TRIM * tol.trim + set.ctx.a.deviation() + set.ctx.b.deviation();
        (self.slack, self.distances) = (tol.same, [tol.min_distance(), MAX_DISTANCE_SPREAD * tol.tol]);
        self.max_loss = max_loss.max(tol.same);
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
            let [least, spread] = self.distances;
            let distances = || samples.iter().map(|sample| sample.pair.distance);
            let (low, high) =
                (distances().fold(f64::INFINITY, f64::min), distances().fold(f64::NEG_INFINITY, f64::max));
            self.takes_all |= low < least || high - low > spread;
        }
        let at = if self.takes_all {
            self.pieces.iter().position(|piece| !piece.is_followed)
        } else {
            self.farthest(samples).or_else(|| self.outside_polygon(samples))
        }?;
        let piece = &mut self.pieces[at];
        piece.is_followed = true;
        self.current = Some((at, samples.len()));
        Some((piece.which, piece.piece))
    }

    /// Returns the position of the piece that extends farthest in the first of `directions` in which a piece
    /// extends beyond the samples found so far. After the last direction the polygon of the farthest samples
    /// is stored in `sides`, if corners between the directions are requested.
    fn farthest(&mut self, samples: &[Sample]) -> Option<usize> {
        while self.direction < NUM_DIRECTIONS {
            let direction = self.directions[self.direction];
            if direction != V3::zeros() {
                if !std::mem::replace(&mut self.is_measured, true) {
                    self.measure(&direction);
                }
                let reached = samples.iter().map(|sample| direction.dot(&sample.pair.p_a.coords));
                let at = self.farthest_beyond(reached.fold(f64::NEG_INFINITY, f64::max), self.slack);
                if at.is_some() {
                    return at;
                }
            }
            (self.direction, self.is_measured) = (self.direction + 1, false);
            if self.direction == NUM_DIRECTIONS && self.max_loss.is_finite() {
                self.start_polygon(samples);
            }
        }
        None
    }

    /// Stores in `sides` the polygon of the samples that are farthest in the directions at equal angles.
    fn start_polygon(&mut self, samples: &[Sample]) {
        let farthest = |direction: &V3| {
            let along = |i: &usize| direction.dot(&samples[*i].pair.p_a.coords);
            (0..samples.len()).max_by(|i, j| along(i).total_cmp(&along(j)))
        };
        let corners = self.directions[..NUM_FLAT_DIRECTIONS].iter().filter_map(farthest);
        let corners: ArrayVec<usize, NUM_FLAT_DIRECTIONS> = corners.collect();
        let next = |k: usize| corners[(k + 1) % corners.len()];
        self.sides.extend((0..corners.len()).map(|k| [corners[k], next(k)]).filter(|[from, to]| from != to));
    }

    /// Returns the position of the piece that extends farthest outside a side of the polygon by more than the
    /// largest loss, beyond all samples found so far. A side with samples outside is replaced by two at the
    /// farthest one only once no piece extends beyond it: a sample of a notch would become a corner inside
    /// the hull.
    fn outside_polygon(&mut self, samples: &[Sample]) -> Option<usize> {
        let place = |i: usize| samples[i].pair.p_a.coords;
        while let Some([from, to]) = self.sides.pop() {
            let (start, along) = (place(from), place(to) - place(from));
            if along.norm() <= self.slack {
                continue;
            }
            let outward = along.cross(&self.normal).normalize();
            let beyond = |i: &usize| outward.dot(&(place(*i) - start));
            let Some(corner) = (0..samples.len()).max_by(|i, j| beyond(i).total_cmp(&beyond(j))) else {
                break;
            };
            let reached = self.max_loss.max(beyond(&corner) + 2.0 * self.slack);
            self.measure(&outward);
            let at = self.farthest_beyond(outward.dot(&start) + reached, self.slack);
            if at.is_some() {
                self.sides.push([from, to]);
                return at;
            }
            let position = along.dot(&(place(corner) - start));
            let is_between = 0.0 < position && position < along.norm_squared();
            if beyond(&corner) > self.max_loss && is_between && self.splits < MAX_SPLITS {
                self.splits += 1;
                self.sides.extend([[from, corner], [corner, to]]);
            }
        }
        None
    }

    /// Computes the extents of all pieces in a direction (unit vector, frame of A).
    fn measure(&mut self, direction: &V3) {
        let mut of_faces = [f64::NEG_INFINITY; 2];
        for piece in &mut self.pieces {
            let along = piece.control.each_ref().map(|point| direction.dot(point));
            piece.extent = along.into_iter().fold(f64::NEG_INFINITY, f64::max);
            let of_face = &mut of_faces[piece.which as usize];
            *of_face = of_face.max(piece.extent);
        }
        for piece in &mut self.pieces {
            let of_other = of_faces[piece.which.other() as usize];
            piece.is_cut = of_other + self.beside < piece.extent;
            piece.extent = if piece.is_cut { of_other } else { piece.extent };
        }
    }

    /// Returns the position of the piece that extends farthest in the measured direction, if it extends
    /// beyond the coordinate `reached` (mm).
    fn farthest_beyond(&self, reached: f64, slack: f64) -> Option<usize> {
        let open = self.pieces.iter().enumerate().filter(|(_, piece)| !piece.is_followed);
        // Of equal pieces, one whose own points extend as far comes first.
        let order =
            |x: &PieceExtent, y: &PieceExtent| x.extent.total_cmp(&y.extent).then(y.is_cut.cmp(&x.is_cut));
        let (at, piece) = open.max_by(|(_, x), (_, y)| order(x, y))?;
        piece.extends_beyond(reached, slack).then_some(at)
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
