//! Construction of a [`Solid`] from a [`SolidSource`].
//!
//! Each step is a module: `validate` checks all numbers, `edges` computes parameter ranges, `singular`
//! finds the points where surfaces collapse, `repair` corrects errors with one plausible meaning,
//! `adjacency` checks the shells, `pcurve` fits the edges in parameter planes (`host` describes how a
//! parameter plane closes on itself), `creases` splits faces at creases of their surfaces, `status`
//! classifies edges as convex, concave or smooth, `loops` joins pcurves into closed walks, `domain` makes
//! trimmed domains of them, `polar` computes the tangent cones at vertices. `evidence` and `corrections`
//! find and correct errors that only the result shows. Problems are collected over all steps, and any
//! problem makes the construction fail.
//!
//! # Source
//! MATH §1, §4 (edges), §6, §7 (vertex polar).

mod adjacency;
mod corrections;
mod creases;
mod domain;
mod draft;
mod edges;
mod evidence;
mod gaps;
mod host;
mod loops;
mod pcurve;
mod polar;
mod problem;
mod readings;
mod repair;
mod sew;
mod singular;
mod status;
mod strips;
mod tips;
mod validate;
mod vertices;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use feeler_geom::mass::{FaceIntegrals, SolidInertia, face_integrals};
use feeler_geom::trim::TrimPiece;
use feeler_geom::{Aabb, Curve, Surface};
use smallvec::SmallVec;
use truck_topology::compress::{CompressedEdge, CompressedEdgeIndex, CompressedFace, CompressedShell};

use crate::remark::{Remark, shown_length};
use crate::solid::{EdgeInfo, EdgeSide, EdgeStatus, FaceInfo, Solid, VertexInfo, VertexPolar};
use crate::source::SolidSource;
use domain::FaceDomain;
use draft::{Draft, UseAt};
use evidence::WrongArea;
use host::Host;
use loops::Tolerances;
use polar::TangentCone;
use problem::Report;
use status::Dihedral;

pub use domain::NO_EDGE;
pub use problem::{BuildError, Problem};
pub use readings::{Reading, build_readings, build_solid};

/// Options of [`build_solid`]; the default suits CAD files.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BuildOptions {
    /// Maximum error of fitted trimming curves against the projections of their edges, relative to the
    /// solid's size. A smaller value gives more pieces (their number grows with the fifth to sixth root);
    /// below 1e-12 rounding dominates.
    pub fit_tolerance: f64,
    /// Maximum number of halvings of the interval between two breaks of a curve when its trimming curve
    /// is fitted. At this depth the fit is accepted as it is; its deviation is measured and stored in
    /// any case. A larger value gives more pieces of noisy edges.
    pub max_fit_depth: u32,
    /// Maximum gap between corners of loops, vertices and edges, and between edges and surfaces, relative
    /// to the solid's size; ten times the file's own uncertainty if that is more. A larger value accepts
    /// broken models, a smaller one rejects inexact files.
    pub gap_tolerance: f64,
    /// Maximum angle (rad) between the tangents at a joint of a spline; larger angles split the edge
    /// there. A larger value treats kinks as smooth, a smaller one gives many short edges.
    pub kink_angle: f64,
    /// Maximum angle (rad) between the normals at a joint of patches of a free-form surface; larger
    /// angles split the face there. A smaller value gives more features of surfaces that are nearly
    /// smooth. Contacts whose normal lies within an angle that is not split can be missed.
    pub crease_angle: f64,
    /// Relative accuracy of area and volume. A larger value is less exact, a smaller one takes more time.
    /// Canonical faces are integrated to 1e-13 in any case.
    pub mass_tolerance: f64,
    /// Maximum deviation, relative to the solid's size, at which a spline or patch is replaced by a
    /// line, circle, ellipse, plane, cylinder, cone, sphere or torus; 0 replaces none. Deviations are
    /// stored ([`FaceInfo::surface_deviation`]) and reported if they exceed rounding. A larger value
    /// changes the shape by up to that much; with a smaller one fewer shapes have closed forms.
    pub canonical_tolerance: f64,
}

impl Default for BuildOptions {
    fn default() -> Self {
        Self {
            fit_tolerance: 1e-8,
            max_fit_depth: 10,
            gap_tolerance: 1e-3,
            kink_angle: 1e-5,
            crease_angle: 1e-4,
            mass_tolerance: 1e-8,
            canonical_tolerance: 1e-7,
        }
    }
}

