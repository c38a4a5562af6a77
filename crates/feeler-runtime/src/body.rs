//! Bodies: loaded hierarchies, prepared for queries.
//!
//! A body consists of the stored data and of derived data that every query needs and that a file should not
//! store twice: the oriented-sphere primitive of each canonical feature, its extent, the areas of each
//! feature, and a point on each shell.

mod axes;
mod bands;
mod check;
mod concave;
pub(crate) mod coordinates;
pub(crate) mod edge_arcs;
pub(crate) mod edge_normals;
pub(crate) mod face_tree;
mod feature;
mod helix;
pub(crate) mod ids;
mod order;
mod regions;
pub(crate) mod samples;
pub(crate) mod side;
pub(crate) mod tree;

pub(crate) use axes::{Axis, MAX_AXES};
use check::{around_areas, check, hull_of};
pub(crate) use feature::{FeatureData, Near};
pub(crate) use helix::Helix;
use order::MAX_AREAS;
pub(crate) use order::{SortKey, positions};

use crate::api::tolerance::Tolerances;
use crate::body::edge_arcs::EdgeArcs;
use crate::body::face_tree::{FaceNode, face_tree};
use crate::body::ids::FeatureId;
use crate::body::samples::{
    CurvatureBounds, CurveSamples, EdgeSegment, Grid, NormalBundle, Normals, Samples,
};
use crate::body::tree::{Allowance, FeatureTypes, SolveClass, TreeNode};
use crate::profile::apart::{along, part};
use crate::profile::ring::ring;
use feature::{NEAR_PART_SLACK, PART_SLACK, curvature_bound, exact_along, max_bend, near, outline, zone};
use feeler_convex::{Polytope, Support};
use feeler_geom::skeleton::Primitive;
use feeler_geom::{Aabb, Curve, P2, P3, Pose, Surface, V3};
use feeler_hierarchy::{
    Area, AreaId, Edge, EdgeId, Face, FaceId, Feature, FeatureType, Hierarchy, Node, NodeId, Vertex, VertexId,
};
use regions::divide;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Errors of the construction of a [`Body`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// An index or a count in the hierarchy is out of range.
    #[error("solid '{name}': {what} {index} refers to something that does not exist")]
    Reference {
        /// Name of the solid.
        name: String,
        /// Kind of the item that contains the invalid reference, such as "edge" or "area".
        what: &'static str,
        /// Index of that item among those of its kind.
        index: usize,
    },
    /// A number of the hierarchy that must be finite is NaN or infinite.
    #[error("solid '{name}': {what} is not finite")]
    NotFinite {
        /// Name of the solid.
        name: String,
        /// Name of the number that is not finite, or of the item that contains it.
        what: &'static str,
    },
    /// The model has no solid with this index.
    #[error("the model has {count} distinct solids, numbered from 0; solid {solid} does not exist")]
    NoSolid {
        /// The requested index of a solid.
        solid: usize,
        /// Number of distinct solids of the model.
        count: usize,
    },
    /// The hierarchy has more areas than can be indexed, because the indices of two areas must fit in one
    /// sort key.
    #[error(
        "solid '{name}' has {count} areas, but at most {MAX_AREAS} can be loaded; prepare it with a larger \
            flatness"
    )]
    TooLarge {
        /// Name of the solid.
        name: String,
        /// Number of areas of the solid.
        count: usize,
    },
}

/// Face of a solid that a screw motion maps to itself, such as the flank of a thread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thread {
    /// Point of the screw axis (mm, frame of the solid).
    pub origin: P3,
    /// Unit direction of the screw axis.
    pub axis: V3,
    /// Range of the coordinates (mm) of the face along the axis, measured from `origin`; a bound.
    pub along: [f64; 2],
    /// Translation (mm) along the axis per radian; negative for left-handed threads.
    pub lead: f64,
    /// Whether the material is outside: the thread of a nut.
    pub is_internal: bool,
}

