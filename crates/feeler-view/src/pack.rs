//! Encoding of a picture as text: a JSON document and arrays of numbers, compressed, in base 64.
//!
//! Browsers cannot take any part of a picture in this form for markup or script, which matters
//! especially for names from files.

use crate::picture::{
    BallFrame, Balls, Picture, PictureMark, PictureMinimum, PictureMotion, PicturePair, PicturePart,
    PictureScene, Show, Tint, TriangleSurface, What,
};
use crate::shape::Shape;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use feeler_geom::pose::to_values;
use feeler_geom::{Aabb, P3, V3};
use flate2::Compression;
use flate2::write::GzEncoder;
use nalgebra::UnitQuaternion;
use serde_json::{Value, json};
use std::io::{self, Write as _};

/// Arrays of numbers, little-endian, each aligned to eight bytes.
#[derive(Default)]
struct Arrays(Vec<u8>);

impl Arrays {
    /// Appends an array and returns its JSON description: the type of its numbers (`kind`), its first
    /// byte and its number of items.
    fn put<const N: usize>(&mut self, kind: &str, items: impl Iterator<Item = [u8; N]>) -> Value {
        self.0.resize(self.0.len().next_multiple_of(8), 0);
        let start = self.0.len();
        let mut count = 0_usize;
        for item in items {
            self.0.extend_from_slice(&item);
            count += 1;
        }
        json!([kind, start, count])
    }

    fn u32s(&mut self, items: impl IntoIterator<Item = u32>) -> Value {
        self.put("u32", items.into_iter().map(u32::to_le_bytes))
    }

    fn f64s(&mut self, items: impl IntoIterator<Item = f64>) -> Value {
        self.put("f64", items.into_iter().map(f64::to_le_bytes))
    }

    /// Appends points as 32-bit numbers, relative to `middle`, the centre of their shape.
    fn points<'a>(&mut self, middle: &P3, points: impl IntoIterator<Item = &'a P3>) -> Value {
        let vectors: Vec<V3> = points.into_iter().map(|p| p - middle).collect();
        self.vectors(&vectors)
    }

    fn vectors<'a>(&mut self, vectors: impl IntoIterator<Item = &'a V3>) -> Value {
        self.f32s(vectors.into_iter().flat_map(|v| [v.x, v.y, v.z]))
    }

    #[expect(clippy::cast_possible_truncation, reason = "for drawing")]
    fn f32s(&mut self, numbers: impl Iterator<Item = f64>) -> Value {
        self.put("f32", numbers.map(|x| (x as f32).to_le_bytes()))
    }

    /// Appends fractions from 0 to 1, scaled to 16-bit integers.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "for drawing")]
    fn parts(&mut self, parts: impl Iterator<Item = f64>) -> Value {
        let largest = f64::from(u16::MAX);
        self.put("u16", parts.map(|x| ((x * largest).round().clamp(0.0, largest) as u16).to_le_bytes()))
    }

    /// Appends unit vectors, scaled to 16-bit integers.
    fn directions(&mut self, vectors: &[V3]) -> Value {
        self.units(vectors.iter().flat_map(|v| [v.x, v.y, v.z]))
    }

    /// Appends numbers from −1 to 1, scaled to 16-bit integers.
    #[expect(clippy::cast_possible_truncation, reason = "for drawing")]
    fn units(&mut self, numbers: impl Iterator<Item = f64>) -> Value {
        self.put("i16", numbers.map(|x| ((x * f64::from(i16::MAX)).round() as i16).to_le_bytes()))
    }
}

