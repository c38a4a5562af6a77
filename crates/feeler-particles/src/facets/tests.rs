//! WALL's Figures 4 to 9 with geometry after their descriptions, independence of the order of the facets, and
//! degenerate positions: exactly above edges and vertices, equal overlaps.

#![expect(
    clippy::cast_possible_truncation,
    clippy::float_cmp,
    reason = "counts are small; results are compared to the bit"
)]

use super::*;
use crate::contact::WallContact;
use feeler_geom::{P3, Pose, V3, math};
use rand::rngs::SmallRng;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use std::collections::BTreeSet;

/// Wall of a profile in x and z (mm), extruded along y from `-half_width` to `half_width`, with two
/// triangles for each segment. Fronts of the facets are to the left of the direction along the profile.
fn strip(profile: &[[f64; 2]], half_width: f64) -> FacetWall {
    let points: Vec<P3> = profile
        .iter()
        .flat_map(|[x, z]| [P3::new(*x, -half_width, *z), P3::new(*x, half_width, *z)])
        .collect();
    let quads = (0..profile.len() as u32 - 1).map(|k| 2 * k);
    let triangles: Vec<[u32; 3]> = quads.flat_map(|k| [[k, k + 2, k + 3], [k, k + 3, k + 1]]).collect();
    FacetWall::new(&points, &triangles).unwrap()
}

/// The letter of the segment that a facet of a strip belongs to.
fn letter(wall: &FacetWall, facet: u32) -> char {
    char::from(b'a' + u8::try_from(wall.source(facet).unwrap() / 2).unwrap())
}

/// Letters of the segments with active contacts, one for each contact.
fn active(wall: &FacetWall, x: f64, z: f64, radius: f64) -> String {
    let touches = wall.resolve(&P3::new(x, 0.1, z), radius);
    let mut letters: Vec<char> =
        touches.iter().filter(|t| t.role == FacetRole::Active).map(|t| letter(wall, t.facet)).collect();
    letters.sort_unstable();
    letters.into_iter().collect()
}

/// Links between the contacts of segments: letters `(from, to)`.
fn links(wall: &FacetWall, x: f64, z: f64, radius: f64) -> BTreeSet<(char, char)> {
    let touches = wall.resolve(&P3::new(x, 0.1, z), radius);
    let linked = touches.iter().filter_map(|t| match t.role {
        FacetRole::Linked(to) => Some((letter(wall, t.facet), letter(wall, to))),
        _ => None,
    });
    linked.filter(|(from, to)| from != to).collect()
}

fn full(mut wall: FacetWall, cutoff: f64) -> FacetWall {
    wall.set_resolution(Resolution::Full { cutoff }).unwrap();
    wall
}

fn proximity(mut wall: FacetWall, cutoff: f64) -> FacetWall {
    wall.set_resolution(Resolution::Proximity { cutoff }).unwrap();
    wall
}

fn flat(n: u32) -> FacetWall {
    strip(&(0..=n).map(|k| [f64::from(k), 0.0]).collect::<Vec<_>>(), 20.0)
}

#[test]
fn figure_4_one_contact_on_a_flat_wall() {
    // A sphere above b overlaps all facets a to d.
    let wall = flat(4);
    let touches = wall.resolve(&P3::new(1.4, 0.1, 2.0), 3.0);
    assert!(touches.len() >= 8 && touches.windows(2).all(|t| t[0].overlap >= t[1].overlap), "by overlap");
    assert_eq!(active(&wall, 1.4, 2.0, 3.0), "b");
    assert_eq!(links(&wall, 1.4, 2.0, 3.0), BTreeSet::from([('a', 'b'), ('c', 'b'), ('d', 'c')]));
    // A single facet gives the same contact.
    let single = strip(&[[0.0, 0.0], [4.0, 0.0]], 20.0);
    let contact =
        |w: &FacetWall| w.contacts(&mut FacetHistory::default(), &P3::new(1.4, 0.1, 2.0), 3.0)[0].contact;
    assert_eq!(contact(&wall), contact(&single));
    assert_eq!(
        contact(&wall),
        WallContact {
            id: 0,
            point: P3::new(1.4, 0.1, 0.0),
            normal: V3::z(),
            gap: -1.0,
            curvatures: [0.0; 2]
        }
    );
}

