//! Tests of surfaces with creases inside their faces.

use super::*;
use feeler_geom::bezier::{BezierSpline, BezierSurface, homogeneous};

/// Parametrisation of a rectangle by a graph surface.
#[derive(Clone, Copy, Debug)]
struct Way {
    /// Whether u runs along y instead of x.
    swapped: bool,
    /// Whether u runs backwards.
    reversed: bool,
}

const WAYS: [Way; 4] = [
    Way { swapped: false, reversed: false },
    Way { swapped: false, reversed: true },
    Way { swapped: true, reversed: false },
    Way { swapped: true, reversed: true },
];

/// Returns the graph of a function that is bilinear between the given values of x and y, as one surface
/// with the parametrisation `way`, and whether its natural normal points up.
fn graph(xs: &[f64], ys: &[f64], z: &dyn Fn(f64, f64) -> f64, way: Way) -> (Surface, bool) {
    let (mut us, vs) = if way.swapped { (ys.to_vec(), xs.to_vec()) } else { (xs.to_vec(), ys.to_vec()) };
    if way.reversed {
        us.reverse();
    }
    let mut control = Vec::new();
    for u in us.windows(2) {
        for v in vs.windows(2) {
            for a in u {
                for b in v {
                    let (x, y) = if way.swapped { (*b, *a) } else { (*a, *b) };
                    control.push(homogeneous(&P3::new(x, y, z(x, y)), 1.0));
                }
            }
        }
    }
    let counted = |n: usize| (0..n).map(|k| k as f64).collect();
    let surface = BezierSurface {
        u_degree: 1,
        v_degree: 1,
        u_breaks: counted(us.len()),
        v_breaks: counted(vs.len()),
        control,
        u_periodic: false,
        v_periodic: false,
    };
    (Surface::Bezier(surface), way.swapped == way.reversed)
}

/// A block over a rectangle under the surface `z = 2 + x |y| / 2`: one face with a crease at y = 0 that
/// is a ridge for x < 0 and a valley for x > 0. Its sides at `x` have a vertex at the crease unless x =
/// 0, where the crease is flat. A square hole around the origin, with the given half width, crosses the
/// crease twice.
fn creased_block(x0: f64, x1: f64, hole: Option<f64>, way: Way) -> SolidSource {
    let z = |x: f64, y: f64| 2.0 + 0.5 * x * y.abs();
    let mut b = SourceBuilder::new();
    let mut outline = |x0: f64, x1: f64, h: f64| {
        let low = [(x0, -h), (x1, -h), (x1, h), (x0, h)].map(|p| b.vertex(p.0, p.1, 0.0));
        let mut high = Vec::new();
        let corners = [(x0, -h), (x1, -h), (x1, 0.0), (x1, h), (x0, h), (x0, 0.0)];
        for p in corners.into_iter().filter(|p| *p != (0.0, 0.0)) {
            high.push(b.vertex(p.0, p.1, z(p.0, p.1)));
        }
        (low, high)
    };
    let outer = outline(x0, x1, 1.0);
    let inner = hole.map(|h| outline(-h, h, h));
    let mut wall = |(low, high): &([u32; 4], Vec<u32>), outwards: bool| {
        let at_x0 = if high.len() == 6 { vec![high[0], high[5], high[4]] } else { vec![high[0], high[4]] };
        let walls = [
            vec![low[0], low[1], high[1], high[0]],
            vec![low[1], low[2], high[3], high[2], high[1]],
            vec![low[2], low[3], high[4], high[3]],
            [vec![low[3], low[0]], at_x0].concat(),
        ];
        for mut ring in walls {
            if !outwards {
                ring.reverse();
            }
            b.polygon(&[&ring]);
        }
    };
    wall(&outer, true);
    if let Some(inner) = &inner {
        wall(inner, false);
    }
    let mut rings = vec![b.ring(&outer.1)];
    let mut bottom: Vec<Vec<u32>> = vec![outer.0.iter().rev().copied().collect()];
    if let Some((low, high)) = &inner {
        let reversed: Vec<u32> = high.iter().rev().copied().collect();
        rings.push(b.ring(&reversed));
        bottom.push(low.to_vec());
    }
    let bottom: Vec<&[u32]> = bottom.iter().map(Vec::as_slice).collect();
    b.polygon(&bottom);
    let (surface, outward) = graph(&[x0, x1], &[-1.0, 0.0, 1.0], &z, way);
    b.face(surface, outward, rings);
    b.finish("creased block")
}

