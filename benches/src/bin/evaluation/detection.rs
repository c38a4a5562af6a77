//! Contact detection at all poses of a scenario.

use feeler_benches::lines::Curve;
use feeler_benches::{Fallible, spread};
use feeler_runtime::{Contact, ContactPair, QueryOptions};
use feeler_tests::insertion::Insertion;
use std::ops::Range;
use std::time::Instant;

/// Headings of the stages.
pub(crate) const STAGES: [&str; 4] =
    ["traversal (ms)", "exact solves (ms)", "acceptance (ms)", "verdict (ms)"];

/// Threads that compute the queries of a motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Threading {
    /// The calling thread computes them one after the other.
    Sequence,
    /// So many threads share each query.
    Threads(usize),
}

impl Threading {
    pub(crate) fn label(self) -> String {
        match self {
            Self::Sequence => "exact, in sequence".to_owned(),
            Self::Threads(1) => "exact, 1 thread".to_owned(),
            Self::Threads(n) => format!("exact, {n} threads"),
        }
    }
}

/// Times and results of the queries at all poses, in order, by one pair of bodies.
pub(crate) struct Detection {
    pub threading: Threading,
    /// For each pose, the wall time (ms) of a query without and with the verdict.
    pub minima_ms: Vec<f64>,
    pub whole_ms: Vec<f64>,
    /// For each of [`STAGES`], the wall time (ms) at each pose of the queries with the verdict.
    pub stages_ms: [Vec<f64>; 4],
    pub contacts: Vec<usize>,
    /// For each pose, the smallest distance (mm), at most the reach.
    pub distances: Vec<f64>,
    /// Hash of the bits of all minima.
    pub hash: u64,
    /// Whether all repetitions, with and without the verdict, have given this hash.
    pub is_reproduced: bool,
}

impl Detection {
    /// Queries all poses `repeats` times; each time is the minimum over the repetitions.
    pub(crate) fn run(scene: &Insertion, threading: Threading, repeats: u32) -> Fallible<Self> {
        match threading {
            Threading::Sequence => Self::runs(scene, threading, repeats),
            Threading::Threads(n) => {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build();
                pool.map_err(|e| e.to_string())?.install(|| Self::runs(scene, threading, repeats))
            }
        }
    }

    fn runs(scene: &Insertion, threading: Threading, repeats: u32) -> Fallible<Self> {
        let n = scene.poses.len();
        let mut out = Self {
            threading,
            minima_ms: vec![f64::INFINITY; n],
            whole_ms: vec![f64::INFINITY; n],
            stages_ms: std::array::from_fn(|_| vec![f64::INFINITY; n]),
            contacts: Vec::new(),
            distances: Vec::new(),
            hash: 0,
            is_reproduced: true,
        };
        let mut hashes = Vec::new();
        for _ in 0..repeats.max(1) {
            for detect_interference in [true, false] {
                out.pass(scene, detect_interference)?;
                hashes.push(out.hash);
            }
        }
        out.is_reproduced = hashes.iter().all(|hash| *hash == out.hash);
        Ok(out)
    }

    /// Queries all poses once, with or without the verdict.
    fn pass(&mut self, scene: &Insertion, detect_interference: bool) -> Fallible<()> {
        let parallel = self.threading != Threading::Sequence;
        let options = QueryOptions { parallel, detect_interference, ..QueryOptions::within(scene.d_max()) };
        let mut pair = ContactPair::new(scene.a.0.clone(), scene.b.0.clone());
        (self.hash, self.contacts, self.distances) = (FNV, Vec::new(), Vec::new());
        for (i, pose) in scene.poses.iter().enumerate() {
            let clock = Instant::now();
            pair.query(&scene.a.1, pose, &options).map_err(|e| format!("pose {i}: {e}"))?;
            let ms = clock.elapsed().as_secs_f64() * 1e3;
            let all = if detect_interference { &mut self.whole_ms } else { &mut self.minima_ms };
            all[i] = all[i].min(ms);
            if detect_interference {
                let t = pair.phase_times();
                let times = [t.traversal, t.solves, t.filtering, t.interference];
                for (values, time) in self.stages_ms.iter_mut().zip(times) {
                    values[i] = values[i].min(time.as_secs_f64() * 1e3);
                }
            }
            self.contacts.push(pair.contacts().len());
            self.distances.push(pair.min_distance().unwrap_or(scene.d_max()));
            self.hash = pair.contacts().iter().fold(self.hash, folded);
        }
        Ok(())
    }

    /// Curve of times, contacts and smallest distances over the motion.
    pub(crate) fn curve(&self, label: String, ms: &[f64]) -> Curve {
        let contacts = self.contacts.iter().map(|n| *n as f64).collect();
        Curve { label, times: times(ms.len()), values: vec![ms.to_vec(), contacts, self.distances.clone()] }
    }

