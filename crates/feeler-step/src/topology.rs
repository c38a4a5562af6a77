//! Reads shells, faces, loops, edges and vertices of one solid.

mod outline;
mod senses;
mod tessellated;

use std::collections::HashMap;

use feeler_brep::Severity;
use feeler_brep::source::{EdgeSource, FaceSource, LoopSource, SolidSource, VertexSource};
use feeler_geom::count::index;
use feeler_geom::{Curve, P3, Surface};

use crate::entities::{Bad, Entities, Record, Res, bad};
use crate::error::Problem;
use crate::geometry::{Geometry, Near, Note, ReadSurface};
use crate::units::Units;
#[cfg(test)]
pub(crate) use outline::curve_hull as hull_of_curve;
use outline::{curve_hull, edges_of, plane_of_polygons, reversed};
pub(crate) use tessellated::{exact_counterpart, is_tessellated};

/// Returns whether `r` is a solid that this crate converts, or a surface model if these are enabled.
pub(crate) fn is_solid(entities: &Entities, r: &Record<'_>) -> bool {
    SOLIDS.iter().any(|kind| r.is(kind))
        || entities.open_shells() && r.is(SURFACE_MODEL)
        || is_tessellated(entities, r)
}

const SURFACE_MODEL: &str = "SHELL_BASED_SURFACE_MODEL";

const SOLIDS: [&str; 3] = ["MANIFOLD_SOLID_BREP", "BREP_WITH_VOIDS", "FACETED_BREP"];

/// Maximum nesting depth of oriented shells, faces and edges; deeper ones are cyclic. A larger value
/// takes more time for such files.
const MAX_WRAPS: usize = 16;

/// Converted solid, and notes about its entities that do not prevent its use.
#[derive(Debug)]
pub(crate) struct Converted {
    /// The solid; several solids if it is tessellated and consists of separate bodies.
    pub(crate) solids: Vec<SolidSource>,
    pub(crate) notes: Vec<Problem>,
}

/// Converts the solid `id`, whose representation is in `units`. The error lists everything that prevents
/// its use, each problem once.
pub(crate) fn convert_solid(entities: &Entities, id: u64, units: Units) -> Result<Converted, Vec<Bad>> {
    let one = |e: Bad| vec![e];
    let record = entities.get(id, id).map_err(one)?;
    if is_tessellated(entities, &record) {
        return tessellated::convert(entities, &record, units);
    }
    let mut reader = SolidReader {
        geometry: Geometry::new(entities, units),
        entities,
        vertices: Vec::new(),
        edges: Vec::new(),
        faces: Vec::new(),
        vertex_of: HashMap::new(),
        edge_of: HashMap::new(),
        poly_vertex_of: HashMap::new(),
        poly_edge_of: HashMap::new(),
        loop_ids: Vec::new(),
        bad: Vec::new(),
        may_be_open: false,
    };
    let (name, shells) = if record.is(SURFACE_MODEL) {
        reader.may_be_open = true;
        surface_parts(&record).map_err(one)?
    } else {
        let (name, outer, voids) = solid_parts(&record).map_err(one)?;
        (name, (0..).zip(std::iter::once(outer).chain(voids)).collect())
    };
    for (i, shell) in shells {
        if let Err(e) = reader.shell(shell, id, i) {
            reader.report(e);
        }
    }
    if !reader.bad.is_empty() {
        return Err(reader.bad);
    }
    reader.connect_loops();
    if !reader.may_be_open {
        reader.check_uses();
    }
    let solid = SolidSource {
        name,
        id,
        vertices: reader.vertices,
        edges: reader.edges,
        faces: reader.faces,
        uncertainty: units.uncertainty,
    };
    if !reader.may_be_open {
        return Ok(Converted { notes: warnings(&solid, reader.geometry.notes), solids: vec![solid] });
    }
    let sheets = feeler_brep::sheet::both_sides(solid)
        .map_err(|e| vec![Bad { id: e.edge, message: e.to_string() }])?;
    if sheets.open_edges > 0 {
        let message = format!(
            "is a surface model with open edges ({}); it is prepared as a sheet without thickness, with a \
                front and a back. If it should be a solid, close its surface in the CAD system",
            sheets.open_edges
        );
        reader.geometry.note(id, message);
    }
    Ok(Converted { notes: warnings(&sheets.solid, reader.geometry.notes), solids: vec![sheets.solid] })
}

