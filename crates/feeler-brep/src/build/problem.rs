//! Problems of a solid.

use crate::remark::{Remark, Severity, shown_length as mm};

/// Returns the first few entity ids as a text, preceded by the name of their `kind`, for a message.
fn listed(kind: &str, ids: &[u64]) -> String {
    const SHOWN: usize = 4;
    let shown: Vec<String> = ids.iter().take(SHOWN).map(|id| format!("#{id}")).collect();
    let more = ids.len().saturating_sub(SHOWN);
    let plural = if ids.len() == 1 { "" } else { "s" };
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{kind}{plural} {}{more}", shown.join(", "))
}

/// A problem that makes a solid unusable. Numbers after `#` are entity ids of the source.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Problem {
    /// The source lists no face.
    #[error("the solid has no face")]
    NoFaces,
    /// An index in the source refers to a missing entity.
    #[error("#{entity} refers to a missing vertex or edge; repair the file or export it again")]
    BadIndex {
        /// Entity id of the entity with the reference.
        entity: u64,
    },
    /// A coordinate, radius, angle, weight or knot is not finite, not positive or absurdly large.
    #[error(
        "#{entity} has an invalid number (not finite, or out of range like a radius of 0); export it again"
    )]
    BadNumber {
        /// Entity id of the vertex, of the edge with the curve, or of the face with the surface.
        entity: u64,
    },
    /// A vertex is too far from the end of an edge.
    #[error("vertex #{vertex} is {} away from the end of its edge #{edge}", mm(*distance))]
    VertexOffCurve {
        /// Entity id of the vertex.
        vertex: u64,
        /// Entity id of the edge.
        edge: u64,
        /// Distance (mm) of the vertex from the end of the edge.
        distance: f64,
    },
    /// An edge is too far from the surface of a face that uses it.
    #[error("edge #{edge} is {} off the surface of face #{face}", mm(*distance))]
    EdgeOffSurface {
        /// Entity id of the edge.
        edge: u64,
        /// Entity id of the face.
        face: u64,
        /// Largest distance (mm) of the edge from the surface of the face.
        distance: f64,
    },
    /// Only one face uses an edge.
    #[error(
        "the shell is open at edge #{edge}: only face #{face} uses it; sew the faces into a closed solid"
    )]
    OpenShell {
        /// Entity id of the edge.
        edge: u64,
        /// Entity id of the face.
        face: u64,
    },
    /// More than two faces use an edge.
    #[error(
        "edge #{edge} is used {} times (by {}); split the solid so that two faces use it",
        faces.len(),
        listed("face", faces)
    )]
    ManyFaces {
        /// Entity id of the edge.
        edge: u64,
        /// Entity ids of the faces, one entry for each use of the edge.
        faces: Vec<u64>,
    },
    /// Two faces use an edge in the same direction.
    #[error("faces #{} and #{} use edge #{edge} in the same direction; check them", faces[0], faces[1])]
    SameDirection {
        /// Entity id of the edge.
        edge: u64,
        /// Entity ids of the two faces.
        faces: [u64; 2],
    },
    /// Consecutive edges of a loop do not share a vertex.
    #[error("a loop of face #{face} is not connected between edges #{} and #{}", edges.0, edges.1)]
    Disconnected {
        /// Entity id of the face.
        face: u64,
        /// Entity ids of the consecutive edges.
        edges: (u64, u64),
    },
    /// A loop does not close in the parameter plane.
    #[error(
        "a loop of face #{face} has a gap of {} between edges #{} and #{}",
        mm(*distance),
        edges.0,
        edges.1
    )]
    LoopGap {
        /// Entity id of the face.
        face: u64,
        /// Entity ids of the consecutive edges.
        edges: (u64, u64),
        /// Gap (mm) between the ends of the edges.
        distance: f64,
    },
    /// The loops of a face contradict each other about the inside.
    #[error(
        "the loops of face #{face} contradict each other{}, for example because they cross",
        if edges.is_empty() { String::new() } else { format!(" at {}", listed("edge", edges)) }
    )]
    LoopsContradict {
        /// Entity id of the face.
        face: u64,
        /// Entity ids of the edges at which the loops contradict each other.
        edges: Vec<u64>,
    },
    /// Faces and shells still contradict each other about the inside after the faces and shells that
    /// seemed wrong have been reversed.
    #[error("inside and outside cannot be distinguished; check the orientation of faces and shells")]
    InsideOut,
    /// Different solids need equally few corrections of senses, and each is valid.
    #[error(
        "its senses contradict each other, and two corrections explain that: {}; open the part in the CAD \
         system, check these entities, and export it again",
        readings.join(", or ")
    )]
    Ambiguous {
        /// Texts of the corrections, each with the volume that results.
        readings: Vec<String>,
    },
    /// The area or the volume of the solid is not a positive number.
    #[error(
        "area {area:.6e} mm² and volume {volume:.6e} mm³ are not those of a solid; check face orientations"
    )]
    NotASolid {
        /// Area (mm²) of the solid.
        area: f64,
        /// Signed volume (mm³) of the solid.
        volume: f64,
    },
}

