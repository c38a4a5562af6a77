//! Small solids described by hand, for tests and examples of every stage.
//!
//! Each function returns a [`SolidSource`] in one of the conventions of real files: faces closed by a
//! seam edge that is used twice, periodic faces without a seam, or whole closed surfaces without any
//! loop. Dimensions are in millimetres. Arguments are not checked: invalid dimensions give invalid
//! solids.

use feeler_geom::bezier::{BezierSurface, homogeneous};
use feeler_geom::count::index;
use feeler_geom::{Curve, Frame, P3, Surface, V3, math};

use crate::source::{EdgeSource, FaceSource, LoopSource, SolidSource, VertexSource};

/// Builder of a [`SolidSource`] that collects vertices, edges and faces; ids count up from 1 in the
/// order of creation.
#[derive(Clone, Debug, Default)]
pub struct SourceBuilder {
    /// Vertices added until now; their indices are those that the methods return.
    pub vertices: Vec<VertexSource>,
    /// Edges added until now; their indices are those that the methods return.
    pub edges: Vec<EdgeSource>,
    /// Faces added until now.
    pub faces: Vec<FaceSource>,
    last_id: u64,
}

impl SourceBuilder {
    /// Creates an empty builder.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    /// Adds a vertex at a position (mm) and returns its index.
    pub fn vertex(&mut self, x: f64, y: f64, z: f64) -> u32 {
        let id = self.id();
        self.vertices.push(VertexSource { id, point: P3::new(x, y, z) });
        index(self.vertices.len() - 1)
    }

    /// Adds an edge along `curve` (in its direction) from vertex `start` to vertex `end`, and returns
    /// its index.
    pub fn edge(&mut self, curve: Curve, start: u32, end: u32) -> u32 {
        let id = self.id();
        self.edges.push(EdgeSource { id, curve, range: None, start, end, same_sense: true });
        index(self.edges.len() - 1)
    }

    /// Returns the index of the straight edge between two vertices, which is added if it does not exist
    /// yet, and whether the edge runs from `a` to `b`.
    pub fn line(&mut self, a: u32, b: u32) -> (u32, bool) {
        for (i, e) in self.edges.iter().enumerate() {
            if matches!(e.curve, Curve::Line { .. }) {
                if (e.start, e.end) == (a, b) {
                    return (index(i), true);
                }
                if (e.start, e.end) == (b, a) {
                    return (index(i), false);
                }
            }
        }
        let (p, q) = (self.point(a), self.point(b));
        let curve = Curve::Line { origin: p, dir: (q - p).normalize() };
        (self.edge(curve, a, b), true)
    }

    /// Adds a full circle (radius in mm) that starts and ends at a vertex, and returns the index of the
    /// edge.
    pub fn circle(&mut self, frame: Frame, radius: f64, vertex: u32) -> u32 {
        self.edge(Curve::Circle { frame, radius }, vertex, vertex)
    }

    /// Adds a face of the outer shell and returns its index. `outward`: whether the natural normal of
    /// the surface points out of the material.
    pub fn face(&mut self, surface: Surface, outward: bool, loops: Vec<LoopSource>) -> u32 {
        let id = self.id();
        self.faces.push(FaceSource {
            id,
            shell: 0,
            surface,
            surface_deviation: 0.0,
            outward,
            either_way: false,
            outer_sheet: None,
            loops,
        });
        index(self.faces.len() - 1)
    }

    /// Adds a planar face bounded by polygons of straight edges, given by vertex indices: the outline
    /// counter-clockwise as seen from outside, then holes clockwise. Returns the index of the face.
    pub fn polygon(&mut self, loops: &[&[u32]]) -> u32 {
        let outer = loops[0];
        // Newell's normal is twice the vector area.
        let mut normal = V3::zeros();
        for (i, a) in outer.iter().enumerate() {
            let b = outer[(i + 1) % outer.len()];
            normal += self.point(*a).coords.cross(&self.point(b).coords);
        }
        let frame = frame(self.point(outer[0]), normal);
        let loops = loops.iter().map(|ring| self.ring(ring)).collect();
        self.face(Surface::Plane { frame }, true, loops)
    }

