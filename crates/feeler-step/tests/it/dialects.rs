//! Tests of units, orientations and alternative notations of the same solid: each must give the volume in
//! closed form.
#![allow(clippy::float_cmp, reason = "placements of whole numbers are exact")]

use crate::writer::{File, Length, refs};
use feeler_brep::build::{BuildOptions, build_solid};
use feeler_brep::source::LoopSource;
use feeler_geom::{P3, Surface, V3, math};
use feeler_step::{Import, Severity, read_step_bytes};
use std::f64::consts::PI;

fn read(file: &File) -> Import {
    read_step_bytes("small.step", file.text().as_bytes()).expect("a good file")
}

/// Volume (mm³) of the only solid of a file, read and built.
fn volume(file: &File) -> f64 {
    let import = read(file);
    assert_eq!(import.solids.len(), 1, "{:?}", import.problems);
    assert_eq!(import.problems, [], "problems of a valid file");
    build_solid(&import.solids[0], &BuildOptions::default()).expect("a good solid").volume
}

#[track_caller]
fn assert_near(a: f64, b: f64, relative: f64) {
    assert!((a / b - 1.0).abs() <= relative, "{a} instead of {b}");
}

fn cylinder(file: &mut File, r: f64, h: f64) -> u64 {
    let frame = file.placement([0., 0., 0.], [0., 0., 1.], Some([1., 0., 0.]));
    let side = file.add(format!("CYLINDRICAL_SURFACE('',#{frame},{r:?})"));
    let faces = file.turned(r, 0.0, r, h, side, true);
    file.solid(&faces)
}

#[test]
fn length_units() {
    for (unit, mm) in [
        (Length::Millimetre, 1.0),
        (Length::Centimetre, 10.0),
        (Length::Metre, 1000.0),
        (Length::Inch, 25.4),
        (Length::Foot, 304.8),
    ] {
        let mut f = File::new();
        let solid = cylinder(&mut f, 0.5, 2.0);
        let context = f.context(unit, false);
        f.shape(&[solid], context);
        assert_near(volume(&f), PI * 0.25 * 2.0 * mm * mm * mm, 1e-8);
        assert_near(read(&f).solids[0].uncertainty, 1e-5 * mm, 1e-12);
    }
}

#[test]
fn two_contexts_in_one_file() {
    let mut f = File::new();
    let a = cylinder(&mut f, 1.0, 1.0);
    let b = cylinder(&mut f, 1.0, 1.0);
    let (mm, inch) = (f.context(Length::Millimetre, false), f.context(Length::Inch, true));
    f.shape(&[a], mm);
    f.shape(&[b], inch);
    let import = read(&f);
    let radius = |i: usize| match import.solids[i].faces[0].surface {
        Surface::Cylinder { radius, .. } => radius,
        ref other => panic!("{other:?}"),
    };
    assert_eq!((radius(0), radius(1)), (1.0, 25.4));
}

/// A frustum of a cone is read in all notations.
#[test]
fn cones() {
    let (r0, r1, h) = (1.0, 3.0, 4.0_f64);
    let exact = PI * h / 3.0 * (r0 * r0 + r0 * r1 + r1 * r1);
    let angle = math::atan2(r1 - r0, h);
    // Height of the placement, sign of the axis direction, radius at that height, half-angle.
    for (z, up, r, a) in [
        (0.0, 1.0, r0, angle),
        (4.0, 1.0, r1, angle),
        (-2.0, 1.0, 0.0, angle),
        // The placement is on the side of the other nappe, and the cone opens against the axis.
        (-3.0, 1.0, -0.5, angle),
        (4.0, -1.0, r1, -angle),
        // The face is on the far nappe.
        (-4.0, -1.0, 1.0, angle),
    ] {
        for degrees in [false, true] {
            let mut f = File::new();
            let frame = f.placement([0., 0., z], [0., 0., up], Some([1., 0., 0.]));
            let a = if degrees { a.to_degrees() } else { a };
            let side = f.add(format!("CONICAL_SURFACE('',#{frame},{r:?},{a:?})"));
            let faces = f.turned(r0, 0.0, r1, h, side, true);
            let solid = f.solid(&faces);
            let context = f.context(Length::Millimetre, degrees);
            f.shape(&[solid], context);
            assert_near(volume(&f), exact, 1e-8);
        }
    }
    // Without an angle the surface is a cylinder.
    let mut f = File::new();
    let frame = f.placement([0., 0., 0.], [0., 0., 1.], None);
    let side = f.add(format!("CONICAL_SURFACE('',#{frame},2.,0.)"));
    let faces = f.turned(2.0, 0.0, 2.0, 1.0, side, true);
    let solid = f.solid(&faces);
    let context = f.context(Length::Millimetre, false);
    f.shape(&[solid], context);
    assert_near(volume(&f), 4.0 * PI, 1e-8);
}

#[test]
fn omitted_ref_direction_is_x_or_y() {
    let mut f = File::new();
    let faces = f.block([0., 0., 0.], [1., 2., 3.]);
    let solid = f.solid(&faces);
    let context = f.context(Length::Millimetre, false);
    f.shape(&[solid], context);
    assert_near(volume(&f), 6.0, 1e-12);
    for face in &read(&f).solids[0].faces {
        let Surface::Plane { frame } = &face.surface else { panic!("{:?}", face.surface) };
        let expected = if frame.z.x.abs() > 0.5 { V3::y() } else { V3::x() };
        assert_eq!(frame.x, expected, "axis {:?}", frame.z);
    }
}