#[test]
fn figure_5_the_normal_turns_over_a_convex_edge() {
    // Facets a, b, c are flat; d, e, f slope downwards by 45°; the edge is at x = 3.
    let r = 0.5_f64.sqrt();
    let profile = [
        [0.0, 0.0],
        [1.0, 0.0],
        [2.0, 0.0],
        [3.0, 0.0],
        [3.0 + r, -r],
        [3.0 + 2.0 * r, -2.0 * r],
        [3.0 + 3.0 * r, -3.0 * r],
    ];
    let wall = full(strip(&profile, 20.0), 1.0);
    let mut history = FacetHistory::default();
    let mut seen = Vec::new();
    let (radius, height) = (1.5, 1.4);
    // The path keeps a constant distance from the wall: flat, around the edge, down the slope.
    let at = |s: f64| {
        let turned = ((s - 3.0) / height).clamp(0.0, std::f64::consts::FRAC_PI_4);
        let (sin, cos) = math::sin_cos(turned);
        let (along, down) = if s < 3.0 { (s, 0.0) } else { (3.0, (s - 3.0 - height * turned).max(0.0)) };
        let foot = P3::new(along + down * r, 0.1, -down * r);
        (foot, V3::new(sin, 0.0, cos), height)
    };
    let mut id = None;
    for k in 0..=450 {
        let s = 2.005 + f64::from(k) * 0.01;
        let (foot, normal, height) = at(s);
        let contacts = wall.contacts(&mut history, &(foot + normal * height), radius);
        assert_eq!(contacts.len(), 1, "at {s}");
        let c = contacts[0];
        assert!(
            (c.contact.normal - normal).norm() < 1e-14 && (c.contact.point - foot).norm() < 1e-14,
            "at {s}"
        );
        assert!((c.contact.gap + 0.1).abs() < 1e-14, "at {s}");
        assert_eq!(*id.get_or_insert(c.contact.id), c.contact.id, "the contact persists at {s}");
        if seen.last() != Some(&letter(&wall, c.facet)) {
            seen.push(letter(&wall, c.facet));
        }
        // The edge belongs to c until the sphere is above d.
        let is_before = s < 3.0 + height * std::f64::consts::FRAC_PI_4 - 1e-6;
        assert_eq!(letter(&wall, c.facet) == 'c', is_before, "at {s}");
        // The curvature on the edge is infinite.
        let is_around = c.contact.curvatures[0].is_infinite();
        assert_eq!(is_around, s > 3.001 && is_before, "at {s}");
    }
    // c remains active around the edge, until d becomes active.
    assert_eq!(seen, ['c', 'd', 'e', 'f']);
}

/// A floor a, b, c up to x = 0 and a ramp d, e, f upwards by 45°.
fn concave() -> FacetWall {
    let r = 0.5_f64.sqrt();
    strip(
        &[[-3.0, 0.0], [-2.0, 0.0], [-1.0, 0.0], [0.0, 0.0], [r, r], [2.0 * r, 2.0 * r], [3.0 * r, 3.0 * r]],
        20.0,
    )
}

#[test]
fn figure_6_two_contacts_at_a_concave_edge() {
    let wall = concave();
    assert_eq!(active(&wall, -1.5, 0.95, 1.0), "b");
    assert_eq!(active(&wall, -0.4, 0.95, 1.0), "cd");
    let r = 0.5_f64.sqrt();
    let up = |s: f64, d: f64| ((s - d) * r, (s + d) * r);
    let (x, z) = up(1.2, 0.5);
    assert_eq!(active(&wall, x, z, 1.5), "e");
    assert!(
        links(&wall, x, z, 1.5).is_superset(&BTreeSet::from([('c', 'd'), ('d', 'e')])),
        "{:?}",
        links(&wall, x, z, 1.5)
    );
}

#[test]
fn figure_7_each_peak_of_a_rough_wall() {
    // A large sphere overlaps all five peaks.
    let profile: Vec<[f64; 2]> =
        (0..=10).map(|k| [0.1 * f64::from(k), if k % 2 == 1 { 0.03 } else { 0.0 }]).collect();
    let wall = strip(&profile, 20.0);
    let touches = wall.resolve(&P3::new(0.5, 0.1, 3.0), 3.1);
    let peaks: Vec<f64> = touches.iter().filter(|t| t.role == FacetRole::Active).map(|t| t.point.x).collect();
    assert_eq!(peaks.len(), 5, "{peaks:?}");
    assert!(peaks.iter().all(|x| (x * 10.0 - (x * 10.0).round()).abs() < 1e-12), "{peaks:?}");
    assert_eq!(active(&full(wall.clone(), 1.0), 0.5, 3.0, 3.1).len(), 5, "no peak hides another");
    // With a cutoff above the angle between slopes one contact remains; its force is not that of five.
    let wall = proximity(wall, 1.2);
    let mut history = FacetHistory::default();
    let contacts = wall.contacts(&mut history, &P3::new(0.5, 0.1, 3.0), 3.1);
    assert_eq!(contacts.len(), 1);
    assert!((contacts[0].contact.normal - V3::z()).norm() < 0.05, "{:?}", contacts[0]);
}

#[test]
fn figure_8_hidden_facets_are_active_in_reduced_mode_only() {
    // A sliver: two sides with a common edge outside the sphere.
    let sliver = strip(&[[4.0, -0.2], [-1.0, 0.0], [4.0, 0.2]], 20.0);
    let center = (2.0, 1.0);
    assert_eq!(active(&sliver, center.0, center.1, 1.5), "ab");
    assert_eq!(active(&full(sliver, 1.0), center.0, center.1, 1.5), "b");
    // Three sheets above one another.
    let mut points = Vec::new();
    let mut triangles = Vec::new();
    for k in 0..3_u32 {
        let z = -0.3 * f64::from(k);
        points.extend([P3::new(-9.0, -9.0, z), P3::new(9.0, -9.0, z), P3::new(0.0, 9.0, z)]);
        triangles.push([3 * k, 3 * k + 1, 3 * k + 2]);
    }
    let sheets = FacetWall::new(&points, &triangles).unwrap();
    let count = |w: &FacetWall| w.contacts(&mut FacetHistory::default(), &P3::new(0.0, 0.1, 1.0), 2.0).len();
    assert_eq!(count(&sheets), 3);
    assert_eq!(count(&full(sheets, 1.0)), 1);
}

