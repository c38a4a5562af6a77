//! Searches for points and directions outside the bounds that should contain them:
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin conservative -- FOLDER… [--points N]
//! ```
//!
//! N random points (10,000,000) of the features of all solids are distributed evenly over the leaves:
//! points of faces with their outward normals, points of edges with the normals of both faces and a
//! direction between, and vertices with directions of their polars. Each must lie in the box, the cone of
//! revolution and the polyhedral cone of its leaf, and in the boxes and cones of all nodes above. Half of
//! the points of a face are drawn from its whole trimmed domain and must lie in the rectangle of some
//! leaf. Exit status 1 if one does not.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports")]

use feeler_benches::{number_after, prepare, step_files};
use feeler_geom::trim::Side;
use feeler_geom::{P2, P3, Rect, Surface, V3};
use feeler_hierarchy::{AreaId, Edge, Face, FaceId, Feature, Hierarchy, NodeId};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

/// Maximum angle (rad) by which rounding may put a direction outside a cone.
const MAX_ANGLE_ROUNDING: f64 = 1e-9;
/// Maximum distance by which rounding may put a point outside a box, relative to the coordinates.
const MAX_POINT_ROUNDING_REL: f64 = 1e-12;

/// Counts for one kind of feature.
#[derive(Clone, Copy, Default)]
struct Tally {
    points: u64,
    directions: u64,
    outside_box: u64,
    outside_cone: u64,
    outside_poly: u64,
    /// Number of points of a trimmed domain that are in no leaf's rectangle.
    in_no_leaf: u64,
}

