//! Contact detection of the same motion with triangles.

use crate::detection::{Detection, times};
use feeler_benches::lines::Curve;
use feeler_benches::triangles::{Manifolds, parry_pose, shape};
use feeler_benches::{Fallible, first_body, spread};
use feeler_geom::Pose;
use feeler_import::{MeshOptions, prepare_mesh};
use feeler_runtime::{Body, ContactPair, QueryOptions, Status};
use feeler_tests::insertion::Insertion;
use feeler_view::mesh::{Mesh, mesh};
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// Numbers by which the clearance is divided for the chord errors.
const PARTS: [f64; 2] = [1.0, 4.0];

/// Results of a peer at some poses.
pub(crate) struct Peer {
    label: String,
    /// Largest distance (mm) of contacts.
    reach: f64,
    triangles: usize,
    /// Index, time (ms), number of contacts and smallest distance (mm, at most the reach) of each pose at
    /// which the polyhedra are apart.
    apart: Vec<(usize, f64, usize, f64)>,
    /// Number of poses at which the polyhedra interfere.
    interfering: usize,
    /// Time (ms), number of contacts and smallest distance (mm) in the seated pose. It is that of the files
    /// and has the clearance on all sides.
    seated: (f64, usize, Option<f64>),
}

/// Computes manifolds and polyhedral minima at every pose whose index is a multiple of `every`.
pub(crate) fn run(scene: &Insertion, every: usize) -> Fallible<Vec<Peer>> {
    let mut out = Vec::new();
    for part in PARTS {
        let chord = scene.scenario.clearance / part;
        let meshed = |body: &Arc<Body>| mesh(body.hierarchy(), chord).map_err(|e| e.to_string());
        let meshes = [meshed(&scene.a.0)?, meshed(&scene.b.0)?];
        out.push(minima(scene, &meshes, chord, every)?);
        out.push(manifolds(scene, meshes, chord, every)?);
    }
    Ok(out)
}

fn new_peer(scene: &Insertion, what: &str, meshes: &[Mesh; 2], chord: f64) -> Peer {
    Peer {
        label: format!("{what}, chord error {chord:.3} mm"),
        reach: scene.d_max(),
        triangles: meshes.iter().map(|m| m.triangles.len()).sum(),
        apart: Vec::new(),
        interfering: 0,
        seated: (0.0, 0, None),
    }
}

impl Peer {
    fn add(&mut self, pose: usize, ms: f64, contacts: usize, distance: Option<f64>) {
        match distance {
            Some(d) if d <= 0.0 => self.interfering += 1,
            _ => self.apart.push((pose, ms, contacts, distance.unwrap_or(self.reach))),
        }
    }

    /// Curve of times, contacts and smallest distances over the motion.
    pub(crate) fn curve(&self) -> Curve {
        let last = self.apart.last().map_or(0, |p| p.0);
        let all = times(last + 1);
        Curve {
            label: self.label.clone(),
            times: self.apart.iter().map(|p| all[p.0]).collect(),
            values: vec![
                self.apart.iter().map(|p| p.1).collect(),
                self.apart.iter().map(|p| p.2 as f64).collect(),
                self.apart.iter().map(|p| p.3).collect(),
            ],
        }
    }

    /// Row of the table of detection. The numbers of contacts are followed by the percentage of them that
    /// the exact solids have at the same poses.
    pub(crate) fn row(&self, scene: &Insertion, exact: &Detection, in_place: &Range<usize>) -> Vec<String> {
        let (whole, placed) = (0..scene.poses.len(), in_place.clone());
        let of = |range: &Range<usize>| {
            let rows: Vec<_> = self.apart.iter().filter(|p| range.contains(&p.0)).collect();
            let ms = spread(&mut rows.iter().map(|p| p.1).collect::<Vec<f64>>());
            let mut contacts: Vec<f64> = rows.iter().map(|p| p.2 as f64).collect();
            let ours: usize = rows.iter().map(|p| exact.contacts[p.0]).sum();
            let theirs: usize = rows.iter().map(|p| p.2).sum();
            let share = 100.0 * ours as f64 / theirs.max(1) as f64;
            (ms, spread(&mut contacts), share)
        };
        let ([median, high, worst], [_, _, most], _) = of(&whole);
        let ([placed_ms, ..], [usual, _, placed_most], share) = of(&placed);
        vec![
            self.label.clone(),
            format!("{median:.3}"),
            format!("{high:.3}"),
            format!("{worst:.3}"),
            format!("{placed_ms:.3}"),
            format!("at most {most}"),
            format!("{usual}, at most {placed_most}; exact {share:.1} %"),
        ]
    }