#[test]
fn figure_9_contacts_move_on_unless_there_is_a_hole() {
    let b = P3::new(1.6, 0.1, 0.9);
    let d = P3::new(3.4, 0.1, 0.9);
    let ids = |wall: &FacetWall, radius: f64| {
        let mut history = FacetHistory::default();
        let of = |history: &mut FacetHistory, x: &P3| {
            let contacts = wall.contacts(history, x, radius);
            assert_eq!(contacts.len(), 1);
            (letter(wall, contacts[0].facet), contacts[0].contact.id)
        };
        [of(&mut history, &b), of(&mut history, &d)]
    };
    // With radius 3, b is still overlapped and linked; with radius 1, only the path is left.
    for radius in [3.0, 1.0] {
        let flat = flat(5);
        assert_eq!(ids(&flat, radius), [('b', 0), ('d', 1)], "reduced mode drops the state");
        assert_eq!(
            ids(&full(flat.clone(), 0.0), radius),
            [('b', 0), ('d', 0)],
            "full mode moves the contact, also with Θ = 0"
        );
    }
    // Without c there is a hole.
    let profile: Vec<[f64; 2]> = (0..=5).map(|k| [f64::from(k), 0.0]).collect();
    let whole = strip(&profile, 20.0);
    let corners = |k: usize| whole.corners(whole.facet_of(k).unwrap()).unwrap();
    let without = |gone: std::ops::Range<usize>| {
        let kept: Vec<usize> = (0..10).filter(|k| !gone.contains(k)).collect();
        let points: Vec<P3> = kept.iter().flat_map(|k| corners(*k)).collect();
        let triangles: Vec<[u32; 3]> =
            (0..kept.len() as u32).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect();
        let wall = full(FacetWall::new(&points, &triangles).unwrap(), 1.0);
        let mut history = FacetHistory::default();
        let before = wall.contacts(&mut history, &b, 1.0)[0].contact.id;
        wall.contacts(&mut history, &d, 1.0)[0].contact.id == before
    };
    assert!(!without(4..6), "c is a hole");
    assert!(without(0..2) && without(8..10), "a and e are not on the path");
    // A gutter as c, whose sides are turned by more than Θ or by less.
    let gutter =
        strip(&[[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [2.5, -0.5], [3.0, 0.0], [4.0, 0.0], [5.0, 0.0]], 20.0);
    let persists = |cutoff: f64| {
        let wall = full(gutter.clone(), cutoff);
        let mut history = FacetHistory::default();
        let before = wall.contacts(&mut history, &b, 1.0)[0].contact.id;
        wall.contacts(&mut history, &d, 1.0)[0].contact.id == before
    };
    assert!(persists(0.79) && !persists(0.78), "45° are 0.785 rad");
}

#[test]
fn cutoff_at_an_edge_and_the_loss_at_figure_6() {
    // A contact persists over a convex edge of 45° if Θ allows it.
    let r = 0.5_f64.sqrt();
    let profile = [[0.0, 0.0], [3.0, 0.0], [3.0 + 3.0 * r, -3.0 * r]];
    let persists = |cutoff: f64| {
        let wall = full(strip(&profile, 20.0), cutoff);
        let mut history = FacetHistory::default();
        let at =
            |m: &mut FacetHistory, x: f64, z: f64| wall.contacts(m, &P3::new(x, 0.1, z), 1.0)[0].contact.id;
        let before = at(&mut history, 2.0, 0.95);
        at(&mut history, 3.3, 0.85);
        at(&mut history, 3.0 + r + 0.9 * r, -r + 0.9 * r) == before
    };
    assert!(persists(0.79) && !persists(0.78), "45° are 0.785 rad");
    // The sphere leaves the floor for the ramp: the state of c is dropped, that of d moves with the contact.
    let wall = full(concave(), 1.0);
    let mut history = FacetHistory::default();
    let both: Vec<u64> =
        wall.contacts(&mut history, &P3::new(-0.01, 0.1, 0.95), 1.0).iter().map(|c| c.contact.id).collect();
    let of_d = history.contacts().iter().find(|c| letter(&wall, c.facet) == 'd').unwrap().contact.id;
    assert_eq!(both.len(), 2);
    let after = wall.contacts(&mut history, &P3::new(0.2 * r, 0.1, 1.9 * r), 1.4).to_vec();
    assert_eq!((after.len(), letter(&wall, after[0].facet)), (1, 'e'));
    assert_eq!(after[0].contact.id, of_d);
    assert!(history.merged().is_empty(), "{:?}", history.merged());
}

#[test]
fn proximity_contact_of_a_concave_edge() {
    let wall = proximity(concave(), 0.8);
    let mut history = FacetHistory::default();
    let first = wall.contacts(&mut history, &P3::new(-1.5, 0.1, 0.95), 1.0)[0].contact.id;
    // c and d are combined, with their overlapped neighbours.
    let x = P3::new(-0.4, 0.1, 0.95);
    let touches = wall.resolve(&x, 1.0);
    let contacts = wall.contacts(&mut history, &x, 1.0).to_vec();
    assert_eq!(contacts.len(), 1);
    let c = contacts[0].contact;
    assert_eq!(c.id, first, "the contact persists");
    assert!(
        touches.iter().all(|t| t.role == FacetRole::Active || t.role == FacetRole::Member(contacts[0].facet)),
        "{touches:?}"
    );
    let sum: V3 = touches.iter().map(|t| t.normal * t.overlap).sum();
    let mean = touches.iter().map(|t| t.overlap).sum::<f64>() / touches.len() as f64;
    assert!((c.normal - sum.normalize()).norm() < 1e-15 && (c.gap + mean).abs() < 1e-15, "{c:?}");
    assert!((x - c.point - c.normal * (1.0 - mean)).norm() < 1e-15, "{c:?}");
    // Only d is left up the ramp, with the states of both.
    let r = 0.5_f64.sqrt();
    let after = wall.contacts(&mut history, &P3::new(-0.3 * r, 0.1, 1.6 * r), 1.0).to_vec();
    assert_eq!((after.len(), letter(&wall, after[0].facet), after[0].contact.id), (1, 'd', first));
    // A smaller cutoff gives two contacts. When they become one, the younger is merged into the older.
    let mut wall = proximity(concave(), 0.1);
    let mut history = FacetHistory::default();
    assert_eq!(wall.contacts(&mut history, &x, 1.0).len(), 2);
    wall.set_resolution(Resolution::Proximity { cutoff: 0.8 }).unwrap();
    assert_eq!(wall.contacts(&mut history, &x, 1.0).len(), 1);
    assert_eq!(history.merged(), [(1, 0)]);
}

#[test]
fn inactive_sides_have_no_contacts() {
    let mut wall = flat(3);
    let count = |wall: &FacetWall, z: f64| wall.resolve(&P3::new(1.5, 0.1, z), 1.0).len();
    assert!(count(&wall, 0.5) > 0 && count(&wall, -0.5) > 0, "both by default");
    for (sides, front, back) in [
        (ActiveSides::Front, true, false),
        (ActiveSides::Back, false, true),
        (ActiveSides::None, false, false),
    ] {
        wall.set_sides(|_, _| sides);
        assert_eq!((count(&wall, 0.5) > 0, count(&wall, -0.5) > 0), (front, back), "{sides:?}");
    }
    // Reduced mode suffices for the wedge of Figure 8 if only outer sides are active.
    let mut sliver = strip(&[[4.0, -0.2], [-1.0, 0.0], [4.0, 0.2]], 20.0);
    sliver.set_sides(|_, _| ActiveSides::Front);
    assert_eq!(active(&sliver, 2.0, 1.0, 1.5), "b");
}

/// A square of 2 n² triangles in a pose, with diagonals in both directions.
fn tilted(n: u32, size: f64, pose: &Pose) -> (Vec<P3>, Vec<[u32; 3]>) {
    let step = size / f64::from(n);
    let mut points = Vec::new();
    for i in 0..=n {
        for j in 0..=n {
            points.push(pose * P3::new(f64::from(i) * step, f64::from(j) * step, 0.0));
        }
    }
    let at = |i: u32, j: u32| i * (n + 1) + j;
    let mut triangles = Vec::new();
    for i in 0..n {
        for j in 0..n {
            let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            if (i * 7 + j * 3) % 2 == 0 {
                triangles.extend([[a, b, c], [a, c, d]]);
            } else {
                triangles.extend([[a, b, d], [b, c, d]]);
            }
        }
    }
    (points, triangles)
}

#[test]
fn degenerate_positions_have_one_contact() {
    // Positions exactly above edges and vertices, and within rounding of them, in poses with rounded
    // coordinates.
    let mut rng = SmallRng::seed_from_u64(25);
    for round in 0..200 {
        let turn =
            V3::new(rng.random_range(-2.0..2.0), rng.random_range(-2.0..2.0), rng.random_range(-2.0..2.0));
        let pose = Pose::new(V3::new(rng.random_range(-50.0..50.0), 7.0, -3.0), turn);
        let pose = if round == 0 { Pose::identity() } else { pose };
        let (points, triangles) = tilted(6, 6.0, &pose);
        let wall = FacetWall::new(&points, &triangles).unwrap();
        for _ in 0..100 {
            let snap = |rng: &mut SmallRng| {
                let u: f64 = rng.random_range(1.0..5.0);
                match rng.random_range(0..3) {
                    0 => u.round(),
                    1 => u.round() + [1e-16, -3e-16, 1e-13, 1e-11, -1e-9, 1e-8][rng.random_range(0..6)],
                    _ => u,
                }
            };
            let (u, v) = (snap(&mut rng), snap(&mut rng));
            let v = if rng.random_bool(0.3) { u } else { v };
            let height = rng.random_range(0.3..0.99);
            let center = pose * P3::new(u, v, height);
            let mut history = FacetHistory::default();
            let contacts = wall.contacts(&mut history, &center, 1.0).to_vec();
            assert_eq!(contacts.len(), 1, "{u} {v} {height} {contacts:?}");
            let c = contacts[0].contact;
            assert!((c.gap + 1.0 - height).abs() < 1e-13, "{u} {v} {c:?}");
            assert!((c.normal - pose.rotation * V3::z()).norm() < 1e-10, "{u} {v} {c:?}");
            assert_eq!(c.curvatures, [0.0; 2], "{u} {v} {c:?}");
        }
    }
}

#[test]
fn above_edges_and_vertices_of_a_box() {
    // A cube whose faces have different diagonals, with spheres about its corners, edges and faces.
    let corner = |k: u32| P3::new(f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2 & 1));
    let points: Vec<P3> = (0..8).map(corner).collect();
    let triangles: [[u32; 3]; 12] = [
        [0, 2, 1],
        [1, 2, 3],
        [4, 5, 7],
        [4, 7, 6],
        [0, 1, 5],
        [0, 5, 4],
        [2, 6, 3],
        [3, 6, 7],
        [0, 4, 6],
        [0, 6, 2],
        [1, 3, 5],
        [3, 7, 5],
    ];
    let wall = FacetWall::new(&points, &triangles).unwrap();
    let mut rng = SmallRng::seed_from_u64(3);
    for _ in 0..3000 {
        let mut coordinate = || match rng.random_range(0..5) {
            0 => -0.25,
            1 => 1.25,
            2 => 0.5,
            3 => f64::from(rng.random_range(0..2)),
            _ => rng.random_range(-0.5..1.5),
        };
        let center = P3::new(coordinate(), coordinate(), coordinate());
        let nearest = center.map(|c| c.clamp(0.0, 1.0));
        let distance = (center - nearest).norm();
        let radius = 0.49;
        if distance < 1e-9 || distance >= radius {
            continue;
        }
        let mut history = FacetHistory::default();
        let contacts = wall.contacts(&mut history, &center, radius);
        assert_eq!(contacts.len(), 1, "{center} {contacts:?}");
        let c = contacts[0].contact;
        assert!(
            (c.point - nearest).norm() < 1e-15 && (c.gap + radius - distance).abs() < 1e-15,
            "{center} {c:?}"
        );
        let off = (0..3).filter(|k| !(0.0..=1.0).contains(&center[*k])).count();
        let infinite = c.curvatures.iter().filter(|k| k.is_infinite()).count();
        // The ends of an edge may count as edge or vertex.
        let is_end = center.iter().any(|c| c.fract().abs() < 1e-15);
        assert!(is_end || infinite == off - 1, "{center} {c:?}");
    }
}

