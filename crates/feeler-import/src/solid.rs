//! Construction and preparation of one solid, with the correction of senses that its other faces contradict.

use feeler_brep::build::{BuildError, BuildOptions, Problem, Reading, build_readings, build_solid};
use feeler_brep::{Solid, SolidSource};
use feeler_hierarchy::{Hierarchy, Options, Remark, Severity};
use feeler_prepare::{PrepareError, Unchecked};

/// Maximum number of faces whose senses are reversed on trial. A larger value takes more time on bad files;
/// with a smaller one fewer are repaired.
const MAX_TRIALS: usize = 8;

/// Reason why a solid could not be prepared.
pub(crate) enum Refusal {
    /// The source describes no solid.
    Build(BuildError),
    /// The solid is invalid. The list contains the remarks that were made while it was built.
    Prepare(PrepareError, Vec<Remark>),
}

/// Builds and prepares a solid. Returns its hierarchy and the remarks that were made; `subject` denotes the
/// solid in them. The sense of a face without a tangent neighbour that confirms it is reversed if the other
/// faces contradict it or the solid is invalid, and if the solid is valid and free of contradictions
/// afterwards. A source that describes different valid solids, depending on which sense is wrong, is refused,
/// unless only one of them has tubes of less than half a turn.
pub(crate) fn prepared(
    source: &SolidSource,
    subject: &str,
    options: &Options,
) -> Result<(Hierarchy, Vec<Remark>), Refusal> {
    let readings = build_readings(source, &BuildOptions::default()).map_err(Refusal::Build)?;
    let solid = plausible(source, readings, options).map_err(Refusal::Build)?;
    let refusal = |e: PrepareError| Refusal::Prepare(e, feeler_prepare::remarks(&solid, subject));
    let unchecked = Unchecked::new(&solid, options).map_err(refusal)?;
    let contradicted = unchecked.contradicted_faces();
    let stated = unchecked.check_with_remarks(subject);
    let candidates: Vec<u64> = match &stated {
        Ok(_) => contradicted,
        Err(_) if contradicted.is_empty() => {
            solid.faces.iter().filter(|f| f.is_sense_unconfirmed).map(|f| f.source).collect()
        }
        Err(_) => contradicted,
    };
    let mut trials = candidates.iter().take(MAX_TRIALS);
    match trials.find_map(|face| with_reversed(source, *face, subject, options)) {
        Some(result) => Ok(result),
        None => stated.map_err(refusal),
    }
}

/// Maximum difference of the volumes of two solids that count as the same one, relative to the volume. A
/// larger value takes one of two solids without evidence; with a smaller one rounding counts as a difference.
const SAME_VOLUME: f64 = 1e-6;

/// Returns the solid of the only reading that is valid and free of contradictions, or of the first one if
/// none is. Among several that enclose different volumes, one with short seams is preferred, with a warning
/// that states the other volumes. Fails if that does not decide.
fn plausible(
    source: &SolidSource,
    mut readings: Vec<Reading>,
    options: &Options,
) -> Result<Solid, BuildError> {
    if readings.len() == 1 {
        return Ok(readings.swap_remove(0).solid);
    }
    let is_clean = |solid: &Solid| {
        let unchecked = Unchecked::new(solid, options).ok()?;
        let agrees = unchecked.contradicted_faces().is_empty();
        let (_, remarks) = unchecked.check_with_remarks("").ok()?;
        // The check adds a remark on a small fault to those that were made before.
        (agrees && remarks.len() == solid.remarks.len()).then_some(())
    };
    let (mut clean, mut rest): (Vec<Reading>, Vec<Reading>) =
        readings.into_iter().partition(|r| is_clean(&r.solid).is_some());
    if clean.is_empty() {
        return Ok(rest.swap_remove(0).solid);
    }
    clean.sort_by_key(|r| !r.has_short_seams);
    let text = |r: &Reading| format!("{} (the volume is {:.6} mm³ then)", r.correction, r.solid.volume);
    let differs = |r: &Reading| {
        let volume = clean[0].solid.volume;
        (r.solid.volume - volume).abs() > SAME_VOLUME * volume.abs()
    };
    let other = |r: &Reading| format!("if {}, the volume is {:.6} mm³", r.correction, r.solid.volume);
    let others: Vec<String> = clean.iter().filter(|r| differs(r)).map(other).collect();
    if clean.iter().any(|r| differs(r) && r.has_short_seams == clean[0].has_short_seams) {
        let readings = clean.iter().map(text).collect();
        let problems = vec![Problem::Ambiguous { readings }];
        return Err(BuildError { id: source.id, name: source.name.clone(), problems });
    }
    let mut solid = clean.swap_remove(0).solid;
    if !others.is_empty() {
        let message = format!("check whether another sense is wrong instead: {}", others.join("; "));
        solid.remarks.push(feeler_brep::Remark {
            severity: feeler_brep::Severity::Warning,
            entity: None,
            place: None,
            message,
        });
    }
    Ok(solid)
}