impl BuildOptions {
    /// Distance (mm) within which points of the file coincide, for a solid of the given size (mm): 1e-9
    /// of the size. With a larger factor short edges vanish, with a smaller one edges without length
    /// remain.
    fn coincidence_tol(&self, size: f64) -> f64 {
        1e-9 * size
    }

    /// Maximum gap (mm) that is closed, as defined at [`BuildOptions::gap_tolerance`]. `size` and
    /// `uncertainty` are in mm.
    fn gap_tol(&self, size: f64, uncertainty: f64) -> f64 {
        (self.gap_tolerance * size).max(10.0 * uncertainty)
    }
}

fn error(source: &SolidSource, report: Report) -> BuildError {
    BuildError { id: source.id, name: source.name.clone(), problems: report.problems }
}

/// Result of one pass over the source.
enum Built {
    Solid(Box<Solid>),
    /// The result contradicts the source. The errors can be corrected in the source for another pass.
    Wrong(corrections::Wrong),
}

/// Performs one pass: builds the solid and tests whether it contradicts the source. `patches`: entity
/// ids of faces whose patches are not replaced by canonical surfaces; `joined`: pairs of entity ids of
/// faces that are read as one face. Returns `None` if there are problems, which are in `report`.
fn build(
    source: &SolidSource,
    (patches, joined): (&BTreeSet<u64>, &[(u64, u64)]),
    options: &BuildOptions,
    report: &mut Report,
) -> Option<Built> {
    let mut draft = edges::draft(source, patches, options, report)?;
    let tol = Tolerances::new(draft.size, source.uncertainty, options);
    for f in &mut draft.faces {
        f.singular = singular::singular_points(&f.surface, draft.size);
    }
    tips::move_vertices(&mut draft, &tol, report);
    split_at_kinks(&mut draft, options);
    split_at_singular_points(&mut draft, &tol);
    let unknown = repair::reconnect_loops(&mut draft, report);
    repair::flip_closed_edges(&mut draft, &tol, report);
    repair::orient_loops(&mut draft, true, &tol, report);
    repair::flip_faces(&mut draft, &tol, report);
    repair::flip_loops(&mut draft, &unknown, &tol, report);
    repair::orient_loops(&mut draft, false, &tol, report);
    repair::drop_flat_faces(&mut draft, source.uncertainty, &tol, report);
    let within = sew::tolerance(source, draft.size);
    repair::pair_up_edges(&mut draft, within, &tol, report);
    repair::join_faces(&mut draft, joined, report);
    draft.drop_unused();
    if draft.faces.is_empty() {
        report.fail(Problem::NoFaces);
    }
    adjacency::check(&draft, &draft.uses(), report);
    loops::fit_all(&mut draft, &tol, report);
    if !report.problems.is_empty() {
        return None;
    }
    creases::split(&mut draft, patches, &tol, options, report);
    split_at_status_changes(&mut draft);
    loops::fit_all(&mut draft, &tol, report);
    loops::assemble(&mut draft, &tol, report);
    if !report.problems.is_empty() {
        return None;
    }
    tips::add(&mut draft, &tol, report);
    finish(source, &draft, &tol, options, report)
}

/// Splits edges at the kinks of their curves. If an edge ends at a kink, its curve is cut off there,
/// because the derivatives of a curve at a kink are those of the piece after the kink.
fn split_at_kinks(draft: &mut Draft, options: &BuildOptions) {
    let cuts: Vec<Vec<f64>> =
        draft.edges.iter().map(|e| e.curve.kinks(e.range.0, e.range.1, options.kink_angle)).collect();
    draft.split(&cuts);
    for edge in &mut draft.edges {
        let Curve::Bezier(spline) = &edge.curve else { continue };
        let (t0, t1) = edge.range;
        let near = NEAR_KINK * (t1 - t0);
        let kinks = edge.curve.kinks(t0 - 2.0 * near, t1 + 2.0 * near, options.kink_angle);
        let at = |t: f64| kinks.iter().copied().find(|kink| (kink - t).abs() <= near);
        let (start, end) = (at(t0), at(t1));
        if start.is_some() || end.is_some() {
            edge.range = (start.unwrap_or(t0), end.unwrap_or(t1));
            edge.curve = Curve::Bezier(spline.restricted(edge.range.0, edge.range.1));
        }
    }
}

/// Maximum difference of the curve parameters of an edge's end and of a kink at which the edge counts as
/// ending at the kink, relative to the edge's parameter range. A larger value drops short pieces; a
/// smaller one gives the edge the tangent of the other side of the kink.
const NEAR_KINK: f64 = 1e-9;

