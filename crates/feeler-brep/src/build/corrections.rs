//! Corrections of a source that the solid built from it contradicts, for another pass of the construction:
//! outward normals of faces and shells, guesses, and arcs that take the wrong way around their circles.

use std::collections::BTreeSet;
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

/// Corrections of senses and arcs for which there may be another explanation.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Changes {
    /// Entity ids of the faces whose outward normal was reversed because of their loops.
    pub(super) faces: Vec<u64>,
    /// Entity ids of the seams that take the other way around their circles.
    arcs: Vec<u64>,
    /// Number of shells that were turned as a whole.
    shells: usize,
}

/// A correction of a source that may be the right one.
#[derive(Clone, Debug)]
pub(super) enum Correction {
    /// These edges (indices), which are arcs, take the other way around their circles.
    Arcs(Vec<usize>),
    /// The outward normal of a face (entity id) is reversed, because its seam (entity id) lies on the other
    /// side.
    Face { face: u64, seam: u64 },
}

impl Correction {
    /// Number of senses that it changes.
    pub(super) fn count(&self) -> usize {
        if let Self::Arcs(arcs) = self { arcs.len() } else { 1 }
    }

    /// Returns the corrected source with remarks on it.
    pub(super) fn applied(&self, source: &SolidSource) -> (SolidSource, Vec<Remark>) {
        match self {
            Self::Arcs(arcs) => with_other_arcs(source, arcs),
            Self::Face { face, seam } => {
                let wrong = Wrong { faces: vec![(*face, seam_lies_there(*seam))], ..Default::default() };
                let mut report = Report::default();
                (corrected(source, &wrong, &mut report), report.remarks)
            }
        }
    }

    /// Describes what is wrong without the correction.
    pub(super) fn text(&self, source: &SolidSource) -> String {
        match self {
            Self::Arcs(arcs) => arcs.first().map_or_else(String::new, |e| arc_is_wrong(source.edges[*e].id)),
            Self::Face { face, .. } => sense_is_wrong(*face),
        }
    }
}

/// Arcs that [`other_arcs`] changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ArcChoice {
    /// All arcs of at least half a turn together, then each arc, long arcs first.
    Any,
    /// Each seam, then all arcs between two of the faces, because an arc in the wrong direction contradicts
    /// both of its faces, then all arcs of at least half a turn, then each arc, long arcs first.
    Doubtful,
}

impl Changes {
    pub(super) fn add(&mut self, wrong: &Wrong) {
        self.faces.extend(wrong.faces.iter().map(|f| f.0));
        self.arcs.extend(&wrong.arcs);
        self.shells += wrong.shells.len();
    }

    pub(super) fn count(&self) -> usize {
        self.faces.len() + self.arcs.len() + self.shells
    }

    /// Describes what is wrong without these corrections.
    pub(super) fn text(&self) -> String {
        match (self.faces.as_slice(), self.arcs.as_slice()) {
            ([face, ..], _) => sense_is_wrong(*face),
            (_, [arc, ..]) => arc_is_wrong(*arc),
            _ => String::new(),
        }
    }

    /// Returns other corrections that may suffice: arcs of the reversed faces in the other direction instead,
    /// or the reverse for a seam.
    pub(super) fn alternatives(&self, source: &SolidSource) -> Vec<Correction> {
        let index = |arc: &u64| source.edges.iter().position(|e| e.id == *arc);
        let has_seam = |f: &FaceSource, e: usize| directions(f, e) == [true; 2];
        match (self.faces.as_slice(), self.arcs.as_slice()) {
            (faces, []) => other_arcs(source, faces, ArcChoice::Doubtful),
            ([], [seam]) => {
                let faces = source.faces.iter().filter(|f| index(seam).is_some_and(|e| has_seam(f, e)));
                faces.map(|f| Correction::Face { face: f.id, seam: *seam }).collect()
            }
            // Parts of one surface whose seams were corrected in different ways.
            (faces, arcs) => {
                let chosen = || source.faces.iter().filter(|f| faces.contains(&f.id));
                let is_seam = |e: &usize| sweep(source, *e) > 0.0 && chosen().any(|f| has_seam(f, *e));
                let mut set: Vec<usize> = arcs.iter().filter_map(index).collect();
                set.extend((0..source.edges.len()).filter(is_seam));
                vec![Correction::Arcs(set)]
            }
        }
    }

    /// Returns whether all seams of the reversed faces, and all changed seams, are arcs of less than half a
    /// turn after a correction, or after these changes if it is `None`. False without such seams.
    pub(super) fn has_short_seams(&self, source: &SolidSource, correction: Option<&Correction>) -> bool {
        let is_flipped = |e: usize| match correction {
            None => self.arcs.contains(&source.edges[e].id),
            Some(Correction::Arcs(arcs)) => arcs.contains(&e),
            Some(Correction::Face { .. }) => false,
        };
        let reversed = |e: usize| {
            let has_seam = |f: &FaceSource| self.faces.contains(&f.id) && directions(f, e) == [true; 2];
            source.faces.iter().any(has_seam)
        };
        let mut seams = (0..source.edges.len())
            .filter(|e| sweep(source, *e) > 0.0)
            .filter(|e| self.arcs.contains(&source.edges[*e].id) || reversed(*e))
            .map(|e| if is_flipped(e) { TAU - sweep(source, e) } else { sweep(source, e) })
            .peekable();
        seams.peek().is_some() && seams.all(|angle| angle < 0.5 * TAU * (1.0 - 1e-6))
    }

