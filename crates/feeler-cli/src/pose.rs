//! Poses on the command line: `tx,ty,tz`, `tx,ty,tz,qx,qy,qz,qw` or `@FILE`.

use anyhow::{Context as _, bail, ensure};
use feeler_geom::Pose;
use feeler_geom::pose::{from_matrix, from_values};
use feeler_runtime::{ContactPair, QueryError, QueryOptions};
use serde::Deserialize;

/// Reads a pose (mm).
///
/// # Errors
/// Wrong number of values, non-finite values, a quaternion or matrix that is no rotation, an unreadable file.
pub fn parse(text: &str) -> anyhow::Result<Pose> {
    if let Some(path) = text.strip_prefix('@') {
        let text = std::fs::read_to_string(path).with_context(|| format!("{path}: cannot read the pose"))?;
        return from_file(&text).with_context(|| path.to_owned());
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
        _ => bail!("pose '{text}': {} values; give tx,ty,tz or tx,ty,tz,qx,qy,qz,qw or @FILE", values.len()),
    }
}

/// Poses of two solids, each the product of a pose of the user and its own pose in its file. The product of a
/// pose with a large translation rounds the other one, and no query can undo that.
///
/// # Errors
/// [`QueryError::CoordinatesTooLarge`] if this rounding exceeds a tenth of the tolerance for solids that both
/// are so far from the origin. If only one of them is, the query itself decides.
pub(crate) fn composed(
    pair: &ContactPair,
    poses: [(Pose, Pose); 2],
    options: &QueryOptions,
) -> Result<[Pose; 2], QueryError> {
    if poses.iter().any(|(_, own)| *own != Pose::identity()) {
        let [a, b] = poses.map(|(pose, _)| pose.translation.vector.amax());
        pair.check_coordinates(a.min(b), options)?;
    }
    Ok(poses.map(|(pose, own)| pose * own))
}

/// What a pose file in JSON may hold.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Rows([[f64; 4]; 4]),
    Flat(Vec<f64>),
    /// As `inspect` prints it.
    Parts {
        translation: [f64; 3],
        rotation: [f64; 4],
        #[serde(default)]
        mirrored: bool,
    },
}

/// The pose that a file holds: a 4×4 row-major matrix or a translation and a quaternion in JSON, or the 16
/// numbers of a matrix as plain text.
fn from_file(text: &str) -> anyhow::Result<Pose> {
    const WANTED: &str = "a pose file holds a 4x4 row-major matrix, [[…],[…],[…],[0,0,0,1]] or 16 numbers, \
        or \
                          {\"translation\": [x,y,z], \"rotation\": [qx,qy,qz,qw]}";
    if text.trim_start().starts_with(['[', '{']) {
        return match serde_json::from_str(text).context(WANTED)? {
            Written::Rows(rows) => Ok(from_matrix(&rows)?),
            Written::Flat(numbers) => from_numbers(&numbers).context(WANTED),
            Written::Parts { mirrored: true, .. } => {
                bail!("a mirrored place is no pose; it cannot be moved to")
            }
            Written::Parts { translation: [x, y, z], rotation: [qx, qy, qz, qw], .. } => {
                Ok(from_values(&[x, y, z, qx, qy, qz, qw])?)
            }
        };
    }
    let lines = text.lines().map(|l| l.split('#').next().unwrap_or(""));
    let words = lines.flat_map(|l| l.split([' ', '\t', ',', ';'])).filter(|w| !w.is_empty());
    let numbers: Vec<f64> = words.map(str::parse).collect::<Result<_, _>>().context(WANTED)?;
    from_numbers(&numbers).context(WANTED)
}

/// Pose of the 16 numbers of a row-major matrix.
fn from_numbers(numbers: &[f64]) -> anyhow::Result<Pose> {
    ensure!(numbers.len() == 16, "{} numbers", numbers.len());
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
        ] {
            let p = from_file(text).unwrap_or_else(|e| panic!("{text}: {e:#}"));
            assert!((p.translation.vector - quarter.translation.vector).norm() < 1e-15, "{text}");
            assert!(p.rotation.angle_to(&quarter.rotation) < 1e-14, "{text}");
        }
        for text in ["", "[1,2]", "1 2 3", "[[1]]", "{\"translation\": [1,2,3]}", "a b", "{"] {
            assert!(format!("{:#}", from_file(text).unwrap_err()).contains("4x4"), "{text}");
        }
        let mirrored = "{\"translation\": [1,2,3], \"rotation\": [0,0,0,1], \"mirrored\": true}";
        assert!(from_file(mirrored).is_err(), "a mirror was accepted");
    }

    #[test]
    fn refuses_what_is_no_pose() {
        for bad in
            ["", "1,2", "1,2,x", "1,2,nan", "0,0,0,0,0,0,0", "0,0,0,0,0,0.9,0", "@/nonexistent/pose.json"]
        {
            assert!(parse(bad).is_err(), "{bad:?} was accepted");
        }
    }
}
