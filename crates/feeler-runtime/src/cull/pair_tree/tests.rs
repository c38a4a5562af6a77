use super::super::motion::Motion;
use super::*;
use crate::body::ids::NodePair;
use feeler_hierarchy::NodeId;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

/// Motion channels that bound the displacement of the intervals: exactly or from above.
const CHANNELS: usize = 3;

/// Number of leaves of a tree of intervals. Node `i` has the children `2 i + 1` and `2 i + 2`.
const LEAVES: u32 = 32;

/// Intervals on a line; those of B are shifted.
struct Intervals {
    a: Vec<[f64; 2]>,
    b: Vec<[f64; 2]>,
    shift: f64,
    /// Whether the leaves below a pair of nodes at depth 3 form a group that any of them resolves.
    grouped: bool,
    chosen: Vec<(u32, u32)>,
    out: Vec<NodePair>,
    tests: usize,
}

fn tree(rng: &mut SmallRng) -> Vec<[f64; 2]> {
    let n = 2 * LEAVES as usize - 1;
    let mut nodes = vec![[f64::INFINITY, f64::NEG_INFINITY]; n];
    for i in (0..n).rev() {
        nodes[i] = if i + 1 >= LEAVES as usize {
            let lo = f64::from(u32::try_from(i).expect("a few")) + rng.random_range(-3.0..3.0);
            [lo, lo + rng.random_range(0.1..2.0)]
        } else {
            let (l, r) = (nodes[2 * i + 1], nodes[2 * i + 2]);
            [l[0].min(r[0]), l[1].max(r[1])]
        };
    }
    nodes
}

fn is_leaf(i: u32) -> bool {
    i + 1 >= LEAVES
}

/// Ancestor at depth 3 of a node that is at least as deep.
fn group(mut i: u32) -> Option<u32> {
    while i > 14 {
        i = (i - 1) / 2;
    }
    (i > 6).then_some(i)
}

impl Intervals {
    fn gap(&self, (i, j): NodePair) -> f64 {
        let ([a, b], [c, d]) = (self.a[i.index()], self.b[j.index()].map(|x| x + self.shift));
        (c - b).max(a - d)
    }
}

impl Pairs for Intervals {
    type Note = Option<(u32, u32)>;

    fn note(&mut self, (i, j): NodePair) -> Self::Note {
        group(i.0).zip(group(j.0)).filter(|_| self.grouped)
    }

    fn group(&self, note: Self::Note) -> Option<u32> {
        note.map(|(i, j)| 64 * i + j)
    }

    fn resolved(&self, group: u32) -> bool {
        self.chosen.contains(&(group / 64, group % 64))
    }

    fn test(&mut self, pair: NodePair, note: Self::Note, _: &mut u8) -> Verdict {
        self.tests += 1;
        if let Some(margin) = self.prune(pair) {
            return Verdict::Culled(margin);
        }
        if !(is_leaf(pair.0.0) && is_leaf(pair.1.0)) {
            return Verdict::Open;
        }
        self.out.push(pair);
        self.chosen.extend(note);
        Verdict::Active
    }

    fn touch(&self, _: NodePair) -> u64 {
        0
    }

    fn keep(&mut self, pair: NodePair, note: Self::Note) -> bool {
        self.out.push(pair);
        self.chosen.extend(note);
        true
    }

    fn prune(&mut self, pair: NodePair) -> Option<Margin> {
        let gap = self.gap(pair);
        // Any channel is valid; successive tests use different ones.
        let channel = self.tests % CHANNELS;
        let channel = u8::try_from(channel).expect("a few");
        // Rotations equal displacements in this test.
        let motion = [
            Motion::of_displacement(gap),
            Motion::of_rotation(gap),
            Motion { displacement: gap, rotation: gap },
        ][self.tests / 2 % 3];
        (gap > 0.0).then_some(motion.by(channel))
    }

    fn children(&self, (i, j): NodePair) -> [NodePair; 2] {
        let opening = |i: NodeId| {
            let children = (!is_leaf(i.0)).then(|| [2 * i.0 + 1, 2 * i.0 + 2].map(NodeId));
            (i, children, -f64::from(i.0))
        };
        opened(opening(i), opening(j))
    }
}

/// After any motion, the traversal finds each pair of leaves that touch or, if pairs have groups,
/// another pair of its group, whose leaves are below the same two nodes at depth 3. It finds a pair that
/// does not touch only if the pair touched fewer than [`TEST_EVERY`] traversals ago.
#[test]
fn traversal_equals_brute_force() {
    for seed in 0..20 {
        let mut rng = SmallRng::seed_from_u64(seed);
        let (a, b) = (tree(&mut rng), tree(&mut rng));
        let (grouped, chosen, out) = (seed % 2 == 0, vec![], vec![]);
        let mut pairs = Intervals { a, b, shift: 0.0, grouped, chosen, out, tests: 0 };
        let mut tree = PairTree::default();
        let (mut moved, mut largest) = ([Motion::ZERO; CHANNELS], 0);
        let mut touched_at = std::collections::BTreeMap::new();
        for step in 0..600_u32 {
            let step_length = [0.01, 0.3, 5.0][rng.random_range(0..3)] * rng.random_range(-1.0..1.0_f64);
            // The shift returns to the start, so that the intervals touch repeatedly.
            let before = pairs.shift;
            pairs.shift = 0.98 * before + step_length;
            for moved in &mut moved {
                let more = [1.0, 1.0, 3.0][rng.random_range(0..3)];
                let moves = more * (pairs.shift - before).abs() + 1e-12;
                *moved = moved.plus(Motion { displacement: moves, rotation: moves });
            }
            if step % 200 == 199 {
                tree.clear();
            }
            pairs.chosen.clear();
            pairs.out.clear();
            tree.walk(&AccumulatedMotion::by_channels(&moved), &mut pairs);
            let once: std::collections::BTreeSet<NodePair> = pairs.out.iter().copied().collect();
            assert_eq!(once.len(), pairs.out.len(), "each pair is reached once, step {step}, seed {seed}");
            let leaves = || LEAVES - 1..2 * LEAVES - 1;
            for pair in leaves().flat_map(|i| leaves().map(move |j| (NodeId(i), NodeId(j)))) {
                let found = pairs.out.contains(&pair);
                let note = pairs.note(pair);
                if pairs.gap(pair) > 0.0 {
                    let touched = touched_at.get(&pair).is_some_and(|at| step - at < TEST_EVERY);
                    assert!(!found || touched, "{pair:?} does not touch at step {step}, seed {seed}");
                } else {
                    touched_at.insert(pair, step);
                    assert!(
                        found || note.is_some_and(|n| pairs.chosen.contains(&n)),
                        "{pair:?} is lost at step {step}, seed {seed}"
                    );
                }
            }
            largest = largest.max(tree.front.len());
        }
        let all = (LEAVES * LEAVES) as usize;
        assert!(largest <= all + all / 8 + 1, "{largest}");
        assert!(pairs.tests < 600 * all / 4, "{}", pairs.tests);
    }
}
