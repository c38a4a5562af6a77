//! Frames for `ParaView`: XML files of poly data whose numbers follow the text as raw bytes (appended,
//! raw), and the collection that lists the frames with their times.
//! <https://docs.vtk.org/en/latest/vtk_file_formats/vtkxml_file_format.html>
//!
//! Frames of particles can be read again, because animated pages are made from them.
//!
//! The crate `vtkio` (MIT or Apache-2.0) is not used: its last release that is not a candidate is 0.6.3 of
//! 2021; it reads appended raw numbers but writes them only inline in base64, a third larger; and its XML
//! brings a dozen crates for the 60 lines of this module that write. No other crate writes the format.

use crate::error::PourError;
use feeler_geom::P3;
use std::fmt::Write as _;
use std::path::Path;

/// State of the particles in the domain at one time. Each list has one entry for each particle; only
/// `rotations` may be empty, which means that all particles are spheres.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Frame {
    /// Centres of mass of the particles (mm, world).
    pub(crate) centers: Vec<P3>,
    /// Radii of the balls with the volumes of the particles (mm).
    pub(crate) radii: Vec<f32>,
    /// Velocities of the centres of mass (mm/s, world).
    pub(crate) velocities: Vec<[f32; 3]>,
    pub(crate) ids: Vec<i64>,
    /// Index of the group of each particle.
    pub(crate) groups: Vec<i64>,
    /// Rotations from the coordinates of the shape to the world, as unit quaternions w, x, y, z, the
    /// order that `ParaView` expects.
    pub(crate) rotations: Vec<[f32; 4]>,
}

/// Triangulated surfaces, at one time, of the particles that are not spheres (world). `ids`, `groups`
/// and `speeds` have one entry for each vertex, the value of the particle to which it belongs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Surfaces {
    pub(crate) points: Vec<P3>,
    pub(crate) ids: Vec<i64>,
    pub(crate) groups: Vec<i64>,
    /// Speed of the particle of each vertex (mm/s).
    pub(crate) speeds: Vec<f32>,
    /// Indices of the corners of the triangles in `points`, three for each triangle.
    pub(crate) corners: Vec<i64>,
}

/// Binary arrays that follow the text of a file, each preceded by its length in bytes.
#[derive(Default)]
struct Appended(Vec<u8>);

impl Appended {
    /// Appends an array with the name `name` and returns the XML element that describes it. `kind` is
    /// the type of the numbers, `components` the number of them in each entry, and `items` are the bytes
    /// of the numbers.
    fn put<const N: usize>(
        &mut self,
        name: &str,
        (kind, components): (&str, usize),
        items: impl Iterator<Item = [u8; N]>,
    ) -> String {
        let offset = self.0.len();
        self.0.extend([0; 8]);
        items.for_each(|item| self.0.extend(item));
        let length = (self.0.len() - offset - 8) as u64;
        self.0[offset..offset + 8].copy_from_slice(&length.to_le_bytes());
        format!(
            "<DataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{components}\" \
             format=\"appended\" offset=\"{offset}\"/>\n"
        )
    }

    fn points(&mut self, points: &[P3]) -> String {
        let numbers = points.iter().flat_map(|p| [p.x, p.y, p.z]);
        self.put("Points", ("Float64", 3), numbers.map(f64::to_le_bytes))
    }
}

/// Returns the bytes of a file with points and cells. `points` and `attributes` are the XML elements of
/// the points and of their attributes, whose numbers are in `appended`. `cells` contains the name of the
/// element of the cells (vertices or polygons), the indices of the points at their corners, and the
/// number of corners of each cell. `n` are the numbers of points, vertices and polygons.
fn poly_data(
    mut appended: Appended,
    attributes: &str,
    n: [usize; 3],
    points: &str,
    cells: (&str, &[i64], usize),
) -> Vec<u8> {
    let (element, corners, length) = cells;
    let connectivity = appended.put("connectivity", ("Int64", 1), corners.iter().map(|k| k.to_le_bytes()));
    let ends = (1..=corners.len() / length).filter_map(|k| i64::try_from(k * length).ok());
    let offsets = appended.put("offsets", ("Int64", 1), ends.map(i64::to_le_bytes));
    let [n_points, n_vertices, n_polygons] = n;
    let mut out = format!(
        "<?xml version=\"1.0\"?>\n\
         <VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n\
         <PolyData>\n<Piece NumberOfPoints=\"{n_points}\" NumberOfVerts=\"{n_vertices}\" NumberOfLines=\"0\" \
         NumberOfStrips=\"0\" NumberOfPolys=\"{n_polygons}\">\n<Points>\n{points}</Points>\n{attributes}\
         <{element}>\n{connectivity}{offsets}</{element}>\n</Piece>\n</PolyData>\n\
         <AppendedData encoding=\"raw\">\n_"
    )
    .into_bytes();
    out.extend(appended.0);
    out.extend(b"\n</AppendedData>\n</VTKFile>\n");
    out
}

