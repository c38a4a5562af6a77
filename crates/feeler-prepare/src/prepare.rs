//! The steps of preparation in order, and the conversion of their results into records.

use feeler_brep::{EdgeStatus, Solid, VertexPolar};
use feeler_geom::canonical::Nearly;
use feeler_geom::{Curve, Pose, Surface};
use feeler_hierarchy::{
    AdjacentFace, Edge, Face, FaceId, Feature, FeatureType, Hierarchy, Inertia, Instance, Model,
    NearCanonical, Options, Origin, Remark, Severity, SolidInfo, Span, Vertex, placed_box,
};
use std::f64::consts::FRAC_PI_2;
use thiserror::Error;

use crate::bound::{Leaf, leaves};
use crate::group::{EdgeGroup, FaceGroup, Features, Role, VertexPick, group};
use crate::guide::guide;
use crate::sound::{SmallFault, Unsound};

/// Minimum accepted [`Options::flatness`] (rad). A smaller limit would admit options that produce more
/// leaves than queries can use: a ball already has 10^5 leaves at this value.
const MIN_FLATNESS: f64 = 0.01;

/// Reasons why a solid cannot be prepared.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum PrepareError {
    /// The flatness (rad), the largest apex angle of the normals of an area, is not in `[0.01, π/2]`.
    #[error("the flatness of {0} rad is out of range; choose a value between 0.01 and 1.57")]
    Flatness(f64),
    /// The solid has no faces.
    #[error("solid #{entity} has no faces; export it again as a closed solid")]
    Empty {
        /// Entity number of the solid in the input.
        entity: u64,
    },
    /// A face is unbounded, or its boundary contains non-finite numbers.
    #[error(
        "face #{entity} is unbounded or has non-finite coordinates; check the boundary of this face \
         in the CAD system"
    )]
    Unbounded {
        /// Entity number of the face in the input.
        entity: u64,
    },
    /// The prepared shape is not a valid solid.
    #[error("the imported shape is not a valid solid: {0}")]
    Unsound(#[from] Unsound),
}

impl PrepareError {
    /// Number, in the input, of the entity to inspect; `None` if the error concerns the whole solid or the
    /// options.
    #[must_use]
    pub fn entity(&self) -> Option<u64> {
        match self {
            Self::Empty { entity }
            | Self::Unbounded { entity }
            | Self::Unsound(Unsound::Open { face: entity, .. } | Unsound::Covered { face: entity, .. }) => {
                Some(*entity)
            }
            Self::Flatness(_) | Self::Unsound(Unsound::Volume { .. } | Unsound::Box { .. }) => None,
        }
    }
}

/// Prepares several solids and stores them with their instances in a model. `input` is the base name of
/// the input file, and `input_hash` is the hash of its bytes. The model has no components.
///
/// # Errors
/// The error of [`prepare_solid`] for the first solid that cannot be prepared.
pub fn prepare_model(
    input: &str,
    input_hash: u64,
    solids: &[Solid],
    instances: Vec<Instance>,
    options: &Options,
) -> Result<Model, PrepareError> {
    let hierarchies = solids.iter().map(|s| prepare_solid(s, options)).collect::<Result<Vec<_>, _>>()?;
    let remarks =
        solids.iter().flat_map(|s| remarks(s, &format!("solid #{} '{}'", s.source, s.name))).collect();
    Ok(Model {
        input: input.to_owned(),
        input_hash,
        options: *options,
        solids: hierarchies,
        instances,
        components: Vec::new(),
        remarks,
        origin: Origin::default(),
    })
}

/// Converts the severity of a remark of a solid to that of a remark of a model.
#[must_use]
pub fn severity(severity: feeler_brep::Severity) -> Severity {
    match severity {
        feeler_brep::Severity::Note => Severity::Note,
        feeler_brep::Severity::Warning => Severity::Warning,
        feeler_brep::Severity::Error => Severity::Error,
    }
}

