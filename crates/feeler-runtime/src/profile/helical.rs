//! Lower bounds of the distance between faces of threads, such as those of a bolt and its nut.
//!
//! A screw motion with lead h (mm/rad) moves each point along a helix, its *orbit*. The orbit of a point
//! at radius r, angle θ and height z has the height ζ = z − hθ at angle 0. A face that the motion maps
//! to itself lies in a *band* of orbits, a + b r ≤ ζ ≤ c + d r, over a range of radii. Flanks are thin
//! bands. The strips between flanks, which are parts of cylinders, lie in bands as wide as the strip.
//! The plane ends of a thread lie in the band between the flanks, at the radii at which the other thread
//! can be.
//!
//! The height of an edge of one band above an edge of another one is a smooth function F of angle and
//! radius that varies only by the distance and tilt of the axes. It is bounded from below and above by
//! halving cells, with closed bounds of its second derivatives. F is defined up to whole pitches, so a
//! band that stays above one turn of the other band and below the next turn does not intersect it.
//!
//! # Source
//! MATH §15 (threads).
//!
//! # Guarantees
//! A separation is as certain as the measured deviation of splines from helical surfaces; see [`Helical`].

use arrayvec::ArrayVec;
use feeler_geom::helical::Helical;
use feeler_geom::{Aabb, Frame, Obb, P3, Pose, V3, math};
use nalgebra::{Matrix3, Vector3};
use std::f64::consts::TAU;

/// Largest angle (rad) between the axes of two threads at which they count as screwed into one another.
/// With a larger value, distances along orbits are not a short sum of harmonics of the angle; with a
/// smaller one, tilted bolts are solved area by area.
pub(crate) const SCREWED_TILT: f64 = 0.05;
/// Largest distance between the axes of two threads at which they count as screwed into one another, as
/// a fraction of the radius of the threads. With a larger value, distances along orbits are not a short
/// sum of harmonics of the angle; with a smaller one, bolts with much play are solved area by area.
pub(crate) const SCREWED_BESIDE: f64 = 0.2;
/// Largest relative difference between the leads of two threads at which they count as screwed into one
/// another. With a larger value, orbits of both parts diverge within a few turns; with a smaller one,
/// worn threads are solved area by area.
pub(crate) const SCREWED_LEAD: f64 = 1e-2;

/// Band of orbits of a screw motion that contains a face of a thread, in the frame of the solid. A point
/// of the face at radius r (mm) is on an orbit (helix of the motion) whose height at angle 0 is between
/// those of the two edges at r.
#[derive(Clone, Debug)]
pub(crate) struct Band {
    /// Axis `z` of the screw motion, with the origin of heights and the direction `x` of angle 0.
    frame: Frame,
    /// Lead (mm/rad) of the screw motion.
    lead: f64,
    /// Smallest and largest radius (mm) of the part of the face that lies in the band.
    radii: [f64; 2],
    /// Lower and upper edge of the band.
    edges: [Line; 2],
    /// Smallest and largest height (mm) of the face along the axis of the screw motion.
    along: [f64; 2],
    /// Range of radii (mm) at which the face is known to lie in the band; at other radii it may lie outside.
    within: [f64; 2],
    /// Side of the band on which the material of the solid lies, which determines on which side faces of
    /// the other solid may be. `None` for faces of cylinders, and if the band is too wide to separate
    /// other bands from it.
    material: Option<Material>,
}

/// Edge of a band, a linear function of the radius: the height (mm) at angle 0 and radius 0, and the
/// slope (mm/mm).
#[derive(Clone, Copy, Debug)]
struct Line {
    height: f64,
    slope: f64,
}

impl Line {
    fn at(&self, radius: f64) -> f64 {
        self.height + self.slope * radius
    }

    fn flipped(self) -> Self {
        Self { height: -self.height, slope: -self.slope }
    }
}

/// Side of a band on which the material of the solid lies.
#[derive(Clone, Copy, Debug)]
enum Material {
    Below,
    Above,
    /// The band is a ridge: the material lies between its edges, at the radii of the band.
    Between,
}

