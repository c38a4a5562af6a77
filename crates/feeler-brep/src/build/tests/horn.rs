//! Tests of horn tori. Their tube, about a circle of the tube's own radius, touches itself in one point,
//! at which the longitude changes by half a turn.

use super::*;

/// Relative differences of the two radii, which are equal except for rounding of either sign, or for the
/// digits of a file.
const DIFFERENCES: [f64; 4] = [0.0, 4e-16, -4e-16, -1e-10];

#[test]
fn a_bend_about_a_point_of_the_rod_is_a_solid() {
    for (radius, difference) in DIFFERENCES.into_iter().flat_map(|d| [(1.0, d), (2.0, d), (0.3, d)]) {
        for (angle, halved) in [(FRAC_PI_2, true), (FRAC_PI_2, false), (2.6, true), (3.0 * FRAC_PI_2, false)]
        {
            let case = format!("radius {radius}, difference {difference}, angle {angle}, {halved}");
            let solid = built(&fixtures::horn_bend(radius, difference, angle, halved));
            let disc = PI * radius * radius;
            // Pappus: the centre of the disc moves along an arc of the same radius.
            let (volume, area) = (disc * angle * radius, 2.0 * disc + TAU * radius * angle * radius);
            assert!((solid.volume / volume - 1.0).abs() < 1e-9, "{case}: volume {} {volume}", solid.volume);
            assert!((solid.area / area - 1.0).abs() < 1e-9, "{case}: area {} {area}", solid.area);
            let tip = &solid.vertices[0];
            assert!(!tip.smooth, "{case}: the ends meet in a corner");
            for side in solid.edges.iter().flat_map(|e| &e.sides) {
                assert!(side.deviation < 1e-8, "{case}: an edge is {} mm off its face", side.deviation);
            }
            let cells = &solid.faces[0].cells;
            for (u, v) in (1..12).flat_map(|i| (0..12).map(move |j| (0.5 * f64::from(i), 0.5 * f64::from(j))))
            {
                let inside = cells.classify(P2::new(u, v - 2.9)) == Side::Inside;
                assert_eq!(inside, u < angle, "{case}: longitude {u}, latitude {}", v - 2.9);
            }
        }
    }
}

#[test]
fn a_whole_horn_torus_has_one_sheet() {
    for difference in DIFFERENCES {
        let mut b = SourceBuilder::new();
        let tip = b.vertex(0.0, 0.0, 0.0);
        let surface =
            Surface::Torus { frame: Frame::identity(), major: 2.0, minor: 2.0 * (1.0 + difference) };
        b.face(surface, true, vec![LoopSource::Vertex(tip)]);
        let solid = built(&b.finish("horn"));
        let volume = 2.0 * PI * PI * 8.0;
        assert!((solid.volume / volume - 1.0).abs() < 1e-9, "{difference}: {}", solid.volume);
        assert!(!solid.vertices[0].smooth, "{difference}: the surface has no tangent plane there");
    }
}
