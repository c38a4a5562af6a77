//! What of a simulation is there: particles that have left, walls that are not felt.

use super::meet::SphereMemory;
use super::wall::Wall;
use super::{Load, Simulation, Sphere};
use crate::exact::{self, WallContacts};

impl Simulation {
    /// Takes a particle out for good: it is not moved, not met and has no energy. It keeps its number, so
    /// those of the others stay, and its motion stays what it was. What was remembered of its contacts is
    /// forgotten. Does nothing where there is no such particle, or it is out already.
    pub fn take_out(&mut self, particle: usize) {
        if !self.is_in(particle) {
            return;
        }
        self.gone[particle] = true;
        self.loads[particle] = Load::default();
        let is_its = |s: &Sphere| s.particle as usize == particle;
        let first = self.spheres.partition_point(|s| (s.particle as usize) < particle);
        let many = self.spheres[first..].iter().take_while(|s| is_its(s)).count();
        self.memories[first..first + many].iter_mut().for_each(|m| m.forget(None));
        let place = self.present.partition_point(|k| (*k as usize) < first);
        self.present.drain(place..place + many);
        (0..many).for_each(|_| self.walls.leave_out(place));
        let spheres = &self.spheres;
        let is_of_it = |(a, b): (u32, u32)| is_its(&spheres[a as usize]) || is_its(&spheres[b as usize]);
        self.pairs.retain(|p| !is_of_it(p.spheres));
        self.solid_pairs.retain(|p| !is_of_it(p.spheres));
        self.broad = None;
    }

    /// Whether there is such a particle and it has not been taken out.
    #[must_use]
    pub fn is_in(&self, particle: usize) -> bool {
        self.gone.get(particle).is_some_and(|gone| !gone)
    }

    /// How many particles are in.
    #[must_use]
    pub fn particles_in(&self) -> usize {
        self.gone.iter().filter(|gone| !**gone).count()
    }

    /// Mass of a particle (kg), whether it is in or not.
    #[must_use]
    pub fn mass(&self, particle: usize) -> Option<f64> {
        self.particles.get(particle).map(|p| p.mass)
    }

    /// Largest distance (mm) of a point of a particle from its centre of mass: the radius of a ball.
    #[must_use]
    pub fn radius(&self, particle: usize) -> Option<f64> {
        let pebbles = &self.particles.get(particle)?.pebbles;
        Some(pebbles.iter().map(|p| p.center.coords.norm() + p.radius).fold(0.0, f64::max))
    }

    /// Whether particles meet a wall from now on. One that is not felt lets them through and has no loads;
    /// it still moves. A particle that is in its place when it is felt again is pushed out.
    pub fn set_felt(&mut self, wall: usize, felt: bool) {
        let Some(flag) = self.walls.felt.get_mut(wall) else { return };
        *flag = felt;
        if !felt {
            self.memories.iter_mut().for_each(|m: &mut SphereMemory| m.forget(Some(wall)));
            self.walls.loads[wall] = Load::default();
        }
    }

    /// Whether there is such a wall and particles meet it.
    #[must_use]
    pub fn is_felt(&self, wall: usize) -> bool {
        self.walls.felt.get(wall).is_some_and(|felt| *felt)
    }

    /// Contacts of spheres with walls in the last step.
    #[must_use]
    pub fn wall_contacts(&self) -> usize {
        self.memories.iter().flat_map(|m| &m.walls).map(|w| w.shear.len()).sum()
    }

    /// Lists the spheres of particles that are in.
    pub(super) fn list_present(&mut self) {
        let Self { present, spheres, gone, .. } = self;
        present.clear();
        let numbered = (0_u32..).zip(spheres.iter());
        present.extend(numbered.filter(|(_, s)| !gone[s.particle as usize]).map(|(k, _)| k));
    }
}

