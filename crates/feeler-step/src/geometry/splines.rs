//! Reads B-splines in all forms of STEP files: plain or complex instances, with given or implied knots.

use feeler_geom::P3;
use feeler_geom::bezier::{BezierSpline, BezierSurface};
use feeler_geom::nurbs::{NurbsCurve, NurbsError, NurbsSurface};

use super::Geometry;
use crate::entities::{Bad, Record, Res, bad};

/// Type names of all kinds of B-spline curves, or surfaces, and the number of attributes of their common
/// supertype.
struct Family {
    base: &'static str,
    n_base: usize,
    knots: &'static str,
    rational: &'static str,
    uniform: &'static str,
    quasi_uniform: &'static str,
    bezier: &'static str,
}

const CURVES: Family = Family {
    base: "B_SPLINE_CURVE",
    n_base: 5,
    knots: "B_SPLINE_CURVE_WITH_KNOTS",
    rational: "RATIONAL_B_SPLINE_CURVE",
    uniform: "UNIFORM_CURVE",
    quasi_uniform: "QUASI_UNIFORM_CURVE",
    bezier: "BEZIER_CURVE",
};

const SURFACES: Family = Family {
    base: "B_SPLINE_SURFACE",
    n_base: 7,
    knots: "B_SPLINE_SURFACE_WITH_KNOTS",
    rational: "RATIONAL_B_SPLINE_SURFACE",
    uniform: "UNIFORM_SURFACE",
    quasi_uniform: "QUASI_UNIFORM_SURFACE",
    bezier: "BEZIER_SURFACE",
};

impl Family {
    /// Returns the attributes of the common supertype: degrees, control points, …
    fn base<'a>(&self, r: &Record<'a>) -> Option<Record<'a>> {
        if let Some(part) = r.own(self.base, 1) {
            return Some(part);
        }
        let kinds = [self.knots, self.rational, self.uniform, self.quasi_uniform, self.bezier];
        kinds.into_iter().filter(|k| *k == r.name).find_map(|k| r.own(k, 1))
    }
}

/// Returns whether `r` is a B-spline curve of any kind.
pub(super) fn is_curve(r: &Record<'_>) -> bool {
    CURVES.base(r).is_some()
}

/// Returns whether `r` is a B-spline surface of any kind.
pub(super) fn is_surface(r: &Record<'_>) -> bool {
    SURFACES.base(r).is_some()
}

impl Geometry<'_> {
    /// Reads a B-spline curve of any kind into exact Bézier pieces. The parameters are those of the file.
    pub(super) fn spline_curve(&mut self, r: &Record<'_>) -> Res<BezierSpline> {
        let Some(base) = CURVES.base(r) else { return bad(r.id, "is not a B-spline curve") };
        let degree = degree(&base, 0)?;
        let points = self.points(&base.references(1, "control_points_list")?, r.id)?;
        let knots = match r.own(CURVES.knots, 1 + CURVES.n_base) {
            Some(k) => repeated(r.id, &k.reals(1, "knots")?, &multiplicities(&k, 0)?)?,
            None => implied_knots(&CURVES, r, degree, points.len())?,
        };
        let weights = match r.own(CURVES.rational, 1 + CURVES.n_base) {
            Some(w) => w.reals(0, "weights_data")?,
            None => Vec::new(),
        };
        let spline = NurbsCurve { degree, knots, points, weights: positive(weights) }.to_bezier();
        spline.map_err(|e| refused(r, e))
    }

    /// Reads a B-spline surface of any kind into exact Bézier patches. The parameters are those of the
    /// file.
    pub(super) fn spline_surface(&mut self, r: &Record<'_>) -> Res<BezierSurface> {
        let Some(base) = SURFACES.base(r) else { return bad(r.id, "is not a B-spline surface") };
        let (u_degree, v_degree) = (degree(&base, 0)?, degree(&base, 1)?);
        let rows = base.reference_rows(2, "control_points_list")?;
        let n_v = rows.first().map_or(0, Vec::len);
        if rows.iter().any(|row| row.len() != n_v) {
            return bad(r.id, "has rows of control points of different lengths");
        }
        let points = self.points(&rows.concat(), r.id)?;
        let (u_knots, v_knots) = match r.own(SURFACES.knots, 1 + SURFACES.n_base) {
            Some(k) => (
                repeated(r.id, &k.reals(2, "u_knots")?, &multiplicities(&k, 0)?)?,
                repeated(r.id, &k.reals(3, "v_knots")?, &multiplicities(&k, 1)?)?,
            ),
            None => (
                implied_knots(&SURFACES, r, u_degree, rows.len())?,
                implied_knots(&SURFACES, r, v_degree, n_v)?,
            ),
        };
        let weights = match r.own(SURFACES.rational, 1 + SURFACES.n_base) {
            Some(w) => {
                let rows = w.real_rows(0, "weights_data")?;
                if rows.iter().any(|row| row.len() != n_v) {
                    return bad(
                        r.id,
                        "has rows of weights whose lengths differ from those of its control points",
                    );
                }
                rows.concat()
            }
            None => Vec::new(),
        };
        let weights = positive(weights);
        let surface = NurbsSurface { u_degree, v_degree, u_knots, v_knots, n_v, points, weights };
        surface.to_bezier().map_err(|e| refused(r, e))
    }

    pub(super) fn points(&self, ids: &[u64], by: u64) -> Res<Vec<P3>> {
        ids.iter().map(|id| self.point(*id, by)).collect()
    }
}