/// A solid, prepared for queries.
///
/// Its frame is that of the stored hierarchy, with lengths in mm; poses of queries map it to world
/// coordinates. A body is immutable: share it among pairs and threads in an `Arc`.
#[derive(Clone, Debug)]
pub struct Body {
    hierarchy: Hierarchy,
    /// Derived data of all features: faces, then edges, then vertices.
    features: Vec<FeatureData>,
    /// All areas, sorted by the features that they belong to.
    areas: Vec<AreaId>,
    /// Leaf node of each area, by [`AreaId`].
    leaf_of_area: Vec<NodeId>,
    /// Feature of each area, by [`AreaId`].
    feature_of_area: Vec<FeatureId>,
    /// Sort key of each area, by [`AreaId`].
    sort_keys: Vec<SortKey>,
    /// Position in `features` of each area's feature, if one solve may cover all areas of that feature:
    /// see [`Body::whole_of`].
    whole_of_area: Vec<Option<FeatureId>>,
    /// Nodes of the hierarchy, with the data that culling tests need about the features below.
    tree: Vec<TreeNode>,
    /// Nodes of the tree of faces, which the search for crossings traverses.
    faces: Vec<FaceNode>,
    /// Centres and radii (mm) of balls around the regions, parts of the solid whose displacements are
    /// bounded separately: see [`Body::regions`].
    regions: Vec<(P3, f64)>,
    /// Axes of revolution and normals of planes that several features share.
    axes: Vec<Axis>,
    /// Box that contains the solid up to the deviation of its trims, in the solid's own frame.
    bounds: Aabb,
    reach: f64,
    /// A point on each shell, in the interior of a face, with its outward normal; used for tests of
    /// containment.
    pub(crate) shell_points: Vec<(P3, V3)>,
    /// Edges of each face, ascending.
    face_edges: Vec<Box<[EdgeId]>>,
    edge_arcs: OnceLock<EdgeArcs>,
    concave: OnceLock<Vec<Box<[bool]>>>,
    continued_ends: OnceLock<Vec<Box<[[bool; 2]]>>>,
    /// Polytope around the solid whose extents exceed those of the solid by at most 1 %; `None` for a
    /// body without features: see [`Body::hull`].
    hull: Option<Arc<Polytope>>,
    samples: Samples,
    deviation: f64,
    /// Upper bound of the absolute normal curvatures (1/mm) of all faces; infinite if a face is free-form.
    max_bend: f64,
}

/// Volume, as a fraction of the cube of the body's size, below which a body is a sheet: the volumes of
/// its two sides cancel up to rounding. With a larger value, thin solids count as sheets; with a smaller
/// one, rounding makes solids of sheets.
const MAX_SHEET_VOLUME: f64 = 1e-12;

/// Maximum number of regions (parts of a solid whose displacements are bounded separately) of the tree of
/// features, and of the tree of faces. More regions bound displacements more tightly and cost more in
/// every query.
pub(crate) const REGIONS: usize = 64;

/// Largest angle (rad) by which culling widens the cones of directions of an area. A trim that deviates from
/// its edge accepts footpoints outside the area, where the normal differs. A larger value culls less; with a
/// smaller one, minima at inaccurate trims are lost.
const MAX_CONE_SLACK: f64 = 0.05;

/// Order of the features of a body: faces, edges, vertices.
#[derive(Clone, Copy)]
struct FeatureOrder {
    faces: usize,
    edges: usize,
}

impl FeatureOrder {
    fn new(hierarchy: &Hierarchy) -> Self {
        Self { faces: hierarchy.faces.len(), edges: hierarchy.edges.len() }
    }

    fn index(self, feature: Feature) -> usize {
        match feature {
            Feature::Face(i) => i.index(),
            Feature::Edge(i) => self.faces + i.index(),
            Feature::Vertex(i) => self.faces + self.edges + i.index(),
        }
    }
}

/// Returns all areas of a hierarchy, sorted by their features in the given order.
fn areas_by_feature(hierarchy: &Hierarchy, order: FeatureOrder) -> Vec<AreaId> {
    let mut areas: Vec<AreaId> = ids(hierarchy.areas.len()).map(AreaId).collect();
    areas.sort_by_key(|&i| (order.index(hierarchy.areas[i.index()].feature), i));
    areas
}

/// Returns the leaf node that contains each area of a hierarchy, by [`AreaId`].
fn leaves_of_areas(hierarchy: &Hierarchy) -> Vec<NodeId> {
    let mut leaves = vec![NodeId(0); hierarchy.areas.len()];
    for (i, node) in ids(hierarchy.nodes.len()).zip(&hierarchy.nodes) {
        if let Some(area) = node.area() {
            leaves[area.index()] = NodeId(i);
        }
    }
    leaves
}

