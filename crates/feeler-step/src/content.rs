//! Content of one STEP file, and the options for reading it.

use std::collections::{BTreeMap, BTreeSet};

use feeler_brep::{Severity, SolidSource};
use feeler_geom::Pose;

use crate::assembly::{self, Component, External, Placed};
use crate::entities::{Bad, Entities};
use crate::error::{Problem, StepError};
use crate::part21::{self, Graph};
use crate::reading::Reading;
use crate::text;
use crate::topology;

/// Function that returns the bytes of a referenced file by its path from the folder of the first file,
/// with `/` between folders; `None` if the file does not exist.
pub type Resolve<'a> = &'a dyn Fn(&str) -> Option<Vec<u8>>;

/// Maximum number of remarks of one kind that are kept; further ones are only counted. A larger value
/// gives longer output.
const MAX_NOTES: usize = 20;

/// Maximum number of reasons in the message about a solid that cannot be used; further ones are only
/// counted. A larger value gives longer messages.
const MAX_REASONS: usize = 5;

/// Content of a STEP file.
#[derive(Clone, Debug)]
pub struct Import {
    /// Distinct solids in millimetres, each in the coordinates of its own representation: those of the
    /// file in the order of their ids, then those of referenced files. A solid that also occurs mirrored
    /// is followed by its mirror image.
    pub solids: Vec<SolidSource>,
    /// Referenced file of each solid, as a path from the folder of this file; `None` for solids of this
    /// file.
    pub files: Vec<Option<String>>,
    /// Instances of the solids in the order of the assembly tree, followed by those from other files.
    pub instances: Vec<SolidInstance>,
    /// Assembly tree; parents precede their children. It contains only components with solids.
    pub components: Vec<ComponentSource>,
    /// Remarks on irregular, approximated or skipped content.
    pub problems: Vec<Problem>,
    /// Name of the schema (application protocol) of the file.
    pub schema: String,
    /// Number of face entities with a surface in the file, those outside solids included.
    pub file_faces: usize,
    /// Number of edge-curve entities in the file, unused ones included.
    pub file_edge_curves: usize,
    /// Number of entities in the file.
    pub file_entities: usize,
}

/// Placed occurrence of a solid.
#[derive(Clone, Debug)]
pub struct SolidInstance {
    /// Index of the solid in [`Import::solids`].
    pub solid: usize,
    /// Name of the solid, or of its product if the solid has none.
    pub name: String,
    /// Names from the root of the assembly to the solid, joined by `/`.
    pub path: String,
    /// Pose: maps the coordinates of the solid to world coordinates (mm).
    pub pose: Pose,
    /// Index in [`Import::components`] of the component that directly contains the instance; `None` for a
    /// solid outside all products.
    pub component: Option<usize>,
}

/// Occurrence of a product in the assembly tree.
#[derive(Clone, Debug)]
pub struct ComponentSource {
    /// Name of the product, numbered if the parent uses it several times.
    pub name: String,
    /// Entity id of the product's usage in the parent, or of the product definition at a root.
    pub id: u64,
    /// Index of the parent component in [`Import::components`]; `None` at a root.
    pub parent: Option<usize>,
    /// Pose: maps the coordinates of the component (after mirroring, if `mirrored`) to those of its
    /// parent (mm).
    pub pose: Pose,
    /// Whether the sign of the first coordinate is changed before the pose is applied.
    pub mirrored: bool,
}

/// Options for reading a file and the files that it refers to.
#[derive(Clone, Copy)]
pub struct ReadOptions<'a> {
    /// Function that returns the content of a referenced file.
    pub resolve: Resolve<'a>,
    /// Options set by the user.
    pub reading: Reading,
}

impl std::fmt::Debug for ReadOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReadOptions").field("reading", &self.reading).finish_non_exhaustive()
    }
}