/// Builds and prepares the solid with the opposite outward normal of one face, given by its entity number.
/// Returns `None` if the solid is invalid with it, or if its faces still contradict each other.
fn with_reversed(
    source: &SolidSource,
    face: u64,
    subject: &str,
    options: &Options,
) -> Option<(Hierarchy, Vec<Remark>)> {
    let mut other = source.clone();
    for f in other.faces.iter_mut().filter(|f| f.id == face) {
        f.outward = !f.outward;
        f.either_way = false;
    }
    let solid = build_solid(&other, &BuildOptions::default()).ok()?;
    let unchecked = Unchecked::new(&solid, options).ok()?;
    if !unchecked.contradicted_faces().is_empty() {
        return None;
    }
    let (hierarchy, mut remarks) = unchecked.check_with_remarks(subject).ok()?;
    remarks.push(Remark {
        severity: Severity::Warning,
        subject: subject.to_owned(),
        entity: Some(face),
        point: source.place_of(face).map(Into::into),
        message: format!(
            "face #{face}: with the stated sense, it contradicts the other faces of the solid; the other \
             side of its surface was taken"
        ),
    });
    Some((hierarchy, remarks))
}

#[cfg(test)]
mod tests {
    use feeler_brep::fixtures::SourceBuilder;
    use feeler_brep::source::LoopSource;
    use feeler_geom::{Curve, Frame, P3, Surface, V3};

    use super::*;

    const OPTIONS: Options = Options { flatness: 0.8 };

    /// Pin of the given radius and height (mm) along z from z = 0, with an end on a ball: a dome above its
    /// rim, or a dish below it.
    fn pin(radius: f64, height: f64, ball: f64, is_dome: bool) -> SolidSource {
        let level = |z: f64| Frame { origin: P3::new(0.0, 0.0, z), ..Frame::identity() };
        let mut b = SourceBuilder::new();
        let (low, high) = (b.vertex(radius, 0.0, 0.0), b.vertex(radius, 0.0, height));
        let [bottom, top] = [(0.0, low), (height, high)].map(|(z, v)| b.circle(level(z), radius, v));
        let ring = |edge: u32, forward: bool| LoopSource::Edges(vec![(edge, forward)]);
        let side = vec![ring(bottom, true), ring(top, false)];
        b.face(Surface::Cylinder { frame: level(0.0), radius }, true, side);
        b.face(Surface::Plane { frame: level(0.0) }, false, vec![ring(bottom, false)]);
        let below = (ball * ball - radius * radius).sqrt();
        let center = if is_dome { height - below } else { height + below };
        b.face(Surface::Sphere { frame: level(center), radius: ball }, is_dome, vec![ring(top, true)]);
        b.finish("pin")
    }

    /// Volume (mm³) of the segment of a ball above a plane at `below` (mm) from its centre.
    fn segment(ball: f64, below: f64) -> f64 {
        let h = ball - below;
        std::f64::consts::PI * h * h * (ball - h / 3.0)
    }

