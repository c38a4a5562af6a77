//! Walls of triangles, contact laws, and forces of walls on spheres that an external program integrates.

use crate::arrays::{corners, numbers, rows};
use crate::error::{file, query};
use crate::exact_walls::ExactWall;
use crate::exclusive::Exclusive;
use crate::mesh::{Rows, rows as array_of};
use crate::model::Body;
use crate::pose;
use feeler::particles::{
    ActiveSides, Law as Forces, Load, Material, PlaneWall, Resolution, RigidMotion, Simulation,
    SimulationError, SphereArrays, Wall, WallId,
};
use feeler::{P3, V3};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;

/// Wall of triangles. Contacts with adjacent triangles are combined to those of one surface.
#[pyclass(module = "feeler", frozen)]
#[derive(Debug)]
pub(crate) struct FacetWall(feeler::particles::FacetWall);

/// Contact law: parameters of the forces at a contact.
#[pyclass(module = "feeler", frozen)]
#[derive(Debug)]
pub(crate) struct Law(pub(crate) Forces);

/// Whether a law is Hertz's, its two stiffnesses or moduli, the coefficients of restitution and of friction.
type LawState = (bool, [f64; 2], f64, f64);

/// Walls with their contact laws, for spheres that an external program integrates.
#[pyclass(module = "feeler", frozen)]
#[derive(Debug)]
pub(crate) struct WallForces(Exclusive<State>);

/// Walls with their loads.
#[derive(Debug, Default)]
struct State {
    walls: feeler::particles::WallForces,
}

fn resolved(
    mut wall: feeler::particles::FacetWall,
    resolution: &str,
    cutoff: f64,
    sides: &str,
) -> PyResult<feeler::particles::FacetWall> {
    let sides = match sides {
        "both" => ActiveSides::Both,
        "front" => ActiveSides::Front,
        "back" => ActiveSides::Back,
        other => return Err(query(format!("facets are felt from 'both', 'front' or 'back', not '{other}'"))),
    };
    wall.set_sides(|_, _| sides);
    let resolution = match resolution {
        "reduced" => Resolution::Reduced,
        "full" => Resolution::Full { cutoff },
        "proximity" => Resolution::Proximity { cutoff },
        other => {
            return Err(query(format!("the resolution is 'reduced', 'full' or 'proximity', not '{other}'")));
        }
    };
    wall.set_resolution(resolution).map_err(query)?;
    Ok(wall)
}

#[pymethods]
impl FacetWall {
    #[new]
    #[pyo3(signature = (points, triangles, *, resolution = "full", cutoff = 0.5, sides = "both"))]
    fn new(
        points: &Bound<'_, PyAny>,
        triangles: &Bound<'_, PyAny>,
        resolution: &str,
        cutoff: f64,
        sides: &str,
    ) -> PyResult<Self> {
        let points: Vec<P3> = rows::<3>(points, "points", None)?.into_iter().map(P3::from).collect();
        let triangles = corners(triangles)?;
        let wall = feeler::particles::FacetWall::new(&points, &triangles).map_err(query)?;
        resolved(wall, resolution, cutoff, sides).map(Self)
    }

    #[staticmethod]
    #[pyo3(signature = (path, scale = 1.0, *, resolution = "full", cutoff = 0.5, sides = "both"))]
    fn read_stl(path: PathBuf, scale: f64, resolution: &str, cutoff: f64, sides: &str) -> PyResult<Self> {
        let wall = feeler::particles::FacetWall::read_stl(&path, scale).map_err(file)?;
        resolved(wall, resolution, cutoff, sides).map(Self)
    }

    #[staticmethod]
    #[pyo3(signature = (body, chord, *, resolution = "full", cutoff = 0.5, sides = "front"))]
    fn of_body(body: &Body, chord: f64, resolution: &str, cutoff: f64, sides: &str) -> PyResult<Self> {
        let mesh = body.display_mesh(chord)?;
        // Each face of the mesh has its own vertices, so vertices at the same position are merged.
        let corners: Vec<[u32; 3]> =
            mesh.triangles.iter().map(|t| t.map(|k| mesh.welded[k as usize])).collect();
        let wall = feeler::particles::FacetWall::new(&mesh.points, &corners).map_err(query)?;
        resolved(wall, resolution, cutoff, sides).map(Self)
    }