/// Content of one file, before the referenced files are added.
#[derive(Debug)]
pub(crate) struct Content {
    pub(crate) solids: Vec<SolidSource>,
    /// Indices in `solids` by the entity id of a solid; several if the solid consists of lumps.
    pub(crate) place: BTreeMap<u64, Vec<usize>>,
    pub(crate) instances: Vec<Placed>,
    pub(crate) components: Vec<Component>,
    pub(crate) externals: Vec<External>,
    pub(crate) problems: Vec<Problem>,
    /// One problem for each solid that cannot be used.
    pub(crate) refused: Vec<Problem>,
    /// Warning about shapes in the file other than solids, which are not read.
    pub(crate) beside: Option<Problem>,
    /// Description of the content of a file without solids, and what to do.
    pub(crate) found: String,
    pub(crate) schema: String,
    pub(crate) file_faces: usize,
    pub(crate) file_edge_curves: usize,
    pub(crate) file_entities: usize,
}

/// Reads one file without the files that it refers to. `name` is its name in messages.
pub(crate) fn content_of(name: &str, bytes: &[u8], reading: Reading) -> Result<Content, StepError> {
    let bytes = text::unpacked(name, bytes)?;
    let (text, note) = text::in_utf8(&bytes);
    let mut graph = parse(name, &text)?;
    graph.remarks.extend(note);
    Ok(content(graph, reading))
}

/// Parses the entities of a text.
fn parse(name: &str, bytes: &[u8]) -> Result<Graph, StepError> {
    let name = name.to_owned();
    let text = without_tail(bytes.trim_ascii());
    if text.is_empty() {
        return Err(StepError::NotStep { name, reason: "it is empty".to_owned() });
    }
    if !starts_as_step(text) {
        let reason = if text.starts_with(b"solid") {
            "it looks like STL".to_owned()
        } else {
            let start: Vec<u8> = text.iter().take(24).copied().collect();
            format!("it begins with {:?}", String::from_utf8_lossy(&start))
        };
        return Err(StepError::NotStep { name, reason });
    }
    part21::read(text).map_err(|fault| {
        let (reason, name) = (fault.to_string(), name.clone());
        // A value that is cut off can cause any syntax error, so a text without an end mark counts as
        // truncated.
        let is_cut = fault.at_end || end_mark(text).is_none();
        if is_cut { StepError::Truncated { name, reason } } else { StepError::Syntax { name, reason } }
    })
}

/// Returns whether the first token is `ISO-10303-21`, ignoring comments before it.
fn starts_as_step(mut text: &[u8]) -> bool {
    while let Some(comment) = text.strip_prefix(b"/*") {
        let Some(end) = comment.windows(2).position(|w| w == b"*/") else { return false };
        text = comment[end + 2..].trim_ascii_start();
    }
    const START: &[u8] = b"ISO-10303-21";
    text.get(..START.len()).is_some_and(|t| t.eq_ignore_ascii_case(START))
}

/// Returns the text up to its end mark. Zeros, control characters or mail footers may follow the mark.
fn without_tail(text: &[u8]) -> &[u8] {
    let Some(at) = end_mark(text) else { return text };
    let rest = &text[at + END.len()..];
    match rest.iter().position(|b| !b.is_ascii_whitespace()) {
        Some(i) if rest[i] == b';' => &text[..at + END.len() + i + 1],
        _ => &text[..at + END.len()],
    }
}

const END: &[u8] = b"END-ISO-10303-21";

/// Position of `END-ISO-10303-21`, if it is near the end of the text; otherwise `None`.
fn end_mark(text: &[u8]) -> Option<usize> {
    let from = text.len().saturating_sub(4096);
    text[from..].windows(END.len()).rposition(|w| w.eq_ignore_ascii_case(END)).map(|at| from + at)
}