    /// Sentence about the triangles and the poses at which they interfere.
    pub(crate) fn sentence(&self) -> String {
        let (ms, contacts, distance) = self.seated;
        let seated = match distance {
            Some(d) if d > 0.0 => format!("{contacts} contacts in {ms:.3} ms, smallest distance {d:.4} mm"),
            Some(_) => "the polyhedra interfere".to_owned(),
            None => "no contacts".to_owned(),
        };
        format!(
            "{} ({} triangles in all): {} of {} poses interfere and are left out. Seated: {seated}.",
            self.label,
            self.triangles,
            self.interfering,
            self.interfering + self.apart.len()
        )
    }
}

fn manifolds(scene: &Insertion, meshes: [Mesh; 2], chord: f64, every: usize) -> Fallible<Peer> {
    let mut out = new_peer(scene, "triangles, parry", &meshes, chord);
    let [a, b] = meshes.map(shape);
    let (pair, mut manifolds) = ([a?, b?], Manifolds::default());
    for i in (0..scene.poses.len()).step_by(every) {
        let pose = parry_pose(&scene.a.1.inv_mul(&scene.poses[i]));
        let clock = Instant::now();
        let (contacts, distance) = manifolds.update(&pose, &pair, scene.d_max())?;
        out.add(i, clock.elapsed().as_secs_f64() * 1e3, contacts, distance);
    }
    let seated = parry_pose(&scene.a.1.inv_mul(&scene.b.1));
    for _ in 0..2 {
        let clock = Instant::now();
        let (contacts, distance) = manifolds.update(&seated, &pair, scene.d_max())?;
        out.seated = (clock.elapsed().as_secs_f64() * 1e3, contacts, distance);
    }
    Ok(out)
}

/// Minima of the polyhedra, by the same queries as those of the exact solids.
fn minima(scene: &Insertion, meshes: &[Mesh; 2], chord: f64, every: usize) -> Fallible<Peer> {
    let mut out = new_peer(scene, "triangles, polyhedral minima", meshes, chord);
    let body = |mesh: &Mesh| -> Fallible<Arc<Body>> {
        let corners = |t: &[u32; 3]| t.map(|k| mesh.welded[k as usize]);
        let triangles: Vec<[u32; 3]> =
            mesh.triangles.iter().map(corners).filter(|[a, b, c]| a != b && b != c && a != c).collect();
        let model = prepare_mesh("mesh", &mesh.points, &triangles, MeshOptions::default());
        Ok(first_body(&model.map_err(|e| e.to_string())?)?.0)
    };
    let mut pair = ContactPair::new(body(&meshes[0])?, body(&meshes[1])?);
    let options = QueryOptions { detect_interference: true, ..QueryOptions::within(scene.d_max()) };
    let fixed: &Pose = &scene.a.1;
    let mut measure = |pose: &Pose| -> Fallible<(f64, usize, Option<f64>)> {
        let clock = Instant::now();
        let contacts = pair.query(fixed, pose, &options).map_err(|e| e.to_string())?.len();
        let ms = clock.elapsed().as_secs_f64() * 1e3;
        let apart = pair.status() != Some(Status::Interfering);
        Ok((ms, contacts, if apart { pair.min_distance() } else { Some(0.0) }))
    };
    for i in (0..scene.poses.len()).step_by(every) {
        let (ms, contacts, distance) = measure(&scene.poses[i])?;
        out.add(i, ms, contacts, distance);
    }
    for offset in [1e-6, 0.0] {
        // Two poses, because a query at the same pose is not computed again.
        out.seated = measure(&(Pose::translation(offset, 0.0, 0.0) * scene.b.1))?;
    }
    Ok(out)
}
