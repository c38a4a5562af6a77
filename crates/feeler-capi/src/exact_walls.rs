//! Exact walls for particles: the input is arrays of numbers, the output records of contacts.

use crate::body::FeelerBody;
use crate::error::{Failure, FeelerResult, enter};
use crate::pointer::{array, exclusive, fill, hand_out, shared, take_back};
use crate::record::{FeelerPose, pose as read_pose};
use feeler::P3;
use feeler::particles::{
    ExactWall, ProximityCache, Sphere, SuperellipsoidParticle, WallContact, WallContacts, WallError,
};

/// Wall for particles: an exact solid at a pose, with the cached results of the particles near it.
#[derive(Debug)]
pub struct FeelerExactWall {
    wall: ExactWall,
    caches: Vec<ProximityCache>,
    spheres: Vec<Sphere>,
    superellipsoids: Vec<SuperellipsoidParticle>,
    out: WallContacts,
    /// Whether a call has panicked, so that the cached results are unreliable. Calls that change the
    /// wall or compute contacts then return [`FeelerResult::Panic`].
    broken: bool,
}

/// Contact of a particle with an exact wall, in mm and world coordinates.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FeelerWallContact {
    /// Identity of the contact among those of its particle; constant while the contact stays on its
    /// feature of the wall. Use the particle and this id as key of friction states.
    pub id: u64,
    /// Index of the particle in the arrays of the query.
    pub particle: u32,
    /// Reserved, 0.
    pub reserved: u32,
    /// Footpoint on the wall.
    pub point: [f64; 3],
    /// Unit normal from the wall to the particle.
    pub normal: [f64; 3],
    /// Signed distance of the particle's surface from the wall along `normal`; negative where the
    /// particle penetrates the wall.
    pub gap: f64,
    /// Principal curvatures of the wall at `point` (1/mm), the larger one first, positive where the wall
    /// is convex; infinite across an edge, both infinite at a vertex.
    pub curvatures: [f64; 2],
}

impl From<(usize, &WallContact)> for FeelerWallContact {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "queries check that there are fewer than 2^32 particles"
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

/// Iterator over the records of the contacts of all particles, each with the index of its particle.
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

/// Records of the contacts of all particles, by ascending index of the particle.
pub fn numbered_wall_contacts(out: &WallContacts) -> impl ExactSizeIterator<Item = FeelerWallContact> + '_ {
    Numbered { contacts: out.contacts().iter().enumerate(), offsets: out.offsets(), particle: 0 }
}

fn failed(e: WallError) -> Failure {
    Failure::new(FeelerResult::Query, e)
}

/// Calls `body` with the wall and returns its result. If an earlier call of this wall has panicked,
/// `body` is not called and the result is [`FeelerResult::Panic`].
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
            return Err(Failure::new(
                FeelerResult::Panic,
                "an earlier call of this wall has panicked: free the wall",
            ));
        }
        let done = body(wall);
        wall.broken = false;
        done
    })
}

fn counted(n: usize) -> Result<usize, Failure> {
    if n < u32::MAX as usize {
        Ok(n)
    } else {
        Err(Failure::argument(format!("{n} particles are more than 2^32 - 2")))
    }
}

/// Creates an exact wall at the identity pose. The body may be freed. Free the wall with
/// `feeler_exact_wall_free`.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
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

/// Frees a wall.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_exact_wall_free(wall: *mut FeelerExactWall) {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        take_back(wall);
        Ok(())
    });
}

/// Sets the pose of a wall, which maps the coordinates of its solid to the world.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_exact_wall_set_pose(
    wall: *mut FeelerExactWall,
    pose: *const FeelerPose,
) -> FeelerResult {
    let set = |w: &mut FeelerExactWall| -> Result<(), Failure> {
        // SAFETY: by the caller's promise.
        let pose = unsafe { read_pose(pose, "pose") }?;
        w.wall.set_pose(&pose).map_err(failed)
    };
    // SAFETY: by the caller's promise.
    unsafe { with(wall, set) }
}

/// Computes all contacts of `n` spheres whose gaps are at most `reach` (mm). `centers` has `3 * n`
/// numbers (x, y, z in mm), `radii` has `n` (mm). `feeler_exact_wall_contacts` returns the contacts. The
/// query is fastest if the order of the particles is the same as in the previous call; the results do
/// not depend on the order. A sphere with its centre inside the material has one contact, at the point
/// of the boundary nearest to the centre.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_exact_wall_sphere_contacts(
    wall: *mut FeelerExactWall,
    centers: *const f64,
    radii: *const f64,
    n: usize,
    reach: f64,
) -> FeelerResult {
    let query = |w: &mut FeelerExactWall| -> Result<(), Failure> {
        // SAFETY: by the caller's promise.
        let (centers, radii) =
            unsafe { (array(centers, 3 * counted(n)?, "centers")?, array(radii, n, "radii")?) };
        let all = centers.chunks_exact(3).zip(radii);
        w.spheres.clear();
        w.spheres.extend(all.map(|(p, r)| Sphere { center: P3::new(p[0], p[1], p[2]), radius: *r }));
        w.wall.contacts(&w.spheres, reach, &mut w.caches, &mut w.out).map_err(failed)
    };
    // SAFETY: by the caller's promise.
    unsafe { with(wall, query) }
}

/// Computes all contacts of `n` superellipsoids whose gaps are at most `reach` (mm), like
/// `feeler_exact_wall_sphere_contacts`. `centers` has `3 * n` numbers (mm), `orientations` `4 * n`
/// (quaternions x, y, z, w that rotate from the particle's frame to the world), `semi_axes` `3 * n` (a,
/// b, c in mm), and `exponents` `2 * n`: ε₁ around the particle's z axis and ε₂ along it, each in [0.1,
/// 1.9]. 1, 1 is an ellipsoid; shapes approach a box for small exponents.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_exact_wall_superellipsoid_contacts(
    wall: *mut FeelerExactWall,
    centers: *const f64,
    orientations: *const f64,
    semi_axes: *const f64,
    exponents: *const f64,
    n: usize,
    reach: f64,
) -> FeelerResult {
    let query = |w: &mut FeelerExactWall| -> Result<(), Failure> {
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
            SuperellipsoidParticle::of_numbers(
                std::array::from_fn(|k| centers[3 * i + k]),
                std::array::from_fn(|k| turns[4 * i + k]),
                std::array::from_fn(|k| semi[3 * i + k]),
                std::array::from_fn(|k| exponents[2 * i + k]),
            )
        }));
        w.wall.superellipsoid_contacts(&w.superellipsoids, reach, &mut w.caches, &mut w.out).map_err(failed)
    };
    // SAFETY: by the caller's promise.
    unsafe { with(wall, query) }
}

/// Writes the contacts of the last query to `out`, sorted by index of the particle, then by gap.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
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

/// Writes the index of the first contact of each particle to `out`, followed by the number of all
/// contacts. The array has one more number than there are particles.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
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
