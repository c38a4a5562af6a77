//! Rigid motions with or without a reflection, and mirror images of solids.

use feeler_brep::SolidSource;
use feeler_brep::source::{FaceSource, LoopSource};
use feeler_geom::{Curve, Frame, Pose, Surface};
use nalgebra::{Quaternion, Translation3, UnitQuaternion};
use std::ops::Mul;

/// Rigid motion `x ↦ pose(x)`, or motion with a reflection `x ↦ pose(M x)`, with `M = diag(-1, 1, 1)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Motion {
    pub(crate) pose: Pose,
    /// Whether the reflection `M` is applied before the pose.
    pub(crate) mirrored: bool,
}

impl Motion {
    pub(crate) fn identity() -> Self {
        Self { pose: Pose::identity(), mirrored: false }
    }

    pub(crate) fn inverse(&self) -> Self {
        let pose = self.pose.inverse();
        Self { pose: if self.mirrored { reflected(&pose) } else { pose }, mirrored: self.mirrored }
    }
}

impl From<Pose> for Motion {
    fn from(pose: Pose) -> Self {
        Self { pose, mirrored: false }
    }
}

impl Mul for Motion {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let inner = if self.mirrored { reflected(&other.pose) } else { other.pose };
        Self { pose: self.pose * inner, mirrored: self.mirrored != other.mirrored }
    }
}

/// Returns `M pose M`, which is rigid.
fn reflected(pose: &Pose) -> Pose {
    let (t, q) = (&pose.translation, &pose.rotation);
    // The mirrored rotation turns about the mirrored axis by the negative angle.
    let rotation = UnitQuaternion::new_unchecked(Quaternion::new(q.w, q.i, -q.j, -q.k));
    Pose::from_parts(Translation3::new(-t.x, t.y, t.z), rotation)
}

/// Returns the image of a solid under the reflection `M` = diag(-1, 1, 1). Mirroring twice gives the
/// same bits.
pub(crate) fn mirrored(solid: &SolidSource) -> SolidSource {
    let mut image = solid.clone();
    for v in &mut image.vertices {
        v.point.x = -v.point.x;
    }
    for e in &mut image.edges {
        mirror_curve(&mut e.curve);
    }
    for f in &mut image.faces {
        mirror_face(f);
    }
    image
}

/// Replaces a curve by its mirror image with the same parameters.
fn mirror_curve(curve: &mut Curve) {
    match curve {
        Curve::Line { origin, dir } => {
            origin.x = -origin.x;
            dir.x = -dir.x;
        }
        Curve::Circle { frame, .. }
        | Curve::Ellipse { frame, .. }
        | Curve::Parabola { frame, .. }
        | Curve::Hyperbola { frame, .. } => *frame = flat(frame),
        Curve::Bezier(spline) => spline.control.iter_mut().for_each(|h| h.x = -h.x),
    }
}

fn mirror_face(face: &mut FaceSource) {
    match &mut face.surface {
        // The natural normal of the mirrored surface points to the other side.
        Surface::Plane { frame } => {
            *frame = flat(frame);
            face.outward = !face.outward;
        }
        Surface::Bezier(grid) => {
            grid.control.iter_mut().for_each(|h| h.x = -h.x);
            face.outward = !face.outward;
        }
        Surface::Cylinder { frame, .. }
        | Surface::Cone { frame, .. }
        | Surface::Sphere { frame, .. }
        | Surface::Torus { frame, .. } => *frame = round(frame),
    }
    for l in &mut face.loops {
        if let LoopSource::Edges(uses) = l {
            // Mirroring exchanges left and right, so loops are reversed.
            uses.reverse();
            uses.iter_mut().for_each(|(_, forward)| *forward = !*forward);
        }
    }
}

/// Returns the image of a frame of which only the x–y plane matters: x and y are mirrored, z makes the
/// frame right-handed.
fn flat(f: &Frame) -> Frame {
    let image = plain(f);
    Frame { z: -image.z, ..image }
}

/// Returns the image of the frame of a shape that is symmetric about the frame's x–z plane: x and z are
/// mirrored, y makes the frame right-handed.
fn round(f: &Frame) -> Frame {
    let image = plain(f);
    Frame { y: -image.y, ..image }
}

/// Returns the frame with all axes mirrored, which is left-handed.
fn plain(f: &Frame) -> Frame {
    let mut image = *f;
    image.origin.x = -image.origin.x;
    for axis in [&mut image.x, &mut image.y, &mut image.z] {
        axis.x = -axis.x;
    }
    image
}

#[cfg(test)]
mod tests {
    use super::*;
    use feeler_brep::build::{BuildOptions, build_solid};
    use feeler_geom::{P3, V3};
    use rand::{Rng as _, SeedableRng as _, rngs::SmallRng};

    fn apply(m: &Motion, p: P3) -> P3 {
        m.pose * if m.mirrored { P3::new(-p.x, p.y, p.z) } else { p }
    }

    #[test]
    fn motions_compose_and_invert_as_maps_do() {
        let mut rng = SmallRng::seed_from_u64(3);
        let mut number = || rng.random_range(-2.0..2.0);
        for i in 0..64 {
            let mut motion = |mirrored| Motion {
                pose: Pose::new(V3::new(number(), number(), number()), V3::new(number(), number(), number())),
                mirrored,
            };
            let (a, b) = (motion(i & 1 == 0), motion(i & 2 == 0));
            let p = P3::new(number(), number(), number());
            assert!((apply(&(a * b), p) - apply(&a, apply(&b, p))).norm() < 1e-14, "composition");
            assert!((apply(&a.inverse(), apply(&a, p)) - p).norm() < 1e-14, "inverse");
        }
    }

    /// Every model of `data`: its image is a solid with the same area and volume, and with a mirrored box.
    #[test]
    fn images_of_solids_are_solids() {
        let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data");
        let mut n = 0;
        for entry in std::fs::read_dir(data).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|e| e != "step") {
                continue;
            }
            for source in crate::read_step(&path).unwrap().solids {
                n += 1;
                let image = mirrored(&source);
                let build = |s: &SolidSource| build_solid(s, &BuildOptions::default()).unwrap();
                let (a, b) = (build(&source), build(&image));
                let name = path.display();
                assert!((a.area / b.area - 1.0).abs() < 1e-9, "{name}: area {} and {}", a.area, b.area);
                assert!((a.volume / b.volume - 1.0).abs() < 1e-9, "{name}: {} and {}", a.volume, b.volume);
                let statuses = |s: &feeler_brep::Solid| {
                    let mut all: Vec<_> = s.edges.iter().map(|e| format!("{:?}", e.status)).collect();
                    all.sort();
                    all
                };
                assert_eq!(statuses(&a), statuses(&b), "{name}");
                let twice = mirrored(&image);
                assert_eq!(format!("{twice:?}"), format!("{source:?}"), "{name}: mirrored twice");
            }
        }
        assert!(n > 25, "{n} solids");
    }
}