/// Unlimited range of radii (mm), for faces that lie completely in their band.
fn all_radii() -> [f64; 2] {
    [0.0, f64::INFINITY]
}
/// Half width of a band, in pitches, up to which the band counts as thin, so that other bands are
/// separated from it. A larger value wastes bounds; with a smaller one, coarse threads are searched cell
/// by cell.
const THIN_BAND: f64 = 1e-3;
/// Half width of a band, in pitches, above which the band is useless and not stored. A larger value
/// wastes bounds; with a smaller one, wide crests are searched cell by cell.
const WIDE_BAND: f64 = 0.4;
/// Largest width of a ridge, in pitches; at 1 the groove between its turns vanishes. With a larger
/// value, neighbouring turns are confused; with a smaller one, plane ends of threads are searched cell
/// by cell.
const MAX_RIDGE_WIDTH: f64 = 0.95;
/// Largest slope of a profile (height per radius) that is represented as a band. A larger value gives
/// useless bounds; with a smaller one, square threads are searched cell by cell.
const MAX_SLOPE: f64 = 5.0;
/// Height beyond the ends of one band, in pitches, within which the other one is examined; a separation is
/// valid for at most this displacement. A larger value gives looser bounds; with a smaller one, bounds
/// expire sooner.
const MAX_BEYOND_ENDS: f64 = 0.1;
/// Distance, as a fraction of the size of the face, between the radii of the band of a plane end and the
/// ends of the flanks. A larger value allows less play to the side; with a smaller one, the face may
/// leave the band between the sampled points of its border.
const END_MARGIN: f64 = 1e-4;
/// Distance, as a fraction of the size of the face, within which two axes, or two borders, count as
/// coincident. A larger value gives looser bands; with a smaller one, cylinders of threads have no band.
const MAX_COAXIAL_DISTANCE: f64 = 1e-6;
/// Radial distance between two bands above which they are separated without further tests, as a multiple
/// of the length of [`MAX_BEYOND_ENDS`]. A larger value needs more tests; with a smaller one, such
/// separations expire sooner.
const MIN_RADIAL_GAP: f64 = 0.1;
/// Factor on the measured width of a band, for orbits between the sampled ones. With a larger value,
/// flanks in contact are searched cell by cell; with a smaller one, crossings shallower than ripples are
/// missed.
const WIDTH_MARGIN: f64 = 1.5;
/// Maximum number of cells that are tested for one pair of bands; beyond it, the bands are not
/// separated. A larger value costs more; with a smaller one, more pairs are searched by other means.
const MAX_CELLS: u32 = 20_000;
/// Capacity for pending cells; each halving adds one. A larger value uses more memory; with a smaller
/// one, fewer bands are separated.
const MAX_PENDING_CELLS: usize = 128;

