//! Tetrahedra with four nodes and hexahedra with eight nodes, in total Lagrangian form.

use feeler_geom::{P3, V3};
use nalgebra::{DMatrix, Matrix3, SymmetricEigen};

/// Integration point of an element with `N` nodes.
#[derive(Clone, Copy, Debug)]
struct QuadraturePoint<const N: usize> {
    /// Gradients of the shape functions with respect to the reference position (1/mm).
    gradients: [V3; N],
    /// Volume that the point represents (mm³).
    volume: f64,
}

/// Element with `N` nodes and `Q` integration points.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Element<const N: usize, const Q: usize> {
    /// Indices of the nodes.
    pub(crate) nodes: [u32; N],
    points: [QuadraturePoint<N>; Q],
    /// Integrals of the shape functions (mm³): the row-sum lumped mass divided by the density.
    pub(crate) shares: [f64; N],
}

/// Tetrahedron with four nodes and one integration point, which is exact because the strain is constant.
pub(crate) type Tetrahedron = Element<4, 1>;
/// Hexahedron with eight nodes and 2×2×2 integration points.
pub(crate) type Hexahedron = Element<8, 8>;

/// Signs of the local coordinates of the nodes of a hexahedron, in the order of gmsh.
const HEXAHEDRON_CORNERS: [[f64; 3]; 8] = [
    [-1.0, -1.0, -1.0],
    [1.0, -1.0, -1.0],
    [1.0, 1.0, -1.0],
    [-1.0, 1.0, -1.0],
    [-1.0, -1.0, 1.0],
    [1.0, -1.0, 1.0],
    [1.0, 1.0, 1.0],
    [-1.0, 1.0, 1.0],
];

impl Tetrahedron {
    /// Creates a tetrahedron. Returns `None` unless its volume is positive.
    pub(crate) fn new(nodes: [u32; 4], corners: [P3; 4]) -> Option<Self> {
        let local = [V3::new(-1.0, -1.0, -1.0), V3::x(), V3::y(), V3::z()];
        let point = quadrature_point(&corners, &local, 1.0 / 6.0)?;
        Some(Self { nodes, points: [point], shares: [0.25 * point.volume; 4] })
    }
}

impl Hexahedron {
    /// Creates a hexahedron. Returns `None` unless the Jacobian is positive at all integration points.
    pub(crate) fn new(nodes: [u32; 8], corners: [P3; 8]) -> Option<Self> {
        let abscissa = 1.0 / 3.0_f64.sqrt();
        let mut points = [QuadraturePoint { gradients: [V3::zeros(); 8], volume: 0.0 }; 8];
        let mut shares = [0.0; 8];
        for (point, at) in points.iter_mut().zip(&HEXAHEDRON_CORNERS) {
            let mut local = [V3::zeros(); 8];
            let mut values = [0.0; 8];
            for (k, c) in HEXAHEDRON_CORNERS.iter().enumerate() {
                let [fx, fy, fz] = [0, 1, 2].map(|i| 1.0 + c[i] * at[i] * abscissa);
                values[k] = 0.125 * fx * fy * fz;
                local[k] = V3::new(c[0] * fy * fz, fx * c[1] * fz, fx * fy * c[2]) * 0.125;
            }
            *point = quadrature_point(&corners, &local, 1.0)?;
            for (share, value) in shares.iter_mut().zip(values) {
                *share += value * point.volume;
            }
        }
        Some(Self { nodes, points, shares })
    }
}

/// Computes an integration point from the gradients of the shape functions in local coordinates and the
/// weight of the rule. Returns `None` unless the Jacobian is finite and positive.
fn quadrature_point<const N: usize>(
    corners: &[P3; N],
    local: &[V3; N],
    weight: f64,
) -> Option<QuadraturePoint<N>> {
    let jacobian =
        corners.iter().zip(local).fold(Matrix3::zeros(), |sum, (x, g)| sum + x.coords * g.transpose());
    let volume = weight * jacobian.determinant();
    let inverse = jacobian.try_inverse()?;
    let gradients = local.map(|g| inverse.tr_mul(&g));
    let finite = gradients.iter().all(|g| g.iter().all(|c| c.is_finite()));
    (volume.is_finite() && volume > 0.0 && finite).then_some(QuadraturePoint { gradients, volume })
}

