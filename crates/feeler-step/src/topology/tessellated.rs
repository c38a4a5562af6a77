//! Reads tessellated solids: triangles in place of exact faces.
//!
//! # Source
//! ISO 10303-42, `tessellated_solid`, `triangulated_face`, `complex_triangulated_face`,
//! `repositioned_tessellated_item`, `coordinates_list`.

use std::collections::HashMap;

use feeler_brep::mesh::{MeshOptions, solids_of_triangles};
use feeler_brep::source::SolidSource;
use feeler_geom::count::index;
use feeler_geom::{Frame, P3};

use super::Converted;
use crate::entities::{Bad, Entities, Record, Res, bad};
use crate::geometry::{Geometry, MAX_COORDINATE_MM};
use crate::units::Units;

pub(super) const SOLID: &str = "TESSELLATED_SOLID";
pub(super) const SHELL: &str = "TESSELLATED_SHELL";

/// Returns whether `r` is a tessellated solid, or a tessellated shell if these are enabled.
pub(crate) fn is_tessellated(entities: &Entities, r: &Record<'_>) -> bool {
    r.is(SOLID) || entities.open_shells() && r.is(SHELL)
}

/// Returns the entity id of the exact solid or face that a tessellated solid refers to as its original,
/// if any.
pub(crate) fn exact_counterpart(entities: &Entities, r: &Record<'_>) -> Option<u64> {
    let own = r.own(SOLID, 1).or_else(|| r.own(SHELL, 1))?;
    let existing = |id: &u64| entities.find(*id).is_some();
    own.maybe_reference(1).filter(existing).or_else(|| {
        let of_face = |id: u64| entities.find(id)?.own_face()?.maybe_reference(3);
        own.any_references(0).find_map(of_face).filter(existing)
    })
}

/// Converts the tessellated solid `r`. Each of its separate bodies is a solid of the result.
pub(super) fn convert(entities: &Entities, r: &Record<'_>, units: Units) -> Result<Converted, Vec<Bad>> {
    let mut reader = Reader {
        geometry: Geometry::new(entities, units),
        points: Vec::new(),
        triangles: Vec::new(),
        faces: Vec::new(),
        from: HashMap::new(),
    };
    let (name, id) = (r.own("REPRESENTATION_ITEM", 0).map_or_else(|| r.name(0), |p| p.name(0)), r.id);
    let failed = reader.items(r);
    if !failed.is_empty() {
        return Err(failed);
    }
    let unusable = |e: &dyn std::fmt::Display| vec![Bad { id, message: format!("cannot be used: {e}") }];
    // Display meshes are written in single precision.
    let farthest = reader.points.iter().flat_map(|p| p.iter()).fold(0.0, |m: f64, x| m.max(x.abs()));
    let rounding = f64::from(f32::EPSILON) * 0.5 * farthest;
    let options = MeshOptions { open_shells: entities.open_shells(), rounding };
    let found = solids_of_triangles(&name, &reader.points, &reader.triangles, options);
    let found = found.map_err(|e| unusable(&e))?;
    let message = format!(
        "is a tessellated solid of {} triangles; it is read as the polyhedron that they bound, without the \
        curved surfaces of the CAD model (export an exact B-rep for these)",
        reader.triangles.len()
    );
    reader.geometry.note(id, message);
    let open: usize = found.iter().map(|s| s.open_edges).sum();
    if open > 0 {
        let message = format!(
            "is a tessellated surface with open edges ({open}); it is prepared as a sheet without thickness, \
            with a front and a back"
        );
        reader.geometry.note(id, message);
    }
    let solids = found.into_iter().map(|mesh| reader.named(mesh.source, id, units)).collect();
    Ok(Converted { solids, notes: super::warnings(&SolidSource::default(), reader.geometry.notes) })
}

struct Reader<'a> {
    geometry: Geometry<'a>,
    points: Vec<P3>,
    triangles: Vec<[u32; 3]>,
    /// Entity id of the face that contains each triangle.
    faces: Vec<u64>,
    /// Points that have been read, by the entity ids of a list of coordinates and of its placement:
    /// index in `points` of the first point, and number of points.
    from: HashMap<(u64, Option<u64>), (usize, usize)>,
}

