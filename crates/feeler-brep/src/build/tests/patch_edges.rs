//! Edges beside tips, seams and borders of patches, and on spindle tori, whose projections are not smooth or
//! not unique. Generated over their extents; the references are integrals in closed form, or the solid
//! without deviations.

use super::*;
use feeler_geom::bezier::{BezierSpline, BezierSurface, homogeneous};
use feeler_geom::count::index;
use feeler_geom::trim::gauss_legendre;

/// Control net with weights, `net[i][j]` with `i` along u.
type Net = Vec<Vec<(P3, f64)>>;

/// Raises the degree of a row of homogeneous control points.
fn elevated(row: &[(P3, f64)]) -> Vec<(P3, f64)> {
    let n = row.len();
    (0..=n)
        .map(|k| {
            let s = k as f64 / n as f64;
            let (a, b) = (k.checked_sub(1).map(|i| row[i]), row.get(k).copied());
            let (p, w) = a.map_or((V3::zeros(), 0.0), |(p, w)| (p.coords * (w * s), w * s));
            let (q, v) = b.map_or((V3::zeros(), 0.0), |(p, w)| (p.coords * (w * (1.0 - s)), w * (1.0 - s)));
            (P3::from((p + q) / (w + v)), w + v)
        })
        .collect()
}

fn transposed(net: &Net) -> Net {
    (0..net[0].len()).map(|j| net.iter().map(|row| row[j]).collect()).collect()
}

fn patch(net: &Net) -> BezierSurface {
    BezierSurface {
        u_degree: index(net.len() - 1),
        v_degree: index(net[0].len() - 1),
        u_breaks: vec![0.0, 1.0],
        v_breaks: vec![0.0, 1.0],
        control: net.iter().flatten().map(|(p, w)| homogeneous(p, *w)).collect(),
        u_periodic: false,
        v_periodic: false,
    }
}

fn spline(row: &[(P3, f64)]) -> Curve {
    Curve::Bezier(BezierSpline {
        degree: index(row.len() - 1),
        breaks: vec![0.0, 1.0],
        control: row.iter().map(|(p, w)| homogeneous(p, *w)).collect(),
        periodic: false,
    })
}

/// The volume between a patch and the plane z = 0.
fn volume_under(surface: &BezierSurface) -> f64 {
    let nodes = gauss_legendre(24);
    let mut sum = 0.0;
    for (u, a) in &nodes {
        for (v, b) in &nodes {
            let d = surface.derivs(P2::new(*u, *v));
            sum += a * b * d.p.z * (d.du.x * d.dv.y - d.du.y * d.dv.x);
        }
    }
    sum.abs()
}

/// A prism over the triangle (0, 0), (4, 0), (0, 3) under a curved patch whose side at the first corner has
/// the length `side` and is `beside` away from the vertex.
struct Tip {
    side: f64,
    beside: f64,
    degree: usize,
    rational: bool,
    /// Which side of the patch the tip is: transposed, and reversed along u and v.
    place: [bool; 3],
}

