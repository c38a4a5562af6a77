//! Seeded curves for the comparison with the brute-force search, biased to difficult cases.

use super::V3;
use super::compare::Shape;
use feeler_curves::CurveOptions;
use feeler_geom::math;
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use std::f64::consts::TAU;

/// Kinds of pairs of curves, by which [`pair`] selects.
pub const PAIRS: [&str; 14] = [
    "cubics",
    "mixed degrees",
    "nearly parallel",
    "crossing",
    "concentric arcs",
    "shared ends",
    "planar",
    "lattice",
    "smooth chains",
    "corners",
    "scales",
    "cut",
    "polylines",
    "ends that touch",
];

/// Kinds of curves for contacts with themselves, by which [`itself`] selects.
pub const LOOPS: [&str; 14] = [
    "cubic loops",
    "smooth chains",
    "smooth rings",
    "rings with corners",
    "chains with corners",
    "coils",
    "knots",
    "nearly cusps",
    "an end near the inside",
    "ends near each other",
    "starts near the contact",
    "quintics",
    "planar",
    "lattice",
];

struct Make {
    rng: SmallRng,
}

impl Make {
    fn number(&mut self, lo: f64, hi: f64) -> f64 {
        self.rng.random_range(lo..hi)
    }

    fn count(&mut self, lo: usize, hi: usize) -> usize {
        self.rng.random_range(lo..=hi)
    }

    fn is(&mut self, share: f64) -> bool {
        self.rng.random::<f64>() < share
    }

    /// A random number with a uniform logarithm between `lo` and `hi`.
    fn magnitude(&mut self, lo: f64, hi: f64) -> f64 {
        math::exp(self.number(math::ln(lo), math::ln(hi)))
    }

    fn vector(&mut self, r: f64) -> V3 {
        V3::from_fn(|_, _| self.rng.random_range(-r..r))
    }

    fn points(&mut self, n: usize, r: f64) -> Vec<V3> {
        (0..n).map(|_| self.vector(r)).collect()
    }

    fn shape(&mut self, degree: usize, points: Vec<V3>, is_closed: bool) -> Shape {
        let radius = if self.is(0.2) { 0.0 } else { self.number(0.0, 1.0) };
        Shape { degree, points, is_closed, radius }
    }

    /// Pieces with random control points, with corners between them.
    fn corners(&mut self, degree: usize, n: usize, is_closed: bool) -> Shape {
        let points = self.points(n * degree + usize::from(!is_closed), 10.0);
        self.shape(degree, points, is_closed)
    }

    /// Cubics through random points, with a continuous direction at their joints.
    fn smooth(&mut self, n: usize, is_closed: bool) -> Shape {
        let through = self.points(n + usize::from(!is_closed), 10.0);
        self.through(&through, is_closed)
    }

    fn through(&mut self, p: &[V3], is_closed: bool) -> Shape {
        let n = p.len();
        let tangent = |i: usize| {
            let (before, after) = if is_closed {
                (p[(i + n - 1) % n], p[(i + 1) % n])
            } else {
                (p[i.saturating_sub(1)], p[(i + 1).min(n - 1)])
            };
            (after - before) * 0.5
        };
        let mut points = Vec::new();
        for i in 0..n {
            points.push(p[i]);
            if is_closed || i + 1 < n {
                let j = (i + 1) % n;
                points.push(p[i] + tangent(i) / 3.0);
                points.push(p[j] - tangent(j) / 3.0);
            }
        }
        self.shape(3, points, is_closed)
    }

    /// Cubics along an arc of radius `r` about the z axis that climbs by `pitch` in each turn.
    fn arc(&mut self, r: f64, from: f64, turns: f64, n: usize, pitch: f64, noise: f64) -> Shape {
        let h = TAU * turns / n as f64;
        let k = 4.0 / 3.0 * math::tan(h / 4.0) * r;
        let mut points = Vec::new();
        for i in 0..=n {
            let angle = from + h * i as f64;
            let z = pitch * (angle - from) / TAU;
            let p = V3::new(r * math::cos(angle), r * math::sin(angle), z);
            let t = V3::new(-k * math::sin(angle), k * math::cos(angle), pitch * h / TAU / 3.0);
            if i > 0 {
                points.push(p - t);
            }
            points.push(p);
            if i < n {
                points.push(p + t);
            }
        }
        for p in &mut points {
            *p += self.vector(noise);
        }
        self.shape(3, points, false)
    }

