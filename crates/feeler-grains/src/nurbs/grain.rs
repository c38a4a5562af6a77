//! A closed surface, looked at.

use super::error::Direction;
use super::mass::{GrainMass, mass};
use super::{ControlNet, GrainError};
use feeler_geom::bezier::BezierSurface;
use feeler_geom::nurbs::NurbsSurface;
use feeler_geom::{Aabb, P2, P3, Rect, Surface, V3, math};

/// How a closed surface is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topology {
    /// Periodic in one direction, with a pole at either end of the other one.
    Sphere,
    /// Periodic in both directions.
    Torus,
}

/// A grain bounded by one closed, smooth NURBS surface whose natural normal ∂u × ∂v points outwards.
///
/// It keeps its own coordinates (mm): its centroid need not be their origin.
#[derive(Clone, Debug, PartialEq)]
pub struct NurbsGrain {
    surface: NurbsSurface,
    grid: BezierSurface,
    topology: Topology,
    mass: GrainMass,
}

/// Sides nearer than this share of the size are one.
const CLOSED: f64 = 1e-7;
/// Tangent planes that differ by less (rad) are one.
const SMOOTH: f64 = 1e-5;
/// Sines of the angle between tangents below which there is no normal.
const FLAT: f64 = 1e-9;
/// Volumes below this share of area times size are none.
const EMPTY: f64 = 1e-9;
/// Points that are looked at along each parameter of a patch.
const LOOKS: u32 = 5;
/// Halvings of a patch in the proof that a grain is star-shaped.
const MOST_HALVINGS: u32 = 9;

impl NurbsGrain {
    /// Looks at a surface: closed by wrapping or a smooth seam in one direction, in the other one too or by
    /// poles; positive weights. One whose normal points inwards is turned round (u runs the other way then).
    ///
    /// Whether the surface runs through itself elsewhere is not asked here: [`NurbsGrain::is_star_shaped`]
    /// excludes it for most grains, [`NurbsGrain::check_embedded`] looks for it in all.
    ///
    /// # Errors
    /// [`GrainError`] with what is wrong and what to do.
    pub fn new(surface: NurbsSurface) -> Result<Self, GrainError> {
        let grid = surface.to_bezier()?;
        let topology = topology(&grid)?;
        regular(&grid)?;
        smooth(&grid)?;
        let mass = mass(&grid);
        let size = Aabb::of_points(&grid.points()).diagonal();
        let is_something = mass.volume.abs() > EMPTY * mass.area * size;
        if !is_something {
            return Err(GrainError::Volume { volume: mass.volume });
        }
        if mass.volume < 0.0 {
            return Self::new(reversed(&surface));
        }
        Ok(Self { surface, grid, topology, mass })
    }

    /// The grain of a net.
    ///
    /// # Errors
    /// As [`NurbsGrain::new`].
    pub fn of_net(net: &ControlNet) -> Result<Self, GrainError> {
        Self::new(net.surface()?)
    }

    /// The surface.
    #[must_use]
    pub fn surface(&self) -> &NurbsSurface {
        &self.surface
    }

    /// The same as rational Bézier patches.
    #[must_use]
    pub fn grid(&self) -> &BezierSurface {
        &self.grid
    }

    /// How the surface is closed.
    #[must_use]
    pub fn topology(&self) -> Topology {
        self.topology
    }

    /// Area, volume, centroid and inertia. Of polynomial surfaces to rounding, of rational ones to 1e-12.
    #[must_use]
    pub fn mass(&self) -> &GrainMass {
        &self.mass
    }

    /// Diagonal (mm) of the box around all control points.
    #[must_use]
    pub fn size(&self) -> f64 {
        Aabb::of_points(&self.grid.points()).diagonal()
    }

    /// Point and outward unit normal at parameters; those of poles and seams included.
    #[must_use]
    pub fn at(&self, uv: P2) -> (P3, V3) {
        (self.grid.derivs(uv).p, self.grid.normal(uv))
    }

