//! Walls of triangles, contact laws, and forces of walls on spheres that an external program integrates.

use crate::arrays::{corners, numbers, rows};
use crate::error::{file, query};
use crate::exact_walls::ExactWall;
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
#[pyclass(module = "feeler")]
#[derive(Debug)]
pub(crate) struct FacetWall(feeler::particles::FacetWall);

/// Contact law: parameters of the forces at a contact.
#[pyclass(module = "feeler", frozen)]
#[derive(Debug)]
pub(crate) struct Law(pub(crate) Forces);

/// Walls with their contact laws, for spheres that an external program integrates.
#[pyclass(module = "feeler")]
#[derive(Debug, Default)]
pub(crate) struct WallForces {
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
        facets.borrow().0.clone().into()
    } else if let Ok(exact) = wall.cast::<ExactWall>() {
        exact.borrow().wall.clone().into()
    } else if let Ok(body) = wall.cast::<Body>() {
        feeler::particles::ExactWall::new(body.borrow().body.clone()).into()
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
        Self::default()
    }

    #[pyo3(signature = (wall, law, pose = None))]
    fn add(
        &mut self,
        wall: &Bound<'_, PyAny>,
        law: &Law,
        pose: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<usize> {
        self.walls.add_wall_at(wall, law, pose)
    }

    fn add_plane(&mut self, point: [f64; 3], normal: [f64; 3], law: &Law) -> PyResult<usize> {
        self.walls.add_plane_at(point, normal, law)
    }

    fn __len__(&self) -> usize {
        self.walls.wall_count()
    }

    fn set_pose(&mut self, wall: usize, pose: &Bound<'_, PyAny>) -> PyResult<()> {
        self.walls.set_wall_pose(wall, pose)
    }

    fn pose<'py>(&mut self, py: Python<'py>, wall: usize) -> PyResult<Rows<'py>> {
        Ok(pose::matrix(py, self.walls.wall_at(wall)?.pose()))
    }

    #[pyo3(signature = (wall, velocity = [0.0; 3], spin = [0.0; 3], center = None))]
    fn set_motion(
        &mut self,
        wall: usize,
        velocity: [f64; 3],
        spin: [f64; 3],
        center: Option<[f64; 3]>,
    ) -> PyResult<()> {
        move_wall(self.walls.wall_at(wall)?, velocity, spin, center)
    }

    fn advance(&mut self, time: f64) -> PyResult<()> {
        self.walls.advance(time).map_err(query)
    }

    #[expect(clippy::too_many_arguments, reason = "one array of each kind, as other programs have them")]
    fn forces<'py>(
        &mut self,
        centers: &Bound<'py, PyAny>,
        velocities: &Bound<'py, PyAny>,
        spins: &Bound<'py, PyAny>,
        radii: &Bound<'py, PyAny>,
        masses: &Bound<'py, PyAny>,
        tags: &Bound<'py, PyAny>,
        time: f64,
    ) -> PyResult<(Rows<'py>, Rows<'py>)> {
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
        let walls = &mut self.walls;
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
        Ok(self.walls.load_at(wall)?.force.into())
    }

    fn torque(&self, wall: usize) -> PyResult<[f64; 3]> {
        Ok(self.walls.load_at(wall)?.moment.into())
    }

    #[getter]
    fn contacts(&self) -> usize {
        self.walls.contact_count()
    }

    fn save<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.walls.save())
    }

    fn restore(&mut self, state: &[u8]) -> PyResult<()> {
        self.walls.restore(state).map_err(query)
    }

    fn __repr__(&self) -> String {
        format!("<WallForces: {} walls, {} contacts>", self.walls.wall_count(), self.walls.contact_count())
    }
}
