//! Boundary representations of revolved solids, prisms and a few other solids that
//! `feeler_brep::fixtures` lacks.

use feeler_brep::fixtures::SourceBuilder;
use feeler_brep::source::{LoopSource, SolidSource};
use feeler_geom::{Frame, P3, Surface, V3, math};

/// Frame with the world axes and its origin at a point.
fn at(x: f64, y: f64, z: f64) -> Frame {
    Frame { origin: P3::new(x, y, z), ..Frame::identity() }
}

/// Frame at the height `z` of the z axis, rotated by half a turn about x.
fn down(z: f64) -> Frame {
    Frame { origin: P3::new(0.0, 0.0, z), x: V3::x(), y: -V3::y(), z: -V3::z() }
}

fn rim(edge: u32, forward: bool) -> LoopSource {
    LoopSource::Edges(vec![(edge, forward)])
}

/// The solid without seams that polygons of `[radius, z]` sweep around the z axis. Outer polygons are
/// counter-clockwise, voids clockwise.
pub(super) fn turned(name: &str, profiles: &[Vec<[f64; 2]>]) -> SolidSource {
    let mut b = SourceBuilder::new();
    for (shell, profile) in profiles.iter().enumerate() {
        let rims: Vec<Option<u32>> = profile
            .iter()
            .enumerate()
            .map(|(i, &[r, z])| {
                // The start vertex is at a different angle on every circle.
                let (s, c) = math::sin_cos(0.7 * i as f64);
                (r > 0.0).then(|| {
                    let v = b.vertex(r * c, r * s, z);
                    let frame = Frame {
                        origin: P3::new(0.0, 0.0, z),
                        x: V3::new(c, s, 0.0),
                        y: V3::new(-s, c, 0.0),
                        z: V3::z(),
                    };
                    b.circle(frame, r, v)
                })
            })
            .collect();
        for i in 0..profile.len() {
            let j = (i + 1) % profile.len();
            let ([r0, z0], [r1, z1]) = (profile[i], profile[j]);
            let mut loops: Vec<LoopSource> = rims[i].map(|e| rim(e, true)).into_iter().collect();
            loops.extend(rims[j].map(|e| rim(e, false)));
            let (surface, outward) = match (r1 - r0, z1 - z0) {
                _ if loops.is_empty() => continue,
                (dr, 0.0) => {
                    if dr < 0.0 && r1 > 0.0 || dr > 0.0 && r0 == 0.0 {
                        // The outer border is the first loop.
                    } else {
                        loops.reverse();
                    }
                    (Surface::Plane { frame: at(0.0, 0.0, z0) }, dr < 0.0)
                }
                (0.0, dz) => (Surface::Cylinder { frame: at(0.0, 0.0, 0.0), radius: r0 }, dz > 0.0),
                (dr, dz) => {
                    let apex = z0 - r0 * dz / dr;
                    let frame = if dr * dz > 0.0 { at(0.0, 0.0, apex) } else { down(apex) };
                    if r0 == 0.0 || r1 == 0.0 {
                        let v = b.vertex(0.0, 0.0, apex);
                        loops.push(LoopSource::Vertex(v));
                    }
                    (Surface::Cone { frame, half_angle: math::atan2(dr.abs(), dz.abs()) }, dz > 0.0)
                }
            };
            let f = b.face(surface, outward, loops);
            b.faces[f as usize].shell = shell as u32;
        }
    }
    b.finish(name)
}

/// A round hole of an upright prism, drilled from its top.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hole {
    /// x of the centre (mm).
    pub x: f64,
    /// y of the centre (mm).
    pub y: f64,
    /// Radius (mm).
    pub radius: f64,
    /// z of the floor (mm); `None` for a through hole.
    pub floor: Option<f64>,
}