/// Splits edges that pass through a pole or an apex of an adjacent face's surface, because their surface
/// parameters jump there.
fn split_at_singular_points(draft: &mut Draft, tol: &Tolerances) {
    let mut cuts: Vec<Vec<f64>> = vec![vec![]; draft.edges.len()];
    for f in &draft.faces {
        for u in f.loops.iter().flatten() {
            let e = &draft.edges[u.edge as usize];
            for s in &f.singular {
                let t = e.curve.project(&s.point, e.range.0, e.range.1);
                let p = e.curve.point(t);
                let from_end = |end: f64| (e.curve.point(end) - p).norm() > 10.0 * tol.fit.singular_tol;
                if (p - s.point).norm() <= tol.fit.singular_tol && from_end(e.range.0) && from_end(e.range.1)
                {
                    cuts[u.edge as usize].push(t);
                }
            }
        }
    }
    for c in &mut cuts {
        c.sort_by(f64::total_cmp);
        c.dedup_by(|a, b| (*a - *b).abs() <= 1e-9 * (1.0 + b.abs()));
    }
    // The two tips of a horn torus coincide in space.
    for (e, c) in draft.edges.iter().zip(&mut cuts) {
        c.dedup_by(|a, b| (e.curve.point(*a) - e.curve.point(*b)).norm() <= 2.0 * tol.fit.singular_tol);
    }
    draft.split(&cuts);
}

fn split_at_status_changes(draft: &mut Draft) {
    let uses = draft.uses();
    let hosts: Vec<Host<'_>> = draft.faces.iter().map(|f| loops::host(draft, f)).collect();
    let cuts: Vec<Vec<f64>> = uses
        .iter()
        .map(|at| {
            pair(at).and_then(|p| status::dihedral(draft, &hosts, p)).map_or_else(Vec::new, |d| d.changes)
        })
        .collect();
    drop(hosts);
    draft.split(&cuts);
}

fn pair(uses: &[UseAt]) -> Option<[UseAt; 2]> {
    <[UseAt; 2]>::try_from(uses).ok()
}

