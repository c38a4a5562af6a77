//! Tubes around deformable lines: cables, springs, hoses.

use crate::mesh::Mesh;
use crate::shape::{Shape, SurfaceFrame};
use feeler_geom::{P3, V3, math};
use std::f64::consts::{FRAC_PI_2, TAU};

/// Number of sides of a tube's cross-section. A larger value gives larger pages; with a smaller one,
/// tubes have visible sides.
const SIDES: usize = 10;

/// Number of rings of vertices of a tube's round end. A larger value gives larger pages; with a smaller
/// one, ends have visible corners.
const CAP_RINGS: usize = 3;

impl Shape {
    /// Creates a tube of a radius (mm) with round ends around a deformable line. `lines` are the points
    /// of the line at each time, the same number at each time. The tube has ten sides. A closed line
    /// continues from its last point to its first one.
    ///
    /// # Panics
    /// Panics if the tube has 2³² vertices or more.
    #[must_use]
    pub fn tube(name: &str, lines: &[Vec<P3>], radius: f64, is_closed: bool) -> Self {
        let frames: Vec<SurfaceFrame> = lines.iter().map(|line| rings(line, radius, is_closed)).collect();
        let Some(first) = frames.first() else { return Self { name: name.to_owned(), ..Self::default() } };
        let n_rings = first.points.len() / SIDES;
        let mut triangles = Vec::new();
        let vertex = |ring: usize, side: usize| {
            u32::try_from(ring % n_rings * SIDES + side % SIDES).expect("a tube has fewer than 2^32 points")
        };
        for ring in 0..if is_closed { n_rings } else { n_rings.saturating_sub(1) } {
            for side in 0..SIDES {
                let [a, b] = [vertex(ring, side), vertex(ring, side + 1)];
                let [c, d] = [vertex(ring + 1, side), vertex(ring + 1, side + 1)];
                triangles.extend([[a, b, d], [a, d, c]]);
            }
        }
        let n = u32::try_from(first.points.len()).expect("a drawn tube has fewer than 2^32 points");
        let mesh = Mesh {
            points: first.points.clone(),
            normals: first.normals.clone(),
            welded: (0..n).collect(),
            faces: vec![0; triangles.len()],
            triangles,
            deviation: radius * (1.0 - math::cos(TAU / (2 * SIDES) as f64)),
            crossings: 0,
        };
        Self { name: name.to_owned(), mesh, faces: vec![("tube", 0)], frames, ..Self::default() }
    }
}

/// Vertices of a tube at one time: rings of points around each point of the line, and those of the round
/// ends if the line is open.
fn rings(line: &[P3], radius: f64, is_closed: bool) -> SurfaceFrame {
    let mut frame = SurfaceFrame::default();
    let n = line.len();
    let tangent = |i: usize| {
        let (before, after) = if is_closed {
            ((i + n - 1) % n, (i + 1) % n)
        } else {
            (i.saturating_sub(1), (i + 1).min(n - 1))
        };
        (line[after] - line[before]).try_normalize(0.0).unwrap_or_else(V3::z)
    };
    // Direction across the line, transported along it: its component along the next tangent is removed.
    let mut across = {
        let t = tangent(0);
        let least = if t.x.abs() < 0.6 { V3::x() } else { V3::y() };
        (least - t * least.dot(&t)).normalize()
    };
    let mut ring = |center: &P3, t: &V3, across: &V3, latitude: f64| {
        let other = t.cross(across);
        let (up, out) = math::sin_cos(latitude);
        for side in 0..SIDES {
            let (s, c) = math::sin_cos(TAU * side as f64 / SIDES as f64);
            let normal = (across * c + other * s) * out + t * up;
            frame.points.push(center + normal * radius);
            frame.normals.push(normal);
        }
    };
    for (i, center) in line.iter().enumerate() {
        let t = tangent(i);
        across = (across - t * across.dot(&t)).try_normalize(1e-6).unwrap_or(across);
        let cap = |k: usize| FRAC_PI_2 * k as f64 / CAP_RINGS as f64;
        if i == 0 && !is_closed {
            (1..=CAP_RINGS).rev().for_each(|k| ring(center, &t, &across, -cap(k)));
        }
        ring(center, &t, &across, 0.0);
        if i + 1 == n && !is_closed {
            (1..=CAP_RINGS).for_each(|k| ring(center, &t, &across, cap(k)));
        }
    }
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tubes_are_round_and_look_outward() {
        let line: Vec<P3> = (0..5).map(|i| P3::new(f64::from(i), 0.0, 0.0)).collect();
        let shape = Shape::tube("cable", &[line.clone(), line], 0.5, false);
        assert_eq!(shape.frames.len(), 2);
        for (p, n) in shape.mesh.points.iter().zip(&shape.mesh.normals) {
            let nearest = P3::new(p.x.clamp(0.0, 4.0), 0.0, 0.0);
            assert!(((p - nearest).norm() - 0.5).abs() < 1e-12 && ((p - nearest) - n * 0.5).norm() < 1e-12);
        }
        for t in &shape.mesh.triangles {
            let [a, b, c] = t.map(|i| shape.mesh.points[i as usize]);
            let normal = (b - a).cross(&(c - a));
            let out = t.iter().map(|i| shape.mesh.normals[*i as usize]).sum::<V3>();
            assert!(normal.norm() < 1e-12 || normal.dot(&out) > 0.0);
        }
    }
}
