//! The solid under construction: source topology with parameter ranges, splits and pcurves.

use feeler_geom::count::index;
use feeler_geom::{Curve, P3, Surface};

use super::pcurve::Pcurve;
use super::singular::Singular;

/// A vertex of the solid under construction.
#[derive(Clone, Debug)]
pub(super) struct Vertex {
    /// Entity id of the vertex, or of the edge whose split created it.
    pub(super) id: u64,
    pub(super) point: P3,
    /// Largest distance (mm) from the point to the end of an edge that should coincide with it.
    pub(super) gap: f64,
}

/// An edge of the solid under construction; its curve runs from the first to the second vertex over
/// `range`.
#[derive(Clone, Debug)]
pub(super) struct Edge {
    pub(super) source: u64,
    pub(super) curve: Curve,
    /// Largest distance (mm) between the edge's curve and the curve of the file that it replaces; 0 if
    /// it replaces none.
    pub(super) curve_deviation: f64,
    pub(super) range: (f64, f64),
    pub(super) vertices: (u32, u32),
}

impl Edge {
    pub(super) fn mid(&self) -> f64 {
        0.5 * (self.range.0 + self.range.1)
    }
}

/// One use of an edge by a loop.
#[derive(Clone, Debug)]
pub(super) struct Use {
    pub(super) edge: u32,
    /// Whether the loop traverses the edge in the direction of its curve.
    pub(super) forward: bool,
    /// Image of the edge in the face's parameter plane, in the direction of the curve; `None` until it
    /// is fitted.
    pub(super) pcurve: Option<Pcurve>,
}

/// A face of the solid under construction.
#[derive(Clone, Debug)]
pub(super) struct Face {
    pub(super) id: u64,
    /// Entity ids of the faces that were joined with this face.
    pub(super) joined: Vec<u64>,
    pub(super) shell: u32,
    pub(super) surface: Surface,
    pub(super) surface_deviation: f64,
    pub(super) outward: bool,
    /// Whether the source states that the face is on the outer sheet of a spindle torus, as
    /// [`FaceSource::outer_sheet`](crate::source::FaceSource); `None` if it states nothing.
    pub(super) outer_sheet: Option<bool>,
    pub(super) loops: Vec<Vec<Use>>,
    pub(super) vertex_loops: Vec<u32>,
    pub(super) singular: Vec<Singular>,
}

/// Location of a use: face, loop, and index in the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct UseAt {
    pub(super) face: usize,
    pub(super) ring: usize,
    pub(super) pos: usize,
}

/// A solid under construction.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) vertices: Vec<Vertex>,
    pub(super) edges: Vec<Edge>,
    pub(super) faces: Vec<Face>,
    /// Scale of tolerances (mm): diagonal of the box of the vertices and of points on closed curves and
    /// surfaces.
    pub(super) size: f64,
}

impl Draft {
    /// Returns the locations of all uses of every edge, by edge index.
    pub(super) fn uses(&self) -> Vec<Vec<UseAt>> {
        let mut uses = vec![Vec::new(); self.edges.len()];
        for (face, f) in self.faces.iter().enumerate() {
            for (ring, l) in f.loops.iter().enumerate() {
                for (pos, u) in l.iter().enumerate() {
                    uses[u.edge as usize].push(UseAt { face, ring, pos });
                }
            }
        }
        uses
    }

    /// Returns the use at a location.
    pub(super) fn at(&self, at: UseAt) -> &Use {
        &self.faces[at.face].loops[at.ring][at.pos]
    }