/// Data of all features, without helices, bands and axes. `areas` are sorted by features.
fn features(hierarchy: &Hierarchy, areas: &[AreaId], leaf_of_area: &[NodeId]) -> Vec<FeatureData> {
    let all = ids(hierarchy.faces.len())
        .map(|i| Feature::Face(FaceId(i)))
        .chain(ids(hierarchy.edges.len()).map(|i| Feature::Edge(EdgeId(i))))
        .chain(ids(hierarchy.vertices.len()).map(|i| Feature::Vertex(VertexId(i))));
    let mut end = 0;
    let data = |feature: Feature| {
        let start = end;
        let is_own = |a: &&AreaId| hierarchy.areas[a.index()].feature == feature;
        end += areas[start..].iter().take_while(is_own).count();
        feature_data(hierarchy, feature, (areas, start..end), leaf_of_area)
    };
    all.map(data).collect()
}

/// Data of a feature, given the range of its areas in the list of areas that are sorted by features.
fn feature_data(
    hierarchy: &Hierarchy,
    feature: Feature,
    (areas, range): (&[AreaId], Range<usize>),
    leaf_of_area: &[NodeId],
) -> FeatureData {
    let own = &areas[range.clone()];
    let boxes = || own.iter().map(|&a| &hierarchy.nodes[leaf_of_area[a.index()].index()].obb);
    let bbox = boxes().fold(Aabb::empty(), |sum, obb| sum.union(&Aabb::of_points(&obb.corners())));
    let (primitive, deviation, quasi_only) = exact_shape(hierarchy, feature);
    // Near-degenerate poses are measured around the origin of a line.
    let rebased = |p: Primitive| if bbox.is_empty() { p } else { p.rebased(&bbox.center()) };
    let primitive = primitive.map(rebased);
    let near = near(hierarchy, feature).map(|n| Near { primitive: rebased(n.primitive), ..n });
    let around = primitive.as_ref().or(near.as_ref().map(|n| &n.primitive));
    let points = own.iter().flat_map(|&a| outline(hierarchy, a));
    let off = near.as_ref().map_or(0.0, |n| n.deviation);
    FeatureData {
        feature,
        along: exact_along(hierarchy, feature, primitive.as_ref(), deviation)
            .unwrap_or_else(|| along(around, off, boxes())),
        ring: match feature {
            Feature::Face(f) => ring(&hierarchy.faces[f.index()]),
            _ => None,
        },
        part: part(around, points, if near.is_some() { NEAR_PART_SLACK } else { PART_SLACK }),
        zone: zone(around, own.iter().map(|&a| &hierarchy.areas[a.index()].cone)),
        axis: None,
        primitive,
        near,
        bounds: bbox,
        extent: bbox.diagonal(),
        rect: around_areas(own.iter().map(|&a| &hierarchy.areas[a.index()].rect)),
        deviation: if deviation.is_finite() { deviation.max(0.0) } else { 0.0 },
        areas: range,
        is_disc: match feature {
            Feature::Face(f) => hierarchy.faces[f.index()].trim.is_disc(),
            _ => false,
        },
        quasi_only,
        helix: None,
        band: None,
    }
}

/// Primitive of a feature if it is canonical; largest deviation (mm) of its trims, spans or vertex; and
/// whether it can carry quasi-minima only.
fn exact_shape(hierarchy: &Hierarchy, feature: Feature) -> (Option<Primitive>, f64, bool) {
    match feature {
        Feature::Face(i) => {
            let f = &hierarchy.faces[i.index()];
            let deviation = f.trim.pieces.iter().fold(0.0, |m: f64, p| m.max(p.deviation));
            let on_inner_sheet = f.trim.on_inner_sheet(&f.surface);
            (Primitive::of_face(&f.surface, f.outward, on_inner_sheet), deviation, false)
        }
        Feature::Edge(i) => {
            let e = &hierarchy.edges[i.index()];
            let deviation = e.spans.iter().fold(0.0, |m: f64, s| m.max(s.deviation));
            (Primitive::of_curve(&e.curve), deviation, e.quasi_only)
        }
        Feature::Vertex(i) => {
            let v = &hierarchy.vertices[i.index()];
            (Some(Primitive::of_point(v.point)), v.deviation, v.quasi_only)
        }
    }
}

