//! The Python module. Its interface is documented in `python/feeler/__init__.pyi` and
//! `deformable.pyi`.
#![allow(unsafe_code, reason = "records for numpy, and code that pyo3 generates")]
#![allow(missing_docs, clippy::missing_errors_doc, reason = "documented in __init__.pyi")]

mod arrays;
mod clearance;
mod compare;
mod curves;
mod deformable;
mod error;
mod exact_walls;
mod exclusive;
mod grains;
mod mechanism;
mod mesh;
mod model;
mod motion;
mod mujoco;
mod options;
mod pair;
mod pose;
mod pour;
mod program;
mod record;
mod scene;
mod source;
mod tessellation;
mod tracker;
mod wait;
mod wall_forces;

use pyo3::prelude::*;

#[pymodule]
fn _feeler(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = m.py();
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    m.add("FeelerError", py.get_type::<error::FeelerError>())?;
    m.add("FileError", py.get_type::<error::FileError>())?;
    m.add("BodyError", py.get_type::<error::BodyError>())?;
    m.add("QueryError", py.get_type::<error::QueryError>())?;
    m.add("SceneError", py.get_type::<error::SceneError>())?;
    m.add("MeshError", py.get_type::<error::MeshError>())?;
    m.add("contact_dtype", record::contact_dtype(py)?)?;
    m.add("nearest_point_dtype", record::nearest_point_dtype(py)?)?;
    m.add("ray_intersection_dtype", record::ray_intersection_dtype(py)?)?;
    m.add("verdict_dtype", record::verdict_dtype(py)?)?;
    m.add("scene_contact_dtype", record::scene_contact_dtype(py)?)?;
    m.add("contact_event_dtype", record::contact_event_dtype(py)?)?;
    m.add("curve_contact_dtype", record::curve_contact_dtype(py)?)?;
    m.add("tight_bend_dtype", record::tight_bend_dtype(py)?)?;
    m.add("wall_contact_dtype", record::wall_contact_dtype(py)?)?;
    m.add("tracked_pair_dtype", record::tracked_pair_dtype(py)?)?;
    m.add_class::<model::Model>()?;
    m.add_class::<model::Instance>()?;
    m.add_class::<model::Body>()?;
    m.add_class::<mesh::Mesh>()?;
    m.add_class::<pair::ContactPair>()?;
    m.add_class::<pair::Verdict>()?;
    m.add_function(wrap_pyfunction!(pair::distances, m)?)?;
    m.add_class::<tracker::ContactTracker>()?;
    m.add_class::<scene::Scene>()?;
    m.add_class::<curves::Curve>()?;
    m.add_class::<curves::CurveScene>()?;
    m.add_class::<exact_walls::ExactWall>()?;
    m.add_class::<wall_forces::FacetWall>()?;
    m.add_class::<wall_forces::Law>()?;
    m.add_class::<wall_forces::WallForces>()?;
    m.add_class::<grains::Grain>()?;
    m.add_class::<grains::GrainForces>()?;
    deformable::add_module(m)?;
    m.add_function(wrap_pyfunction!(mujoco::mujoco_functions, m)?)?;
    m.add_function(wrap_pyfunction!(mujoco::mujoco_begin, m)?)?;
    m.add_function(wrap_pyfunction!(mujoco::mujoco_register, m)?)?;
    m.add_function(wrap_pyfunction!(mujoco::mujoco_forget, m)?)?;
    m.add_function(wrap_pyfunction!(mujoco::mujoco_states, m)?)?;
    m.add_function(wrap_pyfunction!(mujoco::mujoco_counts, m)?)?;
    m.add_function(wrap_pyfunction!(model::prepare_step, m)?)?;
    m.add_function(wrap_pyfunction!(model::prepare_bytes, m)?)?;
    m.add_function(wrap_pyfunction!(model::prepare_mesh, m)?)?;
    m.add_class::<clearance::Rules>()?;
    m.add_function(wrap_pyfunction!(clearance::clearance, m)?)?;
    m.add_function(wrap_pyfunction!(clearance::write_baseline, m)?)?;
    m.add_class::<motion::Path>()?;
    m.add_function(wrap_pyfunction!(motion::time_of_contact, m)?)?;
    m.add_function(wrap_pyfunction!(motion::first_penetration, m)?)?;
    m.add_function(wrap_pyfunction!(motion::joint_poses, m)?)?;
    m.add_function(wrap_pyfunction!(motion::sweep, m)?)?;
    m.add_class::<mechanism::Mechanism>()?;
    m.add_function(wrap_pyfunction!(compare::diff, m)?)?;
    m.add_function(wrap_pyfunction!(compare::regress, m)?)?;
    m.add_class::<pour::Scene>()?;
    m.add_function(wrap_pyfunction!(pour::pour, m)?)?;
    m.add_function(wrap_pyfunction!(tessellation::tessellate, m)?)?;
    m.add_function(wrap_pyfunction!(tessellation::write_cells, m)?)?;
    m.add_function(wrap_pyfunction!(program::run_program, m)?)?;
    m.add_function(wrap_pyfunction!(program::run, m)?)
}
