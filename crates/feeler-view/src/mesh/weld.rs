//! Groups of coinciding points.

use feeler_geom::P3;
use std::collections::HashMap;

type Cell = [i64; 3];

#[expect(clippy::cast_possible_truncation, reason = "saturates, and far cells are few")]
fn cell(p: &P3, side: f64) -> Cell {
    std::array::from_fn(|k| (p[k] / side).floor() as i64)
}

/// Groups of points that count as equal, each represented by its first point.
#[derive(Debug)]
pub(super) struct PointGroups {
    tolerance: f64,
    firsts: Vec<P3>,
    cells: HashMap<Cell, Vec<u32>>,
}

impl PointGroups {
    /// Creates an empty set of groups. A point belongs to a group if it is within `tolerance` (mm) of
    /// the group's first point.
    pub(super) fn new(tolerance: f64) -> Self {
        Self { tolerance, firsts: Vec::new(), cells: HashMap::new() }
    }

    fn side(&self) -> f64 {
        (2.0 * self.tolerance).max(f64::MIN_POSITIVE)
    }

    /// Returns the index of the group of a point: that of the nearest group within the tolerance, or a
    /// new one.
    pub(super) fn group_of(&mut self, p: &P3) -> u32 {
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

    /// First point of a group.
    pub(super) fn first(&self, group: u32) -> P3 {
        self.firsts[group as usize]
    }
}

/// For each point, the index of the first point within `tolerance` (mm) of it.
pub(super) fn weld(points: &[P3], tolerance: f64) -> Vec<u32> {
    let mut places = PointGroups::new(tolerance);
    let mut first_of: Vec<u32> = Vec::new();
    let group = |(p, i): (&P3, u32)| {
        let group = places.group_of(p) as usize;
        if group == first_of.len() {
            first_of.push(i);
        }
        first_of[group]
    };
    points.iter().zip(0..).map(group).collect()
}