    /// Creates a loop of straight edges through the vertices `ring` in order, without adding a face.
    pub fn ring(&mut self, ring: &[u32]) -> LoopSource {
        let n = ring.len();
        LoopSource::Edges((0..n).map(|i| self.line(ring[i], ring[(i + 1) % n])).collect())
    }

    /// Returns the position (mm) of a vertex.
    #[must_use]
    pub fn point(&self, vertex: u32) -> P3 {
        self.vertices[vertex as usize].point
    }

    /// Returns the solid of all vertices, edges and faces added.
    #[must_use]
    pub fn finish(self, name: &str) -> SolidSource {
        SolidSource {
            name: name.to_owned(),
            id: self.last_id + 1,
            vertices: self.vertices,
            edges: self.edges,
            faces: self.faces,
            uncertainty: 0.0,
        }
    }
}

fn frame(origin: P3, z: V3) -> Frame {
    Frame::from_z(origin, z, None).expect("fixtures have directions")
}

/// Frame with the world axes and its origin at `(0, 0, z)`.
fn level(z: f64) -> Frame {
    Frame { origin: P3::new(0.0, 0.0, z), ..Frame::identity() }
}

fn forward(edges: &[u32]) -> LoopSource {
    LoopSource::Edges(edges.iter().map(|e| (*e, true)).collect())
}

fn backward(edges: &[u32]) -> LoopSource {
    LoopSource::Edges(edges.iter().rev().map(|e| (*e, false)).collect())
}

/// A box between its corners with the smallest and the largest coordinates (mm).
#[must_use]
pub fn block(min: [f64; 3], max: [f64; 3]) -> SolidSource {
    let mut b = SourceBuilder::new();
    let c: Vec<u32> = (0..8)
        .map(|i| {
            let pick = |k: usize| if i >> k & 1 == 1 { max[k] } else { min[k] };
            b.vertex(pick(0), pick(1), pick(2))
        })
        .collect();
    for ring in [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]] {
        b.polygon(&[&ring.map(|i: usize| c[i])]);
    }
    b.finish("block")
}

/// An upright prism over a simple polygon in the xy-plane, listed counter-clockwise, from `z = 0` to
/// `height`.
#[must_use]
pub fn prism(polygon: &[[f64; 2]], height: f64) -> SolidSource {
    let mut b = SourceBuilder::new();
    let low: Vec<u32> = polygon.iter().map(|p| b.vertex(p[0], p[1], 0.0)).collect();
    let high: Vec<u32> = polygon.iter().map(|p| b.vertex(p[0], p[1], height)).collect();
    let bottom: Vec<u32> = low.iter().rev().copied().collect();
    b.polygon(&[&bottom]);
    b.polygon(&[&high]);
    for i in 0..low.len() {
        let j = (i + 1) % low.len();
        b.polygon(&[&[low[i], low[j], high[j], high[i]]]);
    }
    b.finish("prism")
}

/// An L-shaped prism from `z = 0` to `height`. It has one concave vertical edge, at the z axis, with a
/// vertex at each end.
#[must_use]
pub fn l_prism(leg: f64, thickness: f64, height: f64) -> SolidSource {
    let (l, t) = (leg, thickness);
    SolidSource {
        name: "l_prism".into(),
        ..prism(&[[0.0, 0.0], [0.0, l], [-t, l], [-t, -t], [l, -t], [l, 0.0]], height)
    }
}

