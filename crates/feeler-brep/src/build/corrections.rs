//! Corrections of a source that the solid built from it contradicts, for another pass of the construction:
//! outward normals of faces and shells, guesses, and arcs that take the wrong way around their circles.

use std::f64::consts::TAU;

use feeler_geom::trim::Side;
use feeler_geom::{Curve, Surface, math};

use super::draft::Draft;
use super::evidence::Guess;
use super::{Report, domain, loops};
use crate::remark::{Remark, Severity};
use crate::source::{FaceSource, LoopSource, SolidSource};

/// A shell whose volume has the wrong sign.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct InsideOut {
    pub(super) shell: u32,
    /// Signed volume (mm³) with the normals of the file.
    pub(super) volume: f64,
    /// Entity id of a face on a closed surface with which the volume would have the right sign if the normal
    /// of that face alone were reversed, and that volume (mm³).
    pub(super) otherwise: Option<(u64, f64)>,
}

/// Returns variants of the source, each with remarks, in which arcs take the other way around their
/// circles between the same vertices. Only arcs of `faces` (entity ids) are changed. If several arcs
/// sweep at least half a turn, the first variant changes all of these; each other variant changes a
/// single arc, long arcs first. With `only_long`, every variant changes a single arc of more than half a
/// turn.
pub(super) fn other_arcs(
    source: &SolidSource,
    faces: &[u64],
    only_long: bool,
) -> Vec<(SolidSource, Vec<Remark>)> {
    let mut arcs: Vec<usize> = vec![];
    for l in source.faces.iter().filter(|f| faces.contains(&f.id)).flat_map(|f| &f.loops) {
        let LoopSource::Edges(walk) = l else { continue };
        arcs.extend(walk.iter().map(|(e, _)| *e as usize).filter(|e| sweep(source, *e) > 0.0));
    }
    arcs.sort_unstable();
    arcs.dedup();
    // Arcs of half a turn count as long within rounding.
    let (long, short): (Vec<usize>, Vec<usize>) =
        arcs.into_iter().partition(|e| sweep(source, *e) >= 0.5 * TAU * (1.0 - 1e-6));
    let is_long = |e: &&usize| sweep(source, **e) > 0.5 * TAU * (1.0 + 1e-6);
    let singles: Vec<Vec<usize>> = if only_long {
        long.iter().filter(is_long).map(|e| vec![*e]).take(MAX_LONG_TRIALS).collect()
    } else {
        long.iter().chain(&short).map(|e| vec![*e]).collect()
    };
    let all = (!only_long && long.len() > 1).then_some(long);
    let turned = |set: Vec<usize>| {
        let mut out = source.clone();
        let remarks = set.iter().map(|e| {
            let (id, degrees) = (out.edges[*e].id, sweep(source, *e).to_degrees());
            Remark {
                severity: Severity::Warning,
                entity: Some(id),
                place: None,
                message: format!(
                    "edge #{id}: its same_sense leads it {degrees:.1}° around its circle, where the loops \
                    of its faces contradict each other; the other {:.1}° were taken",
                    360.0 - degrees
                ),
            }
        });
        let remarks = remarks.collect();
        set.iter().for_each(|e| out.edges[*e].same_sense = !out.edges[*e].same_sense);
        (out, remarks)
    };
    all.into_iter().chain(singles).take(MAX_TRIALS).map(turned).collect()
}

/// Maximum number of variants of the source ([`other_arcs`]) that are tried. A larger value takes more
/// time on bad files; with a smaller one fewer are repaired.
const MAX_TRIALS: usize = 16;
/// Maximum number of variants of the source ([`other_arcs`]) that are tried if the solid can be built
/// with the arcs of the file. A larger value takes more time; with a smaller one fewer wrong arcs are
/// found.
const MAX_LONG_TRIALS: usize = 4;

