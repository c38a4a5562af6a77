//! Finds minima of a function of one parameter from its slope. The function is half the squared
//! distance: of a point from a curve, or of two curves along a valley (see `solve`).
//!
//! The slope and its derivative are sampled at the ends of intervals. An interval is bisected until the
//! cubic Hermite interpolant of the samples determines the signs of the slope. The signs count only if
//! they exceed the error of the interpolant, in value and derivative, at the cut.

/// Slope of half the squared distance at one parameter, with its derivative and the data that relate it
/// to lengths.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slope {
    /// Parameter of the curve at which the slope was computed.
    pub p: f64,
    /// The slope: derivative of half the squared distance with respect to the parameter (mm²).
    pub value: f64,
    /// Derivative of the slope `value` with respect to the parameter `p` (mm²).
    pub change: f64,
    /// Speed of the curve that the parameter belongs to: length per unit of the parameter (mm).
    pub speed: f64,
    /// Distance times speed (mm²): `value / scale` is the change of the distance with length (mm per
    /// mm).
    pub scale: f64,
}

/// Minimum or level stretch that the search finds on an interval.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Found {
    /// Strict minimum, by its parameter.
    Minimum(f64),
    /// Interval, by the samples at its ends, on which the distance is level: its slope is below
    /// [`LevelThreshold::slope`], everywhere or over a long enough part around a minimum.
    Level(Slope, Slope),
}

/// Thresholds below which a slope counts as level.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LevelThreshold {
    /// Maximum change of the distance with length (mm per mm) at which the distance counts as level.
    pub slope: f64,
    /// Half the length (mm) over which the change of the distance with length must stay below `slope` for
    /// a level stretch.
    pub length: f64,
}

/// Maximum number of bisections of an interval. An interval left after them contains a minimum and a
/// maximum about to merge. A larger value is slower near such intervals; a smaller one loses such a
/// minimum sooner.
const MAX_BISECTIONS: u32 = 24;

/// Distance beyond the ends of an interval, as a fraction of its length, within which a minimum still
/// belongs to it. Otherwise two neighbouring intervals could both reject a minimum at their common end.
/// A larger value finds more minima twice (they are merged later); a smaller one may lose minima.
pub(crate) const END_TOLERANCE: f64 = 1e-9;

/// Fraction at which intervals are cut. It is not ½, because the midpoint of a symmetric configuration
/// may hide two minima.
const CUT_FRACTION: f64 = 0.4937;

/// Rounding error of slopes, as a fraction of distance times speed. With a larger value, intervals with
/// small slopes are bisected needlessly; with a smaller one, signs of slopes may be noise.
const SLOPE_ROUNDING: f64 = 4e-16;

/// Finds the strict minima and the level stretches of the distance for parameters in `[from, to]`, and
/// passes them to `found` in ascending order. `sample` computes the slope at a parameter, and `level`
/// has the thresholds of level stretches. A long level stretch is passed in several adjacent pieces.
pub(crate) fn minima(
    sample: &mut impl FnMut(f64) -> Slope,
    [from, to]: [f64; 2],
    level: &LevelThreshold,
    found: &mut impl FnMut(Found),
) {
    let (first, last) = (sample(from), sample(to));
    let reach = END_TOLERANCE * (to - from);
    search(sample, first, last, reach, MAX_BISECTIONS, level, found);
}

/// Recursive part of [`minima`] for the interval between the samples `a` and `b`. A minimum outside the
/// interval belongs to it as well if it is at most `reach` (in the parameter) away from the nearer end.
/// `halvings` is the number of bisections that are left.
fn search(
    sample: &mut impl FnMut(f64) -> Slope,
    a: Slope,
    b: Slope,
    reach: f64,
    halvings: u32,
    level: &LevelThreshold,
    found: &mut impl FnMut(Found),
) {
    let h = b.p - a.p;
    let m = sample(h.mul_add(CUT_FRACTION, a.p));
    let scale = a.scale.max(b.scale).max(m.scale);
    let (t, r) = (CUT_FRACTION, 1.0 - CUT_FRACTION);
    let expected = r * r * ((1.0 + 2.0 * t) * a.value + h * t * a.change)
        + t * t * ((1.0 + 2.0 * r) * b.value - h * r * b.change);
    let rise = 6.0 * t * r * (b.value - a.value)
        + h * (r * (1.0 - 3.0 * t) * a.change + t * (1.0 - 3.0 * r) * b.change);
    let error = 4.0 * (m.value - expected).abs() + (h * m.change - rise).abs() + SLOPE_ROUNDING * scale;
    let c = [a.value, a.value + h / 3.0 * a.change, b.value - h / 3.0 * b.change, b.value];
    if c.iter().all(|c| c.abs() + error <= level.slope * a.scale.min(b.scale).min(m.scale)) {
        found(Found::Level(a, b));
        return;
    }
    if c.iter().all(|&c| c > error) || c.iter().all(|&c| c < -error) {
        // A minimum just beyond an end also counts as a minimum of this interval.
        for end in [a, b] {
            if end.change > 0.0 && end.value.abs() <= reach * end.change {
                found(Found::Minimum(end.p - end.value / end.change));
                return;
            }
        }
        return;
    }
    let changes = [a.change, 3.0 * (c[2] - c[1]) / h, b.change];
    let change_error = 8.0 * error / h;
    if changes.iter().all(|&d| d > change_error) {
        if a.value - reach * a.change <= 0.0 && 0.0 <= b.value + reach * b.change {
            report(sample, a, b, level, found);
        }
        return;
    }
    if changes.iter().all(|&d| d < -change_error) {
        return;
    }
    if halvings == 0 {
        if a.value <= 0.0 && 0.0 < b.value {
            report(sample, a, b, level, found);
        }
        return;
    }
    search(sample, a, m, reach, halvings - 1, level, found);
    search(sample, m, b, reach, halvings - 1, level, found);
}

/// Refines the minimum between the samples `a` and `b`, between which the slope changes from negative to
/// positive (up to the end tolerance), and passes it to `found`. If the slope is below the threshold of
/// `level` over a long enough part around the minimum, that part is passed as a level stretch instead.
fn report(
    sample: &mut impl FnMut(f64) -> Slope,
    a: Slope,
    b: Slope,
    level: &LevelThreshold,
    found: &mut impl FnMut(Found),
) {
    let (mut lo, mut hi) = (a, b);
    let mut at = if a.value.abs() < b.value.abs() { a } else { b };
    // Newton's method with bisection where a step leaves the bracket; 60 bisections exhaust the bits of
    // a double.
    for _ in 0..60 {
        let step = at.value / at.change;
        let mut p = at.p - step;
        let is_inside = at.change > 0.0 && lo.p <= p && p <= hi.p;
        if !is_inside {
            if at.p <= lo.p && at.value >= 0.0 || at.p >= hi.p && at.value <= 0.0 {
                // The minimum lies beyond the end by less than the end tolerance.
                break;
            }
            p = 0.5 * (lo.p + hi.p);
        }
        let moved = (p - at.p).abs();
        if moved <= 1e-15 * (b.p - a.p).max(p.abs()) {
            break;
        }
        at = sample(p);
        if at.value < 0.0 {
            lo = at;
        } else {
            hi = at;
        }
    }
    // Distance in the parameter from the minimum within which the slope stays below the threshold.
    let width = level.slope * at.scale / at.change;
    if at.change > 0.0 && width * at.speed <= level.length {
        found(Found::Minimum(at.p));
    } else {
        let [p, q] = [at.p - width, at.p + width].map(|p| p.clamp(a.p, b.p));
        found(Found::Level(sample(p), sample(q)));
    }
}