#[test]
fn a_crease_is_an_edge_between_two_faces() {
    for way in WAYS {
        let solid = built(&creased_block(-1.0, 1.0, None, way));
        assert_close(solid.volume, 8.0, "volume");
        assert_eq!(solid.faces.len(), 5 + 2, "{way:?}");
        let [convex, concave, smooth, seam] = statuses(&solid);
        assert_eq!(
            [convex, concave, smooth, seam],
            [12 + 3, 1, 0, 0],
            "half a ridge, half a valley, {way:?}"
        );
    }
}

#[test]
fn edges_are_cut_where_they_cross_a_crease() {
    for way in WAYS {
        // The side at x = 0 is straight, so it has no vertex at the crease.
        let solid = built(&creased_block(0.0, 1.0, None, way));
        assert_close(solid.volume, 4.0 + 0.25, "volume");
        assert_eq!(solid.faces.len(), 5 + 2, "{way:?}");
        assert_eq!(statuses(&solid), [12 + 2, 1, 0, 0], "{way:?}");
        vertex_at(&solid, [0.0, 0.0, 2.0]);
    }
}

#[test]
fn a_hole_leaves_two_chords_of_a_crease() {
    for way in WAYS {
        let solid = built(&creased_block(-1.0, 1.0, Some(0.5), way));
        assert_close(solid.volume, 8.0 - 2.0, "volume");
        assert_eq!(solid.faces.len(), 5 + 4 + 2, "{way:?}");
        // The outline and the hole have 12 edges each and one more at each end of the crease; the upright
        // edges of the hole are concave.
        let [convex, concave, smooth, seam] = statuses(&solid);
        assert_eq!([convex, concave, smooth, seam], [24 - 4 + 4 + 1, 4 + 1, 0, 0], "{way:?}");
    }
}

/// Surface of a polyline `[radius, z]` revolved about the z axis: one surface, periodic in u.
fn turned(profile: &[[f64; 2]]) -> BezierSurface {
    let control = profile
        .windows(2)
        .flat_map(|p| [p[0], p[1]])
        .map(|[r, z]| homogeneous(&P3::new(r, 0.0, z), 1.0))
        .collect();
    let breaks = (0..profile.len()).map(|k| k as f64).collect();
    let profile = BezierSpline { degree: 1, breaks, control, periodic: false };
    BezierSurface::revolution(&profile, &P3::origin(), &V3::z(), 0.0, TAU)
}

fn level(z: f64) -> Frame {
    Frame { origin: P3::new(0.0, 0.0, z), ..Frame::identity() }
}

/// A solid of revolution between two discs, whose side (the revolved profile `[radius, z]`) is one face,
/// with or without a seam edge.
fn bottle(profile: &[[f64; 2]], seam: bool) -> SolidSource {
    let mut b = SourceBuilder::new();
    let (first, last) = (profile[0], profile[profile.len() - 1]);
    let (low, high) = (b.vertex(first[0], 0.0, first[1]), b.vertex(last[0], 0.0, last[1]));
    let bottom = b.circle(level(first[1]), first[0], low);
    let top = b.circle(level(last[1]), last[0], high);
    let ring = |walk: &[(u32, bool)]| LoopSource::Edges(walk.to_vec());
    let side = if seam {
        let points = profile.windows(2).flat_map(|p| [p[0], p[1]]);
        let control = points.map(|[r, z]| homogeneous(&P3::new(r, 0.0, z), 1.0)).collect();
        let breaks = (0..profile.len()).map(|k| k as f64).collect();
        let curve = Curve::Bezier(BezierSpline { degree: 1, breaks, control, periodic: false });
        let seam = b.edge(curve, low, high);
        vec![ring(&[(bottom, true), (seam, true), (top, false), (seam, false)])]
    } else {
        vec![ring(&[(bottom, true)]), ring(&[(top, false)])]
    };
    b.face(Surface::Bezier(turned(profile)), true, side);
    b.face(Surface::Plane { frame: level(first[1]) }, false, vec![ring(&[(bottom, false)])]);
    b.face(Surface::Plane { frame: level(last[1]) }, true, vec![ring(&[(top, true)])]);
    b.finish("bottle")
}

