//! Branch and bound: all zeros of a system of equations in a box.
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
//! which shrinks the cell, or empties it; and where `(|I − Y J₀| + |Y| S) r < r` the system is one-to-one:
//! there is one zero at most. The half is there because `S` grows linearly from the middle.

use arrayvec::ArrayVec;
use nalgebra::{Matrix2, SMatrix, SVector, Vector2};

/// A box of unit-box parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell<const N: usize> {
    pub middle: SVector<f64, N>,
    pub radius: SVector<f64, N>,
    /// There is one zero at most.
    pub unique: bool,
}

/// A system of equations about a cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Model<const N: usize> {
    /// Values at the middle.
    pub value: SVector<f64, N>,
    /// Rounding of the values.
    pub noise: SVector<f64, N>,
    /// Jacobian at the middle.
    pub jacobian: SMatrix<f64, N, N>,
    /// How far it is from that anywhere in the cell, rounding included.
    pub spread: SMatrix<f64, N, N>,
    /// Two parameters that the first two equations alone give when the others are given.
    pub given: Option<[usize; 2]>,
}

/// What a look at a cell tells.
#[derive(Clone, Copy, Debug)]
pub(super) enum Look<const N: usize> {
    /// Nothing that is looked for is in it.
    Nothing,
    /// It must be cut.
    Unknown,
    /// The equations.
    Model(Model<N>),
}

/// A system of equations.
pub(super) trait System<const N: usize> {
    /// What is known over a cell.
    fn look(&mut self, cell: &Cell<N>) -> Look<N>;
    /// Largest lengths (mm) in space of unit steps of the parameters over the cell that was looked at last.
    fn lengths(&self) -> SVector<f64, N>;
    /// Whether a known zero is in a cell.
    fn is_known(&self, cell: &Cell<N>) -> bool;
    /// Deals with a cell that is too small to hold two zeros that count as two. `false`: undecided.
    fn settle(&mut self, cell: &Cell<N>) -> bool;
}

/// Whether a known zero is in a cell.
pub(super) fn holds_one<const N: usize>(cell: &Cell<N>, known: &[SVector<f64, N>]) -> bool {
    known.iter().any(|x| (0..N).all(|i| (x[i] - cell.middle[i]).abs() <= cell.radius[i]))
}

/// Whether a known zero is within a distance (mm, along each parameter) of the middle of a cell over which
/// unit steps have these lengths (mm).
pub(super) fn is_beside_one<const N: usize>(
    cell: &Cell<N>,
    known: &[SVector<f64, N>],
    lengths: &SVector<f64, N>,
    distance: f64,
) -> bool {
    let near = |x: &SVector<f64, N>| (0..N).all(|i| (x[i] - cell.middle[i]).abs() * lengths[i] <= distance);
    known.iter().any(near)
}

/// What a search has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    /// Cells that were looked at.
    pub cells: u64,
    /// Cells that may hold a zero that is not known.
    pub undecided: u64,
}

/// Depth of the search: each cut leaves one cell on the stack.
const DEPTH: usize = 192;