fn under_a_tip(tip: &Tip, rng: &mut SmallRng) -> (SolidSource, f64) {
    // u runs along the side, v away from it.
    let mut net: Net = (0..3)
        .map(|i| {
            let u = 0.5 * i as f64;
            let corner = P3::new(tip.beside, tip.beside * 0.3 + tip.side * u, 2.0);
            let far = P3::new(4.0 - 4.0 * u, 3.0 * u, if i == 1 { 2.8 } else { 2.0 });
            let middle = nalgebra::center(&corner, &far);
            let mut weight = || if tip.rational { rng.random_range(0.7..1.4) } else { 1.0 };
            vec![(corner, 1.0), (P3::new(middle.x, middle.y, 2.7), weight()), (far, 1.0)]
        })
        .collect();
    while net[0].len() <= tip.degree {
        net = net.iter().map(|row| elevated(row)).collect();
        net = transposed(&transposed(&net).iter().map(|row| elevated(row)).collect());
    }
    let volume = volume_under(&patch(&net));
    // Edges are the borders of the patch, except that they start at the vertex.
    let origin = (P3::new(0.0, 0.0, 2.0), 1.0);
    let rim = |row: &[(P3, f64)]| -> Vec<(P3, f64)> {
        std::iter::once(origin).chain(row[1..].iter().copied()).collect()
    };
    let (first, last) = (rim(&net[0]), rim(&net[net.len() - 1]));
    let across: Vec<(P3, f64)> = net.iter().map(|row| row[row.len() - 1]).collect();
    let mut b = SourceBuilder::new();
    let low = [[0.0, 0.0], [4.0, 0.0], [0.0, 3.0]].map(|p| b.vertex(p[0], p[1], 0.0));
    let high = [[0.0, 0.0], [4.0, 0.0], [0.0, 3.0]].map(|p| b.vertex(p[0], p[1], 2.0));
    let first = b.edge(spline(&first), high[0], high[1]);
    let across = b.edge(spline(&across), high[1], high[2]);
    let last = b.edge(spline(&last), high[0], high[2]);
    b.polygon(&[&[low[0], low[2], low[1]]]);
    let mut outward = false;
    if tip.place[0] {
        net = transposed(&net);
        outward = !outward;
    }
    if tip.place[1] {
        net.reverse();
        outward = !outward;
    }
    if tip.place[2] {
        net.iter_mut().for_each(|row| row.reverse());
        outward = !outward;
    }
    let top = vec![(first, true), (across, true), (last, false)];
    b.face(Surface::Bezier(patch(&net)), outward, vec![LoopSource::Edges(top)]);
    for (i, j, edge, along) in [(0, 1, first, true), (1, 2, across, true), (2, 0, last, false)] {
        let (p, q) = (b.point(low[i]), b.point(low[j]));
        let n = (q - p).cross(&V3::z()).normalize();
        let surface = Surface::Plane { frame: Frame::from_z(p, n, None).expect("a normal") };
        let ring =
            vec![b.line(low[i], low[j]), b.line(low[j], high[j]), (edge, !along), b.line(high[i], low[i])];
        b.face(surface, true, vec![LoopSource::Edges(ring)]);
    }
    (b.finish("under a tip"), volume)
}

#[test]
fn edges_end_at_tips_of_every_length() {
    let mut rng = SmallRng::seed_from_u64(51);
    for round in 0..240_usize {
        let side = [0.0, 1e-12, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3][round % 10];
        let tip = Tip {
            side,
            beside: (side * [0.0, 1.0, 3.0, 10.0][rng.random_range(0..4)]).min(1e-3),
            degree: [2, 3, 5, 7, 13][rng.random_range(0..5)],
            rational: rng.random_bool(0.5),
            place: [0; 3].map(|_| rng.random_bool(0.5)),
        };
        let what = format!(
            "round {round}: side {side:e}, {:e} beside the vertex, degree {}, rational {}, {:?}",
            tip.beside, tip.degree, tip.rational, tip.place
        );
        let (source, volume) = under_a_tip(&tip, &mut rng);
        let solid = build_solid(&source, &BuildOptions::default()).unwrap_or_else(|e| panic!("{what}: {e}"));
        // The walls below the edges are up to this far from the border of the patch, a third of it on
        // average, along 10 mm, and 3 mm high.
        let gap = side + tip.beside;
        let tolerance = 1e-7 * volume + 10.0 * gap;
        assert!((solid.volume - volume).abs() <= tolerance, "{what}: {} {volume}", solid.volume);
        let deviation = solid.edges.iter().flat_map(|e| &e.sides).fold(0.0, |m: f64, s| m.max(s.deviation));
        assert!(deviation <= 3.0 * gap + 1e-6, "{what}: edges stay where they are: {deviation:e}");
        let pieces: usize = solid.edges.iter().flat_map(|e| &e.sides).map(|s| s.pcurve.len()).sum();
        assert!(pieces <= 400, "{what}: {pieces} pieces");
    }
}

