//! Combines a file and the files that it refers to into one assembly.
//!
//! # Source
//! Recommended practice of the implementor forum for external references: a product with a document file
//! and without a shape is replaced by the content of that file, in the same coordinates.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::Path;
use std::rc::Rc;

use crate::assembly::{Component, External, MAX_INSTANCES, Motion, joined, mirrored};
use crate::content::{ComponentSource, Content, Import, ReadOptions, SolidInstance, content_of, numbered};
use crate::error::{Problem, StepError};
use crate::text::is_step_name;
use feeler_brep::Severity;

/// Maximum number of uses of other files. More uses are assumed to be an error, because a few files can
/// describe any number of instances. A larger value takes more memory for such files.
const MAX_USES: usize = 10_000;
/// Maximum length of a chain of files that refer to each other. Longer chains are assumed to be an
/// error. A larger value takes more time for files with errors.
const MAX_CHAIN: usize = 16;

/// Reads a file below a folder by its path, or else the file whose path differs only in case. `None` if
/// neither can be read.
#[must_use]
pub fn read_below(folder: &Path, path: &str) -> Option<Vec<u8>> {
    if let Ok(bytes) = std::fs::read(folder.join(path)) {
        return Some(bytes);
    }
    let mut found = folder.to_owned();
    for step in path.split('/') {
        let here = if found.as_os_str().is_empty() { Path::new(".") } else { &found };
        let mut names: Vec<_> = std::fs::read_dir(here).ok()?.flatten().map(|e| e.file_name()).collect();
        names.sort();
        let same = |n: &&OsString| n.to_str().is_some_and(|n| n.eq_ignore_ascii_case(step));
        let name = names.iter().find(|n| n.to_str() == Some(step)).or_else(|| names.iter().find(same))?;
        found.push(name);
    }
    std::fs::read(found).ok()
}

/// Reads a file and all files that it refers to.
pub(crate) fn read_all(name: &str, bytes: &[u8], options: &ReadOptions<'_>) -> Result<Import, StepError> {
    let first = Rc::new(content_of(name, bytes, options.reading)?);
    let mut assembly = Assembly {
        options: *options,
        files: vec![File { path: String::new(), content: Rc::clone(&first) }],
        known: BTreeMap::new(),
        reported: BTreeSet::new(),
        problems: Vec::new(),
        components: Vec::new(),
        instances: Vec::new(),
        chain: vec![0],
        uses: 0,
    };
    assembly.add(&first, 0, None);
    assembly.finish(name)
}

/// A file that has been read.
struct File {
    /// Path from the folder of the first file; empty for the first file.
    path: String,
    content: Rc<Content>,
}

/// Component of the assembly at which the content of another file is inserted.
struct InsertionPoint {
    component: usize,
    path: String,
    motion: Motion,
}

/// Instance of a solid of one of the files.
struct Placed {
    file: usize,
    /// Index of the solid in the content of its file.
    solid: usize,
    name: String,
    path: String,
    motion: Motion,
    component: Option<usize>,
}

struct Assembly<'a> {
    options: ReadOptions<'a>,
    files: Vec<File>,
    /// Indices of the files that were read, by path, or the reason why a file cannot be used.
    known: BTreeMap<String, Result<usize, String>>,
    /// References (index of the referring file, entity id) whose failure has been reported.
    reported: BTreeSet<(usize, u64)>,
    problems: Vec<Problem>,
    components: Vec<Component>,
    instances: Vec<Placed>,
    /// Indices of the files from the first one to the current one, each of which refers to the next.
    chain: Vec<usize>,
    uses: usize,
}