impl Wall {
    /// Whether a ball (world) reaches into the wall, where it is now; of triangles from whichever side, and
    /// not where it is within what they enclose.
    #[must_use]
    pub fn touches(&self, ball: &exact::Sphere) -> bool {
        match self {
            Self::Facets(wall) => wall.reaches(&ball.center, ball.radius),
            Self::Exact(solid) => {
                let mut out = WallContacts::default();
                let asked = solid.wall.contacts(&[*ball], 0.0, &mut Vec::new(), &mut out);
                // What cannot be asked for is nowhere.
                asked.is_ok() && out.of(0).iter().any(|c| c.gap < 0.0)
            }
            Self::Plane(wall) => wall.height(&ball.center) < ball.radius,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Simulation;
    use crate::{FacetWall, Law, Particle, PlaneWall, Resolution, Settings};
    use feeler_geom::{P3, Pose, V3};
    use std::path::Path;

    const LAW: Law = Law::Linear { normal: 2e3, shear: 1e3, restitution: 0.5, friction: 0.5 };

    /// Balls above a floor of triangles and a plane across; the last wall is a plane at 4 mm.
    fn world(left_out: &[usize]) -> Simulation {
        let mut world =
            Simulation::new(Settings { gravity: V3::z() * -9_810.0, particles: Some(LAW) }).unwrap();
        let corner = |(x, y): (f64, f64)| P3::new(x, y, 0.0);
        let corners = [(-50.0, -50.0), (50.0, -50.0), (50.0, 50.0), (-50.0, 50.0)].map(corner);
        let mut floor = FacetWall::new(&corners, &[[0, 1, 2], [0, 2, 3]]).unwrap();
        floor.set_resolution(Resolution::Full { cutoff: 0.5 }).unwrap();
        world.add_wall(floor.into(), LAW).unwrap();
        world.add_wall(PlaneWall::new(P3::new(-2.0, 0.0, 0.0), V3::x()).unwrap().into(), LAW).unwrap();
        let body = feeler_import::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/box.step"))
            .unwrap()
            .0;
        let body = std::sync::Arc::new(feeler_runtime::Body::from_model(&body, 0).unwrap());
        let mut block: crate::Wall = crate::ExactWall::new(body).into();
        block.set_pose(Pose::translation(24.0, 0.0, -7.0)).unwrap();
        world.add_wall(block, LAW).unwrap();
        for k in (0..40_usize).filter(|k| !left_out.contains(k)) {
            let place = Pose::translation(
                2.2 * (k % 4) as f64,
                1.9 * (k / 4 % 3) as f64,
                4.3 + 2.1 * (k / 12) as f64,
            );
            let ball = Particle::sphere(1.0 + 0.005 * k as f64, 2_500.0).unwrap();
            world.add(ball, &place, V3::new(1.0, 2.0, -300.0), V3::zeros()).unwrap();
        }
        world
    }

    fn run(world: &mut Simulation, steps: usize) {
        (0..steps).for_each(|_| world.step(1e-5).unwrap());
    }

    /// Motions of all that are in.
    fn motions(world: &Simulation) -> Vec<crate::Motion> {
        (0..world.particles()).filter(|k| world.is_in(*k)).map(|k| *world.motion(k).unwrap()).collect()
    }

    #[test]
    fn those_left_move_as_if_the_others_had_never_been() {
        let out = [0, 7, 8, 21, 39];
        let mut some = world(&[]);
        out.iter().for_each(|k| some.take_out(*k));
        let mut none = world(&out);
        let mut met = 0;
        assert_eq!((some.particles(), some.particles_in(), none.particles()), (40, 35, 35));
        for _ in 0..80 {
            run(&mut some, 50);
            run(&mut none, 50);
            assert!(motions(&some) == motions(&none), "to the bit");
            assert!(
                some.kinetic_energy().to_bits() == none.kinetic_energy().to_bits()
                    && some.pairs() == none.pairs(),
                "sums"
            );
            assert!((0..3).all(|w| some.wall_load(w) == none.wall_load(w)), "loads of walls");
            assert_eq!(some.wall_contacts(), none.wall_contacts());
            met += some.pairs() + some.wall_contacts();
        }
        assert!(met > 20, "they meet: {met}");
        let (there, load) = (some.motion(7).unwrap(), some.load(7).unwrap());
        assert!(there.center == world(&[]).motion(7).unwrap().center && load.force == V3::zeros(), "stays");
    }

    #[test]
    fn leaving_ends_contacts_and_states_go_on() {
        let mut whole = world(&[]);
        let touches = |world: &Simulation| (0..40).find(|k| !world.shear(*k, 0, 0).is_empty());
        let in_touch = (0..500).find_map(|_| {
            run(&mut whole, 10);
            touches(&whole)
        });
        let in_touch = in_touch.unwrap();
        whole.take_out(in_touch);
        whole.take_out(in_touch);
        whole.take_out(1_000);
        assert!(whole.shear(in_touch, 0, 0).is_empty() && !whole.is_in(in_touch) && !whole.is_in(1_000));
        run(&mut whole, 1_000);
        whole.set_felt(1, false);
        run(&mut whole, 200);
        let state = whole.save();
        let mut again = world(&[]);
        again.restore(&state).unwrap();
        assert!(
            !again.is_in(in_touch) && !again.is_felt(1) && again.is_felt(0) && again.particles_in() == 39
        );
        run(&mut whole, 500);
        run(&mut again, 500);
        assert_eq!(whole.save(), again.save(), "the same bytes");
        let mut wrong = state.clone();
        // The flags of the first particle stand behind its motion.
        let flags = 8 + 3 * 8 + 8 + 8 + (3 + 4 + 3 + 3) * 8;
        assert_eq!(wrong[flags], 0, "in, not driven");
        wrong[flags] = 4;
        assert!(again.restore(&wrong).unwrap_err().to_string().contains("item 4 of 4"), "no flags");
    }

    #[test]
    fn walls_that_are_not_felt_let_through() {
        let mut world = Simulation::new(Settings { gravity: V3::z() * -9_810.0, particles: None }).unwrap();
        let lid = world.add_wall(PlaneWall::new(P3::origin(), V3::z()).unwrap().into(), LAW).unwrap();
        let ball = Particle::sphere(1.0, 2_500.0).unwrap();
        let weight = ball.mass() * 9_810.0;
        world.add(ball, &Pose::translation(0.0, 0.0, 1.0), V3::zeros(), V3::zeros()).unwrap();
        run(&mut world, 20_000);
        let load = world.wall_load(lid).unwrap().force.z;
        assert!((load + weight).abs() < 1e-6 * weight, "{load}: it rests");
        let height = world.motion(0).unwrap().center.z;
        world.set_felt(lid, false);
        run(&mut world, 1_000);
        let (now, fallen) = (world.motion(0).unwrap().center.z, 0.5 * 9_810.0 * 1e-4);
        assert!((height - now - fallen).abs() < 1e-3 * fallen, "{} {fallen}: it falls freely", height - now);
        assert!(world.wall_load(lid).unwrap().force == V3::zeros() && world.wall_contacts() == 0, "no load");
        world.set_felt(7, true);
        assert!(!world.is_felt(7), "no such wall");
        assert!((world.mass(0).unwrap() * 9_810.0 - weight).abs() < 1e-12 && world.radius(0) == Some(1.0));
    }
}