/// A cube of edge length `size` with a cube of half that size cut out of the corner at
/// `(size, size, size)`. The inner corner of the notch is a pit; the three vertices next to it are flat
/// or saddle-like.
#[must_use]
pub fn notched_cube(size: f64) -> SolidSource {
    let mut b = SourceBuilder::new();
    let h = size / 2.0;
    let s = size;
    let o = b.vertex(0.0, 0.0, 0.0);
    let [x, y, z] = [b.vertex(s, 0.0, 0.0), b.vertex(0.0, s, 0.0), b.vertex(0.0, 0.0, s)];
    let [xy, yz, zx] = [b.vertex(s, s, 0.0), b.vertex(0.0, s, s), b.vertex(s, 0.0, s)];
    let [xy_h, yz_h, zx_h] = [b.vertex(s, s, h), b.vertex(h, s, s), b.vertex(s, h, s)];
    let [x_h, y_h, z_h] = [b.vertex(s, h, h), b.vertex(h, s, h), b.vertex(h, h, s)];
    let pit = b.vertex(h, h, h);
    b.polygon(&[&[o, y, xy, x]]);
    b.polygon(&[&[o, z, yz, y]]);
    b.polygon(&[&[o, x, zx, z]]);
    b.polygon(&[&[x, xy, xy_h, x_h, zx_h, zx]]);
    b.polygon(&[&[y, yz, yz_h, y_h, xy_h, xy]]);
    b.polygon(&[&[z, zx, zx_h, z_h, yz_h, yz]]);
    b.polygon(&[&[pit, x_h, xy_h, y_h]]);
    b.polygon(&[&[pit, y_h, yz_h, z_h]]);
    b.polygon(&[&[pit, z_h, zx_h, x_h]]);
    b.finish("notched_cube")
}

/// A cylinder around the z axis from `z = 0` to `height`, whose side is closed by a seam edge that is
/// used twice.
#[must_use]
pub fn cylinder(radius: f64, height: f64) -> SolidSource {
    let mut b = SourceBuilder::new();
    let (low, high) = (b.vertex(radius, 0.0, 0.0), b.vertex(radius, 0.0, height));
    let bottom = b.circle(level(0.0), radius, low);
    let top = b.circle(level(height), radius, high);
    let (seam, _) = b.line(low, high);
    let side = LoopSource::Edges(vec![(bottom, true), (seam, true), (top, false), (seam, false)]);
    b.face(Surface::Cylinder { frame: level(0.0), radius }, true, vec![side]);
    b.face(Surface::Plane { frame: level(0.0) }, false, vec![backward(&[bottom])]);
    b.face(Surface::Plane { frame: level(height) }, true, vec![forward(&[top])]);
    b.finish("cylinder")
}

/// Like [`cylinder`], but the side is bounded by two circles without a seam edge.
#[must_use]
pub fn cylinder_without_seam(radius: f64, height: f64) -> SolidSource {
    let mut b = SourceBuilder::new();
    let (low, high) = (b.vertex(radius, 0.0, 0.0), b.vertex(-radius, 0.0, height));
    let bottom = b.circle(level(0.0), radius, low);
    let top = b.circle(level(height), radius, high);
    b.face(Surface::Cylinder { frame: level(0.0), radius }, true, vec![forward(&[bottom]), backward(&[top])]);
    b.face(Surface::Plane { frame: level(0.0) }, false, vec![backward(&[bottom])]);
    b.face(Surface::Plane { frame: level(height) }, true, vec![forward(&[top])]);
    b.finish("cylinder_without_seam")
}

/// Like [`cylinder`], but the side consists of two half cylinders that join at two smooth straight edges.
#[must_use]
pub fn cylinder_halves(radius: f64, height: f64) -> SolidSource {
    let mut b = SourceBuilder::new();
    let r = radius;
    let [low_0, low_1] = [b.vertex(r, 0.0, 0.0), b.vertex(-r, 0.0, 0.0)];
    let [high_0, high_1] = [b.vertex(r, 0.0, height), b.vertex(-r, 0.0, height)];
    let circle = |z| Curve::Circle { frame: level(z), radius };
    let [bottom_0, bottom_1] = [b.edge(circle(0.0), low_0, low_1), b.edge(circle(0.0), low_1, low_0)];
    let [top_0, top_1] = [b.edge(circle(height), high_0, high_1), b.edge(circle(height), high_1, high_0)];
    let ((line_0, _), (line_1, _)) = (b.line(low_0, high_0), b.line(low_1, high_1));
    let half = |bottom, right, top, left| {
        vec![LoopSource::Edges(vec![(bottom, true), (right, true), (top, false), (left, false)])]
    };
    let side = Surface::Cylinder { frame: level(0.0), radius };
    b.face(side.clone(), true, half(bottom_0, line_1, top_0, line_0));
    b.face(side, true, half(bottom_1, line_0, top_1, line_1));
    b.face(Surface::Plane { frame: level(0.0) }, false, vec![backward(&[bottom_0, bottom_1])]);
    b.face(Surface::Plane { frame: level(height) }, true, vec![forward(&[top_0, top_1])]);
    b.finish("cylinder_halves")
}

