//! Repairs of topological errors that have one plausible meaning, each with a remark.
//!
//! The errors are loops whose edges are listed in order but with wrong senses, dangling edges, faces
//! without area, edges that several pairs of faces share (a body that touches itself), and loops and
//! shells with the wrong orientation.

use std::f64::consts::TAU;

use feeler_geom::count::index;
use feeler_geom::{P3, Surface, SurfaceDerivs, V3, math};

use super::draft::{Draft, Edge, Face, Use, UseAt};
use super::loops::{self, Tolerances};
use super::{Report, domain};

/// Repairs loops whose consecutive edges do not share a vertex in the listed directions: removes
/// dangling edges, or derives the directions of the edges from their vertices. Returns the loops with
/// derived directions as pairs of indices (face, loop in the face), because their orientation is
/// unknown.
pub(super) fn reconnect_loops(draft: &mut Draft, report: &mut Report) -> Vec<(usize, usize)> {
    let mut reoriented = vec![];
    let mut degree = vec![0_usize; draft.vertices.len()];
    for e in &draft.edges {
        degree[e.vertices.0 as usize] += 1;
        degree[e.vertices.1 as usize] += 1;
    }
    for face in 0..draft.faces.len() {
        for ring in 0..draft.faces[face].loops.len() {
            let l = &draft.faces[face].loops[ring];
            if is_connected(draft, l) {
                continue;
            }
            let id = draft.faces[face].id;
            let leads_nowhere = |u: &Use| {
                let (a, b) = draft.ends(u);
                degree[a as usize] == 1 || degree[b as usize] == 1
            };
            let shorter: Vec<Use> = l.iter().filter(|u| !leads_nowhere(u)).cloned().collect();
            if !shorter.is_empty() && shorter.len() < l.len() && is_connected(draft, &shorter) {
                report.warn(id, format!("face #{id}: dangling edges were left out of a loop"));
                draft.faces[face].loops[ring] = shorter;
            } else if let Some(walk) = in_listed_order(draft, l) {
                report.note(
                    id,
                    format!("face #{id}: the senses of a loop's edges were taken from their vertices"),
                );
                draft.faces[face].loops[ring] = walk;
                reoriented.push((face, ring));
            }
        }
    }
    reoriented
}

fn is_connected(draft: &Draft, ring: &[Use]) -> bool {
    (0..ring.len()).all(|k| draft.ends(&ring[k]).1 == draft.ends(&ring[(k + 1) % ring.len()]).0)
}

/// Returns the uses of a loop in their listed order, with directions in which each edge starts at the
/// vertex where the previous one ends; `None` if no directions connect them.
fn in_listed_order(draft: &Draft, ring: &[Use]) -> Option<Vec<Use>> {
    [true, false].into_iter().find_map(|first| {
        let mut walk: Vec<Use> = Vec::with_capacity(ring.len());
        for u in ring {
            let mut u = u.clone();
            match walk.last() {
                None => u.forward = first,
                Some(last) => {
                    let at = draft.ends(last).1;
                    u.forward = draft.edges[u.edge as usize].vertices.0 == at;
                }
            }
            walk.push(u);
        }
        is_connected(draft, &walk).then_some(walk)
    })
}

/// Removes faces without area: those whose loops walk their edges to and fro, and those between two
/// edges that coincide within the gaps at the vertices of the face (or `uncertainty`, in mm).
pub(super) fn drop_flat_faces(draft: &mut Draft, uncertainty: f64, tol: &Tolerances, report: &mut Report) {
    drop_walks_to_and_fro(draft, report);
    let mut gone = vec![false; draft.faces.len()];
    for (face, f) in draft.faces.clone().iter().enumerate() {
        let [ring] = f.loops.as_slice() else { continue };
        let [a, b] = ring.as_slice() else { continue };
        if a.edge == b.edge || !f.vertex_loops.is_empty() {
            continue;
        }
        let within = tol.fit.singular_tol.max(sliver_width(draft, ring, uncertainty));
        let Some(same_way) = coincide(draft, a.edge, b.edge, within) else { continue };
        report.note(f.id, format!("face #{} has no area and was left out", f.id));
        gone[face] = true;
        // All uses of the second edge become uses of the first one.
        for u in draft.faces.iter_mut().flat_map(|f| &mut f.loops).flatten().filter(|u| u.edge == b.edge) {
            u.edge = a.edge;
            u.forward = u.forward == same_way;
        }
    }
    let mut keep = gone.iter().map(|g| !g);
    draft.faces.retain(|_| keep.next().unwrap_or(true));
    // The back of a sheet whose front was removed now walks its edges to and fro.
    drop_walks_to_and_fro(draft, report);
}

