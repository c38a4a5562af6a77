//! Reader of gmsh's text formats MSH 2.2 and 4.1.

use crate::error::DeformableError;
use crate::mesh::Mesh;
use feeler_geom::P3;
use std::collections::BTreeMap;
use std::str::FromStr;

/// Element type of tetrahedra with four nodes in MSH files.
const TETRAHEDRON_TYPE: u32 = 4;
/// Element type of hexahedra with eight nodes in MSH files.
const HEXAHEDRON_TYPE: u32 = 5;
/// Element types of points, curves and surfaces, which a volume mesh contains for its boundary.
const BOUNDARY_TYPES: [u32; 12] = [1, 2, 3, 8, 9, 10, 15, 16, 20, 21, 26, 36];

/// Lines of a file with their numbers.
struct Lines<'a> {
    lines: std::str::Lines<'a>,
    number: usize,
}

impl<'a> Lines<'a> {
    /// Next line that is not blank; an error at the end of the file.
    fn next(&mut self) -> Result<&'a str, DeformableError> {
        self.next_or_end().ok_or_else(|| self.error("the file ends inside a section"))
    }

    fn next_or_end(&mut self) -> Option<&'a str> {
        loop {
            let line = self.lines.next()?.trim();
            self.number += 1;
            if !line.is_empty() {
                return Some(line);
            }
        }
    }

    fn error(&self, reason: impl Into<String>) -> DeformableError {
        DeformableError::MeshFile { line: self.number, reason: reason.into() }
    }

    /// Numbers of the next line; there must be at least `N`, and the others are ignored.
    fn numbers<T: FromStr + Copy + Default, const N: usize>(&mut self) -> Result<[T; N], DeformableError> {
        let line = self.next()?;
        let mut out = [T::default(); N];
        let mut fields = line.split_whitespace();
        for value in &mut out {
            let field = fields.next().ok_or_else(|| self.error(format!("{N} numbers are expected")))?;
            *value = field.parse().map_err(|_| self.error(format!("'{field}' is not a valid number")))?;
        }
        Ok(out)
    }

    /// All non-negative integers of the next line.
    fn integers(&mut self, out: &mut Vec<u64>) -> Result<(), DeformableError> {
        out.clear();
        for field in self.next()?.split_whitespace() {
            out.push(field.parse().map_err(|_| self.error(format!("'{field}' is not a valid number")))?);
        }
        Ok(())
    }

    /// Reads the line that ends a section.
    fn end(&mut self, end: &str) -> Result<(), DeformableError> {
        let line = self.next()?;
        if line == end { Ok(()) } else { Err(self.error(format!("'{end}' is expected, found '{line}'"))) }
    }
}

/// Contents of a file as far as they were read.
#[derive(Default)]
struct Contents {
    mesh: Mesh,
    /// Index of the node for each tag.
    nodes: BTreeMap<u64, u32>,
    has_elements: bool,
}

impl Mesh {
    /// Reads the tetrahedra with 4 nodes and the hexahedra with 8 nodes of a text file of gmsh, in the format
    /// MSH 2.2 or 4.1. Coordinates are taken as mm. Elements of points, curves and surfaces are skipped, and
    /// so are nodes that belong to no volume element; other volume elements are errors.
    ///
    /// # Errors
    /// The file has another format or is binary, a line is not valid (the error states its number), a tag of
    /// a node is unknown or occurs twice, or the file contains no volume elements.
    pub fn from_msh(text: &str) -> Result<Self, DeformableError> {
        let mut lines = Lines { lines: text.lines(), number: 0 };
        let mut contents = Contents::default();
        let mut version = None;
        while let Some(line) = lines.next_or_end() {
            match (line, version) {
                ("$MeshFormat", _) => version = Some(read_format(&mut lines)?),
                ("$Nodes" | "$Elements", None) => {
                    return Err(lines.error("the section '$MeshFormat' must come first"));
                }
                ("$Nodes", Some(4)) => read_nodes_4(&mut lines, &mut contents)?,
                ("$Nodes", Some(_)) => read_nodes_2(&mut lines, &mut contents)?,
                ("$Elements", Some(4)) => read_elements_4(&mut lines, &mut contents)?,
                ("$Elements", Some(_)) => read_elements_2(&mut lines, &mut contents)?,
                (section, _) if section.starts_with('$') => {
                    let end = format!("$End{}", &section[1..]);
                    while lines.next()? != end {}
                }
                _ => return Err(lines.error(format!("'{line}' is outside all sections"))),
            }
        }
        if !contents.has_elements
            || (contents.mesh.tetrahedra.is_empty() && contents.mesh.hexahedra.is_empty())
        {
            return Err(DeformableError::Empty);
        }
        Ok(without_unused_nodes(&contents.mesh))
    }
}

/// Reads the format; returns its major version.
fn read_format(lines: &mut Lines<'_>) -> Result<u32, DeformableError> {
    let line = lines.next()?;
    let mut fields = line.split_whitespace();
    let version = match fields.next() {
        Some("2.2") => 2,
        Some("4.1") => 4,
        other => {
            let other = other.unwrap_or_default();
            return Err(lines.error(format!("version '{other}' is not supported; save as MSH 2.2 or 4.1")));
        }
    };
    if fields.next() != Some("0") {
        return Err(lines.error("binary files are not supported; save the mesh as text"));
    }
    lines.end("$EndMeshFormat")?;
    Ok(version)
}