/// Turns the assembled draft into a solid, or returns the errors by which it contradicts the source.
/// Returns `None` if there are problems that cannot be corrected, which are in `report`.
fn finish(
    source: &SolidSource,
    draft: &Draft,
    tol: &Tolerances,
    options: &BuildOptions,
    report: &mut Report,
) -> Option<Built> {
    let uses = draft.uses();
    let hosts: Vec<Host<'_>> = draft.faces.iter().map(|f| loops::host(draft, f)).collect();
    let domains: Vec<FaceDomain> =
        draft.faces.iter().zip(&hosts).map(|(f, h)| domain::domain(f, h)).collect();
    let all_folded = evidence::folded_back(draft, &hosts, &uses, tol);
    let folded: Vec<(u64, u64)> =
        all_folded.iter().filter(|f| f.is_contradicted).map(|f| (f.face, f.edge)).collect();
    // A seam outside of its face is also the result of a wrong sense of the face.
    let seams: Vec<(u64, u64)> = domains
        .iter()
        .enumerate()
        .filter_map(|(i, d)| Some((draft.faces[i].id, corrections::wrong_seam(source, draft, i, d)?)))
        .collect();
    let with_seam = |face: u64| seams.iter().any(|(id, _)| *id == face);
    let senses: Vec<(u64, u64)> = folded.iter().copied().filter(|(face, _)| with_seam(*face)).collect();
    if !senses.is_empty() {
        return Some(Built::Wrong(corrections::Wrong { folded: senses, ..Default::default() }));
    }
    // The short arc of a tube is far more often a face than the long one.
    let is_short = |arc: u64| corrections::sweep_of(source, arc) < std::f64::consts::PI * (1.0 - 1e-6);
    let is_consistent = |face: u64| {
        let parts = draft.faces.iter().enumerate().filter(|(_, f)| f.id == face);
        parts.map(|(i, _)| i).all(|i| evidence::is_consistent_reversed(draft, i, tol))
    };
    let faces: Vec<(u64, String)> = seams
        .iter()
        .filter(|(face, arc)| is_short(*arc) && is_consistent(*face))
        .map(|(face, arc)| (*face, corrections::seam_lies_there(*arc)))
        .collect();
    if !faces.is_empty() {
        return Some(Built::Wrong(corrections::Wrong { faces, ..Default::default() }));
    }
    let mut arcs: Vec<u64> = seams.iter().map(|(_, arc)| *arc).collect();
    arcs.dedup();
    if !arcs.is_empty() {
        return Some(Built::Wrong(corrections::Wrong { arcs, ..Default::default() }));
    }
    let (reversed, joined) = report_contradictions(draft, &domains, tol, report);
    if report.problems.is_empty() && !joined.is_empty() {
        return Some(Built::Wrong(corrections::Wrong { joined, ..Default::default() }));
    }
    if report.problems.is_empty() && !reversed.is_empty() {
        return Some(Built::Wrong(corrections::Wrong { faces: reversed, ..Default::default() }));
    }
    let wrong_areas: Vec<WrongArea> = draft
        .faces
        .iter()
        .zip(&domains)
        .enumerate()
        .filter(|(_, (_, d))| d.is_consistent())
        .filter_map(|(i, (f, d))| evidence::vector_area(draft, (i, f), d, tol))
        .collect();
    let patches = patches_taken_for_others(source, draft, &wrong_areas);
    if report.problems.is_empty() && !patches.is_empty() {
        return Some(Built::Wrong(corrections::Wrong { patches, ..Default::default() }));
    }
    let on_other_side = faces_on_the_other_side(draft, &wrong_areas, tol);
    if report.problems.is_empty() && !on_other_side.is_empty() {
        return Some(Built::Wrong(corrections::Wrong { faces: on_other_side, ..Default::default() }));
    }
    let guessed: BTreeSet<u64> = source.faces.iter().filter(|f| f.either_way).map(|f| f.id).collect();
    if report.problems.is_empty() && !guessed.is_empty() {
        let guesses = evidence::of_guesses(draft, &hosts, &uses, &domains, &|id| guessed.contains(&id), tol);
        if !guesses.is_empty() {
            return Some(Built::Wrong(corrections::Wrong { guesses, ..Default::default() }));
        }
    }
    if report.problems.is_empty() && !folded.is_empty() {
        return Some(Built::Wrong(corrections::Wrong { folded, ..Default::default() }));
    }
    let bounds = bounds(draft, &domains);
    let shells = shell_masses(draft, &domains, &bounds, tol, options);
    // A sheet has no volume, so it cannot be inside out.
    let has_volume = |s: &&ShellMass| s.sums.volume.abs() > SHEET * s.sums.area * bounds.diagonal();
    let inside_out: Vec<corrections::InsideOut> = shells
        .iter()
        .filter(has_volume)
        .filter(|s| (s.shell == 0) != (s.sums.volume > 0.0))
        .map(|s| corrections::InsideOut {
            shell: s.shell,
            volume: s.sums.volume,
            otherwise: s.of_face.iter().find_map(|(face, _)| {
                let f = &draft.faces[*face];
                let is_single = draft.faces.iter().filter(|other| other.id == f.id).count() == 1;
                if f.loops.is_empty() || !is_single || !evidence::is_closed(&hosts[*face]) {
                    return None;
                }
                Some((f.id, volume_with_reversed(draft, *face, &shells, &bounds, tol, options)?))
            }),
        })
        .collect();
    let mut sums = FaceIntegrals::default();
    shells.iter().for_each(|s| sums += s.sums);
    let FaceIntegrals { area, volume, .. } = sums;
    let inertia = shells.iter().any(|s| has_volume(&s)).then(|| SolidInertia::new(&sums, &bounds.center()));
    if !(area.is_finite() && volume.is_finite()) || shells.iter().any(|s| s.sums.area <= 0.0) {
        report.fail(Problem::NotASolid { area, volume });
    }
    if !report.problems.is_empty() {
        return None;
    }
    if !inside_out.is_empty() {
        return Some(Built::Wrong(corrections::Wrong { shells: inside_out, ..Default::default() }));
    }
    for WrongArea { face, off, allowed, .. } in wrong_areas {
        report.warn(
            face,
            format!(
                "face #{face}: its area does not fit its edges: the vector areas differ by {off:.3} mm², \
                and the gaps of the edges allow {allowed:.1e} mm²; the face is not what the file means, \
                repair it and export it again"
            ),
        );
    }
    warn_of_folds(draft, &all_folded, &shells, &bounds, tol, options, report);
    warn_of_open_guesses(draft, &guessed, &shells, &bounds, tol, options, report);
    warn_of_separate_parts(draft, &hosts, &domains, report);
    let unconfirmed = evidence::unconfirmed(draft, &hosts, &uses);
    let (edges, statuses) = edge_infos(draft, &hosts, &uses, report);
    let vertices = vertex_infos(draft, &hosts, &statuses, tol);
    Some(Built::Solid(Box::new(Solid {
        name: source.name.clone(),
        source: source.id,
        shell: shell(draft),
        faces: draft
            .faces
            .iter()
            .zip(domains)
            .map(|(f, d)| FaceInfo {
                source: f.id,
                joined: f.joined.clone(),
                shell: f.shell,
                domain: d.domain,
                cells: d.cells,
                vertex_loops: f.vertex_loops.clone(),
                surface_deviation: f.surface_deviation,
                is_sense_unconfirmed: unconfirmed.contains(&f.id),
            })
            .collect(),
        edges,
        vertices,
        bounds,
        area,
        volume,
        inertia,
        uncertainty: source.uncertainty,
        remarks: placed(std::mem::take(&mut report.remarks), source),
    })))
}