/// Maximum width of a face that counts as having no area, relative to the length of its shorter edge. A
/// larger value removes narrow faces of files that state a large uncertainty; with a smaller one,
/// slivers with crossing borders stay.
const SLIVER: f64 = 1e-3;

/// Width (mm) up to which a face between two edges is a sliver: the file's uncertainty or the gap at one
/// of the face's vertices, but at most [`SLIVER`] times the length of its shortest edge.
fn sliver_width(draft: &Draft, ring: &[Use], uncertainty: f64) -> f64 {
    let ends = |u: &Use| <[u32; 2]>::from(draft.edges[u.edge as usize].vertices);
    let gap = ring.iter().flat_map(ends).map(|v| draft.vertices[v as usize].gap).fold(uncertainty, f64::max);
    let length = |u: &Use| {
        let e = &draft.edges[u.edge as usize];
        e.curve.bounds(e.range.0, e.range.1).diagonal()
    };
    gap.min(SLIVER * ring.iter().map(length).fold(f64::INFINITY, f64::min))
}

/// Removes loops that walk all their edges to and fro, as in `a b b⁻¹ a⁻¹`, because such loops bound
/// nothing. Faces without another loop are removed as well, unless their surface closes on itself
/// without loops (a sphere, a torus, a dome between two poles).
fn drop_walks_to_and_fro(draft: &mut Draft, report: &mut Report) {
    let mut gone = vec![false; draft.faces.len()];
    for (face, gone) in gone.iter_mut().enumerate() {
        let f = &draft.faces[face];
        if f.loops.is_empty() || !f.vertex_loops.is_empty() || is_whole_without_loops(f) {
            continue;
        }
        let stay: Vec<bool> = f.loops.iter().map(|ring| !is_walked_to_and_fro(ring)).collect();
        if stay.iter().all(|s| *s) {
            continue;
        }
        let f = &mut draft.faces[face];
        let mut keep = stay.iter().copied();
        f.loops.retain(|_| keep.next().unwrap_or(true));
        let id = f.id;
        if f.loops.is_empty() {
            *gone = true;
            report.warn(
                id,
                format!("face #{id} was left out: its loop walks its edges to and fro and bounds no area"),
            );
        } else {
            report.warn(id, format!("face #{id}: a loop that walks its edges to and fro was left out"));
        }
    }
    let mut keep = gone.iter().map(|g| !g);
    draft.faces.retain(|_| keep.next().unwrap_or(true));
}

/// Whether adjacent uses of one edge in opposite directions cancel until no use of the loop is left.
fn is_walked_to_and_fro(ring: &[Use]) -> bool {
    let mut left: Vec<&Use> = Vec::with_capacity(ring.len());
    for u in ring {
        match left.last() {
            Some(last) if last.edge == u.edge && last.forward != u.forward => {
                left.pop();
            }
            _ => left.push(u),
        }
    }
    // The loop is cyclic, so the first and the last use can cancel, too.
    while let [first, .., last] = left.as_slice() {
        if first.edge != last.edge || first.forward == last.forward {
            break;
        }
        left = left[1..left.len() - 1].to_vec();
    }
    !ring.is_empty() && left.is_empty()
}

/// Whether the surface of a face closes on itself, so that the whole surface can be a face without
/// loops.
fn is_whole_without_loops(f: &Face) -> bool {
    match &f.surface {
        Surface::Plane { .. } | Surface::Cylinder { .. } | Surface::Cone { .. } => false,
        Surface::Sphere { .. } | Surface::Torus { .. } => true,
        Surface::Bezier(b) => f.singular.len() >= 2 || b.u_periodic && b.v_periodic,
    }
}

/// Returns whether the coincident edges `a` and `b` (indices) run in the same direction. Returns `None`
/// if they do not coincide: they have different vertices, or are farther than `tol` (mm) apart.
fn coincide(draft: &Draft, a: u32, b: u32, tol: f64) -> Option<bool> {
    let (e, f) = (&draft.edges[a as usize], &draft.edges[b as usize]);
    let same_way = e.vertices == f.vertices;
    if !same_way && e.vertices != (f.vertices.1, f.vertices.0) {
        return None;
    }
    let on = |x: &Edge, y: &Edge| {
        (1..8).all(|k| {
            let p = x.curve.point(x.range.0 + (x.range.1 - x.range.0) * f64::from(k) / 8.0);
            let t = y.curve.project(&p, y.range.0, y.range.1);
            (y.curve.point(t) - p).norm() <= tol
        })
    };
    if !(on(e, f) && on(f, e)) {
        return None;
    }
    if e.vertices.0 == e.vertices.1 {
        let t = f.curve.project(&e.curve.point(e.mid()), f.range.0, f.range.1);
        return Some(e.curve.derivs(e.mid()).d1.dot(&f.curve.derivs(t).d1) > 0.0);
    }
    Some(same_way)
}

