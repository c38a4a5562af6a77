//! Tests of shapes that are not read.

use super::{FIRST_SOLID, KINDS, N_SHAPES, SURFACE_MODELS, TESSELLATED_SHELLS};
use crate::writer::{File, Length};
use crate::{Import, Severity, StepError, read_step_bytes};

fn read(f: &File) -> Result<Import, StepError> {
    read_step_bytes("small.step", f.text().as_bytes())
}

/// A file with one block as a B-rep.
fn block() -> File {
    let mut f = File::new();
    let context = f.context(Length::Millimetre, false);
    let faces = f.block([0., 0., 0.], [1., 2., 3.]);
    let solid = f.solid(&faces);
    let shape = f.shape(&[solid], context);
    f.product("block", shape);
    f
}

/// Returns the only remark about a file.
fn remark(f: &File) -> String {
    let import = read(f).unwrap();
    assert_eq!(import.instances.len(), 1);
    let [p] = &import.problems[..] else { panic!("{:?}", import.problems) };
    assert_eq!(p.severity, Severity::Warning);
    p.message.clone()
}

#[test]
fn the_indices_of_the_kinds_are_right() {
    assert_eq!(KINDS[SURFACE_MODELS].0, "SHELL_BASED_SURFACE_MODEL");
    assert_eq!(KINDS[TESSELLATED_SHELLS].0, "TESSELLATED_SHELL");
    assert_eq!(KINDS[FIRST_SOLID].0, "CSG_SOLID");
    assert_eq!(KINDS[N_SHAPES].0, "OPEN_SHELL");
}

/// Every kind of solid that is not read is reported beside a B-rep, and in a file of its own.
#[test]
fn every_kind_of_solid_that_is_not_read_is_reported() {
    for (entity, what) in &KINDS[FIRST_SOLID..N_SHAPES] {
        let mut f = block();
        f.add(format!("{entity}('')"));
        let text = remark(&f);
        assert!(text.contains(&format!("also contains 1 {what};")), "{entity}: {text}");
        assert!(text.contains("export the other solids as B-rep"), "{entity}: {text}");

        let mut f = File::new();
        f.add(format!("{entity}('')"));
        let text = read(&f).unwrap_err().to_string();
        assert!(text.contains(&format!("only 1 {what}; export the solids as B-rep")), "{entity}: {text}");
    }
}

#[test]
fn solids_of_the_same_name_are_counted_together() {
    let mut f = block();
    f.add("BLOCK('',$,1.,2.,3.)");
    f.add("EXTRUDED_AREA_SOLID('',$,$,1.)");
    f.add("REVOLVED_AREA_SOLID('',$,$,1.)");
    // A complex instance counts once.
    f.add("(EXTRUDED_FACE_SOLID($,1.)EXTRUDED_FACE_SOLID_WITH_DRAFT_ANGLE(1.)SOLID_MODEL())");
    assert!(remark(&f).contains("also contains 1 CSG block, 3 × swept solid;"), "{}", remark(&f));
}

/// The operands of a CSG tree are not solids of their own.
#[test]
fn operands_are_not_counted() {
    let mut f = block();
    let a = f.add("BLOCK('',$,1.,2.,3.)");
    let b = f.add("SPHERE('',1.,$)");
    let c = f.add("RIGHT_CIRCULAR_CYLINDER('',$,1.,1.)");
    let union = f.add(format!("BOOLEAN_RESULT('',.UNION.,#{a},#{b})"));
    let result = f.add(format!("BOOLEAN_RESULT('',.DIFFERENCE.,#{union},#{c})"));
    f.add(format!("CSG_SOLID('',#{result})"));
    assert!(remark(&f).contains("also contains 1 CSG solid;"), "{}", remark(&f));
}
