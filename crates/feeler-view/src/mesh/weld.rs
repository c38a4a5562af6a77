//! Which points are in the same place.

use feeler_geom::P3;
use std::collections::HashMap;

type Cell = [i64; 3];

#[expect(clippy::cast_possible_truncation, reason = "saturates, and far cells are few")]
fn cell(p: &P3, side: f64) -> Cell {
    std::array::from_fn(|k| (p[k] / side).floor() as i64)
}

/// Groups of points, each told by its first point.
#[derive(Debug)]
pub(super) struct Places {
    tolerance: f64,
    firsts: Vec<P3>,
    cells: HashMap<Cell, Vec<u32>>,
}

impl Places {
    /// Points up to `tolerance` apart from the first one of a group belong to it.
    pub(super) fn new(tolerance: f64) -> Self {
        Self { tolerance, firsts: Vec::new(), cells: HashMap::new() }
    }

    fn side(&self) -> f64 {
        (2.0 * self.tolerance).max(f64::MIN_POSITIVE)
    }

    /// The group of a point: of several the nearest, of none a new one.
    pub(super) fn of(&mut self, p: &P3) -> u32 {
        let home = cell(p, self.side());
        let mut best: Option<(f64, u32)> = None;
        for d in 0..27 {
            let around = std::array::from_fn(|k| home[k].saturating_add([d % 3, d / 3 % 3, d / 9][k] - 1));
            for &i in self.cells.get(&around).into_iter().flatten() {
                let off = (self.firsts[i as usize] - p).norm();
                if off <= self.tolerance && best.is_none_or(|(b, _)| off < b) {
                    best = Some((off, i));
                }
            }
        }
        best.map_or_else(
            || {
                let new = u32::try_from(self.firsts.len()).expect("fewer points than 2^32");
                self.firsts.push(*p);
                self.cells.entry(home).or_default().push(new);
                new
            },
            |(_, i)| i,
        )
    }

    /// The first point of a group.
    pub(super) fn first(&self, group: u32) -> P3 {
        self.firsts[group as usize]
    }
}

/// For each point the first one in the same place.
pub(super) fn weld(points: &[P3], tolerance: f64) -> Vec<u32> {
    let mut places = Places::new(tolerance);
    let mut first_of: Vec<u32> = Vec::new();
    let group = |(p, i): (&P3, u32)| {
        let group = places.of(p) as usize;
        if group == first_of.len() {
            first_of.push(i);
        }
        first_of[group]
    };
    points.iter().zip(0..).map(group).collect()
}
