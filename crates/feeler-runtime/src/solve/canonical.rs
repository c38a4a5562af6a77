//! Two canonical features: closed forms on the skeletons, once per pair of supermaximal features.
//!
//! About half of the critical pairs are saddles and maxima, such as the far side of a circle in a bore.
//! The primitives identify them, so that the trims of their footpoints need not be tested.
//!
//! # Source
//! BREP §4.2.3 (one solve per pair of supermaximal features), MATH §2, §3.

use super::Solved;
use crate::footpoint::side::flatness;
use crate::query::{Candidate, Context, FamilyPair};
use feeler_geom::contact::{SecondOrder, SideShape, second_order};
use feeler_geom::frame::complete_basis;
use feeler_geom::skeleton::{
    Bending, Critical, Criticals, Primitive, collect_critical_pairs, signed_distance_form,
};
use feeler_geom::{P3, V3};
use feeler_hierarchy::Feature;
use nalgebra::Matrix2;

/// Adds the isolated critical pairs of two canonical features, given with their primitives in the frame
/// of A, to `candidates`, and a family of critical pairs to `families`. Omitted are pairs of faces and
/// edges at positive distances that are not minima by their second order.
pub(crate) fn solve(ctx: &Context<'_>, a: (Feature, &Primitive), b: (Feature, &Primitive), out: &mut Solved) {
    let extent = ctx.extent(a.0, b.0);
    let mut found = Criticals::default();
    let (range, tol) = ([ctx.least, ctx.d_max], ctx.tol.tol);
    collect_critical_pairs(a.1, b.1, range, (tol, extent), &mut found);
    // The second order hardly ever excludes a pair with a vertex, so it is not computed.
    let may_fall = ![a.0, b.0].iter().any(|f| matches!(f, Feature::Vertex(_)));
    for c in &found.isolated {
        // The direction of a pair in contact is chosen by a later stage, which tests the second order, too.
        if may_fall
            && c.distance > ctx.tol.tol
            && order(a, b, c, extent, flatness(ctx, extent)) == Some(SecondOrder::Indefinite)
        {
            continue;
        }
        out.candidates.push(Candidate {
            feature_a: a.0,
            feature_b: b.0,
            p_a: c.p_a,
            p_b: c.p_b,
            n: c.n,
            distance: c.distance,
            hint_a: None,
            hint_b: None,
            undecided: false,
        });
    }
    if let Some(family) = found.family {
        out.families.push(FamilyPair { feature_a: a.0, feature_b: b.0, family });
    }
}

/// Classifies a critical pair `c` of two canonical features by its second order. Changes of the distance
/// below `threshold` (mm) over displacements of `extent` (mm) count as zero. `None` if a curvature is not
/// finite.
pub(crate) fn order(
    a: (Feature, &Primitive),
    b: (Feature, &Primitive),
    c: &Critical,
    extent: f64,
    threshold: f64,
) -> Option<SecondOrder> {
    let basis = complete_basis(&c.n);
    let shape_a = shape(a, &c.p_a, &c.n, &basis)?;
    let shape_b = shape(b, &c.p_b, &-c.n, &basis)?;
    Some(second_order(&shape_a, &shape_b, c.distance, extent, threshold))
}

/// Local shape of a canonical feature at its point `p`, where the unit vector `outward` points out of the
/// solid, in the tangent basis `basis`; `None` if a curvature is not finite.
fn shape(
    (feature, primitive): (Feature, &Primitive),
    p: &P3,
    outward: &V3,
    basis: &(V3, V3),
) -> Option<SideShape> {
    match (feature, primitive) {
        // The touching sphere is used, because critical pairs occur on both sheets of a spindle torus.
        (Feature::Face(_), &Primitive::Circle { frame, radius, sigma }) => {
            let center = p - outward * sigma - frame.origin;
            let radial = (center - frame.z * center.dot(&frame.z)).try_normalize(f64::MIN_POSITIVE)?;
            let lean = outward.dot(&radial);
            let (meridian, around) = (1.0 / sigma, lean / (radius.abs() + sigma * lean));
            let bending = Bending { n: *outward, t: frame.z.cross(&radial), k: meridian, l: around };
            of_face(&bending, basis)
        }
        (Feature::Face(_), primitive) => of_face(&signed_distance_form(primitive, p)?.bending, basis),
        (Feature::Edge(_), Primitive::Line { dir, .. }) => {
            Some(SideShape::edge(dir, &V3::zeros(), outward, basis))
        }
        (Feature::Edge(_), Primitive::Circle { frame, radius, .. }) => {
            let radial = (p - frame.origin) / *radius;
            let curvature = -radial / *radius;
            let is_finite = curvature.iter().all(|x| x.is_finite());
            is_finite.then(|| SideShape::edge(&frame.z.cross(&radial), &curvature, outward, basis))
        }
        (Feature::Edge(_), _) => None,
        (Feature::Vertex(_), _) => Some(SideShape::Vertex),
    }
}

