//! What the interference test needs of a solid in any pose: samples along its edges and over its free-form areas. Made at
//! the first use.

use crate::Body;
use crate::body::index;
use crate::samples::at;
use crate::trim::outward_normal;
use feeler_geom::trim::{Side, TrimPiece};
use feeler_geom::{P2, P3, Rect, V3};
use feeler_hierarchy::Feature;
use std::ops::Range;

/// Samples along a track, ends included.
pub(crate) const SAMPLES: usize = 5;
/// Sagitta between samples, relative to the size of the solid, above which a track is halved: where an edge runs beside
/// a face, only a clearance below the sagitta needs a closer look.
const FINE: f64 = 2e-4;
/// Most halvings of a trimming piece.
const MAX_HALVINGS: u32 = 5;
/// Probes along each parameter of a free-form area.
const SIDE: usize = 3;
/// Probes of an area.
pub(crate) const PROBES: usize = SIDE * SIDE;

/// Parameters of the samples of a track.
pub(crate) const STEPS: [f64; SAMPLES] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// A part of a trimming piece of a face; each edge is here once, on the first of its two faces.
#[derive(Clone, Debug)]
pub(crate) struct Track {
    face: u32,
    /// The face on the other side of the edge, the last one where there are several; that with the piece where there is none.
    pub beside: u32,
    /// How far (mm) the track may be off that face.
    pub off: f64,
    piece: TrimPiece,
    /// Points in equal steps of the piece's parameter, the solid's frame.
    pub samples: [P3; SAMPLES],
    /// How far (mm) the curve strays from the chords between samples, about.
    pub sagitta: f64,
    /// No point is farther (mm, about) from the sample in the middle.
    pub radius: f64,
}

impl Track {
    /// The point at a parameter in [0, 1].
    pub(crate) fn point(&self, body: &Body, s: f64) -> P3 {
        body.face(self.face).surface.point(self.piece.eval(s))
    }
}

/// A ball that a track is in: what most pairs are told by, side by side.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TrackBall {
    /// The sample in the middle, the solid's frame.
    pub center: P3,
    pub radius: f64,
    /// The track's number.
    pub track: u32,
}

/// A point of a free-form area.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe {
    pub p: P3,
    /// Outward normal.
    pub n: V3,
    /// Inside the trims.
    pub inside: bool,
}

/// Samples of one solid.
#[derive(Clone, Debug, Default)]
pub(crate) struct Probes {
    pub tracks: Vec<Track>,
    tracks_of_area: Vec<Range<usize>>,
    balls: Vec<TrackBall>,
    grid_of_area: Vec<Option<u32>>,
    grids: Vec<[Probe; PROBES]>,
}