#[test]
fn orientations_fold_into_outward() {
    // The same box with planes reversed, bounds reversed, the shell reversed, and all of them.
    for turns in 0..8 {
        let (plane, bound, shell) = (turns & 1 != 0, turns & 2 != 0, turns & 4 != 0);
        let mut f = File::new();
        let faces = f.block([0., 0., 0.], [1., 2., 3.]);
        let mut text = f.text();
        if plane {
            // The normals point inward, and same_sense is reversed.
            text = text.replace("ADVANCED_FACE", "@").replace(",.T.);", ",.t.);");
            text = text
                .lines()
                .map(|l| if l.contains('@') { l.replace(".t.", ".F.") } else { l.replace(".t.", ".T.") })
                .map(|l| {
                    // Only planes have these directions without a ref_direction: unit vectors along the
                    // axes.
                    if l.contains("DIRECTION") && is_normal(&l, &text) { negated(&l) } else { l }
                })
                .collect::<Vec<_>>()
                .join("\n");
            text = text.replace('@', "ADVANCED_FACE");
        }
        if bound {
            // Every loop is reversed, and its bound says so.
            text = text
                .lines()
                .map(|l| {
                    if l.contains("FACE_BOUND") {
                        l.replace(".T.", ".F.")
                    } else if l.contains("EDGE_LOOP") {
                        reversed_list(l)
                    } else if l.contains("ORIENTED_EDGE") {
                        if l.contains(".T.") { l.replace(".T.", ".F.") } else { l.replace(".F.", ".T.") }
                    } else {
                        l.to_owned()
                    }
                })
                .collect::<Vec<_>>()
                .join("\n");
        }
        let n = faces.iter().max().unwrap() + 1;
        let list = refs(&faces);
        let mut tail = format!("#{n}=CLOSED_SHELL('',{list});\n");
        let mut outer = n;
        if shell {
            // The shell is reversed twice.
            tail += &format!("#{}=ORIENTED_CLOSED_SHELL('',*,#{n},.F.);\n", n + 1);
            tail += &format!("#{}=ORIENTED_CLOSED_SHELL('',*,#{},.F.);\n", n + 2, n + 1);
            outer = n + 2;
        }
        tail += &format!("#{}=MANIFOLD_SOLID_BREP('',#{outer});\nENDSEC;\nEND-ISO-10303-21;", n + 3);
        let text = text.replace("ENDSEC;\nEND-ISO-10303-21;", &tail);
        let import = read_step_bytes("box", text.as_bytes()).unwrap();
        let solid = build_solid(&import.solids[0], &BuildOptions::default()).unwrap();
        assert_near(solid.volume, 6.0, 1e-12);
        assert!(solid.remarks.is_empty(), "{turns}: {:?}", solid.remarks);
    }
}

/// Returns whether a direction line is the axis of a placement and not of a line.
fn is_normal(line: &str, text: &str) -> bool {
    let id = line.split('=').next().unwrap_or_default();
    text.lines().any(|l| l.contains("AXIS2_PLACEMENT_3D") && l.contains(&format!(",{id},")))
}

fn negated(line: &str) -> String {
    let (head, list) = line.split_once("'',(").expect("a list");
    let numbers: Vec<String> = list
        .trim_end_matches(");")
        .trim_end_matches(')')
        .split(',')
        .map(|x| format!("{:?}", -x.parse::<f64>().expect("a number")))
        .collect();
    format!("{head}'',({}));", numbers.join(","))
}

fn reversed_list(line: &str) -> String {
    let (head, list) = line.split_once("'',(").expect("a list");
    let ids: Vec<&str> = list.trim_end_matches(");").trim_end_matches(')').split(',').rev().collect();
    format!("{head}'',({}));", ids.join(","))
}

#[test]
fn voids_point_into_the_void() {
    // By ISO the shell of a void is oriented with its normals out of the material. Writers use the shell
    // of a solid and reverse it.
    let mut f = File::new();
    let outer = f.block([0., 0., 0.], [4., 4., 4.]);
    let outer = f.closed_shell(&outer);
    let inner = f.block([1., 1., 1.], [2., 2., 2.]);
    let inner = f.closed_shell(&inner);
    let void = f.add(format!("ORIENTED_CLOSED_SHELL('',*,#{inner},.F.)"));
    let solid = f.add(format!("BREP_WITH_VOIDS('hollow',#{outer},(#{void}))"));
    let context = f.context(Length::Millimetre, false);
    f.shape(&[solid], context);
    assert_near(volume(&f), 63.0, 1e-12);
    let import = read(&f);
    assert_eq!(import.solids[0].name, "hollow");
    assert_eq!(import.solids[0].faces.iter().filter(|f| f.shell == 1 && !f.outward).count(), 6);
}

#[test]
fn whole_spheres_and_tori() {
    for bounded in [false, true] {
        let mut f = File::new();
        let frame = f.placement([1., 2., 3.], [0., 0., 1.], Some([1., 0., 0.]));
        let ball = f.add(format!("SPHERICAL_SURFACE('',#{frame},2.)"));
        let loops = if bounded {
            let pole = f.vertex([1., 2., 5.]);
            vec![f.add(format!("VERTEX_LOOP('',#{pole})"))]
        } else {
            vec![]
        };
        let face = f.face(&loops, ball, true);
        let solid = f.solid(&[face]);
        let context = f.context(Length::Millimetre, false);
        f.shape(&[solid], context);
        assert_near(volume(&f), 4.0 / 3.0 * PI * 8.0, 1e-8);
        assert_eq!(read(&f).solids[0].faces[0].loops.len(), usize::from(bounded));
    }
    // A negative major radius reverses the parameter of the tube and with it the normal.
    for (major, sense) in [(5.0, true), (-5.0, false)] {
        let mut f = File::new();
        let frame = f.placement([0., 0., 0.], [0., 0., 1.], None);
        let ring = f.add(format!("TOROIDAL_SURFACE('',#{frame},{major:?},2.)"));
        let face = f.face(&[], ring, sense);
        let solid = f.solid(&[face]);
        let context = f.context(Length::Millimetre, false);
        f.shape(&[solid], context);
        assert_near(volume(&f), 2.0 * PI * PI * 5.0 * 4.0, 1e-8);
    }
}