impl Tally {
    fn failures(&self) -> u64 {
        self.outside_box + self.outside_cone + self.outside_poly + self.in_no_leaf
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let wanted = number_after(&args, "--points").unwrap_or(10_000_000_u64);
    let files = step_files(args.iter().take_while(|a| !a.starts_with("--")).map(Path::new));
    let clock = Instant::now();
    let mut models = Vec::new();
    for file in &files {
        // The program `corpus` reports files that cannot be prepared.
        if let Ok(model) = prepare(file) {
            models.push((file, model));
        }
    }
    let leaves: u64 = models.iter().flat_map(|(_, m)| &m.solids).map(|h| h.areas.len() as u64).sum();
    if leaves == 0 {
        eprintln!("no STEP files were found in the given folders");
        return ExitCode::from(2);
    }
    println!("{} files, {leaves} leaves, prepared in {:.1} s", models.len(), clock.elapsed().as_secs_f64());
    let mut rng = SmallRng::seed_from_u64(7);
    let mut tallies = [Tally::default(); 3];
    let mut done = 0;
    // Repeat until there are enough points, because many fall outside trimmed domains and polars.
    while done < wanted {
        let each = ((wanted - done) / leaves + 1).min(100);
        for (_, model) in &models {
            for h in &model.solids {
                check(h, each, &mut rng, &mut tallies);
            }
        }
        done = tallies.iter().map(|t| t.points).sum();
    }
    println!("              points   directions  outside box  cone  polyhedral cone  in no leaf");
    for (kind, t) in ["faces", "edges", "vertices"].iter().zip(&tallies) {
        println!(
            "{kind:9} {:10} {:12} {:12} {:5} {:16} {:11}",
            t.points, t.directions, t.outside_box, t.outside_cone, t.outside_poly, t.in_no_leaf
        );
    }
    println!("{done} points, {:.0} s", clock.elapsed().as_secs_f64());
    if tallies.iter().all(|t| t.failures() == 0) { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

/// Makes `each` attempts to draw a point for each leaf of a solid, and checks the points.
fn check(h: &Hierarchy, each: u64, rng: &mut SmallRng, tallies: &mut [Tally; 3]) {
    let bounds = Bounds::new(h);
    for (k, area) in h.areas.iter().enumerate() {
        let k = AreaId::new(k);
        for i in 0..each {
            match area.feature {
                Feature::Face(f) => {
                    let (face, whole) = (&h.faces[f.index()], i % 2 == 1);
                    let uv = random_in(rng, if whole { &face.trim.rect } else { &area.rect });
                    if face.trim.classify(uv) == Side::Outside {
                        continue;
                    }
                    let leaf = if whole { bounds.leaf_at(f, uv) } else { Some(k) };
                    let Some(leaf) = leaf else {
                        tallies[0].in_no_leaf += 1;
                        continue;
                    };
                    bounds.check_point(leaf, &face.surface.point(uv), &[outward(face, uv)], &mut tallies[0]);
                }
                Feature::Edge(e) => {
                    let edge = &h.edges[e.index()];
                    let t = random_in(rng, &area.rect).x;
                    let p = edge.curve.point(t);
                    let [a, b] = edge_normals(h, edge, t, &p);
                    let between = a.lerp(&b, rng.random_range(0.0..=1.0));
                    // Nearly opposite normals have no direction between them.
                    let all = [a, b, between];
                    let n = if between.norm() > 1e-3 { 3 } else { 2 };
                    bounds.check_point(k, &p, &all[..n], &mut tallies[1]);
                }
                Feature::Vertex(v) => {
                    let vertex = &h.vertices[v.index()];
                    let d = V3::from_fn(|_, _| rng.random_range(-1.0..1.0));
                    if vertex.constraints.iter().all(|c| c.dot(&d) <= 0.0) {
                        bounds.check_point(k, &vertex.point, &[d], &mut tallies[2]);
                    }
                }
            }
        }
    }
}

/// A hierarchy with the parents of its nodes.
struct Bounds<'a> {
    h: &'a Hierarchy,
    parents: Vec<NodeId>,
    node_of: Vec<NodeId>,
    /// Leaves of each face, by the index of the face.
    of_face: Vec<Vec<AreaId>>,
    size: f64,
}

impl<'a> Bounds<'a> {
    fn new(h: &'a Hierarchy) -> Self {
        let mut parents = vec![NodeId(0); h.nodes.len()];
        let mut node_of = vec![NodeId(0); h.areas.len()];
        let mut of_face = vec![Vec::new(); h.faces.len()];
        for (k, node) in h.nodes.iter().enumerate() {
            let k = NodeId::new(k);
            if let Some(a) = node.area() {
                node_of[a.index()] = k;
                if let Feature::Face(f) = h.areas[a.index()].feature {
                    of_face[f.index()].push(a);
                }
            }
            for child in node.children().into_iter().flatten() {
                parents[child.index()] = k;
            }
        }
        let (low, high) = (P3::from(h.info.bbox_min), P3::from(h.info.bbox_max));
        Self { h, parents, node_of, of_face, size: (high - low).norm() }
    }

    fn leaf_at(&self, face: FaceId, uv: P2) -> Option<AreaId> {
        self.of_face[face.index()].iter().copied().find(|a| self.h.areas[a.index()].rect.contains(uv))
    }

    /// Checks a point of a leaf and directions there against all bounds.
    fn check_point(&self, leaf: AreaId, p: &P3, directions: &[V3], tally: &mut Tally) {
        tally.points += 1;
        tally.directions += directions.len() as u64;
        let eps = MAX_POINT_ROUNDING_REL * (self.size + p.coords.amax());
        let poly = &self.h.areas[leaf.index()].cone;
        tally.outside_poly += u64::from(!directions.iter().all(|d| poly.contains(d, MAX_ANGLE_ROUNDING)));
        let mut at = self.node_of[leaf.index()];
        loop {
            let node = &self.h.nodes[at.index()];
            tally.outside_box += u64::from(!node.obb.contains(p, eps));
            tally.outside_cone +=
                u64::from(!directions.iter().all(|d| node.cone.contains(d, MAX_ANGLE_ROUNDING)));
            if at == NodeId(0) {
                return;
            }
            at = self.parents[at.index()];
        }
    }
}

fn random_in(rng: &mut SmallRng, r: &Rect) -> P2 {
    let mut one = |a: f64, b: f64| if a < b { rng.random_range(a..=b) } else { a };
    P2::new(one(r.u0, r.u1), one(r.v0, r.v1))
}

fn outward(face: &Face, uv: P2) -> V3 {
    let n = face.surface.normal(uv);
    if face.outward { n } else { -n }
}

/// Outward normals of the two faces of an edge at their points nearest to `p`, the point of the edge at
/// `t`.
fn edge_normals(h: &Hierarchy, edge: &Edge, t: f64, p: &P3) -> [V3; 2] {
    std::array::from_fn(|i| {
        let side = &edge.sides[i];
        let face = &h.faces[side.face.index()];
        let k = side.guide.partition_point(|g| g[0] <= t);
        let (a, b) = (side.guide.get(k.wrapping_sub(1)), side.guide.get(k));
        let hint = match (a, b) {
            (Some(a), Some(b)) => {
                let s = (t - a[0]) / (b[0] - a[0]);
                Some(P2::new(a[1] + (b[1] - a[1]) * s, a[2] + (b[2] - a[2]) * s))
            }
            (one, None) | (None, one) => one.map(|g| P2::new(g[1], g[2])),
        };
        let near = match (&face.surface, hint) {
            (Surface::Bezier(patches), Some(hint)) => patches.descend(p, hint).map(|found| found.0),
            _ => None,
        };
        outward(face, near.unwrap_or_else(|| face.surface.invert(p, hint, None)))
    })
}