/// Looks for all zeros between `lo` and `hi`. Cells whose sides are all shorter than `smallest` (mm) are
/// resolved, no more than `budget` are looked at.
pub(super) fn search<const N: usize>(
    system: &mut impl System<N>,
    lo: &SVector<f64, N>,
    hi: &SVector<f64, N>,
    smallest: f64,
    budget: u64,
) -> Outcome {
    let mut out = Outcome::default();
    let mut stack: ArrayVec<Cell<N>, DEPTH> = ArrayVec::new();
    stack.push(Cell { middle: (lo + hi) * 0.5, radius: (hi - lo) * 0.5, unique: false });
    while let Some(mut cell) = stack.pop() {
        loop {
            if out.cells == budget {
                out.undecided += 1 + stack.len() as u64;
                return out;
            }
            out.cells += 1;
            let before = cell.radius;
            let mut given = None;
            match system.look(&cell) {
                Look::Nothing => break,
                Look::Unknown => {}
                Look::Model(model) => {
                    given = model.given;
                    if !narrow(&mut cell, &model) || (cell.unique && system.is_known(&cell)) {
                        break;
                    }
                }
            }
            let sides = cell.radius.component_mul(&system.lengths()) * 2.0;
            if sides.iter().all(|s| *s <= smallest) {
                out.undecided += u64::from(!system.settle(&cell));
                break;
            }
            let shrunk = (0..N).any(|i| cell.radius[i] < 0.5 * before[i]);
            if shrunk {
                continue;
            }
            let Some([first, second]) =
                halves(&cell, &weighed(&sides, given)).filter(|_| stack.remaining_capacity() > 0)
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

/// What follows from the other parameters is cut only when it is much longer.
fn weighed<const N: usize>(sides: &SVector<f64, N>, given: Option<[usize; 2]>) -> SVector<f64, N> {
    let follows = |i: usize| given.is_some_and(|g| g.contains(&i));
    SVector::from_fn(|i, _| if follows(i) { 0.2 * sides[i] } else { sides[i] })
}

/// The cell cut across its longest side; `None` when there are no numbers left between.
fn halves<const N: usize>(cell: &Cell<N>, sides: &SVector<f64, N>) -> Option<[Cell<N>; 2]> {
    let longest = (0..N).filter(|&i| sides[i].is_finite()).max_by(|&i, &j| sides[i].total_cmp(&sides[j]))?;
    let r = 0.5 * cell.radius[longest];
    let part = |sign: f64| {
        let mut c = *cell;
        c.middle[longest] += sign * r;
        // Rounding must not open a slit between the halves.
        c.radius[longest] = r * (1.0 + 1e-12) + 4.0 * f64::EPSILON;
        c
    };
    (r > 16.0 * f64::EPSILON).then(|| [part(-1.0), part(1.0)])
}

/// Shrinks a cell to where zeros can be; `false` when there are none.
fn narrow<const N: usize>(cell: &mut Cell<N>, m: &Model<N>) -> bool {
    let r = cell.radius;
    let room = m.jacobian.abs() * r + m.spread * r * 0.5 + m.noise;
    // NaN leaves everything open.
    if (0..N).any(|i| m.value[i].abs() > room[i] * (1.0 + 1e-12)) {
        return false;
    }
    let mut span = Span { lo: -r, hi: r };
    if !by_all(cell, m, &mut span) || !by_two(&r, m, &mut span) {
        return false;
    }
    for i in 0..N {
        let (a, b) = (span.lo[i], span.hi[i]);
        cell.middle[i] += 0.5 * (a + b);
        cell.radius[i] = (0.5 * (b - a)) * (1.0 + 1e-12) + 4.0 * f64::EPSILON;
    }
    true
}

/// Where zeros can be, relative to the middle of a cell.
struct Span<const N: usize> {
    lo: SVector<f64, N>,
    hi: SVector<f64, N>,
}

impl<const N: usize> Span<N> {
    /// Keeps what is within `reach` of `x`; `false` when nothing is left.
    fn meet(&mut self, i: usize, x: f64, reach: f64) -> bool {
        let reach = reach * (1.0 + 1e-12) + 4.0 * f64::EPSILON * (1.0 + x.abs());
        if !reach.is_finite() || !x.is_finite() {
            return true;
        }
        self.lo[i] = self.lo[i].max(x - reach);
        self.hi[i] = self.hi[i].min(x + reach);
        self.lo[i] <= self.hi[i]
    }
}

/// Krawczyk's step with all equations, and whether there is one zero at most.
fn by_all<const N: usize>(cell: &mut Cell<N>, m: &Model<N>, span: &mut Span<N>) -> bool {
    let r = cell.radius;
    let Some(y) = m.jacobian.try_inverse() else { return true };
    let size = y.abs();
    let rounding = size * m.jacobian.abs() * (8.0 * f64::EPSILON);
    let off = ((SMatrix::<f64, N, N>::identity() - y * m.jacobian).abs() + rounding) * r;
    let spread = size * m.spread * r;
    let zero = -(y * m.value);
    let open = off + spread * 0.5 + size * (m.noise + m.value.abs() * (4.0 * f64::EPSILON));
    cell.unique |= (0..N).all(|i| off[i] + spread[i] < r[i]);
    (0..N).all(|i| span.meet(i, zero[i], open[i]))
}

/// The same with the first two equations for two parameters: it narrows these to what the others leave open
/// long before all equations together narrow anything.
fn by_two<const N: usize>(r: &SVector<f64, N>, m: &Model<N>, span: &mut Span<N>) -> bool {
    let Some(given) = m.given else { return true };
    let block = Matrix2::from_fn(|i, j| m.jacobian[(i, given[j])]);
    let Some(y) = block.try_inverse() else { return true };
    let own = Vector2::from_fn(|j, _| r[given[j]]);
    let others = |v: &dyn Fn(usize) -> Vector2<f64>| {
        (0..N).filter(|k| !given.contains(k)).fold(Vector2::zeros(), |sum: Vector2<f64>, k| sum + v(k) * r[k])
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
    (0..2).all(|j| span.meet(given[j], zero[j], reach[j]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use feeler_geom::math;

    /// sin(a x) = 0, sin(b y) = 0, mixed by a matrix.
    struct Waves {
        a: f64,
        b: f64,
        mix: Matrix2<f64>,
        found: Vec<Vector2<f64>>,
    }

    impl System<2> for Waves {
        fn look(&mut self, cell: &Cell<2>) -> Look<2> {
            let (a, b, m, r) = (self.a, self.b, cell.middle, cell.radius);
            let value = self.mix * Vector2::new(math::sin(a * m.x), math::sin(b * m.y));
            let jacobian = self.mix * Matrix2::new(a * math::cos(a * m.x), 0.0, 0.0, b * math::cos(b * m.y));
            let spread = self.mix.abs() * Matrix2::new(a * a * r.x, 0.0, 0.0, b * b * r.y);
            Look::Model(Model { value, noise: Vector2::repeat(1e-15), jacobian, spread, given: None })
        }
        fn lengths(&self) -> Vector2<f64> {
            Vector2::repeat(1.0)
        }
        fn is_known(&self, _: &Cell<2>) -> bool {
            false
        }
        fn settle(&mut self, cell: &Cell<2>) -> bool {
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

    /// Where all points are zeros nothing is decided, and the budget ends the search.
    #[test]
    fn a_continuum_is_undecided() {
        struct Flat;
        impl System<1> for Flat {
            fn look(&mut self, _: &Cell<1>) -> Look<1> {
                let none = SVector::<f64, 1>::zeros();
                let zero = SMatrix::<f64, 1, 1>::zeros();
                Look::Model(Model { value: none, noise: none, jacobian: zero, spread: zero, given: None })
            }
            fn lengths(&self) -> SVector<f64, 1> {
                SVector::<f64, 1>::repeat(10.0)
            }
            fn is_known(&self, _: &Cell<1>) -> bool {
                true
            }
            fn settle(&mut self, _: &Cell<1>) -> bool {
                false
            }
        }
        let (lo, hi) = (SVector::<f64, 1>::zeros(), SVector::<f64, 1>::repeat(1.0));
        let out = search(&mut Flat, &lo, &hi, 1e-5, 500);
        assert_eq!(out.cells, 500, "{out:?}");
        assert!(out.undecided > 0, "{out:?}");
    }

    /// A double zero is never called unique; the small cells around it are few.
    #[test]
    fn a_double_zero_is_small() {
        struct Square {
            resolved: u32,
        }
        impl System<1> for Square {
            fn look(&mut self, cell: &Cell<1>) -> Look<1> {
                let (x, r) = (cell.middle[0] - 0.3, cell.radius[0]);
                let one = |v: f64| SVector::<f64, 1>::repeat(v);
                let m = |v: f64| SMatrix::<f64, 1, 1>::repeat(v);
                Look::Model(Model {
                    value: one(x * x),
                    noise: one(1e-17),
                    jacobian: m(2.0 * x),
                    spread: m(2.0 * r),
                    given: None,
                })
            }
            fn lengths(&self) -> SVector<f64, 1> {
                SVector::<f64, 1>::repeat(1.0)
            }
            fn is_known(&self, _: &Cell<1>) -> bool {
                true
            }
            fn settle(&mut self, cell: &Cell<1>) -> bool {
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
