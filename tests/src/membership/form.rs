//! Solids in closed form, with a signed depth of any point.

use feeler_geom::{P3, V3};

/// A region of the plane: a simple polygon with disjoint round holes.
#[derive(Clone, Debug, PartialEq)]
pub struct Outline {
    /// Corners (mm), counter-clockwise.
    pub corners: Vec<[f64; 2]>,
    /// Holes: x and y of the centre, and radius (mm). They are inside the polygon and disjoint.
    pub holes: Vec<[f64; 3]>,
}

/// A solid in closed form. Lengths are in mm.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// A ball.
    Ball {
        /// Centre of the ball.
        center: P3,
        /// Radius of the ball.
        radius: f64,
    },
    /// A box along the axes.
    Block {
        /// Smallest coordinates of the box.
        min: [f64; 3],
        /// Largest coordinates of the box.
        max: [f64; 3],
    },
    /// All points within a radius of a segment on the z axis.
    Pill {
        /// z of the start of the segment.
        low: f64,
        /// z of the end of the segment.
        high: f64,
        /// Maximum distance from the segment.
        radius: f64,
    },
    /// All points whose `(x, y)` is within a radius of a segment on the x axis; unbounded along z.
    Track {
        /// Half the length of the segment.
        half: f64,
        /// Maximum distance from the segment in the plane.
        radius: f64,
    },
    /// A torus around the z axis; an apple if the tube's radius is larger than the ring's.
    Torus {
        /// Radius of the ring.
        major: f64,
        /// Radius of the tube.
        minor: f64,
    },
    /// The region that polygons in the half plane of radius and height sweep around the z axis; a polygon
    /// within a polygon is a void.
    Turned {
        /// Polygons of `[radius, z]`, radius ≥ 0.
        profiles: Vec<Vec<[f64; 2]>>,
    },
    /// An upright prism over an outline.
    Upright {
        /// Section normal to z.
        outline: Outline,
        /// z of the bottom.
        low: f64,
        /// z of the top.
        high: f64,
    },
    /// A half space: all points with `⟨normal, p⟩ ≤ offset`.
    Half {
        /// Outward unit normal of the plane.
        normal: V3,
        /// Signed distance of the plane from the origin along the normal.
        offset: f64,
    },
    /// The intersection of the forms.
    And(Vec<Form>),
    /// The complement of the form.
    Not(Box<Form>),
    /// The first form minus the second one, which lies strictly inside.
    Hollow(Box<Form>, Box<Form>),
}

impl Form {
    /// Signed depth (mm) of a point, positive inside. Inside, it is at most the distance to the
    /// boundary; outside, its magnitude is at most that distance. Its sign is right up to rounding, and
    /// it is 1-Lipschitz.
    #[must_use]
    pub fn depth(&self, p: &P3) -> f64 {
        match self {
            Self::Ball { center, radius } => radius - (p - center).norm(),
            Self::Block { min, max } => slabs([0, 1, 2].map(|k| (p[k] - min[k]).min(max[k] - p[k]))),
            Self::Pill { low, high, radius } => {
                let z = p.z - p.z.clamp(*low, *high);
                radius - (p.x * p.x + p.y * p.y + z * z).sqrt()
            }
            Self::Track { half, radius } => radius - length(p.x - p.x.clamp(-half, *half), p.y),
            Self::Torus { major, minor } => minor - length(length(p.x, p.y) - major, p.z),
            Self::Turned { profiles } => {
                let q = [length(p.x, p.y), p.z];
                let (mut near, mut inside) = (f64::INFINITY, false);
                for profile in profiles {
                    polygon(profile, q, true, &mut near, &mut inside);
                }
                if inside { near } else { -near }
            }
            Self::Upright { outline, low, high } => {
                let d = (p.z - low).min(high - p.z);
                let s = outline.depth([p.x, p.y]);
                if s < 0.0 && d < 0.0 { -length(s, d) } else { s.min(d) }
            }
            Self::Half { normal, offset } => offset - normal.dot(&p.coords),
            Self::And(parts) => parts.iter().map(|f| f.depth(p)).fold(f64::INFINITY, f64::min),
            Self::Not(f) => -f.depth(p),
            Self::Hollow(f, void) => f.depth(p).min(-void.depth(p)),
        }
    }

    /// Whether the magnitude of the depth of points outside is their distance from the boundary, not
    /// only a lower bound of it.
    #[must_use]
    pub fn is_exact_outside(&self) -> bool {
        match self {
            Self::Torus { major, minor } => major >= minor,
            Self::And(_) => false,
            Self::Not(f) => !matches!(**f, Self::And(_) | Self::Hollow(..)),
            Self::Hollow(f, void) => {
                f.is_exact_outside() && !matches!(**void, Self::And(_) | Self::Hollow(..))
            }
            _ => true,
        }
    }

    /// Whether the depth of points inside is their distance from the boundary, not only a lower bound of
    /// it.
    #[must_use]
    pub fn is_exact_inside(&self) -> bool {
        match self {
            Self::Torus { major, minor } => major >= minor,
            Self::And(parts) => parts.iter().all(Self::is_exact_inside),
            Self::Not(f) => f.is_exact_outside(),
            Self::Hollow(f, void) => f.is_exact_inside() && void.is_exact_outside(),
            _ => true,
        }
    }
}

impl Outline {
    /// Signed distance (mm) of the point `q` from the border, positive inside.
    #[must_use]
    pub fn depth(&self, q: [f64; 2]) -> f64 {
        let (mut near, mut inside) = (f64::INFINITY, false);
        polygon(&self.corners, q, false, &mut near, &mut inside);
        let outer = if inside { near } else { -near };
        self.holes.iter().map(|h| length(q[0] - h[0], q[1] - h[1]) - h[2]).fold(outer, f64::min)
    }
}

fn length(x: f64, y: f64) -> f64 {
    (x * x + y * y).sqrt()
}

/// Depth in a box, from the depths in the slabs between its opposite faces.
fn slabs(d: [f64; 3]) -> f64 {
    let inside = d[0].min(d[1]).min(d[2]);
    if inside >= 0.0 {
        return inside;
    }
    let [x, y, z] = d.map(|x| x.min(0.0));
    -(x * x + y * y + z * z).sqrt()
}

/// Reduces `near` to the distance from `q` to a polygon if that is smaller, and flips `inside` for every
/// side that a ray to the right crosses. With `axis`, sides on the second axis do not count as border.
fn polygon(corners: &[[f64; 2]], q: [f64; 2], axis: bool, near: &mut f64, inside: &mut bool) {
    let mut smallest = f64::INFINITY;
    let mut a = corners[corners.len() - 1];
    for &b in corners {
        let (d, w) = ([b[0] - a[0], b[1] - a[1]], [q[0] - a[0], q[1] - a[1]]);
        if !(axis && a[0] <= 0.0 && b[0] <= 0.0) {
            let t = ((w[0] * d[0] + w[1] * d[1]) / (d[0] * d[0] + d[1] * d[1])).clamp(0.0, 1.0);
            let off = [w[0] - t * d[0], w[1] - t * d[1]];
            smallest = smallest.min(off[0] * off[0] + off[1] * off[1]);
            if (a[1] > q[1]) != (b[1] > q[1]) && a[0] + d[0] * (w[1] / d[1]) > q[0] {
                *inside = !*inside;
            }
        }
        a = b;
    }
    *near = near.min(smallest.sqrt());
}