/// Bits of all numbers of contacts.
fn bits(contacts: &[FacetContact]) -> Vec<u64> {
    contacts
        .iter()
        .flat_map(|c| {
            let k = c.contact;
            [k.id, k.point.x.to_bits(), k.point.y.to_bits(), k.point.z.to_bits(), k.normal.x.to_bits()]
                .into_iter()
                .chain([k.normal.y.to_bits(), k.normal.z.to_bits(), k.gap.to_bits(), u64::from(c.facet)])
        })
        .collect()
}

#[test]
fn order_of_facets_is_irrelevant_to_the_bit() {
    // A sphere rolls over hills in each mode; facets and points are shuffled, and first corners changed.
    let (mut points, triangles) = tilted(12, 6.0, &Pose::identity());
    let mut rng = SmallRng::seed_from_u64(9);
    points.iter_mut().for_each(|p| p.z = 0.2 * math::sin(3.0 * p.x) * math::cos(2.0 * p.y));
    let run = |points: &[P3], triangles: &[[u32; 3]], resolution: Resolution| {
        let mut wall = FacetWall::new(points, triangles).unwrap();
        wall.set_resolution(resolution).unwrap();
        let mut history = FacetHistory::default();
        let mut out = Vec::new();
        for k in 0..300 {
            let s = f64::from(k) / 50.0;
            let center = P3::new(s, 3.0 + math::sin(s), 0.75);
            out.extend(bits(wall.contacts(&mut history, &center, 1.0)));
            out.extend(history.merged().iter().flat_map(|(a, b)| [*a, *b]));
        }
        out
    };
    for resolution in
        [Resolution::Reduced, Resolution::Full { cutoff: 0.6 }, Resolution::Proximity { cutoff: 0.6 }]
    {
        let expected = run(&points, &triangles, resolution);
        assert!(expected.len() > 2700, "{resolution:?}");
        for _ in 0..5 {
            let mut order: Vec<u32> = (0..points.len() as u32).collect();
            order.shuffle(&mut rng);
            let mut places = vec![0; points.len()];
            order.iter().enumerate().for_each(|(at, k)| places[*k as usize] = at as u32);
            let shuffled: Vec<P3> = order.iter().map(|k| points[*k as usize]).collect();
            let mut facets: Vec<[u32; 3]> = triangles
                .iter()
                .map(|t| {
                    let mut t = t.map(|k| places[k as usize]);
                    t.rotate_left(rng.random_range(0..3));
                    t
                })
                .collect();
            facets.shuffle(&mut rng);
            assert_eq!(run(&shuffled, &facets, resolution), expected, "{resolution:?}");
        }
    }
}