    #[getter]
    fn facets(&self) -> usize {
        self.0.facets()
    }

    #[getter]
    fn bounds<'py>(&self, py: Python<'py>) -> Rows<'py> {
        let b = self.0.bounds();
        array_of(py, [b.min.into(), b.max.into()].into_iter())
    }

    fn __repr__(&self) -> String {
        format!("<FacetWall: {} facets>", self.0.facets())
    }
}

#[pymethods]
impl Law {
    #[staticmethod]
    #[pyo3(signature = (normal, shear = 0.0, restitution = 1.0, friction = 0.0))]
    fn linear(normal: f64, shear: f64, restitution: f64, friction: f64) -> PyResult<Self> {
        let law = Forces::Linear { normal, shear, restitution, friction };
        law.check().map_err(query)?;
        Ok(Self(law))
    }

    #[staticmethod]
    #[pyo3(signature = (young, poisson, restitution = 1.0, friction = 0.0, wall = None))]
    fn hertz(
        young: f64,
        poisson: f64,
        restitution: f64,
        friction: f64,
        wall: Option<(f64, f64)>,
    ) -> PyResult<Self> {
        let ball = Material { young, poisson };
        let wall = wall.map_or(ball, |(young, poisson)| Material { young, poisson });
        Forces::hertz([ball, wall], restitution, friction).map(Self).map_err(query)
    }

    #[staticmethod]
    fn _from_state(is_hertz: bool, stiffness: [f64; 2], restitution: f64, friction: f64) -> PyResult<Self> {
        let [first, shear] = stiffness;
        let law = match is_hertz {
            true => Forces::Hertz { modulus: first, shear, restitution, friction },
            false => Forces::Linear { normal: first, shear, restitution, friction },
        };
        law.check().map_err(query)?;
        Ok(Self(law))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, LawState)> {
        let state = match slf.get().0 {
            Forces::Linear { normal, shear, restitution, friction } => {
                (false, [normal, shear], restitution, friction)
            }
            Forces::Hertz { modulus, shear, restitution, friction } => {
                (true, [modulus, shear], restitution, friction)
            }
        };
        Ok((slf.get_type().getattr("_from_state")?, state))
    }

    fn __repr__(&self) -> String {
        format!("<Law: {:?}>", self.0)
    }
}

/// Operations on walls with their contact laws that [`WallForces`] and `GrainForces` have in common.
/// (The macros of the Python classes do not take generic methods.)
pub(crate) trait WallSet {
    fn count(&self) -> usize;
    fn get_mut(&mut self, wall: WallId) -> Option<&mut Wall>;
    fn get_load(&self, wall: WallId) -> Option<&Load>;
    fn insert(&mut self, wall: Wall, law: Forces) -> Result<WallId, SimulationError>;

    /// Returns the wall with the number `wall`, or an error if it does not exist.
    fn wall_at(&mut self, wall: usize) -> PyResult<&mut Wall> {
        let count = self.count();
        self.get_mut(WallId::new(wall)).ok_or_else(|| unknown(wall, count))
    }

    /// Returns the load on the wall with the number `wall`, or an error if the wall does not exist.
    fn load_at(&self, wall: usize) -> PyResult<Load> {
        self.get_load(WallId::new(wall)).copied().ok_or_else(|| unknown(wall, self.count()))
    }

    /// Adds a wall at a pose and returns the number of the wall.
    fn add_wall_at(
        &mut self,
        wall: &Bound<'_, PyAny>,
        law: &Law,
        pose: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<usize> {
        self.insert(wall_of(wall, pose)?, law.0).map(WallId::index).map_err(query)
    }

    /// Adds a plane through `point` (mm, world), from which particles are pushed along `normal`, and
    /// returns the number of the wall.
    fn add_plane_at(&mut self, point: [f64; 3], normal: [f64; 3], law: &Law) -> PyResult<usize> {
        let plane = PlaneWall::new(P3::from(point), V3::from(normal)).map_err(query)?;
        self.insert(plane.into(), law.0).map(WallId::index).map_err(query)
    }

    /// Sets the pose of the wall with the number `wall`.
    fn set_wall_pose(&mut self, wall: usize, pose: &Bound<'_, PyAny>) -> PyResult<()> {
        let pose = pose::read(Some(pose))?;
        self.wall_at(wall)?.set_pose(pose).map_err(query)
    }
}

impl WallSet for feeler::particles::WallForces {
    fn count(&self) -> usize {
        self.wall_count()
    }

