//! Shapes of particles that are solids: exact ones or meshes of them, in one or several sizes.
//!
//! A solid cannot be scaled after its preparation, so it is prepared once for each size.

use crate::ball::smallest_ball;
use crate::error::{PourError, Within as _, ensure};
use crate::shape::{GroupShape, ScaledShape, SizedBody, Template, min_effective_mass, too_flat};
use crate::tables::{SolidTable, reading};
use feeler_geom::{P3, math};
use feeler_grains::drawn::icosahedral_directions;
use feeler_grains::mass::MassProperties;
use feeler_hierarchy::Model;
use feeler_import::{MeshOptions, Reading, prepare_mesh};
use feeler_particles::{Distribution, Particle, Sphere};
use feeler_runtime::{Body, RayQuery};
use feeler_view::mesh::mesh;
use feeler_view::picture::TriangleSurface;
use std::f64::consts::PI;
use std::path::Path;
use std::sync::Arc;

/// Triangle mesh (mm), with its vertices and the indices of the vertices of each triangle.
type Triangles = (Vec<P3>, Vec<[u32; 3]>);

/// Builds the shape of a group whose particles are copies of the only solid of a file. Paths are relative to
/// `folder`.
pub(crate) fn solid(table: &SolidTable, folder: &Path) -> Result<GroupShape, PourError> {
    let path = folder.join(&table.file);
    let sizes = given_sizes(table)?;
    // The unit of the file is irrelevant if the size is given.
    let unit = table.unit.as_deref().or(sizes.is_some().then_some("mm"));
    let base = reading(&path, unit)?;
    let exact = load(&path, base)?;
    let of_file = || path.display().to_string();
    let exact_mass = mass_of(&exact).within(of_file)?;
    let ball = bounding_ball(&exact).within(of_file)?;
    let facets = table.facets.map(|count| facets(&exact, &exact_mass, count)).transpose()?;
    let sizes = match sizes {
        None => Distribution::Same(2.0 * ball.radius),
        Some((true, bounding)) => bounding,
        Some((false, equal)) => equal.times(ball.radius / equal_radius(&exact_mass)),
    };
    let radii = sizes.discrete_values().unwrap_or_default().into_iter().map(|d| 0.5 * d);
    let is_scaled = table.diameter.is_some() || table.bounding_diameter.is_some();
    let sized = |radius: f64| {
        let scale = if is_scaled { radius / ball.radius } else { 1.0 };
        let body = match &facets {
            Some(facets) => mesh_body(facets, scale)?,
            None if is_scaled => scaled_body(&path, base, scale)?,
            None => exact.clone(),
        };
        // Checks what simulations require of a solid.
        Particle::solid(&body, 1.0)?;
        Ok(SizedBody { radius, body })
    };
    let bodies = radii.map(sized).collect::<Result<Vec<_>, PourError>>().within(of_file)?;
    let unscaled = match &facets {
        Some(facets) => mesh_body(facets, 1.0).within(of_file)?,
        None => exact,
    };
    let mut shape = shape(&unscaled, &ball, bodies, sizes).within(of_file)?;
    shape.note = table.facets.map(|n| facets_note(n, &mass_of(&unscaled), &exact_mass)).transpose()?;
    Ok(shape)
}

/// Returns the distribution of sizes that a table states, and whether it is that of bounding balls; `None` if
/// the solid keeps the size that it has in the file.
fn given_sizes(table: &SolidTable) -> Result<Option<(bool, Distribution)>, PourError> {
    let (key, is_bounding, sizes) = match (&table.diameter, &table.bounding_diameter) {
        (None, None) => return Ok(None),
        (Some(equal), None) => ("diameter", false, equal),
        (None, Some(bounding)) => ("bounding_diameter", true, bounding),
        _ => {
            let problem = "give one of them: of the ball of equal volume, or of the smallest ball around the \
                           solid";
            return Err(PourError::value("diameter, bounding_diameter", problem));
        }
    };
    sizes.check().in_key(key)?;
    let count = sizes.discrete_values().map_or(0, |values| values.len());
    ensure!(
        (1..=MAX_SIZES).contains(&count),
        key,
        "a solid is prepared for each size: give a number, or up to {MAX_SIZES} classes such as \
         {{ by_number = [[0.71, 7], [0.5, 76], [0.35, 17]] }}"
    );
    Ok(Some((is_bounding, sizes.clone())))
}

/// Loads the only solid of a file.
fn load(path: &Path, reading: Reading) -> Result<Arc<Body>, PourError> {
    let (model, _) =
        feeler_import::load_with(path, reading).map_err(|e| PourError::Import(format!("{e:#}")))?;
    only_body(&model).within(|| path.display().to_string())
}

fn only_body(model: &Model) -> Result<Arc<Body>, PourError> {
    let count = model.solids.len();
    ensure!(count == 1, "solid", "the file has {count} solids; give a file with one");
    Ok(Arc::new(Body::from_model(model, 0)?))
}

/// Prepares the solid of a STEP or STL file `scale` times as large as in `reading`.
fn scaled_body(path: &Path, reading: Reading, scale: f64) -> Result<Arc<Body>, PourError> {
    let is_prepared = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("feeler"));
    ensure!(
        !is_prepared,
        "file",
        "a prepared solid cannot be scaled; give the STEP or STL file, or omit the diameter"
    );
    let unit = reading.unit.unwrap_or(1.0) * scale;
    load(path, Reading { unit: Some(unit), ..reading })
}

fn mass_of(body: &Body) -> Result<MassProperties, PourError> {
    MassProperties::of_solid(&body.hierarchy().info).ok_or_else(|| {
        let problem = "the solid is not closed, so it has no volume; close its surfaces and export it again";
        PourError::value("solid", problem)
    })
}