    /// Splits every edge `e` at the curve parameters `cuts[e]`, which increase and lie strictly inside
    /// the edge's range. The first part of an edge keeps its index; the new vertices and edges have its
    /// entity id. All uses of a split edge are replaced by uses of its parts, without pcurves.
    pub(super) fn split(&mut self, cuts: &[Vec<f64>]) {
        let mut parts: Vec<Option<Vec<u32>>> = vec![None; self.edges.len()];
        for (e, ts) in cuts.iter().enumerate().filter(|(_, ts)| !ts.is_empty()) {
            let whole = self.edges[e].clone();
            let mut indices = vec![index(e)];
            let mut from = whole.vertices.0;
            for (k, t) in ts.iter().enumerate() {
                let to = index(self.vertices.len());
                let point = whole.curve.point(*t);
                self.vertices.push(Vertex { id: whole.source, point, gap: 0.0 });
                if k == 0 {
                    self.edges[e].range.1 = *t;
                    self.edges[e].vertices.1 = to;
                } else {
                    indices.push(index(self.edges.len()));
                    let range = (ts[k - 1], *t);
                    self.edges.push(Edge { range, vertices: (from, to), ..whole.clone() });
                }
                from = to;
            }
            indices.push(index(self.edges.len()));
            let range = (ts[ts.len() - 1], whole.range.1);
            self.edges.push(Edge { range, vertices: (from, whole.vertices.1), ..whole });
            parts[e] = Some(indices);
        }
        for f in &mut self.faces {
            for ring in &mut f.loops {
                if ring.iter().all(|u| parts[u.edge as usize].is_none()) {
                    continue;
                }
                let mut out = Vec::with_capacity(ring.len() + 1);
                for u in ring.drain(..) {
                    let Some(p) = &parts[u.edge as usize] else {
                        out.push(u);
                        continue;
                    };
                    let part = |edge: &u32| Use { edge: *edge, forward: u.forward, pcurve: None };
                    if u.forward {
                        out.extend(p.iter().map(part));
                    } else {
                        out.extend(p.iter().rev().map(part));
                    }
                }
                *ring = out;
            }
        }
    }
}

impl Draft {
    /// Removes edges that no loop uses and vertices that no remaining edge and no vertex loop uses. The
    /// indices of the remaining ones change.
    pub(super) fn drop_unused(&mut self) {
        let mut edge_used = vec![false; self.edges.len()];
        let mut vertex_used = vec![false; self.vertices.len()];
        for f in &self.faces {
            for u in f.loops.iter().flatten() {
                edge_used[u.edge as usize] = true;
            }
            for v in &f.vertex_loops {
                vertex_used[*v as usize] = true;
            }
        }
        for (e, _) in self.edges.iter().zip(&edge_used).filter(|(_, used)| **used) {
            vertex_used[e.vertices.0 as usize] = true;
            vertex_used[e.vertices.1 as usize] = true;
        }
        let (edge_map, vertex_map) = (new_indices(&edge_used), new_indices(&vertex_used));
        let mut keep = edge_used.iter();
        self.edges.retain(|_| keep.next().copied().unwrap_or(false));
        let mut keep = vertex_used.iter();
        self.vertices.retain(|_| keep.next().copied().unwrap_or(false));
        for e in &mut self.edges {
            e.vertices = (vertex_map[e.vertices.0 as usize], vertex_map[e.vertices.1 as usize]);
        }
        for f in &mut self.faces {
            f.loops.iter_mut().flatten().for_each(|u| u.edge = edge_map[u.edge as usize]);
            f.vertex_loops.iter_mut().for_each(|v| *v = vertex_map[*v as usize]);
        }
    }

    /// Returns the indices of the vertices at which a use starts and ends, in the direction of the loop.
    pub(super) fn ends(&self, u: &Use) -> (u32, u32) {
        let (a, b) = self.edges[u.edge as usize].vertices;
        if u.forward { (a, b) } else { (b, a) }
    }
}

/// Returns the new index of every used entry after unused ones are removed (0 for unused entries, to
/// which nothing refers).
fn new_indices(used: &[bool]) -> Vec<u32> {
    let mut next = 0;
    used.iter()
        .map(|used| {
            let i = next;
            next += u32::from(*used);
            if *used { i } else { 0 }
        })
        .collect()
}