#[test]
fn tree_finds_what_a_search_of_all_finds() {
    let (mut points, triangles) = tilted(20, 10.0, &Pose::identity());
    let mut rng = SmallRng::seed_from_u64(4);
    points.iter_mut().for_each(|p| p.z = rng.random_range(-0.2..0.2));
    let wall = FacetWall::new(&points, &triangles).unwrap();
    let mut history = FacetHistory::default();
    for _ in 0..2000 {
        let center =
            P3::new(rng.random_range(-1.0..11.0), rng.random_range(-1.0..11.0), rng.random_range(-1.0..1.5));
        let radius = rng.random_range(0.1..1.5);
        let found: BTreeSet<u32> = wall.resolve(&center, radius).iter().map(|t| t.facet).collect();
        let all: BTreeSet<u32> =
            (0..wall.facets() as u32).filter(|k| wall.mesh.closest(*k, &center).distance < radius).collect();
        assert_eq!(found, all);
        // The history changes no contact.
        let fresh = wall.contacts(&mut FacetHistory::default(), &center, radius).len();
        assert_eq!(wall.contacts(&mut history, &center, radius).len(), fresh);
        let step = P3::new(center.x + 0.01 * radius, center.y, center.z);
        let fresh: Vec<f64> = wall
            .contacts(&mut FacetHistory::default(), &step, radius)
            .iter()
            .map(|c| c.contact.gap)
            .collect();
        let kept: Vec<f64> =
            wall.contacts(&mut history, &step, radius).iter().map(|c| c.contact.gap).collect();
        assert_eq!(kept, fresh);
    }
}

