//! Poses on the command line: `tx,ty,tz`, `tx,ty,tz,qx,qy,qz,qw` or `@FILE`.

use anyhow::{Context as _, bail, ensure};
use feeler_geom::Pose;
use feeler_geom::pose::{from_matrix, from_values};
use serde::Deserialize;
use std::path::Path;

/// Reads a pose from an argument: `tx,ty,tz` (mm), `tx,ty,tz,qx,qy,qz,qw` with a unit quaternion, or `@FILE`
/// with a pose in JSON.
///
/// # Errors
/// The number of values is wrong, a value is not finite, a quaternion or matrix is not a rotation, or a file
/// cannot be read.
pub fn parse(text: &str) -> anyhow::Result<Pose> {
    parse_in(Path::new(""), text)
}

/// Like [`parse`], but paths of pose files are relative to `folder`.
pub(crate) fn parse_in(folder: &Path, text: &str) -> anyhow::Result<Pose> {
    if let Some(path) = text.strip_prefix('@') {
        let content = std::fs::read_to_string(folder.join(path));
        let content = content.with_context(|| format!("{path}: the pose cannot be read"))?;
        return from_file(&content).with_context(|| path.to_owned());
    }
    let values: Vec<f64> = text
        .split(',')
        .map(|s| s.trim().parse::<f64>().with_context(|| format!("pose '{text}': '{s}' is not a number")))
        .collect::<anyhow::Result<_>>()?;
    ensure!(
        values.iter().all(|x| x.is_finite()),
        "pose '{text}': every value must be finite; give millimetres and a unit quaternion"
    );
    match *values.as_slice() {
        [x, y, z] => Ok(Pose::translation(x, y, z)),
        [x, y, z, qx, qy, qz, qw] => {
            from_values(&[x, y, z, qx, qy, qz, qw]).with_context(|| format!("pose '{text}'"))
        }
        _ => {
            bail!("pose '{text}' has {} values; give tx,ty,tz or tx,ty,tz,qx,qy,qz,qw or @FILE", values.len())
        }
    }
}

/// Content of a pose file in JSON.
#[derive(Deserialize)]
#[serde(untagged)]
enum PoseFile {
    Rows([[f64; 4]; 4]),
    Numbers(Vec<f64>),
    /// Translation and rotation, as in the output of `inspect --json`.
    Parts {
        translation: [f64; 3],
        rotation: [f64; 4],
        #[serde(default)]
        mirrored: bool,
    },
}

/// Description of the accepted contents of a pose file, for errors.
const POSE_FILES: &str = "a pose file contains [tx,ty,tz,qx,qy,qz,qw], or a 4x4 row-major matrix, \
    [[…],[…],[…],[0,0,0,1]] or its 16 numbers, or {\"translation\": [x,y,z], \"rotation\": [qx,qy,qz,qw]}";

/// Pose from the text of a pose file, which is JSON, or numbers as plain text with comments after `#`.
fn from_file(text: &str) -> anyhow::Result<Pose> {
    if text.trim_start().starts_with(['[', '{']) {
        return match serde_json::from_str(text).context(POSE_FILES)? {
            PoseFile::Rows(rows) => Ok(from_matrix(&rows)?),
            PoseFile::Numbers(numbers) => from_numbers(&numbers),
            PoseFile::Parts { mirrored: true, .. } => {
                bail!(
                    "the placement is mirrored; a solid cannot be moved to it, give a pose without a mirror"
                )
            }
            PoseFile::Parts { translation: [x, y, z], rotation: [qx, qy, qz, qw], .. } => {
                Ok(from_values(&[x, y, z, qx, qy, qz, qw])?)
            }
        };
    }
    let lines = text.lines().map(|l| l.split('#').next().unwrap_or(""));
    let words = lines.flat_map(|l| l.split([' ', '\t', ',', ';'])).filter(|w| !w.is_empty());
    let numbers: Vec<f64> = words.map(str::parse).collect::<Result<_, _>>().context(POSE_FILES)?;
    from_numbers(&numbers)
}

/// Pose from seven numbers (tx, ty, tz, qx, qy, qz, qw), or from the 16 numbers of a row-major matrix.
fn from_numbers(numbers: &[f64]) -> anyhow::Result<Pose> {
    if let Ok(values) = <&[f64; 7]>::try_from(numbers) {
        return Ok(from_values(values)?);
    }
    ensure!(numbers.len() == 16, "the file has {} numbers; {POSE_FILES}", numbers.len());
    Ok(from_matrix(&std::array::from_fn(|i| std::array::from_fn(|j| numbers[4 * i + j])))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use feeler_geom::P3;

    #[test]
    fn reads_translations_and_quaternions() {
        let p = parse("1, 2,-3").unwrap();
        assert!((p * P3::origin() - P3::new(1.0, 2.0, -3.0)).norm() < 1e-15, "{p}");
        // A quarter turn about z takes x to y.
        let h = 0.5f64.sqrt();
        let p = parse(&format!("0,0,1,0,0,{h},{h}")).unwrap();
        assert!((p * P3::new(1.0, 0.0, 0.0) - P3::new(0.0, 1.0, 1.0)).norm() < 1e-15, "{p}");
    }

    #[test]
    fn reads_files_of_every_form() {
        let quarter = from_values(&[1.0, 2.0, 3.0, 0.0, 0.0, 0.5f64.sqrt(), 0.5f64.sqrt()]).unwrap();
        for text in [
            "[[0,-1,0,1],[1,0,0,2],[0,0,1,3],[0,0,0,1]]",
            "[0,-1,0,1,1,0,0,2,0,0,1,3,0,0,0,1]",
            "# numpy\n0.0e+00 -1.0e+00 0 1\n1 0 0 2 # second\n0,0,1,3\n0 0 0 1\n",
            "{\"translation\": [1,2,3], \"rotation\": [0,0,0.7071067811865476,0.7071067811865476]}",
            "[1.0,2.0,3.0,0.0,0.0,0.7071067811865476,0.7071067811865476]",
            "1 2 3\n0 0 0.7071067811865476 0.7071067811865476\n",
        ] {
            let p = from_file(text).unwrap_or_else(|e| panic!("{text}: {e:#}"));
            assert!((p.translation.vector - quarter.translation.vector).norm() < 1e-15, "{text}");
            assert!(p.rotation.angle_to(&quarter.rotation) < 1e-14, "{text}");
        }
        for text in
            ["", "[1,2]", "[1,2,3,0,0,0,1,0]", "1 2 3", "[[1]]", "{\"translation\": [1,2,3]}", "a b", "{"]
        {
            assert!(format!("{:#}", from_file(text).unwrap_err()).contains("4x4"), "{text}");
        }
        let zero = from_file("[1,2,3,0,0,0,0]").expect_err("not a rotation");
        assert!(format!("{zero:#}").contains("quaternion"), "{zero:#}");
        let mirrored = "{\"translation\": [1,2,3], \"rotation\": [0,0,0,1], \"mirrored\": true}";
        assert!(from_file(mirrored).is_err(), "a mirror was accepted");
    }

    #[test]
    fn rejects_invalid_poses() {
        for bad in
            ["", "1,2", "1,2,x", "1,2,nan", "0,0,0,0,0,0,0", "0,0,0,0,0,0.9,0", "@/nonexistent/pose.json"]
        {
            assert!(parse(bad).is_err(), "{bad:?} was accepted");
        }
    }
}
