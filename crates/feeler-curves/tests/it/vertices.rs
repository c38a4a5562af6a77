//! Minima at, and close to, free ends and corners of curves.

use feeler_curves::{Curve, CurveLocation, CurveMinimum, CurveOptions, CurvePair, P3};

fn polyline(points: &[[f64; 3]], is_closed: bool) -> Curve {
    let points: Vec<P3> = points.iter().map(|p| P3::from(*p)).collect();
    Curve::new(1, &points, 0.0, is_closed).expect("a polyline")
}

fn query(a: &Curve, b: &Curve) -> Vec<CurveMinimum> {
    let options = CurveOptions { d_max: 100.0, ..CurveOptions::default() };
    CurvePair::new().query(a, b, &options).to_vec()
}

fn places(minima: &[CurveMinimum]) -> Vec<([f64; 2], [CurveLocation; 2])> {
    // Parameters rounded to 1e-12.
    minima.iter().map(|m| (m.u.map(|u| (u * 1e12).round() / 1e12), m.places)).collect()
}

#[test]
fn corners_of_a_ring_do_not_touch_themselves() {
    let ring = [
        [0.0, 0.0, 0.0],
        [4.0, 1.0, 0.5],
        [1.0, 1.5, 3.0],
        [3.0, 5.0, 1.0],
        [0.5, 2.0, 0.7],
        [1.0, 4.0, 4.0],
    ];
    for is_closed in [true, false] {
        let ring = polyline(&ring, is_closed);
        let options = CurveOptions { d_max: 100.0, ..CurveOptions::default() };
        let mut pair = CurvePair::new();
        for m in pair.query_itself(&ring, &options) {
            assert!(m.distance > 0.1, "touches itself: {m:?}");
        }
    }
}

/// One side of the corner is orthogonal to the direction of the end, the other side approaches it.
#[test]
fn a_corner_is_not_a_minimum_when_one_side_approaches() {
    let side = [[-2.0, 0.0, 0.0], [0.0, 0.0, 0.0], [1.0, 1.0, 0.0]];
    let b = polyline(&[[0.0, 1.0, 0.0], [0.0, 5.0, 0.0]], false);
    let expected = [([1.5, 0.0], [CurveLocation::Inside, CurveLocation::End])];
    assert_eq!(places(&query(&polyline(&side, false), &b)), expected, "corner of the curve");
    let back = [side[2], side[1], side[0]];
    let expected = [([0.5, 0.0], [CurveLocation::Inside, CurveLocation::End])];
    assert_eq!(places(&query(&polyline(&back, false), &b)), expected, "corner of the reversed curve");
}

#[test]
fn minima_with_one_point_far_along_a_curve_are_two() {
    let a = polyline(&[[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 0.0, 0.0]], false);
    let b = polyline(&[[1.0, 1.0, -1.0], [1.0, 1.0, 1.0]], false);
    let inside = [CurveLocation::Inside; 2];
    assert_eq!(
        places(&query(&a, &b)),
        [([0.25, 0.5], inside), ([1.75, 0.5], inside)],
        "one minimum on each leg"
    );
}

#[test]
fn places_of_a_curve_with_itself_keep_their_order() {
    // The end is opposite to the first leg.
    let a = polyline(&[[0.0, 0.0, 0.0], [6.0, 0.0, 0.0], [6.0, 4.0, 0.0], [3.0, 1.0, 0.0]], false);
    let options = CurveOptions { d_max: 100.0, ..CurveOptions::default() };
    let mut pair = CurvePair::new();
    let found = places(pair.query_itself(&a, &options));
    assert!(found.contains(&([0.5, 3.0], [CurveLocation::Inside, CurveLocation::End])), "{found:?}");
}

/// The end is just past the other curve (by 1e-10, for example): the crossing is a minimum, the end is
/// not. A minimum exactly at a cut of the tree is also found.
#[test]
fn ends_just_beyond_a_crossing() {
    for off in [1e-6, 1e-8, 1e-9, 1e-10, 1e-11] {
        for at in [0.3, 0.5, 0.0625] {
            let x = -10.0 + 20.0 * at;
            let a = polyline(&[[-10.0, 7.0, 3.0], [10.0, 7.0, 3.0]], false);
            let b = polyline(&[[x, 7.0 - off, 3.0 + off], [x + 1.0, 12.0, 9.0]], false);
            let found = query(&a, &b);
            assert_eq!(found.len(), 1, "{off:e} at {at}: {found:?}");
            assert!((found[0].u[0] - at).abs() < off, "{off:e} at {at}: {found:?}");
        }
    }
}

/// The end lies on the other curve up to rounding.
#[test]
fn ends_on_a_curve_are_found() {
    for k in 0..100 {
        let t = f64::from(k) / 100.0 + 0.003;
        let on = [3.0 * t, 1.0 - 3.0 * t, 1.0 - 3.0 * t];
        let a = polyline(&[[0.0, 1.0, 1.0], [3.0, -2.0, -2.0]], false);
        let b = polyline(&[[-1.0, -2.0, 2.5], on], false);
        let found = query(&a, &b);
        assert_eq!(found.len(), 1, "{t}: {found:?}");
        assert_eq!(found[0].places, [CurveLocation::Inside, CurveLocation::End], "{t}");
        assert!(found[0].distance < 1e-14, "{t}: {found:?}");
    }
}

/// At a crossing of planar curves the points differ only by rounding in the plane, which gives no normal.
#[test]
fn the_normal_where_curves_cross_is_orthogonal_to_both() {
    for k in 0..500 {
        let t = 0.1 + 1e-3 * f64::from(k);
        let point = [0.37, 0.078, 0.0];
        let along = |d: [f64; 3], x: f64| std::array::from_fn(|i| point[i] + 12.0 * x * d[i]);
        let (d, e) = ([t, 1.0, 0.0], [1.0, -0.3 * t, 0.0]);
        let a = polyline(&[along(d, -t), along(d, 1.0 - t)], false);
        let b = polyline(&[along(e, t - 1.0), along(e, t)], false);
        let found = query(&a, &b);
        assert_eq!(found.len(), 1, "{t}: {found:?}");
        assert!((found[0].normal.z.abs() - 1.0).abs() < 1e-12, "{t}: {found:?}");
    }
}

/// Two pieces with a common direction at their joint, bent away from a line before it and towards the
/// line after it. The joint is not a minimum, although the piece before it has one there.
#[test]
fn a_joint_where_the_bend_changes() {
    let line =
        Curve::new(1, &[[-5.0, 0.0, 0.0], [5.0, 0.0, 0.0]].map(P3::from), 0.1, false).expect("a curve");
    let mut pair = CurvePair::new();
    for (after, n) in [(0.5, 0), (1.5, 1)] {
        let bent = [[-1.0, 0.0, 1.5], [-0.5, 0.0, 1.0], [0.0, 0.0, 1.0], [0.5, 0.0, 1.0], [1.0, 0.0, after]];
        let curve = Curve::new(2, &bent.map(P3::from), 0.1, false).expect("a curve");
        let found = pair.query(&line, &curve, &CurveOptions { d_max: 2.0, ..CurveOptions::default() });
        let at_joint = found.iter().filter(|m| (m.u[1] - 1.0).abs() < 1e-6).count();
        assert_eq!(at_joint, n, "{found:?}");
    }
}
