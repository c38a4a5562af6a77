use super::*;
use feeler_brep::build::{BuildOptions, build_solid};
use feeler_brep::fixtures;
use feeler_geom::bezier::{BezierSpline, BezierSurface};
use feeler_geom::{Frame, Surface, math};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

fn empty() -> Grid {
    Grid {
        points: [P3::origin(); GRID_POINTS],
        tangents: [[V3::zeros(); 2]; GRID_POINTS],
        lengths: [1.0; 2],
        bend: 0.0,
        has_pole: false,
        poles: Vec::new(),
        curvature: 0.0,
        shape: [SIDE, SIDE],
        radius: 0.0,
    }
}

/// A field with a zero between grid points is distinguished from one without.
#[test]
fn fields_that_vanish() {
    let grid = empty();
    let field = |x0: f64, y0: f64, lift: f64| -> [V3; GRID_POINTS] {
        std::array::from_fn(|k| {
            let [x, y] = grid.params(k);
            let (x, y) = (x - x0, y - y0);
            V3::new(x + 0.3 * x * y, y - 0.2 * x * x, lift)
        })
    };
    let cells = |f: &[V3; GRID_POINTS]| (0..GRID_POINTS).filter(|&k| grid.may_vanish(f, k, 1e-3)).count();
    for (x0, y0) in [(0.3, 0.8), (0.0, 0.0), (0.5, 0.5), (0.99, 0.01)] {
        let f = field(x0, y0, 0.0);
        let nearest = (0..GRID_POINTS).min_by(|&k, &l| f[k].norm().total_cmp(&f[l].norm())).unwrap();
        assert!(grid.may_vanish(&f, nearest, 1e-3), "{x0} {y0}");
        assert!(cells(&f) <= 16, "{x0} {y0}: {}", cells(&f));
    }
    assert_eq!(cells(&field(0.5, 0.5, 0.2)), 0, "long everywhere");
    assert_eq!(cells(&field(-1.0, 0.5, 0.0)), 0, "short only outside the grid");
    assert_eq!(cells(&[V3::repeat(f64::NAN); GRID_POINTS]), GRID_POINTS, "an unknown field may vanish");
}

/// Feet on a grid over half a radian of a torus differ from those of the torus by a small part of a cell.
#[test]
fn feet_are_near_the_feet_of_the_surface() {
    let torus = |u: f64, v: f64| {
        let ((su, cu), (sv, cv)) = (math::sin_cos(u), math::sin_cos(v));
        P3::new((3.0 + cv) * cu, (3.0 + cv) * su, sv)
    };
    let normal = |u: f64, v: f64| {
        let ((su, cu), (sv, cv)) = (math::sin_cos(u), math::sin_cos(v));
        V3::new(cv * cu, cv * su, sv)
    };
    let mut grid = empty();
    let mut normals = Normals { vectors: [V3::zeros(); GRID_POINTS], spread: 0.0 };
    for k in 0..GRID_POINTS {
        let (u, v) = (0.5 * step(k / SIDE, SIDE), 0.5 * step(k % SIDE, SIDE));
        (grid.points[k], normals.vectors[k]) = (torus(u, v), normal(u, v));
    }
    for i in 0..10_i32 {
        for j in 0..10_i32 {
            let (u, v) = (0.05 * f64::from(i) + 0.02, 0.05 * f64::from(j) + 0.02);
            let p = torus(u, v);
            let n = (p - P3::new(3.0 * math::cos(u), 3.0 * math::sin(u), 0.0)).normalize();
            let foot = grid.foot(&(p + n * 0.1));
            let (x, d) = (foot.params, foot.offset.norm());
            assert!((d - 0.1).abs() < 1e-4, "{u} {v}: {d}");
            let off = (grid.normal(&normals, &foot) - n).norm();
            assert!(off < 5e-3, "{u} {v}: {off}");
            assert!((x[0] - 2.0 * u).abs() < 0.01 && (x[1] - 2.0 * v).abs() < 0.01, "{u} {v}: {x:?}");
        }
    }
}