/// Sets the place of each remark to a point of its entity, and returns the remarks.
fn placed(mut remarks: Vec<Remark>, source: &SolidSource) -> Vec<Remark> {
    for remark in &mut remarks {
        remark.place = remark.entity.and_then(|e| source.place_of(e));
    }
    remarks
}

/// Maximum volume of a shell that is treated as a sheet, that is as a shell without volume, relative to
/// its area times the solid's size. A larger value turns thin plates into sheets; with a smaller one
/// rounding counts as the volume of a solid.
const SHEET: f64 = 1e-9;

/// Area, volume and moments of one shell, computed about the centre of the solid's box.
struct ShellMass {
    shell: u32,
    sums: FaceIntegrals,
    /// Index in the draft and contribution to the volume (mm³) of each face of the shell.
    of_face: Vec<(usize, f64)>,
}

fn shell_masses(
    draft: &Draft,
    domains: &[FaceDomain],
    bounds: &Aabb,
    tol: &Tolerances,
    options: &BuildOptions,
) -> Vec<ShellMass> {
    let reference = bounds.center();
    let edge = |e: u32| draft.edges.get(e as usize).map(|e| (&e.curve, e.range));
    let mut out: Vec<ShellMass> = vec![];
    for (i, (f, d)) in draft.faces.iter().zip(domains).enumerate() {
        let mut m =
            face_integrals(&f.surface, f.outward, &d.cells, &edge, &reference, options.mass_tolerance);
        m += strips::to_edges(draft, f, &reference, 2.0 * tol.fit.tol);
        let of_face = (i, m.volume);
        match out.iter_mut().find(|s| s.shell == f.shell) {
            Some(s) => {
                s.sums += m;
                s.of_face.push(of_face);
            }
            None => out.push(ShellMass { shell: f.shell, sums: m, of_face: vec![of_face] }),
        }
    }
    out
}

/// Returns the entity ids of those faces of `wrong` that are a spline in the source, but a canonical
/// surface in the draft.
fn patches_taken_for_others(source: &SolidSource, draft: &Draft, wrong: &[WrongArea]) -> Vec<u64> {
    let is_patch =
        |id: u64| source.faces.iter().any(|f| f.id == id && matches!(f.surface, Surface::Bezier(_)));
    let is_other =
        |id: u64| draft.faces.iter().any(|f| f.id == id && !matches!(f.surface, Surface::Bezier(_)));
    wrong.iter().map(|w| w.face).filter(|id| is_patch(*id) && is_other(*id)).collect()
}

/// Returns the entity ids of those faces of `wrong` whose vector area fits their edges with the opposite
/// outward normal, each with a text of that evidence. Faces of the draft with one entity id are parts of one
/// face of the source, so that all of them must fit. The typical case is a dome: its loops, seen from the
/// wrong side, bound a region beyond the rim, where the patch has no points or an open border.
fn faces_on_the_other_side(draft: &Draft, wrong: &[WrongArea], tol: &Tolerances) -> Vec<(u64, String)> {
    let fits: Vec<usize> =
        wrong.iter().filter(|w| evidence::fits_reversed(draft, w, tol)).map(|w| w.index).collect();
    let all_fit =
        |id: u64| draft.faces.iter().enumerate().filter(|(_, f)| f.id == id).all(|(i, _)| fits.contains(&i));
    let ids: BTreeSet<u64> = fits.iter().map(|i| draft.faces[*i].id).filter(|id| all_fit(*id)).collect();
    let text = ": with the normal of the file, its area does not fit its edges";
    ids.into_iter().map(|id| (id, text.to_owned())).collect()
}