    fn any(&mut self) -> Shape {
        match self.count(0, 3) {
            0 => self.corners(3, 1, false),
            1 => {
                let n = self.count(1, 3);
                self.smooth(n, false)
            }
            2 => {
                let n = self.count(3, 4);
                self.smooth(n, true)
            }
            _ => {
                let (degree, n) = (self.count(1, 5), self.count(1, 3));
                self.corners(degree, n, false)
            }
        }
    }

    fn options(&mut self) -> CurveOptions {
        // Most cases have no sets of equal distance, because only strict minima can be compared.
        let level_slope = if self.is(0.7) { 1e-12 } else { 1e-6 };
        CurveOptions { d_max: 1e3, level_slope, ..CurveOptions::default() }
    }
}

fn moved(shape: &mut Shape, by: V3) {
    for p in &mut shape.points {
        *p += by;
    }
}

/// Pair of curves with a given number, of kind `number % PAIRS.len()`.
#[must_use]
pub fn pair(number: u64) -> (Shape, Shape, CurveOptions) {
    let mut make = Make { rng: SmallRng::seed_from_u64(number) };
    let m = &mut make;
    let mut options = m.options();
    let (mut a, mut b) = match PAIRS[(number % PAIRS.len() as u64) as usize] {
        "cubics" => (m.corners(3, 1, false), m.corners(3, 1, false)),
        "mixed degrees" => {
            let [i, j] = [m.count(1, 5), m.count(1, 5)];
            let [n, k] = [m.count(1, 3), m.count(1, 3)];
            (m.corners(i, n, false), m.corners(j, k, false))
        }
        "nearly parallel" => {
            let a = m.any();
            let mut b = a.clone();
            let noise = m.magnitude(1e-4, 1.0);
            for p in &mut b.points {
                *p += m.vector(noise);
            }
            let by = m.vector(2.0);
            moved(&mut b, by);
            (a, b)
        }
        "crossing" => {
            let (a, mut b) = (m.any(), m.any());
            let (s, t) = (m.number(0.0, 1.0), m.number(0.0, 1.0));
            let (ca, cb) = (a.chain(), b.chain());
            let by = ca.point(s * ca.n() as f64) - cb.point(t * cb.n() as f64);
            moved(&mut b, by);
            (a, b)
        }
        "concentric arcs" => {
            let mut arc = || {
                let (r, from, turns) = (m.number(5.0, 10.0), m.number(0.0, TAU), m.number(0.1, 0.9));
                let (n, noise) = (m.count(1, 4), m.magnitude(1e-6, 1e-1));
                m.arc(r, from, turns, n, 0.0, noise)
            };
            (arc(), arc())
        }
        "shared ends" => {
            let (a, mut b) = (m.corners(3, 1, false), m.corners(3, 1, false));
            let by = a.points[3] - b.points[0];
            moved(&mut b, by);
            b.points[0] = a.points[3];
            if m.is(0.5) {
                // The second curve continues in the same direction.
                b.points[1] = a.points[3] + (a.points[3] - a.points[2]) * m.number(0.5, 2.0);
            }
            (a, b)
        }
        "planar" => {
            let (mut a, mut b) = (m.any(), m.any());
            for p in a.points.iter_mut().chain(&mut b.points) {
                p.z = 0.0;
            }
            (a, b)
        }
        "lattice" => {
            let [i, j] = [m.count(1, 5), m.count(1, 5)];
            let (mut a, mut b) = (m.corners(i, 2, false), m.corners(j, 1, false));
            for p in a.points.iter_mut().chain(&mut b.points) {
                *p = (*p * 0.3).map(f64::round);
            }
            (a, b)
        }
        "smooth chains" => {
            let [n, k] = [m.count(1, 4), m.count(3, 4)];
            let is_closed = m.is(0.5);
            (m.smooth(n, false), m.smooth(k, is_closed))
        }
        "corners" => {
            let [i, j] = [m.count(2, 5), m.count(2, 5)];
            let [n, k] = [m.count(1, 3), m.count(2, 3)];
            let is_closed = m.is(0.5);
            (m.corners(i, n, false), m.corners(j, k, is_closed))
        }
        "scales" => {
            let (mut a, mut b) = (m.any(), m.any());
            let scale = [1e-4, 1e4][m.count(0, 1)];
            for p in a.points.iter_mut().chain(&mut b.points) {
                *p *= scale;
            }
            let radius = m.magnitude(1e-3, 1e2);
            (a.radius, b.radius) = (radius * scale, 0.0);
            options.d_max *= scale;
            options.level_length = Some(0.1 * scale);
            (a, b)
        }
        "cut" => {
            options.d_max = m.number(0.0, 6.0);
            (m.any(), m.any())
        }
        "polylines" => {
            let [n, k] = [m.count(1, 6), m.count(1, 6)];
            let is_closed = m.is(0.3) && n > 2;
            let degree = m.count(1, 3);
            (m.corners(1, n, is_closed), m.corners(degree, k, false))
        }
        _ => {
            let (a, mut b) = (m.any(), m.corners(3, 1, false));
            let chain = a.chain();
            let gap = m.magnitude(1e-9, 1.0);
            let by = chain.point(m.number(0.0, chain.n() as f64)) - b.points[0] + m.vector(gap);
            moved(&mut b, by);
            (a, b)
        }
    };
    for shape in [&mut a, &mut b] {
        lengthen_pieces(shape);
    }
    (a, b, options)
}