/// Encodes a picture as Base64 text. The encoded bytes, which are compressed by gzip, are the length of
/// the JSON document (four bytes), the document, and the arrays. The document is padded with blanks so
/// that it and its length occupy a multiple of eight bytes.
pub(crate) fn picture(picture: &Picture) -> io::Result<String> {
    let mut arrays = Arrays::default();
    let shapes: Vec<Value> = picture.shapes.iter().map(|s| shape(s, &mut arrays)).collect();
    let scenes: Vec<Value> = picture.scenes.iter().map(|s| scene(s, &mut arrays)).collect();
    let shows: Vec<Value> = picture.shows.iter().map(show).collect();
    let live = picture.live.as_ref().map(|live| {
        let models: Vec<Value> =
            live.models.iter().map(|m| arrays.put("u8", m.iter().map(|b| [*b]))).collect();
        let wasm = arrays.put("u8", live.wasm.iter().map(|b| [*b]));
        json!({ "wasm": wasm, "models": models, "parts": live.parts })
    });
    let document = json!({ "shapes": shapes, "scenes": scenes, "shows": shows, "live": live });
    let mut text = serde_json::to_vec(&document)?;
    text.resize((text.len() + 4).next_multiple_of(8) - 4, b' ');
    let length = u32::try_from(text.len())
        .map_err(|_| io::Error::other("the names and tables of the picture exceed 4 GiB"))?;
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(&length.to_le_bytes())?;
    gzip.write_all(&text)?;
    gzip.write_all(&arrays.0)?;
    Ok(STANDARD.encode(gzip.finish()?))
}

fn shape(shape: &Shape, arrays: &mut Arrays) -> Value {
    let (mesh, middle) = (&shape.mesh, shape.middle());
    let half_axes = |b: &feeler_geom::Obb| [b.axes[0] * b.half.x, b.axes[1] * b.half.y, b.axes[2] * b.half.z];
    let boxes: Vec<V3> =
        shape.boxes.iter().flat_map(|(_, b)| [b.center - middle].into_iter().chain(half_axes(b))).collect();
    let generators: Vec<V3> = shape.cones.iter().flat_map(|(_, g)| g.iter().copied()).collect();
    let frames = (!shape.frames.is_empty()).then(|| {
        let normals: Vec<V3> = shape.frames.iter().flat_map(|f| f.normals.iter().copied()).collect();
        let points = arrays.points(&middle, shape.frames.iter().flat_map(|f| &f.points));
        json!({ "points": points, "normals": arrays.directions(&normals) })
    });
    json!({
        "name": shape.name, "frames": frames,
        "middle": middle.coords.as_slice(), "size": shape.size(), "deviation": mesh.deviation,
        "points": arrays.points(&middle, &mesh.points),
        "normals": arrays.directions(&mesh.normals),
        "triangles": arrays.u32s(mesh.triangles.iter().flatten().copied()),
        "face_of": arrays.u32s(mesh.faces.iter().copied()),
        "edges": arrays.points(&middle, shape.edges.iter().flatten()),
        "areas": arrays.points(&middle, shape.areas.iter().flatten()),
        "levels": arrays.u32s(shape.boxes.iter().map(|(level, _)| *level)),
        "boxes": arrays.vectors(&boxes),
        "apexes": arrays.points(&middle, shape.cones.iter().map(|(apex, _)| apex)),
        "generator_counts": shape.cones.iter().map(|(_, g)| g.len()).collect::<Vec<_>>(),
        "generators": arrays.directions(&generators),
        "faces": shape.faces,
    })
}

fn scene(scene: &PictureScene, arrays: &mut Arrays) -> Value {
    let part = |p: &PicturePart| {
        let tint = match p.tint {
            Tint::Own => Value::Null,
            Tint::Old => "old".into(),
            Tint::New => "new".into(),
            Tint::Glass => "glass".into(),
            Tint::Number(n) => n.into(),
        };
        json!({
            "path": p.path, "shape": p.shape, "pose": to_values(&p.pose), "track": p.track, "tint": tint,
            "facts": p.facts,
        })
    };
    json!({
        "name": scene.name,
        "parts": scene.parts.iter().map(part).collect::<Vec<_>>(),
        "pairs": scene.pairs.iter().map(pair).collect::<Vec<_>>(),
        "marks": scene.marks.iter().map(mark).collect::<Vec<_>>(),
        "motion": scene.motion.as_ref().map(|m| motion(m, arrays)),
        "balls": scene.balls.as_ref().map(|b| balls(b, arrays)),
        "are_cells": scene.are_cells,
    })
}

