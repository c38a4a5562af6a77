//! Computes the bands of orbits (see [`Band`]) that contain the faces of threads: flanks, the strips of
//! cylinders between them, and plane ends.

use crate::body::feature::FeatureData;
use crate::body::helix::Helix;
use crate::profile::helical::Band;
use feeler_geom::skeleton::Primitive;
use feeler_geom::trim::{Side, TrimPiece};
use feeler_geom::{Frame, P2, P3, Surface, V3};
use feeler_hierarchy::{EdgeId, Hierarchy};

/// Number of equal parameter intervals between the points that are sampled on each trimming piece of a
/// face and each span of an edge, for the bands of threads. More of them bound the faces more tightly
/// and cost loading time.
const BORDER_STEPS: u32 = 24;
/// Additional deviation of a helix between its tabulated points, as a share of its measured deviation. With
/// a larger value, flanks in contact are searched cell by cell; with a smaller one, crossings shallower
/// than ripples are missed.
const DEVIATION_BETWEEN: f64 = 1.0 / 3.0;
/// Largest sine of the angle between the axis of a thread and the normal of the plane face at its end. A
/// larger value gives looser bands; with a smaller one, ends are searched cell by cell.
const MAX_END_SINE: f64 = 1e-6;

/// Sets [`FeatureData::band`] of the faces of threads: of faces that a screw motion maps to themselves,
/// and of cylinders and planes between their edges. `face_edges` contains the edges of each face, and
/// `features` must have their helices.
pub(super) fn bands(hierarchy: &Hierarchy, face_edges: &[Box<[EdgeId]>], features: &mut [FeatureData]) {
    let n_faces = hierarchy.faces.len();
    if features.iter().all(|f| f.helix.is_none()) {
        return;
    }
    for (face, data) in hierarchy.faces.iter().zip(features.iter_mut()) {
        let Some(helix) = &data.helix else { continue };
        let uv = data.rect.center();
        let n = face.surface.normal(uv);
        let n = if face.outward { n } else { -n };
        let at = (face.surface.point(uv), n);
        let band = Band::of_orbits(&helix.shape, &helix.orbits(&face.surface), at, &data.bounds);
        data.band = band.map(Box::new);
    }
    for i in 0..n_faces {
        let data = &features[i];
        let band = match (&data.helix, data.around(), &hierarchy.faces[i].surface) {
            (Some(_), ..) => continue,
            (None, Some(Primitive::Line { origin, dir, sigma, slope }), _) if *slope == 0.0 => {
                let off = data.near.as_ref().map_or(0.0, |n| n.deviation);
                strip(hierarchy, (&face_edges[i], features), i, (origin, dir, sigma.abs(), off))
            }
            (None, _, Surface::Plane { frame }) => end(hierarchy, (&face_edges[i], features), i, frame),
            _ => None,
        };
        features[i].band = band.map(Box::new);
    }
}

/// Points on the trimming pieces of a face (frame of the solid), each with the deviation (mm) of its
/// piece. Edges without minima are included.
fn border_of<'a>(hierarchy: &'a Hierarchy, face: usize) -> impl Iterator<Item = (P3, f64)> + 'a {
    let data = &hierarchy.faces[face];
    let with_off = |piece: &'a TrimPiece| even(0.0, 1.0).map(|t| (piece.eval(t), piece.deviation));
    data.trim.pieces.iter().flat_map(with_off).map(|(uv, off)| (data.surface.point(uv), off))
}

/// Returns the band of a plane face at the end of a thread. `None` unless exactly one lower and one
/// upper flank adjoin the face and the plane is perpendicular to the axis of these flanks.
fn end(
    hierarchy: &Hierarchy,
    (face_edges, features): (&[EdgeId], &[FeatureData]),
    face: usize,
    plane: &Frame,
) -> Option<Band> {
    let mut flanks: [Option<(usize, &Band)>; 2] = [None; 2];
    let mut edges = [Vec::new(), Vec::new()];
    for edge in face_edges.iter().map(|e| &hierarchy.edges[e.index()]) {
        let other = edge.sides.iter().map(|s| s.face.index()).find(|f| *f != face);
        let Some(other) = other else { continue };
        let Some(band) = features[other].band.as_deref() else { continue };
        let Some(is_below) = band.axis().1 else { continue };
        let side = usize::from(is_below);
        // Threads with several starts have several ridges.
        if flanks[side].is_some_and(|(f, _)| f != other) {
            return None;
        }
        flanks[side] = Some((other, band));
        let off = edge.spans.iter().fold(0.0, |m: f64, s| m.max(s.deviation));
        let parameters = edge.spans.iter().flat_map(|s| even(s.t0, s.t1));
        edges[side].extend(parameters.map(|t| (edge.curve.point(t), off)));
    }
    let [Some((_, lower)), Some((_, upper))] = flanks else { return None };
    let axis = lower.axis().0;
    let bounds = &features[face].bounds;
    let steep = axis.z.dot(&plane.z);
    if axis.z.cross(&plane.z).norm() > MAX_END_SINE {
        return None;
    }
    let at = axis.origin + axis.z * ((plane.origin - axis.origin).dot(&plane.z) / steep);
    let d = at - plane.origin;
    let has_axis =
        hierarchy.faces[face].trim.classify(P2::new(d.dot(&plane.x), d.dot(&plane.y))) == Side::Inside;
    let border: Vec<(P3, f64)> = border_of(hierarchy, face).collect();
    Band::of_end([lower, upper], [&edges[0], &edges[1]], &border, has_axis, bounds)
}

/// Returns the band of a face on a cylinder, such as the crest or the root of a thread, about the axis of
/// the longest flank of the solid. `None` if the solid has no flank or the face is not in a narrow band
/// about that axis. `axis` is the cylinder: a point of its axis, the direction of the axis, the radius,
/// and the deviation of the face from the cylinder (mm).
fn strip(
    hierarchy: &Hierarchy,
    (face_edges, features): (&[EdgeId], &[FeatureData]),
    face: usize,
    axis: (&P3, &V3, f64, f64),
) -> Option<Band> {
    let n_faces = hierarchy.faces.len();
    // The longest flank determines the axis best; `Band::of_strip` tests that it is the axis of the
    // cylinder.
    let flanks = features[..n_faces].iter().filter(|f| f.helix.is_some());
    let flank = flanks.max_by(|x, y| x.extent.total_cmp(&y.extent))?;
    let shape = flank.helix.as_ref()?.shape;
    let known = face_edges.iter().flat_map(|e| {
        let edge = &hierarchy.edges[e.index()];
        let own = features[n_faces + e.index()].helix.as_deref();
        let on_helix = own.into_iter().flat_map(Helix::parameters);
        let beside = edge.spans.iter().filter(move |_| own.is_none()).flat_map(|s| even(s.t0, s.t1));
        // The tabulated points show the ripples of a helix, except between them.
        let off = own.map_or(shape.deviation, |h| DEVIATION_BETWEEN * h.shape.deviation);
        on_helix.chain(beside).map(move |t| (edge.curve.point(t), off))
    });
    Band::of_strip(&shape, axis, border_of(hierarchy, face), known, &features[face].bounds)
}

/// Equally spaced parameters from `from` to `to`, both included.
fn even(from: f64, to: f64) -> impl Iterator<Item = f64> {
    (0..=BORDER_STEPS).map(move |k| from + (to - from) * f64::from(k) / f64::from(BORDER_STEPS))
}
