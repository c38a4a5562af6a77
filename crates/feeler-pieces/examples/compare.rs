//! Number of pieces, convexity, volume ratio and time of a decomposition of a mesh.
//!
//! ```text
//! cargo run --release -p feeler-pieces --example compare -- MESH.obj CONVEXITY [HULLS.obj]
//! ```
//!
//! With hulls, made by another program, these are measured instead; each object (`o`) of the file is the
//! points of one hull. `tools/oracle/convex_pieces.py` does so for two programs.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints a table")]

use feeler_convex::{Polytope, Support};
use feeler_geom::P3;
use feeler_pieces::{PiecesOptions, TriangleMesh, decompose, hull_quality};
use std::time::Instant;

/// Points and triangles of an object of an OBJ file; triangles count from the first point of the file.
#[derive(Default)]
struct Object {
    points: Vec<P3>,
    triangles: Vec<[u32; 3]>,
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (Some(file), Some(convexity)) = (args.first(), args.get(1).and_then(|c| c.parse().ok())) else {
        eprintln!("usage: compare MESH.obj CONVEXITY [HULLS.obj]");
        std::process::exit(2);
    };
    if let Err(error) = compare(file, convexity, args.get(2)) {
        eprintln!("{error}");
        std::process::exit(1);
    }
}

fn compare(file: &str, convexity: f64, hulls: Option<&String>) -> Result<(), Box<dyn std::error::Error>> {
    let body = objects(file)?.pop().unwrap_or_default();
    let mesh = TriangleMesh { points: &body.points, triangles: &body.triangles };
    let options = PiecesOptions::with_convexity(convexity);
    let start = Instant::now();
    let hulls: Vec<Vec<P3>> = match hulls {
        Some(file) => objects(file)?.into_iter().map(|object| object.points).collect(),
        None => {
            let pieces = decompose(&mesh, &options).map_err(|e| format!("{file}: {e}"))?;
            pieces.pieces().iter().map(|piece| piece.hull.vertices().to_vec()).collect()
        }
    };
    let seconds = start.elapsed().as_secs_f64();
    let quality = hull_quality(&mesh, &hulls, &options).map_err(|e| format!("{file}: {e}"))?;
    let volumes: f64 = hulls.iter().filter_map(|h| Polytope::new(h).ok()).map(|h| volume(&h)).sum();
    let of_mesh: f64 = body.triangles.iter().map(|t| signed(t.map(|i| body.points[i as usize]))).sum();
    let (pieces, ratio) = (hulls.len(), volumes / of_mesh);
    let (convexity, uncovered) = (quality.convexity, quality.uncovered);
    println!(
        "{{\"pieces\": {pieces}, \"convexity\": {convexity}, \"uncovered\": {uncovered}, \
         \"volume_ratio\": {ratio}, \"seconds\": {seconds}}}"
    );
    Ok(())
}

fn volume(hull: &Polytope) -> f64 {
    let corners = |f: &[u32; 3]| f.map(|i| hull.numbered(i).unwrap_or_default());
    hull.facets().iter().map(|f| signed(corners(f))).sum()
}

fn signed([a, b, c]: [P3; 3]) -> f64 {
    a.coords.dot(&b.coords.cross(&c.coords)) / 6.0
}

/// Reads points (`v`) and triangles (`f`, without texture coordinates) of each object.
fn objects(file: &str) -> Result<Vec<Object>, Box<dyn std::error::Error>> {
    let text = std::fs::read_to_string(file).map_err(|e| format!("{file}: {e}"))?;
    let mut out = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let wrong = |e: &dyn std::fmt::Display| format!("{file}, line {number}: {e}");
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["o", ..] => out.push(Object::default()),
            ["v", x, y, z] => {
                let mut p = P3::origin();
                for (c, word) in p.iter_mut().zip([x, y, z]) {
                    *c = word.parse().map_err(|e| wrong(&e))?;
                }
                out.last_mut().ok_or_else(|| wrong(&"no object (o) before it"))?.points.push(p);
            }
            ["f", a, b, c] => {
                let mut t = [0_u32; 3];
                for (i, word) in t.iter_mut().zip([a, b, c]) {
                    *i = word.parse::<u32>().map_err(|e| wrong(&e))?.saturating_sub(1);
                }
                out.last_mut().ok_or_else(|| wrong(&"no object (o) before it"))?.triangles.push(t);
            }
            _ => {}
        }
    }
    Ok(out)
}