    /// Returns whether a correction of arcs contradicts a face that agrees with one of them as it is: the
    /// face was not reversed, and its loops have one meaning, because it is not closed.
    pub(super) fn is_refuted(&self, source: &SolidSource, correction: &Correction) -> bool {
        let Correction::Arcs(arcs) = correction else { return false };
        let uses = |f: &FaceSource| arcs.iter().any(|e| directions(f, *e) != [false; 2]);
        let has_one_meaning = |s: &Surface| {
            matches!(s, Surface::Plane { .. } | Surface::Cylinder { .. } | Surface::Cone { .. })
        };
        source.faces.iter().any(|f| has_one_meaning(&f.surface) && !self.faces.contains(&f.id) && uses(f))
    }
}

fn sense_is_wrong(face: u64) -> String {
    format!("the sense of face #{face} is wrong")
}

fn arc_is_wrong(edge: u64) -> String {
    format!("the sense of edge #{edge} is wrong")
}

/// Whether the loops of the face use an edge (index) backward and forward.
fn directions(f: &FaceSource, edge: usize) -> [bool; 2] {
    let mut out = [false; 2];
    for l in &f.loops {
        let LoopSource::Edges(walk) = l else { continue };
        walk.iter()
            .filter(|(e, _)| *e as usize == edge)
            .for_each(|(_, forward)| out[usize::from(*forward)] = true);
    }
    out
}

/// Further evidence for the other side of a face: its seam.
pub(super) fn seam_lies_there(seam: u64) -> String {
    format!(": its seam #{seam} lies there")
}

/// Returns corrections by which arcs of `faces` (entity ids) take the other way around their circles between
/// the same vertices.
pub(super) fn other_arcs(source: &SolidSource, faces: &[u64], choice: ArcChoice) -> Vec<Correction> {
    let mut arcs: Vec<usize> = vec![];
    let chosen = || source.faces.iter().filter(|f| faces.contains(&f.id));
    for l in chosen().flat_map(|f| &f.loops) {
        let LoopSource::Edges(walk) = l else { continue };
        arcs.extend(walk.iter().map(|(e, _)| *e as usize).filter(|e| sweep(source, *e) > 0.0));
    }
    arcs.sort_unstable();
    arcs.dedup();
    let is_seam = |e: &usize| chosen().any(|f| directions(f, *e) == [true; 2]);
    let seams: Vec<usize> = match choice {
        ArcChoice::Any => Vec::new(),
        ArcChoice::Doubtful => arcs.iter().copied().filter(is_seam).collect(),
    };
    arcs.retain(|e| !seams.contains(e));
    let is_outside = |f: &FaceSource| !faces.contains(&f.id);
    let is_used = |f: &FaceSource, e: usize| directions(f, e) != [false; 2];
    let leaves = |e: usize| source.faces.iter().any(|f| is_outside(f) && is_used(f, e));
    let between: Vec<usize> = match choice {
        ArcChoice::Any => Vec::new(),
        ArcChoice::Doubtful => arcs.iter().copied().filter(|e| !leaves(*e)).collect(),
    };
    // Arcs of half a turn count as long within rounding.
    let (long, short): (Vec<usize>, Vec<usize>) =
        arcs.into_iter().partition(|e| sweep(source, *e) >= 0.5 * TAU * (1.0 - 1e-6));
    let singles = |arcs: &[usize]| arcs.iter().map(|e| vec![*e]).collect::<Vec<_>>();
    let mut sets = [singles(&seams), vec![between, long.clone()], singles(&long), singles(&short)].concat();
    let mut seen = BTreeSet::new();
    sets.retain(|set| !set.is_empty() && seen.insert(set.clone()));
    sets.into_iter().map(Correction::Arcs).collect()
}

/// The source with other directions of arcs (indices of edges), with remarks on it.
fn with_other_arcs(source: &SolidSource, arcs: &[usize]) -> (SolidSource, Vec<Remark>) {
    let mut out = source.clone();
    let mut remarks = Vec::with_capacity(arcs.len());
    for e in arcs {
        let (id, degrees) = (source.edges[*e].id, sweep(source, *e).to_degrees());
        remarks.push(Remark {
            severity: Severity::Warning,
            entity: Some(id),
            place: None,
            message: format!(
                "edge #{id}: its same_sense leads it {degrees:.1}° around its circle, where the loops of \
                 its faces contradict each other; the other {:.1}° were taken",
                360.0 - degrees
            ),
        });
        out.edges[*e].same_sense = !out.edges[*e].same_sense;
    }
    (out, remarks)
}

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