/// Returns the entity id of a seam that lies outside of its face if the seam is an arc that takes the
/// wrong way around its circle, because the other arc between its vertices lies inside the face;
/// otherwise `None`. `face` is the index of the face and `d` its domain. A seam on a sphere is a
/// meridian of at most half a turn, which is never wrong.
pub(super) fn wrong_seam(
    source: &SolidSource,
    draft: &Draft,
    face: usize,
    d: &domain::FaceDomain,
) -> Option<u64> {
    let f = &draft.faces[face];
    let id = draft.edges[d.seam_outside? as usize].source;
    let e = source.edges.iter().position(|e| e.id == id)?;
    let angle = sweep(source, e);
    let is_meridian = matches!(f.surface, Surface::Sphere { .. }) && angle <= 0.5 * TAU * (1.0 + 1e-6);
    if angle <= 0.0 || is_meridian {
        return None;
    }
    let edge = &source.edges[e];
    let [a, b] = [edge.start, edge.end].map(|v| source.vertices[v as usize].point);
    let (from, to) = if edge.same_sense { (b, a) } else { (a, b) };
    let [t0, t1] = [from, to].map(|p| edge.curve.project(&p, 0.0, TAU));
    let other = edge.curve.point(t0 + 0.5 * math::wrap(t1 - t0, 0.0, TAU));
    let uv = loops::host(draft, f).invert_global(&other);
    (d.cells.classify(uv) == Side::Inside).then_some(id)
}

/// Angle (rad) that an edge, given by its entity id, sweeps on its circle or ellipse; 0 for other edges and
/// for unknown ids.
pub(super) fn sweep_of(source: &SolidSource, id: u64) -> f64 {
    source.edges.iter().position(|e| e.id == id).map_or(0.0, |e| sweep(source, e))
}

/// Angle (rad) that an edge sweeps on its circle or ellipse; 0 for other curves and for closed edges.
fn sweep(source: &SolidSource, e: usize) -> f64 {
    let e = &source.edges[e];
    if e.start == e.end || !matches!(e.curve, Curve::Circle { .. } | Curve::Ellipse { .. }) {
        return 0.0;
    }
    let [a, b] = [e.start, e.end].map(|v| e.curve.project(&source.vertices[v as usize].point, 0.0, TAU));
    math::wrap(if e.same_sense { b - a } else { a - b }, 0.0, TAU)
}

/// Faults found by one inspection of a whole solid: wrong or guessed orientations, patches that must not
/// be replaced by canonical surfaces, and faces that have to be read as one face.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Wrong {
    /// Shells whose volume has the wrong sign.
    pub(super) shells: Vec<InsideOut>,
    /// Entity ids of faces with the wrong outward normal, each with a text of further evidence (possibly
    /// empty).
    pub(super) faces: Vec<(u64, String)>,
    /// Entity ids of faces whose outward normal contradicts their tangent neighbours, each with the entity id
    /// of an edge at which the face folds back on one.
    pub(super) folded: Vec<(u64, u64)>,
    /// Entity ids of seam edges that take the wrong way around their circles.
    pub(super) arcs: Vec<u64>,
    /// Results of testing the guessed outward normals of faces, for those faces for which there is
    /// evidence for or against the guess.
    pub(super) guesses: Vec<Guess>,
    /// Entity ids of faces whose patches must not be replaced by canonical surfaces.
    pub(super) patches: Vec<u64>,
    /// Pairs of entity ids of faces that have to be read as one face, because their loops are consistent
    /// only together.
    pub(super) joined: Vec<(u64, u64)>,
}