/// Pairs the uses of coincident edges anew if an edge is not used exactly once in each direction: the
/// two faces on either side of each wedge of material get an edge of their own. This covers duplicate
/// edges and edges at which a body touches itself. Edges that only one face uses coincide if they are
/// within `sew` (mm).
pub(super) fn pair_up_edges(draft: &mut Draft, sew: f64, tol: &Tolerances, report: &mut Report) {
    let uses = draft.uses();
    let wrong = |at: &[UseAt]| match at {
        [a, b] => draft.at(*a).forward == draft.at(*b).forward,
        _ => true,
    };
    let mut open: Vec<u32> = (0..draft.edges.len()).filter(|e| wrong(&uses[*e])).map(index).collect();
    let key = |e: u32| {
        let (a, b) = draft.edges[e as usize].vertices;
        (a.min(b), a.max(b), e)
    };
    open.sort_by_key(|e| key(*e));
    let mut groups: Vec<Vec<(u32, bool)>> = vec![];
    let mut taken = vec![false; draft.edges.len()];
    for (i, e) in open.iter().enumerate() {
        if taken[*e as usize] {
            continue;
        }
        let mut group = vec![(*e, true)];
        let (a, b, _) = key(*e);
        for f in open[i + 1..].iter().take_while(|f| (key(**f).0, key(**f).1) == (a, b)) {
            let are_open = uses[*e as usize].len() == 1 && uses[*f as usize].len() == 1;
            let within = if are_open { sew.max(tol.fit.singular_tol) } else { tol.fit.singular_tol };
            if let Some(same_way) = coincide(draft, *e, *f, within).filter(|_| !taken[*f as usize]) {
                taken[*f as usize] = true;
                group.push((*f, same_way));
            }
        }
        groups.push(group);
    }
    for group in groups {
        // All uses, each with its sense along the first edge of the group.
        let walks: Vec<(UseAt, bool)> = group
            .iter()
            .flat_map(|(e, same_way)| {
                uses[*e as usize].iter().map(|at| (*at, draft.at(*at).forward == *same_way))
            })
            .collect();
        let forward = walks.iter().filter(|w| w.1).count();
        if walks.len() < 2 || 2 * forward != walks.len() {
            continue;
        }
        let Some(pairs) = wedges(draft, group[0].0, &walks) else { continue };
        let source = draft.edges[group[0].0 as usize].source;
        report.warn(source, format!("edge #{source}: its {} uses were paired up again", walks.len()));
        let template = draft.edges[group[0].0 as usize].clone();
        for (k, (back, forth)) in pairs.into_iter().enumerate() {
            let edge = if k == 0 {
                group[0].0
            } else {
                draft.edges.push(template.clone());
                index(draft.edges.len() - 1)
            };
            for (at, along) in [(back, false), (forth, true)] {
                let u = &mut draft.faces[at.face].loops[at.ring][at.pos];
                (u.edge, u.forward) = (edge, along);
            }
        }
    }
}

/// Returns pairs of a backward and a forward use that have material between their faces, of all uses
/// along `edge`. `walks` lists the uses, each with whether it is forward along the edge. Material begins
/// behind the face of a backward use and ends at that of a forward one, in the rotation about the edge.
/// Returns `None` if the faces around the edge do not alternate in this way.
fn wedges(draft: &Draft, edge: u32, walks: &[(UseAt, bool)]) -> Option<Vec<(UseAt, UseAt)>> {
    if let [a, b] = walks {
        return Some(vec![if a.1 { (b.0, a.0) } else { (a.0, b.0) }]);
    }
    let e = &draft.edges[edge as usize];
    let (p, t) = (e.curve.point(e.mid()), e.curve.tangent(e.mid())?);
    let x = t.cross(&if t.x.abs() < 0.6 { V3::x() } else { V3::y() }).normalize();
    let y = t.cross(&x);
    let mut around: Vec<(f64, f64, UseAt, bool)> = walks
        .iter()
        .map(|(at, along)| {
            let f = &draft.faces[at.face];
            let uv = f.surface.invert(&p, None, None);
            let n = if f.outward { f.surface.normal(uv) } else { -f.surface.normal(uv) };
            let into = if *along { n.cross(&t) } else { t.cross(&n) };
            // The rotation about the edge leads a forward face towards its normal.
            let bend = bend_towards(&f.surface.derivs(uv), &into, &n);
            let turn = if *along { bend } else { -bend };
            (math::atan2(into.dot(&y), into.dot(&x)), turn, *at, *along)
        })
        .collect();
    around.sort_by(|a, b| a.0.total_cmp(&b.0));
    // Faces that leave the edge in one direction are ordered by their curvatures. The order begins
    // after a gap.
    let before = |k: usize| (around[k].0 - around[(k + around.len() - 1) % around.len()].0).rem_euclid(TAU);
    let first = (0..around.len()).find(|k| before(*k) > SAME_ANGLE).unwrap_or(0);
    around.rotate_left(first);
    for run in around.chunk_by_mut(|a, b| (b.0 - a.0).rem_euclid(TAU) <= SAME_ANGLE) {
        run.sort_by(|a, b| a.1.total_cmp(&b.1));
    }
    let start = around.iter().position(|w| !w.3)?;
    around.rotate_left(start);
    around.chunks(2).map(|c| (!c[0].3 && c[1].3).then_some((c[0].2, c[1].2))).collect()
}