    fn get_mut(&mut self, wall: WallId) -> Option<&mut Wall> {
        self.wall_mut(wall)
    }

    fn get_load(&self, wall: WallId) -> Option<&Load> {
        self.load(wall)
    }

    fn insert(&mut self, wall: Wall, law: Forces) -> Result<WallId, SimulationError> {
        self.add(wall, law)
    }
}

impl WallSet for Simulation {
    fn count(&self) -> usize {
        self.wall_count()
    }

    fn get_mut(&mut self, wall: WallId) -> Option<&mut Wall> {
        self.wall_mut(wall)
    }

    fn get_load(&self, wall: WallId) -> Option<&Load> {
        self.wall_load(wall)
    }

    fn insert(&mut self, wall: Wall, law: Forces) -> Result<WallId, SimulationError> {
        self.add_wall(wall, law)
    }
}

fn unknown(wall: usize, count: usize) -> PyErr {
    query(format!("there is no wall {wall}, only {count} of them"))
}

/// Converts a `FacetWall`, an `ExactWall` or a `Body` to a wall at a pose. Without a pose, the wall
/// keeps its own, which is the identity for a `Body`.
pub(crate) fn wall_of(wall: &Bound<'_, PyAny>, pose: Option<&Bound<'_, PyAny>>) -> PyResult<Wall> {
    let mut wall: Wall = if let Ok(facets) = wall.cast::<FacetWall>() {
        facets.get().0.clone().into()
    } else if let Ok(exact) = wall.cast::<ExactWall>() {
        exact.get().0.read()?.wall.clone().into()
    } else if let Ok(body) = wall.cast::<Body>() {
        feeler::particles::ExactWall::new(body.get().body.clone()).into()
    } else {
        return Err(query("a wall is a Body, an ExactWall or a FacetWall; planes come by add_plane"));
    };
    if pose.is_some() {
        wall.set_pose(pose::read(pose)?).map_err(query)?;
    }
    Ok(wall)
}

/// Sets the motion of a wall: `velocity` (mm/s) of the point `center` (mm, world) and `spin` (rad/s).
/// Torques on the wall refer to `center`, also if the wall is at rest; by default it is the present
/// reference point.
pub(crate) fn move_wall(
    wall: &mut Wall,
    velocity: [f64; 3],
    spin: [f64; 3],
    center: Option<[f64; 3]>,
) -> PyResult<()> {
    let center = center.map_or_else(|| wall.reference(), P3::from);
    let is_still = velocity.iter().chain(&spin).all(|c| *c == 0.0);
    // A wall at rest needs a motion as well if its reference point is not the origin.
    let motion = RigidMotion { velocity: V3::from(velocity), spin: V3::from(spin), center };
    wall.set_motion((!is_still || center != P3::origin()).then_some(motion)).map_err(query)
}

#[pymethods]
impl WallForces {
    #[new]
    fn new() -> Self {
        Self(Exclusive::new("WallForces", State::default()))
    }

    #[pyo3(signature = (wall, law, pose = None))]
    fn add(&self, wall: &Bound<'_, PyAny>, law: &Law, pose: Option<&Bound<'_, PyAny>>) -> PyResult<usize> {
        let this = &mut *self.0.write()?;
        this.walls.add_wall_at(wall, law, pose)
    }

    fn add_plane(&self, point: [f64; 3], normal: [f64; 3], law: &Law) -> PyResult<usize> {
        let this = &mut *self.0.write()?;
        this.walls.add_plane_at(point, normal, law)
    }

    fn __len__(&self) -> PyResult<usize> {
        let this = &*self.0.read()?;
        Ok(this.walls.wall_count())
    }

