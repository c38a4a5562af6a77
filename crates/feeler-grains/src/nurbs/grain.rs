//! Grains bounded by closed surfaces, and the checks of such surfaces.

use super::error::Direction;
use super::mass::{GrainMass, mass};
use super::{ControlNet, NurbsGrainError};
use feeler_geom::bezier::BezierSurface;
use feeler_geom::nurbs::NurbsSurface;
use feeler_geom::{Aabb, P2, P3, Rect, Surface, V3, math};

/// Topology of a closed surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topology {
    /// Periodic in one direction, with a pole at each end of the other one.
    Sphere,
    /// Periodic in both directions.
    Torus,
}

/// A grain bounded by one closed, smooth NURBS surface whose natural normal ∂u × ∂v points outwards.
///
/// Coordinates are those of the surface (mm); the centroid need not be their origin.
#[derive(Clone, Debug, PartialEq)]
pub struct NurbsGrain {
    surface: NurbsSurface,
    grid: BezierSurface,
    topology: Topology,
    mass: GrainMass,
}

/// Largest distance between two sides of the surface that count as coincident, and largest diagonal of
/// the box of a side that counts as a pole, relative to the size of the grain. Open surfaces pass with a
/// larger value; nets with few digits count as open with a smaller one.
const MAX_SEAM_GAP: f64 = 1e-7;
/// Largest angle (rad) between the tangent planes on both sides of a seam, or at a pole, at which the grain
/// counts as smooth there. With a larger value surfaces with creases are accepted; with a smaller one control
/// points with few decimals are refused as creased.
const MAX_SEAM_ANGLE: f64 = 1e-5;
/// Smallest sine of the angle between ∂u and ∂v at which the surface has a normal. A larger value
/// refuses slanted nets, a smaller one accepts folds.
const MIN_TANGENT_SINE: f64 = 1e-9;
/// Smallest volume of a grain relative to its area times its size. A larger value refuses thin grains, a
/// smaller one accepts rounding as a volume.
const MIN_RELATIVE_VOLUME: f64 = 1e-9;
/// Number of samples along each parameter of a patch in the checks of normals and of creases between
/// patches, and in [`NurbsGrain::curvature_range`].
const SAMPLES_PER_PARAMETER: u32 = 5;
/// Maximum number of halvings of a patch, alternately in u and v, in the proof that a grain is
/// star-shaped.
const MAX_HALVINGS: u32 = 9;

impl NurbsGrain {
    /// Checks a surface and creates the grain that it bounds. The surface must be closed by wrapping or
    /// by a smooth seam in one direction, and likewise or by poles in the other one. Weights must be
    /// positive. If the normal points inwards, u is reversed.
    ///
    /// Self-intersections are not searched for: [`NurbsGrain::is_star_shaped`] excludes them for most
    /// grains, and [`NurbsGrain::check_embedded`] searches for them in all grains.
    ///
    /// # Errors
    /// Returns a [`NurbsGrainError`] that states what is wrong and how to correct it.
    pub fn new(surface: NurbsSurface) -> Result<Self, NurbsGrainError> {
        let grid = surface.to_bezier()?;
        let topology = topology(&grid)?;
        check_normals(&grid)?;
        check_smooth(&grid)?;
        let mass = mass(&grid);
        let size = Aabb::of_points(&grid.points()).diagonal();
        let has_volume = mass.volume.abs() > MIN_RELATIVE_VOLUME * mass.area * size;
        if !has_volume {
            return Err(NurbsGrainError::Volume { volume: mass.volume });
        }
        if mass.volume < 0.0 {
            return Self::new(reversed(&surface));
        }
        Ok(Self { surface, grid, topology, mass })
    }

    /// Creates the grain of a control net.
    ///
    /// # Errors
    /// Those of [`ControlNet::surface`] and [`NurbsGrain::new`].
    pub fn of_net(net: &ControlNet) -> Result<Self, NurbsGrainError> {
        Self::new(net.surface()?)
    }

    /// NURBS surface of the grain.
    #[must_use]
    pub fn surface(&self) -> &NurbsSurface {
        &self.surface
    }

    /// Rational Bézier patches of the surface.
    #[must_use]
    pub fn grid(&self) -> &BezierSurface {
        &self.grid
    }

    /// Topology of the surface.
    #[must_use]
    pub fn topology(&self) -> Topology {
        self.topology
    }

    /// Area, volume, centroid and inertia at density 1. All but the area are exact to rounding for
    /// polynomial surfaces, and to a relative error of 1e-12 for rational ones.
    #[must_use]
    pub fn mass(&self) -> &GrainMass {
        &self.mass
    }

    /// Diagonal of the bounding box of all control points (mm).
    #[must_use]
    pub fn size(&self) -> f64 {
        Aabb::of_points(&self.grid.points()).diagonal()
    }

    /// Point (mm) and outward unit normal of the surface at the parameters `uv`, which may be at a pole
    /// or a seam.
    #[must_use]
    pub fn at(&self, uv: P2) -> (P3, V3) {
        (self.grid.derivs(uv).p, self.grid.normal(uv))
    }

