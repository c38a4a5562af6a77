use super::*;
use crate::math;
use crate::trim::TrimDomain;
use std::f64::consts::{PI, TAU};

const WITHIN: f64 = 1e-5;
const UNIT: V2 = V2::new(1.0, 1.0);

/// Returns a cubic arc about the origin between two angles, of a circle or, with two radii, of an
/// ellipse.
fn arc(radii: V2, from: f64, to: f64) -> TrimPiece {
    let at = |t: f64| P2::new(radii.x * math::cos(t), radii.y * math::sin(t));
    let along = |t: f64| V2::new(-radii.x * math::sin(t), radii.y * math::cos(t));
    let speed = 4.0 * math::tan(0.25 * (to - from));
    TrimPiece::hermite(at(from), along(from) * speed, at(to), along(to) * speed, 0)
}

fn circle(radius: f64, count: u32, start: f64) -> Vec<TrimPiece> {
    let at = |k: u32| start + TAU * f64::from(k) / f64::from(count);
    (0..count).map(|k| arc(V2::new(radius, radius), at(k), at(k + 1))).collect()
}

fn cells(pieces: &[TrimPiece], periods: [Option<f64>; 2]) -> TrimCells {
    let far = 1e3;
    let natural = Rect { u0: -far, u1: far, v0: -far, v1: far };
    TrimCells::build(&TrimDomain::new(pieces, natural, periods[0], periods[1], P2::origin())).0
}

fn disk(radius: f64) -> TrimCells {
    cells(&circle(radius, 32, 0.0), [None; 2])
}

fn is_along(cells: &TrimCells, curve: &TrimPiece) -> bool {
    cells.along_boundary(curve, UNIT, WITHIN).is_some()
}

#[test]
fn equal_circles_coincide_wherever_their_pieces_end() {
    let disk = disk(10.0);
    for start in [0.0, 1e-12, 3e-8, 1e-4, 0.05, 0.098, 1.0] {
        for curve in circle(10.0, 32, start) {
            for curve in [curve, curve.reversed()] {
                // Arcs of 11.25° deviate from their circle by 1e-9 of the radius.
                let along = disk.along_boundary(&curve, UNIT, 2e-8).expect("coincides");
                assert!(along.beyond <= 2e-8 && along.deviation == 0.0, "{start}: {along:?}");
            }
        }
    }
    // A quarter along eight pieces deviates by 2.7e-4 of the radius, 45° by 4.2e-6.
    assert!(!is_along(&disk, &arc(V2::new(10.0, 10.0), 0.3, 0.3 + 0.5 * PI)));
    let eighth = disk.along_boundary(&arc(V2::new(10.0, 10.0), 0.3, 0.3 + 0.25 * PI), UNIT, 1e-4);
    assert!((4.2e-5..6e-5).contains(&eighth.expect("within 1e-4").beyond), "{eighth:?}");
}

#[test]
fn radii_that_differ_by_the_tolerance() {
    let disk = disk(10.0);
    // The bound is half a percent too large for these arcs: the cosine of half their angle.
    for (part, coincides) in [(0.98, true), (1.001, false), (-0.98, true), (-1.001, false)] {
        for curve in circle(10.0 + part * WITHIN, 32, 0.05) {
            assert_eq!(is_along(&disk, &curve), coincides, "{part}");
        }
    }
}

#[test]
fn deviations_of_the_boundary_count() {
    let mut pieces = circle(10.0, 8, 0.0);
    let fine = circle(10.0, 32, 0.05);
    assert!(fine.iter().any(|curve| !is_along(&cells(&pieces, [None; 2]), curve)));
    pieces.iter_mut().for_each(|piece| piece.deviation = 4.3e-5);
    let coarse = cells(&pieces, [None; 2]);
    for curve in &fine {
        let along = coarse.along_boundary(curve, UNIT, WITHIN).expect("within the deviation");
        assert!(along.deviation.to_bits() == 4.3e-5_f64.to_bits() && along.beyond <= WITHIN);
    }
    // With swapped roles the deviation of the curve does not count.
    assert!(!pieces.iter().any(|curve| is_along(&disk(10.0), curve)));
}

#[test]
fn overlaps_end_where_the_boundary_turns_away() {
    // The upper half of a disk.
    let mut pieces: Vec<TrimPiece> = circle(10.0, 32, 0.0).into_iter().take(16).collect();
    pieces.push(TrimPiece::line(P2::new(-10.0, 0.0), P2::new(10.0, 0.0), 1));
    let half = cells(&pieces, [None; 2]);
    let on = |from: f64, to: f64| is_along(&half, &arc(V2::new(10.0, 10.0), from, to));
    assert!(on(0.0, 0.2) && on(0.15, 0.35) && on(PI - 0.2, PI) && on(PI, PI - 0.2));
    assert!(!on(-0.1, 0.1) && !on(PI - 0.1, PI + 0.1) && !on(PI + 0.1, PI + 0.3));
    let line = |from: [f64; 2], to: [f64; 2]| {
        let [from, to] = [from, to].map(|p| P2::new(p[0], p[1]));
        is_along(&half, &TrimPiece::line(from, to, 0))
    };
    assert!(line([-3.0, 0.0], [4.0, 0.0]) && line([10.0, 0.0], [-10.0, 0.0]));
    assert!(line([-3.0, 9e-6], [4.0, -9e-6]) && !line([-3.0, 1.1e-5], [4.0, 1.1e-5]));
    // Only curves along the boundary from end to end are accepted; curves across it, at a corner or
    // beside it are not.
    assert!(!line([9.0, 0.0], [11.0, 0.0]) && !line([0.0, -1.0], [0.0, 1.0]));
    assert!(!line([-10.0, 0.0], [-10.0, -1.0]) && !line([-3.0, 1.0], [4.0, 1.0]));
}

