//! Images of trims: the trims of one face of a conformal set, mapped to the parameters of the other face.
//!
//! For two planes, coaxial cylinders or coaxial cones, the map from the parameters of a point of one face
//! to those of the nearest point of the other face is affine. The image of a Bézier piece of a trim is
//! therefore the piece with the mapped control points. Boxes of parts of the image exclude crossings with
//! the trims of the other face.

use super::{FamilySet, MAX_BESIDE_TRIM};
use crate::body::side::Which;
use crate::footpoint::trim::InDomain;
use arrayvec::ArrayVec;
use feeler_geom::skeleton::Critical;
use feeler_geom::trim::{MAX_CROSSINGS, TrimCells, TrimPiece};
use feeler_geom::{P2, Rect, Surface, V2, math};
use feeler_hierarchy::{Face, Feature};

/// Linear part of the map from the parameters of one face to those of the nearest points of the other
/// face: the images of unit steps in u and in v.
#[derive(Clone, Copy, Debug)]
pub(super) struct Linear {
    along_u: V2,
    along_v: V2,
}

impl Linear {
    /// Computes the map from the images of the parameters `start` of a point of a trim and of two points
    /// at unit steps from it. The surfaces continue beyond the trims, and a unit is less than half of any
    /// period. `None` if one of the points has no image.
    pub(super) fn at(set: &FamilySet<'_>, faces: &Faces<'_>, start: P2) -> Option<Self> {
        let origin = faces.image(set, start)?;
        let along = |step: V2| {
            let image = faces.image(set, start + step)?;
            Some(faces.unwrapped(image, origin) - origin)
        };
        Some(Self { along_u: along(V2::x())?, along_v: along(V2::y())? })
    }
}

/// The face whose trims are followed, and the other face of a conformal set.
#[derive(Clone, Copy)]
pub(super) struct Faces<'a> {
    /// Body that contains the face `from`.
    pub(super) own: Which,
    /// Face whose trims are followed.
    pub(super) from: &'a Face,
    /// The other face of the set, on the other body.
    to: &'a Face,
    /// Largest deviation (mm) of the trims of the face `to` from their edges.
    deviation: f64,
}

impl<'a> Faces<'a> {
    pub(super) fn of(set: &FamilySet<'a>, own: Which) -> Option<Self> {
        let ctx = set.ctx;
        let (Feature::Face(a), Feature::Face(b)) = (set.feature_a, set.feature_b) else { return None };
        let ((from, to), (other, feature)) = match own {
            Which::A => ((ctx.a.face(a), ctx.b.face(b)), (Which::B, set.feature_b)),
            Which::B => ((ctx.b.face(b), ctx.a.face(a)), (Which::A, set.feature_a)),
        };
        Some(Self { own, from, to, deviation: ctx.body(other).data(feature).deviation })
    }

    /// Returns the pair of the point at parameters `uv` of the face `from` and the nearest point of the
    /// other face's surface, in the frame of A. `None` on the focal set of that surface.
    fn facing(&self, set: &FamilySet<'_>, uv: P2) -> Option<Critical> {
        set.facing(self.own, &set.ctx.in_a(self.own, &self.from.surface.point(uv)))
    }

    /// Returns the parameters of a pair's footpoint on the other face.
    fn on_other(&self, set: &FamilySet<'_>, pair: &Critical) -> P2 {
        let foot = if self.own == Which::B { pair.p_a } else { set.ctx.pose_ba * pair.p_b };
        self.to.surface.invert(&foot, None, None)
    }

    /// Returns the parameters of the point of the other face's surface that is nearest to the point at
    /// parameters `uv` of the face `from`. `None` on the focal set of that surface.
    fn image(&self, set: &FamilySet<'_>, uv: P2) -> Option<P2> {
        Some(self.on_other(set, &self.facing(set, uv)?))
    }

    /// Shifts parameters of the other face by whole periods, so that they differ from `near` by at most
    /// half a period.
    fn unwrapped(&self, uv: P2, near: P2) -> P2 {
        let along = |x: f64, near: f64, p: Option<f64>| p.map_or(x, |p| math::unwrap_near(x, near, p));
        let trim = &self.to.trim;
        P2::new(along(uv.x, near.x, trim.u_period), along(uv.y, near.y, trim.v_period))
    }
}

