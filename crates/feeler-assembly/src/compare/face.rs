//! Geometric properties (facts) of faces, and the matching of faces between two versions.

use super::difference::{ComparisonTolerances, Difference, DifferenceKind, change, format_number};
use feeler_geom::mass::face_integrals;
use feeler_geom::trim::{TrimCells, gauss_legendre};
use feeler_geom::{Frame, P3, Surface, V3};
use feeler_hierarchy::{Face, Hierarchy};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Number of quadrature nodes along one trim piece of a face's border. A larger value is slower; with a
/// smaller one, lengths are less accurate than [`BORDER_ACCURACY`].
const QUADRATURE_NODES: usize = 8;

/// Relative accuracy of computed areas; differences up to ten times as large are ignored. Changes are
/// missed with a larger value; quadrature errors are reported as changes with a smaller one.
const AREA_ACCURACY: f64 = 1e-10;

/// Relative accuracy of computed lengths of borders. Two versions of a trim may be divided into
/// different pieces, for which the quadrature has different errors. Changes are missed with a larger
/// value; quadrature errors are reported as changes with a smaller one.
const BORDER_ACCURACY: f64 = 1e-7;

/// Largest distance between the centroids of the borders of two faces that count as one changed face,
/// relative to the solid's size. Unlike faces are paired with a larger value; changed faces are reported
/// as new and gone with a smaller one.
const MAX_PARTNER_DISTANCE: f64 = 0.25;

/// Largest ratio of the areas of two faces that count as one changed face. Unlike faces are paired with
/// a larger value; changed faces are reported as new and gone with a smaller one.
const MAX_PARTNER_AREA_RATIO: f64 = 4.0;

/// Maximum number of pairs of faces that are compared. Beyond it, faces without an equal partner are
/// reported as new and gone, not as changed.
const MAX_PAIRS: usize = 4_000_000;

/// Geometric properties of a face of the input, in the coordinates of its solid, by which versions are
/// compared. They do not depend on the parametrisation of the face.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FaceFacts {
    /// Entity number of the face in the input.
    pub entity: u64,
    /// Name of the type of the face's surface, such as `cylinder`.
    pub kind: String,
    /// Whether the outward normal is the natural normal of the surface.
    pub outward: bool,
    /// Sizes of the surface: the radius (mm) of a cylinder or a sphere, the half-angle (rad) of a cone,
    /// the major and minor radius (mm) of a torus; empty for a plane and a free-form surface.
    pub sizes: Vec<f64>,
    /// Position of the surface (mm): the point of its axis or plane that is nearest to the origin, its
    /// centre or its apex; `None` for a free-form surface.
    pub place: Option<[f64; 3]>,
    /// Direction of the surface's axis, or the outward normal of a plane; `None` without an axis.
    pub direction: Option<[f64; 3]>,
    /// Area of the face (mm²).
    pub area: f64,
    /// Length of the face's border (mm).
    pub border: f64,
    /// Centroid of the border (mm). For a face without a border it is `place`, or the origin if that is
    /// `None`.
    pub middle: [f64; 3],
    /// Supermaximal face that consists of this face and others: its index in the solid, its area (mm²), the
    /// length of its border (mm) and the centroid of its border (mm). `None` if this face is the whole
    /// supermaximal face.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole: Option<(usize, f64, f64, [f64; 3])>,
}

/// Identifies the supermaximal face that contains a face of the input, among those of one solid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum WholeId {
    /// The supermaximal face consists of a single face of the input, which has this index among the
    /// solid's faces of the input.
    Undivided(usize),
    /// The supermaximal face consists of several faces of the input, and has this index among the
    /// supermaximal faces of the solid.
    Divided(usize),
}

impl FaceFacts {
    /// Computes the geometric properties of each face of the input that a supermaximal face consists of.
    /// These faces are separate, because the supermaximal face of another version may consist of other
    /// faces.
    #[must_use]
    pub fn of(face: &Face) -> Vec<Self> {
        let source = |(entity, trim): &(u64, Option<TrimCells>)| {
            Self::of_part(face, *entity, trim.as_ref().unwrap_or(&face.trim))
        };
        face.sources.iter().map(source).collect()
    }

    fn of_part(face: &Face, entity: u64, trim: &TrimCells) -> Self {
        let (sizes, place, direction) = closed_form(&face.surface, face.outward);
        let reference = P3::origin();
        let sums = face_integrals(&face.surface, face.outward, trim, &|_| None, &reference, AREA_ACCURACY);
        let (border, middle) = border(&face.surface, trim);
        let middle = middle.or(place).unwrap_or_else(P3::origin);
        Self {
            entity,
            kind: face.surface.type_name().to_owned(),
            outward: face.outward,
            sizes,
            place: place.map(Into::into),
            direction: direction.map(Into::into),
            area: sums.area,
            border,
            middle: middle.into(),
            whole: None,
        }
    }