fn content(mut graph: Graph, reading: Reading) -> Content {
    let schema = graph.schema.join(", ");
    let is_known = part21::is_known(&graph.schema);
    let external = graph.external;
    let warning = |entity, message: String| Problem::new(entity, Severity::Warning, message);
    let more = graph.oddities.len().saturating_sub(MAX_NOTES);
    let oddities = graph.oddities.drain(..).take(MAX_NOTES);
    let mut problems: Vec<Problem> = oddities.map(|what| warning(None, what)).collect();
    if more > 0 {
        problems.push(warning(None, format!("{more} more remarks of this kind on the syntax")));
    }
    problems.extend(graph.remarks.drain(..).map(|message| warning(None, message)));
    if !is_known {
        let message = format!(
            "the file's schema '{schema}' is not AP203, AP214 or AP242; the file is read as if it were"
        );
        problems.push(warning(None, message));
    }
    let entities = Entities::new(graph, reading);
    let layout = assembly::layout(&entities, &mut problems);
    let found = if layout.solids.is_empty() { describe_content(&entities, external) } else { String::new() };

    // A solid without a name gets the name of its product.
    let mut names = BTreeMap::new();
    for i in &layout.instances {
        names.entry(i.solid).or_insert(i.name.as_str());
    }
    let mut solids = Vec::new();
    let mut refused = Vec::new();
    // Indices in `solids` by entity id.
    let mut place: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (id, units) in &layout.solids {
        let converted = match units {
            Ok(units) => topology::convert_solid(&entities, *id, *units),
            Err(e) => Err(vec![e.clone()]),
        };
        match converted {
            Ok(converted) => {
                let more = converted.notes.len().saturating_sub(MAX_NOTES);
                let notes = converted.notes.into_iter().take(MAX_NOTES);
                problems.extend(notes);
                if more > 0 {
                    problems.push(warning(
                        Some(*id),
                        format!("is a solid with {more} more remarks of this kind"),
                    ));
                }
                let mut bodies = converted.solids;
                for solid in &mut bodies {
                    if solid.name.is_empty() || solid.name.eq_ignore_ascii_case("none") {
                        solid.name = names.get(id).map_or_else(String::new, |n| (*n).to_owned());
                    }
                }
                let n_bodies = bodies.len();
                let lumps: Vec<SolidSource> =
                    bodies.into_iter().flat_map(feeler_brep::lumps::split).collect();
                if lumps.len() > n_bodies {
                    let message = format!(
                        "is a solid of {} lumps: shells that it lists as voids lie outside of its outer \
                         shell; each is read as a solid",
                        lumps.len()
                    );
                    problems.push(warning(Some(*id), message));
                }
                let several = lumps.len() > 1;
                for (k, mut lump) in (1..).zip(lumps) {
                    if several {
                        lump.name = numbered(&lump.name, k);
                    }
                    place.entry(*id).or_default().push(solids.len());
                    solids.push(lump);
                }
            }
            Err(all) => {
                let name = names.get(id).copied().unwrap_or_default();
                refused.push(Problem::new(Some(*id), Severity::Error, because(*id, name, &all)));
            }
        }
    }
    let mut counts = counts_of(&entities, 0);
    if reading.open_shells {
        counts[SURFACE_MODELS] = 0;
    }
    let beside = listed(&counts[..N_SHAPES]);
    let beside = (!beside.is_empty()).then(|| {
        let remedy = if counts[FIRST_SOLID..N_SHAPES].iter().any(|n| *n > 0) {
            "; export the other solids as B-rep to include them"
        } else {
            ""
        };
        let message = format!(
            "the file also contains {beside}; only B-rep solids are read, the rest is skipped{remedy}"
        );
        warning(None, message)
    });
    let count = |kinds: &[&str]| entities.iter().filter(|r| kinds.contains(&r.name)).count();
    Content {
        solids,
        place,
        instances: layout.instances,
        components: layout.components,
        externals: layout.externals,
        problems,
        refused,
        beside,
        found,
        schema,
        file_faces: count(&["ADVANCED_FACE", "FACE_SURFACE"]),
        file_edge_curves: count(&["EDGE_CURVE"]),
        file_entities: entities.len(),
    }
}

/// Returns the name of the lump with the number `k`, counted from 1, of a solid called `name`: `name:k`,
/// or `lump:k` if `name` is empty.
pub(crate) fn numbered(name: &str, k: usize) -> String {
    if name.is_empty() { format!("lump:{k}") } else { format!("{name}:{k}") }
}