/// Difference of the directions (rad) in which two faces leave an edge, up to which they count as tangent,
/// so that their curvatures order them. With a larger value, faces at a small angle are ordered wrongly; with
/// a smaller one, tangent faces are, because of rounding.
const SAME_ANGLE: f64 = 1e-6;

/// Second derivative (1/mm) of a surface along its unit tangent `into`, in the direction of the unit normal
/// `n`.
fn bend_towards(d: &SurfaceDerivs, into: &V3, n: &V3) -> f64 {
    let (e, f, g) = (d.du.norm_squared(), d.du.dot(&d.dv), d.dv.norm_squared());
    let det = e * g - f * f;
    if det <= 0.0 {
        return 0.0;
    }
    let (p, q) = (into.dot(&d.du), into.dot(&d.dv));
    let (a, b) = ((g * p - f * q) / det, (e * q - f * p) / det);
    a * a * d.duu.dot(n) + 2.0 * a * b * d.duv.dot(n) + b * b * d.dvv.dot(n)
}

/// Reverses faces of a connected shell if every edge is used in both directions afterwards. Edges that
/// are used twice in one direction divide the shell into two parts, of which the one with fewer faces is
/// reversed: all loops of its faces, and the normals of faces whose loops would otherwise contradict
/// their surface.
pub(super) fn flip_faces(draft: &mut Draft, tol: &Tolerances, report: &mut Report) {
    let to_flip = minority(draft);
    if to_flip.is_empty() {
        return;
    }
    let mut trial = draft.clone();
    loops::fit_all(&mut trial, tol, &mut Report::default());
    for face in to_flip {
        let turn = |f: &mut Face| (0..f.loops.len()).for_each(|ring| flip(f, ring));
        let mut flipped = trial.faces[face].clone();
        turn(&mut flipped);
        let f = &mut draft.faces[face];
        turn(f);
        if !is_consistent(&trial, flipped, tol) {
            f.outward = !f.outward;
        }
        report.warn(
            f.id,
            format!("face #{} was reversed, because its part of the shell was opposite to the rest", f.id),
        );
    }
}

/// Returns the indices of the faces to reverse. Edges used twice in one direction divide each set of
/// connected faces into two parts; the faces of the part with fewer faces are returned. A set that
/// cannot be divided consistently, or whose parts have equally many faces, contributes none.
fn minority(draft: &Draft) -> Vec<usize> {
    let mut neighbours: Vec<Vec<(usize, bool)>> = vec![vec![]; draft.faces.len()];
    for at in &draft.uses() {
        let [a, b] = at.as_slice() else { continue };
        if a.face != b.face {
            let wrong = draft.at(*a).forward == draft.at(*b).forward;
            neighbours[a.face].push((b.face, wrong));
            neighbours[b.face].push((a.face, wrong));
        }
    }
    let mut part: Vec<Option<bool>> = vec![None; draft.faces.len()];
    let mut out = vec![];
    for start in 0..draft.faces.len() {
        if part[start].is_some() {
            continue;
        }
        part[start] = Some(false);
        let mut members = vec![start];
        let mut divided = true;
        let mut next = 0;
        while let Some(&face) = members.get(next) {
            next += 1;
            for &(other, wrong) in &neighbours[face] {
                let expected = part[face].map(|p| p != wrong);
                if part[other].is_none() {
                    part[other] = expected;
                    members.push(other);
                } else {
                    divided &= part[other] == expected;
                }
            }
        }
        let (a, b): (Vec<usize>, Vec<usize>) = members.iter().partition(|f| part[**f] == Some(true));
        if divided && a.len() != b.len() {
            out.extend(if a.len() < b.len() { a } else { b });
        }
    }
    out
}