    /// Curve of the stages over the motion.
    pub(crate) fn stages(&self) -> Curve {
        Curve {
            label: self.threading.label(),
            times: times(self.whole_ms.len()),
            values: self.stages_ms.to_vec(),
        }
    }

    /// Row of the table: times of the whole motion and in place, and numbers of contacts.
    pub(crate) fn row(&self, what: &str, ms: &[f64], in_place: &Range<usize>) -> Vec<String> {
        let [median, high, worst] = spread(&mut ms.to_vec());
        let [placed, ..] = spread(&mut ms[in_place.clone()].to_vec());
        let mut contacts: Vec<f64> = self.contacts[in_place.clone()].iter().map(|n| *n as f64).collect();
        let [usual, _, most] = spread(&mut contacts);
        vec![
            format!("{}, {what}", self.threading.label()),
            format!("{median:.3}"),
            format!("{high:.3}"),
            format!("{worst:.3}"),
            format!("{placed:.3}"),
            format!("at most {}", self.contacts.iter().max().copied().unwrap_or(0)),
            format!("{usual}, at most {most}"),
        ]
    }
}

/// Sentence about the minima in the seated pose, which is that of the files.
pub(crate) fn seated(scene: &Insertion) -> Fallible<String> {
    let options = QueryOptions { detect_interference: false, ..QueryOptions::within(scene.d_max()) };
    let mut pair = ContactPair::new(scene.a.0.clone(), scene.b.0.clone());
    let (mut ms, mut contacts) = (0.0, 0);
    for offset in [1e-6, 0.0] {
        // Two poses, because a query at the same pose is not computed again.
        let pose = feeler_geom::Pose::translation(offset, 0.0, 0.0) * scene.b.1;
        let clock = Instant::now();
        contacts = pair.query(&scene.a.1, &pose, &options).map_err(|e| e.to_string())?.len();
        ms = clock.elapsed().as_secs_f64() * 1e3;
    }
    let distance = pair.min_distance().unwrap_or(f64::INFINITY);
    Ok(format!("Exact solids, seated: {contacts} minima in {ms:.3} ms, smallest distance {distance:.4} mm."))
}

/// Time (s) of each pose of a scenario at 60 poses a second.
pub(crate) fn times(poses: usize) -> Vec<f64> {
    (0..poses).map(|i| i as f64 / 60.0).collect()
}

/// Offset basis and prime of the FNV-1a hash.
pub(crate) const FNV: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

/// Adds the distance and the footpoints of a minimum to a hash.
pub(crate) fn folded(hash: u64, c: &Contact) -> u64 {
    let numbers = std::iter::once(&c.distance).chain(c.local_a.iter()).chain(c.local_b.iter());
    numbers.fold(hash, |hash, x| (hash ^ x.to_bits()).wrapping_mul(PRIME))
}

/// Comparison of the minima with those of brute force.
pub(crate) struct Comparison {
    pub compared: usize,
    pub differing: usize,
}

/// Largest difference of the distances of equal minima, relative to the size of the larger solid.
const ACCURACY: f64 = 1e-9;

/// Compares the minima at every pose whose index is a multiple of `stride` with those of brute force, which
/// solves all pairs of features: the same number, and the same distances to [`ACCURACY`].
pub(crate) fn compare_with_brute_force(scene: &Insertion, stride: usize) -> Fallible<Comparison> {
    let options = QueryOptions { detect_interference: false, ..QueryOptions::within(scene.d_max()) };
    let mut pairs = [(); 2].map(|()| ContactPair::new(scene.a.0.clone(), scene.b.0.clone()));
    let size = scene.a.0.size().max(scene.b.0.size());
    let mut out = Comparison { compared: 0, differing: 0 };
    for (i, pose) in scene.poses.iter().enumerate() {
        let mut found: [Vec<f64>; 2] = Default::default();
        let all = [options, options.brute_force()];
        for ((pair, options), found) in pairs.iter_mut().zip(all).zip(&mut found) {
            if options != all[0] && !i.is_multiple_of(stride) {
                continue;
            }
            pair.query(&scene.a.1, pose, &options).map_err(|e| format!("pose {i}: {e}"))?;
            found.extend(pair.contacts().iter().map(|c| c.distance));
            found.sort_by(f64::total_cmp);
        }
        if i.is_multiple_of(stride) {
            let [ours, reference] = &found;
            let near = |(a, b): (&f64, &f64)| (a - b).abs() <= ACCURACY * size;
            out.compared += 1;
            out.differing +=
                usize::from(ours.len() != reference.len() || !ours.iter().zip(reference).all(near));
        }
    }
    Ok(out)
}