/// A sphere around the origin: one face without loops.
#[must_use]
pub fn sphere(radius: f64) -> SolidSource {
    let mut b = SourceBuilder::new();
    b.face(Surface::Sphere { frame: level(0.0), radius }, true, vec![]);
    b.finish("sphere")
}

/// A sphere around the origin: one face bounded by half a meridian that is used twice, from pole to pole.
#[must_use]
pub fn sphere_with_seam(radius: f64) -> SolidSource {
    let mut b = SourceBuilder::new();
    let (south, north) = (b.vertex(0.0, 0.0, -radius), b.vertex(0.0, 0.0, radius));
    // The frame maps x to x and y to z, so parameters from −π/2 to π/2 run from pole to pole.
    let frame = Frame { origin: P3::origin(), x: V3::x(), y: V3::z(), z: -V3::y() };
    let seam = b.edge(Curve::Circle { frame, radius }, south, north);
    let ring = LoopSource::Edges(vec![(seam, true), (seam, false)]);
    b.face(Surface::Sphere { frame: level(0.0), radius }, true, vec![ring]);
    b.finish("sphere_with_seam")
}

/// Half a sphere (`z ≥ 0`), whose dome is bounded by the equator only.
#[must_use]
pub fn hemisphere(radius: f64) -> SolidSource {
    let mut b = SourceBuilder::new();
    let v = b.vertex(radius, 0.0, 0.0);
    let equator = b.circle(level(0.0), radius, v);
    b.face(Surface::Sphere { frame: level(0.0), radius }, true, vec![forward(&[equator])]);
    b.face(Surface::Plane { frame: level(0.0) }, false, vec![backward(&[equator])]);
    b.finish("hemisphere")
}

/// A torus around the z axis: one face without loops.
#[must_use]
pub fn torus(major: f64, minor: f64) -> SolidSource {
    let mut b = SourceBuilder::new();
    b.face(Surface::Torus { frame: level(0.0), major, minor }, true, vec![]);
    b.finish("torus")
}

/// A torus around the z axis with a void that is a thinner torus.
#[must_use]
pub fn hollow_torus(major: f64, outer: f64, inner: f64) -> SolidSource {
    let mut b = SourceBuilder::new();
    b.face(Surface::Torus { frame: level(0.0), major, minor: outer }, true, vec![]);
    b.face(Surface::Torus { frame: level(0.0), major, minor: inner }, false, vec![]);
    b.faces[1].shell = 1;
    b.finish("hollow_torus")
}

/// A torus around the z axis: one face bounded by the outer equator and a circle of the tube, each used
/// twice.
#[must_use]
pub fn torus_with_seams(major: f64, minor: f64) -> SolidSource {
    let mut b = SourceBuilder::new();
    let v = b.vertex(major + minor, 0.0, 0.0);
    let equator = b.circle(level(0.0), major + minor, v);
    let tube = Frame { origin: P3::new(major, 0.0, 0.0), x: V3::x(), y: V3::z(), z: -V3::y() };
    let tube = b.circle(tube, minor, v);
    let ring = LoopSource::Edges(vec![(equator, true), (tube, true), (equator, false), (tube, false)]);
    b.face(Surface::Torus { frame: level(0.0), major, minor }, true, vec![ring]);
    b.finish("torus_with_seams")
}

fn cone_surface(radius: f64, height: f64) -> Surface {
    // The cone opens downwards from its apex.
    let frame = Frame { origin: P3::new(0.0, 0.0, height), x: V3::x(), y: -V3::y(), z: -V3::z() };
    Surface::Cone { frame, half_angle: math::atan2(radius, height) }
}

