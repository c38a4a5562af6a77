//! Instances that are reachable through several entities, and shapes that are not parts.

use crate::writer::{File, Length, refs};
use feeler_step::{Import, Severity, read_step_bytes};

fn import(f: &File) -> Import {
    read_step_bytes("small.step", f.text().as_bytes()).expect("a STEP file")
}

/// A block in a product that occurs at two poses in an assembly. The poses are written as mapped items:
/// in the shape of the assembly, in the shapes of its usages, and in a representation without a product,
/// or in several of these.
fn twice(in_parent: bool, in_usages: bool, loose: bool, shared_items: bool) -> File {
    let mut f = File::new();
    let context = f.context(Length::Millimetre, false);
    let faces = f.block([0., 0., 0.], [1., 2., 3.]);
    let solid = f.solid(&faces);
    let origin = f.placement([0., 0., 0.], [0., 0., 1.], None);
    let shape = f.shape(&[solid, origin], context);
    let part = f.product("block", shape);
    let map = f.add(format!("REPRESENTATION_MAP(#{origin},#{shape})"));
    let places = [[0., 0., 0.], [10., 0., 0.]].map(|p| f.placement(p, [0., 0., 1.], None));
    let item = |f: &mut File, k: usize| f.add(format!("MAPPED_ITEM('',#{map},#{})", places[k]));
    let first = [item(&mut f, 0), item(&mut f, 1)];
    let items = |f: &mut File| if shared_items { first } else { [item(f, 0), item(f, 1)] };
    let of_parent = if in_parent { items(&mut f).to_vec() } else { vec![origin] };
    let whole = f.add(format!("SHAPE_REPRESENTATION('',{},#{context})", refs(&of_parent)));
    let assembly = f.product("pair", whole);
    if in_usages {
        for (k, item) in items(&mut f).into_iter().enumerate() {
            let usage =
                f.add(format!("NEXT_ASSEMBLY_USAGE_OCCURRENCE('{k}','u{k}','',#{assembly},#{part},$)"));
            let of = f.add(format!("PRODUCT_DEFINITION_SHAPE('','',#{usage})"));
            let rep = f.add(format!("SHAPE_REPRESENTATION('',(#{item}),#{context})"));
            f.add(format!("SHAPE_DEFINITION_REPRESENTATION(#{of},#{rep})"));
        }
    }
    if loose {
        let items = items(&mut f);
        f.add(format!("SHAPE_REPRESENTATION('view',{},#{context})", refs(&items)));
    }
    f
}

#[test]
fn every_place_counts_once() {
    for routes in 1..8 {
        let [in_parent, in_usages, loose] = [0, 1, 2].map(|k| routes >> k & 1 == 1);
        for shared in [true, false] {
            let import = import(&twice(in_parent, in_usages, loose, shared));
            let what = format!("parent {in_parent}, usages {in_usages}, loose {loose}, shared {shared}");
            let mut xs: Vec<f64> = import.instances.iter().map(|i| i.pose.translation.vector.x).collect();
            xs.sort_by(f64::total_cmp);
            assert_eq!(xs.len(), 2, "{what}: {:?}", import.instances);
            assert!(xs[0].abs() < 1e-12 && (xs[1] - 10.0).abs() < 1e-12, "{what}: {xs:?}");
            assert!(import.problems.is_empty(), "{what}: {:?}", import.problems);
        }
    }
}

/// Two usages at one pose are two parts at one pose, a fault that clearance must find.
#[test]
fn usages_in_one_place_stay_two() {
    let mut f = File::new();
    let context = f.context(Length::Millimetre, false);
    let faces = f.block([0., 0., 0.], [1., 2., 3.]);
    let solid = f.solid(&faces);
    let origin = f.placement([0., 0., 0.], [0., 0., 1.], None);
    let shape = f.shape(&[solid, origin], context);
    let part = f.product("block", shape);
    let whole = f.add(format!("SHAPE_REPRESENTATION('',(#{origin}),#{context})"));
    let assembly = f.product("pair", whole);
    for _ in 0..2 {
        f.usage(assembly, part, shape, whole, (origin, origin));
    }
    assert_eq!(import(&f).instances.len(), 2);
}