    /// Whether each ray from `center` (mm) is proven to intersect the surface exactly once, which
    /// excludes self-intersections. The proof is based on control points, not on samples. Returns
    /// `false` if the maximum number of halvings does not suffice for a proof, and for tori.
    #[must_use]
    pub fn is_star_shaped(&self, center: &P3) -> bool {
        let surface = Surface::Bezier(self.grid.clone());
        let (n_u, n_v) = self.grid.n_patches();
        let patches = (0..n_u).flat_map(|i| (0..n_v).map(move |j| (i, j)));
        self.topology == Topology::Sphere
            && patches.into_iter().all(|p| faces_away(&surface, &self.grid.patch_rect(p), center, 0))
    }

    /// Smallest and largest principal curvature (1/mm) at samples of all patches. Curvature is positive
    /// where the grain is convex and negative where it is concave.
    #[must_use]
    pub fn curvature_range(&self) -> [f64; 2] {
        let surface = Surface::Bezier(self.grid.clone());
        let mut range = [f64::INFINITY, f64::NEG_INFINITY];
        sample_interiors(&self.grid, |uv| {
            let p = surface.principal(uv);
            range = [range[0].min(p.k1), range[1].max(p.k2)];
        });
        range
    }
}

/// Whether the outward normals at all points of the surface over the parameter rectangle `rect` are
/// proven to form angles below 90° with the direction from `center` to the point. `depth` is the number
/// of halvings of the patch so far.
fn faces_away(surface: &Surface, rect: &Rect, center: &P3, depth: u32) -> bool {
    // The products of the generators of the normals and the hull points bound those of all normals and
    // points.
    if let Some(normals) = surface.normal_generators(rect) {
        let hull = surface.hull_points(rect);
        if normals.iter().all(|n| hull.iter().all(|p| n.dot(&(p - center)) > 0.0)) {
            return true;
        }
    }
    if depth >= MAX_HALVINGS {
        return false;
    }
    let (u, v) = (0.5 * (rect.u0 + rect.u1), 0.5 * (rect.v0 + rect.v1));
    let parts = if depth.is_multiple_of(2) {
        [Rect { u1: u, ..*rect }, Rect { u0: u, ..*rect }]
    } else {
        [Rect { v1: v, ..*rect }, Rect { v0: v, ..*rect }]
    };
    parts.iter().all(|part| faces_away(surface, part, center, depth + 1))
}

/// Calls `at` with parameters (u, v) that are evenly spread over the interior of each patch.
fn sample_interiors(grid: &BezierSurface, mut at: impl FnMut(P2)) {
    let (n_u, n_v) = grid.n_patches();
    let share = |k: u32| (f64::from(k) + 0.5) / f64::from(SAMPLES_PER_PARAMETER);
    for i in 0..n_u {
        for j in 0..n_v {
            let r = grid.patch_rect((i, j));
            for a in 0..SAMPLES_PER_PARAMETER {
                for b in 0..SAMPLES_PER_PARAMETER {
                    at(P2::new(r.u0 + share(a) * r.width(), r.v0 + share(b) * r.height()));
                }
            }
        }
    }
}

/// Checks that the surface has a normal at all samples of [`sample_interiors`].
fn check_normals(grid: &BezierSurface) -> Result<(), NurbsGrainError> {
    let mut wrong = None;
    sample_interiors(grid, |uv| {
        let d = grid.derivs(uv);
        let has_normal = d.du.cross(&d.dv).norm() > MIN_TANGENT_SINE * d.du.norm() * d.dv.norm();
        if !has_normal {
            wrong = wrong.or(Some(uv));
        }
    });
    wrong.map_or(Ok(()), |uv| Err(NurbsGrainError::Singular { u: uv.x, v: uv.y }))
}

/// Checks that adjacent patches have a common tangent plane.
fn check_smooth(grid: &BezierSurface) -> Result<(), NurbsGrainError> {
    let (n_u, n_v) = grid.n_patches();
    let normal = |patch: (usize, usize), uv: P2| {
        let d = grid.patch_derivs(patch, uv);
        d.du.cross(&d.dv)
    };
    let share = |k: u32| (f64::from(k) + 0.5) / f64::from(SAMPLES_PER_PARAMETER);
    for i in 0..n_u {
        for j in 0..n_v {
            let r = grid.patch_rect((i, j));
            let next = [(Direction::U, i + 1 < n_u, (i + 1, j)), (Direction::V, j + 1 < n_v, (i, j + 1))];
            for (direction, _, other) in next.into_iter().filter(|n| n.1) {
                let at = |s: f64| match direction {
                    Direction::U => P2::new(r.u1, r.v0 + s * r.height()),
                    Direction::V => P2::new(r.u0 + s * r.width(), r.v1),
                };
                let off = |k: u32| angle_between(&normal((i, j), at(share(k))), &normal(other, at(share(k))));
                let angle = (0..SAMPLES_PER_PARAMETER).map(off).fold(0.0, f64::max);
                if angle > MAX_SEAM_ANGLE {
                    return Err(NurbsGrainError::Crease { direction, angle });
                }
            }
        }
    }
    Ok(())
}

