//! Particles against exact walls: arrays in, records out.

use crate::body::FeelerBody;
use crate::error::{Failure, FeelerResult, enter};
use crate::pointer::{array, exclusive, fill, hand_out, shared, take_back};
use crate::record::{FeelerPose, pose};
use feeler::P3;
use feeler::particles::{
    ExactWall, ProximityCache, Sphere, Superellipsoid, WallContact, WallContacts, WallError,
};

/// A solid that particles meet, without triangles, and what was learnt of the particles near it.
#[derive(Debug)]
pub struct FeelerExactWall {
    wall: ExactWall,
    caches: Vec<ProximityCache>,
    spheres: Vec<Sphere>,
    superellipsoids: Vec<Superellipsoid>,
    out: WallContacts,
    /// A query has panicked: what is reused cannot be trusted.
    broken: bool,
}

/// A place where a particle and an exact wall are near, in world coordinates and millimetres.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FeelerWallContact {
    /// The same as long as the contact stays on its feature of the wall: what friction remembers belongs to
    /// it and to the particle.
    pub id: u64,
    /// The particle, by its place in the arrays.
    pub particle: u32,
    /// 0.
    pub reserved: u32,
    /// The wall's point.
    pub point: [f64; 3],
    /// Unit normal from the wall to the particle.
    pub normal: [f64; 3],
    /// How far the surfaces are apart along the normal; negative where the particle is pressed in.
    pub gap: f64,
    /// Principal curvatures of the wall (1/mm), the larger one first, positive where it bulges towards the
    /// particle; infinite across an edge, and both at a vertex.
    pub curvatures: [f64; 2],
}

impl From<(usize, &WallContact)> for FeelerWallContact {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "fewer particles than 2^32: checked where they come in"
    )]
    fn from((particle, c): (usize, &WallContact)) -> Self {
        Self {
            id: c.id,
            particle: particle as u32,
            reserved: 0,
            point: c.point.into(),
            normal: c.normal.into(),
            gap: c.gap,
            curvatures: c.curvatures,
        }
    }
}

/// The contacts of all particles, with theirs.
struct Numbered<'a> {
    contacts: std::iter::Enumerate<std::slice::Iter<'a, WallContact>>,
    offsets: &'a [u32],
    particle: usize,
}

impl Iterator for Numbered<'_> {
    type Item = FeelerWallContact;

    fn next(&mut self) -> Option<FeelerWallContact> {
        let (k, contact) = self.contacts.next()?;
        while self.offsets[self.particle + 1] as usize <= k {
            self.particle += 1;
        }
        Some((self.particle, contact).into())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.contacts.size_hint()
    }
}

impl ExactSizeIterator for Numbered<'_> {}

/// The contacts of all particles as records, for other doors.
pub fn numbered_wall_contacts(out: &WallContacts) -> impl ExactSizeIterator<Item = FeelerWallContact> + '_ {
    Numbered { contacts: out.contacts().iter().enumerate(), offsets: out.offsets(), particle: 0 }
}

fn failed(e: WallError) -> Failure {
    Failure::new(FeelerResult::Query, e)
}

/// Runs something on a wall that no panic has broken.
///
/// # Safety
/// `wall` is NULL or a wall that no other thread uses.
unsafe fn with(
    wall: *mut FeelerExactWall,
    body: impl FnOnce(&mut FeelerExactWall) -> Result<(), Failure>,
) -> FeelerResult {
    enter(|| {
        // SAFETY: by the caller's promise.
        let wall = unsafe { exclusive(wall, "wall") }?;
        if std::mem::replace(&mut wall.broken, true) {
            return Err(Failure::new(FeelerResult::Panic, "the wall is broken by an earlier panic; free it"));
        }
        let done = body(wall);
        wall.broken = false;
        done
    })
}

fn counted(n: usize) -> Result<usize, Failure> {
    if n < u32::MAX as usize { Ok(n) } else { Err(Failure::argument(format!("{n} particles are too many"))) }
}

/// An exact wall in the place of its own coordinates. It keeps what it needs of the body.
///
/// # Safety
/// `body` is a body; `out` may be written. Free the wall by `feeler_exact_wall_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_exact_wall_new(
    body: *const FeelerBody,
    out: *mut *mut FeelerExactWall,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        let wall = ExactWall::new(shared(body, "body")?.0.clone());
        let wall = FeelerExactWall {
            wall,
            caches: Vec::new(),
            spheres: Vec::new(),
            superellipsoids: Vec::new(),
            out: WallContacts::new(),
            broken: false,
        };
        hand_out(out, wall)
    })
}

/// Frees a wall; NULL does nothing.
///
/// # Safety
/// `wall` is NULL or a wall that is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_exact_wall_free(wall: *mut FeelerExactWall) {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        take_back(wall);
        Ok(())
    });
}