    fn set_pose(&self, wall: usize, pose: &Bound<'_, PyAny>) -> PyResult<()> {
        let this = &mut *self.0.write()?;
        this.walls.set_wall_pose(wall, pose)
    }

    fn pose<'py>(&self, py: Python<'py>, wall: usize) -> PyResult<Rows<'py>> {
        let this = &mut *self.0.write()?;
        Ok(pose::matrix(py, this.walls.wall_at(wall)?.pose()))
    }

    #[pyo3(signature = (wall, velocity = [0.0; 3], spin = [0.0; 3], center = None))]
    fn set_motion(
        &self,
        wall: usize,
        velocity: [f64; 3],
        spin: [f64; 3],
        center: Option<[f64; 3]>,
    ) -> PyResult<()> {
        let this = &mut *self.0.write()?;
        move_wall(this.walls.wall_at(wall)?, velocity, spin, center)
    }

    fn advance(&self, time: f64) -> PyResult<()> {
        let this = &mut *self.0.write()?;
        this.walls.advance(time).map_err(query)
    }

    #[expect(clippy::too_many_arguments, reason = "one array of each kind, as other programs have them")]
    fn forces<'py>(
        &self,
        centers: &Bound<'py, PyAny>,
        velocities: &Bound<'py, PyAny>,
        spins: &Bound<'py, PyAny>,
        radii: &Bound<'py, PyAny>,
        masses: &Bound<'py, PyAny>,
        tags: &Bound<'py, PyAny>,
        time: f64,
    ) -> PyResult<(Rows<'py>, Rows<'py>)> {
        let this = &mut *self.0.write()?;
        let py = centers.py();
        let centers = rows::<3>(centers, "centers", None)?;
        let n = Some(centers.len());
        let velocities = rows::<3>(velocities, "velocities", n)?;
        let spins = rows::<3>(spins, "spins", n)?;
        let flat = |values: &Bound<'py, PyAny>, name: &str| -> PyResult<Vec<f64>> {
            let values =
                numbers(values).map_err(|_| query(format!("{name}: give one number for each ball")))?;
            Ok(values.as_array().iter().copied().collect())
        };
        let (radii, masses) = (flat(radii, "radii")?, flat(masses, "masses")?);
        let wanted = || query("tags: give one whole number for each ball");
        let tags = py.import("numpy")?.call_method1("asarray", (tags, "int64"))?;
        let tags: PyReadonlyArray1<'_, i64> = tags.extract().map_err(|_| wanted())?;
        let tags: Vec<i64> = tags.as_array().iter().copied().collect();
        let walls = &mut this.walls;
        let loads = py
            .detach(|| {
                let spheres = SphereArrays {
                    centers: &centers,
                    velocities: &velocities,
                    spins: &spins,
                    radii: &radii,
                    masses: &masses,
                    tags: &tags,
                };
                walls.forces(&spheres, time)
            })
            .map_err(query)?;
        let forces = array_of(py, loads.iter().map(|l| l.force.into()));
        Ok((forces, array_of(py, loads.iter().map(|l| l.moment.into()))))
    }

    fn force(&self, wall: usize) -> PyResult<[f64; 3]> {
        let this = &*self.0.read()?;
        Ok(this.walls.load_at(wall)?.force.into())
    }

    fn torque(&self, wall: usize) -> PyResult<[f64; 3]> {
        let this = &*self.0.read()?;
        Ok(this.walls.load_at(wall)?.moment.into())
    }

    #[getter]
    fn contacts(&self) -> PyResult<usize> {
        let this = &*self.0.read()?;
        Ok(this.walls.contact_count())
    }

    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let this = &*self.0.read()?;
        Ok(PyBytes::new(py, &this.walls.save()))
    }

    fn restore(&self, state: &[u8]) -> PyResult<()> {
        let this = &mut *self.0.write()?;
        this.walls.restore(state).map_err(query)
    }

    fn __repr__(&self) -> String {
        self.0.describe(|this| {
            format!(
                "<WallForces: {} walls, {} contacts>",
                this.walls.wall_count(),
                this.walls.contact_count()
            )
        })
    }
}
