//! Frames for `ParaView`: XML files of poly data, with numbers as they are behind the text (appended, raw),
//! and the collection that tells the time of each.
//! <https://docs.vtk.org/en/latest/vtk_file_formats/vtkxml_file_format.html>
//!
//! What is written of grains can be read again: pages are made of it.

use anyhow::{Context as _, ensure};
use feeler_geom::P3;
use std::fmt::Write as _;
use std::path::Path;

/// Particles at one time. All lists have one entry for each particle, except that `turns` may be empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Frame {
    pub(super) centers: Vec<P3>,
    /// Radii (mm).
    pub(super) radii: Vec<f32>,
    /// Velocities (mm/s).
    pub(super) velocities: Vec<[f32; 3]>,
    pub(super) ids: Vec<i64>,
    /// Number of the particle group of each particle.
    pub(super) groups: Vec<i64>,
    /// Unit quaternions from the coordinates of their shapes to the world's, the real part first.
    pub(super) turns: Vec<[f32; 4]>,
}

/// Surfaces of grains at one time: points, each with the grain that it is of, and triangles.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Surfaces {
    pub(super) points: Vec<P3>,
    pub(super) ids: Vec<i64>,
    pub(super) groups: Vec<i64>,
    /// mm/s.
    pub(super) speeds: Vec<f32>,
    /// Three for each triangle.
    pub(super) corners: Vec<i64>,
}

/// Numbers behind the text, and what tells of them in the text.
#[derive(Default)]
struct Appended(Vec<u8>);

impl Appended {
    /// Appends an array; its element of the text.
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

/// The bytes of a file with some points, attributes of them, and cells (vertices or polygons, all of one
/// length).
fn poly_data(
    mut appended: Appended,
    head: &str,
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
         NumberOfStrips=\"0\" NumberOfPolys=\"{n_polygons}\">\n<Points>\n{points}</Points>\n{head}\
         <{element}>\n{connectivity}{offsets}</{element}>\n</Piece>\n</PolyData>\n\
         <AppendedData encoding=\"raw\">\n_"
    )
    .into_bytes();
    out.extend(appended.0);
    out.extend(b"\n</AppendedData>\n</VTKFile>\n");
    out
}

/// A frame as a file: points with radius, velocity, id and group.
pub(super) fn particles(frame: &Frame) -> Vec<u8> {
    let n = frame.centers.len();
    let mut appended = Appended::default();
    let points = appended.points(&frame.centers);
    let floats = |x: &f32| x.to_le_bytes();
    let mut head = vec![
        "<PointData Scalars=\"radius\" Vectors=\"velocity\">\n".to_owned(),
        appended.put("radius", ("Float32", 1), frame.radii.iter().map(floats)),
        appended.put("velocity", ("Float32", 3), frame.velocities.iter().flatten().map(floats)),
        appended.put("id", ("Int64", 1), frame.ids.iter().map(|k| k.to_le_bytes())),
        appended.put("group", ("Int64", 1), frame.groups.iter().map(|k| k.to_le_bytes())),
    ];
    if !frame.turns.is_empty() {
        head.push(appended.put(TURN, ("Float32", 4), frame.turns.iter().flatten().map(floats)));
    }
    head.push("</PointData>\n".to_owned());
    let corners: Vec<i64> = (0_i64..).take(n).collect();
    poly_data(appended, &head.concat(), [n, n, 0], &points, ("Verts", &corners, 1))
}

/// Surfaces of grains as a file.
pub(super) fn surfaces(of: &Surfaces) -> Vec<u8> {
    let mut appended = Appended::default();
    let points = appended.points(&of.points);
    let head = [
        "<PointData Scalars=\"speed\">\n".to_owned(),
        appended.put("speed", ("Float32", 1), of.speeds.iter().map(|x| x.to_le_bytes())),
        appended.put("id", ("Int64", 1), of.ids.iter().map(|k| k.to_le_bytes())),
        appended.put("group", ("Int64", 1), of.groups.iter().map(|k| k.to_le_bytes())),
        "</PointData>\n".to_owned(),
    ];
    let n = [of.points.len(), 0, of.corners.len() / 3];
    poly_data(appended, &head.concat(), n, &points, ("Polys", &of.corners, 3))
}

/// A wall as a file.
pub(super) fn wall(points: &[P3], triangles: &[[u32; 3]]) -> Vec<u8> {
    let mut appended = Appended::default();
    let placed = appended.points(points);
    let corners: Vec<i64> = triangles.iter().flatten().map(|k| i64::from(*k)).collect();
    poly_data(appended, "", [points.len(), 0, triangles.len()], &placed, ("Polys", &corners, 3))
}

