//! Convex decomposition of a mesh by parry's VHACD, for `tools/oracle/convex_pieces.py`.
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin vhacd -- MESH.obj HULLS.obj
//! ```
//!
//! The mesh has points (`v`) and triangles (`f`); each hull is one object of the output.

#![expect(clippy::print_stderr, reason = "a program")]

use parry3d_f64::math::Vector;
use parry3d_f64::transformation::vhacd::{VHACD, VHACDParameters};
use std::fmt::Write as _;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [mesh, hulls] = args.as_slice() else {
        eprintln!("usage: vhacd MESH.obj HULLS.obj");
        std::process::exit(2);
    };
    let text = std::fs::read_to_string(mesh)?;
    let (mut points, mut triangles) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["v", x, y, z] => points.push(Vector::new(x.parse()?, y.parse()?, z.parse()?)),
            ["f", a, b, c] => {
                let index = |word: &str| word.parse::<u32>().map(|i| i.saturating_sub(1));
                triangles.push([index(a)?, index(b)?, index(c)?]);
            }
            _ => {}
        }
    }
    let parts = VHACD::decompose(&VHACDParameters::default(), &points, &triangles, true);
    let mut out = String::new();
    for (k, (corners, _)) in parts.compute_exact_convex_hulls(&points, &triangles).iter().enumerate() {
        writeln!(out, "o {k}")?;
        for p in corners {
            writeln!(out, "v {} {} {}", p.x, p.y, p.z)?;
        }
    }
    std::fs::write(hulls, out)?;
    Ok(())
}
