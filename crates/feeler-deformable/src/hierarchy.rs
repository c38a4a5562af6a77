//! Intrinsic contact search: lower bounds of the distances of pieces, trees of facets for the pieces of near
//! pairs only.
//!
//! # Source
//! DIST 3.3: equations (3.13) and (3.14), Algorithm 6.
//!
//! # Deviations
//! - The pairs of features are collected with a margin and stay valid until the two pieces have moved by it.
//!   The bound of (3.14) decides this as well.
//! - A pair is near if its distance is at most `ε_d` plus its displacement in the last step, so that fast
//!   bodies are noticed before they touch.
//! - A piece has one tree, which all its near pairs share. Its boxes are computed at most once in a step. The
//!   reference builds trees for each pair. [`TreeScope`] selects these, or one tree for all bodies, for
//!   comparison (DIST 4.6).
//! - The bound of an active pair is not computed again before its list of features is empty.

use crate::body::Body;
use crate::contact::{self, Contact, ContactSettings, MIN_SKIN_FRACTION};
use crate::error::DeformableError;
use crate::surface::Feature;
use crate::tree::{Tree, TreeScope};
use feeler_convex::{DistanceOutcome, DistanceRequest, PointSet, Start, Warm, distance};
use feeler_geom::{Aabb, P3};

/// Relative increase of displacements in the update of a bound, for rounding. A larger value makes bounds
/// decrease faster; a value below 1e-15 could lose the guarantee.
const DISPLACEMENT_MARGIN: f64 = 1e-12;
/// Relative decrease of computed distances and of their coordinates, for rounding. A larger value makes
/// bounds looser; a value below 1e-15 could lose the guarantee.
const DISTANCE_MARGIN: f64 = 1e-13;

/// Counts of the contact search since the start of a simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchCounts {
    /// Sum over all steps of the number of pairs of pieces.
    pub pair_steps: u64,
    /// Number of distances of convex hulls that were computed.
    pub distances: u64,
    /// Number of times that a pair became near, so that its features were searched with trees.
    pub trees_built: u64,
    /// Number of times that the features of a pair were collected from its trees, or those of all pairs from
    /// the tree of the scene.
    pub collections: u64,
    /// Number of pairs of features that were tested.
    pub feature_tests: u64,
    /// Sum over the levels of all trees that were built of the number of features that were sorted.
    pub sorted_features: u64,
    /// Number of boxes of features and of nodes of trees that were computed.
    pub box_updates: u64,
    /// Number of pairs of boxes that were tested.
    pub box_tests: u64,
    /// Number of signed distances from smooth shapes that were computed.
    pub signed_distances: u64,
}

/// Pair of pieces with the bound of its distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairStatus {
    /// Indices of the two bodies.
    pub bodies: [usize; 2],
    /// Indices of the pieces among the pieces of their bodies.
    pub pieces: [u32; 2],
    /// Lower bound d̃ of the distance of the skins of both pieces (mm); negative if the skins may overlap.
    pub bound: f64,
    /// Whether the pair has trees of facets.
    pub is_active: bool,
}

/// Piece of the surface of a body.
#[derive(Clone, Debug)]
struct Piece {
    body: usize,
    /// Index among the pieces of the body.
    index: u32,
    features: Vec<u32>,
    /// Nodes of the features.
    nodes: Vec<u32>,
    /// Positions of `nodes` in the last computation of a distance.
    hull: Vec<P3>,
    /// Largest displacement of a node in the last step (mm).
    moved: f64,
}

/// Tree of the features of a piece.
#[derive(Clone, Debug)]
struct PieceTree {
    tree: Tree,
    /// Number of the search in which the boxes were computed.
    search: u64,
    /// Number of near pairs that use the tree.
    users: u32,
}

/// Tree of the features of all pieces.
#[derive(Clone, Debug)]
struct SceneTree {
    tree: Tree,
    /// Body of the features of each node of the tree; `None` for several bodies.
    owners: Vec<Option<u32>>,
    /// Piece and index of each feature.
    items: Vec<[u32; 2]>,
    /// Index of the pair of two pieces, by the smaller piece and the larger one.
    pair_of: Vec<u32>,
}

/// Near features of two pieces.
#[derive(Clone, Debug)]
struct FeatureSearch {
    candidates: Vec<[u32; 2]>,
    /// Displacement for which `candidates` remains complete (mm).
    slack: f64,
}

