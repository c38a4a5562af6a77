//! Pairs of models with motions of B in which minima appear, move and disappear.

/// Two models, the mean position of B (mm), the amplitudes of its motion (mm, rad), and `d_max` (mm).
pub type MovingPair = (&'static str, &'static str, [f64; 3], f64, f64, f64);

/// Pairs with narrow gaps, free-form surfaces and canonical shapes.
pub const MOVING_PAIRS: [MovingPair; 14] = [
    ("socket", "plug", [0.0, 0.0, 0.1], 0.03, 6e-4, 0.12),
    ("stepped-seat", "stepped-cone", [0.0, 0.0, 0.2], 0.08, 1.5e-3, 0.3),
    ("bayonet-socket", "bayonet-plug", [0.0, 0.0, 0.0], 0.04, 1e-3, 0.3),
    ("box", "half-cone", [0.0, 0.0, 30.0], 8.0, 3.0, 10.0),
    ("box", "sphere", [0.0, 0.0, 30.0], 12.0, 1.0, 15.0),
    ("box", "torus", [0.0, 0.0, 36.0], 10.0, 2.0, 20.0),
    ("race", "ball", [13.0, 0.0, 0.0], 0.08, 3.0, 0.3),
    ("shaft", "ring", [0.0, 0.0, 38.0], 0.05, 5e-3, 0.6),
    ("perforated-plate", "pin-short", [4.0, 4.0, 16.0], 3.0, 0.3, 3.0),
    ("wave", "torus", [0.0, 0.0, 24.0], 5.0, 3.0, 8.0),
    ("loft", "swept", [60.0, 0.0, 0.0], 12.0, 2.0, 20.0),
    ("spool", "spool", [3.0, 0.0, 0.0], 0.4, 2.0, 2.0),
    ("cone", "cylinder", [0.0, 0.0, 45.0], 12.0, 2.0, 20.0),
    ("torus-nurbs", "wave", [0.0, 0.0, 40.0], 8.0, 2.0, 15.0),
];

/// The moving pairs whose first model has one of these names, without those of box and round solids.
#[must_use]
pub fn moving_pairs_of(first: &[&str]) -> Vec<MovingPair> {
    let is_wanted = |p: &&MovingPair| first.contains(&p.0) && !(p.0 == "box" && p.1 != "half-cone");
    MOVING_PAIRS.iter().filter(is_wanted).copied().collect()
}
