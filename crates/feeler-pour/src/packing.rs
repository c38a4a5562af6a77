//! Measures of a packing: void ratio, coordination numbers and mutual contacts.

use crate::error::{PourError, ensure};
use crate::tables::{self, PackingTable};
use crate::walls::SceneWall;
use feeler_geom::{Aabb, P3, V3};
use feeler_particles::{ParticleId, Simulation, WallId};
use std::collections::BTreeMap;

/// Plan of the measurement of a packing.
#[derive(Clone, Debug)]
pub(crate) struct PackingPlan {
    /// Inner volume of the container (mm, world). If a lid bounds it, the side at which the lid is has no
    /// effect.
    container: Aabb,
    lid: Option<BoundingLid>,
}

/// Lid that is one side of the container.
#[derive(Clone, Copy, Debug)]
struct BoundingLid {
    /// Index of the wall.
    wall: usize,
    /// Index of the coordinate axis along which the lid slides.
    axis: usize,
    /// Whether the lid slides towards smaller coordinates, so that it bounds the container from above.
    is_upper: bool,
}

/// Measures of a packing at one time.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Packing {
    /// Volume of the container (mm³), up to the lid if there is one.
    pub container_volume: f64,
    /// Number of particles whose centre of mass is in the container.
    pub count: usize,
    /// Volume of these particles (mm³).
    pub particle_volume: f64,
    /// Volume between the particles divided by their volume; infinite without particles.
    pub void_ratio: f64,
    /// Mean number of other particles that a particle touches; 0 without particles.
    pub coordination: f64,
    /// Mean number of walls that a particle touches; 0 without particles.
    pub wall_coordination: f64,
    /// Number of pairs of touching particles with 1, 2, 3, and 4 or more contact points.
    pub pairs_by_points: [usize; 4],
    /// Number of particles for which the largest group of particles that all touch each other, and to which
    /// the particle belongs, has 1 (it touches no other), 2, 3, 4, 5, and 6 or more members.
    pub mutual: [usize; 6],
}

impl PackingPlan {
    /// Reads the table `[packing]`.
    ///
    /// # Errors
    /// The box is not valid, or the lid is not a sliding wall along an axis of coordinates.
    pub(crate) fn new(table: &PackingTable, walls: &[SceneWall]) -> Result<Self, PourError> {
        let [a, b] = table.container;
        ensure!(
            tables::is_finite(&a) && tables::is_finite(&b) && (0..3).all(|k| a[k] < b[k]),
            "box",
            "give two finite corners; every coordinate of the first must be less than that of the second"
        );
        let lid = table.lid.as_deref().map(|name| bounding_lid(name, walls)).transpose()?;
        Ok(Self { container: Aabb { min: P3::from(a), max: P3::from(b) }, lid })
    }

    /// Inner volume of the container at the present position of its lid.
    fn container(&self, walls: &[SceneWall], simulation: &Simulation) -> Aabb {
        let mut out = self.container;
        let Some(BoundingLid { wall, axis, is_upper }) = self.lid else { return out };
        let (begin, now) = (&walls[wall], simulation.wall(WallId::new(wall)));
        if let (Some(lid), Some(now)) = (begin.schedule.lid(), now) {
            let front = lid.front + lid.travel(&begin.wall, now);
            if is_upper {
                out.max[axis] = -front;
            } else {
                out.min[axis] = front;
            }
        }
        out
    }