/// Describes the problems that prevent a solid from being used, in the order of the faces; at most
/// [`MAX_REASONS`] of them are shown.
fn because(id: u64, name: &str, all: &[Bad]) -> String {
    let (own, others): (Vec<&Bad>, Vec<&Bad>) = all.iter().partition(|e| e.id == id);
    let mut text: Vec<String> = own.iter().map(|e| e.message.clone()).collect();
    if !others.is_empty() {
        let shown = others.iter().take(MAX_REASONS).map(|e| format!("#{} {}", e.id, e.message));
        let list: Vec<String> = shown.collect();
        let more = others.len() - list.len();
        let more = if more > 0 { format!("; and {more} more problems") } else { String::new() };
        let name = if name.is_empty() { String::new() } else { format!("(solid '{name}') ") };
        text.push(format!("{name}cannot be used: {}{more}", list.join("; ")));
    }
    text.join("; ")
}

/// Entities of shapes that are not B-rep solids, each with its name in messages, which list what a file
/// contains besides solids. [`SURFACE_MODELS`] and [`TESSELLATED_SHELLS`] are read if
/// [`Reading::open_shells`] is set. The last entry is for references to other files.
///
/// # Source
/// Subtypes of `solid_model` and members of `csg_primitive` in ISO 10303-42, with the solids of ISO
/// 10303-111 that extend them.
const KINDS: [(&str, &str); 41] = [
    ("SHELL_BASED_SURFACE_MODEL", "surface model"),
    ("FACE_BASED_SURFACE_MODEL", "surface model"),
    ("CSG_SOLID", "CSG solid"),
    ("BOOLEAN_RESULT", "Boolean combination of solids"),
    ("BLOCK", "CSG block"),
    ("RIGHT_ANGULAR_WEDGE", "CSG wedge"),
    ("RECTANGULAR_PYRAMID", "CSG pyramid"),
    ("TETRAHEDRON", "CSG tetrahedron"),
    ("CONVEX_HEXAHEDRON", "CSG hexahedron"),
    ("FACETED_PRIMITIVE", "CSG polyhedron"),
    ("SPHERE", "CSG sphere"),
    ("ELLIPSOID", "CSG ellipsoid"),
    ("RIGHT_CIRCULAR_CYLINDER", "CSG cylinder"),
    ("RIGHT_CIRCULAR_CONE", "CSG cone"),
    ("ECCENTRIC_CONE", "CSG cone"),
    ("TORUS", "CSG torus"),
    ("CYCLIDE_SEGMENT_SOLID", "CSG cyclide"),
    ("HALF_SPACE_SOLID", "half space"),
    ("BOXED_HALF_SPACE", "half space"),
    ("EXTRUDED_AREA_SOLID", "swept solid"),
    ("REVOLVED_AREA_SOLID", "swept solid"),
    ("SURFACE_CURVE_SWEPT_AREA_SOLID", "swept solid"),
    ("EXTRUDED_FACE_SOLID", "swept solid"),
    ("EXTRUDED_FACE_SOLID_WITH_DRAFT_ANGLE", "swept solid"),
    ("EXTRUDED_FACE_SOLID_WITH_MULTIPLE_DRAFT_ANGLES", "swept solid"),
    ("EXTRUDED_FACE_SOLID_WITH_TRIM_CONDITIONS", "swept solid"),
    ("REVOLVED_FACE_SOLID", "swept solid"),
    ("REVOLVED_FACE_SOLID_WITH_TRIM_CONDITIONS", "swept solid"),
    ("SURFACE_CURVE_SWEPT_FACE_SOLID", "swept solid"),
    ("SWEPT_DISK_SOLID", "swept disk"),
    ("THICKENED_FACE_SOLID", "thickened face"),
    ("SCULPTURED_SOLID", "sculptured solid"),
    ("SOLID_REPLICA", "copy of a solid"),
    // The kinds from here on are components of the kinds above, or often occur beside solids.
    ("OPEN_SHELL", "open shell"),
    ("CLOSED_SHELL", "closed shell that no solid uses"),
    ("TESSELLATED_SHELL", "tessellated shell"),
    ("COMPLEX_TRIANGULATED_FACE", "triangulated face"),
    ("COMPLEX_TRIANGULATED_SURFACE_SET", "triangulated surface"),
    ("GEOMETRIC_SET", "set of loose surfaces and curves"),
    ("GEOMETRIC_CURVE_SET", "set of curves"),
    ("DOCUMENT_FILE", "reference to another file"),
];
/// Index in [`KINDS`] of the surface models that [`Reading::open_shells`] reads.
const SURFACE_MODELS: usize = 0;
/// Index in [`KINDS`] of the first kind that describes a solid; the solids end at [`N_SHAPES`].
const FIRST_SOLID: usize = 2;
/// Number of entries at the beginning of [`KINDS`] that are shapes of their own; the others are
/// components of shapes, or often occur beside solids.
const N_SHAPES: usize = 33;
/// Index in [`KINDS`] of the tessellated shells that [`Reading::open_shells`] reads.
const TESSELLATED_SHELLS: usize = N_SHAPES + 2;