#[test]
fn nearest_points_of_facets_beat_samples() {
    let mut rng = SmallRng::seed_from_u64(12);
    for _ in 0..500 {
        let mut point =
            || P3::new(rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0));
        let corners = [point(), point(), point()];
        let x = point();
        let Ok(wall) = FacetWall::new(&corners, &[[0, 1, 2]]) else { continue };
        let found = wall.mesh.closest(0, &x);
        for i in 0..=20 {
            for j in 0..=20 - i {
                let (u, v) = (f64::from(i) / 20.0, f64::from(j) / 20.0);
                let p = corners[0] + (corners[1] - corners[0]) * u + (corners[2] - corners[0]) * v;
                assert!(found.distance <= (p - x).norm() + 1e-14, "{corners:?} {x}");
            }
        }
        assert!(
            ((found.point - x).norm() - found.distance).abs() < 1e-14,
            "the distance is that of the point"
        );
        let w = [1, 2, 0].map(|k: usize| {
            let n = wall.mesh.normals[0];
            let [a, b] = [wall.mesh.corners(0)[k], wall.mesh.corners(0)[(k + 1) % 3]];
            n.cross(&(b - a)).dot(&(found.point - a))
        });
        assert!(w.iter().all(|s| *s >= -1e-13), "the point is on the facet: {w:?}");
    }
}

#[test]
fn rigid_walls_rotate_by_their_velocity() {
    // A rotation of exactly 1 rad in 1,000 steps, about a moving point.
    let mut wall = flat(2);
    let spin = V3::new(0.3, -0.5, 0.8).normalize();
    let (velocity, center) = (V3::new(1.0, 2.0, 3.0), P3::new(0.5, 0.0, 0.0));
    wall.set_motion(WallMotion::Rigid { velocity, spin, center }).unwrap();
    let p = P3::new(1.0, 2.0, 0.0);
    for _ in 0..1000 {
        wall.advance(1e-3).unwrap();
    }
    let turned = nalgebra::Rotation3::from_scaled_axis(spin);
    let expected = center + velocity + turned * (p - center);
    assert!((wall.pose() * p - expected).norm() < 1e-12, "{}", wall.pose() * p);
    assert!((wall.reference() - center - velocity).norm() < 1e-12, "the reference point moves with the wall");
    let (v, w) = wall.velocity_at(0, &expected);
    assert!((v - velocity - spin.cross(&(expected - wall.reference()))).norm() < 1e-12 && w == spin, "{v}");
}

#[test]
fn vertices_move_with_their_own_velocities() {
    let mut wall = flat(4);
    // A hinge: vertices beyond x = 2 move up.
    wall.set_velocity_field(|p| V3::new(0.0, 0.0, (p.x - 2.0).max(0.0))).unwrap();
    let contact =
        |w: &FacetWall, x: f64| w.contacts(&mut FacetHistory::default(), &P3::new(x, 0.1, 0.5), 1.0).len();
    assert_eq!(contact(&wall, 3.0), 1);
    for _ in 0..10 {
        wall.advance(0.1).unwrap();
    }
    let slope = wall.facet_of(7).unwrap();
    assert!((wall.normal(slope).unwrap() - V3::new(-1.0, 0.0, 1.0).normalize()).norm() < 1e-14);
    let (v, w) = wall.velocity_at(slope, &P3::new(3.25, 0.1, 1.25));
    assert!((v - V3::new(0.0, 0.0, 1.25)).norm() < 1e-14 && w == V3::zeros(), "{v}");
    // Boxes follow the vertices.
    let touches = wall.resolve(&P3::new(3.5, 0.1, 2.2), 1.0);
    assert!(touches.iter().any(|t| t.facet == slope), "{touches:?}");
    // Vertices that collapse into one point.
    let mut wall = flat(1);
    wall.set_velocity_field(|p| V3::new(-p.x, 0.0, 0.0)).unwrap();
    assert!(matches!(wall.advance(1.0), Err(FacetError::Collapsed(_))));
    assert_eq!(wall.resolve(&P3::new(0.5, 0.1, 0.5), 1.0).len(), 2, "the wall is unchanged");
}