/// The upper half of a spindle torus whose major radius is tiny, so that both sheets almost coincide
/// with one sphere. The rim of the face lies on the outer sheet, on the inner one, or inside both; in
/// all cases the sheet is the one that the file's flag states.
#[test]
fn the_stated_sheet_of_a_spindle_torus_is_used() {
    let (major, minor) = (5e-4_f64, 3.0_f64);
    for off in [0.0, 2.0 * major, 5.0 * major] {
        let mut f = File::new();
        let frame = f.placement([0., 0., 0.], [0., 0., 1.], Some([1., 0., 0.]));
        let radius = major + minor - off;
        let v = f.vertex([radius, 0., 0.]);
        let circle = f.add(format!("CIRCLE('',#{frame},{radius:?})"));
        let rim = f.edge(v, v, circle);
        let torus = f.add(format!("DEGENERATE_TOROIDAL_SURFACE('',#{frame},{major:?},{minor:?},.T.)"));
        let up = f.edge_loop(&[(rim, true)]);
        let top = f.face(&[up], torus, true);
        let down = f.placement([0., 0., 0.], [0., 0., -1.], None);
        let plane = f.add(format!("PLANE('',#{down})"));
        let back = f.edge_loop(&[(rim, false)]);
        let bottom = f.face(&[back], plane, true);
        let solid = f.solid(&[top, bottom]);
        let context = f.context(Length::Millimetre, false);
        f.shape(&[solid], context);
        assert_eq!(read(&f).solids[0].faces[0].outer_sheet, Some(true));
        // π ∫ (R + r cos v)² r cos v dv from the rim to the tip.
        let tip = math::acos(-major / minor);
        let (s, c) = math::sin_cos(tip);
        let exact = PI
            * minor
            * (major * major * s + major * minor * (tip + s * c) + minor * minor * (s - s * s * s / 3.0));
        // A rim that is off by this much leaves a gap of its circumference times half the height.
        assert_near(volume(&f), exact, 1e-8 + off);
    }
}

/// A side surface that is a cylinder in another notation is read as a cylinder with the correct normal.
#[test]
fn swept_and_wrapped_cylinders() {
    type Side = fn(&mut File) -> (u64, bool);
    let sides: [(&str, Side); 8] = [
        ("extruded circle", |f| {
            let frame = f.placement([0., 0., 0.], [0., 0., 1.], Some([1., 0., 0.]));
            let circle = f.add(format!("CIRCLE('',#{frame},2.)"));
            let d = f.direction([0., 0., 1.]);
            let v = f.add(format!("VECTOR('',#{d},1.)"));
            (f.add(format!("SURFACE_OF_LINEAR_EXTRUSION('',#{circle},#{v})")), true)
        }),
        ("circle extruded downwards", |f| {
            let frame = f.placement([0., 0., 9.], [0., 0., 1.], Some([1., 0., 0.]));
            let circle = f.add(format!("CIRCLE('',#{frame},2.)"));
            let d = f.direction([0., 0., -1.]);
            let v = f.add(format!("VECTOR('',#{d},1.)"));
            (f.add(format!("SURFACE_OF_LINEAR_EXTRUSION('',#{circle},#{v})")), false)
        }),
        ("revolved line", |f| {
            let line = f.line([0., 2., -5.], [0., 0., 1.]);
            let (o, z) = (f.point([0., 0., 0.]), f.direction([0., 0., 1.]));
            let axis = f.add(format!("AXIS1_PLACEMENT('',#{o},#{z})"));
            (f.add(format!("SURFACE_OF_REVOLUTION('',#{line},#{axis})")), true)
        }),
        ("line revolved downwards", |f| {
            let line = f.line([2., 0., 0.], [0., 0., -1.]);
            let (o, z) = (f.point([0., 0., 7.]), f.direction([0., 0., 1.]));
            let axis = f.add(format!("AXIS1_PLACEMENT('',#{o},#{z})"));
            (f.add(format!("SURFACE_OF_REVOLUTION('',#{line},#{axis})")), false)
        }),
        ("trimmed with both senses turned", |f| {
            let frame = f.placement([0., 0., 0.], [0., 0., 1.], None);
            let s = f.add(format!("CYLINDRICAL_SURFACE('',#{frame},2.)"));
            (f.add(format!("RECTANGULAR_TRIMMED_SURFACE('',#{s},0.,6.28,0.,5.,.F.,.F.)")), true)
        }),
        ("trimmed with one sense turned", |f| {
            let frame = f.placement([0., 0., 0.], [0., 0., 1.], None);
            let s = f.add(format!("CYLINDRICAL_SURFACE('',#{frame},2.)"));
            (f.add(format!("RECTANGULAR_TRIMMED_SURFACE('',#{s},0.,6.28,0.,5.,.T.,.F.)")), false)
        }),
        ("offset of a smaller one", |f| {
            let frame = f.placement([0., 0., 0.], [0., 0., 1.], None);
            let s = f.add(format!("CYLINDRICAL_SURFACE('',#{frame},1.5)"));
            (f.add(format!("OFFSET_SURFACE('',#{s},0.5,.F.)")), true)
        }),
        ("offset through the axis", |f| {
            let frame = f.placement([0., 0., 0.], [0., 0., 1.], None);
            let s = f.add(format!("CYLINDRICAL_SURFACE('',#{frame},1.)"));
            (f.add(format!("OFFSET_SURFACE('',#{s},-3.,.F.)")), false)
        }),
    ];
    for (what, side) in sides {
        let mut f = File::new();
        let (side, sense) = side(&mut f);
        let faces = f.turned(2.0, 0.0, 2.0, 5.0, side, sense);
        let solid = f.solid(&faces);
        let context = f.context(Length::Millimetre, false);
        f.shape(&[solid], context);
        assert_near(volume(&f), 20.0 * PI, 1e-8);
        let import = read(&f);
        let surface = &import.solids[0].faces[0].surface;
        assert!(
            matches!(surface, Surface::Cylinder { radius, .. } if (radius - 2.0).abs() < 1e-15),
            "{what}: {surface:?}"
        );
    }
}