/// Returns the remarks that were made while the solid was built. `subject` denotes the solid in messages,
/// as `solid #12 'name'`.
#[must_use]
pub fn remarks(solid: &Solid, subject: &str) -> Vec<Remark> {
    let remark = |r: &feeler_brep::Remark| Remark {
        severity: severity(r.severity),
        subject: subject.to_owned(),
        entity: r.entity,
        point: r.place.map(Into::into),
        message: r.message.clone(),
    };
    solid.remarks.iter().map(remark).collect()
}

/// Prepares one solid: groups, splits and bounds its features and builds the tree above them.
///
/// # Errors
/// The flatness is out of range, or the solid has no faces, an unbounded face or an invalid shape
/// ([`PrepareError`]).
pub fn prepare_solid(solid: &Solid, options: &Options) -> Result<Hierarchy, PrepareError> {
    Unchecked::new(solid, options)?.check().map(|(h, _)| h)
}

/// Like [`prepare_solid`], with the remarks that were made while the solid was built ([`remarks`]) and
/// prepared.
///
/// # Errors
/// The flatness is out of range, or the solid has no faces, an unbounded face or an invalid shape
/// ([`PrepareError`]).
pub fn prepare_with_remarks(
    solid: &Solid,
    subject: &str,
    options: &Options,
) -> Result<(Hierarchy, Vec<Remark>), PrepareError> {
    Unchecked::new(solid, options)?.check_with_remarks(subject)
}

/// A prepared solid that has not been checked as a whole. The caller can replace the solid by another
/// version of it if the senses of its faces contradict each other.
#[derive(Debug)]
pub struct Unchecked<'a> {
    solid: &'a Solid,
    hierarchy: Hierarchy,
}

impl<'a> Unchecked<'a> {
    /// Prepares one solid, like [`prepare_solid`], without the check.
    ///
    /// # Errors
    /// The flatness is out of range, or the solid has no faces or an unbounded face ([`PrepareError`]).
    pub fn new(solid: &'a Solid, options: &Options) -> Result<Self, PrepareError> {
        Ok(Self { solid, hierarchy: hierarchy(solid, options)? })
    }

    /// Returns the entity numbers of the faces whose outward normals the other faces contradict. Only faces
    /// with [`FaceInfo::is_sense_unconfirmed`](feeler_brep::FaceInfo) are tested: lines through points of
    /// such a face must have the solid on the inner side of the face and none on the outer side.
    #[must_use]
    pub fn contradicted_faces(&self) -> Vec<u64> {
        crate::sound::contradicted_faces(self.solid, &self.hierarchy)
    }

    /// Checks the solid as a whole, and returns its hierarchy with the remarks that were made while the
    /// solid was built ([`remarks`]) and checked.
    ///
    /// # Errors
    /// The shape is invalid ([`PrepareError::Unsound`]).
    pub fn check_with_remarks(self, subject: &str) -> Result<(Hierarchy, Vec<Remark>), PrepareError> {
        let mut all = remarks(self.solid, subject);
        let (hierarchy, fault) = self.check()?;
        all.extend(fault.map(|fault| Remark {
            severity: Severity::Warning,
            subject: subject.to_owned(),
            entity: Some(fault.face),
            point: None,
            message: fault.to_string(),
        }));
        Ok((hierarchy, all))
    }

    fn check(mut self) -> Result<(Hierarchy, Option<SmallFault>), PrepareError> {
        let fault = crate::sound::check(self.solid, &self.hierarchy)?;
        self.hierarchy.info.min_thickness = crate::wall::wall(&self.hierarchy);
        Ok((self.hierarchy, fault))
    }
}