/// The plug of a hole is the shape of a form feature and not a part, in every notation.
#[test]
fn shapes_of_form_features_are_no_parts() {
    for (aspect, is_direct) in [
        (
            "(CHARACTERIZED_OBJECT(' ','') FEATURE_DEFINITION() ROUND_HOLE() SHAPE_ASPECT('h','',#P,.T.))",
            false,
        ),
        ("SHAPE_ASPECT('h','',#P,.T.)", false),
        ("INSTANCED_FEATURE('h','',#P,.T.)", false),
        ("SHAPE_ASPECT('h','',#P,.T.)", true),
    ] {
        for is_related in [false, true] {
            let mut f = File::new();
            let context = f.context(Length::Millimetre, false);
            let body = f.block([0., 0., 0.], [9., 9., 9.]);
            let body = f.solid(&body);
            let shape = f.shape(&[body], context);
            f.product("body", shape);
            // The product's shape is the entity before its representation.
            let text = f.text();
            let of = text.lines().find(|l| l.contains("PRODUCT_DEFINITION_SHAPE")).unwrap();
            let of = &of[1..of.find('=').unwrap()];
            let plug = f.block([3., 3., 0.], [5., 5., 9.]);
            let plug = f.solid(&plug);
            let explicit = f.add(format!("SHAPE_REPRESENTATION('explicit geometry',(#{plug}),#{context})"));
            let aspect = f.add(aspect.replace("#P", &format!("#{of}")));
            let definition = if is_direct {
                aspect
            } else {
                f.add(format!("PRODUCT_DEFINITION_SHAPE(' ',' ',#{aspect})"))
            };
            f.add(format!("SHAPE_DEFINITION_REPRESENTATION(#{definition},#{explicit})"));
            if is_related {
                f.add(format!("SHAPE_REPRESENTATION_RELATIONSHIP('','',#{shape},#{explicit})"));
            }
            let import = import(&f);
            assert_eq!((import.solids.len(), import.instances.len()), (1, 1));
            assert_eq!(import.solids[0].id, body);
            let [told] = &import.problems[..] else { panic!("{:?}", import.problems) };
            assert_eq!((told.entity, told.severity), (Some(plug), Severity::Note));
            assert!(told.message.contains(&format!("form feature #{aspect}")), "{told}");
        }
    }
}

/// The shape of a form feature is read if the file contains no other shape.
#[test]
fn a_feature_alone_is_read() {
    let mut f = File::new();
    let context = f.context(Length::Millimetre, false);
    let faces = f.block([0., 0., 0.], [1., 2., 3.]);
    let solid = f.solid(&faces);
    let shape = f.add(format!("SHAPE_REPRESENTATION('',(#{solid}),#{context})"));
    let of = f.add("PRODUCT_DEFINITION_SHAPE('','',$)");
    let aspect = f.add(format!("SHAPE_ASPECT('','',#{of},.T.)"));
    let definition = f.add(format!("PROPERTY_DEFINITION('','',#{aspect})"));
    f.add(format!("SHAPE_DEFINITION_REPRESENTATION(#{definition},#{shape})"));
    assert_eq!(import(&f).instances.len(), 1);
}

/// Two lumps in one entity, each with its own instance.
#[test]
fn lumps_are_solids() {
    let mut f = File::new();
    let context = f.context(Length::Millimetre, false);
    let a = f.block([0., 0., 0.], [1., 2., 3.]);
    let b = f.block([5., 0., 0.], [6., 1., 1.]);
    let (a, b) = (f.closed_shell(&a), f.closed_shell(&b));
    let turned = f.add(format!("ORIENTED_CLOSED_SHELL('',*,#{b},.F.)"));
    let solid = f.add(format!("BREP_WITH_VOIDS('pair',#{a},(#{turned}))"));
    let shape = f.shape(&[solid], context);
    f.product("pair", shape);
    let import = import(&f);
    let volume = |s| feeler_brep::build::build_solid(s, &Default::default()).unwrap().volume;
    let volumes: Vec<f64> = import.solids.iter().map(volume).collect();
    assert!((volumes[0] - 6.0).abs() < 1e-9 && (volumes[1] - 1.0).abs() < 1e-9, "{volumes:?}");
    let paths: Vec<&str> = import.instances.iter().map(|i| i.path.as_str()).collect();
    assert_eq!(paths, ["pair:1", "pair:2"]);
    assert!(import.problems[0].message.contains("2 lumps"), "{:?}", import.problems);
}