impl Band {
    /// Returns the band of a free-form face that the screw motion `shape` maps to itself. `places` are
    /// the orbits (radius and height at angle 0, mm) of points all over the face. `at` is a point of the
    /// face with its outward normal, and `bounds` is the box of the face. `None` if the profile is
    /// steeper than [`MAX_SLOPE`] or the band wider than [`WIDE_BAND`].
    pub(crate) fn of_orbits(
        shape: &Helical,
        places: &[[f64; 2]],
        at: (P3, V3),
        bounds: &Aabb,
    ) -> Option<Self> {
        let [inner, outer] =
            places.iter().fold([f64::INFINITY, 0.0], |[l, h]: [f64; 2], p| [l.min(p[0]), h.max(p[0])]);
        let middle = 0.5 * (inner + outer);
        let (squares, products) = places.iter().fold((0.0, 0.0), |(squares, products), [r, z]| {
            (squares + (r - middle) * (r - middle), products + (r - middle) * z)
        });
        let mean = places.iter().map(|p| p[0] - middle).sum::<f64>();
        #[expect(clippy::cast_precision_loss, reason = "some thousand places")]
        let count = places.len() as f64;
        let level = places.iter().map(|p| p[1]).sum::<f64>() / count;
        let slope = (products - mean * level) / (squares - mean * mean / count);
        if slope.is_nan() || slope.abs() > MAX_SLOPE {
            return None;
        }
        let heights = places.iter().map(|[r, z]| z - slope * r);
        let (lo, hi) = heights.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), z| (l.min(z), h.max(z)));
        let half = 0.5 * WIDTH_MARGIN * (hi - lo);
        let radii = [inner - shape.deviation, outer + shape.deviation];
        let (p, n) = at;
        let c = shape.cylindrical(&p);
        let arm = p - shape.frame.origin;
        let radial = (arm - shape.frame.z * c.height) / c.radius;
        let up = shape.frame.z - radial * slope - shape.frame.z.cross(&radial) * (shape.lead / c.radius);
        let height = 0.5 * (lo + hi);
        let is_thin = half <= THIN_BAND * shape.pitch();
        let material = if n.dot(&up) > 0.0 { Material::Below } else { Material::Above };
        let band = Self {
            frame: shape.frame,
            lead: shape.lead,
            radii,
            edges: [-half, half].map(|half| Line { height: height + half, slope }),
            along: along(&shape.frame, bounds, shape.deviation),
            within: all_radii(),
            material: is_thin.then_some(material),
        };
        (half <= WIDE_BAND * shape.pitch()).then_some(band)
    }

    /// Returns the band of a face on a cylinder about the axis of the thread `shape`. The cylinder is
    /// given by a point of its axis, the direction of the axis, its radius and the deviation of the face
    /// (mm). `border` are points of the border of the face, and `edges` are points of its edges, whose
    /// positions are more accurate; each point has its deviation (mm). `None` if the cylinder is not
    /// coaxial or the band is wider than [`WIDE_BAND`].
    ///
    /// A face whose border is in a band narrower than a pitch lies in that band, because the rest of the
    /// cylinder is a strip without ends.
    pub(crate) fn of_strip(
        shape: &Helical,
        (origin, dir, radius, off): (&P3, &V3, f64, f64),
        border: impl Iterator<Item = (P3, f64)>,
        edges: impl Iterator<Item = (P3, f64)>,
        bounds: &Aabb,
    ) -> Option<Self> {
        let frame = &shape.frame;
        let from = origin - frame.origin;
        let beside = (from - frame.z * from.dot(&frame.z)).norm();
        let size = bounds.diagonal();
        let tilt = frame.z.cross(dir).norm() * size;
        if beside + tilt > MAX_COAXIAL_DISTANCE * size {
            return None;
        }
        let [lo, hi] = orbits_of(shape, border, None)?;
        let middle = 0.5 * (lo + hi);
        let known = orbits_of(shape, edges, Some(middle));
        // The accurate points must include the outermost points of the border.
        let as_wide = |[l, h]: &[f64; 2]| (l - lo).abs() + (h - hi).abs() <= MAX_COAXIAL_DISTANCE * size;
        let [lo, hi] = known.filter(as_wide).unwrap_or([lo, hi]);
        let half = 0.5 * (hi - lo) + 1e-9 * size;
        let slack = beside + tilt + off;
        let height = 0.5 * (lo + hi);
        let band = Self {
            frame: *frame,
            lead: shape.lead,
            radii: [radius - slack, radius + slack],
            edges: [-half, half].map(|half| Line { height: height + half, slope: 0.0 }),
            along: along(frame, bounds, slack),
            within: all_radii(),
            material: None,
        };
        (half <= WIDE_BAND * shape.pitch()).then_some(band)
    }

    /// Returns the band of a plane face at the end of a thread, which is perpendicular to the axis and cuts
    /// off a ridge. `flanks` are the bands of the lower and the upper flank of the ridge. `edges` are points
    /// of the edges between the face and each of the flanks, and `border` are points of the whole border of
    /// the face; each point has its deviation (mm) from the face. `has_axis` is whether the axis intersects
    /// the face.
    ///
    /// The band extends from the lower to the upper flank. On a ridge that protrudes towards the axis, as in
    /// a nut, the face lies in the band only at radii below the outer ends of the flanks; at larger radii it
    /// covers all angles. On a ridge that protrudes away from the axis, as on a bolt, the face lies in the
    /// band at radii above the inner ends of the flanks. Either range is accepted if the border of the face
    /// lies in the band there and, for a range that begins at the axis, the axis does not intersect the face.
    /// `None` if neither range is accepted.
    pub(crate) fn of_end(
        flanks: [&Self; 2],
        edges: [&[(P3, f64)]; 2],
        border: &[(P3, f64)],
        has_axis: bool,
        bounds: &Aabb,
    ) -> Option<Self> {
        let (frame, lead) = (flanks[0].frame, flanks[0].lead);
        let pitch = TAU * lead.abs();
        let size = bounds.diagonal();
        let orbit = |p: &P3| {
            let c = Helical { frame, lead, deviation: 0.0 }.cylindrical(p);
            [c.radius, c.height - lead * c.angle]
        };
        let slopes = flanks.map(|f| f.edges[0].slope);
        let height = |side: usize, p: &P3, near: f64| {
            let [r, z] = orbit(p);
            math::unwrap_near(z - slopes[side] * r, near, pitch)
        };
        let first = |side: usize| edges[side].first().map(|(p, _)| p);
        let lower = height(0, first(0)?, 0.0);
        let of_all = edges.iter().flat_map(|e| e.iter().map(|(p, _)| orbit(p)[0]));
        let [inner, outer] = of_all.fold([f64::INFINITY, 0.0], |[l, h]: [f64; 2], r| [l.min(r), h.max(r)]);
        let middle = 0.5 * (inner + outer);
        // The upper flank is the next one above the lower one.
        let upper = height(1, first(1)?, lower + (slopes[0] - slopes[1]) * middle + 0.5 * pitch);
        let lowest = edges[0].iter().fold(f64::INFINITY, |m, (p, off)| m.min(height(0, p, lower) - off));
        let highest = edges[1].iter().fold(f64::NEG_INFINITY, |m, (p, off)| m.max(height(1, p, upper) + off));
        let lines = [lowest - 1e-9 * size, highest + 1e-9 * size];
        let lines: [Line; 2] = std::array::from_fn(|i| Line { height: lines[i], slope: slopes[i] });
        let width = |r: f64| lines[1].at(r) - lines[0].at(r);
        let is_ridge = |r: f64| 0.0 <= width(r) && width(r) <= MAX_RIDGE_WIDTH * pitch;
        let ends = END_MARGIN * size;
        let towards_axis = ([0.0, outer - ends], [inner, outer - ends], !has_axis);
        let from_axis = ([inner + ends, f64::INFINITY], [inner + ends, outer], true);
        let is_in = |within: [f64; 2]| {
            border.iter().all(|(p, off)| {
                let [r, z] = orbit(p);
                let middle = 0.5 * (lines[0].at(r) + lines[1].at(r));
                let beyond = (math::unwrap_near(z, middle, pitch) - middle).abs() - 0.5 * width(r);
                !(within[0] <= r && r <= within[1]) || beyond <= MAX_COAXIAL_DISTANCE * size + off
            })
        };
        let (within, radii, _) = [towards_axis, from_axis].into_iter().find(|(within, radii, may_be)| {
            *may_be && radii[0] < radii[1] && radii.iter().all(|r| is_ridge(*r)) && is_in(*within)
        })?;
        let slack = MAX_COAXIAL_DISTANCE * size;
        let radii = [(radii[0] - slack).max(within[0]), (radii[1] + slack).min(within[1])];
        let along = along(&frame, bounds, slack);
        Some(Self { frame, lead, radii, edges: lines, along, within, material: Some(Material::Between) })
    }

    /// Returns the frame of the screw axis and, for flanks, whether the material is below the band;
    /// `None` for faces that are not flanks.
    pub(crate) fn axis(&self) -> (&Frame, Option<bool>) {
        let is_below = match self.material {
            Some(Material::Below) => Some(true),
            Some(Material::Above) => Some(false),
            Some(Material::Between) | None => None,
        };
        (&self.frame, is_below)
    }

    /// Returns the band in a frame with reversed `y` and `z` axes, in which heights have the opposite sign
    /// and the lower edge becomes the upper one.
    fn flipped(&self) -> Self {
        let Frame { origin, x, y, z } = self.frame;
        let [lo, hi] = self.along;
        let [lower, upper] = self.edges.map(Line::flipped);
        let material = self.material.map(|m| match m {
            Material::Below => Material::Above,
            Material::Above => Material::Below,
            Material::Between => Material::Between,
        });
        Self {
            frame: Frame { origin, x, y: -y, z: -z },
            edges: [upper, lower],
            along: [-hi, -lo],
            material,
            ..self.clone()
        }
    }

    /// Half of the largest width (mm) of the band within its radii.
    fn half(&self) -> f64 {
        let width = |r: &f64| self.edges[1].at(*r) - self.edges[0].at(*r);
        0.5 * self.radii.iter().map(width).fold(0.0, f64::max)
    }

    /// Range of radii (mm) that contains the whole face, including its parts outside the band. It extends
    /// to 0 or to infinity on a side on which the face may leave the band.
    fn reach(&self) -> [f64; 2] {
        let [inner, outer] = self.within;
        [
            if inner > 0.0 { 0.0 } else { self.radii[0] },
            if outer < f64::INFINITY { f64::INFINITY } else { self.radii[1] },
        ]
    }

    /// Smallest difference (mm) between the radii of the face of another band and the radii at which
    /// this face may lie outside its band; infinite for a face that lies completely in its band.
    fn radial_margin(&self, other: &Self) -> f64 {
        let [inner, outer] = other.reach();
        let outside = if self.within[1] < f64::INFINITY { self.within[1] - outer } else { f64::INFINITY };
        let inside = if self.within[0] > 0.0 { inner - self.within[0] } else { f64::INFINITY };
        outside.min(inside)
    }
}