fn hierarchy(solid: &Solid, options: &Options) -> Result<Hierarchy, PrepareError> {
    if !(MIN_FLATNESS..=FRAC_PI_2).contains(&options.flatness) {
        return Err(PrepareError::Flatness(options.flatness));
    }
    let mut features = group(solid);
    for face in &features.faces {
        let r = face.cells.rect;
        if ![r.u0, r.u1, r.v0, r.v1].iter().all(|x| x.is_finite()) {
            let entity = solid.faces[face.members[0].0 as usize].source;
            return Err(PrepareError::Unbounded { entity });
        }
    }
    let info = info(solid, &features);
    features.edges.retain(|e| e.role != Role::None);
    let leaves = leaves(solid, &features, options.flatness);
    if leaves.is_empty() {
        return Err(PrepareError::Empty { entity: solid.source });
    }
    let types = |leaf: &Leaf| type_bits(leaf, &features);
    let (areas, nodes) = crate::build::build(leaves, &types);
    let edges = features.edges.iter().map(|e| edge_record(solid, &features, e)).collect();
    let vertices = features.vertices.iter().map(|v| vertex_record(solid, v)).collect();
    let faces = features.faces.into_iter().map(|f| face_record(solid, f)).collect();
    let mut out = Hierarchy { info, faces, edges, vertices, areas, nodes, hull: Vec::new() };
    let tight = placed_box(&out, &Pose::identity());
    (out.info.bbox_min, out.info.bbox_max) = (tight.min.into(), tight.max.into());
    out.hull = crate::hull::hull(&out);
    Ok(out)
}

fn type_bits(leaf: &Leaf, features: &Features) -> u16 {
    let kind = match leaf.feature {
        Feature::Face(k) => {
            let face = &features.faces[k.index()];
            FeatureType::of_surface(&face.surface, face.outward, face.cells.on_inner_sheet(&face.surface))
        }
        Feature::Edge(k) => FeatureType::of_curve(&features.edges[k.index()].curve),
        Feature::Vertex(_) => FeatureType::Vertex,
    };
    kind.bit()
}

/// Maximum deviation, relative to the size of the solid, of a spline from the canonical shape that it
/// follows closely and that gives its solver the starting points. The value covers the ripples of
/// fillets that modellers export as splines. With a larger value, closed forms do not determine where
/// the minima are; with a smaller one, queries are slower.
const MAX_NEAR_CANONICAL_DEVIATION: f64 = 1e-5;

fn near<T>(found: Nearly<T>, outward: bool) -> NearCanonical<T> {
    NearCanonical {
        shape: found.shape,
        outward: outward == found.same_normal,
        deviation: found.deviation,
        angle: found.angle,
        curvature: found.curvature,
    }
}

fn face_record(solid: &Solid, face: FaceGroup) -> Face {
    let id = |f: u32| solid.faces[f as usize].source;
    let near = match &face.surface {
        Surface::Bezier(grid) => {
            grid.nearly(MAX_NEAR_CANONICAL_DEVIATION * solid.bounds.diagonal()).map(|n| near(n, face.outward))
        }
        _ => None,
    };
    Face {
        canonical_approximation: near,
        surface: face.surface,
        outward: face.outward,
        trim: face.cells,
        sources: face.members.into_iter().map(|(f, cells)| (id(f), cells)).collect(),
    }
}

fn edge_record(solid: &Solid, features: &Features, edge: &EdgeGroup) -> Edge {
    let span = |s: &crate::group::SpanGroup| Span {
        t0: s.t0,
        t1: s.t1,
        source: solid.edges[s.edge as usize].source,
        deviation: s.deviation,
    };
    let side = |k: usize| {
        let (face, forward) = edge.sides[k];
        AdjacentFace {
            face: FaceId(face),
            forward,
            guide: guide(solid, edge, k, &features.faces[face as usize].surface),
        }
    };
    let near = match &edge.curve {
        Curve::Bezier(spline) => {
            spline.nearly(MAX_NEAR_CANONICAL_DEVIATION * solid.bounds.diagonal()).map(|n| near(n, true))
        }
        _ => None,
    };
    Edge {
        canonical_approximation: near,
        curve: edge.curve.clone(),
        spans: edge.spans.iter().map(span).collect(),
        closed: edge.closed,
        sides: [side(0), side(1)],
        quasi_only: edge.role == Role::Quasi,
    }
}