    fn volume_and_warnings(source: &SolidSource) -> (f64, Vec<String>) {
        match prepared(source, "pin", &OPTIONS) {
            Ok((h, remarks)) => (h.info.volume, remarks.into_iter().map(|r| r.message).collect()),
            Err(Refusal::Build(e)) => panic!("{e}"),
            Err(Refusal::Prepare(e, _)) => panic!("{e}"),
        }
    }

    /// The other side of the ball of a dome reaches out of the pin, so that a wrong sense is found.
    #[test]
    fn wrong_senses_of_domes_are_corrected() {
        let (radius, height) = (5.0_f64, 20.0_f64);
        for ball in [5.001, 5.2, 6.5, 9.0, 20.0, 300.0] {
            let below = (ball * ball - radius * radius).sqrt();
            let volume = std::f64::consts::PI * radius * radius * height + segment(ball, below);
            let mut source = pin(radius, height, ball, true);
            let (found, warnings) = volume_and_warnings(&source);
            assert!((found - volume).abs() <= 1e-8 * volume, "{ball}: {found} instead of {volume}");
            assert!(warnings.is_empty(), "{ball}: {warnings:?}");
            source.faces[2].outward = false;
            let (found, warnings) = volume_and_warnings(&source);
            assert!(
                (found - volume).abs() <= 1e-8 * volume,
                "{ball}: {found} instead of {volume}, {warnings:?}"
            );
            assert!(warnings.iter().any(|w| w.contains("the other side of its surface was taken")), "{ball}");
        }
    }

    /// A dome or a dish of the radius of its pin is tangent to the side, so that its wrong sense gives a part
    /// without thickness at the rim. That is valid, and a warning states the other volume.
    #[test]
    fn folds_without_thickness_are_reported() {
        let (radius, height) = (5.0_f64, 20.0);
        let half_ball = 2.0 / 3.0 * std::f64::consts::PI * radius * radius * radius;
        let pin_volume = std::f64::consts::PI * radius * radius * height;
        let (dome, dish) = (pin_volume + half_ball, pin_volume - half_ball);
        for (is_dome, outward) in [(true, true), (true, false), (false, false)] {
            let volume = if outward { dome } else { dish };
            let mut source = pin(radius, height, radius, is_dome);
            source.faces[2].outward = outward;
            let (found, warnings) = volume_and_warnings(&source);
            assert!((found - volume).abs() <= 1e-8 * volume, "{is_dome}, {outward}: {found}, {volume}");
            let other = format!("encloses {dome:.6} mm³");
            let is_told = warnings.iter().any(|w| w.contains("folds back") && w.contains(&other));
            assert_eq!(is_told, !outward, "{is_dome}, {outward}: {warnings:?}");
        }
    }

    /// The sense of one of the two faces of a cap is wrong, so that the volume has the wrong sign: reversing
    /// one face is less than reversing both.
    #[test]
    fn one_sense_is_reversed_rather_than_all() {
        let (ball, below) = (5.0_f64, 3.0_f64);
        let mut b = SourceBuilder::new();
        let frame = Frame { origin: P3::new(0.0, 0.0, below), ..Frame::identity() };
        let v = b.vertex(4.0, 0.0, below);
        let ring = b.circle(frame, 4.0, v);
        let loops = |forward: bool| vec![LoopSource::Edges(vec![(ring, forward)])];
        b.face(Surface::Plane { frame }, false, loops(false));
        b.face(Surface::Sphere { frame: Frame::identity(), radius: ball }, false, loops(true));
        let (found, warnings) = volume_and_warnings(&b.finish("cap"));
        assert!((found - segment(ball, below)).abs() <= 1e-8 * found, "{found}, {warnings:?}");
        let rest = 4.0 / 3.0 * std::f64::consts::PI * ball * ball * ball - segment(ball, below);
        assert!(warnings.iter().any(|w| w.contains(&format!("it is {rest:.6} mm³"))), "{warnings:?}");
    }