/// Counts the entities of each of [`KINDS`], except those that are operands of other solids. `external`
/// is the number of references to other files.
fn counts_of(entities: &Entities, external: usize) -> [usize; KINDS.len()] {
    let mut counts = [0_usize; KINDS.len()];
    let operands = operands(entities);
    for r in entities.iter().filter(|r| !operands.contains(&r.id)) {
        // A complex instance lists a solid's supertypes as well, so only its last kind is counted.
        let kinds = r.kinds().filter_map(|kind| KINDS.iter().position(|k| k.0 == kind));
        if let Some(i) = kinds.max() {
            counts[i] += 1;
        }
    }
    counts[KINDS.len() - 1] += external;
    counts
}

/// Returns the entity ids of the operands of CSG solids, Boolean combinations and copies.
fn operands(entities: &Entities) -> BTreeSet<u64> {
    const OPERATIONS: [&str; 3] = ["CSG_SOLID", "BOOLEAN_RESULT", "SOLID_REPLICA"];
    let operations = entities.iter().filter(|r| OPERATIONS.iter().any(|kind| r.is(kind)));
    operations
        .flat_map(|r| {
            let flat = r.flattened();
            (0..flat.n_attrs()).filter_map(|i| flat.maybe_reference(i)).collect::<Vec<_>>()
        })
        .collect()
}

/// Lists the kinds with their numbers; `counts` are those of the first entries of [`KINDS`]. Kinds of the
/// same name are counted together.
fn listed(counts: &[usize]) -> String {
    let mut found: Vec<(&str, usize)> = Vec::new();
    for ((_, what), n) in KINDS.iter().zip(counts).filter(|(_, n)| **n > 0) {
        match found.iter_mut().find(|(name, _)| name == what) {
            Some((_, sum)) => *sum += n,
            None => found.push((what, *n)),
        }
    }
    let found: Vec<String> = found
        .into_iter()
        .map(|(what, n)| if n == 1 { format!("1 {what}") } else { format!("{n} × {what}") })
        .collect();
    found.join(", ")
}

/// Describes the content of a file without solids, and what to do about it.
fn describe_content(entities: &Entities, external: usize) -> String {
    let counts = counts_of(entities, external);
    let found = listed(&counts);
    if found.is_empty() {
        format!(
            "none of its {} entities describes a shape; export the model as a solid (B-rep)",
            entities.len()
        )
    } else if counts[KINDS.len() - 1] > 0 {
        format!("only {found}; provide the referenced files, or export the assembly as one file")
    } else if counts[FIRST_SOLID..N_SHAPES].iter().any(|n| *n > 0) {
        format!("only {found}; export the solids as B-rep")
    } else {
        let sheets = if counts[SURFACE_MODELS] + counts[TESSELLATED_SHELLS] > 0 {
            ", or read the surfaces as sheets (`--open-shells`)"
        } else {
            ""
        };
        format!("only {found}; close the surfaces to form a solid and export it{sheets}")
    }
}

#[cfg(test)]
mod tests;