#[derive(Clone, Debug)]
struct Pair {
    pieces: [usize; 2],
    /// Lower bound d̃ of the distance of the skins (mm).
    bound: f64,
    /// Sum of the largest displacements of both pieces in the last step (mm).
    moved: f64,
    warm: Option<Warm>,
    search: Option<Box<FeatureSearch>>,
}

/// Pieces of all bodies and pairs of pieces of different bodies.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hierarchy {
    /// Features of each body.
    pub(crate) features: Vec<Vec<Feature>>,
    pieces: Vec<Piece>,
    pairs: Vec<Pair>,
    /// Trees by piece or, with [`TreeScope::Pair`], two for each pair.
    trees: Vec<Option<PieceTree>>,
    scene: Option<Box<SceneTree>>,
    /// Number of searches; positions are the same within a search.
    searches: u64,
    pub(crate) counts: SearchCounts,
    stack: Vec<[u32; 2]>,
}

/// Indices of the trees of pair `k`.
fn tree_indices(scope: TreeScope, k: usize, pieces: [usize; 2]) -> [usize; 2] {
    if scope == TreeScope::Pair { [2 * k, 2 * k + 1] } else { pieces }
}

fn feature_bounds(feature: &Feature, positions: &[P3]) -> Aabb {
    Aabb::of_points(feature.nodes[..feature.count].iter().map(|&n| &positions[n as usize]))
}

impl Hierarchy {
    /// Adds the last of `bodies` with its features, which name their pieces. The bounds of new pairs are
    /// computed in the next update.
    pub(crate) fn add(&mut self, bodies: &[Body], features: Vec<Feature>) -> Result<(), DeformableError> {
        let body = bodies.len() - 1;
        let count = features.iter().map(|f| f.piece).max().map_or(0, |p| p as usize + 1);
        let first = self.pieces.len();
        for index in 0..u32::try_from(count).map_err(|_| DeformableError::TooLarge)? {
            self.pieces.push(Piece {
                body,
                index,
                features: Vec::new(),
                nodes: Vec::new(),
                hull: Vec::new(),
                moved: 0.0,
            });
        }
        for (k, feature) in features.iter().enumerate() {
            let piece = &mut self.pieces[first + feature.piece as usize];
            piece.features.push(u32::try_from(k).map_err(|_| DeformableError::TooLarge)?);
            piece.nodes.extend(&feature.nodes[..feature.count]);
        }
        for piece in &mut self.pieces[first..] {
            piece.nodes.sort_unstable();
            piece.nodes.dedup();
        }
        self.features.push(features);
        self.scene = None;
        for j in first..self.pieces.len() {
            for i in 0..first {
                let is_empty = self.pieces[i].nodes.is_empty() || self.pieces[j].nodes.is_empty();
                if !is_empty {
                    let bound = f64::NEG_INFINITY;
                    self.pairs.push(Pair { pieces: [i, j], bound, moved: 0.0, warm: None, search: None });
                }
            }
        }
        Ok(())
    }

    /// Discards the bounds and trees of all pairs of a body whose nodes were moved from outside.
    pub(crate) fn invalidate(&mut self, body: usize, scope: TreeScope) {
        for k in 0..self.pairs.len() {
            if self.pairs[k].pieces.iter().any(|&p| self.pieces[p].body == body) {
                self.pairs[k].bound = f64::NEG_INFINITY;
                self.deactivate(k, scope);
            }
        }
    }

    /// Computes the bounds of new pairs and the lists of features of near pairs.
    pub(crate) fn start(
        &mut self,
        bodies: &[Body],
        settings: &ContactSettings,
    ) -> Result<(), DeformableError> {
        self.searches += 1;
        for k in 0..self.pairs.len() {
            let [a, b] = self.pairs[k].pieces.map(|p| self.pieces[p].body);
            if !(bodies[a].is_fixed() && bodies[b].is_fixed()) {
                self.activate_if_near(k, bodies, settings)?;
            }
        }
        Ok(())
    }

