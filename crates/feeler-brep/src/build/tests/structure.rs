//! Tests of faces without area, loops that are consistent only together with a neighbour, and gaps
//! beyond the gap tolerance. Families of solids are generated over the range of each fault; references
//! are closed forms.

use super::*;
use crate::source::{EdgeSource, FaceSource};
use feeler_geom::count::index;

/// A prism over a rectangle with a spur in its outline. Its caps are divided by an edge that extends
/// beyond the outline to the tip of the spur, so that the loop of one half runs around the corner beside
/// the spur the wrong way.
///
/// `w`, `h`, `d`: width, height and depth (mm); `at`: x of the division (mm); `lobe`: size of the spur
/// (mm); `bow`: whether the spur is an arc.
fn crossed_caps(w: f64, h: f64, d: f64, at: f64, lobe: f64, bow: bool) -> SolidSource {
    let mut b = SourceBuilder::new();
    let outline =
        [(0.0, 0.0), (at, 0.0), (w, 0.0), (w, h), (at - lobe, h), (at, h + lobe), (at - lobe, h), (0.0, h)];
    let ring: Vec<[u32; 2]> =
        outline.iter().map(|(x, y)| [b.vertex(*x, *y, 0.0), b.vertex(*x, *y, d)]).collect();
    let [low, high] = [0, 1].map(|k| ring.iter().map(|v| v[k]).collect::<Vec<u32>>());
    let n = ring.len();
    if bow {
        // Quarter circles from (at − lobe, h) to (at, h + lobe) about (at − lobe, h + lobe).
        for (k, z) in [(0, 0.0), (1, d)] {
            for (a, c) in [(4, 5), (6, 5)] {
                let frame = Frame::from_z(P3::new(at - lobe, h + lobe, z), V3::z(), Some(-V3::y())).unwrap();
                b.edge(Curve::Circle { frame, radius: lobe }, ring[a][k], ring[c][k]);
            }
        }
    }
    let arcs: Vec<[u32; 4]> =
        b.edges.iter().enumerate().map(|(i, e)| [e.start, e.end, index(i), 0]).collect();
    let walk = |b: &mut SourceBuilder, ring: &[u32]| {
        let step = |b: &mut SourceBuilder, p: u32, q: u32| {
            let arc = arcs.iter().find(|a| (a[0], a[1]) == (p, q) || (a[1], a[0]) == (p, q));
            arc.map_or_else(|| b.line(p, q), |a| (a[2], (a[0], a[1]) == (p, q)))
        };
        LoopSource::Edges((0..ring.len()).map(|i| step(b, ring[i], ring[(i + 1) % ring.len()])).collect())
    };
    for i in 0..n {
        let j = (i + 1) % n;
        let quad = [low[i], low[j], high[j], high[i]];
        if bow && (i == 4 || i == 5) {
            let frame = Frame::from_z(P3::new(at - lobe, h + lobe, 0.0), V3::z(), Some(-V3::y())).unwrap();
            let l = walk(&mut b, &quad);
            // On the walk from the corner to the tip, the outside is to the right: away from the axis.
            b.face(Surface::Cylinder { frame, radius: lobe }, i == 4, vec![l]);
        } else {
            b.polygon(&[&quad]);
        }
    }
    let plane = |z: f64, up: f64| Surface::Plane {
        frame: Frame::from_z(P3::new(0.0, 0.0, z), V3::z() * up, None).unwrap(),
    };
    for (side, z, up) in [(&low, 0.0, -1.0), (&high, d, 1.0)] {
        let left = [0, 1, 5, 6, 7].map(|k| side[k]);
        let right = [1, 2, 3, 4, 5].map(|k| side[k]);
        for half in [left, right] {
            let mut half = half.to_vec();
            if up < 0.0 {
                half.reverse();
            }
            let l = walk(&mut b, &half);
            b.face(plane(z, up), true, vec![l]);
        }
    }
    b.finish("crossed")
}

#[test]
fn loops_that_cross_are_joined_with_the_face_that_continues_them() {
    let (w, h, d) = (6.0, 2.0, 3.0);
    for bow in [false, true] {
        for (at, lobe) in [(3.0, 1.0), (3.0, 0.3), (2.0, 0.05), (5.0, 0.01), (4.0, 1e-3)] {
            let source = crossed_caps(w, h, d, at, lobe, bow);
            let solid =
                build_solid(&source, &BuildOptions::default()).unwrap_or_else(|e| panic!("{lobe}: {e}"));
            let spur = if bow { 0.5 * PI * lobe } else { lobe * 2.0_f64.sqrt() };
            let area = 2.0 * w * h + d * (2.0 * (w + h) + 2.0 * spur);
            assert!((solid.volume / (w * h * d) - 1.0).abs() < 1e-9, "{bow} {lobe}: {}", solid.volume);
            assert!((solid.area / area - 1.0).abs() < 1e-9, "{bow} {lobe}: {} {area}", solid.area);
        }
    }
}