/// Converts notes to warnings, with a point on the part of the solid that each note concerns.
fn warnings(solid: &SolidSource, notes: Vec<Note>) -> Vec<Problem> {
    let warning = |n: Note| Problem {
        place: n.part.or(Some(n.entity)).and_then(|part| solid.place_of(part)),
        ..Problem::new(Some(n.entity), Severity::Warning, n.message)
    };
    notes.into_iter().map(warning).collect()
}

/// Returns the name of a surface model, and its shells with their numbers, which are all 0 because all
/// shells are outer ones.
fn surface_parts(r: &Record<'_>) -> Res<(String, Vec<(u32, u64)>)> {
    let name = r.own("REPRESENTATION_ITEM", 0).map_or_else(|| r.name(0), |p| p.name(0));
    let Some(own) = r.own(SURFACE_MODEL, 1) else {
        return bad(r.id, format!("is a {}, not a surface model", r.label()));
    };
    Ok((name, own.references(0, "sbsm_boundary")?.into_iter().map(|s| (0, s)).collect()))
}

/// Returns the name, the outer shell and the voids of a solid, which may be a plain or a complex
/// instance.
fn solid_parts(r: &Record<'_>) -> Res<(String, u64, Vec<u64>)> {
    let name = r.own("REPRESENTATION_ITEM", 0).map_or_else(|| r.name(0), |p| p.name(0));
    let inherited = r.own("MANIFOLD_SOLID_BREP", 1);
    let outer = match inherited.or_else(|| r.own("FACETED_BREP", 1)).or_else(|| r.own("BREP_WITH_VOIDS", 1)) {
        Some(part) => part.reference(0, "outer")?,
        None => return bad(r.id, format!("is a {}, not a solid", r.label())),
    };
    let voids = match r.own("BREP_WITH_VOIDS", 2) {
        Some(part) => part.references(0, "voids")?,
        None => Vec::new(),
    };
    Ok((name, outer, voids))
}

struct SolidReader<'a> {
    geometry: Geometry<'a>,
    entities: &'a Entities,
    vertices: Vec<VertexSource>,
    edges: Vec<EdgeSource>,
    faces: Vec<FaceSource>,
    vertex_of: HashMap<u64, u32>,
    edge_of: HashMap<u64, u32>,
    /// Vertex indices of the corners of polygonal faces, by the bits of their coordinates.
    poly_vertex_of: HashMap<[u64; 3], u32>,
    poly_edge_of: HashMap<(u32, u32), u32>,
    /// Entity ids of all loops in the order of the faces, except each `EDGE_LOOP` without edges. Each id is
    /// paired with the entity id of the loop's face, which is always `Some`.
    loop_ids: Vec<(u64, Option<u64>)>,
    /// Problems that prevent the use of the solid.
    bad: Vec<Bad>,
    /// Whether shells may have open edges.
    may_be_open: bool,
}

