//! Data shared by all steps of a query.

use crate::api::tolerance::Tolerances;
use crate::body::ids::AreaPair;
use crate::body::side::Which;
use crate::body::tree::Allowance;
use crate::body::{Body, Near};
use crate::cull::node_pair::CullContext;
use crate::profile::RevolvedFace;
use crate::profile::ring::Ring;
use feeler_geom::skeleton::Primitive;
use feeler_geom::{Obb, P3, Pose};
use feeler_hierarchy::{FaceId, Feature};
use std::cmp::Ordering;

/// Differences of free-form features from the canonical ones that they follow that a query ignores: of minima
/// of a face and another feature that only such differences separate, one is enough. Each is the largest sum
/// over both features.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waves {
    /// Deviation (mm).
    pub deviation: f64,
    /// Angle (rad) between normals or tangents.
    pub angle: f64,
    /// Difference of curvatures (1/mm).
    pub curvature: f64,
}

impl Waves {
    /// No difference is ignored.
    pub(crate) const NONE: Self = Self { deviation: -1.0, angle: -1.0, curvature: -1.0 };

    /// Whether the differences of two features, of which at least one follows a canonical one, are ignored.
    pub(crate) fn include(&self, a: Option<&Near>, b: Option<&Near>) -> bool {
        let sum = |of: fn(&Near) -> f64| a.map_or(0.0, of) + b.map_or(0.0, of);
        (a.is_some() || b.is_some())
            && sum(|n| n.deviation) <= self.deviation
            && sum(|n| n.angle) <= self.angle
            && sum(|n| n.curvature) <= self.curvature
    }
}

/// Bounds of the motion of B in the step of a simulator for which a query computes contacts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepBounds {
    /// Rotation (rad) of B relative to A.
    pub rotation: f64,
    /// Accepted error (mm) of the gap that a contact predicts for the end of the step.
    pub gap_error: f64,
}

/// Data shared by all steps of a query. Lengths are in mm and angles in rad; points and directions are
/// in the frame of A unless noted otherwise.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context<'a> {
    pub a: &'a Body,
    pub b: &'a Body,
    /// Maps coordinates of B to those of A.
    pub pose_ab: Pose,
    pub pose_ba: Pose,
    pub tol: Tolerances,
    pub d_max: f64,
    /// Smallest signed distance (mm) of a reported minimum; it is negative.
    pub least: f64,
    /// Largest depth (mm) of reported contacts of solids that interfere:
    /// [`QueryOptions::penetration`](crate::QueryOptions::penetration).
    pub penetration: f64,
    pub quasi_angle: f64,
    pub waves: Waves,
    /// The step of a simulator; `None` for other queries.
    pub step: Option<StepBounds>,
    /// Data of the culling tests of pairs of nodes and areas; `None` for brute force.
    pub cull: Option<CullContext>,
}