/// A cone with its base on `z = 0` and its apex at `(0, 0, height)`; the apex is a vertex loop.
#[must_use]
pub fn cone(radius: f64, height: f64) -> SolidSource {
    let mut b = SourceBuilder::new();
    let (v, apex) = (b.vertex(radius, 0.0, 0.0), b.vertex(0.0, 0.0, height));
    let base = b.circle(level(0.0), radius, v);
    b.face(cone_surface(radius, height), true, vec![forward(&[base]), LoopSource::Vertex(apex)]);
    b.face(Surface::Plane { frame: level(0.0) }, false, vec![backward(&[base])]);
    b.finish("cone")
}

/// Like [`cone`], but with a ruling as a seam edge, which is used twice and ends at the apex.
#[must_use]
pub fn cone_with_seam(radius: f64, height: f64) -> SolidSource {
    let mut b = SourceBuilder::new();
    let (v, apex) = (b.vertex(radius, 0.0, 0.0), b.vertex(0.0, 0.0, height));
    let base = b.circle(level(0.0), radius, v);
    let (seam, _) = b.line(v, apex);
    let ring = LoopSource::Edges(vec![(base, true), (seam, true), (seam, false)]);
    b.face(cone_surface(radius, height), true, vec![ring]);
    b.face(Surface::Plane { frame: level(0.0) }, false, vec![backward(&[base])]);
    b.finish("cone_with_seam")
}

/// The half `y ≥ 0` of [`cone`]: its apex is a vertex with two real edges on the conical face.
#[must_use]
pub fn half_cone(radius: f64, height: f64) -> SolidSource {
    let mut b = SourceBuilder::new();
    let [right, left] = [b.vertex(radius, 0.0, 0.0), b.vertex(-radius, 0.0, 0.0)];
    let apex = b.vertex(0.0, 0.0, height);
    let arc = b.edge(Curve::Circle { frame: level(0.0), radius }, right, left);
    let (diameter, _) = b.line(left, right);
    let ((up_left, _), (up_right, _)) = (b.line(left, apex), b.line(right, apex));
    let side = LoopSource::Edges(vec![(arc, true), (up_left, true), (up_right, false)]);
    b.face(cone_surface(radius, height), true, vec![side]);
    b.face(Surface::Plane { frame: level(0.0) }, false, vec![backward(&[arc, diameter])]);
    let cut = LoopSource::Edges(vec![(diameter, true), (up_right, true), (up_left, false)]);
    b.face(Surface::Plane { frame: frame(P3::origin(), -V3::y()) }, true, vec![cut]);
    b.finish("half_cone")
}

/// A box `[-a, a] × [-a, a] × [0, height]` with a cylindrical hole around the z axis through it.
#[must_use]
pub fn block_with_hole(a: f64, height: f64, radius: f64) -> SolidSource {
    let mut b = SourceBuilder::new();
    let corners = [(-a, -a), (a, -a), (a, a), (-a, a)];
    let low = corners.map(|(x, y)| b.vertex(x, y, 0.0));
    let high = corners.map(|(x, y)| b.vertex(x, y, height));
    for i in 0..4 {
        let j = (i + 1) % 4;
        b.polygon(&[&[low[i], low[j], high[j], high[i]]]);
    }
    let (v_low, v_high) = (b.vertex(radius, 0.0, 0.0), b.vertex(radius, 0.0, height));
    let bottom = b.circle(level(0.0), radius, v_low);
    let top = b.circle(level(height), radius, v_high);
    let mut low_ring = low;
    low_ring.reverse();
    let outer = b.ring(&low_ring);
    b.face(Surface::Plane { frame: level(0.0) }, false, vec![outer, forward(&[bottom])]);
    let outer = b.ring(&high);
    b.face(Surface::Plane { frame: level(height) }, true, vec![outer, backward(&[top])]);
    let bore = vec![backward(&[bottom]), forward(&[top])];
    b.face(Surface::Cylinder { frame: level(0.0), radius }, false, bore);
    b.finish("block_with_hole")
}

/// A sphere around the origin with a concentric spherical void.
#[must_use]
pub fn hollow_sphere(outer: f64, inner: f64) -> SolidSource {
    let mut b = SourceBuilder::new();
    b.face(Surface::Sphere { frame: level(0.0), radius: outer }, true, vec![]);
    b.face(Surface::Sphere { frame: level(0.0), radius: inner }, false, vec![]);
    b.faces[1].shell = 1;
    b.finish("hollow_sphere")
}