/// Profiles revolved about the axis give a frustum, a zone of a ball and a zone of a ring.
#[test]
fn revolved_profiles() {
    let axis = |f: &mut File| {
        let (o, z) = (f.point([0., 0., -7.]), f.direction([0., 0., 1.]));
        f.add(format!("AXIS1_PLACEMENT('',#{o},#{z})"))
    };
    // The generator of the frustum runs upwards, then downwards.
    for up in [true, false] {
        let mut f = File::new();
        let line = if up { f.line([0., 1., 0.], [0., 2., 4.]) } else { f.line([0., 3., 4.], [0., -2., -4.]) };
        let axis = axis(&mut f);
        let side = f.add(format!("SURFACE_OF_REVOLUTION('',#{line},#{axis})"));
        let faces = f.turned(1.0, 0.0, 3.0, 4.0, side, up);
        let solid = f.solid(&faces);
        let context = f.context(Length::Millimetre, false);
        f.shape(&[solid], context);
        assert_near(volume(&f), PI * 4.0 / 3.0 * 13.0, 1e-8);
        assert!(matches!(read(&f).solids[0].faces[0].surface, Surface::Cone { .. }), "a cone");
    }
    // A zone of a ball: the circle in the xz-plane, as a half on either side of the axis.
    for (z_dir, from, to, sense) in [
        // Seen from -y the circle runs upwards on the side of +x.
        ([0., -1., 0.], [0., 0., -5.], [0., 0., 5.], true),
        ([0., 1., 0.], [0., 0., 5.], [0., 0., -5.], false),
        ([0., -1., 0.], [0., 0., 5.], [0., 0., -5.], false),
    ] {
        let mut f = File::new();
        let frame = f.placement([0., 0., 0.], z_dir, Some([1., 0., 0.]));
        let circle = f.add(format!("CIRCLE('',#{frame},5.)"));
        let (a, b) = (f.point(from), f.point(to));
        let arc = f.add(format!("TRIMMED_CURVE('',#{circle},(#{a}),(#{b}),.T.,.CARTESIAN.)"));
        let axis = axis(&mut f);
        let side = f.add(format!("SURFACE_OF_REVOLUTION('',#{arc},#{axis})"));
        // Radius 3 at z = -4, radius 4 at z = 3: the seam is an arc of the ball.
        let (v0, v1) = (f.vertex([3., 0., -4.]), f.vertex([4., 0., 3.]));
        let ring = |f: &mut File, v: u64, r: f64, z: f64| {
            let frame = f.placement([0., 0., z], [0., 0., 1.], Some([1., 0., 0.]));
            let circle = f.add(format!("CIRCLE('',#{frame},{r:?})"));
            f.edge(v, v, circle)
        };
        let (c0, c1) = (ring(&mut f, v0, 3.0, -4.0), ring(&mut f, v1, 4.0, 3.0));
        let l0 = f.edge_loop(&[(c0, true)]);
        let l1 = f.edge_loop(&[(c1, false)]);
        let zone = f.face(&[l0, l1], side, sense);
        let mut faces = vec![zone];
        for (c, forward, z, up) in [(c0, false, -4.0, -1.0), (c1, true, 3.0, 1.0)] {
            let l = f.edge_loop(&[(c, forward)]);
            let frame = f.placement([0., 0., z], [0., 0., up], None);
            let plane = f.add(format!("PLANE('',#{frame})"));
            faces.push(f.face(&[l], plane, true));
        }
        let solid = f.solid(&faces);
        let context = f.context(Length::Millimetre, false);
        f.shape(&[solid], context);
        assert_near(volume(&f), PI * 7.0 / 6.0 * (3.0 * 9.0 + 3.0 * 16.0 + 49.0), 1e-8);
        assert!(matches!(read(&f).solids[0].faces[0].surface, Surface::Sphere { .. }), "a sphere");
    }
    // A whole ring.
    let mut f = File::new();
    let frame = f.placement([0., 4., 0.], [1., 0., 0.], None);
    let circle = f.add(format!("CIRCLE('',#{frame},1.)"));
    let axis = axis(&mut f);
    let ring = f.add(format!("SURFACE_OF_REVOLUTION('',#{circle},#{axis})"));
    let face = f.face(&[], ring, true);
    let solid = f.solid(&[face]);
    let context = f.context(Length::Millimetre, false);
    f.shape(&[solid], context);
    assert_near(volume(&f), 2.0 * PI * PI * 4.0, 1e-8);
}

/// A prism over half an ellipse, whose extruded ellipse has no canonical form, is read.
#[test]
fn extruded_ellipse() {
    for up in [1.0, -1.0] {
        let mut f = File::new();
        let (a, b, h) = (3.0, 2.0, 5.0);
        let v: Vec<u64> =
            [[a, 0., 0.], [-a, 0., 0.], [a, 0., h], [-a, 0., h]].iter().map(|p| f.vertex(*p)).collect();
        let ellipse = |f: &mut File, z: f64| {
            let frame = f.placement([0., 0., z], [0., 0., 1.], Some([1., 0., 0.]));
            f.add(format!("ELLIPSE('',#{frame},{a:?},{b:?})"))
        };
        let low = ellipse(&mut f, 0.0);
        let high = ellipse(&mut f, h);
        let arc0 = f.edge(v[0], v[1], low);
        let arc1 = f.edge(v[2], v[3], high);
        let chord0 = f.line([-a, 0., 0.], [1., 0., 0.]);
        let chord0 = f.edge(v[1], v[0], chord0);
        let chord1 = f.line([-a, 0., h], [1., 0., 0.]);
        let chord1 = f.edge(v[3], v[2], chord1);
        let post0 = f.line([a, 0., 0.], [0., 0., 1.]);
        let post0 = f.edge(v[0], v[2], post0);
        let post1 = f.line([-a, 0., 0.], [0., 0., 1.]);
        let post1 = f.edge(v[1], v[3], post1);
        let d = f.direction([0., 0., up]);
        let vector = f.add(format!("VECTOR('',#{d},1.)"));
        let bent = f.add(format!("SURFACE_OF_LINEAR_EXTRUSION('',#{low},#{vector})"));
        let line = f.line([-a, 0., 0.], [1., 0., 0.]);
        let flat = f.add(format!("SURFACE_OF_LINEAR_EXTRUSION('',#{line},#{vector})"));
        let plane = |f: &mut File, z: f64, up: f64| {
            let frame = f.placement([0., 0., z], [0., 0., up], None);
            f.add(format!("PLANE('',#{frame})"))
        };
        let (bottom, top) = (plane(&mut f, 0.0, -1.0), plane(&mut f, h, 1.0));
        let mut face = |uses: &[(u64, bool)], surface: u64, sense: bool| {
            let l = f.edge_loop(uses);
            f.face(&[l], surface, sense)
        };
        let faces = [
            face(&[(arc0, true), (post1, true), (arc1, false), (post0, false)], bent, up > 0.0),
            face(&[(chord0, true), (post0, true), (chord1, false), (post1, false)], flat, up > 0.0),
            face(&[(chord0, false), (arc0, false)], bottom, true),
            face(&[(arc1, true), (chord1, true)], top, true),
        ];
        let solid = f.solid(&faces);
        let context = f.context(Length::Millimetre, false);
        f.shape(&[solid], context);
        assert_near(volume(&f), PI * a * b * h / 2.0, 1e-8);
    }
}

