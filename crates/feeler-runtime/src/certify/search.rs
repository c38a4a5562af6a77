//! Branch and bound for all zeros of a system of equations `g(x) = 0` in a box of unit-box parameters `x`.
//!
//! # Source
//! Krawczyk's operator in mean value form (MATH §8; Neumaier, *Interval Methods for Systems of Equations*,
//! ch. 5). With the Jacobian `J(x)` within `S` of `J₀` over a cell of middle `m` and radii `r`, and
//! `Y ≈ J₀⁻¹`, every zero `m + δ` obeys
//!
//! ```text
//! |δ + Y g(m)| ≤ (|I − Y J₀| + ½ |Y| S) r,
//! ```
//!
//! which shrinks the cell or empties it. If `(|I − Y J₀| + |Y| S) r < r`, the system is one-to-one, so
//! that there is at most one zero. The factor ½ is due to the linear growth of `S` from the middle.

use arrayvec::ArrayVec;
use nalgebra::{Matrix2, SMatrix, SVector, Vector2};

/// A box of parameters in which zeros are searched for, in unit-box parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell<const N: usize> {
    pub middle: SVector<f64, N>,
    /// Half of the cell's side along each parameter.
    pub radius: SVector<f64, N>,
    /// Whether the cell is known to contain at most one zero; `false` does not exclude this.
    pub unique: bool,
}

/// Linear model of a system of equations over a cell, with bounds of its error.
#[derive(Clone, Copy, Debug)]
pub(super) struct Model<const N: usize> {
    /// Values of the equations at the middle of the cell.
    pub value: SVector<f64, N>,
    /// Upper bounds of the rounding errors of the components of `value`.
    pub noise: SVector<f64, N>,
    /// Jacobian of the equations at the middle of the cell.
    pub jacobian: SMatrix<f64, N, N>,
    /// Upper bounds of the absolute differences between the entries of the Jacobian anywhere in the cell
    /// and those at the middle, rounding included.
    pub spread: SMatrix<f64, N, N>,
    /// Indices of two parameters that the first two equations determine when the others are given;
    /// `None` if the equations have no such structure.
    pub determined: Option<[usize; 2]>,
}

/// Result of the evaluation of a cell.
#[derive(Clone, Copy, Debug)]
pub(super) enum CellResult<const N: usize> {
    /// The cell contains no solution.
    Excluded,
    /// No model is available over the cell; it must be halved.
    Undetermined,
    /// Linear model of the equations over the cell, with error bounds.
    Model(Model<N>),
}

/// The equations of the critical pairs of two areas, in N unit-box parameters.
pub(super) trait System<const N: usize> {
    /// Evaluates the equations over a cell, or proves that it contains no solution.
    fn evaluate(&mut self, cell: &Cell<N>) -> CellResult<N>;
    /// Upper bounds of the lengths (mm) in space of unit steps of the parameters over the cell that was
    /// evaluated last.
    fn lengths(&self) -> SVector<f64, N>;
    /// Whether a cell contains a zero that the solver has found.
    fn is_known(&self, cell: &Cell<N>) -> bool;
    /// Decides a cell that is too small to contain two distinct minima: stores the minimum in it, if there
    /// is one. Returns `false` if the cell stays undecided.
    fn resolve(&mut self, cell: &Cell<N>) -> bool;
}

/// Whether a cell contains one of the zeros `known`.
pub(super) fn contains_known<const N: usize>(cell: &Cell<N>, known: &[SVector<f64, N>]) -> bool {
    known.iter().any(|x| (0..N).all(|i| (x[i] - cell.middle[i]).abs() <= cell.radius[i]))
}

/// Whether one of the zeros `known` is within `distance` (mm, along each parameter) of the middle of a
/// cell. `lengths` (mm) are those of unit steps of the parameters.
fn is_near_known<const N: usize>(
    cell: &Cell<N>,
    known: &[SVector<f64, N>],
    lengths: &SVector<f64, N>,
    distance: f64,
) -> bool {
    let near = |x: &SVector<f64, N>| (0..N).all(|i| (x[i] - cell.middle[i]).abs() * lengths[i] <= distance);
    known.iter().any(near)
}