impl SolidReader<'_> {
    /// Stores a problem once, also if it is reported several times because two faces read the same edge.
    fn report(&mut self, e: Bad) {
        if !self.bad.contains(&e) {
            self.bad.push(e);
        }
    }

    fn shell(&mut self, id: u64, by: u64, index: u32) -> Res<()> {
        let (mut id, mut by, mut forward) = (id, by, true);
        for _ in 0..MAX_WRAPS {
            let r = self.entities.get(id, by)?.flattened();
            match r.name {
                "ORIENTED_CLOSED_SHELL" | "ORIENTED_OPEN_SHELL" => {
                    by = id;
                    id = r.reference(2, "shell element")?;
                    forward = forward == r.boolean(3, "orientation")?;
                }
                "CLOSED_SHELL" | "OPEN_SHELL" | "CONNECTED_FACE_SET" => {
                    if r.name == "OPEN_SHELL" && !self.may_be_open {
                        self.geometry.note(id, "is an OPEN_SHELL where a solid needs a CLOSED_SHELL");
                    }
                    let faces = r.references(1, "cfs_faces")?;
                    if faces.is_empty() {
                        return bad(id, "is a shell without faces");
                    }
                    for face in faces {
                        if let Err(e) = self.face(face, id, index, forward) {
                            self.report(e);
                        }
                    }
                    return Ok(());
                }
                _ => {
                    return bad(
                        id,
                        format!("is a {}; a closed shell is needed here (referenced by #{by})", r.label()),
                    );
                }
            }
        }
        bad(id, "is a shell that is nested too deeply or contains itself")
    }

    /// Reads the face `id`, to which `by` refers; `forward` is whether the shell keeps the orientation
    /// of the face.
    fn face(&mut self, id: u64, by: u64, shell: u32, forward: bool) -> Res<()> {
        let (mut id, mut by, mut forward) = (id, by, forward);
        let mut bounds_of = None;
        for _ in 0..MAX_WRAPS {
            let r = self.entities.get(id, by)?.flattened();
            match r.name {
                "ORIENTED_FACE" => {
                    by = id;
                    id = r.reference(2, "face_element")?;
                    forward = forward == r.boolean(3, "orientation")?;
                }
                // A subface has its own bounds and the surface of its parent.
                "SUBFACE" => {
                    bounds_of.get_or_insert(id);
                    by = id;
                    id = r.reference(2, "parent_face")?;
                }
                "ADVANCED_FACE" | "FACE_SURFACE" | "FACE" => {
                    let bounds = match bounds_of {
                        Some(sub) => self.entities.get(sub, by)?.flattened().references(1, "bounds")?,
                        None => r.references(1, "bounds")?,
                    };
                    return self.face_itself(&r, &bounds, shell, forward);
                }
                _ => return bad(id, format!("is a {}, which is not supported as a face", r.label())),
            }
        }
        bad(id, "is a face that is nested too deeply or contains itself")
    }

    fn face_itself(&mut self, r: &Record<'_>, bounds: &[u64], shell: u32, forward: bool) -> Res<()> {
        self.geometry.part = Some(r.id);
        let mut loops = Vec::with_capacity(bounds.len());
        let mut polygons = Vec::new();
        for bound_id in bounds {
            match self.face_bound(*bound_id, r.id, &mut polygons) {
                // Bounds run counter-clockwise about the normal of the face; if the shell reverses the
                // face, they are reversed as well.
                Ok(Some((l, along))) => loops.push(if along == forward { l } else { reversed(l) }),
                Ok(None) => {}
                // The surface is read nevertheless, so that its problems are reported, too.
                Err(e) => self.report(e),
            }
        }
        let near = self.points_around(&loops);
        let (surface_id, same_sense) =
            if r.name == "FACE" { (None, true) } else { (r.maybe_reference(2), r.boolean(3, "same_sense")?) };
        let read = match surface_id {
            Some(surface_id) => {
                let edges = edges_of(&loops, &self.edges, &self.vertices);
                let near = Near { points: &near, margin: 0.0, edges: &edges, surface: surface_id };
                self.geometry.surface(surface_id, r.id, near)?
            }
            None if !polygons.is_empty() => {
                // A polygon without a surface defines its own plane.
                let Some(frame) = plane_of_polygons(&polygons) else {
                    return bad(
                        r.id,
                        "is a face without a surface, and its polygon does not define a plane; give it a \
                            surface",
                    );
                };
                ReadSurface::exact(Surface::Plane { frame })
            }
            None => return bad(r.id, "is a face without a surface; give it one or export the solid again"),
        };
        self.geometry.part = None;
        self.faces.push(FaceSource {
            id: r.id,
            shell,
            surface: read.surface,
            surface_deviation: read.deviation,
            outward: (read.same_normal == same_sense) == forward,
            either_way: read.either_way,
            outer_sheet: read.outer_sheet,
            loops,
        });
        Ok(())
    }

    /// Returns the loop of a face bound, and whether the bound keeps the direction of the loop; `None`
    /// for an empty loop. The corners of polygons are added to `polygons`.
    fn face_bound(
        &mut self,
        id: u64,
        by: u64,
        polygons: &mut Vec<Vec<P3>>,
    ) -> Res<Option<(LoopSource, bool)>> {
        let bound = self.entities.get(id, by)?.flattened();
        if !matches!(bound.name, "FACE_BOUND" | "FACE_OUTER_BOUND") {
            return bad(id, format!("is a {}; a FACE_BOUND is needed here", bound.label()));
        }
        let along = bound.boolean(2, "orientation")?;
        let n_polygons = polygons.len();
        let loop_id = bound.reference(1, "bound")?;
        let read = self.bound(loop_id, id, polygons)?;
        if read.is_some() {
            self.loop_ids.push((loop_id, self.geometry.part));
        }
        if !along {
            polygons[n_polygons..].iter_mut().for_each(|p: &mut Vec<P3>| p.reverse());
        }
        Ok(read.map(|l| (l, along)))
    }

    /// Returns a loop as written; `None` if it is empty. The corners of polygons are added to `polygons`.
    fn bound(&mut self, id: u64, by: u64, polygons: &mut Vec<Vec<P3>>) -> Res<Option<LoopSource>> {
        let r = self.entities.get(id, by)?.flattened();
        match r.name {
            "VERTEX_LOOP" => {
                let vertex = self.vertex(r.reference(1, "loop_vertex")?, id)?;
                Ok(Some(LoopSource::Vertex(vertex)))
            }
            "EDGE_LOOP" => {
                let ids = r.references(1, "edge_list")?;
                if ids.is_empty() {
                    self.geometry.note(id, "is an EDGE_LOOP without edges; it is ignored");
                    return Ok(None);
                }
                let mut uses = Vec::with_capacity(ids.len());
                let mut failed = None;
                for e in &ids {
                    match self.edge_use(*e, id) {
                        Ok(u) => uses.push(u),
                        Err(e) => {
                            if let Some(before) = failed.replace(e) {
                                self.report(before);
                            }
                        }
                    }
                }
                if let Some(e) = failed {
                    return Err(e);
                }
                Ok(Some(LoopSource::Edges(uses)))
            }
            "POLY_LOOP" => {
                let ids = r.references(1, "polygon")?;
                self.polygon(&ids, id, polygons).map(Some)
            }
            _ => bad(id, format!("is a {}, which is not supported as a loop", r.label())),
        }
    }

    /// Repairs loops whose edges do not connect in the order and orientation of the file, with warnings.
    fn connect_loops(&mut self) {
        let tol = self.geometry.units.uncertainty.clamp(1e-6, 1e-2);
        let points: Vec<P3> = self.vertices.iter().map(|v| v.point).collect();
        // Vertices coincide if they are one entity or have the same position within tolerance.
        let same = |a: u32, b: u32| a == b || (points[a as usize] - points[b as usize]).norm() <= tol;
        let repaired = senses::repair(&mut self.faces, &mut self.edges, &same);
        for e in &repaired.swapped {
            let id = self.edges[*e as usize].id;
            let message =
                "has its vertices swapped: its flags connect in none of its loops; they are exchanged";
            self.geometry.note(id, message);
        }
        let loop_ids = std::mem::take(&mut self.loop_ids);
        let of = |i: &usize| loop_ids.get(*i).copied().unwrap_or((0, None));
        for (id, face) in repaired.ordered.iter().map(of) {
            self.geometry.part = face;
            self.geometry
                .note(id, "lists its edges out of order; they are walked as their flags connect them");
        }
        if let Some((first, face)) = repaired.turned.first().map(of) {
            let message = format!(
                "has edges that do not connect as their flags say (loops with this fault: {}); they are \
                    walked in the order of the list",
                repaired.turned.len()
            );
            self.geometry.part = face;
            self.geometry.note(first, message);
        }
        self.geometry.part = None;
    }

    fn polygon(&mut self, ids: &[u64], by: u64, polygons: &mut Vec<Vec<P3>>) -> Res<LoopSource> {
        let mut walk: Vec<u32> = Vec::with_capacity(ids.len());
        let mut corners = Vec::with_capacity(ids.len());
        for id in ids {
            let point = self.geometry.point(*id, by)?;
            // The addition maps -0.0 to 0.0, because both are the same position.
            let key = [point.x + 0.0, point.y + 0.0, point.z + 0.0].map(f64::to_bits);
            let vertices = &mut self.vertices;
            let v = *self.poly_vertex_of.entry(key).or_insert_with(|| {
                vertices.push(VertexSource { id: *id, point });
                index(vertices.len() - 1)
            });
            if walk.last() != Some(&v) {
                walk.push(v);
                corners.push(point);
            }
        }
        if walk.len() > 1 && walk.first() == walk.last() {
            walk.pop();
        }
        if walk.len() < 3 {
            return bad(by, "is a POLY_LOOP with fewer than three different points");
        }
        let mut uses = Vec::with_capacity(walk.len());
        for (i, a) in walk.iter().enumerate() {
            let b = walk[(i + 1) % walk.len()];
            let key = (*a.min(&b), *a.max(&b));
            let edge = match self.poly_edge_of.get(&key) {
                Some(e) => *e,
                None => {
                    let (p, q) = (self.vertices[key.0 as usize].point, self.vertices[key.1 as usize].point);
                    let dir = (q - p).normalize();
                    self.edges.push(EdgeSource {
                        id: by,
                        curve: Curve::Line { origin: p, dir },
                        range: None,
                        start: key.0,
                        end: key.1,
                        same_sense: true,
                    });
                    let e = index(self.edges.len() - 1);
                    self.poly_edge_of.insert(key, e);
                    e
                }
            };
            uses.push((edge, *a == key.0));
        }
        polygons.push(corners);
        Ok(LoopSource::Edges(uses))
    }

    fn edge_use(&mut self, id: u64, by: u64) -> Res<(u32, bool)> {
        let (mut id, mut by, mut forward) = (id, by, true);
        for _ in 0..MAX_WRAPS {
            let r = self.entities.get(id, by)?.flattened();
            if r.name != "ORIENTED_EDGE" {
                return Ok((self.edge(&r)?, forward));
            }
            by = id;
            id = r.reference(3, "edge_element")?;
            forward = forward == r.boolean(4, "orientation")?;
        }
        bad(id, "is an edge that is nested too deeply or contains itself")
    }

    fn edge(&mut self, r: &Record<'_>) -> Res<u32> {
        if let Some(e) = self.edge_of.get(&r.id) {
            return Ok(*e);
        }
        if r.name != "EDGE_CURVE" {
            return bad(r.id, format!("is a {}; an EDGE_CURVE is needed here", r.label()));
        }
        let start = self.vertex(r.reference(1, "edge_start")?, r.id)?;
        let end = self.vertex(r.reference(2, "edge_end")?, r.id)?;
        let same_sense = r.boolean(4, "same_sense")?;
        let ends = [start, end].map(|v| self.vertices[v as usize].point);
        let geometry = r.reference(3, "edge_geometry")?;
        let face = self.geometry.part.replace(r.id);
        let read = self.geometry.edge_curve(geometry, r.id, ends);
        self.geometry.part = face;
        let read = read?;
        self.edges.push(EdgeSource {
            id: r.id,
            curve: read.curve,
            range: None,
            start,
            end,
            same_sense: read.forward == same_sense,
        });
        let e = index(self.edges.len() - 1);
        self.edge_of.insert(r.id, e);
        Ok(e)
    }

    fn vertex(&mut self, id: u64, by: u64) -> Res<u32> {
        if let Some(v) = self.vertex_of.get(&id) {
            return Ok(*v);
        }
        let r = self.entities.get(id, by)?.flattened();
        if r.name != "VERTEX_POINT" {
            return bad(
                id,
                format!("is a {}; a VERTEX_POINT is needed here (referenced by #{by})", r.label()),
            );
        }
        let point = self.geometry.point(r.reference(1, "vertex_geometry")?, id)?;
        self.vertices.push(VertexSource { id, point });
        let v = index(self.vertices.len() - 1);
        self.vertex_of.insert(id, v);
        Ok(v)
    }

    /// Returns points (mm) whose hull roughly contains the loops. Unbounded surfaces are limited to this
    /// region.
    fn points_around(&self, loops: &[LoopSource]) -> Vec<P3> {
        let mut points = Vec::new();
        for l in loops {
            match l {
                LoopSource::Vertex(v) => points.push(self.vertices[*v as usize].point),
                LoopSource::Edges(uses) => {
                    for (e, _) in uses {
                        let edge = &self.edges[*e as usize];
                        points.push(self.vertices[edge.start as usize].point);
                        points.push(self.vertices[edge.end as usize].point);
                        curve_hull(&edge.curve, &mut points);
                    }
                }
            }
        }
        points
    }

    /// Adds a note for every edge that is not used exactly once in each direction. At such an edge the
    /// solid is open, not manifold or not consistently oriented.
    fn check_uses(&mut self) {
        let mut uses = vec![Uses::default(); self.edges.len()];
        for face in &self.faces {
            for l in &face.loops {
                if let LoopSource::Edges(edges) = l {
                    for (e, forward) in edges {
                        let u = &mut uses[*e as usize];
                        *if *forward { &mut u.forward } else { &mut u.backward } += 1;
                        u.face = face.id;
                    }
                }
            }
        }
        // Faces that share no edge at all are sewn when the solid is built.
        if uses.iter().all(|u| u.forward + u.backward == 1) {
            return;
        }
        for (edge, u) in self.edges.iter().zip(&uses) {
            let message = match (u.forward, u.backward) {
                (1, 1) => continue,
                (2, 0) | (0, 2) => {
                    format!("is an edge that its two faces (one is #{}) use in the same direction", u.face)
                }
                (1, 0) | (0, 1) => {
                    format!("is an edge of one face only (#{}); in a closed solid it has two faces", u.face)
                }
                (f, b) => format!(
                    "is an edge used {} times (by face #{} among others); a closed solid uses it twice",
                    f + b,
                    u.face
                ),
            };
            self.geometry.note(edge.id, message);
        }
    }
}

/// Number of uses of an edge in each direction, and the last face that uses it.
#[derive(Clone, Copy, Debug, Default)]
struct Uses {
    forward: u32,
    backward: u32,
    face: u64,
}