impl Contents {
    fn add_node(&mut self, lines: &Lines<'_>, tag: u64, at: [f64; 3]) -> Result<(), DeformableError> {
        if at.iter().any(|c| !c.is_finite()) {
            return Err(lines.error("a coordinate is not finite"));
        }
        let index = u32::try_from(self.mesh.nodes.len()).map_err(|_| DeformableError::TooLarge)?;
        if self.nodes.insert(tag, index).is_some() {
            return Err(lines.error(format!("node {tag} occurs twice")));
        }
        self.mesh.nodes.push(P3::from(at));
        Ok(())
    }

    fn add_element(&mut self, lines: &Lines<'_>, kind: u32, tags: &[u64]) -> Result<(), DeformableError> {
        match kind {
            TETRAHEDRON_TYPE => {
                let nodes = self.element_nodes(lines, tags)?;
                self.mesh.tetrahedra.push(nodes);
            }
            HEXAHEDRON_TYPE => {
                let nodes = self.element_nodes(lines, tags)?;
                self.mesh.hexahedra.push(nodes);
            }
            _ if BOUNDARY_TYPES.contains(&kind) => {}
            _ => {
                let reason = "is not supported; mesh with linear tetrahedra or hexahedra";
                return Err(lines.error(format!("element type {kind} {reason}")));
            }
        }
        Ok(())
    }

    fn element_nodes<const N: usize>(
        &self,
        lines: &Lines<'_>,
        tags: &[u64],
    ) -> Result<[u32; N], DeformableError> {
        let tags: &[u64; N] = tags
            .try_into()
            .map_err(|_| lines.error(format!("{N} nodes are expected, found {}", tags.len())))?;
        let mut out = [0; N];
        for (index, tag) in out.iter_mut().zip(tags) {
            *index = *self.nodes.get(tag).ok_or_else(|| lines.error(format!("node {tag} does not exist")))?;
        }
        Ok(out)
    }
}

fn read_nodes_2(lines: &mut Lines<'_>, contents: &mut Contents) -> Result<(), DeformableError> {
    let [count]: [u64; 1] = lines.numbers()?;
    for _ in 0..count {
        let line = lines.next()?;
        let mut fields = line.split_whitespace();
        let tag = fields.next().and_then(|f| f.parse().ok());
        let mut coordinate = || fields.next().and_then(|f| f.parse().ok());
        let at = [coordinate(), coordinate(), coordinate()];
        let (Some(tag), [Some(x), Some(y), Some(z)]) = (tag, at) else {
            return Err(lines.error("a node needs a tag and three coordinates"));
        };
        contents.add_node(lines, tag, [x, y, z])?;
    }
    lines.end("$EndNodes")
}

fn read_nodes_4(lines: &mut Lines<'_>, contents: &mut Contents) -> Result<(), DeformableError> {
    let [blocks, ..]: [u64; 4] = lines.numbers()?;
    let mut tags = Vec::new();
    for _ in 0..blocks {
        let [_, _, _, count]: [i64; 4] = lines.numbers()?;
        tags.clear();
        for _ in 0..count {
            let [tag]: [u64; 1] = lines.numbers()?;
            tags.push(tag);
        }
        for &tag in &tags {
            let at = lines.numbers()?;
            contents.add_node(lines, tag, at)?;
        }
    }
    lines.end("$EndNodes")
}

fn read_elements_2(lines: &mut Lines<'_>, contents: &mut Contents) -> Result<(), DeformableError> {
    let [count]: [u64; 1] = lines.numbers()?;
    let mut fields = Vec::new();
    for _ in 0..count {
        lines.integers(&mut fields)?;
        let &[_, kind, tag_count, ref rest @ ..] = fields.as_slice() else {
            return Err(lines.error("an element needs a number, a type and a number of tags"));
        };
        let nodes = usize::try_from(tag_count).ok().and_then(|n| rest.get(n..));
        let nodes = nodes.ok_or_else(|| lines.error("the element has fewer tags than it states"))?;
        contents.add_element(lines, u32::try_from(kind).unwrap_or(u32::MAX), nodes)?;
    }
    contents.has_elements = true;
    lines.end("$EndElements")
}

fn read_elements_4(lines: &mut Lines<'_>, contents: &mut Contents) -> Result<(), DeformableError> {
    let [blocks, ..]: [u64; 4] = lines.numbers()?;
    let mut fields = Vec::new();
    for _ in 0..blocks {
        let [_, _, kind, count]: [i64; 4] = lines.numbers()?;
        for _ in 0..count {
            lines.integers(&mut fields)?;
            contents.add_element(lines, u32::try_from(kind).unwrap_or(u32::MAX), &fields[1..])?;
        }
    }
    contents.has_elements = true;
    lines.end("$EndElements")
}

/// Removes the nodes that belong to no element; the order of the others does not change.
fn without_unused_nodes(mesh: &Mesh) -> Mesh {
    let mut used = vec![false; mesh.nodes.len()];
    for &node in mesh.tetrahedra.iter().flatten().chain(mesh.hexahedra.iter().flatten()) {
        used[node as usize] = true;
    }
    let mut next = 0;
    let mut indices = Vec::with_capacity(used.len());
    for &is_used in &used {
        indices.push(next);
        next += u32::from(is_used);
    }
    let kept = mesh.nodes.iter().zip(&used).filter(|n| *n.1).map(|n| *n.0);
    Mesh {
        nodes: kept.collect(),
        tetrahedra: mesh.tetrahedra.iter().map(|t| t.map(|n| indices[n as usize])).collect(),
        hexahedra: mesh.hexahedra.iter().map(|h| h.map(|n| indices[n as usize])).collect(),
    }
}