/// The collection of files, each with its time (s) and a number that tells what is in it.
pub(super) fn collection(files: &[(f64, usize, String)]) -> String {
    let mut out = String::from(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" \
         byte_order=\"LittleEndian\">\n<Collection>\n",
    );
    for (time, part, file) in files {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "<DataSet timestep=\"{time}\" group=\"\" part=\"{part}\" file=\"{file}\"/>");
    }
    out.push_str("</Collection>\n</VTKFile>\n");
    out
}

/// Reads what [`particles`] has written.
///
/// # Errors
/// A file that cannot be read, or is another one.
pub(super) fn read_particles(file: &Path) -> anyhow::Result<Frame> {
    let named = || file.display().to_string();
    let bytes = std::fs::read(file).with_context(|| format!("{}: cannot read the frame", named()))?;
    let mark: &[u8] = b"<AppendedData encoding=\"raw\">\n_";
    let at = bytes.windows(mark.len()).position(|w| w == mark);
    let at = at.with_context(|| format!("{}: is no frame of this program", named()))?;
    let has_turns = bytes[..at].windows(TURN.len()).any(|w| w == TURN.as_bytes());
    let mut rest = &bytes[at + mark.len()..];
    let mut block = || {
        let cut = || format!("{}: is cut; run again with --fresh", named());
        let (length, behind) = rest.split_first_chunk::<8>().with_context(cut)?;
        let length = usize::try_from(u64::from_le_bytes(*length))?;
        ensure!(length <= behind.len(), cut());
        let (found, behind) = behind.split_at(length);
        rest = behind;
        Ok(found)
    };
    let mut frame = Frame::default();
    let numbers =
        |bytes: &[u8]| bytes.as_chunks::<8>().0.iter().map(|c| f64::from_le_bytes(*c)).collect::<Vec<_>>();
    let floats =
        |bytes: &[u8]| bytes.as_chunks::<4>().0.iter().map(|c| f32::from_le_bytes(*c)).collect::<Vec<_>>();
    let wholes =
        |bytes: &[u8]| bytes.as_chunks::<8>().0.iter().map(|c| i64::from_le_bytes(*c)).collect::<Vec<_>>();
    frame.centers = numbers(block()?).as_chunks::<3>().0.iter().map(|c| P3::from(*c)).collect();
    frame.radii = floats(block()?);
    frame.velocities = floats(block()?).as_chunks::<3>().0.to_vec();
    frame.ids = wholes(block()?);
    frame.groups = wholes(block()?);
    if has_turns {
        frame.turns = floats(block()?).as_chunks::<4>().0.to_vec();
    }
    let n = frame.centers.len();
    let lengths = [frame.radii.len(), frame.velocities.len(), frame.ids.len(), frame.groups.len()];
    let has_all_turns = frame.turns.is_empty() || frame.turns.len() == n;
    let is_number = |k: &i64| (0..MOST).contains(k);
    ensure!(
        lengths.iter().all(|l| *l == n) && has_all_turns && frame.ids.iter().all(is_number),
        "{}: is no frame of this program",
        named()
    );
    Ok(frame)
}

/// How the array of turns is called.
const TURN: &str = "turn";

/// Grains of a run.
const MOST: i64 = 100_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_as_they_were_written() {
        let frame = Frame {
            centers: vec![P3::new(1.0, 2.0, 3.0), P3::new(-0.1, 1e-9, 7e5)],
            radii: vec![1.5, 2.5],
            velocities: vec![[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]],
            ids: vec![0, 17],
            groups: vec![0, 1],
            turns: vec![[1.0, 0.0, 0.0, 0.0], [0.5, 0.5, -0.5, 0.5]],
        };
        let balls = Frame { turns: Vec::new(), ..frame.clone() };
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("f.vtp");
        let bytes = particles(&frame);
        for frame in [&frame, &balls, &Frame::default()] {
            std::fs::write(&file, particles(frame)).unwrap();
            assert_eq!(read_particles(&file).unwrap(), *frame);
        }
        std::fs::write(&file, &bytes[..bytes.len() - 150]).unwrap();
        let told = format!("{:#}", read_particles(&file).unwrap_err());
        assert!(told.contains("f.vtp: is cut"), "{told}");
        std::fs::write(&file, b"something else").unwrap();
        assert!(format!("{:#}", read_particles(&file).unwrap_err()).contains("no frame"));
    }
}