/// The end circles of a cylinder are read in all notations of a circle.
#[test]
fn ways_to_write_a_curve() {
    type Curve = fn(&mut File) -> u64;
    // Control points of a whole unit circle in three arcs.
    fn third(f: &mut File) -> String {
        let s = 3.0_f64.sqrt();
        let ps = [
            [1., 0., 0.],
            [1., s, 0.],
            [-0.5, 0.5 * s, 0.],
            [-2., 0., 0.],
            [-0.5, -0.5 * s, 0.],
            [1., -s, 0.],
            [1., 0., 0.],
        ];
        refs(&ps.iter().map(|p| f.point(*p)).collect::<Vec<_>>())
    }
    let ways: [(&str, Curve); 6] = [
        ("complex rational", |f| {
            let p = third(f);
            f.add(format!(
                "(BOUNDED_CURVE()B_SPLINE_CURVE(2,{p},.UNSPECIFIED.,.T.,.F.)\
                 B_SPLINE_CURVE_WITH_KNOTS((3,2,2,3),(0.,1.,2.,3.),\
                 .UNSPECIFIED.)CURVE()GEOMETRIC_REPRESENTATION_ITEM()\
                 RATIONAL_B_SPLINE_CURVE((1.,0.5,1.,0.5,1.,0.5,1.))REPRESENTATION_ITEM(''))"
            ))
        }),
        ("rational of Bézier pieces, all weights negative", |f| {
            let p = third(f);
            f.add(format!(
                "(BEZIER_CURVE()BOUNDED_CURVE()B_SPLINE_CURVE(2,{p},.UNSPECIFIED.,.T.,.F.)CURVE()\
                 GEOMETRIC_REPRESENTATION_ITEM()RATIONAL_B_SPLINE_CURVE((-2.,-1.,-2.,-1.,-2.,-1.,-2.))\
                 REPRESENTATION_ITEM(''))"
            ))
        }),
        ("trimmed to a whole turn", |f| {
            let frame = f.placement([0., 0., 0.], [0., 0., 1.], Some([1., 0., 0.]));
            let c = f.add(format!("CIRCLE('',#{frame},1.)"));
            f.add(format!(
                "TRIMMED_CURVE('',#{c},(PARAMETER_VALUE(0.)),(PARAMETER_VALUE(6.283185307179586)),.T.,\
                 .PARAMETER.)"
            ))
        }),
        ("surface curve", |f| {
            let frame = f.placement([0., 0., 0.], [0., 0., 1.], Some([1., 0., 0.]));
            let c = f.add(format!("CIRCLE('',#{frame},1.)"));
            f.add(format!("SURFACE_CURVE('',#{c},(),.CURVE_3D.)"))
        }),
        ("composite of two arcs, one of them backwards", |f| {
            let frame = f.placement([0., 0., 0.], [0., 0., 1.], Some([1., 0., 0.]));
            let c = f.add(format!("CIRCLE('',#{frame},1.)"));
            let (a, b) = (f.point([1., 0., 0.]), f.point([0., -1., 0.]));
            let first = f.add(format!("TRIMMED_CURVE('',#{c},(#{a}),(#{b}),.T.,.CARTESIAN.)"));
            let second = f.add(format!("TRIMMED_CURVE('',#{c},(#{a}),(#{b}),.F.,.CARTESIAN.)"));
            let s1 = f.add(format!("COMPOSITE_CURVE_SEGMENT(.CONTINUOUS.,.T.,#{first})"));
            let s2 = f.add(format!("COMPOSITE_CURVE_SEGMENT(.CONTINUOUS.,.F.,#{second})"));
            f.add(format!("COMPOSITE_CURVE('',(#{s1},#{s2}),.F.)"))
        }),
        ("an ellipse with equal axes", |f| {
            let frame = f.placement([0., 0., 0.], [0., 0., 1.], Some([1., 0., 0.]));
            f.add(format!("ELLIPSE('',#{frame},1.,1.)"))
        }),
    ];
    for (what, curve) in ways {
        let mut f = File::new();
        let bottom = curve(&mut f);
        let (v0, v1) = (f.vertex([1., 0., 0.]), f.vertex([1., 0., 2.]));
        let frame = f.placement([0., 0., 2.], [0., 0., 1.], Some([1., 0., 0.]));
        let circle = f.add(format!("CIRCLE('',#{frame},1.)"));
        let (c0, c1) = (f.edge(v0, v0, bottom), f.edge(v1, v1, circle));
        let seam = f.line([1., 0., 0.], [0., 0., 1.]);
        let seam = f.edge(v0, v1, seam);
        let l = f.edge_loop(&[(c0, true), (seam, true), (c1, false), (seam, false)]);
        let side = f.add(format!("CYLINDRICAL_SURFACE('',#{frame},1.)"));
        let mut faces = vec![f.face(&[l], side, true)];
        for (c, forward, z, up) in [(c0, false, 0.0, -1.0), (c1, true, 2.0, 1.0)] {
            let l = f.edge_loop(&[(c, forward)]);
            let frame = f.placement([0., 0., z], [0., 0., up], None);
            let plane = f.add(format!("PLANE('',#{frame})"));
            faces.push(f.face(&[l], plane, true));
        }
        let solid = f.solid(&faces);
        let context = f.context(Length::Millimetre, false);
        f.shape(&[solid], context);
        let v = volume(&f);
        assert!((v / (2.0 * PI) - 1.0).abs() < 1e-7, "{what}: {v}");
    }
}