/// The zeros of a system, with the operations that find them by Newton's method and report those that
/// are minima.
pub(super) trait Minima<const N: usize> {
    /// Distance (mm) below which two footpoints belong to the same minimum.
    fn same(&self) -> f64;
    /// Zeros that the solver or this search has found.
    fn known(&mut self) -> &mut Vec<SVector<f64, N>>;
    /// Zero that Newton's method finds from `x`; `None` if it leaves the distance `reach` from `x`
    /// (unit-box parameters) or does not converge.
    fn polish(&self, x: &SVector<f64, N>, reach: &SVector<f64, N>) -> Option<SVector<f64, N>>;
    /// Adds the minima at the unit-box parameters `x` of a zero to the result. Returns whether there is
    /// at least one.
    fn report(&mut self, x: &SVector<f64, N>) -> bool;
}

/// Resolves a cell by Newton's method: it is resolved if its zero is known, is reported as a minimum, or is
/// the only one in the cell.
pub(super) fn resolve_by_newton<const N: usize, S: System<N> + Minima<N>>(
    system: &mut S,
    cell: &Cell<N>,
) -> bool {
    let (same, lengths) = (system.same(), system.lengths());
    if is_near_known(cell, system.known(), &lengths, 0.5 * same) {
        return true;
    }
    let reach = lengths.map(|l| 0.5 * same / l);
    let Some(x) = system.polish(&cell.middle, &reach) else { return false };
    if system.report(&x) {
        system.known().push(x);
        return true;
    }
    cell.unique
}

/// Returns the zero to which Newton's method converges from `x`, with the values and Jacobians that `model`
/// returns at given parameters. It has converged if a step is at rounding, or if a step below `stalled`
/// (unit-box parameters) is not shorter than half of the previous one. `None` if a parameter leaves the
/// distance `reach` from `x`, a model does not exist or is singular, or the method does not converge.
pub(super) fn newton<const N: usize>(
    x: &SVector<f64, N>,
    reach: &SVector<f64, N>,
    stalled: f64,
    mut model: impl FnMut(&SVector<f64, N>) -> Option<Model<N>>,
) -> Option<SVector<f64, N>> {
    let mut y = *x;
    let mut last = f64::INFINITY;
    for _ in 0..MAX_NEWTON_STEPS {
        let m = model(&y)?;
        let step = m.jacobian.try_inverse()? * m.value;
        y -= step;
        if !(0..N).all(|i| (y[i] - x[i]).abs() <= reach[i]) {
            return None;
        }
        let size = step.amax();
        if size <= 4.0 * f64::EPSILON || (size < stalled && size >= 0.5 * last) {
            return Some(y);
        }
        last = size;
    }
    None
}

/// Maximum number of steps of Newton's method in a small cell. More of them cost time in cells without a
/// zero; fewer leave ill-conditioned zeros undecided.
const MAX_NEWTON_STEPS: u32 = 30;

/// Result of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    /// Number of cells that the search has evaluated.
    pub cells: u64,
    /// Number of cells that may contain a zero that neither the solver nor the search has found.
    pub undecided: u64,
}

/// Maximum number of cells on the stack of a search; each halving pushes one of the halves. If the stack
/// is full, a cell that has to be halved stays undecided; the budget of cells ends most searches before.
const MAX_STACK: usize = 192;