/// A prism over a stadium (two half circles of the radius around `(± length / 2, 0)` joined by straight
/// sides), from `z = 0` to `height`. Its four upright edges are smooth.
#[must_use]
pub fn stadium(length: f64, radius: f64, height: f64) -> SolidSource {
    let mut b = SourceBuilder::new();
    let (h, r) = (length / 2.0, radius);
    let ring = [(h, -r), (h, r), (-h, r), (-h, -r)];
    let low = ring.map(|(x, y)| b.vertex(x, y, 0.0));
    let high = ring.map(|(x, y)| b.vertex(x, y, height));
    // Counter-clockwise: right arc 0 → 1, top line 1 → 2, left arc 2 → 3, bottom line 3 → 0.
    let mut rim = |v: &[u32; 4], z: f64| {
        let arc = |x: f64| Curve::Circle {
            frame: Frame { origin: P3::new(x, 0.0, z), ..Frame::identity() },
            radius,
        };
        let right = b.edge(arc(h), v[0], v[1]);
        let (up, _) = b.line(v[1], v[2]);
        let left = b.edge(arc(-h), v[2], v[3]);
        let (down, _) = b.line(v[3], v[0]);
        [right, up, left, down]
    };
    let (bottom, top) = (rim(&low, 0.0), rim(&high, height));
    let upright: Vec<u32> = (0..4).map(|i| b.line(low[i], high[i]).0).collect();
    for i in 0..4 {
        let j = (i + 1) % 4;
        let side = vec![LoopSource::Edges(vec![
            (bottom[i], true),
            (upright[j], true),
            (top[i], false),
            (upright[i], false),
        ])];
        if i % 2 == 0 {
            let x = if i == 0 { h } else { -h };
            let frame = Frame { origin: P3::new(x, 0.0, 0.0), ..Frame::identity() };
            b.face(Surface::Cylinder { frame, radius }, true, side);
        } else {
            let y = if i == 1 { r } else { -r };
            b.face(Surface::Plane { frame: frame(P3::new(0.0, y, 0.0), V3::y() * y) }, true, side);
        }
    }
    b.face(Surface::Plane { frame: level(0.0) }, false, vec![backward(&bottom)]);
    b.face(Surface::Plane { frame: level(height) }, true, vec![forward(&top)]);
    b.finish("stadium")
}

/// The outer sheet of a spindle torus (`major < minor`): an apple with two dimples, bounded by vertex loops
/// at its two self-intersection points.
#[must_use]
pub fn apple(major: f64, minor: f64) -> SolidSource {
    let mut b = SourceBuilder::new();
    let h = (minor * minor - major * major).sqrt();
    let (south, north) = (b.vertex(0.0, 0.0, -h), b.vertex(0.0, 0.0, h));
    let loops = vec![LoopSource::Vertex(south), LoopSource::Vertex(north)];
    b.face(Surface::Torus { frame: level(0.0), major, minor }, true, loops);
    b.finish("apple")
}

/// The wedge `0 ≤ longitude ≤ angle` of a horn torus: a rod bent about a point of its own side, where its
/// two ends meet. The relative difference between the radii of the tube and of its centre circle is
/// `difference`, such as rounding gives. With `halved` the ends are bounded by two half circles each,
/// otherwise by one circle that starts at that point.
#[must_use]
pub fn horn_bend(radius: f64, difference: f64, angle: f64, halved: bool) -> SolidSource {
    let mut b = SourceBuilder::new();
    let tip = b.vertex(0.0, 0.0, 0.0);
    let ends: Vec<(Frame, Vec<u32>)> = [0.0, angle]
        .into_iter()
        .map(|u| {
            let (s, c) = math::sin_cos(u);
            let out = V3::new(c, s, 0.0);
            let frame =
                Frame { origin: P3::origin() + out * radius, x: -out, y: -V3::z(), z: out.cross(&V3::z()) };
            let curve = Curve::Circle { frame, radius };
            if !halved {
                return (frame, vec![b.edge(curve, tip, tip)]);
            }
            let far = b.vertex(2.0 * radius * c, 2.0 * radius * s, 0.0);
            (frame, vec![b.edge(curve.clone(), tip, far), b.edge(curve, far, tip)])
        })
        .collect();
    let along = |edges: &[u32]| edges.iter().map(|e| (*e, true)).collect::<Vec<_>>();
    let back = |edges: &[u32]| edges.iter().rev().map(|e| (*e, false)).collect::<Vec<_>>();
    let (first, last) = (&ends[0], &ends[1]);
    let side = [along(&last.1), back(&first.1)].concat();
    let minor = radius * (1.0 + difference);
    b.face(Surface::Torus { frame: level(0.0), major: radius, minor }, true, vec![LoopSource::Edges(side)]);
    b.face(Surface::Plane { frame: first.0 }, true, vec![LoopSource::Edges(along(&first.1))]);
    b.face(Surface::Plane { frame: last.0 }, false, vec![LoopSource::Edges(back(&last.1))]);
    b.finish("horn_bend")
}