/// Reverses single loops that contradict the other loops of their face or its surface. Candidates are
/// loops in which every edge is used in the same direction by another loop, and the loops in `unknown`
/// (indices of face and loop), whose orientation is not known.
pub(super) fn flip_loops(
    draft: &mut Draft,
    unknown: &[(usize, usize)],
    tol: &Tolerances,
    report: &mut Report,
) {
    let mut accused = accused_loops(draft);
    accused.extend(unknown);
    if accused.is_empty() {
        return;
    }
    // Two neighbours with opposite orientations are both candidates; the loops in the parameter plane
    // show which one is wrong.
    let mut trial = draft.clone();
    loops::fit_all(&mut trial, tol, &mut Report::default());
    for (face, ring) in accused {
        let f = &trial.faces[face];
        let mut flipped = f.clone();
        flip(&mut flipped, ring);
        if !is_consistent(&trial, f.clone(), tol) && is_consistent(&trial, flipped.clone(), tol) {
            if !unknown.contains(&(face, ring)) {
                report.warn(
                    f.id,
                    format!(
                        "face #{}: a loop was reversed, because it used edges in the same direction as the \
                         adjacent loops",
                        f.id
                    ),
                );
            }
            flip(&mut draft.faces[face], ring);
            trial.faces[face] = flipped;
        }
    }
}

/// Inverts single uses of closed edges, such as full circles, in loops of several edges. A wrong sense of
/// such a use does not disconnect its loop. Candidates are both uses of a closed edge that is used twice in
/// one direction; the one is inverted whose face becomes consistent.
pub(super) fn flip_closed_edges(draft: &mut Draft, tol: &Tolerances, report: &mut Report) {
    let is_closed = |e: usize| draft.edges[e].vertices.0 == draft.edges[e].vertices.1;
    let is_wrong = |[a, b]: &[UseAt; 2]| draft.at(*a).forward == draft.at(*b).forward;
    let uses = draft.uses();
    let pairs = uses.iter().enumerate().filter(|(e, _)| is_closed(*e));
    let pairs: Vec<[UseAt; 2]> =
        pairs.filter_map(|(_, at)| <[UseAt; 2]>::try_from(at.as_slice()).ok()).filter(is_wrong).collect();
    if pairs.is_empty() {
        return;
    }
    let mut trial = draft.clone();
    loops::fit_all(&mut trial, tol, &mut Report::default());
    for pair in pairs {
        let inverted = |at: &UseAt| {
            let mut f = trial.faces[at.face].clone();
            let u = &mut f.loops[at.ring][at.pos];
            u.forward = !u.forward;
            f
        };
        let is_repaired = |at: &&UseAt| {
            let f = &trial.faces[at.face];
            f.loops[at.ring].len() > 1
                && !is_consistent(&trial, f.clone(), tol)
                && is_consistent(&trial, inverted(at), tol)
        };
        let Some(at) = pair.iter().find(is_repaired) else { continue };
        let (id, source) = (trial.faces[at.face].id, trial.edges[trial.at(*at).edge as usize].source);
        trial.faces[at.face] = inverted(at);
        let u = &mut draft.faces[at.face].loops[at.ring][at.pos];
        u.forward = !u.forward;
        report
            .warn(id, format!("face #{id}: the sense of the closed edge #{source} in its loop was inverted"));
    }
}

