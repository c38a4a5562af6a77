//! Draws six grains as a picture of the effects of semi-axes and exponents.
//!
//! ```text
//! cargo run -p feeler --example grain_family > docs/figures/grains.svg
//! ```
#![expect(clippy::print_stdout, reason = "an example")]

use feeler::V3;
use feeler::grains::convex::Grain;
use feeler::grains::drawn::{GrainSurface, drawn};
use std::fmt::Write as _;

/// Data of each drawn grain: semi-axes (mm) along the positive x, y and z, those along the negative x, y
/// and z, and the two exponents of its superellipsoids.
const FAMILY: [([f64; 3], [f64; 3], [f64; 2]); 6] = [
    ([1.0, 0.8, 0.6], [1.0, 0.8, 0.6], [1.0, 1.0]),
    ([1.0, 0.8, 0.6], [1.0, 0.8, 0.6], [0.3, 0.3]),
    ([1.0, 0.8, 0.6], [1.0, 0.8, 0.6], [1.7, 1.7]),
    ([1.0, 0.8, 0.9], [0.6, 1.0, 0.4], [1.0, 1.0]),
    ([1.0, 0.8, 0.9], [0.6, 1.0, 0.4], [0.4, 0.8]),
    ([1.0, 0.8, 0.9], [0.6, 1.0, 0.4], [0.5, 1.6]),
];

/// Width and height, in pixels, of the cell of the picture that shows one grain.
const CELL: [f64; 2] = [230.0, 215.0];
/// Pixels per millimetre.
const SCALE: f64 = 88.0;

/// Number of shades of blue, from dark to light, with which a grain is drawn.
const SHADES: usize = 40;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Directions of the view: towards the eye, to the right, upwards.
    let eye = V3::new(0.9, -1.4, 0.95).normalize();
    let right = V3::z().cross(&eye).normalize();
    let up = eye.cross(&right);
    let lamp = (eye + right * 0.4 + up * 0.7).normalize();
    let (width, height) = (3.0 * CELL[0], 2.0 * CELL[1]);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    let mut corner = [0.0, 0.0];
    for (plus, minus, exponents) in FAMILY {
        let grain = Grain::new(V3::from(plus), V3::from(minus), exponents)?;
        let GrainSurface { points, normals, triangles } = drawn(&grain, 4);
        let (x, y) = (corner[0] + 0.5 * CELL[0], corner[1] + 0.47 * CELL[1]);
        // Only the back of a convex grain is hidden. Triangles of one shade form one path.
        let mut shades = vec![String::new(); SHADES + 1];
        for t in triangles {
            let corners = t.map(|k| points[k as usize]);
            if (corners[1] - corners[0]).cross(&(corners[2] - corners[0])).dot(&eye) <= 0.0 {
                continue;
            }
            let normal = t.map(|k| normals[k as usize]).iter().sum::<V3>().normalize();
            let light = normal.dot(&lamp).max(0.0);
            let near = (0..SHADES).find(|k| (*k as f64 + 0.5) / SHADES as f64 >= light).unwrap_or(SHADES);
            let at = corners.map(|p| (x + SCALE * p.coords.dot(&right), y - SCALE * p.coords.dot(&up)));
            let [(a, b), (c, d), (e, f)] = at;
            write!(shades[near], "M{a:.1} {b:.1} {c:.1} {d:.1} {e:.1} {f:.1}Z")?;
        }
        for (k, path) in shades.iter().enumerate().filter(|(_, path)| !path.is_empty()) {
            let light = 0.3 + 0.7 * k as f64 / SHADES as f64;
            let [r, g, b] = [150.0, 186.0, 222.0].map(|c| (c * light).round());
            // A stroke of the same colour closes the thin gaps between triangles.
            let color = format!("rgb({r},{g},{b})");
            writeln!(out, "<path d=\"{path}\" fill=\"{color}\" stroke=\"{color}\" stroke-width=\".5\"/>")?;
        }
        let [e1, e2] = exponents;
        let is_even = V3::from(plus) == V3::from(minus);
        let sides = if is_even { "" } else { ", unequal sides" };
        let below = corner[1] + CELL[1] - 10.0;
        writeln!(
            out,
            "<text x=\"{x}\" y=\"{below}\" text-anchor=\"middle\">ε₁ = {e1}, ε₂ = {e2}{sides}</text>"
        )?;
        corner[0] += CELL[0];
        if corner[0] >= width {
            corner = [0.0, corner[1] + CELL[1]];
        }
    }
    println!("{out}</svg>");
    Ok(())
}