/// The end circles of a cylinder are read from pcurves alone.
#[test]
fn curves_in_parameter_planes() {
    for degrees in [false, true] {
        let mut f = File::new();
        let frame = f.placement([0., 0., 0.], [0., 0., 1.], Some([1., 0., 0.]));
        let side = f.add(format!("CYLINDRICAL_SURFACE('',#{frame},0.5)"));
        let faces = f.turned(0.5, 0.0, 0.5, 2.0, side, true);
        let solid = f.solid(&faces);
        let context = f.context(Length::Inch, degrees);
        f.shape(&[solid], context);
        // The lower circle is a line in the parameter plane of the cylinder, the upper one a circle in
        // that of the plane.
        let plane = f.add("PARAMETRIC_REPRESENTATION_CONTEXT('','2D')");
        let p = f.add("CARTESIAN_POINT('',(0.,0.))");
        let d = f.add("DIRECTION('',(1.,0.))");
        let v = f.add(format!("VECTOR('',#{d},1.)"));
        let line = f.add(format!("LINE('',#{p},#{v})"));
        let holder = f.add(format!("DEFINITIONAL_REPRESENTATION('',(#{line}),#{plane})"));
        let ring = f.add(format!("PCURVE('',#{side},#{holder})"));
        let text = f.text();
        let lower = text.lines().find(|l| l.contains("CIRCLE")).unwrap();
        let lower_id = lower.split('=').next().unwrap();
        let edge =
            text.lines().find(|l| l.contains("EDGE_CURVE") && l.contains(&format!(",{lower_id},"))).unwrap();
        let text = text.replace(edge, &edge.replace(&format!(",{lower_id},"), &format!(",#{ring},")));
        let import = read_step_bytes("pcurve", text.as_bytes()).unwrap();
        assert!(import.problems.iter().any(|p| p.entity == Some(ring)), "{:?}", import.problems);
        let built = build_solid(&import.solids[0], &BuildOptions::default()).unwrap();
        assert_near(built.volume, PI * 0.25 * 2.0 * math::powi(25.4, 3), 1e-7);
    }
}

/// A prism with one side on the parallel surface of a spline. The edges there have the curve of the
/// spline itself as 3D curve, and the correct curve as pcurve.
#[test]
fn curves_in_space_that_are_not_the_edges() {
    let arc = |t: f64| [4.0 * t, 3.0 * t * (1.0 - t)];
    let normal = |t: f64| {
        let (x, y) = (4.0, 3.0 - 6.0 * t);
        [-y / math::hypot(x, y), x / math::hypot(x, y)]
    };
    let parallel = |t: f64| [0, 1].map(|k| arc(t)[k] + 0.5 * normal(t)[k]);
    let [from, to] = [0.0, 1.0].map(parallel);
    let outline = [from, to, [to[0], -1.0], [from[0], -1.0]];
    for with_pcurve in [true, false] {
        let mut f = File::new();
        let control = [[0.0, 0.0], [2.0, 1.5], [4.0, 0.0]];
        let knots = "(3,3),(0.,1.)";
        let rows: Vec<String> =
            control.iter().map(|p| refs(&[0.0, 2.0].map(|z| f.point([p[0], p[1], z])))).collect();
        let spline = f.add(format!(
            "B_SPLINE_SURFACE_WITH_KNOTS('',2,1,({}),.UNSPECIFIED.,.F.,.F.,.F.,(3,3),(2,2),(0.,1.),\
             (0.,2.),.UNSPECIFIED.)",
            rows.join(",")
        ));
        let side = f.add(format!("OFFSET_SURFACE('',#{spline},-0.5,.F.)"));
        let context = f.add("PARAMETRIC_REPRESENTATION_CONTEXT('','2D')");
        let corners = [0.0, 2.0].map(|z| outline.map(|p| f.vertex([p[0], p[1], z])));
        let rings = [0, 1].map(|k| {
            let z = [0.0, 2.0][k];
            let points = control.map(|p| f.point([p[0], p[1], z]));
            let curve = f.add(format!(
                "B_SPLINE_CURVE_WITH_KNOTS('',2,{},.UNSPECIFIED.,.F.,.F.,{knots},.UNSPECIFIED.)",
                refs(&points)
            ));
            let p = f.add(format!("CARTESIAN_POINT('',(0.,{z:?}))"));
            let d = f.add("DIRECTION('',(1.,0.))");
            let v = f.add(format!("VECTOR('',#{d},1.)"));
            let line = f.add(format!("LINE('',#{p},#{v})"));
            let holder = f.add(format!("DEFINITIONAL_REPRESENTATION('',(#{line}),#{context})"));
            let pcurve = f.add(format!("PCURVE('',#{side},#{holder})"));
            let curve = if with_pcurve {
                f.add(format!("SURFACE_CURVE('',#{curve},(#{pcurve}),.PCURVE_S1.)"))
            } else {
                curve
            };
            let mut edges = vec![f.edge(corners[k][0], corners[k][1], curve)];
            for i in 1..4 {
                let j = (i + 1) % 4;
                let (p, q) = (outline[i], outline[j]);
                let line = f.line([p[0], p[1], z], [q[0] - p[0], q[1] - p[1], 0.0]);
                edges.push(f.edge(corners[k][i], corners[k][j], line));
            }
            edges
        });
        let posts: Vec<u64> = (0..4)
            .map(|i| {
                let line = f.line([outline[i][0], outline[i][1], 0.0], [0., 0., 1.]);
                f.edge(corners[0][i], corners[1][i], line)
            })
            .collect();
        let mut faces = Vec::new();
        for i in 0..4 {
            let j = (i + 1) % 4;
            let l = f.edge_loop(&[
                (posts[i], true),
                (rings[1][i], true),
                (posts[j], false),
                (rings[0][i], false),
            ]);
            faces.push(if i == 0 {
                f.face(&[l], side, false)
            } else {
                let (p, q) = (outline[i], outline[j]);
                let frame = f.placement([p[0], p[1], 0.], [p[1] - q[1], q[0] - p[0], 0.], None);
                let plane = f.add(format!("PLANE('',#{frame})"));
                f.face(&[l], plane, true)
            });
        }
        for (k, z, up) in [(0, 0.0, -1.0), (1, 2.0, 1.0)] {
            let mut uses: Vec<(u64, bool)> = rings[k].iter().map(|e| (*e, k == 0)).collect();
            if k == 1 {
                uses.reverse();
            }
            let l = f.edge_loop(&uses);
            let frame = f.placement([0., 0., z], [0., 0., up], None);
            let plane = f.add(format!("PLANE('',#{frame})"));
            faces.push(f.face(&[l], plane, true));
        }
        let solid = f.solid(&faces);
        let context = f.context(Length::Millimetre, false);
        f.shape(&[solid], context);
        let import = read(&f);
        let built = build_solid(&import.solids[0], &BuildOptions::default());
        if !with_pcurve {
            assert!(built.is_err(), "without a pcurve the edges are wrong");
            continue;
        }
        let taken = import.problems.iter().filter(|p| p.message.contains("misses its ends")).count();
        assert_eq!(taken, 2, "{:?}", import.problems);
        // Twice the area of the outline, by trapezoids along the parallel curve.
        let n = 20_000;
        let ring: Vec<[f64; 2]> =
            (0..=n).map(|i| parallel(f64::from(i) / f64::from(n))).chain([outline[2], outline[3]]).collect();
        let twice: f64 = (0..ring.len())
            .map(|i| (ring[i], ring[(i + 1) % ring.len()]))
            .map(|(p, q)| p[0] * q[1] - p[1] * q[0])
            .sum();
        assert_near(built.unwrap().volume, twice.abs(), 1e-5);
    }
}