    /// Computes the geometric properties of all faces of the input that a solid consists of.
    #[must_use]
    pub fn of_solid(solid: &Hierarchy) -> Vec<Self> {
        let of_face = |(k, face): (usize, &Face)| {
            let mut parts = Self::of(face);
            if parts.len() > 1 {
                let whole = Self::of_part(face, 0, &face.trim);
                let whole = (k, whole.area, whole.border, whole.middle);
                parts.iter_mut().for_each(|p| p.whole = Some(whole));
            }
            parts
        };
        solid.faces.iter().enumerate().flat_map(of_face).collect()
    }

    /// Geometric properties of the supermaximal face that consists of this face, and of others if any.
    fn as_whole(&self) -> Self {
        let (area, border, middle) =
            self.whole.map_or((self.area, self.border, self.middle), |(_, a, b, m)| (a, b, m));
        Self { area, border, middle, ..self.clone() }
    }

    /// Returns the identity of the supermaximal face that contains this face. `i` is the index of this
    /// face among the solid's faces of the input.
    fn whole_id(&self, i: usize) -> WholeId {
        self.whole.map_or(WholeId::Undivided(i), |(k, ..)| WholeId::Divided(k))
    }

    fn middle(&self) -> P3 {
        self.middle.into()
    }

    /// Describes the differences between this face and the face `new` of the new version; empty if the
    /// faces are equal.
    fn changes(&self, new: &Self, tol: &ComparisonTolerances) -> Vec<String> {
        let mut out = Vec::new();
        if self.outward != new.outward {
            out.push("is turned inside out".to_owned());
        }
        for (k, (a, b)) in self.sizes.iter().zip(&new.sizes).enumerate() {
            let (name, unit) = size_name(&self.kind, k);
            let within = if unit == "rad" { tol.angle } else { tol.length };
            if (a - b).abs() > within {
                out.push(change(name, *a, *b, unit));
            }
        }
        if let (Some(a), Some(b)) = (self.place, new.place)
            && moved(&a, &b) > tol.length
        {
            out.push(format!("moved by {} ({:.3e} mm)", vector(&offset(&a, &b)), moved(&a, &b)));
        }
        if let (Some(a), Some(b)) = (self.direction, new.direction) {
            let turned = angle(&a, &b);
            if turned > tol.angle {
                out.push(format!("turned by {turned:.3e} rad"));
            }
        }
        // The accuracy of the quadrature bounds the tolerance from below.
        let same_area = (self.area - new.area).abs()
            <= (10.0 * AREA_ACCURACY).max(tol.relative) * self.area.abs().max(new.area.abs())
                + tol.length * self.border.max(new.border);
        if !same_area {
            out.push(change("area", self.area, new.area, "mm2"));
        }
        let longer = (self.border - new.border).abs();
        if longer > 10.0 * tol.length + BORDER_ACCURACY * self.border.max(new.border) {
            out.push(change("border", self.border, new.border, "mm"));
        }
        // A motion of the border's centroid is reported only if nothing else differs, because a moved surface
        // moves its border, too. For a free-form surface, which has no position of its own, it is the only
        // sign of a motion.
        if out.is_empty()
            && moved(&self.middle, &new.middle) > 10.0 * tol.length + BORDER_ACCURACY * self.border
        {
            out.push(format!("border moved by {}", vector(&offset(&self.middle, &new.middle))));
        }
        out
    }

    /// Describes the face by type, sizes and position.
    fn describe(&self) -> String {
        let sizes: Vec<String> = self.sizes.iter().map(|s| format_number(*s)).collect();
        let size = if sizes.is_empty() { String::new() } else { format!(" {}", sizes.join(" x ")) };
        format!("{}{size} about {}, area {}", self.kind, vector(&self.middle), format_number(self.area))
    }
}

fn size_name(kind: &str, k: usize) -> (&'static str, &'static str) {
    match (kind, k) {
        ("torus", 0) => ("major radius", "mm"),
        ("torus", _) => ("minor radius", "mm"),
        ("cone", _) => ("half-angle", "rad"),
        _ => ("radius", "mm"),
    }
}

fn offset(a: &[f64; 3], b: &[f64; 3]) -> [f64; 3] {
    std::array::from_fn(|k| b[k] - a[k])
}

fn moved(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    V3::from(offset(a, b)).norm()
}

fn angle(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    let (a, b) = (V3::from(*a), V3::from(*b));
    feeler_geom::math::atan2(a.cross(&b).norm(), a.dot(&b))
}

