//! Minima of a function of one parameter from its slope: at vertices, and along valleys of two curves.
//!
//! The slope and its derivative are sampled at the ends of intervals, which are cut in two until the cubic
//! through the samples tells the signs of the slope with a margin of what it is off at the cut, by value
//! and by derivative.

/// A sampled slope.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slope {
    /// The parameter.
    pub p: f64,
    /// Derivative of half the squared distance.
    pub value: f64,
    /// Its derivative.
    pub change: f64,
    /// Length of the curve for a change of the parameter by 1.
    pub speed: f64,
    /// What `value` is divided by to be the change of the distance with length: the distance times the speed.
    pub scale: f64,
}

/// What is found along an interval.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Found {
    /// A strict minimum.
    Minimum(f64),
    /// The distance is level, or so weakly curved around a minimum that it is within `level` of it.
    Level(Slope, Slope),
}

/// When a slope is as good as none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Level {
    /// Change of the distance with length.
    pub slope: f64,
    /// Half the length (mm) over which a slope must stay below that.
    pub length: f64,
}

/// Halvings of an interval: what is left then are pairs of a minimum and a maximum about to vanish.
const HALVINGS: u32 = 24;

/// Part of an interval by which a minimum may lie beyond its ends: neighbours must not both leave it to the
/// other one.
pub(crate) const BEYOND: f64 = 1e-9;

/// Where intervals are cut: beside the middle, which is a special place of much that is symmetric.
const ASIDE: f64 = 0.4937;

/// Rounding of slopes, as part of their scale.
const ROUNDING: f64 = 4e-16;

/// Finds all minima and level stretches in `[from, to]`.
pub(crate) fn minima(
    sample: &mut impl FnMut(f64) -> Slope,
    [from, to]: [f64; 2],
    level: &Level,
    found: &mut impl FnMut(Found),
) {
    let (first, last) = (sample(from), sample(to));
    let reach = BEYOND * (to - from);
    search(sample, first, last, reach, HALVINGS, level, found);
}

/// Recursion: at most [`HALVINGS`] deep.
fn search(
    sample: &mut impl FnMut(f64) -> Slope,
    a: Slope,
    b: Slope,
    reach: f64,
    halvings: u32,
    level: &Level,
    found: &mut impl FnMut(Found),
) {
    let h = b.p - a.p;
    let m = sample(h.mul_add(ASIDE, a.p));
    let scale = a.scale.max(b.scale).max(m.scale);
    let (t, r) = (ASIDE, 1.0 - ASIDE);
    let expected = r * r * ((1.0 + 2.0 * t) * a.value + h * t * a.change)
        + t * t * ((1.0 + 2.0 * r) * b.value - h * r * b.change);
    let rise = 6.0 * t * r * (b.value - a.value)
        + h * (r * (1.0 - 3.0 * t) * a.change + t * (1.0 - 3.0 * r) * b.change);
    let off = 4.0 * (m.value - expected).abs() + (h * m.change - rise).abs() + ROUNDING * scale;
    let c = [a.value, a.value + h / 3.0 * a.change, b.value - h / 3.0 * b.change, b.value];
    if c.iter().all(|c| c.abs() + off <= level.slope * a.scale.min(b.scale).min(m.scale)) {
        found(Found::Level(a, b));
        return;
    }
    if c.iter().all(|&c| c > off) || c.iter().all(|&c| c < -off) {
        // A minimum just beyond an end is a minimum of this interval, too.
        for end in [a, b] {
            if end.change > 0.0 && end.value.abs() <= reach * end.change {
                found(Found::Minimum(end.p - end.value / end.change));
                return;
            }
        }
        return;
    }
    let changes = [a.change, 3.0 * (c[2] - c[1]) / h, b.change];
    let change_off = 8.0 * off / h;
    if changes.iter().all(|&d| d > change_off) {
        if a.value - reach * a.change <= 0.0 && 0.0 <= b.value + reach * b.change {
            report(sample, a, b, level, found);
        }
        return;
    }
    if changes.iter().all(|&d| d < -change_off) {
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

/// A minimum between samples of a rising slope; a level stretch around it where it is weakly curved.
fn report(
    sample: &mut impl FnMut(f64) -> Slope,
    a: Slope,
    b: Slope,
    level: &Level,
    found: &mut impl FnMut(Found),
) {
    let (mut lo, mut hi) = (a, b);
    let mut at = if a.value.abs() < b.value.abs() { a } else { b };
    // Newton, or a bisection where it leaves the bracket: 60 of those use up the bits.
    for _ in 0..60 {
        let step = at.value / at.change;
        let mut p = at.p - step;
        let is_inside = at.change > 0.0 && lo.p <= p && p <= hi.p;
        if !is_inside {
            if at.p <= lo.p && at.value >= 0.0 || at.p >= hi.p && at.value <= 0.0 {
                // Beyond the end by less than the reach.
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
    // How far from the minimum the slope stays below the level.
    let width = level.slope * at.scale / at.change;
    if at.change > 0.0 && width * at.speed <= level.length {
        found(Found::Minimum(at.p));
    } else {
        let [p, q] = [at.p - width, at.p + width].map(|p| p.clamp(a.p, b.p));
        found(Found::Level(sample(p), sample(q)));
    }
}
