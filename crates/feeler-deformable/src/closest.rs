//! Closest points of points, segments and triangles, as weights of their nodes.

use feeler_geom::P3;

/// Returns the parameter in [0, 1] of the point of the segment `ab` that is closest to `p`.
pub(crate) fn point_segment(p: &P3, a: &P3, b: &P3) -> f64 {
    let along = b - a;
    let length_sq = along.norm_squared();
    if length_sq > 0.0 { ((p - a).dot(&along) / length_sq).clamp(0.0, 1.0) } else { 0.0 }
}

/// Returns the barycentric weights of the point of a triangle that is closest to `p`. Points of a degenerate
/// triangle are searched for on its edges.
pub(crate) fn point_triangle(p: &P3, [a, b, c]: [&P3; 3]) -> [f64; 3] {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let normal = ab.cross(&ac);
    let area_sq = normal.norm_squared();
    if area_sq > 0.0 {
        let wb = ap.cross(&ac).dot(&normal) / area_sq;
        let wc = ab.cross(&ap).dot(&normal) / area_sq;
        let wa = 1.0 - wb - wc;
        if wa >= 0.0 && wb >= 0.0 && wc >= 0.0 {
            return [wa, wb, wc];
        }
    }
    let [t, u, v] = [point_segment(p, a, b), point_segment(p, b, c), point_segment(p, c, a)];
    let candidates = [[1.0 - t, t, 0.0], [0.0, 1.0 - u, u], [v, 0.0, 1.0 - v]];
    let distance_sq =
        |w: &[f64; 3]| (a.coords * w[0] + b.coords * w[1] + c.coords * w[2] - p.coords).norm_squared();
    let mut best = candidates[0];
    for w in &candidates[1..] {
        if distance_sq(w) < distance_sq(&best) {
            best = *w;
        }
    }
    best
}

/// Returns the parameters in [0, 1] of the closest points of the segments `ab` and `cd`; one pair of several
/// if the segments are parallel.
pub(crate) fn segment_segment([a, b]: [&P3; 2], [c, d]: [&P3; 2]) -> (f64, f64) {
    let (u, v, w) = (b - a, d - c, a - c);
    let (uu, uv, vv) = (u.norm_squared(), u.dot(&v), v.norm_squared());
    let (uw, vw) = (u.dot(&w), v.dot(&w));
    let det = uu * vv - uv * uv;
    let s = if det > 0.0 { ((uv * vw - uw * vv) / det).clamp(0.0, 1.0) } else { 0.0 };
    let t = if vv > 0.0 { (uv * s + vw) / vv } else { 0.0 };
    let t_clamped = t.clamp(0.0, 1.0);
    let s = if uu > 0.0 { ((uv * t_clamped - uw) / uu).clamp(0.0, 1.0) } else { 0.0 };
    (s, t_clamped)
}

#[cfg(test)]
mod tests {
    use super::*;
    use feeler_geom::V3;
    use rand::{Rng, SeedableRng, rngs::SmallRng};

    fn point(rng: &mut SmallRng) -> P3 {
        P3::from(V3::from_fn(|_, _| rng.random_range(-1.0..1.0)))
    }

    #[test]
    fn closest_points_agree_with_the_general_distance_of_convex_shapes() {
        let mut rng = SmallRng::seed_from_u64(1);
        let request = feeler_convex::DistanceRequest::default();
        for _ in 0..2000 {
            let p: [P3; 6] = std::array::from_fn(|_| point(&mut rng));
            let w = point_triangle(&p[0], [&p[1], &p[2], &p[3]]);
            let on = P3::from(p[1].coords * w[0] + p[2].coords * w[1] + p[3].coords * w[2]);
            let hull = |points: &[P3]| feeler_convex::PointSet::new(Box::leak(points.into())).unwrap();
            let exact = feeler_convex::distance(&hull(&p[..1]), &hull(&p[1..4]), &request).distance;
            assert!(((on - p[0]).norm() - exact).abs() < 1e-12, "triangle: {exact}");
            let (s, t) = segment_segment([&p[0], &p[1]], [&p[2], &p[3]]);
            let apart = (p[0] + (p[1] - p[0]) * s) - (p[2] + (p[3] - p[2]) * t);
            let exact = feeler_convex::distance(&hull(&p[..2]), &hull(&p[2..4]), &request).distance;
            assert!((apart.norm() - exact).abs() < 1e-9, "segments: {} {exact}", apart.norm());
        }
    }

    #[test]
    fn degenerate_triangles_and_segments_have_closest_points() {
        let (o, x, y) = (P3::origin(), P3::new(1.0, 0.0, 0.0), P3::new(0.25, 1.0, 0.0));
        let bits = |w: [f64; 3]| w.map(f64::to_bits);
        assert_eq!(bits(point_triangle(&y, [&o, &o, &o])), bits([1.0, 0.0, 0.0]), "a point");
        assert_eq!(bits(point_triangle(&y, [&o, &x, &x])), bits([0.75, 0.25, 0.0]), "a segment");
        let (s, t) = segment_segment([&o, &o], [&y, &y]);
        assert!(s.abs() + t.abs() < f64::EPSILON, "two points: {s} {t}");
    }
}