/// Smallest range of heights at angle 0 (mm) that contains the orbits of all points with their
/// deviations. Its middle is shifted by whole pitches to be nearest to `near`. `None` for an empty
/// iterator.
fn orbits_of(
    shape: &Helical,
    points: impl Iterator<Item = (P3, f64)>,
    near: Option<f64>,
) -> Option<[f64; 2]> {
    let pitch = shape.pitch();
    let mut heights: Vec<[f64; 2]> = points
        .map(|(p, off)| {
            let c = shape.cylindrical(&p);
            [(c.height - shape.lead * c.angle).rem_euclid(pitch), off]
        })
        .collect();
    heights.sort_unstable_by(|x, y| x[0].total_cmp(&y[0]));
    // The points are in the complement of the widest gap between the heights.
    let (first, last) = (heights.first()?[0], heights.last()?[0]);
    let (mut gap, mut from) = (first + pitch - last, first);
    for w in heights.windows(2) {
        if w[1][0] - w[0][0] > gap {
            (gap, from) = (w[1][0] - w[0][0], w[1][0]);
        }
    }
    let middle = from + 0.5 * (pitch - gap);
    let middle = near.map_or(middle, |near| math::unwrap_near(middle, near, pitch));
    let range = heights.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[l, h], [z, off]| {
        let z = math::unwrap_near(*z, middle, pitch);
        [l.min(z - off), h.max(z + off)]
    });
    Some(range)
}

/// Range of heights (mm) of a box along the z axis of `frame`, enlarged by `off` (mm) at both ends.
fn along(frame: &Frame, bounds: &Aabb, off: f64) -> [f64; 2] {
    let corners = Obb::from_aabb(bounds).corners();
    let heights = corners.iter().map(|p| (p - frame.origin).dot(&frame.z));
    heights.fold([f64::INFINITY, f64::NEG_INFINITY], |[l, h], z| [l.min(z - off), h.max(z + off)])
}

/// Largest change of the height above a band per displacement (mm/mm), at a slope of the profile, a lead
/// (mm/rad) and a radius (mm).
fn steepness(slope: f64, lead: f64, radius: f64) -> f64 {
    math::hypot(math::hypot(1.0, slope), lead / radius)
}

/// Displacement (mm) of B up to which the faces in two bands cannot intersect, with the limits of
/// [`apart`](super::apart::apart); `None` if the bands are not separated.
pub(crate) fn apart(a: &Band, b: &Band, pose_ab: &Pose, limits: [f64; 2]) -> Option<f64> {
    above(a, b, pose_ab, limits).or_else(|| above(b, a, &pose_ab.inverse(), limits))
}

/// Displacement (mm) up to which the faces in two bands cannot intersect, by the heights of the band `over`
/// above the turns of the band `base`. `pose` maps coordinates of `over` to those of `base`. `None` if the
/// heights do not separate the bands, the leads differ, or `base` is neither thin nor a ridge.
fn above(base: &Band, over: &Band, pose: &Pose, [shallow, deep]: [f64; 2]) -> Option<f64> {
    if base.material.is_none() || (base.lead - over.lead).abs() > SCREWED_LEAD * base.lead.abs() {
        return None;
    }
    if (pose.rotation * over.frame.z).dot(&base.frame.z) < 0.0 {
        return above_upright(base, &over.flipped(), pose, [shallow, deep]);
    }
    above_upright(base, over, pose, [shallow, deep])
}