/// Feet on a grid along a helix, also beyond its ends.
#[test]
fn feet_along_curves() {
    let helix = |t: f64| P3::new(2.0 * math::cos(t), 2.0 * math::sin(t), 0.7 * t);
    let mut grid = Grid { shape: [CURVE_POINTS, 1], ..empty() };
    for k in 0..CURVE_POINTS {
        grid.points[k] = helix(step(k, CURVE_POINTS));
    }
    for i in -2..=22_i32 {
        let t = 0.05 * f64::from(i);
        let outward = V3::new(math::cos(t), math::sin(t), 0.0);
        let foot = grid.foot(&(helix(t) + outward * 0.1));
        assert_eq!((foot.params[1], foot.beyond[1]), (0.0, 0.0));
        // A few steps of the search are less accurate beyond the ends.
        let close = if (0.0..=1.0).contains(&t) { 2e-3 } else { 5e-3 };
        assert!((foot.beyond[0] - t).abs() < close, "{t}: {foot:?}");
        let end = t.clamp(0.0, 1.0);
        assert!((foot.params[0] - end).abs() < 2e-3, "{t}: {foot:?}");
        let offset = helix(end) - (helix(t) + outward * 0.1);
        assert!((foot.offset - offset).norm() < 2e-3, "{t}: {foot:?} {offset}");
    }
}

#[test]
fn one_grid_point_of_a_basin_is_its_minimum() {
    let grid = empty();
    let values: [f64; GRID_POINTS] = std::array::from_fn(|k| {
        let [x, y] = grid.params(k);
        (x - 0.3) * (x - 0.3) + (y - 0.8) * (y - 0.8)
    });
    let minima: Vec<usize> = (0..grid.len()).filter(|&k| grid.is_minimum(&values, k)).collect();
    assert_eq!(minima, [SIDE + 3]);
    assert!(!grid.is_minimum(&[f64::NAN; GRID_POINTS], 0), "a value that is not finite is never a minimum");
    let flat: Vec<usize> = (0..grid.len()).filter(|&k| grid.is_minimum(&[1.0; GRID_POINTS], k)).collect();
    assert_eq!(flat, [0], "the first of equal values is the minimum");
}

/// Minima in basins and in straight and bent valleys: each minimum in the patch has a starting point within
/// one step of it, at a grid point or in a cell; most patches without a minimum have no starting point.
#[test]
fn minima_have_a_start_beside_them() {
    let mut rng = SmallRng::seed_from_u64(11);
    let grid = Grid { tangents: [[V3::x(), V3::y()]; GRID_POINTS], ..empty() };
    let (mut inside, mut outside, mut skipped) = (0, 0, 0);
    for k in 0..20_000 {
        let mut random = |lo: f64, hi: f64| rng.random_range(lo..hi);
        let (x0, y0) = (random(-0.6, 1.6), random(-0.6, 1.6));
        // The smaller one of the two second derivatives; the larger one is 1.
        let second = if k % 3 == 0 { random(1e-4, 1e-2) } else { random(0.05, 1.0) };
        let (sin, cos) = math::sin_cos(random(0.0, 3.2));
        // Straight and bent valleys: ½ (U − κ V²)² + ½ σ V² with rotated axes and a small third-order term.
        let bend = if k % 2 == 0 { random(0.0, 0.3 / step(1, SIDE)) } else { 0.0 };
        let third = 0.1 * second * random(-1.0, 1.0);
        let local = |x: f64, y: f64| {
            let (x, y) = (x - x0, y - y0);
            (cos * x + sin * y, cos * y - sin * x)
        };
        let value = |x: f64, y: f64| {
            let (u, v) = local(x, y);
            let across = u - bend * v * v;
            0.5 * across * across + 0.5 * second * v * v + third * v * v * v / 3.0
        };
        let gradient = |x: f64, y: f64| {
            let (u, v) = local(x, y);
            let across = u - bend * v * v;
            let along = second * v - 2.0 * bend * v * across + third * v * v;
            [cos * across - sin * along, sin * across + cos * along]
        };
        let (mut values, mut slopes) = ([0.0; GRID_POINTS], [[0.0; 2]; GRID_POINTS]);
        for l in 0..GRID_POINTS {
            let [x, y] = grid.params(l);
            values[l] = value(x, y);
            let [g, h] = gradient(x, y);
            slopes[l] = [g * step(1, SIDE), h * step(1, SIDE)];
        }
        let at_points =
            (0..GRID_POINTS).filter(|&l| grid.is_minimum(&values, l) && grid.may_be_critical(&slopes, l));
        let mut starts = at_points.map(|l| grid.params(l)).chain(grid.cells_with_minimum(&slopes));
        let near = |[x, y]: [f64; 2]| (x - x0).abs() <= step(1, SIDE) && (y - y0).abs() <= step(1, SIDE);
        if [x0, y0].iter().all(|c| (0.0..=1.0).contains(c)) {
            inside += 1;
            assert!(
                starts.any(near),
                "{k}: no start near {x0} {y0}, curvature {second} across ({cos}, {sin})"
            );
        } else if [x0, y0].iter().any(|c| *c < -0.3 || *c > 1.3) {
            outside += 1;
            skipped += usize::from(starts.next().is_none());
        }
    }
    assert!(inside > 3000 && skipped * 5 > outside * 3, "{inside} inside; {skipped} of {outside} skipped");
}