#[test]
fn faceted() {
    // A tetrahedron of polygons, some faces with a plane and some without, whose corners share no
    // entities.
    let mut f = File::new();
    let corners = [[0., 0., 0.], [6., 0., 0.], [0., 6., 0.], [0., 0., 6.]];
    let mut faces = Vec::new();
    for (i, ring) in [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]].iter().enumerate() {
        let ids: Vec<u64> = ring.iter().map(|k| f.point(corners[*k])).collect();
        let l = f.add(format!("POLY_LOOP('',{})", refs(&ids)));
        let bound = f.add(format!("FACE_OUTER_BOUND('',#{l},.T.)"));
        faces.push(if i == 0 {
            let frame = f.placement([0., 0., 0.], [0., 0., -1.], None);
            let plane = f.add(format!("PLANE('',#{frame})"));
            f.add(format!("FACE_SURFACE('',(#{bound}),#{plane},.T.)"))
        } else {
            f.add(format!("FACE('',(#{bound}))"))
        });
    }
    let shell = f.closed_shell(&faces);
    let solid = f.add(format!("FACETED_BREP('',#{shell})"));
    let context = f.context(Length::Millimetre, false);
    f.add(format!("FACETED_BREP_SHAPE_REPRESENTATION('',(#{solid}),#{context})"));
    assert_near(volume(&f), 36.0, 1e-12);
    assert_eq!(read(&f).solids[0].edges.len(), 6);
}

#[test]
fn a_loop_whose_flags_contradict_its_order() {
    let mut f = File::new();
    let faces = f.block([0., 0., 0.], [1., 2., 3.]);
    let solid = f.solid(&faces);
    let context = f.context(Length::Millimetre, false);
    f.shape(&[solid], context);
    // The second edge of the first loop has the wrong orientation.
    let text = f.text();
    let line = text.lines().filter(|l| l.contains("ORIENTED_EDGE")).nth(1).unwrap();
    let flipped = if line.contains(".T.") { line.replace(".T.", ".F.") } else { line.replace(".F.", ".T.") };
    let import = read_step_bytes("flags", text.replace(line, &flipped).as_bytes()).unwrap();
    assert_eq!(import.problems.len(), 1, "{:?}", import.problems);
    assert_eq!(import.problems[0].severity, Severity::Warning);
    let built = build_solid(&import.solids[0], &BuildOptions::default()).unwrap();
    assert_near(built.volume, 6.0, 1e-12);
}

#[test]
fn assemblies_by_usages() {
    // The frame of the component is mapped to the placement that the assembly gives; the shapes or the
    // items of the relation may come in either order.
    for turned in 0..4 {
        let (swap_reps, swap_items) = (turned & 1 != 0, turned & 2 != 0);
        let mut f = File::new();
        let faces = f.block([0., 0., 0.], [1., 2., 3.]);
        let solid = f.solid(&faces);
        let inch = f.context(Length::Inch, false);
        let mm = f.context(Length::Millimetre, false);
        let home = f.placement([1., 0., 0.], [0., 0., 1.], Some([1., 0., 0.]));
        let part_shape = f.shape(&[home, solid], inch);
        let part = f.product("bolt", part_shape);
        // A quarter turn about z and 100 mm along y.
        let there = f.placement([0., 100., 0.], [0., 0., 1.], Some([0., 1., 0.]));
        let again = f.placement([0., 0., 7.], [0., 0., 1.], Some([1., 0., 0.]));
        let shape = f.add(format!("SHAPE_REPRESENTATION('',(#{there},#{again}),#{mm})"));
        let assembly = f.product("rack/unit", shape);
        for place in [there, again] {
            let (mut reps, mut items) = ((part_shape, shape), (home, place));
            if swap_reps {
                reps = (reps.1, reps.0);
                items = (items.1, items.0);
            }
            if swap_items {
                items = (items.1, items.0);
            }
            f.usage(assembly, part, reps.0, reps.1, items);
        }
        let import = read(&f);
        assert_eq!((import.solids.len(), import.instances.len()), (1, 2), "{turned}");
        let [a, b] = &import.instances[..] else { unreachable!() };
        assert_eq!((a.path.as_str(), b.path.as_str()), ("rack_unit/bolt:1", "rack_unit/bolt:2"));
        assert_eq!(a.name, "body");
        // The point (25.4, 0, 0) is mapped to the placement; x becomes y.
        let p = a.pose * P3::new(25.4 + 3.0, 0.0, 0.0);
        assert!((p - P3::new(0.0, 103.0, 0.0)).norm() < 1e-12, "{turned}: {p}");
        let q = b.pose * P3::new(25.4, 0.0, 0.0);
        assert!((q - P3::new(0.0, 0.0, 7.0)).norm() < 1e-12, "{turned}: {q}");
    }
}