#[test]
fn invalid_walls_are_refused() {
    let p = [
        P3::origin(),
        P3::new(1.0, 0.0, 0.0),
        P3::new(0.0, 1.0, 0.0),
        P3::new(2.0, 0.0, 0.0),
        P3::new(1.0, 1.0, 0.0),
    ];
    let error_of = |t: &[[u32; 3]]| FacetWall::new(&p, t).unwrap_err();
    assert_eq!(error_of(&[]), FacetError::Empty);
    assert_eq!(error_of(&[[0, 0, 1]]), FacetError::Empty);
    assert_eq!(error_of(&[[0, 1, 2], [0, 1, 9]]), FacetError::Corner { facet: 1, corner: 9, points: 5 });
    assert_eq!(error_of(&[[0, 1, 2], [0, 1, 3]]), FacetError::NoArea(1));
    assert_eq!(error_of(&[[0, 1, 2], [1, 2, 4]]), FacetError::Orientation([0, 1]));
    let bad = [P3::origin(), P3::new(1.0, f64::NAN, 0.0), P3::new(0.0, 1.0, 0.0)];
    assert_eq!(FacetWall::new(&bad, &[[0, 1, 2]]).unwrap_err(), FacetError::NotFinite(1));
    // Repeated facets, and facets with equal corners, are skipped.
    let wall = FacetWall::new(&p, &[[0, 1, 2], [2, 0, 1], [1, 1, 2], [2, 1, 4]]).unwrap();
    assert_eq!((wall.facets(), wall.skipped(), wall.facet_of(2)), (2, 2, None));
    assert_eq!(wall.facet_of(0), wall.facet_of(1));
    let mut wall = wall;
    assert!(wall.set_resolution(Resolution::Full { cutoff: -0.1 }).is_err(), "a negative angle");
    assert!(wall.set_motion(WallMotion::Vertices(vec![V3::zeros()])).is_err(), "too few velocities");
    let spin = V3::new(f64::INFINITY, 0.0, 0.0);
    let motion = WallMotion::Rigid { velocity: V3::zeros(), spin, center: P3::origin() };
    assert!(wall.set_motion(motion).is_err(), "an infinite velocity");
}

/// Local minima of the distance from `x` to the surface below `radius`, by definition: points p, among all
/// feet on faces and edges and all vertices, from which no corner of a facet at p lies towards x. `None` if
/// rounding decides about one.
fn minima(wall: &FacetWall, x: &P3, radius: f64) -> Option<Vec<P3>> {
    let facets: Vec<[P3; 3]> = (0..wall.facets() as u32).map(|k| wall.corners(k).unwrap()).collect();
    let mut candidates = Vec::new();
    for [a, b, c] in &facets {
        let n = (b - a).cross(&(c - a)).normalize();
        candidates.push(x - n * n.dot(&(x - a)));
        for (u, v) in [(a, b), (b, c), (c, a)] {
            let along = v - u;
            candidates.push(u + along * ((x - u).dot(&along) / along.norm_squared()));
        }
        candidates.extend([*a, *b, *c]);
    }
    candidates.retain(|p| (p - x).norm() < radius + 1e-9);
    // Whether a point is on a triangle: to the left of all sides, and near the plane.
    let is_on = |p: &P3, [a, b, c]: &[P3; 3]| {
        let n = (b - a).cross(&(c - a)).normalize();
        let inside = |u: &P3, v: &P3| n.dot(&(v - u).cross(&(p - u))) / (v - u).norm() > -1e-10;
        n.dot(&(p - a)).abs() < 1e-10 && inside(a, b) && inside(b, c) && inside(c, a)
    };
    let mut out: Vec<P3> = Vec::new();
    for p in &candidates {
        let around: Vec<&[P3; 3]> = facets.iter().filter(|f| is_on(p, f)).collect();
        // Maximum component of the corners towards x.
        let towards = |f: &[P3; 3]| f.iter().map(|c| (c - p).dot(&(x - p))).fold(f64::NEG_INFINITY, f64::max);
        let most = around.iter().map(|f| towards(f)).fold(f64::NEG_INFINITY, f64::max);
        if around.is_empty() || most > 1e-7 {
            continue;
        }
        if most > 1e-9 || ((p - x).norm() - radius).abs() < 1e-9 {
            return None;
        }
        if out.iter().all(|q| (q - p).norm() > 1e-8) {
            out.push(*p);
        }
    }
    Some(out)
}