/// Encodes the balls of a scene: centres as fractions of the box around the centres of all frames, and
/// values as fractions of the largest value.
fn balls(balls: &Balls, arrays: &mut Arrays) -> Value {
    let centers = || balls.frames.iter().flat_map(|f| &f.centers);
    let values = || balls.frames.iter().flat_map(|f| &f.values);
    let around = Aabb::of_points(centers());
    let size = if around.is_empty() { V3::zeros() } else { around.max - around.min };
    let largest = values().copied().fold(0.0, f64::max);
    let part = |x: f64, of: f64| if of > 0.0 { x / of } else { 0.0 };
    let min = if around.is_empty() { P3::origin() } else { around.min };
    let has_turns = !balls.shapes.is_empty();
    let shapes: Vec<Value> = balls.shapes.iter().map(|s| surface(s, arrays)).collect();
    let upright = UnitQuaternion::identity();
    let turn = |f: &BallFrame, k: usize| {
        let turn = f.turns.get(k).copied().unwrap_or(upright);
        let [x, y, z, w] = turn.coords.into();
        [x, y, z, w]
    };
    let turns = balls.frames.iter().flat_map(|f| (0..f.numbers.len()).flat_map(move |k| turn(f, k)));
    let shape_of = |k: usize| balls.shape_of.get(k).copied().flatten().map_or(0, |s| s + 1);
    json!({
        "shapes": shapes,
        "shape_of": has_turns.then(|| arrays.u32s((0..balls.radii.len()).map(shape_of))),
        "turns": has_turns.then(|| arrays.units(turns)),
        "radii": arrays.f32s(balls.radii.iter().copied()),
        "counts": balls.frames.iter().map(|f| f.numbers.len()).collect::<Vec<_>>(),
        "numbers": arrays.u32s(balls.frames.iter().flat_map(|f| f.numbers.iter().copied())),
        "min": min.coords.as_slice(), "size": size.as_slice(),
        "centers": arrays.parts(centers().flat_map(|p| {
            let at = p - min;
            [0, 1, 2].map(|k| part(at[k], size[k]))
        })),
        "values": arrays.parts(values().map(|x| part(*x, largest))),
        "most": largest, "value": balls.value,
    })
}

fn surface(of: &TriangleSurface, arrays: &mut Arrays) -> Value {
    json!({
        "points": arrays.points(&P3::origin(), &of.points),
        "normals": arrays.directions(&of.normals),
        "triangles": arrays.u32s(of.triangles.iter().flatten().copied()),
    })
}

fn pair(pair: &PicturePair) -> Value {
    let minimum = |m: &PictureMinimum| {
        json!({
            "distance": m.distance, "points": m.points.map(|p| [p.x, p.y, p.z]),
            "features": m.features, "kind": m.kind,
        })
    };
    json!({
        "parts": pair.parts, "status": pair.status, "more": pair.more,
        "minima": pair.minima.iter().map(minimum).collect::<Vec<_>>(),
        "witness": pair.witness.map(|p| [p.x, p.y, p.z]),
    })
}

fn mark(mark: &PictureMark) -> Value {
    let point = |p: &P3| [p.x, p.y, p.z];
    json!({
        "class": mark.class, "text": mark.text, "faces": mark.faces,
        "points": mark.points.iter().map(point).collect::<Vec<_>>(),
        "lines": mark.lines.iter().map(|l| l.each_ref().map(point)).collect::<Vec<_>>(),
    })
}

fn motion(motion: &PictureMotion, arrays: &mut Arrays) -> Value {
    let tracks: Vec<Value> =
        motion.tracks.iter().map(|t| arrays.f64s(t.iter().flat_map(to_values))).collect();
    let points = motion.minima.iter().flatten().flatten();
    json!({
        "times": motion.times, "unit": motion.unit, "curve": motion.curve, "tracks": tracks,
        "margin": motion.margin, "interfering": motion.interfering,
        "minima_counts": motion.minima.iter().map(Vec::len).collect::<Vec<_>>(),
        "minima": arrays.f64s(points.flat_map(|p| [p.x, p.y, p.z])),
    })
}

fn show(show: &Show) -> Value {
    let mut out = match &show.what {
        What::All => json!({}),
        What::Pair(pair, None) => json!({ "pair": pair }),
        What::Pair(pair, Some(step)) => json!({ "pair": pair, "step": step }),
        What::Parts(parts) => json!({ "parts": parts }),
        What::Mark(mark) => json!({ "mark": mark }),
        What::Step(step) => json!({ "step": step }),
    };
    out["scene"] = show.scene.into();
    out
}