    /// Updates the bounds of all pairs after a step by the displacements of their nodes, (3.14), and the
    /// lists of features of near pairs.
    pub(crate) fn update(
        &mut self,
        bodies: &[Body],
        settings: &ContactSettings,
    ) -> Result<(), DeformableError> {
        self.searches += 1;
        for piece in &mut self.pieces {
            let moved = &bodies[piece.body].nodes().moved;
            piece.moved = piece.nodes.iter().fold(0.0, |max, &n| moved[n as usize].max(max));
        }
        for pair in &mut self.pairs {
            let [a, b] = pair.pieces.map(|p| self.pieces[p].body);
            if bodies[a].is_fixed() && bodies[b].is_fixed() {
                continue;
            }
            self.counts.pair_steps += 1;
            let moved = pair.pieces.map(|p| self.pieces[p].moved);
            let moved = (moved[0] + moved[1]) * (1.0 + DISPLACEMENT_MARGIN);
            pair.bound -= moved;
            pair.moved = moved;
            if let Some(search) = &mut pair.search {
                search.slack -= moved;
                let limit = MIN_SKIN_FRACTION * (bodies[a].skin() + bodies[b].skin());
                if moved > limit && !search.candidates.is_empty() {
                    return Err(DeformableError::TooFast { pair: [a, b] });
                }
            }
        }
        for k in 0..self.pairs.len() {
            let [a, b] = self.pairs[k].pieces.map(|p| self.pieces[p].body);
            if bodies[a].is_fixed() && bodies[b].is_fixed() {
                continue;
            }
            match &self.pairs[k].search {
                Some(search) if search.slack < 0.0 => {
                    self.collect(k, bodies, settings);
                    self.deactivate_if_far(k, bodies, settings)?;
                }
                Some(_) => {}
                None => self.activate_if_near(k, bodies, settings)?,
            }
        }
        Ok(())
    }

    /// Computes the distance of a pair without trees unless its bound excludes contact, and builds trees if
    /// the distance does not exclude contact either.
    fn activate_if_near(
        &mut self,
        k: usize,
        bodies: &[Body],
        settings: &ContactSettings,
    ) -> Result<(), DeformableError> {
        if self.pairs[k].search.is_some() {
            return Ok(());
        }
        let near = settings.activation + self.pairs[k].moved;
        if self.pairs[k].bound <= near {
            self.compute_bound(k, bodies)?;
            if self.pairs[k].bound <= near {
                self.activate(k, bodies, settings);
            }
        }
        Ok(())
    }

    fn activate(&mut self, k: usize, bodies: &[Body], settings: &ContactSettings) {
        self.counts.trees_built += 1;
        let pieces = self.pairs[k].pieces;
        if settings.trees != TreeScope::Scene {
            let indices = tree_indices(settings.trees, k, pieces);
            for (index, p) in indices.into_iter().zip(pieces) {
                self.use_tree(index, p, bodies);
            }
        }
        let search = FeatureSearch { candidates: Vec::new(), slack: 0.0 };
        self.pairs[k].search = Some(Box::new(search));
        self.collect(k, bodies, settings);
    }

    /// Adds a user of tree `index`, the tree of piece `p`, which is built for its first user.
    fn use_tree(&mut self, index: usize, p: usize, bodies: &[Body]) {
        if self.trees.len() <= index {
            self.trees.resize_with(index + 1, || None);
        }
        let piece = &self.pieces[p];
        let (features, positions) = (&self.features[piece.body], &bodies[piece.body].nodes().positions);
        let slot = self.trees[index].get_or_insert_with(|| {
            let bounds = |i: u32| feature_bounds(&features[i as usize], positions);
            let tree = Tree::new(piece.features.iter().copied(), bounds);
            self.counts.sorted_features += tree.sorted();
            PieceTree { tree, search: 0, users: 0 }
        });
        slot.users += 1;
    }

    /// Drops the list of features of a pair, and its trees unless other pairs use them.
    fn deactivate(&mut self, k: usize, scope: TreeScope) {
        if self.pairs[k].search.take().is_none() || scope == TreeScope::Scene {
            return;
        }
        for index in tree_indices(scope, k, self.pairs[k].pieces) {
            let Some(slot) = self.trees.get_mut(index) else { continue };
            if let Some(tree) = slot {
                tree.users -= 1;
                if tree.users == 0 {
                    *slot = None;
                }
            }
        }
    }

    /// Builds the tree of the features of all pieces.
    #[expect(clippy::cast_possible_truncation, reason = "the numbers of bodies and features were checked")]
    fn build_scene(&mut self, bodies: &[Body]) {
        let Self { features, pieces, pairs, counts, .. } = self;
        let of_piece = |(p, piece): (usize, &Piece)| {
            piece.features.iter().map(|&f| [p as u32, f]).collect::<Vec<[u32; 2]>>()
        };
        let items: Vec<[u32; 2]> = pieces.iter().enumerate().flat_map(of_piece).collect();
        let bounds = |i: u32| {
            let [p, f] = items[i as usize];
            let body = pieces[p as usize].body;
            feature_bounds(&features[body][f as usize], &bodies[body].nodes().positions)
        };
        let tree = Tree::new(0..items.len() as u32, bounds);
        counts.sorted_features += tree.sorted();
        let owners = tree.owners(|i| pieces[items[i as usize][0] as usize].body as u32);
        let mut pair_of = vec![u32::MAX; pieces.len() * pieces.len()];
        for (k, pair) in pairs.iter().enumerate() {
            pair_of[pair.pieces[0] * pieces.len() + pair.pieces[1]] = k as u32;
        }
        self.scene = Some(Box::new(SceneTree { tree, owners, items, pair_of }));
    }