/// Warns of faces with a guessed outward normal (entity ids in `guessed`) if the opposite normal is
/// possible, too: the loops are consistent with it, and the volume of the shell keeps the right sign.
/// `bounds` is the box of the solid.
fn warn_of_open_guesses(
    draft: &Draft,
    guessed: &BTreeSet<u64>,
    shells: &[ShellMass],
    bounds: &Aabb,
    tol: &Tolerances,
    options: &BuildOptions,
    report: &mut Report,
) {
    for (i, f) in draft.faces.iter().enumerate().filter(|(_, f)| guessed.contains(&f.id)) {
        let Some(shell) = shells.iter().find(|s| s.shell == f.shell) else { continue };
        let Some(other) = volume_with_reversed(draft, i, shells, bounds, tol, options) else { continue };
        report.warn(
            f.id,
            format!(
                "face #{}: the file leaves open which side of its surface is outside, because its profile \
                 crosses the axis of revolution; the shell encloses {:.6} mm³ as it was read and {other:.6} \
                 mm³ otherwise; check it, and export the face with a trimmed profile",
                f.id, shell.sums.volume
            ),
        );
    }
}

/// Warns of the faces `folded` if their shells enclose a volume of the right sign with the opposite normal,
/// too. `bounds` is the box of the solid.
fn warn_of_folds(
    draft: &Draft,
    folded: &[evidence::FoldedFace],
    shells: &[ShellMass],
    bounds: &Aabb,
    tol: &Tolerances,
    options: &BuildOptions,
    report: &mut Report,
) {
    for evidence::FoldedFace { face, edge, .. } in folded {
        let is_this = |(_, f): &(usize, &draft::Face)| f.id == *face;
        let parts: Vec<usize> = draft.faces.iter().enumerate().filter(is_this).map(|(i, _)| i).collect();
        let [i] = parts.as_slice() else { continue };
        let Some(volume) = volume_with_reversed(draft, *i, shells, bounds, tol, options) else { continue };
        report.warn(
            *face,
            format!(
                "face #{face}: it folds back on its tangent neighbour at edge #{edge}, where the part or a \
                 gap has no thickness; check it: if its sense is wrong, its shell encloses {:.6} mm³",
                volume.abs()
            ),
        );
    }
}

/// Volume (mm³) of the shell of a face, given by its index in the draft, if the outward normal of the face
/// were the opposite one; `None` if its loops are inconsistent with that normal, or if the volume has the
/// wrong sign. `bounds` is the box of the solid.
fn volume_with_reversed(
    draft: &Draft,
    face: usize,
    shells: &[ShellMass],
    bounds: &Aabb,
    tol: &Tolerances,
    options: &BuildOptions,
) -> Option<f64> {
    let shell = shells.iter().find(|s| s.shell == draft.faces[face].shell)?;
    let (_, own) = shell.of_face.iter().find(|(f, _)| *f == face)?;
    let other = evidence::reversed_volume(draft, face, tol, &bounds.center(), options.mass_tolerance)?;
    let volume = shell.sums.volume - own + other;
    ((shell.shell == 0) == (volume > 0.0)).then_some(volume)
}