#[test]
fn assemblies_by_mapped_items() {
    let mut f = File::new();
    let faces = f.block([0., 0., 0.], [1., 2., 3.]);
    let solid = f.solid(&faces);
    let mm = f.context(Length::Millimetre, false);
    let home = f.placement([0., 0., 0.], [0., 0., 1.], Some([1., 0., 0.]));
    let part = f.shape(&[home, solid], mm);
    let map = f.add(format!("REPRESENTATION_MAP(#{home},#{part})"));
    let there = f.placement([10., 0., 0.], [0., 0., 1.], Some([0., 1., 0.]));
    let placed = f.add(format!("MAPPED_ITEM('',#{map},#{there})"));
    // Three operators: a quarter turn about x, a reflection, and a scaling.
    let o = f.point([0., 20., 0.]);
    let (x, y, z) = (f.direction([1., 0., 0.]), f.direction([0., 0., 1.]), f.direction([0., -1., 0.]));
    let up = f.direction([0., 1., 0.]);
    let turn = f.add(format!("CARTESIAN_TRANSFORMATION_OPERATOR_3D('',$,$,#{x},#{y},#{o},1.,#{z})"));
    let turned = f.add(format!("MAPPED_ITEM('',#{map},#{turn})"));
    let mirror = f.add(format!("CARTESIAN_TRANSFORMATION_OPERATOR_3D('',$,$,#{x},#{y},#{o},1.,#{up})"));
    let mirrored = f.add(format!("MAPPED_ITEM('',#{map},#{mirror})"));
    let scale = f.add(format!("CARTESIAN_TRANSFORMATION_OPERATOR_3D('',$,$,#{x},#{y},#{o},2.,#{z})"));
    let scaled = f.add(format!("MAPPED_ITEM('',#{map},#{scale})"));
    let shape = f.add(format!("SHAPE_REPRESENTATION('',(#{placed},#{turned},#{mirrored},#{scaled}),#{mm})"));
    f.product("rack", shape);
    let import = read(&f);
    assert_eq!((import.solids.len(), import.instances.len()), (2, 3));
    let p = import.instances[0].pose * P3::new(1.0, 0.0, 0.0);
    assert!((p - P3::new(10.0, 1.0, 0.0)).norm() < 1e-15, "{p}");
    let q = import.instances[1].pose * P3::new(1.0, 2.0, 3.0);
    assert!((q - P3::new(1.0, 17.0, 2.0)).norm() < 1e-15, "{q}");
    let errors: Vec<_> = import.problems.iter().filter(|p| p.severity == Severity::Error).collect();
    assert_eq!(errors.iter().map(|p| p.entity).collect::<Vec<_>>(), [Some(scale)]);
    // The reflection maps x to x, y to z and z to y, so that the corner (1, 2, 3) is mapped to (1, 23,
    // 2).
    let m = &import.instances[2];
    assert_ne!(m.solid, import.instances[0].solid, "mirrored");
    let image = &import.solids[m.solid];
    let corners: Vec<P3> = image.vertices.iter().map(|v| m.pose * v.point).collect();
    let there = |p: P3| corners.iter().any(|c| (c - p).norm() < 1e-14);
    assert!(there(P3::new(1.0, 23.0, 2.0)) && there(P3::new(0.0, 20.0, 0.0)), "{corners:?}");
    assert!(errors[0].message.contains("scales by 2"), "{}", errors[0]);
}

/// An assembly that contains itself, and a mapped item that shows its own representation.
#[test]
fn rings_in_the_assembly() {
    let mut f = File::new();
    let faces = f.block([0., 0., 0.], [1., 1., 1.]);
    let solid = f.solid(&faces);
    let mm = f.context(Length::Millimetre, false);
    let home = f.placement([0., 0., 0.], [0., 0., 1.], Some([1., 0., 0.]));
    let shape = f.shape(&[home, solid], mm);
    let (a, b) = (f.product("a", shape), f.product("b", shape));
    f.usage(a, b, shape, shape, (home, home));
    f.usage(b, a, shape, shape, (home, home));
    let map = f.add(format!("REPRESENTATION_MAP(#{home},#999)"));
    let item = f.add(format!("MAPPED_ITEM('',#{map},#{home})"));
    let text =
        f.text().replace("DATA;\n", &format!("DATA;\n#999=SHAPE_REPRESENTATION('',(#{item}),#{mm});\n"));
    let import = read_step_bytes("ring", text.as_bytes()).unwrap();
    assert_eq!(import.solids.len(), 1);
    assert_eq!(import.instances.len(), 1, "{:?}", import.instances);
}

#[test]
fn byte_order_mark_comments_and_empty_lists() {
    let mut f = File::new();
    let solid = cylinder(&mut f, 1.0, 1.0);
    let context = f.context(Length::Millimetre, false);
    f.shape(&[solid], context);
    f.add("GROUP_OF_NOTHING('',())");
    let text = format!("\u{feff}/* written by hand */\n{}\n\n", f.text());
    let import = read_step_bytes("bom", text.as_bytes()).unwrap();
    assert_eq!(import.solids.len(), 1);
    assert!(
        matches!(import.solids[0].faces[0].loops[0], LoopSource::Edges(ref e) if e.len() == 4),
        "the side"
    );
}

#[test]
fn missing_units_are_reported() {
    let mut f = File::new();
    let solid = cylinder(&mut f, 1.0, 1.0);
    let context = f.add("GEOMETRIC_REPRESENTATION_CONTEXT('','',3)");
    let shape = f.shape(&[solid], context);
    let import = read(&f);
    assert_eq!(import.problems.len(), 1, "{:?}", import.problems);
    assert_eq!(import.problems[0].entity, Some(shape));
    assert!(import.problems[0].message.contains("millimetres are assumed"), "{}", import.problems[0]);
}