    /// Drops the trees of a pair without near features whose distance exceeds the activation distance.
    fn deactivate_if_far(
        &mut self,
        k: usize,
        bodies: &[Body],
        settings: &ContactSettings,
    ) -> Result<(), DeformableError> {
        let is_empty = self.pairs[k].search.as_ref().is_some_and(|s| s.candidates.is_empty());
        if is_empty && settings.activation < f64::INFINITY {
            self.compute_bound(k, bodies)?;
            if self.pairs[k].bound > settings.activation + self.pairs[k].moved {
                self.deactivate(k, settings.trees);
            }
        }
        Ok(())
    }

    /// Collects the pairs of features within the margin and the displacement of the last step.
    fn collect(&mut self, k: usize, bodies: &[Body], settings: &ContactSettings) {
        self.counts.collections += 1;
        if settings.trees == TreeScope::Scene {
            // The tree of the scene is discarded when a body is added.
            if self.scene.is_none() {
                self.build_scene(bodies);
            }
            return self.collect_scene(bodies, settings);
        }
        let Self { features, pieces, pairs, trees, searches, counts, stack, .. } = self;
        let pair = &mut pairs[k];
        let Some(search) = &mut pair.search else { return };
        let indices = tree_indices(settings.trees, k, pair.pieces);
        let [a, b] = pair.pieces.map(|p| pieces[p].body);
        for (index, body) in indices.into_iter().zip([a, b]) {
            let Some(slot) = &mut trees[index] else { continue };
            if slot.search != *searches {
                let positions = &bodies[body].nodes().positions;
                slot.tree.refit(|i| feature_bounds(&features[body][i as usize], positions));
                slot.search = *searches;
                counts.box_updates += slot.tree.num_boxes();
            }
        }
        search.candidates.clear();
        let slack = settings.margin + pair.moved;
        let reach = bodies[a].skin() + bodies[b].skin() + slack;
        let (features_a, features_b) = (&features[a], &features[b]);
        let [Some(tree_a), Some(tree_b)] = indices.map(|index| trees[index].as_ref()) else { return };
        counts.box_tests += tree_a.tree.near_pairs(&tree_b.tree, reach, stack, |i, j| {
            let (fa, fb) = (&features_a[i as usize], &features_b[j as usize]);
            if contact::coefficient(fa, fb, settings.edge_contacts).is_some() {
                search.candidates.push([i, j]);
            }
        });
        search.slack = slack;
    }

    /// Collects the features of all near pairs from the tree of the scene.
    fn collect_scene(&mut self, bodies: &[Body], settings: &ContactSettings) {
        let Self { features, pieces, pairs, scene, counts, stack, .. } = self;
        let Some(SceneTree { tree, owners, items, pair_of }) = scene.as_deref_mut() else { return };
        let mut reach = 0.0_f64;
        for pair in pairs.iter_mut() {
            let Some(search) = &mut pair.search else { continue };
            let [a, b] = pair.pieces.map(|p| &bodies[pieces[p].body]);
            search.candidates.clear();
            search.slack = settings.margin + pair.moved;
            reach = reach.max(a.skin() + b.skin() + search.slack);
        }
        tree.refit(|i| {
            let [p, f] = items[i as usize];
            let body = pieces[p as usize].body;
            feature_bounds(&features[body][f as usize], &bodies[body].nodes().positions)
        });
        counts.box_updates += tree.num_boxes();
        counts.box_tests += tree.near_pairs_within(owners, reach, stack, |i, j| {
            let ([p, i], [q, j]) = (items[i as usize], items[j as usize]);
            let ([p, i], [q, j]) = if p < q { ([p, i], [q, j]) } else { ([q, j], [p, i]) };
            let k = pair_of[p as usize * pieces.len() + q as usize];
            let Some(search) = pairs.get_mut(k as usize).and_then(|pair| pair.search.as_mut()) else {
                return;
            };
            let [fa, fb] = [(p, i), (q, j)].map(|(p, i)| &features[pieces[p as usize].body][i as usize]);
            if contact::coefficient(fa, fb, settings.edge_contacts).is_some() {
                search.candidates.push([i, j]);
            }
        });
    }