/// Keys by which the areas are sorted for the solves: kind of the feature, its first area, and the offset
/// of the area from the first one.
fn sort_keys(features: &[FeatureData], areas: &[AreaId]) -> Vec<SortKey> {
    let mut keys = vec![SortKey { kind: 0, first: 0, offset: 0 }; areas.len()];
    for f in features {
        for (place, &area) in f.areas.clone().zip(&areas[f.areas.clone()]) {
            let [first, offset] = [f.areas.start, place - f.areas.start].map(index);
            keys[area.index()] = SortKey { kind: f.kind(), first, offset };
        }
    }
    keys
}

impl Body {
    /// Constructs a body whose `shell_points` are not computed yet.
    pub(crate) fn without_shell_points(hierarchy: Hierarchy) -> Result<Self, BodyError> {
        check(&hierarchy)?;
        let order = FeatureOrder::new(&hierarchy);
        let areas = areas_by_feature(&hierarchy, order);
        let leaf_of_area = leaves_of_areas(&hierarchy);
        let hull = hull_of(&hierarchy)?;
        let bounds = match &hull {
            Some(_) => Aabb { min: hierarchy.info.bbox_min.into(), max: hierarchy.info.bbox_max.into() },
            None => Aabb::empty(),
        };
        let mut features = features(&hierarchy, &areas, &leaf_of_area);
        for data in features.iter_mut().filter(|f| f.primitive.is_none() && f.near.is_none()) {
            data.helix = helix::helix(&hierarchy, data.feature, &data.rect, bounds.diagonal()).map(Box::new);
        }
        let face_edges = edges_of_faces(&hierarchy);
        bands::bands(&hierarchy, &face_edges, &mut features);
        let whole = |f: Feature| {
            (features[order.index(f)].form() != SolveClass::Free).then(|| FeatureId::new(order.index(f)))
        };
        let feature_of_area = |a: &Area| FeatureId::new(order.index(a.feature));
        let mut body = Self {
            sort_keys: sort_keys(&features, &areas),
            whole_of_area: hierarchy.areas.iter().map(|a| whole(a.feature)).collect(),
            feature_of_area: hierarchy.areas.iter().map(feature_of_area).collect(),
            samples: Samples::new(hierarchy.areas.len(), hierarchy.edges.len()),
            deviation: features.iter().fold(0.0, |m: f64, f| m.max(f.deviation)),
            max_bend: features.iter().map(|f| max_bend(&hierarchy, f)).fold(0.0, f64::max),
            reach: if bounds.is_empty() {
                0.0
            } else {
                bounds.min.coords.amax().max(bounds.max.coords.amax())
            },
            hierarchy,
            features,
            areas,
            leaf_of_area,
            tree: Vec::new(),
            faces: Vec::new(),
            regions: Vec::new(),
            axes: Vec::new(),
            bounds,
            shell_points: Vec::new(),
            face_edges,
            edge_arcs: OnceLock::new(),
            concave: OnceLock::new(),
            continued_ends: OnceLock::new(),
            hull,
        };
        body.add_axes();
        body.add_trees();
        Ok(body)
    }

    /// Computes the axes for which motions are bounded separately, and assigns its axis to each feature.
    fn add_axes(&mut self) {
        let (axes, of_features) = axes::axes(&self.features, self.size(), self.deviation);
        self.features.iter_mut().zip(of_features).for_each(|(data, axis)| data.axis = axis);
        self.axes = axes;
    }

    /// Builds the tree of all features and the tree of faces, and divides each into regions, whose
    /// displacements are bounded separately.
    fn add_trees(&mut self) {
        self.tree = self.collect_tree();
        self.faces = face_tree(self);
        let of_tree = divide(&self.boxes(), REGIONS, &mut self.regions);
        self.tree.iter_mut().zip(of_tree).for_each(|(n, region)| n.region = region);
        let boxes: Vec<_> = self.faces.iter().map(|n| (n.obb.center, n.radius, n.children())).collect();
        let of_faces = divide(&boxes, REGIONS, &mut self.regions);
        self.faces.iter_mut().zip(of_faces).for_each(|(n, region)| n.region = region);
    }