/// An upright prism over a polygon (counter-clockwise) from `z = low` to `high`, with holes.
pub(super) fn upright(name: &str, corners: &[[f64; 2]], low: f64, high: f64, holes: &[Hole]) -> SolidSource {
    let mut b = SourceBuilder::new();
    let bottom: Vec<u32> = corners.iter().map(|p| b.vertex(p[0], p[1], low)).collect();
    let top: Vec<u32> = corners.iter().map(|p| b.vertex(p[0], p[1], high)).collect();
    for i in 0..corners.len() {
        let j = (i + 1) % corners.len();
        b.polygon(&[&[bottom[i], bottom[j], top[j], top[i]]]);
    }
    let reversed: Vec<u32> = bottom.iter().rev().copied().collect();
    let (mut below, mut above) = (vec![b.ring(&reversed)], vec![b.ring(&top)]);
    for h in holes {
        let z = h.floor.unwrap_or(low);
        let rims = [z, high].map(|z| {
            let v = b.vertex(h.x + h.radius, h.y, z);
            b.circle(at(h.x, h.y, z), h.radius, v)
        });
        let side = Surface::Cylinder { frame: at(h.x, h.y, low), radius: h.radius };
        b.face(side, false, vec![rim(rims[0], false), rim(rims[1], true)]);
        above.push(rim(rims[1], false));
        if h.floor.is_some() {
            b.face(Surface::Plane { frame: at(h.x, h.y, z) }, true, vec![rim(rims[0], true)]);
        } else {
            below.push(rim(rims[0], true));
        }
    }
    b.face(Surface::Plane { frame: at(0.0, 0.0, low) }, false, below);
    b.face(Surface::Plane { frame: at(0.0, 0.0, high) }, true, above);
    b.finish(name)
}

/// Adds the six faces of a box; their orientation is reversed for a void.
fn six(b: &mut SourceBuilder, min: [f64; 3], max: [f64; 3], void: bool) {
    let c: Vec<u32> = (0..8)
        .map(|i| {
            let pick = |k: usize| if i >> k & 1 == 1 { max[k] } else { min[k] };
            b.vertex(pick(0), pick(1), pick(2))
        })
        .collect();
    for ring in [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]] {
        let mut ring = ring.map(|i: usize| c[i]);
        if void {
            ring.reverse();
        }
        let f = b.polygon(&[&ring]);
        b.faces[f as usize].shell = u32::from(void);
    }
}

/// A box with a box-shaped void.
pub(super) fn box_in_box(outer: ([f64; 3], [f64; 3]), inner: ([f64; 3], [f64; 3])) -> SolidSource {
    let mut b = SourceBuilder::new();
    six(&mut b, outer.0, outer.1, false);
    six(&mut b, inner.0, inner.1, true);
    b.finish("box_in_box")
}

/// A box with a ball-shaped void around a point.
pub(super) fn ball_in_box(min: [f64; 3], max: [f64; 3], center: P3, radius: f64) -> SolidSource {
    let mut b = SourceBuilder::new();
    six(&mut b, min, max, false);
    let f = b.face(Surface::Sphere { frame: at(center.x, center.y, center.z), radius }, false, vec![]);
    b.faces[f as usize].shell = 1;
    b.finish("ball_in_box")
}

/// A cylinder from `z = 0` to `height` with a hemisphere on top.
pub(super) fn bullet(radius: f64, height: f64) -> SolidSource {
    let mut b = SourceBuilder::new();
    let rims = [0.0, height].map(|z| {
        let v = b.vertex(radius, 0.0, z);
        b.circle(at(0.0, 0.0, z), radius, v)
    });
    let side = Surface::Cylinder { frame: at(0.0, 0.0, 0.0), radius };
    b.face(side, true, vec![rim(rims[0], true), rim(rims[1], false)]);
    b.face(Surface::Plane { frame: at(0.0, 0.0, 0.0) }, false, vec![rim(rims[0], false)]);
    b.face(Surface::Sphere { frame: at(0.0, 0.0, height), radius }, true, vec![rim(rims[1], true)]);
    b.finish("bullet")
}
