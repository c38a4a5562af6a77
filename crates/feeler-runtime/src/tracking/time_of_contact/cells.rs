//! Pieces of an area, halved until they are flat enough to bound the closing speed near a contact.
//!
//! The normals of a leaf of the hierarchy differ by up to its flatness, so that a body that rolls on a leaf
//! seems to approach it at a large part of its speed. A piece of size s of a surface of curvature κ has
//! normals within κ s and a thickness of κ s² / 2. Pieces with a thickness of the allowed depth are
//! therefore bounded as tightly as necessary.
//!
//! # Source
//! Taylor's theorem with bounds of third derivatives; MATH §24.

use super::osculating::Jet;
use crate::body::Body;
use crate::body::tree::TreeNode;
use feeler_geom::cone::Cap;
use feeler_geom::crossing::third_of_closed_form;
use feeler_geom::frame::complete_basis;
use feeler_geom::{Curve, Obb, P2, Rect, Surface, V3, VectorBall};
use feeler_hierarchy::{AreaId, Feature};

/// A piece of an area of a face or of an edge, in the frame of its solid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    /// The leaf of the area, with the box and the cone of the piece.
    pub node: TreeNode,
    /// Area that contains the piece.
    pub area: AreaId,
    /// Range of the parameters of the piece.
    rect: Rect,
    /// Box of the whole area.
    whole: Obb,
    /// Upper bounds of the lengths of the third derivatives (uuu, uuv, uvv, vvv) over the area.
    third: [f64; 4],
    /// Contributions (mm) of the ranges of u and v to the thickness of the piece.
    bends: [f64; 2],
}

impl Cell {
    /// The whole area of a leaf.
    pub(crate) fn of_leaf(body: &Body, node: &TreeNode, area: AreaId) -> Self {
        let a = body.area(area);
        let third = match a.feature {
            Feature::Face(f) => match &body.face(f).surface {
                Surface::Bezier(_) => in_parameters(body.third_derivatives_of(area), &a.rect),
                surface => third_of_closed_form(surface, &a.rect),
            },
            Feature::Edge(e) => {
                [body.edge(e).curve.third_derivatives(a.rect.u0, a.rect.u1).norm(), 0.0, 0.0, 0.0]
            }
            Feature::Vertex(_) => [0.0; 4],
        };
        let mut cell = Self { node: *node, area, rect: a.rect, whole: node.obb, third, bends: [0.0; 2] };
        cell.bends = cell.shape(body).map_or([0.0; 2], |s| s.bends);
        cell
    }

    /// Thickness (mm) of the piece: its extent along its normal.
    pub(crate) fn thickness(&self) -> f64 {
        self.bends[0] + self.bends[1]
    }

    /// Parameters of the middle of the piece.
    pub(crate) fn middle(&self) -> P2 {
        self.rect.center()
    }

    /// Contributions (mm) of the ranges of u and v to the thickness of the piece.
    pub(crate) fn bends(&self) -> [f64; 2] {
        self.bends
    }

    /// The two halves of the piece along the parameter that bends it more; `None` for halves outside the box
    /// of the area, which contain none of its points.
    pub(crate) fn halves(&self, body: &Body) -> [Option<Self>; 2] {
        self.halves_along(body, usize::from(self.bends[1] > self.bends[0]))
    }

    /// The two halves of the piece along the parameter `parameter` (0 or 1); `None` as in [`Cell::halves`].
    pub(crate) fn halves_along(&self, body: &Body, parameter: usize) -> [Option<Self>; 2] {
        let middle = self.rect.center();
        let rects = if parameter == 0 {
            [Rect { u1: middle.x, ..self.rect }, Rect { u0: middle.x, ..self.rect }]
        } else {
            [Rect { v1: middle.y, ..self.rect }, Rect { v0: middle.y, ..self.rect }]
        };
        rects.map(|rect| {
            let mut half = Self { rect, ..*self };
            if let Some(shape) = half.shape(body) {
                half.node.obb = shape.obb;
                half.bends = shape.bends;
                if let Some(cap) = shape.cap {
                    half.node.cap = cap;
                }
            }
            let beside = half.node.obb.distance_lower_bound(&self.whole);
            (beside <= f64::from(self.node.allowance.length)).then_some(half)
        })
    }

    /// Middle of the piece with its derivatives; `None` at singular points.
    pub(crate) fn jet(&self, body: &Body) -> Option<Jet> {
        Jet::of(body, body.area(self.area).feature, (&self.rect, self.third), &self.node.allowance)
    }

    /// Box, cone and bends of the piece; `None` for vertices and at singular points.
    fn shape(&self, body: &Body) -> Option<Shape> {
        match body.area(self.area).feature {
            Feature::Face(f) => {
                let face = body.face(f);
                let outward = if face.outward { 1.0 } else { -1.0 };
                self.shape_of_surface(&face.surface, outward)
            }
            Feature::Edge(e) => self.shape_of_curve(&body.edge(e).curve),
            Feature::Vertex(_) => None,
        }
    }