/// Reverses loops if edges are still used twice in one direction: single reversed bounds, several on one
/// face, or bounds together with the faces behind them. Loops that share edges form two sets; the set
/// whose reversal leaves fewer faces with contradicting loops is reversed. If both leave equally many,
/// no loop is reversed. Loops on closed surfaces are not reversed, because both orientations are
/// consistent there and bound different domains.
///
/// `only_clean`: a set is reversed only if none of its faces has contradicting loops afterwards.
pub(super) fn orient_loops(draft: &mut Draft, only_clean: bool, tol: &Tolerances, report: &mut Report) {
    let uses = draft.uses();
    let pairs: Vec<[UseAt; 2]> =
        uses.iter().filter_map(|at| <[UseAt; 2]>::try_from(at.as_slice()).ok()).collect();
    let is_wrong = |[a, b]: &[UseAt; 2]| draft.at(*a).forward == draft.at(*b).forward;
    if !pairs.iter().any(is_wrong) {
        return;
    }
    let first: Vec<usize> =
        draft.faces.iter().scan(0, |n, f| Some(std::mem::replace(n, *n + f.loops.len()))).collect();
    let loop_of = |at: &UseAt| first[at.face] + at.ring;
    let faces: Vec<(usize, usize)> =
        draft.faces.iter().enumerate().flat_map(|(i, f)| (0..f.loops.len()).map(move |k| (i, k))).collect();
    let mut neighbours: Vec<Vec<(usize, bool)>> = vec![vec![]; faces.len()];
    for pair in &pairs {
        let (a, b) = (loop_of(&pair[0]), loop_of(&pair[1]));
        if a != b {
            neighbours[a].push((b, is_wrong(pair)));
            neighbours[b].push((a, is_wrong(pair)));
        }
    }
    let mut trial = draft.clone();
    loops::fit_all(&mut trial, tol, &mut Report::default());
    let mut side: Vec<Option<bool>> = vec![None; faces.len()];
    for start in 0..faces.len() {
        if side[start].is_some() {
            continue;
        }
        side[start] = Some(false);
        let (mut members, mut agrees, mut next) = (vec![start], true, 0);
        while let Some(&this) = members.get(next) {
            next += 1;
            for &(other, wrong) in &neighbours[this] {
                let expected = side[this].map(|s| s != wrong);
                if side[other].is_none() {
                    side[other] = expected;
                    members.push(other);
                } else {
                    agrees &= side[other] == expected;
                }
            }
        }
        let set = |turned: bool| -> Vec<usize> {
            members.iter().copied().filter(|l| side[*l] == Some(turned)).collect()
        };
        let sets = [set(true), set(false)];
        if !agrees || sets[0].is_empty() || sets[1].is_empty() {
            continue;
        }
        let mut around: Vec<usize> = members.iter().map(|l| faces[*l].0).collect();
        around.sort_unstable();
        around.dedup();
        let contradictions = |set: &[usize]| -> usize {
            let turned = |face: usize| {
                let mut f = trial.faces[face].clone();
                set.iter()
                    .map(|l| faces[*l])
                    .filter(|l| l.0 == face)
                    .for_each(|(_, ring)| flip(&mut f, ring));
                f
            };
            around.iter().filter(|face| !is_consistent(&trial, turned(**face), tol)).count()
        };
        let counts = [contradictions(&sets[0]), contradictions(&sets[1])];
        let best = &sets[usize::from(counts[1] < counts[0])];
        let is_closed = |l: &usize| {
            let f = &trial.faces[faces[*l].0];
            super::evidence::is_closed(&loops::host(&trial, f))
        };
        let is_clean = counts[0].min(counts[1]) == 0 || !only_clean;
        if counts[0] == counts[1] || !is_clean || best.iter().any(is_closed) {
            continue;
        }
        for l in best {
            let (face, ring) = faces[*l];
            flip(&mut trial.faces[face], ring);
            flip(&mut draft.faces[face], ring);
            let id = draft.faces[face].id;
            let message = format!(
                "face #{id}: a loop was reversed, because it used edges in the same direction as the \
                 adjacent loops"
            );
            report.warn(id, message);
        }
    }
}

/// Maximum thickness of a region of the domain that two crossing edges of one loop enclose, relative to
/// the longer one of these edges. Inexact edges that include a small angle may cross near their common
/// vertex, which is harmless. A larger value accepts real contradictions, a smaller one rejects inexact
/// loops.
const CROSSING: f64 = 1e-3;

/// Decides whether the loops of a face contradict each other only because adjacent edges cross slightly.
/// If so, returns the largest thickness (mm) of the regions between crossing edges. The thickness is the
/// sum of the distances of a point of the region from both edges. For every region it must be at most
/// `tol.gap`, and at most [`CROSSING`] times the length of the longer edge or the gap at the common corner
/// of the two edges: closing a corner moves the ends of both edges by up to that gap. In the latter case
/// the area of the face must fit its edges. Otherwise returns `None`.
pub(super) fn overlap_of_neighbours(
    draft: &Draft,
    face: usize,
    domain: &domain::FaceDomain,
    tol: &Tolerances,
) -> Option<f64> {
    if domain.reversed || domain.seam_outside.is_some() {
        return None;
    }
    let (index, face) = (face, &draft.faces[face]);
    let edges: Vec<&Edge> = face.loops.iter().flatten().map(|u| &draft.edges[u.edge as usize]).collect();
    let mut is_at_closed_corner = false;
    let overlap = domain.inconsistent.iter().try_fold(0.0, |worst: f64, region| {
        let p = face.surface.point(region.at);
        // Distance from the region, and position among all uses of the face, of the two nearest edges.
        let mut near = [(f64::INFINITY, 0); 2];
        for (k, e) in edges.iter().enumerate() {
            let off = (e.curve.point(e.curve.project(&p, e.range.0, e.range.1)) - p).norm();
            if off < near[0].0 {
                near = [(off, k), near[0]];
            } else if off < near[1].0 {
                near[1] = (off, k);
            }
        }
        let [(a, first), (b, second)] = near;
        let thickness = a + b;
        let length = |k: usize| edges[k].curve.bounds(edges[k].range.0, edges[k].range.1).diagonal();
        let is_thin = thickness <= CROSSING * length(first).max(length(second));
        let is_closed = !is_thin && thickness <= corner_gap(draft, face, [first, second], &p);
        is_at_closed_corner |= is_closed;
        let is_allowed = region.thickness.is_finite() && thickness <= tol.gap && (is_thin || is_closed);
        is_allowed.then_some(worst.max(thickness))
    })?;
    let fits = || super::evidence::vector_area(draft, (index, face), domain, tol).is_none();
    (!is_at_closed_corner || fits()).then_some(overlap)
}