    /// Whether each ray from `center` leaves the grain once: proved from control points, with no samples.
    /// Such a grain does not run through itself. `false` where it is not, or the proof takes too long.
    #[must_use]
    pub fn is_star_shaped(&self, center: &P3) -> bool {
        let surface = Surface::Bezier(self.grid.clone());
        let (n_u, n_v) = self.grid.n_patches();
        let patches = (0..n_u).flat_map(|i| (0..n_v).map(move |j| (i, j)));
        self.topology == Topology::Sphere
            && patches.into_iter().all(|p| faces_away(&surface, &self.grid.patch_rect(p), center, 0))
    }

    /// Smallest and largest principal curvature (1/mm) at points spread over the patches, positive where the
    /// grain bulges. A negative one: the grain is concave there.
    #[must_use]
    pub fn curvature_range(&self) -> [f64; 2] {
        let surface = Surface::Bezier(self.grid.clone());
        let mut range = [f64::INFINITY, f64::NEG_INFINITY];
        looked_at(&self.grid, |uv| {
            let p = surface.principal(uv);
            range = [range[0].min(p.k1), range[1].max(p.k2)];
        });
        range
    }
}

/// Whether all normals over the rectangle point away from the centre.
fn faces_away(surface: &Surface, rect: &Rect, center: &P3, depth: u32) -> bool {
    // Products of what spans the normals and what spans the points bound those of all normals and points.
    if let Some(normals) = surface.normal_generators(rect) {
        let hull = surface.hull_points(rect);
        if normals.iter().all(|n| hull.iter().all(|p| n.dot(&(p - center)) > 0.0)) {
            return true;
        }
    }
    if depth >= MOST_HALVINGS {
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

/// Calls with parameters spread over the insides of all patches.
fn looked_at(grid: &BezierSurface, mut at: impl FnMut(P2)) {
    let (n_u, n_v) = grid.n_patches();
    let share = |k: u32| (f64::from(k) + 0.5) / f64::from(LOOKS);
    for i in 0..n_u {
        for j in 0..n_v {
            let r = grid.patch_rect((i, j));
            for a in 0..LOOKS {
                for b in 0..LOOKS {
                    at(P2::new(r.u0 + share(a) * r.width(), r.v0 + share(b) * r.height()));
                }
            }
        }
    }
}

fn regular(grid: &BezierSurface) -> Result<(), GrainError> {
    let mut wrong = None;
    looked_at(grid, |uv| {
        let d = grid.derivs(uv);
        let has_normal = d.du.cross(&d.dv).norm() > FLAT * d.du.norm() * d.dv.norm();
        if !has_normal {
            wrong = wrong.or(Some(uv));
        }
    });
    wrong.map_or(Ok(()), |uv| Err(GrainError::Singular { u: uv.x, v: uv.y }))
}

/// Tangent planes are common where patches meet.
fn smooth(grid: &BezierSurface) -> Result<(), GrainError> {
    let (n_u, n_v) = grid.n_patches();
    let normal = |patch: (usize, usize), uv: P2| {
        let d = grid.patch_derivs(patch, uv);
        d.du.cross(&d.dv)
    };
    let share = |k: u32| (f64::from(k) + 0.5) / f64::from(LOOKS);
    for i in 0..n_u {
        for j in 0..n_v {
            let r = grid.patch_rect((i, j));
            let next = [(Direction::U, i + 1 < n_u, (i + 1, j)), (Direction::V, j + 1 < n_v, (i, j + 1))];
            for (direction, _, other) in next.into_iter().filter(|n| n.1) {
                let at = |s: f64| match direction {
                    Direction::U => P2::new(r.u1, r.v0 + s * r.height()),
                    Direction::V => P2::new(r.u0 + s * r.width(), r.v1),
                };
                let off = |k: u32| between(&normal((i, j), at(share(k))), &normal(other, at(share(k))));
                let angle = (0..LOOKS).map(off).fold(0.0, f64::max);
                if angle > SMOOTH {
                    return Err(GrainError::Crease { direction, angle });
                }
            }
        }
    }
    Ok(())
}

fn topology(grid: &BezierSurface) -> Result<Topology, GrainError> {
    if grid.u_periodic && grid.v_periodic {
        return Ok(Topology::Torus);
    }
    if grid.u_periodic && is_collapsed(grid, Direction::V) {
        return poles(grid, Direction::V).map(|()| Topology::Sphere);
    }
    if grid.v_periodic && is_collapsed(grid, Direction::U) {
        return poles(grid, Direction::U).map(|()| Topology::Sphere);
    }
    // What is the matter, along the direction that neither closes nor ends at poles.
    let open = |d| if d == Direction::U { !grid.u_periodic } else { !grid.v_periodic };
    let direction = match (is_collapsed(grid, Direction::U), is_collapsed(grid, Direction::V)) {
        (true, _) => Direction::V,
        (_, true) => Direction::U,
        _ if open(Direction::U) => Direction::U,
        _ => Direction::V,
    };
    let (gap, angle) = seam(grid, direction);
    let size = Aabb::of_points(&grid.points()).diagonal();
    if gap > CLOSED * size {
        Err(GrainError::Open { direction, gap })
    } else {
        Err(GrainError::Crease { direction, angle })
    }
}

/// Parameters at the ends of a direction, at a share of the other one.
fn at_ends(grid: &BezierSurface, direction: Direction, share: f64) -> [P2; 2] {
    let d = grid.domain();
    match direction {
        Direction::U => [d.u0, d.u1].map(|u| P2::new(u, d.v0 + share * d.height())),
        Direction::V => [d.v0, d.v1].map(|v| P2::new(d.u0 + share * d.width(), v)),
    }
}

/// Points across a side that are looked at.
const ACROSS: u32 = 64;

fn across() -> impl Iterator<Item = f64> {
    (0..ACROSS).map(|k| (f64::from(k) + 0.5) / f64::from(ACROSS))
}

/// Whether both ends of a direction are points.
fn is_collapsed(grid: &BezierSurface, direction: Direction) -> bool {
    let size = Aabb::of_points(&grid.points()).diagonal();
    (0..2).all(|end| {
        let points: Vec<P3> = across().map(|s| grid.derivs(at_ends(grid, direction, s)[end]).p).collect();
        Aabb::of_points(&points).diagonal() <= CLOSED * size
    })
}

/// Distance and angle of both sides of a direction.
fn seam(grid: &BezierSurface, direction: Direction) -> (f64, f64) {
    across().fold((0.0, 0.0), |(gap, angle): (f64, f64), s| {
        let [a, b] = at_ends(grid, direction, s);
        let off = (grid.derivs(a).p - grid.derivs(b).p).norm();
        (gap.max(off), angle.max(between(&grid.normal(a), &grid.normal(b))))
    })
}

fn between(a: &V3, b: &V3) -> f64 {
    math::atan2(a.cross(b).norm(), a.dot(b))
}

/// Both poles have tangent planes.
fn poles(grid: &BezierSurface, direction: Direction) -> Result<(), GrainError> {
    for (end, name) in ["start", "end"].into_iter().enumerate() {
        let normals: Vec<V3> = across().map(|s| grid.normal(at_ends(grid, direction, s)[end])).collect();
        let angle = normals.iter().map(|n| between(n, &normals[0])).fold(0.0, f64::max);
        if angle > SMOOTH {
            return Err(GrainError::Tip { direction, end: name, angle });
        }
    }
    Ok(())
}

/// The same surface with u running the other way.
fn reversed(s: &NurbsSurface) -> NurbsSurface {
    let rows = |n: usize| (0..n / s.n_v).rev().flat_map(|i| i * s.n_v..(i + 1) * s.n_v);
    NurbsSurface {
        u_knots: s.u_knots.iter().rev().map(|k| -k).collect(),
        points: rows(s.points.len()).map(|k| s.points[k]).collect(),
        weights: rows(s.weights.len()).map(|k| s.weights[k]).collect(),
        ..s.clone()
    }
}
