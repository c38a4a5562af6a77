//! Tests of instances that are placed by several entities, hidden, or converted between units.

use crate::writer::{File, Length, refs};
use crate::{Import, ReadOptions, Reading, Severity, StepError, read_step_with};
use feeler_geom::P3;

fn read(f: &File, skip_hidden: bool) -> Result<Import, StepError> {
    let reading = Reading { skip_hidden, ..Reading::default() };
    read_step_with("small.step", f.text().as_bytes(), &ReadOptions { resolve: &|_| None, reading })
}

/// Positions of the instances along x, in ascending order.
fn xs(import: &Import) -> Vec<f64> {
    let mut xs: Vec<f64> = import.instances.iter().map(|i| i.pose.translation.vector.x).collect();
    xs.sort_by(f64::total_cmp);
    xs
}

/// Assembly of which a part is a component.
struct Parent {
    f: File,
    context: u64,
    /// Placement at the origin of the part.
    origin: u64,
    /// Representation and product definition of the part.
    shape: u64,
    part: u64,
    solid: u64,
}

impl Parent {
    /// Creates a file with the product `block`.
    fn new(unit: Length) -> Self {
        let mut f = File::new();
        let context = f.context(unit, false);
        let faces = f.block([0., 0., 0.], [1., 2., 3.]);
        let solid = f.solid(&faces);
        let origin = f.placement([0., 0., 0.], [0., 0., 1.], None);
        let shape = f.shape(&[origin, solid], context);
        let part = f.product("block", shape);
        Self { f, context, origin, shape, part, solid }
    }

    fn at(&mut self, x: f64) -> u64 {
        self.f.placement([x, 0., 0.], [0., 0., 1.], None)
    }

    /// Adds an assembly with the items of its representation; returns the representation and the product
    /// definition.
    fn assembly(&mut self, items: &[u64]) -> (u64, u64) {
        let rep = self.f.add(format!("SHAPE_REPRESENTATION('',{},#{})", refs(items), self.context));
        (rep, self.f.product("assembly", rep))
    }

    /// Adds a mapped item that places the part.
    fn mapped(&mut self, target: u64) -> u64 {
        let map = self.f.add(format!("REPRESENTATION_MAP(#{},#{})", self.origin, self.shape));
        self.f.add(format!("MAPPED_ITEM('',#{map},#{target})"))
    }
}

/// A part that a usage places at x = 100 and a mapped item at other positions.
#[test]
fn a_mapped_item_is_omitted_only_at_the_pose_of_a_usage() {
    // Positions of the mapped item, and of the instances.
    for (x, expected) in [
        (100.0, &[100.0][..]),
        (100.000_000_1, &[100.0]),
        (100.01, &[100.0, 100.01]),
        (50.0, &[50.0, 100.0]),
        (0.0, &[0.0, 100.0]),
    ] {
        let mut p = Parent::new(Length::Millimetre);
        let (there, target) = (p.at(100.0), p.at(x));
        let mapped = p.mapped(target);
        let (rep, assembly) = p.assembly(&[there, mapped]);
        p.f.usage(assembly, p.part, p.shape, rep, (p.origin, there));
        let import = read(&p.f, false).unwrap();
        let found = xs(&import);
        assert_eq!(found.len(), expected.len(), "mapped to {x}: {found:?}");
        let is_near = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9);
        assert!(is_near, "mapped to {x}: {found:?}");
        assert!(import.problems.is_empty(), "{:?}", import.problems);
    }
}

/// A mapped item at the position of a usage, but rotated, is another instance.
#[test]
fn a_rotated_mapped_item_is_another_instance() {
    let mut p = Parent::new(Length::Millimetre);
    let there = p.at(100.0);
    let rotated = p.f.placement([100., 0., 0.], [1., 0., 0.], None);
    let mapped = p.mapped(rotated);
    let (rep, assembly) = p.assembly(&[there, mapped]);
    p.f.usage(assembly, p.part, p.shape, rep, (p.origin, there));
    assert_eq!(read(&p.f, false).unwrap().instances.len(), 2);
}