#[test]
fn creases_around_a_turned_solid_close() {
    // A cylinder, a cone and a cylinder.
    let profile = [[2.0, 0.0], [2.0, 3.0], [1.0, 5.0], [1.0, 6.0]];
    let volume = PI * (4.0 * 3.0 + 2.0 * (4.0 + 2.0 + 1.0) / 3.0 + 1.0);
    for seam in [false, true] {
        let solid = built(&bottle(&profile, seam));
        assert_close(solid.volume, volume, "volume");
        assert_eq!(solid.faces.len(), 5, "two discs and three parts of the side");
        let is_canonical = |f: &usize| solid.shell.faces[*f].surface.is_canonical();
        assert!((0..5).all(|f| is_canonical(&f)), "each part is canonical");
        let [convex, concave, ..] = statuses(&solid);
        assert_eq!([convex, concave], [3, 1], "a seam does not count as an edge");
    }
}

#[test]
fn creases_of_a_closed_surface_cut_it_open() {
    // A square `[radius, z]` revolved about the axis, starting in the middle of its outer side: no
    // loops, no vertices, four creases.
    let profile = [[5.0, 0.0], [5.0, 1.0], [3.0, 1.0], [3.0, -1.0], [5.0, -1.0], [5.0, 0.0]];
    let mut surface = turned(&profile);
    surface.v_periodic = true;
    let mut b = SourceBuilder::new();
    b.face(Surface::Bezier(surface), true, vec![]);
    let solid = built(&b.finish("square ring"));
    assert_close(solid.volume, 2.0 * PI * 4.0 * 4.0, "volume");
    assert_eq!(solid.faces.len(), 4);
    assert!(solid.shell.faces.iter().all(|f| f.surface.is_canonical()));
    assert_eq!(statuses(&solid), [4, 0, 0, 0]);
}

/// Closed profiles `[radius, z]` with a corner where they start: random polygons, and cubics that enclose a
/// drop.
fn closed_profiles() -> Vec<BezierSpline> {
    let mut rng = SmallRng::seed_from_u64(51);
    let mut out = Vec::new();
    for k in 0..40 {
        let n: u32 = if k % 4 == 0 { 1 } else { rng.random_range(3..8) };
        let corner = |i: u32, rng: &mut SmallRng| {
            let angle = TAU * (f64::from(i) + rng.random_range(0.1..0.9)) / f64::from(n.max(3));
            let radius = rng.random_range(1.0..3.0);
            homogeneous(&P3::new(4.0 + radius * math::cos(angle), 0.0, radius * math::sin(angle)), 1.0)
        };
        let mut corners: Vec<_> = (0..n.max(3)).map(|i| corner(i, &mut rng)).collect();
        corners.push(corners[0]);
        let (degree, control) =
            if n == 1 { (3, corners) } else { (1, corners.windows(2).flat_map(|w| [w[0], w[1]]).collect()) };
        let breaks = (0..=n).map(f64::from).collect();
        out.push(BezierSpline { degree, breaks, control, periodic: false });
    }
    out
}

/// The joint at which a surface of revolution closes at an angle is an edge, whether or not the face states a
/// vertex there, and with both normals of the surface.
#[test]
fn whole_faces_of_revolution_close_at_corners() {
    for (k, profile) in closed_profiles().into_iter().enumerate() {
        // The volume is π ∮ r² dz, by a rule that is exact for cubics.
        let rule = feeler_geom::trim::gauss_legendre(8);
        let curve = Curve::Bezier(profile.clone());
        let piece = |t: f64| -> f64 {
            let at = |(x, w): &(f64, f64)| {
                let d = curve.derivs(t + x);
                w * d.p.x * d.p.x * d.d1.z
            };
            rule.iter().map(at).sum()
        };
        let n = profile.breaks.len() - 1;
        let volume = PI * profile.breaks[..n].iter().map(|t| piece(*t)).sum::<f64>();
        let start = curve.point(0.0);
        let whole = |surface: BezierSurface, outward: bool, has_vertex: bool| {
            let mut b = SourceBuilder::new();
            let v = b.vertex(start.x, start.y, start.z);
            let loops = if has_vertex { vec![LoopSource::Vertex(v)] } else { vec![] };
            b.face(Surface::Bezier(surface), outward, loops);
            built(&b.finish("ring"))
        };
        for has_vertex in [false, true] {
            let surface = BezierSurface::revolution(&profile, &P3::origin(), &V3::z(), 0.0, TAU);
            // The normal of the surface points out of the material if the profile runs counter-clockwise.
            let solid = whole(surface, volume > 0.0, has_vertex);
            assert!((solid.volume / volume.abs() - 1.0).abs() < 1e-7, "{k}: {}, {volume}", solid.volume);
            let [convex, concave, smooth, seam] = statuses(&solid);
            assert_eq!((convex + concave, smooth, seam), (n, 0, 0), "{k}");
            assert_eq!(solid.faces.len(), n, "{k}");
        }
    }
}