fn vertex_record(solid: &Solid, pick: &VertexPick) -> Vertex {
    let info = &solid.vertices[pick.vertex as usize];
    let constraints = match &info.polar {
        VertexPolar::Constraints(c) => c.clone(),
        VertexPolar::Empty => vec![],
    };
    Vertex {
        point: solid.shell.vertices[pick.vertex as usize],
        constraints,
        source: info.source,
        deviation: pick.deviation,
        quasi_only: pick.quasi_only,
    }
}

fn inertia(i: &feeler_geom::mass::SolidInertia) -> Inertia {
    let row = |k: usize| [i.tensor[(k, 0)], i.tensor[(k, 1)], i.tensor[(k, 2)]];
    Inertia { centroid: i.centroid.into(), tensor: [row(0), row(1), row(2)] }
}

/// Computes the summary of a solid, except for its minimum thickness. An edge of the file that was split
/// where its status changes counts once.
fn info(solid: &Solid, features: &Features) -> SolidInfo {
    let mut by_source: Vec<(u64, u32)> = Vec::with_capacity(solid.edges.len());
    for (k, e) in solid.edges.iter().enumerate() {
        by_source.push((e.source, feeler_geom::count::index(k)));
    }
    by_source.sort_unstable();
    let mut edges_by_curve = [0; 6];
    let mut edges_by_status = [0; 4];
    let mut n_edges = 0;
    // Edges without an entity id are counted separately.
    for parts in by_source.chunk_by(|a, b| a.0 == b.0 && a.0 != 0) {
        n_edges += 1;
        let kind = match &solid.shell.edges[parts[0].1 as usize].curve {
            Curve::Line { .. } => 0,
            Curve::Circle { .. } => 1,
            Curve::Ellipse { .. } => 2,
            Curve::Parabola { .. } => 3,
            Curve::Hyperbola { .. } => 4,
            Curve::Bezier(_) => 5,
        };
        edges_by_curve[kind] += 1;
        let status = |p: &(u64, u32)| match solid.edges[p.1 as usize].status {
            EdgeStatus::Convex => 0,
            EdgeStatus::Concave => 1,
            EdgeStatus::Smooth | EdgeStatus::Seam => 2,
        };
        let first = status(&parts[0]);
        edges_by_status[if parts.iter().all(|p| status(p) == first) { first } else { 3 }] += 1;
    }
    let mut faces_by_type = [0; 6];
    for f in &solid.shell.faces {
        let kind = match &f.surface {
            Surface::Plane { .. } => 0,
            Surface::Cylinder { .. } => 1,
            Surface::Cone { .. } => 2,
            Surface::Sphere { .. } => 3,
            Surface::Torus { .. } => 4,
            Surface::Bezier(_) => 5,
        };
        faces_by_type[kind] += 1;
    }
    let max_trim_deviation = solid
        .edges
        .iter()
        .flat_map(|e| &e.sides)
        .map(|s| s.pcurve.iter().fold(s.deviation, |m, p| m.max(p.deviation)))
        .fold(0.0, f64::max);
    let index = feeler_geom::count::index;
    let n_faces = solid.faces.iter().map(|f| 1 + f.joined.len()).sum();
    SolidInfo {
        name: solid.name.clone(),
        source: solid.source,
        bbox_min: solid.bounds.min.into(),
        bbox_max: solid.bounds.max.into(),
        area: solid.area,
        volume: solid.volume,
        inertia: solid.inertia.as_ref().map(inertia),
        min_thickness: f64::INFINITY,
        source_counts: [index(n_faces), n_edges, index(solid.shell.vertices.len())],
        faces_by_type,
        edges_by_curve,
        edges_by_status,
        supermaximal: [index(features.faces.len()), index(features.edges.len())],
        max_trim_deviation,
        uncertainty: solid.uncertainty,
    }
}