    /// Measures the present state of a simulation. `walls` are those of the scene, and `volumes` the present
    /// particles with their volumes (mm³).
    pub(crate) fn measure(
        &self,
        walls: &[SceneWall],
        simulation: &Simulation,
        volumes: impl Iterator<Item = (ParticleId, f64)>,
    ) -> Packing {
        let container = self.container(walls, simulation);
        let sides = container.max - container.min;
        let container_volume = sides.map(|x| x.max(0.0)).product();
        let (mut count, mut particle_volume) = (0, 0.0);
        for (id, volume) in volumes {
            let is_inside = simulation.motion(id).is_some_and(|m| container.contains(&m.center));
            if is_inside {
                count += 1;
                particle_volume += volume;
            }
        }
        let mean = |sum: usize| mean(sum, simulation.present_count());
        let partners = Partners::new(simulation);
        Packing {
            container_volume,
            count,
            particle_volume,
            void_ratio: if count > 0 {
                (container_volume - particle_volume) / particle_volume
            } else {
                f64::INFINITY
            },
            coordination: mean(partners.of.values().map(Vec::len).sum()),
            wall_coordination: mean(simulation.touched_walls().count()),
            pairs_by_points: partners.pairs_by_points,
            mutual: partners.mutual(simulation.present_count()),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of contacts and particles")]
fn mean(sum: usize, count: usize) -> f64 {
    if count == 0 { 0.0 } else { sum as f64 / count as f64 }
}

fn bounding_lid(name: &str, walls: &[SceneWall]) -> Result<BoundingLid, PourError> {
    let is_lid = |w: &&SceneWall| w.schedule.lid().is_some();
    let names = walls.iter().filter(is_lid).map(|w| w.name.as_str()).collect::<Vec<_>>().join(", ");
    let found = walls.iter().position(|w| w.name == name);
    let lid = found.and_then(|wall| Some((wall, walls[wall].schedule.lid()?)));
    let Some((wall, lid)) = lid else {
        let have = if names.is_empty() { "none has the key lid".to_owned() } else { format!("use {names}") };
        return Err(PourError::value(
            "lid",
            format!("no wall '{name}' slides; of the walls of the scene, {have}"),
        ));
    };
    let along: &V3 = lid.slider.axis();
    let axis = along.iamax();
    ensure!(
        1.0 - along[axis].abs() < AXIS_TOLERANCE,
        "lid",
        "wall '{name}' does not slide along an axis of coordinates, as the sides of the box do"
    );
    Ok(BoundingLid { wall, axis, is_upper: along[axis] < 0.0 })
}

/// For each particle that touches others, these others in increasing order; and the numbers of pairs by
/// contact points.
struct Partners {
    of: BTreeMap<usize, Vec<usize>>,
    pairs_by_points: [usize; 4],
}

impl Partners {
    fn new(simulation: &Simulation) -> Self {
        let mut out = Self { of: BTreeMap::new(), pairs_by_points: [0; 4] };
        for (a, b, points) in simulation.touching_pairs() {
            out.of.entry(a.index()).or_default().push(b.index());
            out.of.entry(b.index()).or_default().push(a.index());
            out.pairs_by_points[points.clamp(1, 4) - 1] += 1;
        }
        out.of.values_mut().for_each(|partners| partners.sort_unstable());
        out
    }

    /// Counts particles by the size of their largest group of mutually touching particles; `count` is the
    /// number of all particles.
    fn mutual(&self, count: usize) -> [usize; 6] {
        let mut out = [0; 6];
        out[0] = count.saturating_sub(self.of.len());
        for partners in self.of.values() {
            let size = 1 + self.largest_group(partners, 5);
            out[size.min(6) - 1] += 1;
        }
        out
    }

    /// Size of the largest group of mutually touching particles among `candidates`, at most `limit`.
    fn largest_group(&self, candidates: &[usize], limit: usize) -> usize {
        let mut best = 0;
        for (k, first) in candidates.iter().enumerate() {
            if best >= limit.min(candidates.len() - k) {
                break;
            }
            let touches_first = |other: &&usize| self.of[first].binary_search(other).is_ok();
            let rest: Vec<usize> = candidates[k + 1..].iter().filter(touches_first).copied().collect();
            best = best.max(1 + self.largest_group(&rest, limit - 1));
        }
        best.min(limit)
    }
}

/// Maximum difference from 1 of a component of a unit vector that counts as an axis of coordinates. A larger
/// value gives wrong volumes for oblique lids; a smaller one refuses rounded directions.
const AXIS_TOLERANCE: f64 = 1e-12;

#[cfg(test)]
mod tests {
    use super::*;

    fn partners(pairs: &[(usize, usize)]) -> Partners {
        let mut out = Partners { of: BTreeMap::new(), pairs_by_points: [0; 4] };
        for (a, b) in pairs {
            out.of.entry(*a).or_default().push(*b);
            out.of.entry(*b).or_default().push(*a);
        }
        out.of.values_mut().for_each(|partners| partners.sort_unstable());
        out
    }

    #[test]
    fn mutual_contacts_are_the_largest_cliques() {
        // A tetrahedron 0 to 3, a triangle 3, 4, 5, a pair 6, 7, and a single particle.
        let few = partners(&[(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3), (3, 4), (3, 5), (4, 5), (6, 7)]);
        assert_eq!(few.mutual(9), [1, 2, 2, 4, 0, 0]);
        // All of seven particles touch each other: their groups have six members or more.
        let all: Vec<(usize, usize)> = (0..7).flat_map(|a| (0..a).map(move |b| (b, a))).collect();
        assert_eq!(partners(&all).mutual(7), [0, 0, 0, 0, 0, 7]);
        assert_eq!(partners(&all[..10]).mutual(5), [0, 0, 0, 0, 5, 0]);
    }
}