fn above_upright(base: &Band, over: &Band, pose: &Pose, [shallow, deep]: [f64; 2]) -> Option<f64> {
    // Heights of the lower edge of `over` above the upper edge of `base`, and of the upper above the lower
    // one.
    let low = Height::new(base, over, [1, 0], pose)?;
    let high = Height::new(base, over, [0, 1], pose)?;
    let pitch = TAU * base.lead.abs();
    let slope = base.edges[0].slope.abs().max(base.edges[1].slope.abs());
    let steep = steepness(slope, base.lead, 0.9 * low.nearest);
    let beyond = MAX_BEYOND_ENDS * pitch;
    // One band may be radially inside the other one.
    let beside = (over.reach()[0] - base.reach()[1]).max(base.reach()[0] - over.reach()[1]) - low.max_shift;
    if beside > beyond * MIN_RADIAL_GAP {
        return Some(beside);
    }
    let beyond = beyond.min(over.radial_margin(base).min(base.radial_margin(over)) - low.max_shift);
    if beyond.is_nan() || beyond <= 0.0 {
        return None;
    }
    // Points at other radii than those of the base do not intersect it.
    let inner = over.radii[0].max(base.radii[0] - low.max_shift - beyond);
    let outer = over.radii[1].min(base.radii[1] + low.max_shift + beyond);
    let [lo, hi] = low.angles(base, over, beyond);
    if !(lo < hi && inner <= outer) {
        return Some(beyond);
    }
    // The turn of `base` that `over` is above. For flanks in contact, the offset selects the turn
    // according to the side of the material.
    let middle = [0.5 * (lo + hi), 0.5 * (inner + outer)];
    let middle = 0.5 * (low.at(middle[0], middle[1]).0 + high.at(middle[0], middle[1]).0);
    let from = match base.material? {
        Material::Below => -0.25 * pitch,
        Material::Above => 0.25 * pitch,
        Material::Between => 0.0,
    };
    let turn = ((middle - from) / pitch).floor() * pitch;
    // A point at a given distance behind a slope is farther behind it along the axis.
    let shallow = base.edges.map(|e| shallow * math::hypot(1.0, e.slope));
    let [below, above] = match base.material? {
        Material::Below => [shallow[1], -deep],
        Material::Above => [-deep, shallow[0]],
        Material::Between => [shallow[1], shallow[0]],
    };
    // Smallest margin (mm) from the limits: above this turn of `base` and below its next turn.
    let margin = |[f, slack]: [f64; 2], [g, slack_g]: [f64; 2]| {
        (f - turn + below - slack).min(pitch + turn - g + above - slack_g)
    };
    let mut pending: ArrayVec<[f64; 4], MAX_PENDING_CELLS> = ArrayVec::new();
    pending.push([lo, hi, inner, outer]);
    let (mut min_margin, mut cells) = (f64::INFINITY, 0);
    while let Some([a0, a1, r0, r1]) = pending.pop() {
        cells += 1;
        let (am, rm) = (0.5 * (a0 + a1), 0.5 * (r0 + r1));
        let (half_angle, half_radius) = (0.5 * (a1 - a0), 0.5 * (r1 - r0));
        let [of_low, of_high] = [&low, &high].map(|h| h.over_cell([am, rm], [half_angle, half_radius]));
        let here = margin([of_low.middle, 0.0], [of_high.middle, 0.0]);
        if here.is_nan() || here <= 0.0 || cells > MAX_CELLS {
            return None;
        }
        let slack = |c: &Cell| c.by_angle + c.by_radius;
        let by_low = margin([of_low.middle, slack(&of_low)], [of_high.middle, 0.0]);
        let by_high = margin([of_low.middle, 0.0], [of_high.middle, slack(&of_high)]);
        let bound = by_low.min(by_high);
        if bound >= 0.5 * here {
            min_margin = min_margin.min(bound);
            continue;
        }
        // The cell is halved along the parameter by which the less accurate side varies more.
        let Cell { by_angle, by_radius, .. } = if by_low <= by_high { of_low } else { of_high };
        let halves = if by_angle >= by_radius {
            [[a0, am, r0, r1], [am, a1, r0, r1]]
        } else {
            [[a0, a1, r0, rm], [a0, a1, rm, r1]]
        };
        for half in halves {
            pending.try_push(half).ok()?;
        }
    }
    Some((min_margin / steep).min(beyond))
}

/// Height (mm) of an edge of one band (the upper band) above an edge of another one (the base), as a
/// function of the angle (rad) and the radius (mm) of a point on the upper band's edge.
///
/// With T the tilt between the axes, t the position of the axis, D = T − 1, and q = (r cos φ, r sin φ, h(φ
/// − ψ) + a + b r) a point of the upper band after a rotation by ψ, the point is moved by u = D q + t: by x
/// outwards, y around and z along the axis. With X = r + x and Y = y its radius becomes R = hypot(X, Y),
/// and its angle increases by δ = atan2(Y, X). The height is
///
/// F = a − hψ − a₀ + (h − h₀) φ + b r + z − h₀ δ − b₀ R,
///
/// where the values of the base have the index ₀.
struct Height {
    tilt: Matrix3<f64>,
    shift: V3,
    /// Angle ψ (rad) of the rotation in the formula above.
    turn: f64,
    leads: [f64; 2],
    heights: [f64; 2],
    slopes: [f64; 2],
    /// Upper bounds of the absolute second derivatives of the height F: by the angle, mixed, and by the
    /// radius.
    bends: [f64; 3],
    /// Smallest distance (mm) of a point of the upper band from the axis of the base.
    nearest: f64,
    /// Largest displacement (mm), perpendicular to the axis of the base, of points of the upper band that
    /// results from the distance and tilt between the axes of the two bands.
    max_shift: f64,
    /// Largest change of the height (mm) of points of the upper band by the tilt between the axes.
    rise: f64,
}