/// Radius (mm) of the ball with the volume of a solid.
fn equal_radius(mass: &MassProperties) -> f64 {
    math::powf(0.75 * mass.volume / PI, 1.0 / 3.0)
}

/// Ball (mm, coordinates of the solid) around a solid, at most [`BALL_CHORD_FRACTION`] larger than the
/// smallest one.
fn bounding_ball(body: &Body) -> Result<Sphere, PourError> {
    let surface = mesh(body.hierarchy(), BALL_CHORD_FRACTION * 0.5 * body.bounds().diagonal())?;
    let ball = smallest_ball(&surface.points);
    Ok(Sphere { radius: ball.radius + surface.deviation, ..ball })
}

/// Mesh with `count` facets whose vertices are on the surface of a solid, where the rays from its centre of
/// mass through the vertices of a regular mesh of the sphere leave it.
fn facets(body: &Body, mass: &MassProperties, count: u32) -> Result<Triangles, PourError> {
    let halvings = (0..=MAX_HALVINGS).find(|k| 20 << (2 * k) == count);
    let halvings =
        halvings.ok_or_else(|| PourError::value("facets", "give 20, 80, 320 or 1280, or omit it"))?;
    let (directions, triangles) = icosahedral_directions(halvings);
    let mut query = RayQuery::new();
    let mut points = Vec::with_capacity(directions.len());
    for direction in &directions {
        let hits = query.intersections(body, &mass.centroid, direction);
        let hits = hits.map_err(|e| PourError::value("facets", e.to_string()))?;
        ensure!(
            hits.len() == 1 && hits[0].t > 0.0,
            "facets",
            "a ray from the centre of mass intersects the surface {} times instead of once; give an STL file \
             with the mesh instead",
            hits.len()
        );
        points.push(hits[0].point);
    }
    Ok((points, triangles))
}

/// Prepares a mesh, `scale` times as large, as a solid.
fn mesh_body((points, triangles): &Triangles, scale: f64) -> Result<Arc<Body>, PourError> {
    let points: Vec<P3> = points.iter().map(|p| p * scale).collect();
    let model = prepare_mesh("facets", &points, triangles, MeshOptions::default());
    let model = model.map_err(|e| PourError::Import(e.to_string()))?;
    only_body(&model)
}

/// Message about the mass properties of a mesh of `count` facets, relative to those of the exact solid.
fn facets_note(
    count: u32,
    mesh: &Result<MassProperties, PourError>,
    exact: &MassProperties,
) -> Result<String, PourError> {
    let Ok(mesh) = mesh else { return Err(too_flat("facets")) };
    let moments = |mass: &MassProperties| {
        let mut moments = mass.tensor.symmetric_eigenvalues();
        moments.as_mut_slice().sort_by(f64::total_cmp);
        moments
    };
    let parts = moments(mesh).component_div(&moments(exact)) * 100.0;
    Ok(format!(
        "a mesh of {count} facets has {:.2} % of the volume and {:.2}, {:.2} and {:.2} % of the principal \
         moments of inertia of the exact solid",
        100.0 * mesh.volume / exact.volume,
        parts.x,
        parts.y,
        parts.z
    ))
}

/// Builds the shape of a group from the body that is not scaled and its bounding ball. `sizes` are the
/// diameters of the bounding balls, for which there are `bodies`.
fn shape(
    body: &Body,
    ball: &Sphere,
    bodies: Vec<SizedBody>,
    sizes: Distribution,
) -> Result<GroupShape, PourError> {
    let mass = mass_of(body)?;
    let inverse = mass.tensor.try_inverse().ok_or_else(|| too_flat("solid"))?;
    let drawn = mesh(body.hierarchy(), CHORD_FRACTION * ball.radius)?;
    let min_effective_mass = min_effective_mass(&mass, &inverse, drawn.normals.iter().zip(&drawn.points));
    if min_effective_mass <= 0.0 {
        return Err(too_flat("solid"));
    }
    let in_ball = |p: &P3| P3::from(p.coords / ball.radius);
    let points: Vec<P3> = drawn.points.iter().map(in_ball).collect();
    let surface = TriangleSurface {
        points: points.clone(),
        normals: drawn.normals,
        triangles: drawn.triangles.clone(),
    };
    Ok(GroupShape {
        sizes,
        scaled: Some(ScaledShape {
            ball_center: in_ball(&ball.center),
            equal_radius: equal_radius(&mass) / ball.radius,
            min_effective_mass,
            center: in_ball(&mass.centroid),
            points,
            triangles: drawn.triangles,
            template: Template::Solid(bodies, surface),
        }),
        note: None,
    })
}

/// Chord error of the displayed surface of a solid, divided by the radius of its bounding ball. With a
/// larger value, facets are visible; a smaller one makes frames larger.
const CHORD_FRACTION: f64 = 0.02;

/// Chord error of the surface from which the bounding ball of a solid is computed, divided by half the
/// diagonal of its bounding box. With a larger value balls are larger than necessary; a smaller one takes
/// more time.
const BALL_CHORD_FRACTION: f64 = 1e-3;

/// Maximum number of sizes of a solid. More sizes take more memory, and pairs of different sizes are then
/// queried with scratch data that is allocated anew.
const MAX_SIZES: usize = 16;

/// Maximum number of halvings of the edges of an icosahedron, which then has 1,280 facets. Each further
/// halving makes the preparation and contacts of the mesh four times as expensive.
const MAX_HALVINGS: u32 = 3;