/// Moves a wall: from its coordinates to the world.
///
/// # Safety
/// `wall` is a wall that no other thread uses; `pose_of_wall` is NULL
/// (where it is modelled) or points at a pose.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_exact_wall_set_pose(
    wall: *mut FeelerExactWall,
    pose_of_wall: *const FeelerPose,
) -> FeelerResult {
    let set = |w: &mut FeelerExactWall| -> Result<(), Failure> {
        // SAFETY: by the caller's promise.
        let pose = unsafe { pose(pose_of_wall, "pose") }?;
        w.wall.set_pose(&pose).map_err(failed)
    };
    // SAFETY: by the caller's promise.
    unsafe { with(wall, set) }
}

/// Finds all contacts of `n` spheres, from their centres (x, y, z of each) and radii (mm), with gaps of at
/// most `reach` (mm). Spheres in the order of the last call are told fastest; any order is right. A centre
/// inside the material has one contact, along the shortest way out.
///
/// # Safety
/// `wall` is a wall that no other thread uses; `centers` points at `3 * n` numbers, `radii` at `n`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_exact_wall_spheres(
    wall: *mut FeelerExactWall,
    centers: *const f64,
    radii: *const f64,
    n: usize,
    reach: f64,
) -> FeelerResult {
    let ask = |w: &mut FeelerExactWall| -> Result<(), Failure> {
        // SAFETY: by the caller's promise.
        let (centers, radii) =
            unsafe { (array(centers, 3 * counted(n)?, "centers")?, array(radii, n, "radii")?) };
        let all = centers.chunks_exact(3).zip(radii);
        w.spheres.clear();
        w.spheres.extend(all.map(|(p, r)| Sphere { center: P3::new(p[0], p[1], p[2]), radius: *r }));
        w.wall.contacts(&w.spheres, reach, &mut w.caches, &mut w.out).map_err(failed)
    };
    // SAFETY: by the caller's promise.
    unsafe { with(wall, ask) }
}

/// The same of superellipsoids, from their centres (x, y, z), orientations (quaternions x, y, z, w from their
/// own axes to the world), semi-axes (a, b, c in mm) and exponents (ε₁ around their z, ε₂ along it, in
/// [0.1, 1.9]: 1, 1 is an ellipsoid).
///
/// # Safety
/// `wall` is a wall that no other thread uses; `centers` and `semi_axes` point at `3 * n` numbers,
/// `orientations` at `4 * n`, `exponents` at `2 * n`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_exact_wall_superellipsoids(
    wall: *mut FeelerExactWall,
    centers: *const f64,
    orientations: *const f64,
    semi_axes: *const f64,
    exponents: *const f64,
    n: usize,
    reach: f64,
) -> FeelerResult {
    let ask = |w: &mut FeelerExactWall| -> Result<(), Failure> {
        // SAFETY: by the caller's promise.
        let (centers, turns, semi, exponents) = unsafe {
            (
                array(centers, 3 * counted(n)?, "centers")?,
                array(orientations, 4 * n, "orientations")?,
                array(semi_axes, 3 * n, "semi_axes")?,
                array(exponents, 2 * n, "exponents")?,
            )
        };
        w.superellipsoids.clear();
        w.superellipsoids.extend((0..n).map(|i| {
            Superellipsoid::of_numbers(
                std::array::from_fn(|k| centers[3 * i + k]),
                std::array::from_fn(|k| turns[4 * i + k]),
                std::array::from_fn(|k| semi[3 * i + k]),
                std::array::from_fn(|k| exponents[2 * i + k]),
            )
        }));
        w.wall.superellipsoid_contacts(&w.superellipsoids, reach, &mut w.caches, &mut w.out).map_err(failed)
    };
    // SAFETY: by the caller's promise.
    unsafe { with(wall, ask) }
}

/// The contacts of the last query, by particles and then by gaps: up to `capacity` to `out`, how many there
/// are to `count`.
///
/// # Safety
/// `wall` is a wall that no other thread changes; `out` has room for `capacity` contacts; `count` may be
/// written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_exact_wall_contacts(
    wall: *const FeelerExactWall,
    out: *mut FeelerWallContact,
    capacity: usize,
    count: *mut usize,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        let wall = shared(wall, "wall")?;
        fill(numbered_wall_contacts(&wall.out), (out, capacity), count)
    })
}

/// Where each particle's contacts begin among all, and after the last one where they end: one number more
/// than particles; up to `capacity` to `out`, how many there are to `count`.
///
/// # Safety
/// As `feeler_exact_wall_contacts`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_exact_wall_offsets(
    wall: *const FeelerExactWall,
    out: *mut u32,
    capacity: usize,
    count: *mut usize,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        let wall = shared(wall, "wall")?;
        fill(wall.out.offsets().iter().copied(), (out, capacity), count)
    })
}