/// A plate under a patch over the unit square, whose four upper edges wind about the borders of the patch in
/// cubic waves of the given amplitude.
fn under_a_wavy_border(waves: usize, amplitude: f64) -> (SolidSource, f64) {
    let heights = [[1.0, 1.1, 1.05, 1.0], [1.1, 1.4, 1.3, 1.05], [1.0, 1.3, 1.2, 1.1], [1.0, 1.1, 1.0, 1.0]];
    let net: Net = (0..4)
        .map(|i| (0..4).map(|j| (P3::new(i as f64 / 3.0, j as f64 / 3.0, heights[i][j]), 1.0)).collect())
        .collect();
    let surface = patch(&net);
    let volume = volume_under(&surface);
    let border = |corner: usize, s: f64| {
        let uv = [P2::new(s, 0.0), P2::new(1.0, s), P2::new(1.0 - s, 1.0), P2::new(0.0, 1.0 - s)][corner];
        surface.derivs(uv).p
    };
    let mut b = SourceBuilder::new();
    let corners = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
    let low = corners.map(|p| b.vertex(p[0], p[1], 0.0));
    let high = [0, 1, 2, 3].map(|k| {
        let p = border(k, 0.0);
        b.vertex(p.x, p.y, p.z)
    });
    let out = [-V3::y(), V3::x(), V3::y(), -V3::x()];
    let n = 2 * waves;
    let edges = [0, 1, 2, 3].map(|k| {
        let control = (0..n).flat_map(|i| {
            let at = |s: f64| border(k, (i as f64 + s) / n as f64);
            // Inner control points of the cubic through four points of the border.
            let [p, q, r, t] = [0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0].map(|s| at(s).coords);
            let by = out[k] * (amplitude * if i % 2 == 0 { 4.0 / 3.0 } else { -4.0 / 3.0 });
            let a = (q * 18.0 - r * 9.0 - p * 5.0 + t * 2.0) / 6.0;
            let c = (r * 18.0 - q * 9.0 - t * 5.0 + p * 2.0) / 6.0;
            [p, a + by, c + by, t].map(|c| homogeneous(&P3::from(c), 1.0))
        });
        let curve = BezierSpline {
            degree: 3,
            breaks: (0..=n).map(|i| i as f64).collect(),
            control: control.collect(),
            periodic: false,
        };
        b.edge(Curve::Bezier(curve), high[k], high[(k + 1) % 4])
    });
    b.polygon(&[&[low[0], low[3], low[2], low[1]]]);
    b.face(
        Surface::Bezier(surface),
        true,
        vec![LoopSource::Edges(edges.iter().map(|e| (*e, true)).collect())],
    );
    for k in 0..4 {
        let next = (k + 1) % 4;
        let frame = Frame::from_z(b.point(low[k]), out[k], None).expect("a normal");
        let ring = vec![
            b.line(low[k], low[next]),
            b.line(low[next], high[next]),
            (edges[k], false),
            b.line(high[k], low[k]),
        ];
        b.face(Surface::Plane { frame }, true, vec![LoopSource::Edges(ring)]);
    }
    (b.finish("under a wavy border"), volume)
}

#[test]
fn edges_that_wind_about_a_border_take_few_pieces() {
    for waves in [1, 4, 20, 50] {
        for amplitude in [0.0, 1e-8, 1e-6, 1e-5, 1e-4, 3e-4, 1e-3] {
            let (source, volume) = under_a_wavy_border(waves, amplitude);
            // A kink at every half wave would split the edge into as many edges.
            let options = BuildOptions { kink_angle: 1.0, ..BuildOptions::default() };
            let solid = build_solid(&source, &options)
                .unwrap_or_else(|e| panic!("{waves} waves of {amplitude:e}: {e}"));
            let off = (solid.volume - volume).abs();
            assert!(off <= 1e-6 + 4.0 * amplitude / waves as f64, "{waves}, {amplitude:e}: {off:e}");
            let pieces: usize = solid.edges.iter().flat_map(|e| &e.sides).map(|s| s.pcurve.len()).sum();
            assert!(pieces <= 200 * waves, "{waves} waves of {amplitude:e}: {pieces} pieces");
        }
    }
}

/// A drop-shaped prism whose side is one patch that closes on itself without a period. Its seam is made of
/// `n` splines that are up to `off` beside the seam of the patch.
fn drop_with_a_loose_seam(smooth: bool, n: usize, off: f64, in_v: bool, rng: &mut SmallRng) -> SolidSource {
    let mut source = drop_prism(smooth);
    for f in &mut source.faces {
        let Surface::Bezier(side) = &mut f.surface else { continue };
        side.u_periodic = false;
        if in_v {
            let control = (0..2).flat_map(|j| (0..6).map(move |i| (i, j)));
            side.control = control.map(|(i, j)| side.control[2 * i + j]).collect();
            (side.u_degree, side.v_degree) = (1, 5);
            f.outward = !f.outward;
        }
    }
    for e in &mut source.edges {
        if let Curve::Bezier(b) = &mut e.curve {
            b.periodic = false;
        }
    }
    let seam = source.edges.iter().position(|e| matches!(e.curve, Curve::Line { .. })).expect("a seam");
    let (low, high) = (source.edges[seam].start, source.edges[seam].end);
    let mut at = low;
    let mut parts = vec![];
    for k in 0..n {
        let z = |s: f64| (k as f64 + s) / n as f64;
        let to = if k + 1 == n {
            high
        } else {
            source
                .vertices
                .push(crate::source::VertexSource { id: 9000 + k as u64, point: P3::new(0.0, 0.0, z(1.0)) });
            index(source.vertices.len() - 1)
        };
        let mut bent = |s: f64| {
            let by = V3::new(rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0), 0.0) * off;
            (P3::new(0.0, 0.0, z(s)) + by, 1.0)
        };
        let row = [(P3::new(0.0, 0.0, z(0.0)), 1.0), bent(0.3), bent(0.6), (P3::new(0.0, 0.0, z(1.0)), 1.0)];
        let edge = crate::source::EdgeSource {
            id: 8000 + k as u64,
            curve: spline(&row),
            range: None,
            start: at,
            end: to,
            same_sense: true,
        };
        source.edges.push(edge);
        parts.push(index(source.edges.len() - 1));
        at = to;
    }
    for ring in source.faces.iter_mut().flat_map(|f| &mut f.loops) {
        let LoopSource::Edges(walk) = ring else { continue };
        *walk = walk
            .iter()
            .flat_map(|(e, along)| {
                let replaced: Vec<(u32, bool)> = match (*e as usize == seam, along) {
                    (false, _) => vec![(*e, *along)],
                    (true, true) => parts.iter().map(|p| (*p, true)).collect(),
                    (true, false) => parts.iter().rev().map(|p| (*p, false)).collect(),
                };
                replaced
            })
            .collect();
    }
    source
}