/// Moves a control point of every piece without length, because such pieces are invalid.
fn lengthen_pieces(shape: &mut Shape) {
    let (degree, n) = (shape.degree, shape.points.len());
    for k in 0..shape.n() {
        if (1..=degree).all(|j| shape.points[(k * degree + j) % n] == shape.points[k * degree]) {
            shape.points[(k * degree + 1) % n].x += 1.0;
        }
    }
}

/// Curve with a given number, for contacts with itself, of kind `number % LOOPS.len()`.
#[must_use]
pub fn itself(number: u64) -> (Shape, CurveOptions) {
    let mut make = Make { rng: SmallRng::seed_from_u64(number ^ 0x5e1f) };
    let m = &mut make;
    let options = m.options();
    let mut shape = match LOOPS[(number % LOOPS.len() as u64) as usize] {
        "cubic loops" => {
            let p = [
                V3::new(-3.0, 0.0, 0.0),
                V3::new(9.0, 8.0, 0.0),
                V3::new(-9.0, 8.0, 1.0),
                V3::new(3.0, 0.0, 1.0),
            ];
            let points = p.iter().map(|p| p + m.vector(3.0)).collect();
            m.shape(3, points, false)
        }
        "smooth chains" => {
            let n = m.count(2, 4);
            m.smooth(n, false)
        }
        "smooth rings" => {
            let n = m.count(3, 4);
            m.smooth(n, true)
        }
        "rings with corners" => {
            let (degree, n) = (m.count(1, 5), m.count(2, 4));
            m.corners(degree, if degree == 1 { n + 2 } else { n }, true)
        }
        "chains with corners" => {
            let (degree, n) = (m.count(1, 5), m.count(2, 4));
            m.corners(degree, if degree == 1 { n + 2 } else { n }, false)
        }
        "coils" => {
            let (turns, pitch, noise) = (m.number(1.2, 2.0), m.number(1.0, 8.0), m.magnitude(1e-3, 1.0));
            m.arc(8.0, 0.3, turns, 4, pitch, noise)
        }
        "knots" => {
            let noise = m.number(0.0, 1.0);
            let n = m.count(4, 6);
            let p: Vec<V3> = (0..n)
                .map(|i| {
                    let u = TAU * i as f64 / n as f64;
                    let (r, z) = (6.0 + 3.0 * math::cos(3.0 * u), 3.0 * math::sin(3.0 * u));
                    V3::new(r * math::cos(2.0 * u), r * math::sin(2.0 * u), z) + m.vector(noise)
                })
                .collect();
            m.through(&p, true)
        }
        "nearly cusps" => {
            // A cubic whose inner control points are swapped, near the transition of a loop to a cusp.
            let off = m.magnitude(1e-3, 1.0);
            let p = [
                V3::new(-5.0, 0.0, 0.0),
                V3::new(5.0, 8.0, 0.0),
                V3::new(-5.0, 8.0, 0.0),
                V3::new(5.0, 0.0, 0.0),
            ];
            let points = p.iter().map(|p| p + m.vector(off)).collect();
            m.shape(3, points, false)
        }
        "an end near the inside" => {
            let n = m.count(2, 4);
            let mut shape = m.smooth(n, false);
            let at = m.number(0.0, n as f64 - 0.9);
            let gap = m.magnitude(1e-6, 1.0);
            let end = shape.chain().point(at) + m.vector(gap);
            if let Some(last) = shape.points.last_mut() {
                *last = end;
            }
            shape
        }
        "ends near each other" => {
            let (n, gap) = (m.count(3, 4), m.magnitude(1e-6, 2.0));
            let mut shape = m.smooth(n, false);
            let end = shape.points[0] + m.vector(gap);
            if let Some(last) = shape.points.last_mut() {
                *last = end;
            }
            shape
        }
        "starts near the contact" => {
            let n = m.count(3, 4);
            let ring = m.smooth(n, true);
            let found = super::minima_itself(&ring.chain(), 50).minima;
            let off = m.magnitude(1e-7, 1e-1) * [1.0, -1.0][m.count(0, 1)];
            found.first().map_or(ring.clone(), |c| started(&ring, (c.u[0] + off).rem_euclid(n as f64)))
        }
        "quintics" => {
            let (n, is_closed) = (m.count(1, 2), m.is(0.5));
            m.corners(5, n, is_closed)
        }
        "planar" => {
            let mut shape = m.any();
            for p in &mut shape.points {
                p.z = 0.0;
            }
            shape
        }
        _ => {
            let (degree, n) = (m.count(2, 5), m.count(1, 3));
            let mut shape = m.corners(degree, n, false);
            for p in &mut shape.points {
                *p = (*p * 0.3).map(f64::round);
            }
            shape
        }
    };
    lengthen_pieces(&mut shape);
    (shape, options)
}

