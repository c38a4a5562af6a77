//! Tracks identities of minima between queries.

use feeler_geom::count::index;

/// Minima of the previous query with their identities, scratch buffers, and the last identity that was
/// assigned.
#[derive(Clone, Debug)]
pub(crate) struct Ids<T> {
    before: Vec<T>,
    pairs: Vec<(f64, u32, u32)>,
    is_taken: Vec<bool>,
    next: u64,
}

impl<T> Default for Ids<T> {
    fn default() -> Self {
        Self { before: Vec::new(), pairs: Vec::new(), is_taken: Vec::new(), next: 0 }
    }
}

/// A result with an identity.
pub(crate) trait Numbered: Copy {
    /// The identity, which is 0 if it is not yet assigned.
    fn id(&mut self) -> &mut u64;
}

impl<T: Numbered> Ids<T> {
    /// Assigns identities to `minima`. Pairs of a new and a previous minimum are visited in ascending
    /// order of `moved`: the new one inherits the identity of the previous one, unless one of the two
    /// already belongs to an earlier pair. All remaining minima receive new identities. `moved` returns
    /// the distance (mm) from a previous minimum (second argument) to a new one (first argument), or
    /// `None` if the two cannot be the same.
    pub(crate) fn assign(&mut self, minima: &mut [T], moved: impl Fn(&T, &T) -> Option<f64>) {
        self.pairs.clear();
        for (i, new) in minima.iter().enumerate() {
            for (j, old) in self.before.iter().enumerate() {
                self.pairs.extend(moved(new, old).map(|moved| (moved, index(i), index(j))));
            }
        }
        self.pairs.sort_unstable_by(|p, q| p.0.total_cmp(&q.0).then(p.1.cmp(&q.1)).then(p.2.cmp(&q.2)));
        self.is_taken.clear();
        self.is_taken.resize(self.before.len(), false);
        for minimum in &mut *minima {
            *minimum.id() = 0;
        }
        for &(_, i, j) in &self.pairs {
            let (i, j) = (i as usize, j as usize);
            if *minima[i].id() == 0 && !self.is_taken[j] {
                *minima[i].id() = *self.before[j].id();
                self.is_taken[j] = true;
            }
        }
        for minimum in minima.iter_mut() {
            if *minimum.id() == 0 {
                self.next += 1;
                *minimum.id() = self.next;
            }
        }
        self.before.clear();
        self.before.extend_from_slice(minima);
    }
}