/// The wedge `0 ≤ longitude ≤ angle` of a ball (`angle < 2π`): its two poles are vertices with real
/// edges.
#[must_use]
pub fn ball_wedge(radius: f64, angle: f64) -> SolidSource {
    let mut b = SourceBuilder::new();
    let (south, north) = (b.vertex(0.0, 0.0, -radius), b.vertex(0.0, 0.0, radius));
    let (s, c) = math::sin_cos(angle);
    let meridian = |dir: V3| Frame { origin: P3::origin(), x: dir, y: V3::z(), z: dir.cross(&V3::z()) };
    let (first, last) = (meridian(V3::x()), meridian(V3::new(c, s, 0.0)));
    let start = b.edge(Curve::Circle { frame: first, radius }, south, north);
    let stop = b.edge(Curve::Circle { frame: last, radius }, south, north);
    let (axis, _) = b.line(south, north);
    let walk = |up: u32, down: u32| vec![LoopSource::Edges(vec![(up, true), (down, false)])];
    b.face(Surface::Sphere { frame: level(0.0), radius }, true, walk(stop, start));
    b.face(Surface::Plane { frame: first }, true, walk(start, axis));
    b.face(Surface::Plane { frame: last }, false, walk(axis, stop));
    b.finish("ball_wedge")
}

/// A block between z = −1 and z = 0, with length and width 2 `half`, and with a Bézier patch on top. The
/// inner control points of the patch have the given heights and the weight `weight`; its straight border
/// has the height 0.
#[must_use]
pub fn bump(half: f64, heights: &[&[f64]], weight: f64) -> SolidSource {
    let mut b = SourceBuilder::new();
    let (nu, nv) = (heights.len() + 1, heights[0].len() + 1);
    let corners = [(-half, -half), (half, -half), (half, half), (-half, half)];
    let low = corners.map(|(x, y)| b.vertex(x, y, -1.0));
    let high = corners.map(|(x, y)| b.vertex(x, y, 0.0));
    for k in 0..4 {
        let next = (k + 1) % 4;
        b.polygon(&[&[low[k], low[next], high[next], high[k]]]);
    }
    b.polygon(&[&[low[3], low[2], low[1], low[0]]]);
    let at = |i: usize, n: usize| -half + 2.0 * half * f64::from(index(i)) / f64::from(index(n));
    let mut control = Vec::new();
    for i in 0..=nu {
        for j in 0..=nv {
            let is_inner = (1..nu).contains(&i) && (1..nv).contains(&j);
            let z = if is_inner { heights[i - 1][j - 1] } else { 0.0 };
            let w = if is_inner { weight } else { 1.0 };
            control.push(homogeneous(&P3::new(at(i, nu), at(j, nv), z), w));
        }
    }
    let patch = BezierSurface {
        u_degree: index(nu),
        v_degree: index(nv),
        u_breaks: vec![0.0, 1.0],
        v_breaks: vec![0.0, 1.0],
        control,
        u_periodic: false,
        v_periodic: false,
    };
    let ring = b.ring(&high);
    b.face(Surface::Bezier(patch), true, vec![ring]);
    b.finish("bump")
}