#[test]
fn a_crossed_loop_without_such_a_neighbour_is_refused() {
    // The right half alone, whose outline is a figure of eight.
    for lobe in [1.0, 0.3, 0.05] {
        let (at, h) = (3.0, 2.0);
        let source = fixtures::prism(&[[at, 0.0], [6.0, 0.0], [6.0, h], [at - lobe, h], [at, h + lobe]], 3.0);
        let refused = build_solid(&source, &BuildOptions::default()).unwrap_err();
        assert!(
            refused.problems.iter().all(|p| matches!(p, Problem::LoopsContradict { .. })),
            "{lobe}: {refused}"
        );
    }
}

#[test]
fn faces_that_walk_their_edges_to_and_fro_are_left_out() {
    for (source, walks) in [
        (fixtures::cylinder(3.0, 1.1), 1),
        (fixtures::block([0.0; 3], [4.0, 3.0, 2.0]), 1),
        (fixtures::block([0.0; 3], [4.0, 3.0, 2.0]), 2),
        (fixtures::block([0.0; 3], [4.0, 3.0, 2.0]), 4),
        (fixtures::half_cone(2.0, 3.0), 1),
    ] {
        let reference = built(&source);
        let mut with = source.clone();
        // A chain of edges that the loop walks to and fro.
        let line = |e: &EdgeSource| matches!(e.curve, Curve::Line { .. }) && e.start != e.end;
        let first = index(source.edges.iter().position(line).unwrap());
        let mut chain = vec![(first, true)];
        while chain.len() < walks {
            let at = source.edges[chain[chain.len() - 1].0 as usize].end;
            let next = source.edges.iter().position(|e| line(e) && e.start == at).map(|e| (index(e), true));
            let Some(next) = next.filter(|n| !chain.contains(n)) else { break };
            chain.push(next);
        }
        let back: Vec<(u32, bool)> = chain.iter().rev().map(|(e, _)| (*e, false)).collect();
        let [p, q] = [source.edges[first as usize].start, source.edges[first as usize].end]
            .map(|v| source.vertices[v as usize].point);
        let normal = (q - p).cross(&V3::new(0.3, 0.5, 0.7));
        for surface in [
            Surface::Plane { frame: Frame::from_z(p, normal, None).unwrap() },
            Surface::Cylinder {
                frame: Frame::from_z(p + normal.normalize(), q - p, None).unwrap(),
                radius: 1.0,
            },
        ] {
            let loops = vec![LoopSource::Edges([chain.clone(), back.clone()].concat())];
            with.faces.push(FaceSource {
                id: 900,
                shell: 0,
                surface,
                surface_deviation: 0.0,
                outward: true,
                either_way: false,
                outer_sheet: None,
                loops,
            });
            let solid = built(&with);
            assert_close(solid.volume, reference.volume, "volume");
            assert_close(solid.area, reference.area, "area");
            assert_eq!(solid.faces.len(), reference.faces.len(), "faces");
            assert!(solid.remarks.iter().any(|r| r.entity == Some(900)), "{:?}", solid.remarks);
            with.faces.pop();
        }
    }
    // The whole of a sphere is a face whose loop walks to and fro.
    let whole = built(&fixtures::sphere_with_seam(2.0));
    assert_close(whole.area, 16.0 * PI, "a sphere");
}

/// A block with a narrow face of the given width (mm) between its top and its front, bounded by a
/// straight edge and an arc.
fn with_sliver(width: f64, uncertainty: f64) -> SolidSource {
    let mut source = fixtures::block([0.0; 3], [4.0, 3.0, 2.0]);
    let is_top_front = |e: &EdgeSource| {
        [e.start, e.end].iter().all(|v| {
            let p = source.vertices[*v as usize].point;
            p.y < 1e-9 && p.z > 1.9
        })
    };
    let straight = source.edges.iter().position(is_top_front).unwrap();
    let mut arc = source.edges[straight].clone();
    let [p, q] = [arc.start, arc.end].map(|v| source.vertices[v as usize].point);
    // An arc in the top, whose height is the width of the narrow face.
    let half = 0.5 * (q - p).norm();
    let radius = (half * half + width * width) / (2.0 * width);
    let centre = P3::from((p.coords + q.coords) * 0.5) + V3::y() * (width - radius);
    let z = (p - centre).cross(&(q - centre));
    let frame = Frame::from_z(centre, z, Some(p - centre)).unwrap();
    arc.curve = Curve::Circle { frame, radius };
    arc.id = 901;
    source.edges.push(arc);
    let arc = index(source.edges.len() - 1);
    let top = source.faces.iter().position(|f| match &f.surface {
        Surface::Plane { frame } => frame.z.z > 0.9 && frame.origin.z > 1.9,
        _ => false,
    });
    let top = top.unwrap();
    let LoopSource::Edges(walk) = &mut source.faces[top].loops[0] else { unreachable!("edges") };
    let u = walk.iter_mut().find(|u| u.0 as usize == straight).unwrap();
    let forward = u.1;
    u.0 = arc;
    let mut sliver = source.faces[top].clone();
    sliver.id = 902;
    sliver.loops = vec![LoopSource::Edges(vec![(index(straight), forward), (arc, !forward)])];
    source.faces.push(sliver);
    source.uncertainty = uncertainty;
    source
}