/// Returns the source with the orientations in `wrong` corrected, and adds remarks to `report`. `patches`
/// and `joined` have no effect here; the next construction reads them.
pub(super) fn corrected(source: &SolidSource, wrong: &Wrong, report: &mut Report) -> SolidSource {
    let mut out = source.clone();
    for guess in &wrong.guesses {
        for f in out.faces.iter_mut().filter(|f| f.id == guess.face) {
            f.either_way = false;
            f.outward = f.outward != guess.turn;
        }
        if guess.turn {
            report.warn(
                guess.face,
                format!(
                    "face #{}: the file leaves open which side of its surface is outside; {}",
                    guess.face, guess.reason
                ),
            );
        }
    }
    for e in 0..out.edges.len() {
        if wrong.arcs.contains(&out.edges[e].id) {
            let (id, degrees) = (out.edges[e].id, sweep(source, e).to_degrees());
            report.warn(
                id,
                format!(
                    "edge #{id}: its same_sense leads this seam {degrees:.1}° around its circle, outside of \
                    its face; the other {:.1}° were taken",
                    360.0 - degrees
                ),
            );
            out.edges[e].same_sense = !out.edges[e].same_sense;
        }
    }
    // If a shell is inside out and contains a guessed face, the guess is corrected first.
    let is_wrong = |shell: u32| wrong.shells.iter().any(|s| s.shell == shell);
    let guessed = |f: &FaceSource| f.either_way && is_wrong(f.shell);
    let guesses: Vec<u32> = out.faces.iter().filter(|f| guessed(f)).map(|f| f.shell).collect();
    for f in out.faces.iter_mut().filter(|f| guessed(f)) {
        report.warn(
            f.id,
            format!(
                "face #{}: the file does not define which side of its surface is outside; the side that \
                gives the solid a volume was chosen",
                f.id
            ),
        );
        f.outward = !f.outward;
        f.either_way = false;
    }
    let n_faces = |shell: u32| source.faces.iter().filter(|f| f.shell == shell).count();
    let contradicted = || wrong.shells.iter().filter(|s| !guesses.contains(&s.shell));
    // Reversing one face is less than reversing all faces of a shell.
    let single = |s: &InsideOut| s.otherwise.filter(|_| n_faces(s.shell) > 1);
    let singles: Vec<u64> = contradicted().filter_map(|s| Some(single(s)?.0)).collect();
    let turned = || contradicted().filter(|s| single(s).is_none());
    for InsideOut { shell, volume, otherwise } in contradicted() {
        let n = n_faces(*shell);
        let first = source.faces.iter().find(|f| f.shell == *shell).map_or(0, |f| f.id);
        let (what, must) = if *shell == 0 { ("outer shell", "positive") } else { ("void", "negative") };
        let whole = volume.abs();
        let (entity, message) = match otherwise {
            Some((face, one)) if n > 1 => (
                *face,
                format!(
                    "face #{face}: with the stated sense, the {n} faces of the {what} enclose {volume:.6} \
                     mm³, which must be {must}; the other side of its surface was taken, which makes it \
                     {:.6} mm³; check it: if the senses of all these faces are wrong, it is {whole:.6} mm³",
                    one.abs()
                ),
            ),
            _ => {
                let check = otherwise.map_or_else(String::new, |(face, one)| {
                    let one = one.abs();
                    format!("; check it: if only the sense of face #{face} is wrong, it is {one:.6} mm³")
                });
                (
                    first,
                    format!(
                        "the normals of the {what} with face #{first} pointed to the wrong side and have \
                         been reversed: with them, its {n} faces enclosed {volume:.6} mm³, which must be \
                         {must}; all edges of these faces agree, and the faces still lie inside their \
                         loops{check}"
                    ),
                )
            }
        };
        report.remark(Severity::Warning, Some(entity), message);
    }
    for (f, evidence) in &wrong.faces {
        report.warn(
            *f,
            format!("face #{f}: its loops enclose the other side of its surface, which was taken{evidence}"),
        );
    }
    for (f, edge) in &wrong.folded {
        report.warn(
            *f,
            format!(
                "face #{f}: with the stated sense, it would fold back on its tangent neighbour at edge \
                #{edge}; the other side of its surface was taken"
            ),
        );
    }
    for f in &mut out.faces {
        let is_listed = wrong.faces.iter().any(|w| w.0 == f.id) || wrong.folded.iter().any(|w| w.0 == f.id);
        if is_listed || singles.contains(&f.id) {
            f.outward = !f.outward;
            f.either_way = false;
        }
        if turned().any(|s| s.shell == f.shell) {
            f.outward = !f.outward;
            for l in &mut f.loops {
                if let LoopSource::Edges(walk) = l {
                    walk.reverse();
                    walk.iter_mut().for_each(|u| u.1 = !u.1);
                }
            }
        }
    }
    out
}