/// Control points of the two halves of a piece that is cut at the parameter `x` in [0, 1].
fn cut(control: &[V3], x: f64) -> [Vec<V3>; 2] {
    let mut c = control.to_vec();
    let (mut l, mut r) = (vec![c[0]], vec![c[c.len() - 1]]);
    while c.len() > 1 {
        c = c.windows(2).map(|w| w[0] * (1.0 - x) + w[1] * x).collect();
        l.push(c[0]);
        r.push(c[c.len() - 1]);
    }
    r.reverse();
    [l, r]
}

/// Returns the closed curve with its start at the parameter `u`, at which a piece is cut in two.
#[must_use]
pub fn started(ring: &Shape, u: f64) -> Shape {
    let split = split(ring, u);
    let (n, degree) = (split.points.len(), ring.degree);
    let k = (u as usize + 1) * degree % n;
    let points = (0..n).map(|i| split.points[(i + k) % n]).collect();
    Shape { points, ..split }
}

/// Returns the curve with one additional piece: the piece at the parameter `u` is cut there.
#[must_use]
pub fn split(shape: &Shape, u: f64) -> Shape {
    let (n, degree) = (shape.points.len(), shape.degree);
    let k = (u as usize).min(shape.n() - 1);
    let control: Vec<V3> = (0..=degree).map(|j| shape.points[(k * degree + j) % n]).collect();
    let [l, r] = cut(&control, u - k as f64);
    let mut points = shape.points[..k * degree].to_vec();
    points.extend_from_slice(&l[..degree]);
    points.extend_from_slice(&r[..degree]);
    points.extend_from_slice(&shape.points[(k + 1) * degree..]);
    Shape { points, ..shape.clone() }
}

/// Returns the same curve with its degree raised by one.
#[must_use]
pub fn raised(shape: &Shape) -> Shape {
    let (n, degree) = (shape.points.len(), shape.degree);
    let mut points = Vec::new();
    for k in 0..shape.n() {
        points.push(shape.points[k * degree]);
        for j in 1..=degree {
            let t = j as f64 / (degree + 1) as f64;
            let (p, q) = (shape.points[k * degree + j - 1], shape.points[(k * degree + j) % n]);
            points.push(p * t + q * (1.0 - t));
        }
    }
    if !shape.is_closed {
        points.push(shape.points[n - 1]);
    }
    Shape { degree: degree + 1, points, ..shape.clone() }
}