#[test]
fn faces_within_the_tolerance_of_their_vertices_are_left_out() {
    for uncertainty in [1e-6, 1e-5, 1e-4] {
        for ratio in [0.03, 0.1, 0.3, 0.9, 1.5, 3.0, 10.0] {
            let width = ratio * uncertainty;
            let solid = built(&with_sliver(width, uncertainty));
            let is_gone = solid.faces.iter().all(|f| f.source != 902);
            assert!(is_gone || ratio > 1.0, "{uncertainty} {ratio}: {:?}", solid.remarks);
            assert!(!is_gone || ratio < 1.0 || width < 1e-6, "{uncertainty} {ratio}: an area was left out");
            assert!(
                (solid.volume - 24.0).abs() < 1e-9 + 10.0 * width,
                "{uncertainty} {ratio}: {}",
                solid.volume
            );
            assert!((solid.area - 52.0).abs() < 1e-9 + 10.0 * width, "{uncertainty} {ratio}: {}", solid.area);
        }
    }
}

#[test]
fn a_shell_of_nothing_but_a_sliver_is_refused() {
    let source = with_sliver(1e-6, 1e-5);
    let mut only = source.clone();
    only.faces.retain(|f| f.id == 902);
    let sheet = crate::sheet::both_sides(only).unwrap().solid;
    let refused = build_solid(&sheet, &BuildOptions::default()).unwrap_err();
    assert_eq!(refused.problems, vec![Problem::NoFaces]);
}

#[test]
fn gaps_that_are_short_against_their_edges_are_closed() {
    // One vertex of a block is off its three edges. The size of the block determines the limit, which is
    // 1e-3 of it.
    for sides in [[1.0, 1.0, 1.0], [1.0, 2.0, 8.0], [0.1, 1.0, 3.0], [0.02, 1.0, 1.0], [5.0, 40.0, 40.0]] {
        let size = V3::from(sides).norm();
        for share in [1e-4, 5e-4, 2e-3, 5e-3, 0.01, 0.03, 0.1] {
            let mut source = fixtures::block([0.0; 3], sides);
            let gap = share * sides.iter().copied().fold(f64::INFINITY, f64::min);
            let away = V3::new(0.8, 0.48, 0.36) * gap;
            source.vertices[0].point += away;
            let off = [away.yz().norm(), away.xz().norm(), away.xy().norm()];
            let worst = off.iter().copied().fold(0.0, f64::max);
            let volume = sides[0] * sides[1] * sides[2];
            let area = 2.0 * (sides[0] * sides[1] + sides[1] * sides[2] + sides[2] * sides[0]);
            let what = format!("{sides:?} {share}");
            let [a, b, c] = sides;
            let smallest = math::hypot(a, b).min(math::hypot(b, c)).min(math::hypot(c, a));
            let allowed = (0.25 * a.min(b).min(c)).min(0.02 * smallest).max(1e-3 * size);
            match build_solid(&source, &BuildOptions::default()) {
                Ok(solid) => {
                    assert!(worst <= 1.01 * allowed, "{what}: closed");
                    assert!((solid.volume - volume).abs() <= gap * area, "{what}: {}", solid.volume);
                    let is_wide = worst > 1e-3 * size;
                    let told = solid.remarks.iter().any(|r| r.message.contains("beyond the limit"));
                    assert_eq!(told, is_wide, "{what}: {:?}", solid.remarks);
                }
                Err(e) => {
                    assert!(worst > 0.9 * allowed, "{what}: {e}");
                }
            }
        }
    }
}

#[test]
fn messages_name_the_repair_once() {
    let mut source = fixtures::block([0.0; 3], [1.0; 3]);
    source.vertices[0].point += V3::new(0.2, 0.2, 0.2);
    let message = build_solid(&source, &BuildOptions::default()).unwrap_err().to_string();
    assert_eq!(message.matches("in the CAD system").count(), 1, "{message}");
    assert!(message.contains("is 0.283 mm away from the end of") && !message.contains("e-1 mm"), "{message}");
}
