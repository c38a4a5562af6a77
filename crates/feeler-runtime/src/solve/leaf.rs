//! Evaluation of one area of a free-form edge or face, in the frame of a chosen body. Its unit-box
//! parameters run from 0 to 1 over the area's rectangle of curve or surface parameters.

use crate::body::Body;
use crate::body::samples::at;
use arrayvec::ArrayVec;
use feeler_geom::{Curve, P2, P3, Pose, Rect, Surface, V3};
use feeler_hierarchy::{AreaId, Feature};

/// Curve of a free-form edge, or Bézier surface of a free-form face.
#[derive(Clone, Copy)]
enum Shape<'a> {
    Curve(&'a Curve),
    Patch(&'a Surface),
}

/// One area of a free-form edge or face, evaluated at its unit-box parameters.
#[derive(Clone, Copy)]
pub(super) struct Leaf<'a> {
    shape: Shape<'a>,
    /// Rectangle of the surface's parameters that the area covers; for an edge, its range of u is that
    /// of the curve's parameter.
    rect: &'a Rect,
    /// Maps coordinates of the area's body to the frame of the results; `None` for the body's own frame.
    pose: Option<&'a Pose>,
    /// 1 if the outward normal of a patch is `∂u × ∂v`, -1 if it is the opposite; 1 for curves.
    outward: f64,
}

/// A point of a [`Leaf`] (mm) with its derivatives by the unit-box parameters.
pub(super) struct Jet {
    pub(super) p: P3,
    /// First derivative of a curve, or both first derivatives (u, v) of a patch.
    pub(super) first: ArrayVec<V3, 2>,
    /// Second derivative of a curve, or the second derivatives uu, uv and vv of a patch.
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