impl Reader<'_> {
    /// Reads all faces of a solid; returns the problems of those that cannot be used.
    fn items(&mut self, r: &Record<'_>) -> Vec<Bad> {
        let items = match r.own(SOLID, 1).or_else(|| r.own(SHELL, 1)) {
            Some(own) => own.references(0, "items"),
            None => bad(r.id, format!("is a {}, not a tessellated solid", r.label())),
        };
        let items = match items {
            Ok(items) => items,
            Err(e) => return vec![e],
        };
        let mut failed = Vec::new();
        for item in items {
            if let Err(e) = self.item(item, r) {
                failed.push(e);
            }
        }
        failed
    }

    fn item(&mut self, id: u64, of: &Record<'_>) -> Res<()> {
        let r = self.geometry.entities.get(id, of.id)?;
        // Edges and vertices repeat what the faces contain.
        if ["TESSELLATED_EDGE", "TESSELLATED_CONNECTING_EDGE", "TESSELLATED_VERTEX"].iter().any(|k| r.is(k)) {
            return Ok(());
        }
        let (Some(face), Some((pnindex, is_complex))) = (r.own_face(), r.own_triangles()) else {
            return bad(
                id,
                format!("is a {}, which is not supported as a face of a tessellated solid", r.label()),
            );
        };
        let list = face.reference(0, "coordinates")?;
        // The solid or the face can have a placement of its own.
        let moved = [&r, of].into_iter().find_map(|r| r.own("REPOSITIONED_TESSELLATED_ITEM", 0));
        let moved = moved.map(|m| m.reference(0, "location")).transpose()?;
        let (from, count) = self.coordinates(list, id, moved)?;
        let through: Vec<usize> = indices(&pnindex, 0, "pnindex")?;
        let corner = |k: usize| -> Res<u32> {
            let point = if through.is_empty() { Some(k) } else { through.get(k.wrapping_sub(1)).copied() };
            match point {
                Some(p) if (1..=count).contains(&p) => Ok(index(from + p - 1)),
                _ => bad(id, format!("refers to point {k} of its triangles, which does not exist")),
            }
        };
        let mut add = |[a, b, c]: [usize; 3]| -> Res<()> {
            if a != b && b != c && c != a {
                self.triangles.push([corner(a)?, corner(b)?, corner(c)?]);
                self.faces.push(id);
            }
            Ok(())
        };
        if !is_complex {
            for row in index_rows(&pnindex, 1, "triangles")? {
                let [a, b, c] = row[..] else { return bad(id, "has a triangle without three corners") };
                add([a, b, c])?;
            }
            return Ok(());
        }
        for strip in index_rows(&pnindex, 1, "triangle_strips")? {
            for (k, t) in strip.windows(3).enumerate() {
                add(if k % 2 == 0 { [t[0], t[1], t[2]] } else { [t[1], t[0], t[2]] })?;
            }
        }
        for fan in index_rows(&pnindex, 2, "triangle_fans")? {
            let Some((hub, rim)) = fan.split_first() else { continue };
            for t in rim.windows(2) {
                add([*hub, t[0], t[1]])?;
            }
        }
        Ok(())
    }

    /// Reads a list of coordinates (once for each placement), and returns the index of its first point
    /// and the number of points.
    fn coordinates(&mut self, list: u64, by: u64, placement: Option<u64>) -> Res<(usize, usize)> {
        if let Some(known) = self.from.get(&(list, placement)) {
            return Ok(*known);
        }
        let r = self.geometry.entities.get(list, by)?.flattened();
        if r.name != "COORDINATES_LIST" {
            return bad(list, format!("is a {}; a COORDINATES_LIST is needed here", r.label()));
        }
        let frame = placement.map(|p| self.geometry.placement(p, by)).transpose()?;
        let rows = r.real_rows(2, "position_coords")?;
        let (from, count) = (self.points.len(), rows.len());
        for row in rows {
            let [x, y, z] = row[..] else { return bad(list, "has a point without three coordinates") };
            let p = P3::new(x, y, z) * self.geometry.units.mm;
            if !p.iter().all(|c| c.abs() <= MAX_COORDINATE_MM) {
                return bad(
                    list,
                    format!("has coordinates beyond {MAX_COORDINATE_MM:e} mm; check the file's length unit"),
                );
            }
            self.points.push(frame.map_or(p, |f: Frame| f.point(p.x, p.y, p.z)));
        }
        self.from.insert((list, placement), (from, count));
        Ok((from, count))
    }

    /// Assigns entity ids of the file to a solid: its faces get the ids of the faces that contain their
    /// triangles, edges and vertices the id of the solid.
    fn named(&self, mut solid: SolidSource, id: u64, units: Units) -> SolidSource {
        solid.id = id;
        solid.uncertainty = units.uncertainty;
        for face in &mut solid.faces {
            let triangle = usize::try_from(face.id.saturating_sub(1)).unwrap_or(usize::MAX);
            face.id = self.faces.get(triangle).copied().unwrap_or(id);
        }
        solid.edges.iter_mut().for_each(|e| e.id = id);
        solid.vertices.iter_mut().for_each(|v| v.id = id);
        solid
    }
}

impl<'a> Record<'a> {
    /// Returns the attributes of a face of triangles: coordinates, number of points, normals, exact
    /// counterpart. `None` if the entity is not such a face.
    fn own_face(&self) -> Option<Record<'a>> {
        let plain = |kind| self.own(kind, 1);
        plain("TESSELLATED_FACE")
            .or_else(|| plain("TRIANGULATED_FACE"))
            .or_else(|| plain("COMPLEX_TRIANGULATED_FACE"))
    }

    /// Returns the attributes of a face with the indices of its points and triangles, and whether the
    /// triangles are strips and fans.
    fn own_triangles(&self) -> Option<(Record<'a>, bool)> {
        let plain = self.own("TRIANGULATED_FACE", 5).map(|r| (r, false));
        plain.or_else(|| self.own("COMPLEX_TRIANGULATED_FACE", 5).map(|r| (r, true)))
    }
}

fn indices(r: &Record<'_>, i: usize, what: &str) -> Res<Vec<usize>> {
    r.reals(i, what)?.into_iter().map(|x| whole(r, x, what)).collect()
}

fn index_rows(r: &Record<'_>, i: usize, what: &str) -> Res<Vec<Vec<usize>>> {
    let rows = r.real_rows(i, what)?;
    rows.into_iter().map(|row| row.into_iter().map(|x| whole(r, x, what)).collect()).collect()
}

/// Converts the number of a point, counted from 1.
fn whole(r: &Record<'_>, x: f64, what: &str) -> Res<usize> {
    if x.fract() == 0.0 && (1.0..=f64::from(u32::MAX)).contains(&x) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked above")]
        return Ok(x as usize);
    }
    bad(r.id, format!("{}: {what} contains {x}, which is not the number of a point", r.label()))
}