/// Image of a piece of a trim of one face in the parameters of the other face, if the map between their
/// parameters is affine: for two planes, coaxial cylinders and coaxial cones.
pub(super) struct Image<'a> {
    /// One piece of the first face's trim, in the parameters of the other face.
    piece: TrimPiece,
    /// Trims of the other face.
    trim: &'a TrimCells,
    /// Distances in u and v from the image within which a trim of the other face may end the set.
    pad: V2,
    /// Location of all points of the image in the domain of the other face, if the image runs along the
    /// trims of that face.
    pub(super) border: Option<InDomain>,
    /// Parameters of the piece (0 to 1, ascending) at which the image crosses trims of the other face;
    /// some crossings may be missing.
    crossings: ArrayVec<f64, MAX_CROSSINGS>,
}

/// Parameters of a piece of a trim (0 to 1) at which points of the affine image are compared with the
/// exact images of the points of the trim.
const COMPARED_PARAMETERS: [f64; 2] = [0.29, 0.63];

impl<'a> Image<'a> {
    /// Computes the image of a piece of a trim; `None` if the map between the parameters of both faces is
    /// not affine along the piece.
    pub(super) fn of(
        set: &FamilySet<'a>,
        faces: &Faces<'a>,
        linear: &Linear,
        piece: &TrimPiece,
    ) -> Option<Self> {
        let [start, end] = [piece.start(), piece.end()];
        let pair = faces.facing(set, start)?;
        let origin = faces.on_other(set, &pair);
        let affine = |uv: P2| origin + linear.along_u * (uv.x - start.x) + linear.along_v * (uv.y - start.y);
        let derivs = faces.to.surface.derivs(origin);
        let scale = V2::new(derivs.du.norm(), derivs.dv.norm());
        let tol = &set.ctx.tol;
        let deviation_at = |uv: P2, scale: &V2| {
            let mapped = affine(uv);
            let off = faces.image(set, uv).map(|image| faces.unwrapped(image, mapped) - mapped);
            off.map_or(f64::INFINITY, |off| off.component_mul(scale).norm())
        };
        let deviation = deviation_at(end, &scale);
        let beside = faces.deviation + MAX_BESIDE_TRIM * tol.trim + set.ctx.beside(pair.distance);
        let pad = V2::new(beside / scale.x, beside / scale.y);
        if !(deviation <= tol.same && pad.iter().all(|x| x.is_finite())) {
            return None;
        }
        let (image, trim) = (piece.mapped(affine), &faces.to.trim);
        // On these surfaces, the length of a unit step along a piece is at most that at one of its ends.
        let scale = match faces.to.surface {
            Surface::Plane { .. } | Surface::Cylinder { .. } => Some(scale),
            Surface::Cone { .. } => {
                let at_end = faces.to.surface.derivs(image.end());
                Some(scale.sup(&V2::new(at_end.du.norm(), at_end.dv.norm())))
            }
            _ => None,
        };
        let border = scale.and_then(|scale| {
            let along = trim.along_boundary(&image, scale, tol.trim - deviation)?;
            // Between the ends of a trim, the deviation of the map may be larger; for planes the map is
            // affine.
            let is_flat = matches!(faces.to.surface, Surface::Plane { .. });
            let between =
                COMPARED_PARAMETERS.iter().filter(|_| !is_flat).map(|t| deviation_at(piece.eval(*t), &scale));
            let is_on = along.beyond + between.fold(deviation, f64::max) <= tol.trim;
            is_on.then_some(InDomain { slack: along.deviation, border: true })
        });
        Some(Self { piece: image, trim, pad, border, crossings: ArrayVec::new() })
    }

    /// Returns the rectangle around a part of the image, widened by `pad`.
    fn padded(&self, part: &TrimPiece) -> Rect {
        let (rect, x, y) = (part.bounds(), self.pad.x, self.pad.y);
        Rect { u0: rect.u0 - x, u1: rect.u1 + x, v0: rect.v0 - y, v1: rect.v1 + y }
    }

    /// Returns whether the whole image of the trim is outside the domain of the other face.
    pub(super) fn is_outside(&self) -> bool {
        !self.trim.may_touch(&self.padded(&self.piece))
    }

    /// Searches for crossings of the image with the trims of the other face, and stores them.
    pub(super) fn find_crossings(&mut self) {
        if self.border.is_none() {
            self.crossings = self.trim.some_crossings(&self.piece);
        }
    }

    /// Returns the parameter of the first stored crossing with a trim of the other face after the
    /// parameter `s`; `None` if none exists.
    pub(super) fn crossing_beyond(&self, s: f64) -> Option<f64> {
        self.crossings.iter().copied().find(|crossing| *crossing > s)
    }

    /// Returns whether no trim of the other face comes within `pad` of the part of the image between two
    /// parameters.
    pub(super) fn is_free(&self, from: f64, to: f64) -> bool {
        !self.trim.has_boundary_beside(&self.piece.part(from, to), self.pad)
    }
}