/// A polygon extruded upwards as one face. Its outline is one spline that starts at the fraction `start`
/// of the last side, or with 0 at a corner.
fn one_face_prism(polygon: &[[f64; 2]], height: f64, start: f64) -> SolidSource {
    let n = polygon.len();
    let mix = |a: [f64; 2], b: [f64; 2]| [0, 1].map(|k| a[k] + (b[k] - a[k]) * start);
    let mut outline = polygon.to_vec();
    if start > 0.0 {
        outline.insert(0, mix(polygon[n - 1], polygon[0]));
    }
    outline.push(outline[0]);
    let spline = |z: f64| BezierSpline {
        degree: 1,
        breaks: (0..outline.len()).map(|k| k as f64).collect(),
        control: outline
            .windows(2)
            .flat_map(|p| [p[0], p[1]])
            .map(|[x, y]| homogeneous(&P3::new(x, y, z), 1.0))
            .collect(),
        periodic: start > 0.0,
    };
    let mut b = SourceBuilder::new();
    let [low, high] = [0.0, height].map(|z| b.vertex(outline[0][0], outline[0][1], z));
    let bottom = b.edge(Curve::Bezier(spline(0.0)), low, low);
    let top = b.edge(Curve::Bezier(spline(height)), high, high);
    let (seam, _) = b.line(low, high);
    let ring = |walk: &[(u32, bool)]| vec![LoopSource::Edges(walk.to_vec())];
    let side = BezierSurface::extrusion(&spline(0.0), &V3::z(), 0.0, height);
    b.face(Surface::Bezier(side), true, ring(&[(bottom, true), (seam, true), (top, false), (seam, false)]));
    b.face(Surface::Plane { frame: level(0.0) }, false, ring(&[(bottom, false)]));
    b.face(Surface::Plane { frame: level(height) }, true, ring(&[(top, true)]));
    b.finish("one face prism")
}

/// Polygons for prisms: an L-shape, then star-shaped polygons with random corners.
fn polygons() -> Vec<Vec<[f64; 2]>> {
    let mut rng = SmallRng::seed_from_u64(45);
    let random = (0..30).map(|_| {
        let n = rng.random_range(3..9);
        let corner = |k: u32| {
            let angle = TAU * (f64::from(k) + rng.random_range(0.1..0.9)) / f64::from(n);
            let radius = rng.random_range(1.0..3.0);
            [radius * math::cos(angle), radius * math::sin(angle)]
        };
        (0..n).map(corner).collect()
    });
    let l_shape = vec![[0.0, 0.0], [4.0, 0.0], [4.0, 1.0], [1.0, 1.0], [1.0, 3.0], [0.0, 3.0]];
    std::iter::once(l_shape).chain(random).collect()
}

/// A prism whose side is one face equals the prism with one face for each side.
#[test]
fn a_prism_of_one_face_is_that_of_many() {
    for polygon in polygons() {
        let many = built(&fixtures::prism(&polygon, 2.0));
        for start in [0.0, 0.25] {
            let one = built(&one_face_prism(&polygon, 2.0, start));
            assert_close(one.volume, many.volume, "volume");
            let ([convex, concave, ..], [all_convex, all_concave, ..]) = (statuses(&one), statuses(&many));
            // A seam inside a side splits the edges below and above it.
            let at_seam = if start > 0.0 { 2 } else { 0 };
            let expected = [all_convex + at_seam, all_concave];
            assert_eq!([convex, concave], expected, "start {start}, {polygon:?}");
            // Edges that end at a kink of their curve have the tangent of their own side.
            for v in &many.shell.vertices {
                let [a, b] = [&one, &many].map(|solid| vertex_at(solid, [v.x, v.y, v.z]));
                for d in random_directions(7, 100) {
                    assert_eq!(accepts(&a.polar, &d), accepts(&b.polar, &d), "{v:?} {d:?}, start {start}");
                }
            }
        }
    }
}