    /// Returns the tree with the data that culling needs about the features below each node; children
    /// follow their parents.
    fn collect_tree(&self) -> Vec<TreeNode> {
        let nodes = &self.hierarchy.nodes;
        let mut below = vec![(FeatureTypes::default(), Allowance::default(), TreeNode::MIXED); nodes.len()];
        for (i, node) in nodes.iter().enumerate().rev() {
            below[i] = match (node.area(), node.children()) {
                (Some(area), _) => {
                    let (types, allowance) = self.of_feature(self.area(area).feature);
                    (types, allowance, self.whole_of(area).unwrap_or(TreeNode::MIXED))
                }
                (None, Some([l, r])) => {
                    let (l, r) = (below[l.index()], below[r.index()]);
                    (l.0.union(r.0), l.1.union(r.1), if l.2 == r.2 { l.2 } else { TreeNode::MIXED })
                }
                (None, None) => continue,
            };
        }
        nodes
            .iter()
            .zip(below)
            .map(|(n, (types, allowance, whole))| {
                let form = self.features.get(whole.index()).map_or(SolveClass::Free, FeatureData::form);
                TreeNode::new(n, (types, allowance), (whole, form))
            })
            .collect()
    }

    fn of_feature(&self, feature: Feature) -> (FeatureTypes, Allowance) {
        let data = self.data(feature);
        let of = match feature {
            Feature::Face(f) => {
                let face = self.face(f);
                FeatureType::of_surface(&face.surface, face.outward, face.trim.on_inner_sheet(&face.surface))
            }
            Feature::Edge(e) => FeatureType::of_curve(&self.edge(e).curve),
            Feature::Vertex(_) => FeatureType::Vertex,
        };
        let types = FeatureTypes { strict: if data.quasi_only { 0 } else { of.bit() }, all: of.bit() };
        let has_sets = data.primitive.is_some() && data.extent > 0.0;
        let inverse_extent = if has_sets { 1.0 / data.extent } else { 0.0 };
        let spread = (1e-9 + data.deviation * curvature_bound(data)).min(MAX_CONE_SLACK);
        (types, Allowance::new(data.deviation, spread, inverse_extent))
    }

    /// Upper bound of the absolute normal curvatures (1/mm) of all faces; infinite if a face is
    /// free-form.
    pub(crate) fn max_bend(&self) -> f64 {
        self.max_bend
    }

    /// Largest absolute normal curvature (1/mm) of an area of a face; 0 for an area of an edge or a
    /// vertex. For a free-form face it is the estimate [`CurvatureBounds::bend`].
    pub(crate) fn bend_of_area(&self, area: AreaId) -> f64 {
        let data = self.data(self.area(area).feature);
        let is_free =
            matches!(data.feature, Feature::Face(f) if matches!(self.face(f).surface, Surface::Bezier(_)));
        if !is_free {
            return max_bend(&self.hierarchy, data);
        }
        self.curvature_bounds_of(area).bend()
    }

    /// Screw motion that maps a free-form feature to itself; `None` if no such motion was found.
    pub(crate) fn helix(&self, feature: Feature) -> Option<&Helix> {
        self.data(feature).helix.as_deref()
    }

    /// Threads of the solid: its free-form faces that a screw motion maps to themselves, such as helical
    /// flanks.
    #[must_use]
    pub fn threads(&self) -> Vec<Thread> {
        let of_face = |data: &FeatureData| {
            let (Feature::Face(face), Some(helix)) = (data.feature, &data.helix) else { return None };
            let frame = helix.shape.frame;
            let along = |p: &P3| (p - frame.origin).dot(&frame.z);
            let box_center = data.bounds.center();
            let half = 0.5 * (data.bounds.max - data.bounds.min);
            let spread = half.dot(&frame.z.abs());
            let uv = data.rect.center();
            let face = self.face(face);
            let radial = face.surface.point(uv) - frame.origin;
            let radial = radial - frame.z * radial.dot(&frame.z);
            Some(Thread {
                origin: frame.origin,
                axis: frame.z,
                along: [along(&box_center) - spread, along(&box_center) + spread],
                lead: helix.shape.lead,
                is_internal: outward_normal(face, uv).dot(&radial) < 0.0,
            })
        };
        self.features.iter().filter_map(of_face).collect()
    }

    /// Stored data of the solid.
    #[must_use]
    pub fn hierarchy(&self) -> &Hierarchy {
        &self.hierarchy
    }

    /// Bounding box (mm) in the frame of the solid. It contains the solid up to the deviation of its
    /// trims.
    #[must_use]
    pub fn bounds(&self) -> &Aabb {
        &self.bounds
    }

    /// Size of the solid: the diagonal of its bounding box (mm).
    #[must_use]
    pub fn size(&self) -> f64 {
        self.bounds.diagonal()
    }