impl Assembly<'_> {
    /// Adds the content of a file (index `file`) at an insertion point; the first file has none.
    fn add(&mut self, content: &Content, file: usize, at: Option<&InsertionPoint>) {
        // A single root product is merged with the product that refers to the file.
        let mut roots = content.components.iter().filter(|c| c.parent.is_none());
        let merged = match (at, roots.next(), roots.next()) {
            (Some(_), Some(root), None) => {
                root.local == Motion::identity() && content.instances.iter().all(|i| i.component.is_some())
            }
            _ => false,
        };
        let under = at.map(|p| p.component);
        let mut place = Vec::with_capacity(content.components.len());
        for c in &content.components {
            if let (true, None, Some(component)) = (merged, c.parent, under) {
                place.push(component);
                continue;
            }
            place.push(self.components.len());
            let parent = c.parent.map(|p| place[p]).or(under);
            self.components.push(Component { parent, ..c.clone() });
        }
        let path_of = |path: &str| {
            let Some(at) = at else { return path.to_owned() };
            let step = if merged { path.split_once('/').map_or("", |(_, rest)| rest) } else { path };
            joined(&at.path, step)
        };
        let base = at.map_or_else(Motion::identity, |p| p.motion);
        for i in &content.instances {
            let solids = content.place.get(&i.solid).map_or(&[][..], Vec::as_slice);
            for (k, solid) in (1..).zip(solids) {
                if self.instances.len() >= MAX_INSTANCES {
                    self.overflow();
                    return;
                }
                let of_lump = |name: &str| if solids.len() > 1 { numbered(name, k) } else { name.to_owned() };
                self.instances.push(Placed {
                    file,
                    solid: *solid,
                    name: of_lump(&i.name),
                    path: of_lump(&path_of(&i.path)),
                    motion: base * i.motion,
                    component: i.component.map(|c| place[c]).or(under),
                });
            }
        }
        for e in &content.externals {
            let motion = base * e.motion;
            let at = InsertionPoint { component: place[e.component], path: path_of(&e.path), motion };
            self.external(e, file, &at);
        }
    }

    fn overflow(&mut self) {
        let message = format!("the assembly has more than {MAX_INSTANCES} instances; the rest is left out");
        if !self.problems.iter().any(|p| p.message == message) {
            self.problems.push(Problem::new(None, Severity::Error, message));
        }
    }

    fn external(&mut self, e: &External, file: usize, at: &InsertionPoint) {
        self.uses += 1;
        if self.uses > MAX_USES {
            self.overflow();
            return;
        }
        match self.load(e, file) {
            Ok(other) => {
                let content = Rc::clone(&self.files[other].content);
                self.chain.push(other);
                self.add(&content, other, Some(at));
                self.chain.pop();
            }
            Err(message) => {
                if self.reported.insert((file, e.id)) {
                    let problem = Problem::new(Some(e.id), Severity::Error, message);
                    self.problems.push(self.named(file, &problem));
                }
            }
        }
    }

    /// Returns the index of the file that the product `e` of file `file` refers to, and reads it if
    /// necessary. The error says why that is impossible.
    fn load(&mut self, e: &External, file: usize) -> Result<usize, String> {
        let listed = e.files.join(", ");
        let mut names: Vec<String> = e.files.iter().flat_map(|n| step_names(n)).collect();
        // Names that are names of STEP files as written are tried first.
        names.sort_by_key(|n| !e.files.contains(n));
        for name in &names {
            for path in candidates(&self.files[file].path, name) {
                match self.known.get(&path).cloned() {
                    Some(known) => return known.and_then(|k| self.outside_chain(k, &path)),
                    None => {
                        let Some(bytes) = (self.options.resolve)(&path) else { continue };
                        let read = content_of(&path, &bytes, self.options.reading)
                            .map_err(|e| format!("has its shape in another file, which cannot be used: {e}"));
                        let index = read.map(|content| {
                            self.files.push(File { path: path.clone(), content: Rc::new(content) });
                            self.files.len() - 1
                        });
                        self.known.insert(path.clone(), index.clone());
                        return index.and_then(|k| self.outside_chain(k, &path));
                    }
                }
            }
        }
        if !e.files.iter().any(|n| is_step_name(n) || extension(n).is_none()) {
            return Err(format!("has its shape in {listed}, which is not a STEP file; export it as STEP"));
        }
        Err(format!(
            "has its shape in {listed}, which was not found; put it beside this file, or export the assembly \
                as one file"
        ))
    }

    fn outside_chain(&self, file: usize, path: &str) -> Result<usize, String> {
        if self.chain.contains(&file) {
            return Err(format!(
                "has its shape in {path}, which refers back to this file; export the assembly as one file"
            ));
        }
        if self.chain.len() >= MAX_CHAIN {
            return Err(format!(
                "has its shape in {path}, behind a chain of more than {MAX_CHAIN} files; export the assembly \
                    as one file"
            ));
        }
        Ok(file)
    }

    /// Returns a problem prefixed with the name of its file; problems of the first file are unchanged.
    fn named(&self, file: usize, problem: &Problem) -> Problem {
        match self.files[file].path.as_str() {
            "" => problem.clone(),
            path => Problem { entity: None, message: format!("{path}: {problem}"), ..problem.clone() },
        }
    }

    fn finish(mut self, name: &str) -> Result<Import, StepError> {
        let first = Rc::clone(&self.files[0].content);
        // A solid with mirrored and other instances is stored twice, as it is and mirrored. A solid without
        // instances is stored as it is.
        let mut used: BTreeMap<(usize, usize), [bool; 2]> = BTreeMap::new();
        for i in &self.instances {
            used.entry((i.file, i.solid)).or_default()[usize::from(i.motion.mirrored)] = true;
        }
        let (mut solids, mut files) = (Vec::new(), Vec::new());
        let mut place = BTreeMap::new();
        for (k, file) in self.files.iter().enumerate() {
            for (s, solid) in file.content.solids.iter().enumerate() {
                let [plain, image] = used.get(&(k, s)).copied().unwrap_or([true, false]);
                for (wanted, is_image) in [(plain, false), (image, true)] {
                    if wanted {
                        place.insert((k, s, is_image), solids.len());
                        solids.push(if is_image { mirrored(solid) } else { solid.clone() });
                        files.push((!file.path.is_empty()).then(|| file.path.clone()));
                    }
                }
            }
        }
        let of_all = |problems: fn(&Content) -> &[Problem]| -> Vec<Problem> {
            let all = self.files.iter().enumerate();
            all.flat_map(|(k, f)| problems(&f.content).iter().map(move |p| (k, p)))
                .map(|(k, p)| self.named(k, p))
                .collect()
        };
        let refused = of_all(|c| &c.refused);
        if solids.is_empty() {
            let name = name.to_owned();
            return Err(if !refused.is_empty() {
                StepError::AllRefused { name, problems: refused }
            } else if self.problems.is_empty() {
                StepError::NoSolids { name, found: first.found.clone() }
            } else {
                let problems = self.problems.iter().map(ToString::to_string).collect::<Vec<_>>();
                StepError::NoSolids { name, found: problems.join("; ") }
            });
        }
        let mut problems = of_all(|c| &c.problems);
        problems.extend(refused);
        if self.instances.is_empty() {
            problems.append(&mut self.problems);
            problems.retain(|p| p.severity == Severity::Error);
            return Err(StepError::NonePlaced { name: name.to_owned(), solids: solids.len(), problems });
        }
        problems.extend(of_all(|c| c.beside.as_slice()));
        problems.append(&mut self.problems);
        let pose = |m: &Motion| (m.pose, m.mirrored);
        Ok(Import {
            solids,
            files,
            instances: self
                .instances
                .into_iter()
                .filter_map(|i| {
                    let solid = *place.get(&(i.file, i.solid, i.motion.mirrored))?;
                    let (name, path, pose) = (i.name, i.path, i.motion.pose);
                    Some(SolidInstance { solid, name, path, pose, component: i.component })
                })
                .collect(),
            components: self
                .components
                .into_iter()
                .map(|c| {
                    let (pose, mirrored) = pose(&c.local);
                    ComponentSource { name: c.name, id: c.id, parent: c.parent, pose, mirrored }
                })
                .collect(),
            problems,
            schema: first.schema.clone(),
            file_faces: first.file_faces,
            file_edge_curves: first.file_edge_curves,
            file_entities: first.file_entities,
        })
    }
}

