//! Intrinsic contact search: lower bounds of the distances of pieces, trees of facets for near pairs only.
//!
//! # Source
//! DIST 3.3: equations (3.13) and (3.14), Algorithm 6.
//!
//! # Deviations
//! - The pairs of features are collected with a margin and stay valid until the two pieces have moved by it.
//!   The bound of (3.14) decides this as well.
//! - A pair is near if its distance is at most `ε_d` plus its displacement in the last step, so that fast
//!   bodies are noticed before they touch.
//! - The bound of an active pair is not computed again before its list of features is empty.

use crate::body::Body;
use crate::contact::{self, Contact, ContactSettings, MIN_SKIN_FRACTION};
use crate::error::DeformableError;
use crate::surface::Feature;
use crate::tree::Tree;
use feeler_convex::{DistanceOutcome, DistanceRequest, PointSet, Start, Warm, distance};
use feeler_geom::P3;

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
    /// Number of pairs for which trees were built.
    pub trees_built: u64,
    /// Number of times that the features of a pair were collected from its trees.
    pub collections: u64,
    /// Number of pairs of features that were tested.
    pub feature_tests: u64,
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

/// Trees of the features of two pieces and the list of near features.
#[derive(Clone, Debug)]
struct FeatureSearch {
    trees: [Tree; 2],
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
    pub(crate) counts: SearchCounts,
    stack: Vec<[u32; 2]>,
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
    pub(crate) fn invalidate(&mut self, body: usize) {
        for pair in &mut self.pairs {
            if pair.pieces.iter().any(|&p| self.pieces[p].body == body) {
                pair.bound = f64::NEG_INFINITY;
                pair.search = None;
            }
        }
    }

    /// Computes the bounds of new pairs and the lists of features of near pairs.
    pub(crate) fn start(
        &mut self,
        bodies: &[Body],
        settings: &ContactSettings,
    ) -> Result<(), DeformableError> {
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
        for piece in &mut self.pieces {
            let moved = &bodies[piece.body].nodes().moved;
            piece.moved = piece.nodes.iter().fold(0.0, |max, &n| moved[n as usize].max(max));
        }
        for k in 0..self.pairs.len() {
            let pieces = self.pairs[k].pieces;
            let [a, b] = pieces.map(|p| self.pieces[p].body);
            if bodies[a].is_fixed() && bodies[b].is_fixed() {
                continue;
            }
            self.counts.pair_steps += 1;
            let moved = pieces.map(|p| self.pieces[p].moved);
            let moved = (moved[0] + moved[1]) * (1.0 + DISPLACEMENT_MARGIN);
            let pair = &mut self.pairs[k];
            pair.bound -= moved;
            pair.moved = moved;
            if let Some(search) = &mut pair.search {
                search.slack -= moved;
                let limit = MIN_SKIN_FRACTION * (bodies[a].skin() + bodies[b].skin());
                if moved > limit && !search.candidates.is_empty() {
                    return Err(DeformableError::TooFast { pair: [a, b] });
                }
                if search.slack < 0.0 {
                    self.collect(k, bodies, settings);
                    self.deactivate_if_far(k, bodies, settings)?;
                }
            } else {
                self.activate_if_near(k, bodies, settings)?;
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
        let trees = self.pairs[k].pieces.map(|p| {
            let piece = &self.pieces[p];
            Tree::new(&self.features[piece.body], &piece.features, &bodies[piece.body].nodes().positions)
        });
        self.counts.trees_built += 1;
        let search = FeatureSearch { trees, candidates: Vec::new(), slack: 0.0 };
        self.pairs[k].search = Some(Box::new(search));
        self.collect(k, bodies, settings);
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
                self.pairs[k].search = None;
            }
        }
        Ok(())
    }

    /// Collects the pairs of features within the margin and the displacement of the last step.
    fn collect(&mut self, k: usize, bodies: &[Body], settings: &ContactSettings) {
        let Self { features, pieces, pairs, counts, stack } = self;
        let pair = &mut pairs[k];
        let Some(search) = &mut pair.search else { return };
        counts.collections += 1;
        let [a, b] = pair.pieces.map(|p| pieces[p].body);
        for (tree, body) in search.trees.iter_mut().zip([a, b]) {
            tree.refit(&features[body], &bodies[body].nodes().positions);
        }
        search.candidates.clear();
        let slack = settings.margin + pair.moved;
        let reach = bodies[a].skin() + bodies[b].skin() + slack;
        let (features_a, features_b) = (&features[a], &features[b]);
        let [tree_a, tree_b] = &search.trees;
        tree_a.near_pairs(tree_b, reach, stack, |i, j| {
            let (fa, fb) = (&features_a[i as usize], &features_b[j as usize]);
            if contact::coefficient(fa, fb, settings.edge_contacts).is_some() {
                search.candidates.push([i, j]);
            }
        });
        search.slack = slack;
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
            piece.nodes.iter().map(|&n| positions[n as usize]).collect::<Vec<P3>>()
        });
        let sets = [PointSet::new(&hulls[0]).ok()?, PointSet::new(&hulls[1]).ok()?];
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