/// Two instances of a part at x = 0 and x = 10, by usages or mapped items; returns the file and the two
/// relations or mapped items.
fn two(by_usages: bool) -> (Parent, [u64; 2]) {
    let mut p = Parent::new(Length::Millimetre);
    let places = [0.0, 10.0].map(|x| p.at(x));
    if !by_usages {
        let mapped = places.map(|place| p.mapped(place));
        p.assembly(&mapped);
        return (p, mapped);
    }
    let (rep, assembly) = p.assembly(&places);
    let relations = places.map(|place| {
        p.f.usage(assembly, p.part, p.shape, rep, (p.origin, place));
        let text = p.f.text();
        let line = text.lines().rfind(|l| l.contains("=(REPRESENTATION_RELATIONSHIP")).unwrap();
        line[1..line.find('=').unwrap()].parse().unwrap()
    });
    (p, relations)
}

/// Adds a hidden style of `item` in `contexts`.
fn hide_in(f: &mut File, item: u64, contexts: &[u64]) -> u64 {
    let style = f.add(format!("STYLED_ITEM('',(),#{item})"));
    let hidden = f
        .add(format!("CONTEXT_DEPENDENT_OVER_RIDING_STYLED_ITEM('',(),#{item},#{style},{})", refs(contexts)));
    f.add(format!("INVISIBILITY((#{hidden}))"));
    hidden
}

#[test]
fn instances_are_hidden_in_their_context() {
    for by_usages in [true, false] {
        let what = format!("usages: {by_usages}");
        let (mut p, contexts) = two(by_usages);
        let hidden = hide_in(&mut p.f, p.solid, &contexts[1..]);
        let all = read(&p.f, false).unwrap();
        assert_eq!(xs(&all).len(), 2, "{what}");
        let [note] = &all.problems[..] else { panic!("{what}: {:?}", all.problems) };
        assert_eq!((note.entity, note.severity), (Some(hidden), Severity::Note), "{what}");
        assert!(note.message.contains("1 instance ") && note.message.contains("`--skip-hidden`"), "{note}");
        let shown = read(&p.f, true).unwrap();
        assert_eq!(xs(&shown), [0.0], "{what}");
        assert_eq!((shown.solids.len(), shown.components.len()), (1, 2), "{what}");
        let [note] = &shown.problems[..] else { panic!("{what}: {:?}", shown.problems) };
        assert!(note.severity == Severity::Note && note.message.contains("left out"), "{note}");
        // Both contexts at once exclude each other, and a context outside of the assembly never applies.
        for contexts in [&contexts[..], &[1]] {
            let (mut p, _) = two(by_usages);
            hide_in(&mut p.f, p.solid, contexts);
            assert_eq!(read(&p.f, true).unwrap().instances.len(), 2, "{what}: {contexts:?}");
        }
        // If all instances are hidden, they are read.
        let (mut p, contexts) = two(by_usages);
        hide_in(&mut p.f, p.solid, &contexts[..1]);
        hide_in(&mut p.f, p.solid, &contexts[1..]);
        let every = read(&p.f, true).unwrap();
        assert_eq!((every.solids.len(), every.instances.len()), (1, 2), "{what}");
        let [warning] = &every.problems[..] else { panic!("{what}: {:?}", every.problems) };
        assert!(
            warning.severity == Severity::Warning && warning.message.contains("nevertheless"),
            "{warning}"
        );
    }
}

/// A solid of which the only instance is hidden is not read.
#[test]
fn a_solid_without_visible_instances_is_left_out() {
    let (mut p, contexts) = two(true);
    let faces = p.f.block([0., 20., 0.], [1., 21., 1.]);
    let other = p.f.solid(&faces);
    let shape = p.f.shape(&[other], p.context);
    p.f.product("other", shape);
    for context in contexts {
        hide_in(&mut p.f, p.solid, &[context]);
    }
    let import = read(&p.f, true).unwrap();
    assert_eq!((import.solids.len(), import.instances.len(), import.components.len()), (1, 1, 1));
    assert_eq!(import.solids[0].id, other);
    let [note] = &import.problems[..] else { panic!("{:?}", import.problems) };
    assert!(note.message.contains("2 instances"), "{note}");
}