pub(crate) fn vector(v: &[f64; 3]) -> String {
    // Digits far below a micrometre are rounding.
    let one = |x: f64| format!("{}", (x * 1e6).round() / 1e6 + 0.0);
    format!("({}, {}, {})", one(v[0]), one(v[1]), one(v[2]))
}

/// Sizes, position and direction of a surface, as the members `sizes`, `place` and `direction` of
/// [`FaceFacts`]. For a surface without a closed form the list is empty and the others are `None`.
fn closed_form(surface: &Surface, outward: bool) -> (Vec<f64>, Option<P3>, Option<V3>) {
    // The sign of the direction of an axis is arbitrary.
    let axis = |z: &V3| if z[z.iamax()] < 0.0 { -z } else { *z };
    let foot = |f: &Frame| f.origin - f.z * f.origin.coords.dot(&f.z);
    match surface {
        Surface::Plane { frame } => {
            let n = if outward { frame.z } else { -frame.z };
            (vec![], Some(P3::from(n * frame.origin.coords.dot(&n))), Some(n))
        }
        Surface::Cylinder { frame, radius } => (vec![*radius], Some(foot(frame)), Some(axis(&frame.z))),
        Surface::Cone { frame, half_angle } => (vec![*half_angle], Some(frame.origin), Some(frame.z)),
        Surface::Sphere { frame, radius } => (vec![*radius], Some(frame.origin), None),
        Surface::Torus { frame, major, minor } => {
            (vec![*major, *minor], Some(frame.origin), Some(axis(&frame.z)))
        }
        Surface::Bezier(_) => (vec![], None, None),
    }
}

/// Length (mm) and centroid of the border of a face; `None` instead of the centroid for a face without a
/// border.
fn border(surface: &Surface, trim: &TrimCells) -> (f64, Option<P3>) {
    let rule = gauss_legendre(QUADRATURE_NODES);
    let (mut length, mut moment) = (0.0, V3::zeros());
    // The largest index marks cuts where a surface closes on itself.
    for piece in trim.pieces.iter().filter(|p| p.edge != u32::MAX) {
        for (t, weight) in &rule {
            let d = piece.derivative(*t);
            let (p, along_u, along_v) = surface.first_derivs(piece.eval(*t));
            let step = (along_u * d.x + along_v * d.y).norm() * weight;
            length += step;
            moment += p.coords * step;
        }
    }
    (length, (length > 0.0).then(|| P3::from(moment / length)))
}

/// Differences between the faces of two versions of a solid. `size` (mm) is that of the solid, and
/// `subject` names it in the differences.
#[must_use]
pub fn compare_faces(
    old: &[FaceFacts],
    new: &[FaceFacts],
    (subject, size): (&str, f64),
    tol: &ComparisonTolerances,
) -> Vec<Difference> {
    let (gone, added) = without_equals(old, new, tol);
    let (gone, added) = without_recut(old, new, (gone, added), tol);
    let (pairs, gone, added) = partners(old, new, (gone, added), size);
    let mut out = Vec::new();
    for (i, j) in pairs {
        let (a, b) = (&old[i], &new[j]);
        let entity = if a.entity == b.entity {
            format!("#{}", a.entity)
        } else {
            format!("#{}, now #{}", a.entity, b.entity)
        };
        let what = a.changes(b, tol).join(", ");
        out.push(Difference::new(DifferenceKind::Face, subject, format!("{} {entity}: {what}", a.kind)));
    }
    // Changes that define a face precede those that follow from them.
    out.sort_by_key(|d| {
        let follows = ["radius", "moved", "turned", "half-angle"].iter().all(|w| !d.what.contains(w));
        (follows, d.what.clone())
    });
    for i in gone {
        let what = format!("gone: {} #{}", old[i].describe(), old[i].entity);
        out.push(Difference::new(DifferenceKind::Face, subject, what));
    }
    for j in added {
        let what = format!("new: {} #{}", new[j].describe(), new[j].entity);
        out.push(Difference::new(DifferenceKind::Face, subject, what));
    }
    out
}