    /// Lower bound of the smallest thickness of the material (mm).
    ///
    /// The thickness is the distance between two boundary points with opposite outward normals and only
    /// material between them. It is infinite if the solid has no such points, and 0 for a sheet.
    #[must_use]
    pub fn min_thickness(&self) -> f64 {
        if self.is_sheet() { 0.0 } else { self.hierarchy.info.min_thickness }
    }

    /// Whether the body is a sheet: an open surface without an interior, which can be touched from both
    /// sides.
    #[must_use]
    pub fn is_sheet(&self) -> bool {
        let size = self.size();
        self.hierarchy.info.volume.abs() <= MAX_SHEET_VOLUME * size * size * size
    }

    /// Largest absolute coordinate (mm) of the bounding box, in the frame of the solid.
    pub(crate) fn reach(&self) -> f64 {
        self.reach
    }

    /// Largest deviation (mm) of a trim, of a span of an edge, or of a vertex.
    pub(crate) fn deviation(&self) -> f64 {
        self.deviation
    }

    /// Nodes of the tree in the form that [`regions`] uses.
    fn boxes(&self) -> Vec<regions::Node> {
        self.tree.iter().map(|n| (n.obb.center, n.obb.radius(), n.children())).collect()
    }

    /// Centres and radii (mm) of balls around the regions of the tree, followed by those of the tree of
    /// faces, in the frame of the solid. The region with number `i` is at index `i - 1`. The regions of
    /// either tree cover the solid up to [`Body::deviation`].
    pub(crate) fn regions(&self) -> &[(P3, f64)] {
        &self.regions
    }

    /// Axes of revolution and normals of planes that several features of the solid share;
    /// [`FeatureData::axis`] is an index in this list.
    pub(crate) fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// Convex polytope around the solid up to [`Body::deviation`], whose extents exceed those of the solid
    /// by at most 1 %; `None` for a body without features.
    pub(crate) fn hull(&self) -> Option<&Arc<Polytope>> {
        self.hull.as_ref()
    }

    /// Axis-aligned box (mm) around the solid in a pose.
    ///
    /// It contains the solid up to the deviation of its trims, and its extent along each axis exceeds that
    /// of the solid by at most 1 %. It is empty for a body without features. The computation is cheap and
    /// does not allocate, whatever the rotation.
    #[must_use]
    pub fn posed_bounds(&self, pose: &Pose) -> Aabb {
        let Some(hull) = &self.hull else { return Aabb::empty() };
        let (mut min, mut max) = (P3::origin(), P3::origin());
        for k in 0..3 {
            let d = pose.rotation.inverse_transform_vector(&V3::ith(k, 1.0));
            let [up, down] = [d, -d].map(|d| d.dot(&hull.support(&d).point.coords));
            let t = pose.translation.vector[k];
            let slack = 16.0 * f64::EPSILON * (t.abs() + self.reach);
            (min[k], max[k]) = (t - down - slack, t + up + slack);
        }
        Aabb { min, max }
    }

    /// A point of each shell, in the interior of a face, with its outward normal (frame of the solid).
    pub(crate) fn shell_points(&self) -> &[(P3, V3)] {
        &self.shell_points
    }

    /// Computes all lazily derived data that depends on the whole hierarchy, so that the first query does
    /// not have to. Samples of free-form areas are left to the first query near them, at about 30 µs each.
    pub(crate) fn make_derived_data(&self) {
        self.edge_arcs();
        self.concave();
    }

    /// Trimming curves of all faces in space, cut into short arcs. They are computed at the first call.
    pub(crate) fn edge_arcs(&self) -> &EdgeArcs {
        self.edge_arcs.get_or_init(|| EdgeArcs::new(self))
    }

    /// Edges that bound a face, by ascending index.
    pub(crate) fn edges_of_face(&self, face: FaceId) -> &[EdgeId] {
        &self.face_edges[face.index()]
    }

    /// Whether the trimming piece of a face with this index lies on a concave edge.
    pub(crate) fn is_concave(&self, face: FaceId, piece: usize) -> bool {
        self.concave()[face.index()][piece]
    }

    fn concave(&self) -> &[Box<[bool]>] {
        self.concave.get_or_init(|| concave::concave_trims(self))
    }

