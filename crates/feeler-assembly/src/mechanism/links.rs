//! Parts of the links of a mechanism.

use crate::assembly::AssemblyPart;
use crate::error::AssemblyError;
use feeler_geom::Pose;
use feeler_mechanism::Mechanism;
use feeler_runtime::Body;
use globset::Glob;
use std::sync::Arc;

/// Maximum number of names of parts that an error lists. Errors of large assemblies are long with a larger
/// value, and less helpful with a smaller one.
const MAX_LISTED: usize = 40;

/// Solid that moves with a link.
#[derive(Clone, Debug)]
pub struct MovingPart {
    /// Path of the part in its assembly.
    pub name: String,
    /// Index of the link in the mechanism.
    pub link: usize,
    /// Solid of the part.
    pub body: Arc<Body>,
    /// Pose of the solid in the frame of the link.
    pub pose: Pose,
}

impl MovingPart {
    /// Creates a part that moves with a link. Its pose in the frame of the link is that of the part in
    /// its model.
    #[must_use]
    pub fn new(part: AssemblyPart, link: usize) -> Self {
        Self { name: part.path, link, body: part.body, pose: part.pose }
    }
}

/// Assigns the parts of an assembly to links by patterns of their names or paths. Parts that match no pattern
/// are omitted. The assembly shows the mechanism with all joints at 0, so that the frames of all links are
/// that of the assembly.
///
/// # Errors
/// A link or a part does not exist, a part is in two links, or a pattern is not valid.
pub fn assign_links<'a>(
    parts: Vec<AssemblyPart>,
    mechanism: &Mechanism,
    links: impl IntoIterator<Item = (&'a str, &'a [String])>,
) -> Result<Vec<MovingPart>, AssemblyError> {
    let mut assigned: Vec<Option<usize>> = vec![None; parts.len()];
    for (link, patterns) in links {
        let k = mechanism.link(link)?;
        for pattern in patterns {
            let glob = Glob::new(pattern).map_err(|e| AssemblyError::Pattern {
                pattern: pattern.clone(),
                reason: format!("link '{link}': {}", e.kind()),
            })?;
            let glob = glob.compile_matcher();
            let mut is_found = false;
            for (part, assigned) in parts.iter().zip(&mut assigned) {
                let last = part.path.rsplit('/').next().unwrap_or_default();
                if !glob.is_match(&part.path) && !glob.is_match(last) {
                    continue;
                }
                is_found = true;
                if let Some(other) = assigned.filter(|other| *other != k) {
                    return Err(AssemblyError::PartInTwoLinks {
                        part: part.path.clone(),
                        first: mechanism.links[other].clone(),
                        second: link.to_owned(),
                    });
                }
                *assigned = Some(k);
            }
            if !is_found {
                let names: Vec<&str> = parts.iter().take(MAX_LISTED).map(|p| p.path.as_str()).collect();
                let more = if parts.len() > MAX_LISTED { ", …" } else { "" };
                return Err(AssemblyError::NoPart {
                    link: link.to_owned(),
                    pattern: pattern.clone(),
                    names: format!("{}{more}", names.join(", ")),
                });
            }
        }
    }
    let moving = parts.into_iter().zip(assigned);
    Ok(moving.filter_map(|(part, link)| link.map(|link| MovingPart::new(part, link))).collect())
}