/// Returns the indices of the old faces without an equal new face, and the indices of the new faces
/// without an equal old face. Each face has at most one equal face.
fn without_equals(
    old: &[FaceFacts],
    new: &[FaceFacts],
    tol: &ComparisonTolerances,
) -> (Vec<usize>, Vec<usize>) {
    // Equal faces have equal areas up to a tolerance, so in the order of areas only few faces are
    // compared.
    let mut by_area: Vec<usize> = (0..new.len()).collect();
    by_area.sort_by(|&i, &j| new[i].area.total_cmp(&new[j].area));
    let mut taken = vec![false; new.len()];
    let mut gone = Vec::new();
    for (i, face) in old.iter().enumerate() {
        let slack = (10.0 * AREA_ACCURACY).max(tol.relative) * face.area.abs() * 2.0
            + 2.0 * tol.length * face.border
            + f64::MIN_POSITIVE;
        let first = by_area.partition_point(|&j| new[j].area < face.area - slack);
        let candidates = by_area[first..].iter().take_while(|&&j| new[j].area <= face.area + slack);
        // Of several equal faces, the one with the same entity number is preferred.
        let equal = candidates
            .copied()
            .filter(|&j| !taken[j] && new[j].kind == face.kind && face.changes(&new[j], tol).is_empty())
            .min_by_key(|&j| (new[j].entity != face.entity, j));
        match equal {
            Some(j) => taken[j] = true,
            None => gone.push(i),
        }
    }
    let added = (0..new.len()).filter(|&j| !taken[j]).collect();
    (gone, added)
}

/// Removes faces whose supermaximal face is equal in both versions from `gone` (indices of old faces)
/// and `added` (indices of new faces), and returns both lists. Faces on one surface that were only
/// merged or split are thus not reported as differences.
fn without_recut(
    old: &[FaceFacts],
    new: &[FaceFacts],
    (gone, added): (Vec<usize>, Vec<usize>),
    tol: &ComparisonTolerances,
) -> (Vec<usize>, Vec<usize>) {
    let wholes = |of: &[FaceFacts], which: &[usize]| -> BTreeMap<WholeId, FaceFacts> {
        which.iter().map(|i| (of[*i].whole_id(*i), of[*i].as_whole())).collect()
    };
    let (before, after) = (wholes(old, &gone), wholes(new, &added));
    let (mut same_old, mut same_new) = (BTreeSet::new(), BTreeSet::new());
    for (i, a) in &before {
        let equal = |(j, b): &(&WholeId, &FaceFacts)| {
            !same_new.contains(*j) && a.kind == b.kind && a.changes(b, tol).is_empty()
        };
        if let Some((j, _)) = after.iter().find(equal) {
            same_old.insert(*i);
            same_new.insert(*j);
        }
    }
    let rest = |of: &[FaceFacts], which: Vec<usize>, same: &BTreeSet<WholeId>| -> Vec<usize> {
        let differs = |i: &usize| !same.contains(&of[*i].whole_id(*i));
        which.into_iter().filter(differs).collect()
    };
    (rest(old, gone, &same_old), rest(new, added, &same_new))
}

/// Pairs each old face of `gone` with the new face of `added` that counts as the same face after a
/// change, best pairs first (by distance, ratio of areas and entity number). Returns the pairs of
/// indices, then the old and the new faces that remain. If there are more than [`MAX_PAIRS`]
/// combinations, no pairs are formed.
fn partners(
    old: &[FaceFacts],
    new: &[FaceFacts],
    (gone, added): (Vec<usize>, Vec<usize>),
    size: f64,
) -> (Vec<(usize, usize)>, Vec<usize>, Vec<usize>) {
    if gone.len().saturating_mul(added.len()) > MAX_PAIRS {
        return (vec![], gone, added);
    }
    let mut costs: Vec<(f64, usize, usize)> = Vec::new();
    for &i in &gone {
        for &j in &added {
            let (a, b) = (&old[i], &new[j]);
            let apart = (a.middle() - b.middle()).norm() / size.max(f64::MIN_POSITIVE);
            let areas = a.area.max(b.area) / a.area.min(b.area).max(f64::MIN_POSITIVE);
            if a.kind == b.kind
                && a.outward == b.outward
                && apart <= MAX_PARTNER_DISTANCE
                && areas <= MAX_PARTNER_AREA_RATIO
            {
                // The position is more reliable than the entity number, so the number only breaks ties.
                let number = if a.entity == b.entity { 0.0 } else { 1e-3 };
                costs.push((apart + 0.1 * (areas - 1.0) + number, i, j));
            }
        }
    }
    costs.sort_by(|x, y| x.0.total_cmp(&y.0).then((x.1, x.2).cmp(&(y.1, y.2))));
    let (mut used_old, mut used_new) = (vec![false; old.len()], vec![false; new.len()]);
    let mut pairs = Vec::new();
    for (_, i, j) in costs {
        if !used_old[i] && !used_new[j] {
            (used_old[i], used_new[j]) = (true, true);
            pairs.push((i, j));
        }
    }
    let rest = |all: Vec<usize>, used: &[bool]| all.into_iter().filter(|&k| !used[k]).collect::<Vec<_>>();
    let (gone, added) = (rest(gone, &used_old), rest(added, &used_new));
    (pairs, gone, added)
}