    /// Whether the solid continues beyond the start and the end of each span of an edge. They are computed by
    /// `all`, for each edge, at the first call.
    pub(crate) fn continued_ends(
        &self,
        edge: EdgeId,
        all: impl FnOnce(&Self) -> Vec<Box<[[bool; 2]]>>,
    ) -> &[[bool; 2]] {
        &self.continued_ends.get_or_init(|| all(self))[edge.index()]
    }

    /// Grid of sample points over a free-form area, in the frame of the solid.
    pub(crate) fn grid_of(&self, area: AreaId) -> &Grid {
        self.samples.get(self, area)
    }

    /// Outward normals at the points of a free-form area's grid, in the frame of the solid.
    pub(crate) fn normals_of(&self, area: AreaId) -> &Normals {
        self.samples.normals(self, area)
    }

    /// Points and derivatives, in the frame of the solid, at equal parameter steps along an area of an edge.
    pub(crate) fn curve_samples_of(&self, area: AreaId) -> &CurveSamples {
        let data = self.area(area);
        let Feature::Edge(e) = data.feature else { unreachable!("an area of an edge") };
        self.samples.along(&self.edge(e).curve, area, &data.rect)
    }

    /// Whether the segments of an edge ([`Body::segments_of`]) have been computed.
    pub(crate) fn has_segments(&self, edge: EdgeId) -> bool {
        self.samples.has_segments(edge)
    }

    /// Segments of an edge without closed form, which solves use to exclude areas: one for each area, in
    /// the order of [`Body::areas_of`].
    pub(crate) fn segments_of(&self, edge: EdgeId) -> &[EdgeSegment] {
        self.samples.segments(self, edge)
    }

    /// Balls around the third derivatives (uuu, uuv, uvv, vvv) over a free-form area with respect to its
    /// unit-box parameters; for an edge only the first one.
    pub(crate) fn third_derivatives_of(&self, area: AreaId) -> &[feeler_geom::VectorBall; 4] {
        self.samples.third_derivatives(self, area)
    }

    /// Bundles of normals of an area of a free-form face, one for each piece of the area; empty unless
    /// its patch has a pole.
    pub(crate) fn normal_bundles_of(&self, area: AreaId) -> &[NormalBundle] {
        self.samples.bundles(self, area)
    }

    /// Bounds of the normal curvatures (1/mm) of an area of a free-form face.
    pub(crate) fn curvature_bounds_of(&self, area: AreaId) -> &CurvatureBounds {
        self.samples.curvature_bounds(self, area)
    }

    /// Whether an area is a piece of a straight edge.
    pub(crate) fn is_straight(&self, area: AreaId) -> bool {
        let Feature::Edge(e) = self.area(area).feature else { return false };
        matches!(self.edge(e).curve, Curve::Line { .. })
    }

    /// Derived data of all features: faces, then edges, then vertices.
    pub(crate) fn features(&self) -> &[FeatureData] {
        &self.features
    }

    pub(crate) fn data(&self, feature: Feature) -> &FeatureData {
        &self.features[self.dense(feature).index()]
    }

    /// Position of a feature in [`Body::features`].
    pub(crate) fn dense(&self, feature: Feature) -> FeatureId {
        let (n_faces, n_edges) = (self.hierarchy.faces.len(), self.hierarchy.edges.len());
        FeatureId(match feature {
            Feature::Face(i) => i.0,
            Feature::Edge(i) => index(n_faces) + i.0,
            Feature::Vertex(i) => index(n_faces + n_edges) + i.0,
        })
    }

    /// Areas of the feature to which `data` belongs.
    pub(crate) fn areas_of(&self, data: &FeatureData) -> &[AreaId] {
        &self.areas[data.areas.clone()]
    }

    pub(crate) fn leaf_of_area(&self, area: AreaId) -> NodeId {
        self.leaf_of_area[area.index()]
    }

    /// Primitive of a feature, or of the canonical feature that it follows, and the largest distance
    /// (mm) of the feature from the primitive's surface. Signed distances from the primitive and from
    /// the feature differ by at most this distance. Returns `None` for free-form features that follow no
    /// canonical one, and for spindle tori, whose inner sheets touch the spheres on the other side of
    /// the axis.
    pub(crate) fn sphere_envelope(&self, feature: FeatureId) -> Option<(&Primitive, f64)> {
        let data = &self.features[feature.index()];
        let (primitive, off) = match (&data.primitive, &data.near) {
            (Some(p), _) => (p, 0.0),
            (None, Some(near)) => (&near.primitive, near.deviation),
            (None, None) => return None,
        };
        let spindle =
            matches!(primitive, Primitive::Circle { radius, sigma, .. } if radius.abs() < sigma.abs());
        (!spindle).then_some((primitive, off))
    }