/// A hidden representation hides the representations that are related to it, but not the other way
/// round: a hidden body does not hide the other bodies of its product.
#[test]
fn hidden_representations_hide_related_ones() {
    for hides_product in [true, false] {
        for is_styled in [true, false] {
            let mut f = File::new();
            let context = f.context(Length::Millimetre, false);
            let origin = f.placement([0., 0., 0.], [0., 0., 1.], None);
            let body = |f: &mut File, x: f64| {
                let faces = f.block([x, 0., 0.], [x + 1., 1., 1.]);
                let solid = f.solid(&faces);
                (solid, f.shape(&[solid], context))
            };
            let (_, first) = body(&mut f, 0.0);
            let (second, other) = body(&mut f, 5.0);
            let (third, visible) = body(&mut f, 10.0);
            let of_product = f.add(format!("SHAPE_REPRESENTATION('',(#{origin}),#{context})"));
            for rep in [first, other] {
                f.add(format!("SHAPE_REPRESENTATION_RELATIONSHIP('','',#{of_product},#{rep})"));
            }
            f.product("two", of_product);
            f.product("visible", visible);
            let mut hidden = if hides_product { of_product } else { first };
            if is_styled {
                hidden = f.add(format!("STYLED_ITEM('',(),#{hidden})"));
            }
            f.add(format!("INVISIBILITY((#{hidden}))"));
            assert_eq!(read(&f, false).unwrap().instances.len(), 3);
            let import = read(&f, true).unwrap();
            let ids: Vec<u64> = import.instances.iter().map(|i| import.solids[i.solid].id).collect();
            let expected = if hides_product { vec![third] } else { vec![second, third] };
            assert_eq!(ids, expected, "{:?}", import.problems);
            assert_eq!(import.solids.len(), expected.len());
            assert_eq!(import.problems.len(), 1, "{:?}", import.problems);
        }
    }
}

/// A hidden representation of a product does not hide another one of the same product.
#[test]
fn hidden_representations_do_not_hide_those_of_their_product() {
    let mut p = Parent::new(Length::Millimetre);
    // The product's shape that is the first in the file is hidden.
    let faces = p.f.block([5., 0., 0.], [6., 1., 1.]);
    let other = p.f.solid(&faces);
    let second = p.f.shape(&[other], p.context);
    let of = p.f.add(format!("PRODUCT_DEFINITION_SHAPE('','',#{})", p.part));
    p.f.add(format!("SHAPE_DEFINITION_REPRESENTATION(#{of},#{second})"));
    p.f.add(format!("SHAPE_REPRESENTATION_RELATIONSHIP('','',#{},#{second})", p.shape));
    p.f.add(format!("INVISIBILITY((#{}))", p.shape));
    assert_eq!(read(&p.f, false).unwrap().instances.len(), 2);
    let import = read(&p.f, true).unwrap();
    assert_eq!((import.solids.len(), import.instances.len()), (1, 1), "{:?}", import.problems);
    assert_eq!(import.solids[0].id, other);
}

/// A hidden representation of an assembly hides its components there, but not elsewhere.
#[test]
fn hidden_assemblies_hide_their_components() {
    let mut p = Parent::new(Length::Millimetre);
    let places = [0.0, 10.0].map(|x| p.at(x));
    let reps = places.map(|place| {
        let (rep, assembly) = p.assembly(&[place]);
        p.f.usage(assembly, p.part, p.shape, rep, (p.origin, place));
        rep
    });
    p.f.add(format!("INVISIBILITY((#{}))", reps[0]));
    assert_eq!(xs(&read(&p.f, false).unwrap()).len(), 2);
    assert_eq!(xs(&read(&p.f, true).unwrap()), [10.0]);
}