    fn shape_of_surface(&self, surface: &Surface, outward: f64) -> Option<Shape> {
        let (hu, hv) = (0.5 * self.rect.width(), 0.5 * self.rect.height());
        let middle = self.rect.center();
        let d = surface.derivs(P2::new(middle.x, middle.y));
        let normal = d.du.cross(&d.dv);
        let (n, length) = (normal.try_normalize(f64::MIN_POSITIVE)?, normal.norm());
        let x = d.du.try_normalize(f64::MIN_POSITIVE)?;
        let y = n.cross(&x);
        let [t0, t1, t2, t3] = self.third;
        // Remainders of third order, split evenly between both parameters.
        let cubic = [t0 * hu * hu * hu + 1.5 * (t1 * hu + t2 * hv) * hu * hv, 0.0];
        let cubic = [cubic[0] / 6.0, (t3 * hv * hv * hv + 1.5 * (t1 * hu + t2 * hv) * hu * hv) / 6.0];
        let bend = |e: &V3| {
            let mixed = 0.5 * d.duv.dot(e).abs() * hu * hv;
            [
                0.5 * d.duu.dot(e).abs() * hu * hu + mixed + cubic[0],
                0.5 * d.dvv.dot(e).abs() * hv * hv + mixed + cubic[1],
            ]
        };
        let half = |e: &V3| {
            let [u, v] = bend(e);
            d.du.dot(e).abs() * hu + d.dv.dot(e).abs() * hv + u + v
        };
        let obb = Obb { center: d.p, axes: [x, y, n], half: V3::new(half(&x), half(&y), half(&n)) };
        // Largest second derivatives over the piece, and changes of both first derivatives.
        let uu = d.duu.norm() + t0 * hu + t1 * hv;
        let uv = d.duv.norm() + t1 * hu + t2 * hv;
        let vv = d.dvv.norm() + t2 * hu + t3 * hv;
        let (change_u, change_v) = (uu * hu + uv * hv, uv * hu + vv * hv);
        let change = d.du.norm() * change_v + d.dv.norm() * change_u + change_u * change_v;
        let sin = change / length;
        let cap = (sin < 1.0).then(|| {
            let cap = Cap { axis: n * outward, cos: (1.0 - sin * sin).sqrt(), sin };
            if cap.cos > self.node.cap.cos { cap } else { self.node.cap }
        });
        Some(Shape { obb, cap, bends: bend(&n) })
    }

    fn shape_of_curve(&self, curve: &Curve) -> Option<Shape> {
        let h = 0.5 * self.rect.width();
        let d = curve.derivs(self.rect.center().x);
        let x = d.d1.try_normalize(f64::MIN_POSITIVE)?;
        let bend = d.d2 - x * x.dot(&d.d2);
        let y = bend.try_normalize(f64::MIN_POSITIVE).unwrap_or_else(|| complete_basis(&x).0);
        let z = x.cross(&y);
        let cubic = self.third[0] * h * h * h / 6.0;
        let half = |e: &V3| d.d1.dot(e).abs() * h + 0.5 * d.d2.dot(e).abs() * h * h + cubic;
        let obb = Obb { center: d.p, axes: [x, y, z], half: V3::new(half(&x), half(&y), half(&z)) };
        Some(Shape { obb, cap: None, bends: [half(&y), 0.0] })
    }
}

/// Bounds of the shape of a piece.
struct Shape {
    obb: Obb,
    /// Cone of the outward normals of a piece of a face; `None` for an edge, and for pieces that are not
    /// flat enough.
    cap: Option<Cap>,
    /// Contributions (mm) of the ranges of u and v to the thickness of the piece.
    bends: [f64; 2],
}

/// Bounds of third derivatives with respect to the parameters of an area with the range `rect`, given
/// balls around those with respect to unit-box parameters.
fn in_parameters(third: &[VectorBall; 4], rect: &Rect) -> [f64; 4] {
    let (u, v) = (rect.width(), rect.height());
    let [a, b, c, d] = third.each_ref().map(VectorBall::norm);
    [a / (u * u * u), b / (u * u * v), c / (u * v * v), d / (v * v * v)]
}

/// Upper bound of the scalar products of `x` with the unit directions of a cone of revolution.
pub(crate) fn max_over_cap(cap: &Cap, x: &V3) -> f64 {
    let length = x.norm();
    let along = cap.axis.dot(x);
    // If x is inside the cone, its own direction maximises the product.
    if cap.cos <= -1.0 || along >= cap.cos * length {
        return length;
    }
    let across = (length * length - along * along).max(0.0).sqrt();
    along * cap.cos + across * cap.sin
}
