//! Identities of minima from query to query.

use crate::minimum::CurveMinimum;

/// Moves of a minimum along the curves, as part of their size, up to which it is the same one.
const MOVE: f64 = 0.05;

/// Numbers that minima had in the query before.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ids {
    before: Vec<CurveMinimum>,
    pairs: Vec<(f64, u32, u32)>,
    is_taken: Vec<bool>,
    next: u64,
}

impl Ids {
    /// Gives each minimum the number of the one before that is nearest along the curves, nearest pairs first, or
    /// a new one. `speed`: lengths of the curves for a change of their parameters.
    pub(crate) fn assign(
        &mut self,
        minima: &mut [CurveMinimum],
        speed: impl Fn(&CurveMinimum) -> [f64; 2],
        size: f64,
    ) {
        self.pairs.clear();
        for (i, new) in minima.iter().enumerate() {
            let speed = speed(new);
            for (j, old) in self.before.iter().enumerate() {
                let moved = (0..2).map(|k| (new.u[k] - old.u[k]).abs() * speed[k]).fold(0.0, f64::max);
                if moved <= MOVE * size && new.set.is_some() == old.set.is_some() {
                    self.pairs.push((moved, i as u32, j as u32));
                }
            }
        }
        self.pairs.sort_unstable_by(|p, q| p.0.total_cmp(&q.0).then(p.1.cmp(&q.1)).then(p.2.cmp(&q.2)));
        self.is_taken.clear();
        self.is_taken.resize(self.before.len(), false);
        for minimum in &mut *minima {
            minimum.id = 0;
        }
        for &(_, i, j) in &self.pairs {
            let (i, j) = (i as usize, j as usize);
            if minima[i].id == 0 && !self.is_taken[j] {
                minima[i].id = self.before[j].id;
                self.is_taken[j] = true;
            }
        }
        for minimum in minima.iter_mut().filter(|m| m.id == 0) {
            self.next += 1;
            minimum.id = self.next;
        }
        self.before.clear();
        self.before.extend_from_slice(minima);
    }
}