/// Local shape of a face from `bending`, the second derivative of the distance from the face as a
/// bilinear form; the result is its matrix in the tangent basis. `None` if it is not finite.
fn of_face(bending: &Bending, (s, t): &(V3, V3)) -> Option<SideShape> {
    let (ss, tt) = (bending.along(s), bending.along(t));
    // The mixed derivative follows from three pure ones.
    let st = 0.5 * (bending.along(&(s + t)) - ss - tt);
    (ss + st + tt).is_finite().then(|| SideShape::Face { shape: Matrix2::new(ss, st, st, tt) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use feeler_geom::skeleton::{critical_pairs, signed_distance};
    use feeler_geom::{Frame, P2, Surface, math};
    use feeler_hierarchy::{EdgeId, FaceId};
    use rand::rngs::SmallRng;
    use rand::{Rng, SeedableRng};

    fn vector(rng: &mut SmallRng) -> V3 {
        V3::from_fn(|_, _| rng.random_range(-1.0..1.0))
    }

    /// Footpoint on a primitive (of a face or a circular edge) of a point near it; `None` on the focal
    /// set of a face's primitive.
    fn foot(primitive: &Primitive, p: &P3) -> Option<P3> {
        match *primitive {
            Primitive::Circle { frame, radius, sigma: 0.0 } => {
                let q = frame.local(p);
                let rho = math::hypot(q.x, q.y);
                Some(frame.point(radius * q.x / rho, radius * q.y / rho, 0.0))
            }
            _ => Some(signed_distance(primitive, p)?.foot),
        }
    }

    /// Distance from a point to a circular edge, or signed distance from the primitive of a face; `None`
    /// on its focal set.
    fn distance(primitive: &Primitive, p: &P3) -> Option<f64> {
        match primitive {
            Primitive::Circle { sigma: 0.0, .. } => Some((foot(primitive, p)? - p).norm()),
            _ => Some(signed_distance(primitive, p)?.value),
        }
    }

    /// The shapes of primitives equal those of their surfaces, on both sheets of spindle tori and with
    /// material on either side.
    #[test]
    fn shapes_are_those_of_surfaces() {
        let mut rng = SmallRng::seed_from_u64(32);
        let frame = Frame::from_z(P3::new(0.3, -0.2, 0.1), V3::new(1.0, 2.0, -0.5), None).expect("an axis");
        let (mut tested, mut on_inner_sheets) = (0, 0);
        for k in 0..4000 {
            let surface = match k % 6 {
                0 => Surface::Plane { frame },
                1 => Surface::Cylinder { frame, radius: 1.3 },
                2 => Surface::Cone { frame, half_angle: 0.4 },
                3 => Surface::Sphere { frame, radius: 1.3 },
                4 => Surface::Torus { frame, major: 2.0, minor: 0.7 },
                _ => Surface::Torus { frame, major: 1.0, minor: 1.5 },
            };
            let uv = P2::new(rng.random_range(-3.0..3.0), rng.random_range(-3.0..3.0));
            // Cones have one nappe.
            let uv = if k % 6 == 2 { P2::new(uv.x, uv.y.abs()) } else { uv };
            let outward = rng.random_range(0..2) == 0;
            let normal = surface.normal(uv);
            let n = if outward { normal } else { -normal };
            let basis = complete_basis(&n);
            let inner = k % 6 == 5 && 1.0 + 1.5 * math::cos(uv.y) < 0.0;
            let primitive = Primitive::of_face(&surface, outward, inner).expect("it is canonical");
            let Some(SideShape::Face { shape: expected }) = SideShape::face(&surface, uv, outward, &basis)
            else {
                continue;
            };
            if expected.norm() > 1e3 {
                continue;
            }
            let p = surface.point(uv);
            let shape = shape((Feature::Face(FaceId(0)), &primitive), &p, &n, &basis);
            let Some(SideShape::Face { shape }) = shape else { panic!("no shape of {surface:?} at {uv}") };
            let error = (shape - expected).norm() / (1.0 + expected.norm());
            assert!(error < 1e-6, "{shape} instead of {expected} of {surface:?} at {uv}");
            tested += 1;
            on_inner_sheets += usize::from(inner);
        }
        assert!(tested > 3000 && on_inner_sheets > 100, "{tested} {on_inner_sheets}");
    }

    /// Rims and faces of revolution about nearly the same axis: the second order is indefinite if and only
    /// if the distance falls for small steps along B.
    #[test]
    fn second_order_agrees_with_small_steps() {
        let mut rng = SmallRng::seed_from_u64(31);
        let face = Feature::Face(FaceId(0));
        let mut tested = [0, 0];
        for _ in 0..4000 {
            let near = |rng: &mut SmallRng, tilt: f64| {
                let axis = V3::z() + vector(rng) * tilt;
                Frame::from_z(P3::from(vector(rng) * 0.2), axis, None).expect("an axis")
            };
            let (f, g) = (near(&mut rng, 0.0), near(&mut rng, 0.1));
            let mut one = |frame: Frame, radius: f64, sign: f64| {
                let line = |slope: f64| Primitive::Line {
                    origin: frame.origin,
                    dir: frame.z,
                    sigma: sign * radius,
                    slope,
                };
                match rng.random_range(0..5) {
                    0 => (face, Primitive::Plane { origin: frame.origin, normal: frame.z * sign }),
                    1 => (face, line(0.0)),
                    2 => (face, line(0.2)),
                    3 => (face, Primitive::Circle { frame, radius, sigma: sign * 0.3 }),
                    _ => (Feature::Edge(EdgeId(0)), Primitive::Circle { frame, radius, sigma: 0.0 }),
                }
            };
            let (a, b) = (one(f, 2.0, -1.0), one(g, 1.5, 1.0));
            let found = critical_pairs(&a.1, &b.1, 2.0, 1e-9, 4.0);
            for c in found.isolated.iter().filter(|c| c.distance > 0.01) {
                // Only the side of A from which distances are measured is tested.
                if foot(&a.1, &c.p_b).is_none_or(|p| (p - c.p_a).norm() > 1e-6) {
                    continue;
                }
                let Some(order) = order((a.0, &a.1), (b.0, &b.1), c, 4.0, 1e-9) else { continue };
                // Change of half the squared distance along B, as a quadratic form of the step.
                let h = 1e-3;
                let square = |x: f64| x * x;
                let (s, t) = complete_basis(&c.n);
                let change = |step: V3| {
                    let at = |sign: f64| distance(&a.1, &foot(&b.1, &(c.p_b + step * (sign * h)))?);
                    Some(0.25 * (square(at(1.0)?) + square(at(-1.0)?)) - 0.5 * square(c.distance))
                };
                let (Some(along_s), Some(along_t), Some(along_both)) = (change(s), change(t), change(s + t))
                else {
                    continue;
                };
                let mixed = 0.5 * (along_both - along_s - along_t);
                let lowest = Matrix2::new(along_s, mixed, mixed, along_t).symmetric_eigenvalues().min();
                let context = || format!("{lowest:e} of {c:?}, {a:?}, {b:?}");
                match order {
                    SecondOrder::Indefinite => assert!(lowest < 5e-12, "{}", context()),
                    _ => assert!(lowest > -5e-12, "{}", context()),
                }
                tested[usize::from(order == SecondOrder::Indefinite)] += 1;
            }
        }
        assert!(tested.iter().all(|n| *n > 500), "{tested:?}");
    }
}