/// Determines the topology. The error states why the surface is not closed.
fn topology(grid: &BezierSurface) -> Result<Topology, NurbsGrainError> {
    if grid.u_periodic && grid.v_periodic {
        return Ok(Topology::Torus);
    }
    if grid.u_periodic && is_collapsed(grid, Direction::V) {
        return check_poles(grid, Direction::V).map(|()| Topology::Sphere);
    }
    if grid.v_periodic && is_collapsed(grid, Direction::U) {
        return check_poles(grid, Direction::U).map(|()| Topology::Sphere);
    }
    // Report the defect along the direction that neither closes nor ends at poles.
    let open = |d| if d == Direction::U { !grid.u_periodic } else { !grid.v_periodic };
    let direction = match (is_collapsed(grid, Direction::U), is_collapsed(grid, Direction::V)) {
        (true, _) => Direction::V,
        (_, true) => Direction::U,
        _ if open(Direction::U) => Direction::U,
        _ => Direction::V,
    };
    let (gap, angle) = seam(grid, direction);
    let size = Aabb::of_points(&grid.points()).diagonal();
    if gap > MAX_SEAM_GAP * size {
        Err(NurbsGrainError::Open { direction, gap })
    } else {
        Err(NurbsGrainError::Crease { direction, angle })
    }
}

/// Returns the parameters (u, v) of two points, at the start and at the end of the domain along
/// `direction`. Their other parameter is at the fraction `share` of its range.
fn at_ends(grid: &BezierSurface, direction: Direction, share: f64) -> [P2; 2] {
    let d = grid.domain();
    match direction {
        Direction::U => [d.u0, d.u1].map(|u| P2::new(u, d.v0 + share * d.height())),
        Direction::V => [d.v0, d.v1].map(|v| P2::new(d.u0 + share * d.width(), v)),
    }
}

/// Number of samples along a side of the surface in the checks of seams and poles. With a larger value
/// the checks take longer, with a smaller one short defects are missed.
const SAMPLES_PER_SIDE: u32 = 64;

fn side_samples() -> impl Iterator<Item = f64> {
    (0..SAMPLES_PER_SIDE).map(|k| (f64::from(k) + 0.5) / f64::from(SAMPLES_PER_SIDE))
}

/// Whether both sides of the surface, at the start and at the end of `direction`, collapse to points,
/// which are then poles.
fn is_collapsed(grid: &BezierSurface, direction: Direction) -> bool {
    let size = Aabb::of_points(&grid.points()).diagonal();
    (0..2).all(|end| {
        let points: Vec<P3> =
            side_samples().map(|s| grid.derivs(at_ends(grid, direction, s)[end]).p).collect();
        Aabb::of_points(&points).diagonal() <= MAX_SEAM_GAP * size
    })
}

/// Compares the two sides of the surface at the ends of a direction: returns the largest distance (mm)
/// between corresponding points, and the largest angle (rad) between the tangent planes there.
fn seam(grid: &BezierSurface, direction: Direction) -> (f64, f64) {
    side_samples().fold((0.0, 0.0), |(gap, angle): (f64, f64), s| {
        let [a, b] = at_ends(grid, direction, s);
        let off = (grid.derivs(a).p - grid.derivs(b).p).norm();
        (gap.max(off), angle.max(angle_between(&grid.normal(a), &grid.normal(b))))
    })
}

/// Angle between two vectors (rad).
fn angle_between(a: &V3, b: &V3) -> f64 {
    math::atan2(a.cross(b).norm(), a.dot(b))
}

/// Checks that the tangent planes at each of the two poles, at the ends of a direction, agree for all
/// lines to the pole.
fn check_poles(grid: &BezierSurface, direction: Direction) -> Result<(), NurbsGrainError> {
    for (end, name) in ["start", "end"].into_iter().enumerate() {
        let normals: Vec<V3> =
            side_samples().map(|s| grid.normal(at_ends(grid, direction, s)[end])).collect();
        let angle = normals.iter().map(|n| angle_between(n, &normals[0])).fold(0.0, f64::max);
        if angle > MAX_SEAM_ANGLE {
            return Err(NurbsGrainError::Tip { direction, end: name, angle });
        }
    }
    Ok(())
}

/// Returns the same surface with the opposite direction of u (knots negated, rows in reverse order),
/// which reverses its natural normal.
fn reversed(s: &NurbsSurface) -> NurbsSurface {
    let rows = |n: usize| (0..n / s.n_v).rev().flat_map(|i| i * s.n_v..(i + 1) * s.n_v);
    NurbsSurface {
        u_knots: s.u_knots.iter().rev().map(|k| -k).collect(),
        points: rows(s.points.len()).map(|k| s.points[k]).collect(),
        weights: rows(s.weights.len()).map(|k| s.weights[k]).collect(),
        ..s.clone()
    }
}