impl Problem {
    /// Returns the entity id of the face, if the problem is that its loops contradict each other.
    pub(super) fn contradicting_face(&self) -> Option<u64> {
        if let Self::LoopsContradict { face, .. } = self { Some(*face) } else { None }
    }

    /// Returns the entity id to inspect first; `None` if the problem concerns the whole solid.
    #[must_use]
    pub fn entity(&self) -> Option<u64> {
        match self {
            Self::NoFaces | Self::InsideOut | Self::NotASolid { .. } | Self::Ambiguous { .. } => None,
            Self::BadIndex { entity } | Self::BadNumber { entity } => Some(*entity),
            Self::VertexOffCurve { vertex, .. } => Some(*vertex),
            Self::EdgeOffSurface { edge, .. }
            | Self::OpenShell { edge, .. }
            | Self::ManyFaces { edge, .. }
            | Self::SameDirection { edge, .. } => Some(*edge),
            Self::Disconnected { edges, .. } | Self::LoopGap { edges, .. } => Some(edges.0),
            Self::LoopsContradict { face, .. } => Some(*face),
        }
    }
}

/// Error with all problems that make a solid unusable.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("solid #{id} {name:?}: {}", summary(problems))]
pub struct BuildError {
    /// Entity id of the solid; 0 without one.
    pub id: u64,
    /// Name of the solid.
    pub name: String,
    /// Problems found, in the order of the steps of the construction.
    pub problems: Vec<Problem>,
}

fn summary(problems: &[Problem]) -> String {
    const SHOWN: usize = 5;
    let mut text: Vec<String> = problems.iter().take(SHOWN).map(ToString::to_string).collect();
    if problems.len() > SHOWN {
        text.push(format!("and {} more problems", problems.len() - SHOWN));
    }
    text.extend(remedy(problems));
    text.join("; ")
}

/// Describes what to do about gaps and contradictions, once for all of them.
fn remedy(problems: &[Problem]) -> Option<String> {
    let (mut faces, mut edges) = (Vec::new(), Vec::new());
    for problem in problems {
        match problem {
            Problem::EdgeOffSurface { face, .. }
            | Problem::LoopGap { face, .. }
            | Problem::LoopsContradict { face, .. } => faces.push(*face),
            Problem::VertexOffCurve { edge, .. } => edges.push(*edge),
            _ => {}
        }
    }
    let (kind, mut ids) = if faces.is_empty() { ("edge", edges) } else { ("face", faces) };
    ids.sort_unstable();
    ids.dedup();
    let what = (!ids.is_empty()).then(|| listed(kind, &ids))?;
    Some(format!("open the part in the CAD system, repair {what}, and export it again (AP242)"))
}

/// Problems and remarks collected during the construction.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) problems: Vec<Problem>,
    pub(super) remarks: Vec<Remark>,
}

impl Report {
    /// Adds a problem. If the same problem of the same entities is listed already, only the one with the
    /// larger distance is kept.
    pub(super) fn fail(&mut self, problem: Problem) {
        use Problem::{EdgeOffSurface, LoopGap, VertexOffCurve};
        for known in &mut self.problems {
            let (old, new) = match (known, &problem) {
                (
                    EdgeOffSurface { edge: e, face: f, distance: old },
                    EdgeOffSurface { edge, face, distance: new },
                ) if (*e, *f) == (*edge, *face) => (old, *new),
                (
                    VertexOffCurve { vertex: v, edge: e, distance: old },
                    VertexOffCurve { vertex, edge, distance: new },
                ) if (*v, *e) == (*vertex, *edge) => (old, *new),
                (LoopGap { face: f, edges: e, distance: old }, LoopGap { face, edges, distance: new })
                    if (*f, *e) == (*face, *edges) =>
                {
                    (old, *new)
                }
                (known, problem) if known == problem => return,
                _ => continue,
            };
            // NaN replaces any value and is not replaced.
            if new > *old || new.is_nan() {
                *old = new;
            }
            return;
        }
        self.problems.push(problem);
    }

    /// Adds a remark without effect on the shape, about entity `entity`.
    pub(super) fn note(&mut self, entity: u64, message: String) {
        self.remark(Severity::Note, Some(entity), message);
    }

    /// Adds a remark on something repaired, guessed or approximated at entity `entity`.
    pub(super) fn warn(&mut self, entity: u64, message: String) {
        self.remark(Severity::Warning, Some(entity), message);
    }

    pub(super) fn remark(&mut self, severity: Severity, entity: Option<u64>, message: String) {
        self.remarks.push(Remark { severity, entity, place: None, message });
    }
}