/// A solid of revolution, flattened along y so that it is free-form, with a pole at either end. Its profile
/// is an arc between two angles whose ends are on the axis.
fn with_poles(half_angle: f64) -> Body {
    let off = math::cos(half_angle);
    let upright = Frame { origin: P3::new(-off, 0.0, 0.0), x: V3::x(), y: V3::z(), z: -V3::y() };
    let profile = BezierSpline::arc(&upright, 1.0, 1.0, -half_angle, half_angle);
    let mut grid = BezierSurface::revolution(&profile, &P3::origin(), &V3::z(), 0.0, std::f64::consts::TAU);
    grid.control.iter_mut().for_each(|h| h.y *= 0.7);
    let mut source = fixtures::sphere(1.0);
    let (face, uv) = (&mut source.faces[0], P2::new(0.4, 0.3));
    let away = grid.derivs(uv).p.coords;
    let surface = Surface::Bezier(grid);
    face.outward = surface.normal(uv).dot(&away) > 0.0;
    face.surface = surface;
    let solid = build_solid(&source, &BuildOptions::default()).unwrap();
    let options = feeler_hierarchy::Options { flatness: 0.3 };
    Body::new(feeler_prepare::prepare_solid(&solid, &options).unwrap()).unwrap()
}

/// Bundles contain every ball around a point of a normal, at smooth poles and at apices. At apices, the
/// bundles of the pieces exclude balls that a single bundle around all of them does not exclude.
#[test]
fn bundles_of_normals_contain_points_of_normals() {
    let mut rng = SmallRng::seed_from_u64(48);
    for (half_angle, is_apex) in [(std::f64::consts::FRAC_PI_2, false), (0.8, true)] {
        let body = with_poles(half_angle);
        let (mut on_normals, mut excluded) = (0, 0);
        for index in 0..body.hierarchy().areas.len() {
            let area = AreaId(u32::try_from(index).unwrap());
            let Feature::Face(f) = body.area(area).feature else { continue };
            let bundles = body.normal_bundles_of(area);
            if bundles.is_empty() {
                continue;
            }
            let (rect, node) = (body.area(area).rect, &body.tree()[body.leaf_of_area(area).index()]);
            let (cap, center, radius) = (&node.cap, node.obb.center, node.obb.radius());
            let whole = NormalBundle { center, radius, axis: cap.axis, sin: cap.sin, cos: cap.cos };
            for _ in 0..400 {
                let mut signed = || rng.random_range(-1.0..1.0);
                let (direction, offset) = (V3::from_fn(|_, _| signed()), V3::from_fn(|_, _| signed()));
                let [min, max] = [-2.0 * signed().abs(), 2.0 * signed().abs()];
                let within = 0.1 * signed().abs();
                let unit = [0.5 + 0.549 * signed(), 0.5 + 0.549 * signed()];
                let uv = at(&rect, unit[0], unit[1]);
                let n = outward_normal(body.face(f), uv);
                let poles = &body.grid_of(area).poles;
                if n.iter().any(|x| !x.is_finite()) || poles.iter().any(|pole| pole.is_behind(&unit)) {
                    continue;
                }
                let is_in_area = unit.iter().all(|x| (0.0..=1.0).contains(x));
                let t = rng.random_range(min..=max);
                let ball = body.face(f).surface.point(uv) + n * t + offset.normalize() * within;
                let reach = [min, max];
                let misses = |b: &NormalBundle, p: &P3| b.misses(p, within * 1.000_001 + 1e-12, reach);
                assert!(!is_in_area || !misses(&whole, &ball), "{ball} of {uv} at {t}");
                assert!(!bundles.iter().all(|b| misses(b, &ball)), "{ball} of {uv} at {t}");
                on_normals += 1;
                let other = center + direction;
                excluded += usize::from(
                    !whole.misses(&other, 1e-3, reach)
                        && bundles.iter().all(|b| b.misses(&other, 1e-3, reach)),
                );
            }
        }
        assert!(on_normals > 1000, "{on_normals}");
        assert!(!is_apex || excluded > 100, "{excluded}");
    }
}
