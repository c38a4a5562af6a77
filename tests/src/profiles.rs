//! Prisms over curved profiles: gears, racks, cams and cycloidal discs whose flanks are splines through
//! closed forms, and the pins between which such discs roll.

use feeler_brep::fixtures::SourceBuilder;
use feeler_brep::source::{LoopSource, SolidSource};
use feeler_geom::bezier::{BezierSpline, BezierSurface, homogeneous};
use feeler_geom::count::index;
use feeler_geom::{Curve, Frame, P3, Surface, V3, math};

/// A point of a plane curve with its first two derivatives by the curve's parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlaneJet {
    /// Point (mm).
    pub p: [f64; 2],
    /// First derivative.
    pub first: [f64; 2],
    /// Second derivative.
    pub second: [f64; 2],
}

impl PlaneJet {
    /// Jet mirrored at the x axis.
    #[must_use]
    pub fn mirrored(&self) -> Self {
        let mirror = |[x, y]: [f64; 2]| [x, -y];
        Self { p: mirror(self.p), first: mirror(self.first), second: mirror(self.second) }
    }

    /// Jet of the curve that is traversed backwards.
    #[must_use]
    pub fn reversed(&self) -> Self {
        Self { first: [-self.first[0], -self.first[1]], ..*self }
    }

    /// Jet rotated about the origin by an angle (rad).
    #[must_use]
    pub fn rotated(&self, angle: f64) -> Self {
        let (s, c) = math::sin_cos(angle);
        let turn = |[x, y]: [f64; 2]| [c * x - s * y, s * x + c * y];
        Self { p: turn(self.p), first: turn(self.first), second: turn(self.second) }
    }
}

/// A side of a profile, from the previous one to its own end.
#[derive(Clone, Debug, PartialEq)]
pub enum Side {
    /// Straight side to this point.
    Line([f64; 2]),
    /// Spline of degree 5 through these jets at equal steps of the parameter: points, first and second
    /// derivatives are those of the jets. The first point is the end of the previous side.
    Spline(Vec<PlaneJet>, f64),
}

impl Side {
    /// Spline through the jets of a curve at `pieces` + 1 parameters from `from` to `to`.
    #[must_use]
    pub fn through(curve: impl Fn(f64) -> PlaneJet, (from, to): (f64, f64), pieces: u32) -> Self {
        let step = (to - from) / f64::from(pieces);
        Self::Spline((0..=pieces).map(|i| curve(from + step * f64::from(i))).collect(), step)
    }

    fn end(&self) -> [f64; 2] {
        match self {
            Self::Line(p) => *p,
            Self::Spline(jets, _) => jets.last().map_or([0.0; 2], |j| j.p),
        }
    }
}

/// Control points of the piece of degree 5 between two jets, `step` apart.
fn hermite(a: &PlaneJet, b: &PlaneJet, step: f64) -> [[f64; 2]; 6] {
    let (h, hh) = (step / 5.0, step * step / 20.0);
    std::array::from_fn(|k| {
        std::array::from_fn(|i| match k {
            0 => a.p[i],
            1 => a.p[i] + h * a.first[i],
            2 => a.p[i] + 2.0 * h * a.first[i] + hh * a.second[i],
            3 => b.p[i] - 2.0 * h * b.first[i] + hh * b.second[i],
            4 => b.p[i] - h * b.first[i],
            _ => b.p[i],
        })
    })
}