/// Warns of faces on closed surfaces that consist of several separate parts, because their loops, or the
/// side that these loops enclose, may be wrong.
fn warn_of_separate_parts(draft: &Draft, hosts: &[Host<'_>], domains: &[FaceDomain], report: &mut Report) {
    for ((f, host), d) in draft.faces.iter().zip(hosts).zip(domains) {
        if f.loops.len() < 2 || !evidence::is_closed(host) {
            continue;
        }
        let n = evidence::num_parts(host, &d.cells);
        if n > 1 {
            report.warn(
                f.id,
                format!(
                    "face #{} consists of {n} separate parts of a closed surface, and a face must be \
                    connected; check that its loops enclose the right side",
                    f.id
                ),
            );
        }
    }
}

/// Pairs of faces, by their entity ids, whose loops are consistent only if both are read as one face.
type JoinedFaces = Vec<(u64, u64)>;

/// Finds the faces whose loops contradict each other. Returns the entity ids of the faces that are
/// consistent with the opposite normal, each with a text of further evidence (possibly empty), and the
/// pairs of entity ids of faces that are consistent if they are joined. `report` receives a warning for
/// each face whose edges cross only slightly, and a problem for each remaining face.
fn report_contradictions(
    draft: &Draft,
    domains: &[FaceDomain],
    tol: &Tolerances,
    report: &mut Report,
) -> (Vec<(u64, String)>, JoinedFaces) {
    let mut reversed: Vec<(u64, String)> = vec![];
    let mut joined: JoinedFaces = vec![];
    for (i, (f, d)) in draft.faces.iter().zip(domains).enumerate() {
        if d.is_consistent() {
            continue;
        }
        if let Some(overlap) = repair::overlap_of_neighbours(draft, i, d, tol) {
            report.warn(f.id, format!("face #{}: edges of a loop cross by {}", f.id, shown_length(overlap)));
            continue;
        }
        if repair::is_better_reversed(draft, i, tol) {
            let seam = d.seam_outside.and_then(|e| draft.edges.get(e as usize));
            let evidence = seam.map_or_else(String::new, |e| corrections::seam_lies_there(e.source));
            // Parts of one face of the source are reversed together.
            if !reversed.iter().any(|(id, _)| *id == f.id) {
                reversed.push((f.id, evidence));
            }
            continue;
        }
        // Each face is joined at most once in a round.
        if joined.iter().any(|(a, b)| *a == f.id || *b == f.id) {
            continue;
        }
        let with = repair::neighbours_that_resolve(draft, i, tol);
        if !with.is_empty() {
            joined.extend(with.into_iter().map(|other| (f.id, other)));
            continue;
        }
        let mut edges: Vec<u64> = d
            .inconsistent
            .iter()
            .flat_map(|i| &i.edges)
            .filter_map(|e| draft.edges.get(*e as usize).map(|e| e.source))
            .collect();
        edges.sort_unstable();
        edges.dedup();
        report.fail(Problem::LoopsContradict { face: f.id, edges });
    }
    (reversed, joined)
}

fn edge_infos(
    draft: &Draft,
    hosts: &[Host<'_>],
    uses: &[Vec<UseAt>],
    report: &mut Report,
) -> (Vec<EdgeInfo>, Vec<EdgeStatus>) {
    let mut is_seam = vec![false; draft.edges.len()];
    for (f, h) in draft.faces.iter().zip(hosts) {
        for e in domain::seam_edges(f, h) {
            is_seam[e as usize] = true;
        }
    }
    let infos: Vec<EdgeInfo> = draft
        .edges
        .iter()
        .enumerate()
        .map(|(i, e)| {
            let dihedral = if is_seam[i] {
                Some(Dihedral { min: 0.0, max: 0.0, changes: vec![] })
            } else {
                pair(&uses[i]).and_then(|p| status::dihedral(draft, hosts, p))
            };
            let status = match &dihedral {
                _ if is_seam[i] => EdgeStatus::Seam,
                Some(d) => d.status(),
                // The edge is kept as a feature because no sample has two normals; the exact tests of
                // queries decide.
                None => {
                    let message =
                        format!("edge #{}: its faces have no normals there; treated as convex", e.source);
                    report.warn(e.source, message);
                    EdgeStatus::Convex
                }
            };
            let sides: SmallVec<[EdgeSide; 2]> = uses[i].iter().map(|at| side(draft, *at)).collect();
            let dihedral = dihedral.map_or((0.0, 0.0), |d| (d.min, d.max));
            EdgeInfo {
                source: e.source,
                range: e.range,
                curve_deviation: e.curve_deviation,
                sides,
                status,
                dihedral,
            }
        })
        .collect();
    let statuses = infos.iter().map(|e| e.status).collect();
    (infos, statuses)
}

fn side(draft: &Draft, at: UseAt) -> EdgeSide {
    let u = draft.at(at);
    let (pieces, joints, deviation) = u.pcurve.as_ref().map_or_else(Default::default, |p| {
        let piece =
            |x: &pcurve::Piece| TrimPiece { control: x.control, edge: u.edge, deviation: x.deviation };
        (p.pieces.iter().map(piece).collect(), p.joints.clone(), p.deviation())
    });
    EdgeSide {
        face: feeler_geom::count::index(at.face),
        forward: u.forward,
        pcurve: pieces,
        joints,
        deviation,
    }
}

fn vertex_infos(
    draft: &Draft,
    hosts: &[Host<'_>],
    statuses: &[EdgeStatus],
    tol: &Tolerances,
) -> Vec<VertexInfo> {
    let n = draft.vertices.len();
    let mut cones = vec![TangentCone::default(); n];
    let mut faces: Vec<Vec<u32>> = vec![vec![]; n];
    let mut touched = vec![false; n];
    for (i, f) in draft.faces.iter().enumerate() {
        for ring in &f.loops {
            for (k, arrive) in ring.iter().enumerate() {
                let leave = &ring[(k + 1) % ring.len()];
                let e = &draft.edges[arrive.edge as usize];
                let v = if arrive.forward { e.vertices.1 } else { e.vertices.0 } as usize;
                cones[v].add_corner(draft, &hosts[i], i, arrive, leave);
                faces[v].push(feeler_geom::count::index(i));
                touched[v] = true;
            }
        }
        for v in &f.vertex_loops {
            let v = *v as usize;
            cones[v].add_vertex_loop(
                &hosts[i],
                f.outward,
                &draft.vertices[v].point,
                10.0 * tol.fit.singular_tol,
            );
            faces[v].push(feeler_geom::count::index(i));
            touched[v] = true;
        }
    }
    let mut ends: Vec<Vec<(u32, bool)>> = vec![vec![]; n];
    for (e, edge) in draft.edges.iter().enumerate() {
        ends[edge.vertices.0 as usize].push((feeler_geom::count::index(e), true));
        ends[edge.vertices.1 as usize].push((feeler_geom::count::index(e), false));
    }
    for (cone, ends) in cones.iter_mut().zip(&ends) {
        cone.concave = ends.iter().any(|e| statuses[e.0 as usize] == EdgeStatus::Concave);
    }
    let edge_faces = edge_faces(draft);
    (0..n)
        .map(|v| {
            let around = &mut faces[v];
            around.sort_unstable();
            around.dedup();
            let smooth = !touched[v] || is_smooth(draft, &cones[v], &ends[v], statuses, &edge_faces);
            VertexInfo {
                source: draft.vertices[v].id,
                edges: ends[v].iter().map(|e| e.0).collect(),
                faces: std::mem::take(around),
                polar: if touched[v] { cones[v].polar() } else { VertexPolar::Empty },
                smooth,
            }
        })
        .collect()
}

/// Returns, for each edge, the sorted indices of the faces that use it.
fn edge_faces(draft: &Draft) -> Vec<Vec<usize>> {
    draft
        .uses()
        .iter()
        .map(|at| {
            let mut faces: Vec<usize> = at.iter().map(|u| u.face).collect();
            faces.sort_unstable();
            faces
        })
        .collect()
}

/// Returns whether a vertex is an ordinary point of the face or the edge that contains it, and therefore
/// not a feature. `ends` lists the edges that end at the vertex, each with whether it starts there;
/// seams do not count. `statuses` and `edge_faces` are those of all edges.
fn is_smooth(
    draft: &Draft,
    cone: &TangentCone,
    ends: &[(u32, bool)],
    statuses: &[EdgeStatus],
    edge_faces: &[Vec<usize>],
) -> bool {
    if cone.sharp {
        return false;
    }
    let real: Vec<&(u32, bool)> =
        ends.iter().filter(|e| statuses[e.0 as usize] != EdgeStatus::Seam).collect();
    let away = |(e, at_start): (u32, bool)| {
        polar::away(draft, &draft::Use { edge: e, forward: true, pcurve: None }, at_start)
    };
    match real.as_slice() {
        [] => true,
        [a, b] => {
            let same_faces = edge_faces[a.0 as usize] == edge_faces[b.0 as usize];
            let opposite = matches!((away(**a), away(**b)), (Some(s), Some(t)) if (s + t).norm() <= 1e-6);
            same_faces && opposite
        }
        _ => false,
    }
}

fn shell(draft: &Draft) -> CompressedShell<feeler_geom::P3, Curve, Surface> {
    CompressedShell {
        vertices: draft.vertices.iter().map(|v| v.point).collect(),
        edges: draft
            .edges
            .iter()
            .map(|e| CompressedEdge {
                vertices: (e.vertices.0 as usize, e.vertices.1 as usize),
                curve: e.curve.clone(),
            })
            .collect(),
        faces: draft
            .faces
            .iter()
            .map(|f| CompressedFace {
                boundaries: f
                    .loops
                    .iter()
                    .map(|ring| {
                        ring.iter()
                            .map(|u| CompressedEdgeIndex { index: u.edge as usize, orientation: u.forward })
                            .collect()
                    })
                    .collect(),
                orientation: f.outward,
                surface: f.surface.clone(),
            })
            .collect(),
    }
}

/// Returns the box (mm) of all edges, and of all curved faces over their domains' rectangles. A planar
/// face lies in the convex hull of its edges.
fn bounds(draft: &Draft, domains: &[FaceDomain]) -> Aabb {
    let edges = draft.edges.iter().map(|e| e.curve.bounds(e.range.0, e.range.1));
    let faces = draft
        .faces
        .iter()
        .zip(domains)
        .filter(|(f, _)| !matches!(f.surface, Surface::Plane { .. }))
        .map(|(f, d)| f.surface.bounds(&d.domain.rect));
    let vertices = Aabb::of_points(draft.vertices.iter().map(|v| &v.point));
    edges.chain(faces).fold(vertices, |b, x| b.union(&x))
}
