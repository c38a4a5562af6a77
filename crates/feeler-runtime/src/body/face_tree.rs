//! Tree of the faces of a solid and, below each face, of its areas. The search for crossings traverses it.
//!
//! The hierarchy of a solid mixes the areas of all features, so a pair of nested faces appears in many
//! pairs of nodes before their primitives can exclude it. In this tree each pair of faces appears once.
//!
//! # Source
//! BREP §2.4 (hierarchies of boxes).

use crate::body::tree::Placed;
use crate::body::{Body, index};
use feeler_geom::obb::PoseMatrix;
use feeler_geom::{Aabb, Obb, P3};
use feeler_hierarchy::{AreaId, FaceId, Feature, Node, NodeId};

/// Node of the tree of faces: a box around several faces, one face, or areas of one face.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FaceNode {
    /// Box that contains the node up to the deviation of trims, in the frame of the solid unless moved
    /// by a pose.
    pub obb: Obb,
    /// Half of the diagonal of the box (mm).
    pub radius: f64,
    /// Face that all areas below belong to, or [`FaceNode::MANY`].
    face: FaceId,
    /// Index of the first of two adjacent children, which follow their parent; at a leaf, the area with
    /// [`Node::LEAF`].
    link: u32,
    /// Number of the region of the solid to which the node belongs, 0 for the whole solid: see
    /// [`Body::regions`].
    pub region: u8,
}

impl FaceNode {
    const MANY: FaceId = FaceId(u32::MAX);

    /// Face that all areas below the node belong to; `None` if there are several faces.
    pub(crate) fn face(&self) -> Option<FaceId> {
        (self.face != Self::MANY).then_some(self.face)
    }

    /// Reads a word of each cache line of the node, which loads the node into the cache.
    pub(crate) fn touch(&self) -> u64 {
        self.obb.center.x.to_bits() ^ self.obb.half.x.to_bits() ^ u64::from(self.region)
    }

    /// Area of a leaf; `None` for an inner node.
    pub(crate) fn area(&self) -> Option<AreaId> {
        (self.link & Node::LEAF != 0).then_some(AreaId(self.link & !Node::LEAF))
    }

    /// Children of an inner node; `None` for a leaf.
    pub(crate) fn children(&self) -> Option<[NodeId; 2]> {
        (self.link & Node::LEAF == 0).then(|| [self.link, self.link + 1].map(NodeId))
    }
}

impl Placed for FaceNode {
    fn placed(&self, pose: &PoseMatrix) -> Self {
        Self { obb: self.obb.placed(pose), ..*self }
    }
}

/// Face or area from which the tree is built; a node under construction contains one or more of them.
struct Item {
    bounds: Aabb,
    center: P3,
    /// A whole face, whose areas become the children of the node, or one area of a face.
    of: Result<FaceId, (FaceId, AreaId)>,
}

/// Builds the tree of faces of a solid; the tree is empty if the solid has no faces.
pub(crate) fn face_tree(body: &Body) -> Vec<FaceNode> {
    let mut items: Vec<Item> = Vec::new();
    for data in body.features() {
        if let (Feature::Face(f), areas) = (data.feature, body.areas_of(data)) {
            match areas {
                [] => {}
                [area] => items.push(Item::of_area(body, f, *area)),
                _ => items.push(Item { bounds: data.bounds, center: data.bounds.center(), of: Ok(f) }),
            }
        }
    }
    let mut out = Vec::new();
    if !items.is_empty() {
        let whole = body.bounds().inflated(body.deviation());
        out.push(FaceNode { obb: Obb::from_aabb(&whole), radius: 0.0, face: FaceId(0), link: 0, region: 0 });
        fill(body, 0, items, &mut out);
    }
    out
}

impl Item {
    fn of_area(body: &Body, face: FaceId, area: AreaId) -> Self {
        let obb = &body.node(body.leaf_of_area(area)).obb;
        Self { bounds: Aabb::of_points(&obb.corners()), center: obb.center, of: Err((face, area)) }
    }
}

/// Sets node `k`, which must exist in `out`, from one or more items, and appends all nodes below it. A
/// node of one area is a leaf. Any other content, several items or the areas of a single face, is split
/// between two children.
fn fill(body: &Body, k: usize, items: Vec<Item>, out: &mut Vec<FaceNode>) {
    if let [Item { of, bounds, .. }] = items.as_slice() {
        match *of {
            Err((face, area)) => {
                let obb = body.node(body.leaf_of_area(area)).obb;
                out[k] = FaceNode { obb, radius: obb.radius(), face, link: Node::LEAF | area.0, region: 0 };
            }
            Ok(face) => {
                let obb = Obb::from_aabb(bounds);
                out[k] = FaceNode { obb, radius: obb.radius(), face, link: 0, region: 0 };
                let areas = body.areas_of(body.data(Feature::Face(face)));
                split(body, k, areas.iter().map(|&a| Item::of_area(body, face, a)).collect(), out);
            }
        }
        return;
    }
    let bounds = items.iter().fold(Aabb::empty(), |b, i| b.union(&i.bounds));
    let face_of = |i: &Item| match i.of {
        Ok(_) => None,
        Err((face, _)) => Some(face),
    };
    let first = face_of(&items[0]).filter(|f| items.iter().all(|i| face_of(i) == Some(*f)));
    let obb = Obb::from_aabb(&bounds);
    let face = first.unwrap_or(FaceNode::MANY);
    out[k] = FaceNode { obb, radius: obb.radius(), face, link: 0, region: 0 };
    split(body, k, items, out);
}

/// Builds the children of node `k`: halves of two or more items, along the axis of the largest spread of
/// their centres.
fn split(body: &Body, k: usize, mut items: Vec<Item>, out: &mut Vec<FaceNode>) {
    let spread = items.iter().fold(Aabb::empty(), |b, i| b.union(&Aabb::of_points(&[i.center])));
    let axis = (spread.max - spread.min).imax();
    // Items at equal positions keep the order of the file.
    items.sort_by(|x, y| x.center[axis].total_cmp(&y.center[axis]));
    let right = items.split_off(items.len() / 2);
    let child = out.len();
    out[k].link = index(child);
    let blank = out[k];
    out.extend([blank, blank]);
    fill(body, child, items, out);
    fill(body, child + 1, right, out);
}