#[test]
fn active_contacts_are_the_local_minima_of_the_distance() {
    // Rugged, stepped and flat floors; spheres at any position, above vertices and above edges.
    let mut rng = SmallRng::seed_from_u64(77);
    let (mut compared, mut several, mut unclear) = (0, 0, 0);
    for round in 0..60 {
        let (mut points, triangles) = tilted(5, 5.0, &Pose::identity());
        for p in &mut points {
            p.z = match round % 3 {
                0 => rng.random_range(-0.4..0.4),
                1 => 0.5 * f64::from(rng.random_range(0..3)),
                _ => 0.3 * f64::from(rng.random_range(0..2)) + if rng.random_bool(0.2) { 0.1 } else { 0.0 },
            };
        }
        let wall = FacetWall::new(&points, &triangles).unwrap();
        for _ in 0..60 {
            let mut coordinate = || match rng.random_range(0..3) {
                0 => f64::from(rng.random_range(0..6)),
                _ => rng.random_range(-0.2..5.2),
            };
            let (u, v) = (coordinate(), coordinate());
            let v = if rng.random_bool(0.2) { u } else { v };
            let (center, radius) = (P3::new(u, v, rng.random_range(-0.8..1.8)), rng.random_range(0.3..2.0));
            let Some(expected) = minima(&wall, &center, radius) else {
                unclear += 1;
                continue;
            };
            let contacts = wall.contacts(&mut FacetHistory::default(), &center, radius).to_vec();
            let same = contacts.len() == expected.len()
                && expected.iter().all(|p| contacts.iter().any(|c| (c.contact.point - p).norm() < 1e-8));
            assert!(same, "{center} {radius}: {contacts:?}, not {expected:?}");
            compared += 1;
            several += usize::from(expected.len() > 1);
        }
    }
    assert!(compared > 2_000 && several > 500 && unclear < compared / 3, "{compared} {several} {unclear}");
}

#[test]
fn a_contact_persists_all_around_a_sphere_of_facets() {
    // An icosahedron, subdivided three times and projected onto a sphere: 1,280 triangles.
    let t = 0.5 * (1.0 + 5.0_f64.sqrt());
    let mut points: Vec<P3> = Vec::new();
    for (u, v) in [(1.0, t), (-1.0, t), (1.0, -t), (-1.0, -t)] {
        points.extend([P3::new(0.0, u, v), P3::new(u, v, 0.0), P3::new(v, 0.0, u)]);
    }
    let mut triangles: Vec<[u32; 3]> = Vec::new();
    for i in 0..12 {
        for j in 0..12 {
            for k in 0..12 {
                let [a, b, c] = [i, j, k].map(|k| points[k].coords);
                let is_side = |p: V3, q: V3| ((p - q).norm() - 2.0).abs() < 1e-9;
                let is_first = i < j && i < k;
                if is_first && is_side(a, b) && is_side(b, c) && is_side(c, a) && a.dot(&b.cross(&c)) > 0.0 {
                    triangles.push([i as u32, j as u32, k as u32]);
                }
            }
        }
    }
    for _ in 0..3 {
        let mut finer = Vec::new();
        for t in &triangles {
            let middles = [0, 1, 2].map(|k| {
                points.push(nalgebra::center(&points[t[k] as usize], &points[t[(k + 1) % 3] as usize]));
                points.len() as u32 - 1
            });
            let [a, b, c] = middles;
            finer.extend([[t[0], a, c], [t[1], b, a], [t[2], c, b], [a, b, c]]);
        }
        triangles = finer;
    }
    points.iter_mut().for_each(|p| *p = P3::from(p.coords.normalize() * 10.0));
    let wall = full(FacetWall::new(&points, &triangles).unwrap(), 0.3);
    assert_eq!((wall.facets(), wall.vertices().len()), (1280, 642));
    // Small steps, and leaps over several facets.
    for steps in [3_000, 150] {
        let mut history = FacetHistory::default();
        for k in 0..steps {
            let s = std::f64::consts::TAU * f64::from(k) / f64::from(steps);
            let direction = V3::new(math::cos(s), math::sin(s) * 0.8, math::sin(s) * 0.6);
            let contacts = wall.contacts(&mut history, &P3::from(direction * 11.8), 2.0);
            assert_eq!(contacts.len(), 1, "{steps}, {k}");
            assert_eq!(contacts[0].contact.id, 0, "{steps}, {k}");
        }
    }
}

#[test]
fn invalid_input_does_not_panic() {
    let mut rng = SmallRng::seed_from_u64(5);
    let mut walls = 0;
    for round in 0..2_000 {
        let n = rng.random_range(1..12_u32);
        let points: Vec<P3> = (0..n)
            .map(|_| {
                let mut c = || match rng.random_range(0..8) {
                    0 => 0.0,
                    1 => -0.0,
                    2 => 1e-300,
                    3 if round % 7 == 0 => 1e99,
                    4 if round % 11 == 0 => f64::INFINITY,
                    _ => f64::from(rng.random_range(-2..3)),
                };
                P3::new(c(), c(), c())
            })
            .collect();
        let corner = |rng: &mut SmallRng| rng.random_range(0..n + u32::from(round % 5 == 0));
        let triangles: Vec<[u32; 3]> =
            (0..rng.random_range(0..4)).map(|_| [(); 3].map(|()| corner(&mut rng))).collect();
        let Ok(wall) = FacetWall::new(&points, &triangles) else { continue };
        walls += 1;
        let wall = proximity(wall, rng.random_range(0.0..3.0));
        let mut history = FacetHistory::default();
        for center in [
            P3::origin(),
            P3::new(1.0, 0.5, 0.0),
            P3::new(f64::NAN, 0.0, 0.0),
            P3::new(0.0, f64::INFINITY, 0.0),
            P3::new(1e200, 0.0, 0.0),
        ] {
            for radius in [1.0, 3.0, 0.0, -1.0, f64::NAN, f64::INFINITY] {
                for c in wall.contacts(&mut history, &center, radius) {
                    assert!(c.contact.gap < 0.0, "{c:?}");
                }
            }
        }
    }
    assert!(walls > 100, "{walls}");
}