#[test]
fn edges_beside_the_seam_of_a_closed_patch_are_on_both_sides() {
    let mut rng = SmallRng::seed_from_u64(52);
    for smooth in [false, true] {
        let exact = built(&drop_prism(smooth));
        for in_v in [false, true] {
            for n in [1, 2, 5, 10] {
                for off in [0.0, 1e-12, 1e-9, 1e-7, 1e-5, 1e-4, 1e-3] {
                    let source = drop_with_a_loose_seam(smooth, n, off, in_v, &mut rng);
                    let what = format!("smooth {smooth}, in v {in_v}, {n} parts, {off:e}");
                    let solid = build_solid(&source, &BuildOptions::default())
                        .unwrap_or_else(|e| panic!("{what}: {e}"));
                    let near = |a: f64, b: f64| (a - b).abs() <= 1e-7 * b + 0.1 * off;
                    assert!(near(solid.volume, exact.volume), "{what}: {} {}", solid.volume, exact.volume);
                    assert!(near(solid.area, exact.area), "{what}: {} {}", solid.area, exact.area);
                }
            }
        }
    }
}

/// The part of an apple above a plane, whose circular edge is `off` inside the surface.
fn top_of_an_apple(major: f64, minor: f64, latitude: f64, off: f64) -> SolidSource {
    let (sin, cos) = math::sin_cos(latitude);
    let level = Frame { origin: P3::new(0.0, 0.0, minor * sin), ..Frame::identity() };
    let radius = major + minor * cos - off;
    let mut b = SourceBuilder::new();
    let v = b.vertex(radius, 0.0, minor * sin);
    let rim = b.circle(level, radius, v);
    let torus = Surface::Torus { frame: Frame::identity(), major, minor };
    b.face(torus, true, vec![LoopSource::Edges(vec![(rim, true)])]);
    b.face(Surface::Plane { frame: level }, false, vec![LoopSource::Edges(vec![(rim, false)])]);
    b.faces[0].outer_sheet = Some(true);
    b.finish("top of an apple")
}

#[test]
fn edges_beside_a_spindle_torus_stay_on_its_outer_sheet() {
    let minor = 2.0;
    for ratio in [1e-6, 1e-4, 1.6e-4, 1e-3, 1e-2, 0.1, 0.5, 0.9] {
        let major = ratio * minor;
        let tip = math::acos(-ratio);
        // ∫ π x² dz over the outer sheet.
        let f = |v: f64| {
            let (s, c) = math::sin_cos(v);
            PI * minor
                * (major * major * s + major * minor * (v + s * c) + minor * minor * (s - s * s * s / 3.0))
        };
        for latitude in [-0.7, 0.0, 0.6, 1.2] {
            for share in [0.0, 0.5, 1.0, 2.0, 2.5, 10.0, -2.5] {
                let off: f64 = share * major;
                if off.abs() > 1.5e-3 {
                    continue;
                }
                let what = format!("ratio {ratio}, latitude {latitude}, {off:e} off");
                let source = top_of_an_apple(major, minor, latitude, off);
                let solid =
                    build_solid(&source, &BuildOptions::default()).unwrap_or_else(|e| panic!("{what}: {e}"));
                let volume = f(tip) - f(latitude);
                let allowed = 1e-8 * volume + off.abs() * 20.0;
                assert!((solid.volume - volume).abs() <= allowed, "{what}: {} {volume}", solid.volume);
            }
        }
    }
}