/// Returns the bytes of the file of a frame: points with radius, velocity, id, group and, if there are
/// rotations, rotation.
pub(crate) fn particles(frame: &Frame) -> Vec<u8> {
    let n = frame.centers.len();
    let mut appended = Appended::default();
    let points = appended.points(&frame.centers);
    let floats = |x: &f32| x.to_le_bytes();
    let mut attributes = vec![
        "<PointData Scalars=\"radius\" Vectors=\"velocity\">\n".to_owned(),
        appended.put("radius", ("Float32", 1), frame.radii.iter().map(floats)),
        appended.put("velocity", ("Float32", 3), frame.velocities.iter().flatten().map(floats)),
        appended.put("id", ("Int64", 1), frame.ids.iter().map(|k| k.to_le_bytes())),
        appended.put("group", ("Int64", 1), frame.groups.iter().map(|k| k.to_le_bytes())),
    ];
    if !frame.rotations.is_empty() {
        attributes.push(appended.put(ROTATION, ("Float32", 4), frame.rotations.iter().flatten().map(floats)));
    }
    attributes.push("</PointData>\n".to_owned());
    let corners: Vec<i64> = (0_i64..).take(n).collect();
    poly_data(appended, &attributes.concat(), [n, n, 0], &points, ("Verts", &corners, 1))
}

/// Returns the bytes of a file with triangulated surfaces of particles, with speed, id and group at each
/// vertex.
pub(crate) fn surfaces(surfaces: &Surfaces) -> Vec<u8> {
    let mut appended = Appended::default();
    let points = appended.points(&surfaces.points);
    let attributes = [
        "<PointData Scalars=\"speed\">\n".to_owned(),
        appended.put("speed", ("Float32", 1), surfaces.speeds.iter().map(|x| x.to_le_bytes())),
        appended.put("id", ("Int64", 1), surfaces.ids.iter().map(|k| k.to_le_bytes())),
        appended.put("group", ("Int64", 1), surfaces.groups.iter().map(|k| k.to_le_bytes())),
        "</PointData>\n".to_owned(),
    ];
    let n = [surfaces.points.len(), 0, surfaces.corners.len() / 3];
    poly_data(appended, &attributes.concat(), n, &points, ("Polys", &surfaces.corners, 3))
}

/// Returns the bytes of a file with one triangulated surface, of a wall or of a particle's shape.
pub(crate) fn wall(points: &[P3], triangles: &[[u32; 3]]) -> Vec<u8> {
    let mut appended = Appended::default();
    let element = appended.points(points);
    let corners: Vec<i64> = triangles.iter().flatten().map(|k| i64::from(*k)).collect();
    poly_data(appended, "", [points.len(), 0, triangles.len()], &element, ("Polys", &corners, 3))
}

/// Returns the text of a collection that lists `files` with their times (s) and part numbers. The part
/// numbers distinguish the particles, their surfaces and each of the walls.
pub(crate) fn collection(files: &[(f64, usize, String)]) -> String {
    let mut out = String::from(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" \
         byte_order=\"LittleEndian\">\n<Collection>\n",
    );
    for (time, part, file) in files {
        // Writing to a string does not fail.
        let _ = writeln!(out, "<DataSet timestep=\"{time}\" group=\"\" part=\"{part}\" file=\"{file}\"/>");
    }
    out.push_str("</Collection>\n</VTKFile>\n");
    out
}