/// Gap (mm) in space between the ends of two edges of a face at their common corner, given by their
/// positions among all uses of the face; the gap at the corner nearest to `p` if they have several common
/// corners, and 0 if they are not adjacent in a loop.
fn corner_gap(draft: &Draft, face: &Face, uses: [usize; 2], p: &P3) -> f64 {
    let end = |u: &Use, is_last: bool| {
        let e = &draft.edges[u.edge as usize];
        e.curve.point(if u.forward == is_last { e.range.1 } else { e.range.0 })
    };
    let mut first = 0;
    // Distance from `p`, and gap, of the nearest common corner.
    let mut nearest = (f64::INFINITY, 0.0);
    for ring in &face.loops {
        let adjacent = |(k, l): (usize, usize)| uses.contains(&(first + k)) && uses.contains(&(first + l));
        let corners = (0..ring.len()).map(|k| (k, (k + 1) % ring.len())).filter(|c| c.0 != c.1);
        for (k, l) in corners.filter(|c| adjacent(*c)) {
            let (a, b) = (end(&ring[k], true), end(&ring[l], false));
            let off = (a - p).norm().min((b - p).norm());
            if off < nearest.0 {
                nearest = (off, (a - b).norm());
            }
        }
        first += ring.len();
    }
    nearest.1
}

/// Returns whether a face whose loops contradict each other is consistent with the opposite outward
/// normal.
pub(super) fn is_better_reversed(draft: &Draft, face: usize, tol: &Tolerances) -> bool {
    let mut f = draft.faces[face].clone();
    f.outward = !f.outward;
    is_consistent(draft, f, tol)
}

/// Returns the entity ids of faces that continue `face`, whose loops contradict each other, such that
/// the loops of all these faces together are consistent; empty if no such faces exist. The faces share
/// an edge with `face`, lie on its surface and have the same outward side. The typical case is a loop
/// that runs around a corner the wrong way where its neighbour reaches over their common edge.
pub(super) fn neighbours_that_resolve(draft: &Draft, face: usize, tol: &Tolerances) -> Vec<u64> {
    let f = &draft.faces[face];
    // The two sides of a sheet have one id, and faces are joined by their ids.
    if draft.faces.iter().filter(|other| other.id == f.id).count() > 1 {
        return Vec::new();
    }
    let shares = |other: &Face| {
        f.loops
            .iter()
            .flatten()
            .any(|u| other.loops.iter().flatten().any(|v| u.edge == v.edge && u.forward != v.forward))
    };
    let beside: Vec<usize> = (0..draft.faces.len())
        .filter(|j| *j != face && draft.faces[*j].id != f.id && draft.faces[*j].shell == f.shell)
        .filter(|j| shares(&draft.faces[*j]) && is_on_surface_of(draft, f, &draft.faces[*j], tol))
        .collect();
    let resolves = |set: &[usize]| {
        let mut trial = draft.clone();
        set.iter().for_each(|j| join(&mut trial, face, *j));
        trial.faces[face].loops.iter_mut().flatten().for_each(|u| u.pcurve = None);
        let mut report = Report::default();
        loops::fit_all(&mut trial, tol, &mut report);
        report.problems.is_empty() && is_consistent(&trial, trial.faces[face].clone(), tol)
    };
    let ids = |set: &[usize]| set.iter().map(|j| draft.faces[*j].id).collect();
    match beside.iter().find(|j| resolves(&[**j])) {
        Some(j) => ids(&[*j]),
        None if beside.len() > 1 && resolves(&beside) => ids(&beside),
        None => Vec::new(),
    }
}