    /// Computes the distance of the hulls of a pair as its new bound.
    fn compute_bound(&mut self, k: usize, bodies: &[Body]) -> Result<(), DeformableError> {
        self.counts.distances += 1;
        let [i, j] = self.pairs[k].pieces;
        for p in [i, j] {
            let piece = &mut self.pieces[p];
            let positions = &bodies[piece.body].nodes().positions;
            piece.hull.clear();
            piece.hull.extend(piece.nodes.iter().map(|&n| positions[n as usize]));
        }
        let start = self.pairs[k].warm.map_or(Start::Cold, Start::Warm);
        let (a, b) = (&self.pieces[i], &self.pieces[j]);
        let (bound, warm) = hull_distance([&a.hull, &b.hull], start)?;
        let skins = bodies[a.body].skin() + bodies[b.body].skin();
        self.pairs[k].bound = bound - skins * (1.0 + DISTANCE_MARGIN);
        self.pairs[k].warm = Some(warm);
        Ok(())
    }

    /// Appends the contacts of all active pairs, ordered by bodies and features.
    pub(crate) fn contacts(
        &mut self,
        bodies: &[Body],
        settings: &ContactSettings,
        out: &mut Vec<Contact>,
    ) -> Result<(), DeformableError> {
        out.clear();
        for pair in &self.pairs {
            let Some(search) = &pair.search else { continue };
            let [a, b] = pair.pieces.map(|p| self.pieces[p].body);
            self.counts.feature_tests += search.candidates.len() as u64;
            #[expect(clippy::cast_possible_truncation, reason = "the number of bodies was checked")]
            let ids = [a as u32, b as u32];
            for &[i, j] in &search.candidates {
                let features = [&self.features[a][i as usize], &self.features[b][j as usize]];
                let key = [ids[0], ids[1], i, j];
                out.extend(contact::contact(settings, [&bodies[a], &bodies[b]], key, features)?);
            }
        }
        out.sort_unstable_by_key(|c| c.key);
        Ok(())
    }

    /// Status of all pairs.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = PairStatus> {
        self.pairs.iter().map(|pair| {
            let pieces = pair.pieces.map(|p| &self.pieces[p]);
            PairStatus {
                bodies: pieces.map(|p| p.body),
                pieces: pieces.map(|p| p.index),
                bound: pair.bound,
                is_active: pair.search.is_some(),
            }
        })
    }

    /// Distance of the convex hulls of two pieces minus the thicknesses of their skins (mm), computed from
    /// the current positions and not counted; `None` if the pair does not exist.
    pub(crate) fn exact_distance(&self, bodies: &[Body], pair: usize) -> Option<f64> {
        let pieces = self.pairs.get(pair)?.pieces.map(|p| &self.pieces[p]);
        let hulls = pieces.map(|piece| {
            let positions = &bodies[piece.body].nodes().positions;
            let points = piece.nodes.iter().map(|&n| positions.get(n as usize).copied());
            points.collect::<Option<Vec<P3>>>()
        });
        let [Some(a), Some(b)] = &hulls else { return None };
        let sets = [PointSet::new(a).ok()?, PointSet::new(b).ok()?];
        let result = distance(&sets[0], &sets[1], &DistanceRequest::default());
        let valid = result.outcome != DistanceOutcome::Invalid;
        valid.then(|| result.distance - bodies[pieces[0].body].skin() - bodies[pieces[1].body].skin())
    }
}

/// Lower bound of the distance of two convex hulls (mm), and the state from which the next search starts.
fn hull_distance(hulls: [&[P3]; 2], start: Start) -> Result<(f64, Warm), DeformableError> {
    let sets = [PointSet::new(hulls[0]), PointSet::new(hulls[1])];
    let [Ok(a), Ok(b)] = sets else { return Err(DeformableError::VelocityNotFinite) };
    let result = distance(&a, &b, &DistanceRequest { start, ..DistanceRequest::default() });
    if result.outcome == DistanceOutcome::Invalid {
        return Err(DeformableError::VelocityNotFinite);
    }
    let size = hulls[0][0].coords.norm() + hulls[1][0].coords.norm() + result.distance;
    Ok((result.lower_bound - DISTANCE_MARGIN * size, result.warm()))
}