impl Context<'_> {
    /// Upper bound (mm) of the absolute distance between the footpoints of a reported minimum.
    pub(crate) fn reach(&self) -> f64 {
        self.d_max.max(-self.least)
    }

    /// Copy of the context for a pair of areas. Its `quasi_angle` is the angle (rad) by which the polars
    /// are dilated for features of the kinds to which these areas belong.
    pub(crate) fn of_areas(&self, (i, j): AreaPair) -> Self {
        let quasi_angle =
            self.cull.as_ref().map_or(self.quasi_angle, |cull| cull.dilation_of((self.a, i), (self.b, j)));
        Self { quasi_angle, ..*self }
    }

    /// Whether contacts of solids that interfere are reported that are deeper than those of touching solids,
    /// because [`Self::penetration`] is larger.
    pub(crate) fn presses(&self) -> bool {
        -self.penetration < self.tol.min_distance()
    }

    /// Largest distance (mm) beyond a concave edge at which a footpoint still counts as on its face, for
    /// a pair of footpoints at the signed `distance` (mm). It is 0 unless the pair is deeper than those
    /// of touching solids.
    pub(crate) fn beside(&self, distance: f64) -> f64 {
        if distance < self.tol.min_distance() { -self.least } else { 0.0 }
    }

    /// The solid that is treated first in steps whose result depends on the order of the solids.
    /// Swapping the roles of A and B does not change which of the two solids it is.
    pub(crate) fn first(&self) -> Which {
        let key = |body: &Body, to_other: &Pose| {
            let t = to_other.translation.vector;
            [body.size(), body.bounds().min.x, t.x, t.y, t.z]
        };
        let counts = |body: &Body| [body.features().len(), body.tree().len()];
        let (x, y) = (key(self.a, &self.pose_ab), key(self.b, &self.pose_ba));
        let by_values = || x.iter().zip(&y).map(|(x, y)| x.total_cmp(y)).find(|order| order.is_ne());
        let order = counts(self.a).cmp(&counts(self.b)).then_with(|| by_values().unwrap_or(Ordering::Equal));
        if order.is_gt() { Which::B } else { Which::A }
    }

    /// Converts a point from the frame of solid `which` to the frame of A.
    pub(crate) fn in_a(&self, which: Which, p: &P3) -> P3 {
        match which {
            Which::A => *p,
            Which::B => self.pose_ab * p,
        }
    }

    /// Converts a point from the frame of A to the frame of solid `which`.
    pub(crate) fn in_own(&self, which: Which, p: &P3) -> P3 {
        match which {
            Which::A => *p,
            Which::B => self.pose_ba * p,
        }
    }

    pub(crate) fn body(&self, which: Which) -> &Body {
        match which {
            Which::A => self.a,
            Which::B => self.b,
        }
    }

    /// Pose that maps coordinates of a solid to those of the *other* one.
    pub(crate) fn pose_to_other(&self, which: Which) -> &Pose {
        match which {
            Which::A => &self.pose_ba,
            Which::B => &self.pose_ab,
        }
    }

    /// Primitive of a feature in the frame of A; `None` for a free-form feature.
    pub(crate) fn primitive(&self, which: Which, feature: Feature) -> Option<Primitive> {
        let p = self.body(which).data(feature).primitive?;
        Some(match which {
            Which::A => p,
            Which::B => p.transformed(&self.pose_ab),
        })
    }

    /// Largest angle (rad) between a direction that counts as inside a polar and the stored cone of that
    /// polar. `allowance` is that of the node with the cone.
    pub(crate) fn polar_slack(&self, allowance: &Allowance) -> f64 {
        let bent = self.tol.bent(f64::from(allowance.inverse_extent));
        f64::from(allowance.angle) + bent + self.tol.critical + self.quasi_angle
    }

    /// Extent (mm) of a pair of features: the smaller of both extents, vertices excluded; the size of
    /// the larger solid for two vertices.
    pub(crate) fn extent(&self, a: Feature, b: Feature) -> f64 {
        let of = |body: &Body, f: Feature| match f {
            Feature::Vertex(_) => f64::INFINITY,
            _ => body.data(f).extent,
        };
        let e = of(self.a, a).min(of(self.b, b));
        if e.is_finite() { e } else { self.tol.size }
    }
}

impl RevolvedFace {
    /// Returns a face in the form in which [`crate::profile`] bounds faces of revolution, in the frame
    /// of A. `None` for a face without a usable primitive ([`Body::sphere_envelope`]).
    pub(crate) fn of(ctx: &Context<'_>, which: Which, face: FaceId) -> Option<Self> {
        let data = ctx.body(which).data(Feature::Face(face));
        let (&primitive, off) = ctx.body(which).sphere_envelope(face.into())?;
        let bounds = Obb::from_aabb(&data.bounds);
        let (primitive, bounds) = match which {
            Which::A => (primitive, bounds),
            Which::B => (primitive.transformed(&ctx.pose_ab), bounds.transformed(&ctx.pose_ab)),
        };
        let ring = data.ring.map(|r| Ring { center: ctx.in_a(which, &r.center), ..r });
        Some(Self { primitive, off, along: data.along, part: data.part, ring, bounds })
    }
}