impl<const N: usize, const Q: usize> Element<N, Q> {
    /// Subtracts the internal forces (N) of the element from `forces`. Returns the strain energy (mJ), or
    /// `None` if the deformation is inverted or not finite at an integration point.
    pub(crate) fn subtract_internal_forces(
        &self,
        lame: (f64, f64),
        positions: &[P3],
        forces: &mut [V3],
    ) -> Option<f64> {
        let mut energy = 0.0;
        for point in &self.points {
            let gradient = self.deformation_gradient(point, positions);
            let det = gradient.determinant();
            if !(det.is_finite() && det > 0.0) {
                return None;
            }
            let strain = (gradient.tr_mul(&gradient) - Matrix3::identity()) * 0.5;
            let stress = second_piola_kirchhoff(lame, &strain);
            energy += 0.5 * point.volume * stress.dot(&strain);
            let first = gradient * stress * point.volume;
            for (&node, g) in self.nodes.iter().zip(&point.gradients) {
                forces[node as usize] -= first * g;
            }
        }
        Some(energy)
    }

    fn deformation_gradient(&self, point: &QuadraturePoint<N>, positions: &[P3]) -> Matrix3<f64> {
        self.nodes
            .iter()
            .zip(&point.gradients)
            .fold(Matrix3::zeros(), |sum, (&n, g)| sum + positions[n as usize].coords * g.transpose())
    }

    /// Second Piola–Kirchhoff stress (N/mm²) at the integration points.
    pub(crate) fn stresses(&self, lame: (f64, f64), positions: &[P3]) -> [Matrix3<f64>; Q] {
        self.points.map(|point| {
            let gradient = self.deformation_gradient(&point, positions);
            second_piola_kirchhoff(lame, &((gradient.tr_mul(&gradient) - Matrix3::identity()) * 0.5))
        })
    }

    /// Stiffness matrix for small strains (N/mm); rows 3k to 3k + 2 belong to node k of the element.
    pub(crate) fn stiffness(&self, (lambda, mu): (f64, f64)) -> DMatrix<f64> {
        let mut matrix = DMatrix::zeros(3 * N, 3 * N);
        for point in &self.points {
            for (a, ga) in point.gradients.iter().enumerate() {
                for (b, gb) in point.gradients.iter().enumerate() {
                    let block = ga * gb.transpose() * lambda
                        + gb * ga.transpose() * mu
                        + Matrix3::identity() * (mu * ga.dot(gb));
                    let mut view = matrix.fixed_view_mut::<3, 3>(3 * a, 3 * b);
                    view += block * point.volume;
                }
            }
        }
        matrix
    }

    /// Upper bound of the largest eigenvalue ω² (1/s²) of the element's small-strain stiffness with its own
    /// lumped mass. Returns `None` if the stiffness is not finite.
    pub(crate) fn max_eigenvalue(&self, lame: (f64, f64), density: f64) -> Option<f64> {
        let mut matrix = self.stiffness(lame);
        for i in 0..3 * N {
            for j in 0..3 * N {
                matrix[(i, j)] /= density * (self.shares[i / 3] * self.shares[j / 3]).sqrt();
            }
        }
        let norm = matrix.norm();
        if !norm.is_finite() {
            return None;
        }
        // The Frobenius norm bounds all eigenvalues.
        let largest = SymmetricEigen::try_new(matrix, f64::EPSILON, MAX_EIGEN_ITERATIONS)
            .map_or(norm, |eigen| eigen.eigenvalues.max());
        Some(largest * (1.0 + EIGENVALUE_MARGIN))
    }
}

/// Maximum number of iterations of the eigenvalue solver. With a smaller value, the solver may stop early and
/// the Frobenius norm, a looser bound, is used; a larger one has no effect on matrices of this size.
const MAX_EIGEN_ITERATIONS: usize = 1000;
/// Relative margin above computed eigenvalues, for their rounding errors. A larger value shortens the stable
/// time step by half of it; a value below 1e-13 could lose the guarantee.
const EIGENVALUE_MARGIN: f64 = 1e-9;

fn second_piola_kirchhoff((lambda, mu): (f64, f64), strain: &Matrix3<f64>) -> Matrix3<f64> {
    strain * (2.0 * mu) + Matrix3::identity() * (lambda * strain.trace())
}
