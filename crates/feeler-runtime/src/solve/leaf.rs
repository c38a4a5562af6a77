//! Geometry of a free side of a pair over one area, by unit-box parameters, in the frame of A.

use crate::body::Body;
use crate::body::samples::at;
use arrayvec::ArrayVec;
use feeler_geom::{Curve, P2, P3, Pose, Rect, Surface, V3};
use feeler_hierarchy::{AreaId, Feature};

/// Geometry of a free side.
#[derive(Clone, Copy)]
enum Shape<'a> {
    Curve(&'a Curve),
    Patch(&'a Surface),
}

#[derive(Clone, Copy)]
pub(super) struct Leaf<'a> {
    shape: Shape<'a>,
    rect: &'a Rect,
    /// Takes the shape's coordinates to the frame of A; `None` for A itself.
    pose: Option<&'a Pose>,
    /// 1 if the outward normal of a patch is `∂u × ∂v`, -1 if it is the opposite; 1 for curves.
    outward: f64,
}

/// A point with derivatives by the unit-box parameters, frame of A.
pub(super) struct Jet {
    pub(super) p: P3,
    pub(super) first: ArrayVec<V3, 2>,
    /// uu; uu, uv, vv.
    pub(super) second: ArrayVec<V3, 3>,
}

impl<'a> Leaf<'a> {
    pub(super) fn new(body: &'a Body, area: AreaId, pose: Option<&'a Pose>) -> Self {
        let area = body.area(area);
        let (shape, is_natural) = match area.feature {
            Feature::Edge(e) => (Shape::Curve(&body.edge(e).curve), true),
            Feature::Face(f) => (Shape::Patch(&body.face(f).surface), body.face(f).outward),
            Feature::Vertex(_) => unreachable!("a vertex is canonical"),
        };
        Self { shape, rect: &area.rect, pose, outward: if is_natural { 1.0 } else { -1.0 } }
    }

    /// 1 if the outward normal of a patch is `∂u × ∂v`, -1 if it is the opposite; 1 for curves.
    pub(super) fn outward(&self) -> f64 {
        self.outward
    }

    pub(super) fn dim(&self) -> usize {
        match self.shape {
            Shape::Curve(_) => 1,
            Shape::Patch(_) => 2,
        }
    }

    pub(super) fn uv(&self, x: &[f64]) -> P2 {
        match self.shape {
            Shape::Curve(_) => P2::new(self.rect.u0 + x[0] * (self.rect.u1 - self.rect.u0), 0.0),
            Shape::Patch(_) => at(self.rect, x[0], x[1]),
        }
    }

    pub(super) fn point(&self, x: &[f64]) -> P3 {
        self.point_at(self.uv(x))
    }

    pub(super) fn point_at(&self, uv: P2) -> P3 {
        let p = match self.shape {
            Shape::Curve(c) => c.point(uv.x),
            Shape::Patch(s) => s.point(uv),
        };
        self.pose.map_or(p, |m| m * p)
    }

    pub(super) fn jet(&self, x: &[f64]) -> Jet {
        let uv = self.uv(x);
        let (wu, wv) = (self.rect.u1 - self.rect.u0, self.rect.v1 - self.rect.v0);
        let mut jet = match self.shape {
            Shape::Curve(c) => {
                let d = c.derivs(uv.x);
                Jet {
                    p: d.p,
                    first: [d.d1 * wu].into_iter().collect(),
                    second: [d.d2 * (wu * wu)].into_iter().collect(),
                }
            }
            Shape::Patch(s) => {
                let d = s.derivs(uv);
                Jet {
                    p: d.p,
                    first: [d.du * wu, d.dv * wv].into_iter().collect(),
                    second: [d.duu * (wu * wu), d.duv * (wu * wv), d.dvv * (wv * wv)].into_iter().collect(),
                }
            }
        };
        if let Some(m) = self.pose {
            jet.p = m * jet.p;
            jet.first.iter_mut().chain(&mut jet.second).for_each(|v| *v = m * *v);
        }
        jet
    }
}