/// An upright prism from z = 0 to `height` over a profile in the xy-plane, whose sides follow each other
/// counter-clockwise.
///
/// # Panics
/// Never for profiles with at least two sides.
#[must_use]
pub fn prism_over(sides: &[Side], height: f64) -> SolidSource {
    let mut b = SourceBuilder::new();
    let n = sides.len();
    // Vertex i is the start of side i.
    let starts: Vec<[f64; 2]> = (0..n).map(|i| sides[(i + n - 1) % n].end()).collect();
    let low: Vec<u32> = starts.iter().map(|p| b.vertex(p[0], p[1], 0.0)).collect();
    let high: Vec<u32> = starts.iter().map(|p| b.vertex(p[0], p[1], height)).collect();
    let upright: Vec<u32> = (0..n).map(|i| b.line(low[i], high[i]).0).collect();
    let mut rims = [vec![], vec![]];
    for (i, side) in sides.iter().enumerate() {
        let j = (i + 1) % n;
        let [bottom, top] = match side {
            Side::Line(_) => [b.line(low[i], low[j]).0, b.line(high[i], high[j]).0],
            Side::Spline(..) => {
                let at = |z: f64| Curve::Bezier(spline(side, z));
                [b.edge(at(0.0), low[i], low[j]), b.edge(at(height), high[i], high[j])]
            }
        };
        let ring = [(bottom, true), (upright[j], true), (top, false), (upright[i], false)];
        let surface = match side {
            Side::Line(end) => {
                let along = V3::new(end[0] - starts[i][0], end[1] - starts[i][1], 0.0);
                let origin = P3::new(starts[i][0], starts[i][1], 0.0);
                let outside = along.cross(&V3::z());
                Surface::Plane { frame: Frame::from_z(origin, outside, None).expect("a direction") }
            }
            Side::Spline(..) => extruded(&spline(side, 0.0), height),
        };
        b.face(surface, true, vec![LoopSource::Edges(ring.to_vec())]);
        rims[0].push(bottom);
        rims[1].push(top);
    }
    let level =
        |z: f64| Surface::Plane { frame: Frame { origin: P3::new(0.0, 0.0, z), ..Frame::identity() } };
    let below = rims[0].iter().rev().map(|e| (*e, false)).collect();
    let above = rims[1].iter().map(|e| (*e, true)).collect();
    b.face(level(0.0), false, vec![LoopSource::Edges(below)]);
    b.face(level(height), true, vec![LoopSource::Edges(above)]);
    b.finish("prism over a profile")
}

/// A square plate from −`half` to `half` and from z = −`thickness` to 0, with a pin of this radius and height
/// at each of the `centers`. Lengths in mm.
///
/// # Panics
/// Never.
#[must_use]
pub fn plate_with_pins(
    (half, thickness): (f64, f64),
    centers: &[[f64; 2]],
    (radius, height): (f64, f64),
) -> SolidSource {
    let mut b = SourceBuilder::new();
    let corners = [[-half, -half], [half, -half], [half, half], [-half, half]];
    let low = corners.map(|[x, y]| b.vertex(x, y, -thickness));
    let high = corners.map(|[x, y]| b.vertex(x, y, 0.0));
    b.polygon(&[&[low[3], low[2], low[1], low[0]]]);
    for i in 0..4 {
        let j = (i + 1) % 4;
        b.polygon(&[&[low[i], low[j], high[j], high[i]]]);
    }
    let mut loops = vec![b.ring(&high)];
    for &[x, y] in centers {
        let at = |z: f64| Frame { origin: P3::new(x, y, z), ..Frame::identity() };
        let (foot, end) = (b.vertex(x + radius, y, 0.0), b.vertex(x + radius, y, height));
        let (bottom, top) = (b.circle(at(0.0), radius, foot), b.circle(at(height), radius, end));
        let (seam, _) = b.line(foot, end);
        let side = vec![(bottom, true), (seam, true), (top, false), (seam, false)];
        b.face(Surface::Cylinder { frame: at(0.0), radius }, true, vec![LoopSource::Edges(side)]);
        b.face(Surface::Plane { frame: at(height) }, true, vec![LoopSource::Edges(vec![(top, true)])]);
        loops.push(LoopSource::Edges(vec![(bottom, false)]));
    }
    b.face(Surface::Plane { frame: Frame::identity() }, true, loops);
    b.finish("plate with pins")
}

fn spline(side: &Side, z: f64) -> BezierSpline {
    let Side::Spline(jets, step) = side else { unreachable!("a spline") };
    let pieces = jets.windows(2).flat_map(|w| hermite(&w[0], &w[1], *step));
    BezierSpline {
        degree: 5,
        breaks: (0..jets.len()).map(|i| f64::from(index(i)) * step.abs()).collect(),
        control: pieces.map(|[x, y]| homogeneous(&P3::new(x, y, z), 1.0)).collect(),
        periodic: false,
    }
}

fn extruded(curve: &BezierSpline, height: f64) -> Surface {
    let both = |p: &feeler_geom::bezier::H4| {
        let mut high = *p;
        high.z += height * p.w;
        [*p, high]
    };
    Surface::Bezier(BezierSurface {
        u_degree: curve.degree,
        v_degree: 1,
        u_breaks: curve.breaks.clone(),
        v_breaks: vec![0.0, height],
        control: curve.control.iter().flat_map(both).collect(),
        u_periodic: false,
        v_periodic: false,
    })
}