impl Probes {
    pub(crate) fn new(body: &Body) -> Self {
        let h = body.hierarchy();
        let mut tracks: Vec<Track> = Vec::new();
        let mut of_face: Vec<Range<usize>> = Vec::new();
        // Of each edge its first and last face, and the largest distances of their borders from it; the edges of the tracks.
        let mut owner: std::collections::BTreeMap<u32, [(u32, f64); 2]> = std::collections::BTreeMap::new();
        let mut edges: Vec<u32> = Vec::new();
        for (f, face) in h.faces.iter().enumerate() {
            let (start, f) = (tracks.len(), index(f));
            for piece in &face.trim.pieces {
                // The largest index marks artificial cuts.
                if piece.edge == u32::MAX {
                    continue;
                }
                let sides = owner.entry(piece.edge).or_insert([(f, 0.0); 2]);
                if sides[0].0 == f {
                    halve(body, f, *piece, MAX_HALVINGS, &mut tracks);
                    edges.resize(tracks.len(), piece.edge);
                } else if sides[1].0 != f {
                    sides[1] = (f, 0.0);
                }
                let side = &mut sides[usize::from(sides[0].0 != f)];
                side.1 = piece.deviation.max(side.1);
            }
            of_face.push(start..tracks.len());
        }
        for (track, edge) in tracks.iter_mut().zip(edges) {
            let [(_, to_edge), (beside, from_edge)] = owner[&edge];
            (track.beside, track.off) = (beside, to_edge + from_edge);
        }
        let mut probes = Self { tracks, ..Self::default() };
        for area in &h.areas {
            let start = probes.balls.len();
            let mut grid = None;
            if let Feature::Face(f) = area.feature {
                let face = body.face(f);
                let period = (face.trim.u_period, face.trim.v_period);
                for t in of_face[f as usize].clone() {
                    if overlap(&probes.tracks[t].piece.bounds(), &area.rect, period) {
                        let Track { samples, radius, .. } = probes.tracks[t];
                        let center = samples[SAMPLES / 2];
                        probes.balls.push(TrackBall { center, radius, track: index(t) });
                    }
                }
                if !face.surface.is_canonical() {
                    grid = Some(index(probes.grids.len()));
                    probes.grids.push(std::array::from_fn(|k| {
                        let step = |i: usize| [0.0, 0.5, 1.0][i];
                        probe(body, f, at(&area.rect, step(k / SIDE), step(k % SIDE)))
                    }));
                }
            }
            probes.tracks_of_area.push(start..probes.balls.len());
            probes.grid_of_area.push(grid);
        }
        probes
    }

    /// Balls around the tracks that may run through a face area.
    pub(crate) fn tracks_of(&self, area: u32) -> &[TrackBall] {
        &self.balls[self.tracks_of_area[area as usize].clone()]
    }

    /// Probes of a free-form area.
    pub(crate) fn grid_of(&self, area: u32) -> Option<&[Probe; PROBES]> {
        self.grid_of_area[area as usize].map(|g| &self.grids[g as usize])
    }
}

/// Tracks along a piece, halved until they are fine.
fn halve(body: &Body, face: u32, piece: TrimPiece, halvings: u32, out: &mut Vec<Track>) {
    let track = track(body, face, piece);
    if halvings == 0 || track.sagitta <= FINE * body.size() {
        out.push(track);
        return;
    }
    let (first, second) = piece.split(0.5);
    halve(body, face, first, halvings - 1, out);
    halve(body, face, second, halvings - 1, out);
}

fn track(body: &Body, face: u32, piece: TrimPiece) -> Track {
    let surface = &body.face(face).surface;
    let samples = STEPS.map(|s| surface.point(piece.eval(s)));
    // An eighth of the second difference is the sagitta; twice that for what bends in between.
    let second = samples.windows(3).map(|w| (w[0].coords + w[2].coords - w[1].coords * 2.0).norm());
    let sagitta = 0.25 * second.fold(0.0, f64::max);
    let middle = samples[SAMPLES / 2];
    let radius = samples.iter().fold(0.0, |m: f64, p| m.max((p - middle).norm())) + sagitta;
    Track { face, beside: face, off: f64::INFINITY, piece, samples, sagitta, radius }
}

fn probe(body: &Body, f: u32, uv: P2) -> Probe {
    let face = body.face(f);
    Probe {
        p: face.surface.point(uv),
        n: outward_normal(face, uv),
        inside: face.trim.classify(uv) == Side::Inside,
    }
}

/// Whether two parameter rectangles meet, one of them shifted by up to one period.
fn overlap(a: &Rect, b: &Rect, (u_period, v_period): (Option<f64>, Option<f64>)) -> bool {
    let meet = |a0: f64, a1: f64, b0: f64, b1: f64, period: Option<f64>| {
        let slack = 1e-9 * (a1 - a0 + b1 - b0);
        let hit = |shift: f64| a0 + shift <= b1 + slack && b0 <= a1 + shift + slack;
        hit(0.0) || period.is_some_and(|p| hit(p) || hit(-p))
    };
    meet(a.u0, a.u1, b.u0, b.u1, u_period) && meet(a.v0, a.v1, b.v0, b.v1, v_period)
}