/// Searches for all zeros in the box from `lo` to `hi` (unit-box parameters). Cells whose sides are all at
/// most `smallest` (mm in space) are passed to [`System::resolve`]. At most `budget` cells are evaluated.
pub(super) fn search<const N: usize>(
    system: &mut impl System<N>,
    lo: &SVector<f64, N>,
    hi: &SVector<f64, N>,
    smallest: f64,
    budget: u64,
) -> Outcome {
    let mut out = Outcome::default();
    let mut stack: ArrayVec<Cell<N>, MAX_STACK> = ArrayVec::new();
    stack.push(Cell { middle: (lo + hi) * 0.5, radius: (hi - lo) * 0.5, unique: false });
    while let Some(mut cell) = stack.pop() {
        loop {
            if out.cells == budget {
                out.undecided += 1 + stack.len() as u64;
                return out;
            }
            out.cells += 1;
            let before = cell.radius;
            let mut determined = None;
            match system.evaluate(&cell) {
                CellResult::Excluded => break,
                CellResult::Undetermined => {}
                CellResult::Model(model) => {
                    determined = model.determined;
                    if !narrow(&mut cell, &model) || (cell.unique && system.is_known(&cell)) {
                        break;
                    }
                }
            }
            let sides = cell.radius.component_mul(&system.lengths()) * 2.0;
            if sides.iter().all(|s| *s <= smallest) {
                out.undecided += u64::from(!system.resolve(&cell));
                break;
            }
            let shrunk = (0..N).any(|i| cell.radius[i] < 0.5 * before[i]);
            if shrunk {
                continue;
            }
            let Some([first, second]) =
                halves(&cell, &weighted(&sides, determined)).filter(|_| stack.remaining_capacity() > 0)
            else {
                out.undecided += 1;
                break;
            };
            stack.push(second);
            cell = first;
        }
    }
    out
}

/// Reduces the sides (mm) along the [`Model::determined`] parameters to a fifth, so that cells are
/// halved across them only if they are much longer than the others.
fn weighted<const N: usize>(sides: &SVector<f64, N>, determined: Option<[usize; 2]>) -> SVector<f64, N> {
    let is_determined = |i: usize| determined.is_some_and(|d| d.contains(&i));
    SVector::from_fn(|i, _| if is_determined(i) { 0.2 * sides[i] } else { sides[i] })
}

/// Halves a cell across the parameter with the largest entry of `sides`; `None` if the halves would be
/// below the resolution of doubles.
fn halves<const N: usize>(cell: &Cell<N>, sides: &SVector<f64, N>) -> Option<[Cell<N>; 2]> {
    let longest = (0..N).filter(|&i| sides[i].is_finite()).max_by(|&i, &j| sides[i].total_cmp(&sides[j]))?;
    let r = 0.5 * cell.radius[longest];
    let part = |sign: f64| {
        let mut c = *cell;
        c.middle[longest] += sign * r;
        // Rounding must not open a gap between the halves.
        c.radius[longest] = r * (1.0 + 1e-12) + 4.0 * f64::EPSILON;
        c
    };
    (r > 16.0 * f64::EPSILON).then(|| [part(-1.0), part(1.0)])
}

/// Shrinks a cell to a range that contains all its zeros. Returns `false` if it has no zero.
fn narrow<const N: usize>(cell: &mut Cell<N>, m: &Model<N>) -> bool {
    let r = cell.radius;
    let max_value = m.jacobian.abs() * r + m.spread * r * 0.5 + m.noise;
    // A NaN excludes nothing.
    if (0..N).any(|i| m.value[i].abs() > max_value[i] * (1.0 + 1e-12)) {
        return false;
    }
    let mut span = Span { lo: -r, hi: r };
    if !narrow_by_all(cell, m, &mut span) || !narrow_by_two(&r, m, &mut span) {
        return false;
    }
    for i in 0..N {
        let (a, b) = (span.lo[i], span.hi[i]);
        cell.middle[i] += 0.5 * (a + b);
        cell.radius[i] = (0.5 * (b - a)) * (1.0 + 1e-12) + 4.0 * f64::EPSILON;
    }
    true
}

/// Range of each parameter, relative to the middle of a cell, that contains all zeros of the cell.
struct Span<const N: usize> {
    lo: SVector<f64, N>,
    hi: SVector<f64, N>,
}

impl<const N: usize> Span<N> {
    /// Intersects the range of the parameter with index `i` with the interval of half-width `reach` about
    /// `x`. Returns `false` if the intersection is empty.
    fn intersect(&mut self, i: usize, x: f64, reach: f64) -> bool {
        let reach = reach * (1.0 + 1e-12) + 4.0 * f64::EPSILON * (1.0 + x.abs());
        if !reach.is_finite() || !x.is_finite() {
            return true;
        }
        self.lo[i] = self.lo[i].max(x - reach);
        self.hi[i] = self.hi[i].min(x + reach);
        self.lo[i] <= self.hi[i]
    }
}