/// Reads a file with a frame from [`particles`].
///
/// # Errors
/// The file cannot be read, is truncated, or is not a frame.
pub(crate) fn read_particles(file: &Path) -> Result<Frame, PourError> {
    let bytes = std::fs::read(file).map_err(|error| PourError::Read { path: file.to_owned(), error })?;
    let not_a_frame = || PourError::run_file(file, "is not a frame of this program");
    let mark: &[u8] = b"<AppendedData encoding=\"raw\">\n_";
    let at = bytes.windows(mark.len()).position(|w| w == mark).ok_or_else(not_a_frame)?;
    let has_rotations = bytes[..at].windows(ROTATION.len()).any(|w| w == ROTATION.as_bytes());
    let mut rest = &bytes[at + mark.len()..];
    let mut block = || {
        let cut = || PourError::run_file(file, "is cut");
        let (length, behind) = rest.split_first_chunk::<8>().ok_or_else(cut)?;
        let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| cut())?;
        let (found, behind) = behind.split_at_checked(length).ok_or_else(cut)?;
        rest = behind;
        Ok::<&[u8], PourError>(found)
    };
    let mut frame = Frame::default();
    let numbers =
        |bytes: &[u8]| bytes.as_chunks::<8>().0.iter().map(|c| f64::from_le_bytes(*c)).collect::<Vec<_>>();
    let floats =
        |bytes: &[u8]| bytes.as_chunks::<4>().0.iter().map(|c| f32::from_le_bytes(*c)).collect::<Vec<_>>();
    let integers =
        |bytes: &[u8]| bytes.as_chunks::<8>().0.iter().map(|c| i64::from_le_bytes(*c)).collect::<Vec<_>>();
    frame.centers = numbers(block()?).as_chunks::<3>().0.iter().map(|c| P3::from(*c)).collect();
    frame.radii = floats(block()?);
    frame.velocities = floats(block()?).as_chunks::<3>().0.to_vec();
    frame.ids = integers(block()?);
    frame.groups = integers(block()?);
    if has_rotations {
        frame.rotations = floats(block()?).as_chunks::<4>().0.to_vec();
    }
    let n = frame.centers.len();
    let lengths = [frame.radii.len(), frame.velocities.len(), frame.ids.len(), frame.groups.len()];
    let has_all_rotations = frame.rotations.is_empty() || frame.rotations.len() == n;
    let is_number = |k: &i64| (0..MAX_ID).contains(k);
    if lengths.iter().all(|l| *l == n) && has_all_rotations && frame.ids.iter().all(is_number) {
        Ok(frame)
    } else {
        Err(not_a_frame())
    }
}

/// Name of the array of rotations in the file of a frame.
const ROTATION: &str = "turn";

/// Number that all accepted particle ids are below. With a larger value, a damaged frame may allocate
/// gigabytes; a smaller one rejects frames of long runs.
const MAX_ID: i64 = 100_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_unchanged() {
        let frame = Frame {
            centers: vec![P3::new(1.0, 2.0, 3.0), P3::new(-0.1, 1e-9, 7e5)],
            radii: vec![1.5, 2.5],
            velocities: vec![[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]],
            ids: vec![0, 17],
            groups: vec![0, 1],
            rotations: vec![[1.0, 0.0, 0.0, 0.0], [0.5, 0.5, -0.5, 0.5]],
        };
        let spheres = Frame { rotations: Vec::new(), ..frame.clone() };
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("f.vtp");
        let bytes = particles(&frame);
        for frame in [&frame, &spheres, &Frame::default()] {
            std::fs::write(&file, particles(frame)).expect("a file");
            assert_eq!(read_particles(&file).expect("a frame"), *frame);
        }
        let error = |bytes: &[u8]| {
            std::fs::write(&file, bytes).expect("a file");
            read_particles(&file).expect_err("an invalid frame was accepted").to_string()
        };
        let message = error(&bytes[..bytes.len() - 150]);
        assert!(message.contains("f.vtp: is cut"), "{message}");
        assert!(error(b"something else").contains("is not a frame"), "another file");
    }
}