/// Whether the face `other` continues `f`: both surfaces are of the same type, contain the edges of
/// `other`, and have the same outward side there.
fn is_on_surface_of(draft: &Draft, f: &Face, other: &Face, tol: &Tolerances) -> bool {
    let within = tol.gap.min(SAME_SURFACE * draft.size);
    let agrees = |u: &Use| {
        let e = &draft.edges[u.edge as usize];
        let p = e.curve.point(e.mid());
        let [own, its] = [f, other].map(|f| {
            let uv = loops::host(draft, f).invert_global(&p);
            let n = f.surface.normal(uv);
            (f.surface.point(uv), if f.outward { n } else { -n })
        });
        (own.0 - p).norm() <= within && (its.0 - p).norm() <= within && own.1.dot(&its.1) > 1.0 - SAME_SURFACE
    };
    let is_same_kind = std::mem::discriminant(&f.surface) == std::mem::discriminant(&other.surface);
    is_same_kind && other.loops.iter().flatten().all(agrees)
}

/// Maximum distance, relative to the solid's size, between the edges of a face and the surface of
/// another face that it continues. It also bounds the difference of their normals (1 − cosine). A larger
/// value joins faces that are separated by a fine step; with a smaller one inexact files are not
/// repaired.
const SAME_SURFACE: f64 = 1e-6;

/// Joins the pairs of faces in `joined` (entity ids): the second face becomes part of the first one and
/// is removed from the draft.
pub(super) fn join_faces(draft: &mut Draft, joined: &[(u64, u64)], report: &mut Report) {
    for (into, other) in joined {
        let at = |id: u64| draft.faces.iter().position(|f| f.id == id);
        if let (Some(i), Some(j)) = (at(*into), at(*other)) {
            join(draft, i, j);
            draft.faces[i].joined.push(*other);
            draft.faces.remove(j);
            report.warn(
                *into,
                format!(
                    "the loops of face #{into} contradict each other; together with face #{other}, which \
                    continues it, they do not: both are read as one face"
                ),
            );
        }
    }
}

/// Moves the loops of face `j` to face `i` (indices). Edges that both faces use are removed, and the
/// loops are connected across them. Face `j` has no loops afterwards.
fn join(draft: &mut Draft, i: usize, j: usize) {
    let rings: Vec<Vec<Use>> =
        [i, j].iter().flat_map(|k| std::mem::take(&mut draft.faces[*k].loops)).collect();
    let all: Vec<(usize, usize)> =
        rings.iter().enumerate().flat_map(|(r, ring)| (0..ring.len()).map(move |k| (r, k))).collect();
    let of = |(r, k): (usize, usize)| &rings[r][k];
    let twin = |at: (usize, usize)| {
        let u = of(at);
        let is_twin =
            |o: &&(usize, usize)| o.0 != at.0 && of(**o).edge == u.edge && of(**o).forward != u.forward;
        all.iter().find(is_twin).copied()
    };
    let next = |(r, k): (usize, usize)| (r, (k + 1) % rings[r].len());
    let mut seen = std::collections::BTreeSet::new();
    let mut out = Vec::new();
    for start in &all {
        if twin(*start).is_some() || seen.contains(start) {
            continue;
        }
        let (mut ring, mut at) = (Vec::new(), *start);
        while seen.insert(at) {
            ring.push(of(at).clone());
            at = next(at);
            // At a common edge, the new loop continues along the other face.
            for _ in 0..all.len() {
                match twin(at) {
                    Some(other) => at = next(other),
                    None => break,
                }
            }
        }
        out.push(ring);
    }
    draft.faces[i].loops = out;
}

/// Returns the loops in which every edge is used in the same direction by another loop, as pairs of
/// indices (face, loop in the face).
fn accused_loops(draft: &Draft) -> Vec<(usize, usize)> {
    let uses = draft.uses();
    let mut out = vec![];
    for (face, f) in draft.faces.iter().enumerate() {
        for (ring, l) in f.loops.iter().enumerate() {
            let wrong = l.iter().all(|u| {
                let [a, b] = uses[u.edge as usize].as_slice() else { return false };
                (a.face, a.ring) != (b.face, b.ring) && draft.at(*a).forward == draft.at(*b).forward
            });
            if wrong {
                out.push((face, ring));
            }
        }
    }
    out
}

fn flip(face: &mut Face, ring: usize) {
    let l = &mut face.loops[ring];
    l.reverse();
    for u in l.iter_mut() {
        u.forward = !u.forward;
    }
}

fn is_consistent(draft: &Draft, mut face: Face, tol: &Tolerances) -> bool {
    let mut report = Report::default();
    loops::assemble_face(&draft.edges, &mut face, draft.size, tol, &mut report);
    report.problems.is_empty() && domain::domain(&face, &loops::host(draft, &face)).is_consistent()
}