/// Narrows the range `span` by Krawczyk's step with all equations, and sets [`Cell::unique`] if the cell
/// has at most one zero. Returns `false` if it has none.
fn narrow_by_all<const N: usize>(cell: &mut Cell<N>, m: &Model<N>, span: &mut Span<N>) -> bool {
    let r = cell.radius;
    let Some(y) = m.jacobian.try_inverse() else { return true };
    let size = y.abs();
    let rounding = size * m.jacobian.abs() * (8.0 * f64::EPSILON);
    let off = ((SMatrix::<f64, N, N>::identity() - y * m.jacobian).abs() + rounding) * r;
    let spread = size * m.spread * r;
    let zero = -(y * m.value);
    let open = off + spread * 0.5 + size * (m.noise + m.value.abs() * (4.0 * f64::EPSILON));
    cell.unique |= (0..N).all(|i| off[i] + spread[i] < r[i]);
    (0..N).all(|i| span.intersect(i, zero[i], open[i]))
}

/// Narrows the range `span` by Krawczyk's step with the first two equations for the two
/// [`Model::determined`] parameters. It narrows them to the range that the other parameters allow, in
/// cells that are much too large for a step with all equations. `r` are the radii of the cell. Returns
/// `false` if the cell has no zero.
fn narrow_by_two<const N: usize>(r: &SVector<f64, N>, m: &Model<N>, span: &mut Span<N>) -> bool {
    let Some(determined) = m.determined else { return true };
    let block = Matrix2::from_fn(|i, j| m.jacobian[(i, determined[j])]);
    let Some(y) = block.try_inverse() else { return true };
    let own = Vector2::from_fn(|j, _| r[determined[j]]);
    let others = |v: &dyn Fn(usize) -> Vector2<f64>| {
        (0..N)
            .filter(|k| !determined.contains(k))
            .fold(Vector2::zeros(), |sum: Vector2<f64>, k| sum + v(k) * r[k])
    };
    let rows = |v: &SVector<f64, N>| Vector2::new(v[0], v[1]);
    let rounding = y.abs() * block.abs() * (8.0 * f64::EPSILON);
    let off = ((Matrix2::identity() - y * block).abs() + rounding) * own;
    let moved = others(&|k| (y * m.jacobian.fixed_view::<2, 1>(0, k)).abs());
    let value = rows(&m.value);
    let open = rows(&(m.spread * r * 0.5 + m.noise)) + value.abs() * (4.0 * f64::EPSILON);
    let slack = others(&|k| y.abs() * m.jacobian.fixed_view::<2, 1>(0, k).abs() * (8.0 * f64::EPSILON));
    let reach = off + moved + slack + y.abs() * open;
    let zero = -(y * value);
    (0..2).all(|j| span.intersect(determined[j], zero[j], reach[j]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use feeler_geom::math;

    /// The system of equations sin(a x) = 0, sin(b y) = 0, multiplied by the matrix `mix`.
    struct Waves {
        a: f64,
        b: f64,
        mix: Matrix2<f64>,
        found: Vec<Vector2<f64>>,
    }

    impl System<2> for Waves {
        fn evaluate(&mut self, cell: &Cell<2>) -> CellResult<2> {
            let (a, b, m, r) = (self.a, self.b, cell.middle, cell.radius);
            let value = self.mix * Vector2::new(math::sin(a * m.x), math::sin(b * m.y));
            let jacobian = self.mix * Matrix2::new(a * math::cos(a * m.x), 0.0, 0.0, b * math::cos(b * m.y));
            let spread = self.mix.abs() * Matrix2::new(a * a * r.x, 0.0, 0.0, b * b * r.y);
            CellResult::Model(Model {
                value,
                noise: Vector2::repeat(1e-15),
                jacobian,
                spread,
                determined: None,
            })
        }
        fn lengths(&self) -> Vector2<f64> {
            Vector2::repeat(1.0)
        }
        fn is_known(&self, _: &Cell<2>) -> bool {
            false
        }
        fn resolve(&mut self, cell: &Cell<2>) -> bool {
            if !self.found.iter().any(|x| (x - cell.middle).norm() < 1e-5) {
                self.found.push(cell.middle);
            }
            cell.unique
        }
    }

    #[test]
    fn finds_every_zero_once() {
        let pi = std::f64::consts::PI;
        for k in 0..20 {
            let t = f64::from(k);
            let (a, b) = (3.0 + t, 2.0 + 0.7 * t);
            let mix = Matrix2::new(1.0, 0.9 * math::sin(t), 0.3, 1.0 + 0.2 * t);
            let mut waves = Waves { a, b, mix, found: vec![] };
            let (lo, hi) = (Vector2::repeat(0.1), Vector2::repeat(3.0));
            let out = search(&mut waves, &lo, &hi, 1e-6, 100_000);
            // Multiples of π / a in [0.1, 3].
            let count = |a: f64| (3.0 * a / pi).floor() - (0.1 * a / pi).ceil() + 1.0;
            let found = f64::from(u32::try_from(waves.found.len()).unwrap());
            assert!((found - count(a) * count(b)).abs() < 0.5, "{k}: {found} {out:?}");
            assert_eq!(out.undecided, 0, "{k}: {out:?}");
        }
    }

    /// If all points are zeros, nothing is decided, and the budget ends the search.
    #[test]
    fn a_continuum_is_undecided() {
        struct Flat;
        impl System<1> for Flat {
            fn evaluate(&mut self, _: &Cell<1>) -> CellResult<1> {
                let value = SVector::<f64, 1>::zeros();
                let zero = SMatrix::<f64, 1, 1>::zeros();
                CellResult::Model(Model {
                    value,
                    noise: value,
                    jacobian: zero,
                    spread: zero,
                    determined: None,
                })
            }
            fn lengths(&self) -> SVector<f64, 1> {
                SVector::<f64, 1>::repeat(10.0)
            }
            fn is_known(&self, _: &Cell<1>) -> bool {
                true
            }
            fn resolve(&mut self, _: &Cell<1>) -> bool {
                false
            }
        }
        let (lo, hi) = (SVector::<f64, 1>::zeros(), SVector::<f64, 1>::repeat(1.0));
        let out = search(&mut Flat, &lo, &hi, 1e-5, 500);
        assert_eq!(out.cells, 500, "{out:?}");
        assert!(out.undecided > 0, "{out:?}");
    }

    /// A double zero is never classified as unique, and few small cells remain around it.
    #[test]
    fn a_double_zero_is_small() {
        struct Square {
            resolved: u32,
        }
        impl System<1> for Square {
            fn evaluate(&mut self, cell: &Cell<1>) -> CellResult<1> {
                let (x, r) = (cell.middle[0] - 0.3, cell.radius[0]);
                let one = |v: f64| SVector::<f64, 1>::repeat(v);
                let m = |v: f64| SMatrix::<f64, 1, 1>::repeat(v);
                CellResult::Model(Model {
                    value: one(x * x),
                    noise: one(1e-17),
                    jacobian: m(2.0 * x),
                    spread: m(2.0 * r),
                    determined: None,
                })
            }
            fn lengths(&self) -> SVector<f64, 1> {
                SVector::<f64, 1>::repeat(1.0)
            }
            fn is_known(&self, _: &Cell<1>) -> bool {
                true
            }
            fn resolve(&mut self, cell: &Cell<1>) -> bool {
                assert!(!cell.unique, "{cell:?}");
                self.resolved += 1;
                false
            }
        }
        let mut square = Square { resolved: 0 };
        let (lo, hi) = (SVector::<f64, 1>::zeros(), SVector::<f64, 1>::repeat(1.0));
        let out = search(&mut square, &lo, &hi, 1e-6, 10_000);
        assert!(out.cells < 200 && out.undecided == u64::from(square.resolved), "{out:?}");
        assert!((1..=8).contains(&square.resolved), "{}", square.resolved);
    }
}