    /// A ball on the dish of a pin is a valid solid, as is the dish: the sense of the source decides.
    #[test]
    fn senses_with_which_solids_are_valid_remain() {
        let (radius, height, ball) = (5.0_f64, 20.0, 6.5_f64);
        let whole = 4.0 / 3.0 * std::f64::consts::PI * ball * ball * ball;
        let below = (ball * ball - radius * radius).sqrt();
        let dish = std::f64::consts::PI * radius * radius * height - segment(ball, below);
        let mut source = pin(radius, height, ball, false);
        assert!((volume_and_warnings(&source).0 - dish).abs() <= 1e-8 * dish);
        source.faces[2].outward = true;
        let (found, warnings) = volume_and_warnings(&source);
        assert!((found - dish - whole).abs() <= 1e-8 * (dish + whole), "{found}, {warnings:?}");
        assert!(warnings.is_empty(), "{warnings:?}");
    }

    /// Ball about the origin without its parts beyond y = `at`, and beyond x = `at` on one side of y = `at`.
    /// `is_long`: that side contains more than half of the circle in which the plane x = `at` cuts the ball.
    fn cut_ball(radius: f64, at: f64, is_long: bool) -> SolidSource {
        let mut b = SourceBuilder::new();
        let rim = (radius * radius - at * at).sqrt();
        let z = (rim * rim - at * at).sqrt();
        let (low, high) = (b.vertex(at, at, -z), b.vertex(at, at, z));
        let plane = |origin: P3, x: V3, z: V3| Frame { origin, x, y: z.cross(&x), z };
        let beyond_x = plane(P3::new(at, 0.0, 0.0), V3::y(), V3::x());
        let beyond_y = plane(P3::new(0.0, at, 0.0), V3::z(), V3::y());
        // Around +x from the upper vertex over -y to the lower one; around +y from the lower one over -x.
        let (start, end) = if is_long { (high, low) } else { (low, high) };
        let arc_x = b.edge(Curve::Circle { frame: beyond_x, radius: rim }, start, end);
        let arc_y = b.edge(Curve::Circle { frame: beyond_y, radius: rim }, low, high);
        let (line, _) = b.line(low, high);
        let ring = |walk: Vec<(u32, bool)>| vec![LoopSource::Edges(walk)];
        let sphere = Surface::Sphere { frame: Frame::identity(), radius };
        b.face(sphere, true, ring(vec![(arc_x, !is_long), (arc_y, false)]));
        b.face(Surface::Plane { frame: beyond_x }, is_long, ring(vec![(arc_x, is_long), (line, true)]));
        b.face(Surface::Plane { frame: beyond_y }, true, ring(vec![(arc_y, true), (line, false)]));
        b.finish("cut ball")
    }

    /// The sense of the plane face contradicts its arc. With the other sense, or with the other arc, the
    /// solid is valid, but not the same.
    #[test]
    fn different_solids_after_equally_small_corrections_are_refused() {
        let (radius, at) = (5.0, 2.0);
        let mut volumes = Vec::new();
        for is_long in [true, false] {
            let source = cut_ball(radius, at, is_long);
            let (volume, warnings) = volume_and_warnings(&source);
            assert!(warnings.is_empty(), "{is_long}: {warnings:?}");
            volumes.push(volume);
        }
        let cap = segment(radius, at);
        assert!((volumes[1] - volumes[0] - cap).abs() <= 1e-8 * cap, "{volumes:?}, {cap}");
        for is_long in [true, false] {
            let mut source = cut_ball(radius, at, is_long);
            source.faces[1].outward = !is_long;
            let Err(Refusal::Build(e)) = prepared(&source, "ball", &OPTIONS) else {
                panic!("{is_long}: read")
            };
            let message = e.to_string();
            for volume in &volumes {
                assert!(message.contains(&format!("{volume:.6} mm³")), "{is_long}: {message}");
            }
        }
    }
}