/// Height over a cell of angles and radii: its value (mm) in the middle, and its largest variations (mm)
/// from there over the angles and over the radii of the cell.
struct Cell {
    middle: f64,
    by_angle: f64,
    by_radius: f64,
}

impl Height {
    /// Height of the edge `j` of the upper band `over` above the edge `i` of the base. `None` if the
    /// axes differ by more than [`SCREWED_TILT`] or [`SCREWED_BESIDE`].
    fn new(base: &Band, over: &Band, [i, j]: [usize; 2], pose: &Pose) -> Option<Self> {
        let (line, edge) = (base.edges[i], over.edges[j]);
        let axes = |f: &Frame| Matrix3::from_columns(&[f.x, f.y, f.z]);
        let to_base = axes(&base.frame).transpose();
        let turned = to_base * pose.rotation.to_rotation_matrix().matrix() * axes(&over.frame);
        let shift = to_base * (pose * over.frame.origin - base.frame.origin);
        let turn = math::atan2(turned[(1, 0)] - turned[(0, 1)], turned[(0, 0)] + turned[(1, 1)]);
        let (sin, cos) = math::sin_cos(turn);
        let about = Matrix3::new(cos, -sin, 0.0, sin, cos, 0.0, 0.0, 0.0, 1.0);
        let tilt = turned * about.transpose() - Matrix3::identity();
        let mut height = Self {
            tilt,
            shift,
            turn,
            leads: [base.lead, over.lead],
            heights: [line.height, edge.height],
            slopes: [line.slope, edge.slope],
            bends: [0.0; 3],
            nearest: 0.0,
            max_shift: 0.0,
            rise: 0.0,
        };
        let tau = tilt.norm();
        // The largest displacement across the axis is that in the middle plus the effect of the tilt
        // from there.
        let [z0, z1] = over.along;
        let axial = shift.z * V3::z();
        let middle = tilt * V3::new(0.0, 0.0, 0.5 * (z0 + z1)) + (shift - axial);
        let far = math::hypot(0.5 * (z1 - z0) + over.half(), over.radii[1]);
        let max_shift = middle.norm() + tau * far;
        let nearest = over.radii[0] - max_shift;
        if !(tau <= SCREWED_TILT && max_shift <= SCREWED_BESIDE * over.radii[0]) {
            return None;
        }
        let (h, b, m) = (base.lead.abs(), line.slope.abs(), nearest);
        let rho = math::hypot(over.radii[1], over.lead);
        let beta = math::hypot(1.0, edge.slope);
        // Upper bounds of the second and first derivatives of X and of Y by the angle.
        let bend = tau * over.radii[1] + 2.0 * tau * rho + max_shift;
        let rate = tau * rho + max_shift;
        // Upper bound of the angle between the direction of increasing r and the radius from the axis of
        // the base.
        let lean = (1.0 + tau * beta) * (max_shift / m) + tau * beta;
        let root = std::f64::consts::SQRT_2;
        height.bends = [
            tau * over.radii[1]
                + h * (root * bend / m + 2.0 * rate * rate / (m * m))
                + b * (root * bend + 2.0 * rate * rate / m),
            tau + h * (root * tau * (1.0 + beta) / m + root * rate * (1.0 + tau * beta) / (m * m))
                + b * (root * tau * (1.0 + beta) + root * rate * lean / m),
            h * 2.0 * (1.0 + tau * beta) * lean / (m * m) + b * lean * lean / m,
        ];
        height.nearest = nearest;
        height.max_shift = max_shift;
        height.rise = tau * math::hypot(z0.abs().max(z1.abs()) + over.half(), over.radii[1]);
        Some(height)
    }

    /// Range of angles (rad), in the frame of the base, of the part of the upper band that is at most
    /// `beyond` (mm) beyond the ends of the base; [0, 0] if the whole band is farther away.
    fn angles(&self, base: &Band, over: &Band, beyond: f64) -> [f64; 2] {
        let [lower, upper] = over.edges.map(|line| over.radii.map(|r| line.at(r)));
        let (lowest, highest) = (lower[0].min(lower[1]), upper[0].max(upper[1]));
        let from = over.along[0].max(base.along[0] - beyond - self.shift.z - self.rise);
        let to = over.along[1].min(base.along[1] + beyond - self.shift.z + self.rise);
        if from >= to {
            return [0.0; 2];
        }
        let ends = [from - highest, to - lowest].map(|z| z / over.lead);
        [ends[0].min(ends[1]) + self.turn, ends[0].max(ends[1]) + self.turn]
    }

    /// Height over a cell, given by its middle (rad, mm) and its half widths in angle and radius.
    fn over_cell(&self, [angle, radius]: [f64; 2], [da, dr]: [f64; 2]) -> Cell {
        let (middle, of_angle, of_radius) = self.at(angle, radius);
        let [aa, ar, rr] = self.bends;
        Cell {
            middle,
            by_angle: of_angle.abs() * da + 0.5 * aa * da * da + 0.5 * ar * da * dr,
            by_radius: of_radius.abs() * dr + 0.5 * rr * dr * dr + 0.5 * ar * da * dr,
        }
    }