#[test]
fn tilted_circles_coincide_about_the_axis_of_the_tilt() {
    let disk = disk(10.0);
    // Seen along the other axis, a circle of radius 10 tilted by 1e-3 rad is narrower by 5e-6, by 2e-3 rad
    // by 2e-5.
    for (tilt, at_axis, across) in [(1e-3, true, true), (2e-3, true, false)] {
        let radii = V2::new(10.0, 10.0 * math::cos(tilt));
        assert_eq!(is_along(&disk, &arc(radii, -0.1, 0.1)), at_axis);
        assert_eq!(is_along(&disk, &arc(radii, 0.5 * PI - 0.1, 0.5 * PI + 0.1)), across);
    }
    // Circles that cross.
    let moved = |d: V2| disk.along_boundary(&arc(V2::new(10.0, 10.0), -0.1, 0.1).translated(d), UNIT, WITHIN);
    assert!(moved(V2::new(0.0, 5e-5)).is_some() && moved(V2::new(0.0, 5e-4)).is_none());
    assert!(moved(V2::new(2e-5, 0.0)).is_none());
}

#[test]
fn borders_around_a_cylinder_across_the_seam() {
    // A cylinder of radius 5 from v = 0 to 3, in four pieces around.
    let quarter = |k: i32| 0.25 * TAU * f64::from(k);
    let line = |from: f64, to: f64, v: f64| TrimPiece::line(P2::new(from, v), P2::new(to, v), 0);
    let mut pieces: Vec<TrimPiece> = (0..4).map(|k| line(quarter(k), quarter(k + 1), 0.0)).collect();
    pieces.extend((0..4).map(|k| line(quarter(4 - k), quarter(3 - k), 3.0)));
    let tube = cells(&pieces, [Some(TAU), None]);
    let scale = V2::new(5.0, 1.0);
    let on = |from: f64, to: f64, v: f64| tube.along_boundary(&line(from, to, v), scale, WITHIN).is_some();
    for (from, to) in
        [(6.0, 7.0), (-0.5, 0.5), (0.5, -0.5), (0.0, TAU), (TAU, 0.0), (TAU, TAU + 1.0), (-9.0, -2.0)]
    {
        assert!(on(from, to, 0.0) && on(from, to, 3.0 + 9e-6), "{from} {to}");
        assert!(!on(from, to, 1.1e-5) && !on(from, to, 1.5), "{from} {to}");
    }
    // A step in v has unit length, a step in u five times that.
    let slanted = |dv: f64| {
        let curve = TrimPiece::line(P2::new(1.0, 0.0), P2::new(2.0, dv), 0);
        tube.along_boundary(&curve, scale, WITHIN).is_some()
    };
    assert!(slanted(9.9e-6) && !slanted(1.1e-5));
}

#[test]
fn degenerate_curves_are_not_along() {
    let disk = disk(10.0);
    let at = P2::new(10.0, 0.0);
    assert!(!is_along(&disk, &TrimPiece::line(at, at, 0)));
    assert!(!is_along(&disk, &TrimPiece::line(at, P2::new(f64::NAN, 0.0), 0)));
    assert!(disk.along_boundary(&circle(10.0, 32, 0.0)[0], UNIT, -1.0).is_none());
    assert!(disk.along_boundary(&circle(10.0, 32, 0.0)[0], V2::new(f64::NAN, 1.0), WITHIN).is_none());
}

#[test]
fn crossings_of_lines_with_a_circle() {
    let disk = disk(10.0);
    let crossings = |from: [f64; 2], to: [f64; 2]| {
        disk.some_crossings(&TrimPiece::line(P2::new(from[0], from[1]), P2::new(to[0], to[1]), 0))
    };
    // At height 6 the chord is 16 long.
    let found = crossings([-20.0, 6.0], [20.0, 6.0]);
    assert!(found.len() == 2 && (found[0] - 0.3).abs() < 1e-7 && (found[1] - 0.7).abs() < 1e-7, "{found:?}");
    assert!(
        crossings([-5.0, 6.0], [5.0, 6.0]).is_empty() && crossings([-20.0, 11.0], [20.0, 11.0]).is_empty()
    );
    let found = crossings([0.0, 0.0], [0.0, 40.0]);
    assert!(!found.is_empty() && found.iter().all(|t| (t - 0.25).abs() < 1e-7), "{found:?}");
}

#[test]
fn crossings_across_the_seam() {
    let line = |from: [f64; 2], to: [f64; 2]| TrimPiece::line(from.into(), to.into(), 0);
    let pieces = [line([0.0, 0.0], [TAU, 0.0]), line([TAU, 3.0], [0.0, 3.0])];
    let tube = cells(&pieces, [Some(TAU), None]);
    for shift in [-TAU, 0.0, TAU] {
        // Crosses the seam in the middle, and both borders beside it.
        let found = tube.some_crossings(&line([shift - 1.0, -1.0], [shift + 1.0, 4.0]));
        assert!(
            found.len() == 2 && (found[0] - 0.2).abs() < 1e-7 && (found[1] - 0.8).abs() < 1e-7,
            "{found:?}"
        );
    }
}