    /// Position of an area's feature in [`Body::features`] if one solve may cover all areas of the
    /// feature ([`SolveClass`]): it is canonical, follows a canonical feature, or is an edge of few
    /// areas. `None` for other features.
    pub(crate) fn whole_of(&self, area: AreaId) -> Option<FeatureId> {
        self.whole_of_area[area.index()]
    }

    /// Position of an area's feature in [`Body::features`].
    pub(crate) fn feature_of(&self, area: AreaId) -> FeatureId {
        self.feature_of_area[area.index()]
    }

    /// Face to which an area belongs; the area must be one of a face.
    pub(crate) fn face_of(&self, area: AreaId) -> FaceId {
        FaceId(self.feature_of(area).0)
    }

    /// Key by which an area is sorted for the solves.
    pub(crate) fn sort_key(&self, area: AreaId) -> SortKey {
        self.sort_keys[area.index()]
    }

    /// Area at a position in the list of the body's areas, which is sorted by feature.
    pub(crate) fn area_at(&self, position: usize) -> AreaId {
        self.areas[position]
    }

    /// Class of an area's feature (canonical, near-canonical or free form), which decides how pairs of
    /// the feature are solved.
    pub(crate) fn form_of(&self, area: AreaId) -> SolveClass {
        feature::class_of_kind(self.sort_keys[area.index()].kind)
    }

    pub(crate) fn node(&self, i: NodeId) -> &Node {
        &self.hierarchy.nodes[i.index()]
    }

    pub(crate) fn area(&self, i: AreaId) -> &Area {
        &self.hierarchy.areas[i.index()]
    }

    /// Nodes of the hierarchy, with the data that culling tests need about the features below; children
    /// follow their parents.
    pub(crate) fn tree(&self) -> &[TreeNode] {
        &self.tree
    }

    /// Nodes of the tree of faces; the search for crossings traverses this tree instead of the
    /// hierarchy.
    pub(crate) fn faces(&self) -> &[FaceNode] {
        &self.faces
    }

    pub(crate) fn face(&self, i: FaceId) -> &Face {
        &self.hierarchy.faces[i.index()]
    }

    pub(crate) fn edge(&self, i: EdgeId) -> &Edge {
        &self.hierarchy.edges[i.index()]
    }

    pub(crate) fn vertex(&self, i: VertexId) -> &Vertex {
        &self.hierarchy.vertices[i.index()]
    }
}

/// Converts a count to the index type. Files contain fewer than 2³¹ items of any kind.
pub(crate) fn index(n: usize) -> u32 {
    u32::try_from(n).expect("a hierarchy has fewer than 2^32 items of any kind")
}

/// Range of the indices 0 to `n` - 1 of `n` items.
fn ids(n: usize) -> Range<u32> {
    0..index(n)
}

/// Edges of each face, ascending.
fn edges_of_faces(hierarchy: &Hierarchy) -> Vec<Box<[EdgeId]>> {
    let mut of_faces = vec![Vec::new(); hierarchy.faces.len()];
    for (id, edge) in (0..).map(EdgeId).zip(&hierarchy.edges) {
        for face in edge.sides.iter().map(|side| side.face.index()) {
            let edges: &mut Vec<EdgeId> = &mut of_faces[face];
            if edges.last() != Some(&id) {
                edges.push(id);
            }
        }
    }
    of_faces.into_iter().map(Vec::into_boxed_slice).collect()
}

/// Outward unit normal of a face at the parameters `uv` of its surface.
pub(crate) fn outward_normal(face: &Face, uv: P2) -> V3 {
    let n = face.surface.normal(uv);
    if face.outward { n } else { -n }
}

impl Tolerances {
    /// Tolerances for two bodies; `pose_ab` maps coordinates of B to those of A; `tolerance` as in
    /// [`QueryOptions`](crate::QueryOptions::tolerance).
    #[must_use]
    pub fn new(a: &Body, b: &Body, pose_ab: &Pose, tolerance: Option<f64>) -> Self {
        let size = a.size().max(b.size()).max(f64::MIN_POSITIVE);
        let reach = size + a.reach().max(b.reach()).max(pose_ab.translation.vector.norm());
        Self::of_lengths(size, reach, tolerance)
    }
}