    /// Height (mm) of the upper band's edge above the base's edge, and its derivatives by the angle
    /// (mm/rad) and the radius (mm/mm). `angle` (rad) and `radius` (mm) are φ and r of the formula at
    /// [`Height`].
    fn at(&self, angle: f64, radius: f64) -> (f64, f64, f64) {
        let ([h0, h], [a0, a], [b0, b]) = (self.leads, self.heights, self.slopes);
        let (sin, cos) = math::sin_cos(angle);
        let z = h * (angle - self.turn) + a + b * radius;
        let q = Vector3::new(radius * cos, radius * sin, z);
        let u = self.tilt * q + self.shift;
        let by_angle = self.tilt * Vector3::new(-radius * sin, radius * cos, h);
        let by_radius = self.tilt * Vector3::new(cos, sin, b);
        let out = |v: &V3| v.x * cos + v.y * sin;
        let on = |v: &V3| v.y * cos - v.x * sin;
        let (x, y) = (radius + out(&u), on(&u));
        let (x_angle, y_angle) = (out(&by_angle) + on(&u), on(&by_angle) - out(&u));
        let (x_radius, y_radius) = (1.0 + out(&by_radius), on(&by_radius));
        let far_sq = x * x + y * y;
        let far = far_sq.sqrt();
        let turned = |dx: f64, dy: f64| (x * dy - y * dx) / far_sq;
        let farther = |dx: f64, dy: f64| (x * dx + y * dy) / far;
        let f =
            a - h * self.turn - a0 + (h - h0) * angle + b * radius + u.z - h0 * math::atan2(y, x) - b0 * far;
        let f_angle = (h - h0) + by_angle.z - h0 * turned(x_angle, y_angle) - b0 * farther(x_angle, y_angle);
        let f_radius = b + by_radius.z - h0 * turned(x_radius, y_radius) - b0 * farther(x_radius, y_radius);
        (f, f_angle, f_radius)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::SmallRng;
    use rand::{Rng, SeedableRng};

    fn band(height: f64, slope: f64, half: f64, is_up: bool) -> Band {
        Band {
            frame: Frame::identity(),
            lead: 1.0 / TAU,
            radii: [2.4, 2.9],
            edges: [-half, half].map(|half| Line { height: height + half, slope }),
            along: [-3.0, 3.0],
            within: all_radii(),
            material: Some(if is_up { Material::Below } else { Material::Above }),
        }
    }

    /// The height equals that of points, and its derivatives are those of the height, within the bounds.
    #[test]
    fn heights_equal_those_of_points() {
        let mut rng = SmallRng::seed_from_u64(7);
        for _ in 0..2_000 {
            let (base, over) =
                (band(0.1, 0.57, 0.0, true), band(0.3, rng.random_range(-0.6..0.6), 0.0, true));
            let mut any = |x: f64| V3::from_fn(|_, _| rng.random_range(-x..x));
            let (shift, tilt) = (any(0.05), any(0.01));
            let pose = Pose::new(shift, tilt) * Pose::rotation(V3::z() * rng.random_range(-3.0..3.0));
            let height = Height::new(&base, &over, [0, 0], &pose).unwrap();
            let (angle, radius) = (rng.random_range(-15.0..15.0), rng.random_range(2.4..2.9));
            let (f, f_angle, f_radius) = height.at(angle, radius);
            // A point of the upper band, before its rotation.
            let own = angle - height.turn;
            let z = over.lead * own + over.edges[0].at(radius);
            let p = pose * P3::new(radius * math::cos(own), radius * math::sin(own), z);
            let there = math::unwrap_near(math::atan2(p.y, p.x), angle, TAU);
            let expected = p.z - base.lead * there - base.edges[0].at(math::hypot(p.x, p.y));
            assert!((f - expected).abs() < 1e-13, "{f} {expected}");
            let (e, [aa, ar, rr]) = (1e-4, height.bends);
            let at = |i: f64, j: f64| height.at(angle + i * e, radius + j * e);
            let slopes =
                [at(1.0, 0.0).0 - at(-1.0, 0.0).0, at(0.0, 1.0).0 - at(0.0, -1.0).0].map(|d| d / (2.0 * e));
            assert!((slopes[0] - f_angle).abs() < 1e-7 && (slopes[1] - f_radius).abs() < 1e-7);
            let bends = [
                at(1.0, 0.0).1 - at(-1.0, 0.0).1,
                at(0.0, 1.0).1 - at(0.0, -1.0).1,
                at(0.0, 1.0).2 - at(0.0, -1.0).2,
            ]
            .map(|d| (d / (2.0 * e)).abs() - 1e-7);
            assert!(bends[0] <= aa && bends[1] <= ar && bends[2] <= rr, "{bends:?} {aa} {ar} {rr}");
        }
    }

    /// A lower bound of the distance of two bands is at most the smallest height of sampled points of
    /// the upper band above the nearest turn of the other one, and at least about a fifth of it. Bands
    /// without such a bound nearly touch.
    #[test]
    fn bands_are_apart_until_they_touch() {
        let mut rng = SmallRng::seed_from_u64(8);
        let limits = [2e-6, 4e-6];
        let (mut known, mut touching) = (0, 0);
        for _ in 0..400 {
            let gap = [1e-3, 0.03, 1e-6, -0.01][rng.random_range(0..4)];
            let (base, over) = (band(0.0, 0.57, 1e-7, true), band(gap, 0.57, 1e-7, false));
            let part = [0.0, 1e-6, 0.3, 1.0][rng.random_range(0..4)];
            let mut any = |x: f64| V3::from_fn(|_, _| rng.random_range(-x..x));
            let pose = Pose::new(any(0.02) * part, any(1e-3) * part);
            // Smallest height at points above the nearest turn.
            let mut min_height = f64::INFINITY;
            for i in 0..2_000 {
                let (angle, radius) = (f64::from(i) * 0.019 - 19.0, if i % 2 == 0 { 2.4 } else { 2.9 });
                let z = over.lead * angle + over.edges[0].at(radius);
                let p = pose * P3::new(radius * math::cos(angle), radius * math::sin(angle), z);
                // The bands end here.
                if z.abs() > 3.0 || p.z.abs() > 3.0 {
                    continue;
                }
                let there = math::unwrap_near(math::atan2(p.y, p.x), angle, TAU);
                min_height =
                    min_height.min(p.z - base.lead * there - base.edges[1].at(math::hypot(p.x, p.y)));
            }
            match apart(&base, &over, &pose, limits) {
                Some(spare) => {
                    known += 1;
                    assert!(spare <= min_height + limits[0], "{spare} of {min_height}");
                    // At least a fifth of the available distance.
                    assert!(spare >= 0.2 * (min_height - 1e-3 * part), "{spare} of {min_height}");
                }
                None => {
                    touching += 1;
                    // Between the sampled points, the height can be lower by the effect of their distances.
                    assert!(min_height < 1e-5 + 1e-3 * part, "{min_height}");
                }
            }
        }
        assert!(known > 100 && touching > 100, "{known} {touching}");
    }

    /// Ends of ridges towards the axis and away from it lie in the band between their flanks, but not if
    /// their border leaves it. Flanks in contact are separated from such ends, deeper flanks are not.
    #[test]
    fn ends_of_ridges_are_between_their_flanks() {
        let flank = |height: f64, slope: f64, is_up: bool| band(height, slope, 1e-9, is_up);
        let bounds = Aabb { min: P3::new(-6.0, -6.0, 0.0), max: P3::new(6.0, 6.0, 0.0) };
        // At height 0, an orbit of height ζ is at the angle −ζ / h.
        let at = |zeta: f64, r: f64| {
            let angle = -zeta * TAU;
            (P3::new(r * math::cos(angle), r * math::sin(angle), 0.0), 1e-9)
        };
        let steps = |n: i32| (0..=n).map(move |k| f64::from(k) / f64::from(n));
        for towards_axis in [true, false] {
            // A ridge whose flanks are farther apart at the outer radius, or at the inner one.
            let s = if towards_axis { -0.5 } else { 0.5 };
            let (low, high) = (|r: f64| 0.1 + s * (r - 2.65), |r: f64| 0.6 - s * (r - 2.65));
            let flanks = [flank(low(0.0), s, false), flank(high(0.0), -s, true)];
            let radius = |t: f64| 2.4 + 0.5 * t;
            let lower: Vec<_> = steps(24).map(|t| at(low(radius(t)), radius(t))).collect();
            let upper: Vec<_> = steps(24).map(|t| at(high(radius(t)), radius(t))).collect();
            let (crest, root) = if towards_axis { (2.4, 2.9) } else { (2.9, 2.4) };
            let arc = |from: f64, to: f64, r: f64| steps(48).map(move |t| at(from + (to - from) * t, r));
            let border: Vec<_> = [lower.clone(), upper.clone()]
                .concat()
                .into_iter()
                .chain(arc(low(crest), high(crest), crest))
                .chain(arc(high(root), low(root) + 1.0, root))
                .collect();
            let of = |border: &[(P3, f64)], has_axis| {
                Band::of_end([&flanks[0], &flanks[1]], [&lower, &upper], border, has_axis, &bounds)
            };
            let end = of(&border, !towards_axis).unwrap();
            for t in steps(10) {
                let r = end.radii[0] + t * (end.radii[1] - end.radii[0]);
                // The edges of the band are defined up to whole turns.
                let turn = (end.edges[0].at(r) - low(r)).round();
                assert!((end.edges[0].at(r) - low(r) - turn).abs() < 1e-6, "{r}");
                assert!((end.edges[1].at(r) - high(r) - turn).abs() < 1e-6, "{r}");
            }
            // A face that contains the axis has no such band for a ridge towards the axis; nor has a face
            // with a lug.
            assert!(!towards_axis || of(&border, true).is_none());
            let lug: Vec<_> = border.iter().copied().chain([at(high(2.65) + 0.05, 2.65)]).collect();
            assert!(of(&lug, !towards_axis).is_none());
            // A flank of another part above the upper flank of the ridge.
            let limits = [2e-6, 4e-6];
            for (gap, is_apart) in [(1e-3, true), (-1e-6, true), (-1e-5, false), (-0.1, false)] {
                let other = Band { radii: [2.5, 2.8], ..flank(high(0.0) + gap, -s, false) };
                let found = apart(&end, &other, &Pose::identity(), limits);
                assert_eq!(found.is_some(), is_apart, "{towards_axis} {gap}");
                assert!(found.is_none_or(|spare| spare <= gap + 3e-6));
            }
        }
    }
}