/// An operator with the given scale places a part of the unit `child` in an assembly in millimetres, as
/// the transformation of a usage or as the target of a mapped item.
fn scaled(child: Length, scale: &str, is_mapped: bool) -> Result<Import, StepError> {
    let mut p = Parent::new(child);
    p.context = p.f.context(Length::Millimetre, false);
    let o = p.f.point([100., 0., 0.]);
    let [x, y, z] = [[0., 1., 0.], [-1., 0., 0.], [0., 0., 1.]].map(|d| p.f.direction(d));
    let operator =
        p.f.add(format!("CARTESIAN_TRANSFORMATION_OPERATOR_3D('',$,$,#{x},#{y},#{o},{scale},#{z})"));
    if is_mapped {
        let mapped = p.mapped(operator);
        p.assembly(&[mapped]);
        return read(&p.f, false);
    }
    let home = p.at(0.0);
    let (rep, assembly) = p.assembly(&[home]);
    let usage = p.f.add(format!("NEXT_ASSEMBLY_USAGE_OCCURRENCE('1','use','',#{assembly},#{},$)", p.part));
    let of = p.f.add(format!("PRODUCT_DEFINITION_SHAPE('','',#{usage})"));
    let relation = p.f.add(format!(
        "(REPRESENTATION_RELATIONSHIP('','',#{},#{rep})\
         REPRESENTATION_RELATIONSHIP_WITH_TRANSFORMATION(#{operator})SHAPE_REPRESENTATION_RELATIONSHIP())",
        p.shape
    ));
    p.f.add(format!("CONTEXT_DEPENDENT_SHAPE_REPRESENTATION(#{relation},#{of})"));
    read(&p.f, false)
}

#[test]
fn a_scale_may_convert_units() {
    for is_mapped in [false, true] {
        for (child, scale, mm) in [
            (Length::Millimetre, "1.", 1.0),
            (Length::Millimetre, "$", 1.0),
            (Length::Inch, "1.", 25.4),
            (Length::Inch, "25.4", 25.4),
            (Length::Inch, "25.400000001", 25.4),
            (Length::Centimetre, "10.", 10.0),
            (Length::Metre, "1000.", 1000.0),
        ] {
            let import = scaled(child, scale, is_mapped).unwrap();
            assert!(import.problems.is_empty(), "{scale}: {:?}", import.problems);
            let [i] = &import.instances[..] else { panic!("{scale}: {:?}", import.instances) };
            // The origin of the operator is in the units of the assembly; x is mapped to y, y to -x.
            let p = i.pose * P3::new(mm, 2.0 * mm, 3.0 * mm);
            let expected = P3::new(100.0 - 2.0 * mm, mm, 3.0 * mm);
            assert!((p - expected).norm() < 1e-9, "{scale}, mapped: {is_mapped}: {p}");
        }
        for (child, scale) in [
            (Length::Millimetre, "2."),
            (Length::Millimetre, "25.4"),
            (Length::Millimetre, "1.0000005"),
            (Length::Inch, "2."),
            (Length::Inch, "0.03937007874015748"),
            (Length::Inch, "25.401"),
            (Length::Inch, "0."),
            (Length::Inch, "-25.4"),
        ] {
            let error = scaled(child, scale, is_mapped).unwrap_err();
            assert!(matches!(&error, StepError::NonePlaced { solids: 1, .. }), "{scale}: {error}");
            let text = error.to_string();
            assert!(text.contains("none of its 1 solids can be placed"), "{text}");
            assert!(text.contains("scales by") && text.contains("left out"), "{text}");
            assert_eq!(
                text.contains("ratio of the length units is 25.4"),
                matches!(child, Length::Inch),
                "{text}"
            );
        }
    }
}

/// If one component cannot be placed, the others are read; a file without any placed solid is an error.
#[test]
fn a_component_that_is_left_out_does_not_affect_the_others() {
    let mut p = Parent::new(Length::Millimetre);
    let there = p.at(10.0);
    let o = p.f.point([0., 0., 0.]);
    let scale = p.f.add(format!("CARTESIAN_TRANSFORMATION_OPERATOR_3D('',$,$,$,$,#{o},2.,$)"));
    let items = [p.mapped(there), p.mapped(scale)];
    p.assembly(&items);
    let import = read(&p.f, false).unwrap();
    assert_eq!(xs(&import), [10.0]);
    let [error] = &import.problems[..] else { panic!("{:?}", import.problems) };
    assert_eq!((error.entity, error.severity), (Some(scale), Severity::Error));
}