/// Returns names under which a referenced file may be a STEP file: its own name, or the name with the
/// extension of STEP files. Writers omit the extension, or name the file of the CAD program that was
/// exported.
fn step_names(name: &str) -> Vec<String> {
    if is_step_name(name) {
        return vec![name.to_owned()];
    }
    let stem = extension(name).map_or(name, |e| &name[..name.len() - e.len() - 1]);
    let mut out = Vec::new();
    for base in [name, stem] {
        for ending in ["stp", "step"] {
            let name = format!("{base}.{ending}");
            if !out.contains(&name) {
                out.push(name);
            }
        }
    }
    out
}

/// Returns the extension of a file name: up to eight letters and digits after its last point, with a
/// letter among them.
fn extension(name: &str) -> Option<&str> {
    let last = name.rsplit(['/', '\\']).next()?;
    let (_, ending) = last.rsplit_once('.')?;
    let is_ending = (1..=8).contains(&ending.len())
        && ending.bytes().all(|b| b.is_ascii_alphanumeric())
        && ending.bytes().any(|b| b.is_ascii_alphabetic());
    is_ending.then_some(ending)
}

/// Candidate paths of a referenced file from the folder of the first file: the path as written, relative
/// to the referring file `from`, and the plain file name in the folder of that file. References out of
/// the folder of the first file are not followed.
fn candidates(from: &str, name: &str) -> Vec<String> {
    let name = name.replace('\\', "/");
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let last = name.rsplit('/').next().unwrap_or_default().to_owned();
    let outside = name.starts_with('/')
        || name.contains(':')
        || name.split('/').any(|step| step == ".." || step.is_empty());
    let mut out = Vec::new();
    for step in [(!outside).then_some(name), Some(last)].into_iter().flatten() {
        let path = joined(folder, step.trim_start_matches("./"));
        if !path.is_empty() && !out.contains(&path) {
            out.push(path);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{candidates, step_names};

    #[test]
    fn names_without_the_ending_of_step_files_get_one() {
        assert_eq!(step_names("a.stp"), ["a.stp"]);
        assert_eq!(step_names("a"), ["a.stp", "a.step"]);
        assert_eq!(step_names("v1.2"), ["v1.2.stp", "v1.2.step"]);
        assert_eq!(step_names("a.CATPart"), ["a.CATPart.stp", "a.CATPart.step", "a.stp", "a.step"]);
    }

    #[test]
    fn references_stay_below_the_folder() {
        assert_eq!(candidates("", "a.stp"), ["a.stp"]);
        assert_eq!(candidates("", "./a.stp"), ["a.stp"]);
        assert_eq!(candidates("", "parts\\a.stp"), ["parts/a.stp", "a.stp"]);
        assert_eq!(candidates("sub/b.stp", "parts/a.stp"), ["sub/parts/a.stp", "sub/a.stp"]);
        assert_eq!(candidates("", "C:\\cad\\a.stp"), ["a.stp"]);
        assert_eq!(candidates("", "/etc/a.stp"), ["a.stp"]);
        assert_eq!(candidates("sub/b.stp", "../../a.stp"), ["sub/a.stp"]);
        assert_eq!(candidates("", ""), [""; 0]);
    }
}