fn refused(r: &Record<'_>, e: NurbsError) -> Bad {
    Bad { id: r.id, message: format!("{}: {e}; repair or re-export this geometry", r.label()) }
}

fn degree(base: &Record<'_>, i: usize) -> Res<u32> {
    let n = base.int(i, "degree")?;
    match u32::try_from(n) {
        Ok(d) if d >= 1 => Ok(d),
        _ => bad(base.id, format!("is a B-spline of degree {n}; it must be at least 1")),
    }
}

fn multiplicities(r: &Record<'_>, i: usize) -> Res<Vec<f64>> {
    r.reals(i, "knot multiplicities")
}

/// Repeats each knot by its multiplicity.
fn repeated(id: u64, knots: &[f64], multiplicities: &[f64]) -> Res<Vec<f64>> {
    if knots.len() != multiplicities.len() {
        return bad(id, format!("has {} knots but {} multiplicities", knots.len(), multiplicities.len()));
    }
    let mut out = Vec::with_capacity(knots.len() * 2);
    for (k, m) in knots.iter().zip(multiplicities) {
        if m.fract() != 0.0 || !(0.0..=1e6).contains(m) {
            return bad(id, format!("has a knot of multiplicity {m}; whole numbers are required"));
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a whole number of at most 1e6"
        )]
        out.extend(std::iter::repeat_n(*k, *m as usize));
        if out.len() > 10_000_000 {
            return bad(id, "has more than ten million knots");
        }
    }
    Ok(out)
}

/// Returns the knots implied by the type of the spline (ISO 10303-42, `knot_type`).
#[expect(clippy::cast_precision_loss, reason = "counts are small")]
fn implied_knots(family: &Family, r: &Record<'_>, degree: u32, n_points: usize) -> Res<Vec<f64>> {
    let d = degree as usize;
    if n_points <= d {
        return bad(r.id, format!("has only {n_points} control points in a direction of degree {degree}"));
    }
    if r.is(family.uniform) {
        return Ok((0..n_points + d + 1).map(|i| i as f64 - d as f64).collect());
    }
    let inner = if r.is(family.quasi_uniform) {
        1
    } else if r.is(family.bezier) || n_points == d + 1 {
        d
    } else {
        return bad(r.id, format!("is a {} without knots", r.label()));
    };
    if !(n_points - 1 - d).is_multiple_of(inner) {
        return bad(
            r.id,
            format!(
                "has {n_points} control points, which do not form whole Bézier pieces of degree {degree}"
            ),
        );
    }
    let n_spans = (n_points - 1 - d) / inner + 1;
    let mut knots = vec![0.0; d + 1];
    for i in 1..n_spans {
        knots.extend(std::iter::repeat_n(i as f64, inner));
    }
    knots.extend(std::iter::repeat_n(n_spans as f64, d + 1));
    Ok(knots)
}

/// Makes all weights positive. Weights are homogeneous, so that all negative ones define the same curve
/// as their absolute values.
fn positive(mut weights: Vec<f64>) -> Vec<f64> {
    if !weights.is_empty() && weights.iter().all(|w| *w < 0.0) {
        weights.iter_mut().for_each(|w| *w = -*w);
    }
    weights
}
