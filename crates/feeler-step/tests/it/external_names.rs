//! Names of referenced files in all places where writers put them.
#![allow(clippy::unwrap_used, reason = "test code")]

use crate::writer::{File, Length};
use feeler_step::{ReadOptions, Reading, read_step_with};
use std::cell::RefCell;

/// A product without a shape whose document file has the given id and name, and an external identification
/// with the given id and source, if any.
fn with_document(file: (&str, &str), identified: Option<(&str, &str)>, complex: bool) -> String {
    let mut f = File::new();
    let context = f.context(Length::Millimetre, false);
    let shape = f.add(format!("SHAPE_REPRESENTATION('',(),#{context})"));
    let part = f.product("part", shape);
    let kind = f.add("DOCUMENT_TYPE('geometry')");
    let (id, name) = file;
    let document = f.add(if complex {
        format!("(CHARACTERIZED_OBJECT('','')DOCUMENT('{id}','{name}','',#{kind})DOCUMENT_FILE())")
    } else {
        format!("DOCUMENT_FILE('{id}','{name}','',#{kind},'','')")
    });
    if let Some((id, source)) = identified {
        let role = f.add("IDENTIFICATION_ROLE('external document id and location','')");
        let source = f.add(format!("EXTERNAL_SOURCE(IDENTIFIER('{source}'))"));
        f.add(format!("APPLIED_EXTERNAL_IDENTIFICATION_ASSIGNMENT('{id}',#{role},#{source},(#{document}))"));
    }
    f.add(format!("APPLIED_DOCUMENT_REFERENCE(#{document},'',(#{part}))"));
    f.text()
}

fn part() -> Vec<u8> {
    let mut f = File::new();
    let faces = f.block([0.0; 3], [1.0, 2.0, 3.0]);
    let solid = f.solid(&faces);
    let context = f.context(Length::Millimetre, false);
    let shape = f.shape(&[solid], context);
    f.product("block", shape);
    f.text().into_bytes()
}

/// Two names of an external file: that of its document, and that of an identification.
type Names = (&'static str, &'static str);

#[test]
fn files_are_found_under_every_name() {
    let part = part();
    // Document file, identification, and the file that is there.
    let cases: [(Names, Option<Names>, &str); 14] = [
        (("a.stp", ""), None, "a.stp"),
        (("", "a.stp"), None, "a.stp"),
        (("#66", "a.step"), None, "a.step"),
        (("#66", " "), Some(("#71", "a.stp")), "a.stp"),
        (("#66", " "), Some(("a.stp", "")), "a.stp"),
        (("x.stp", "a"), Some(("7", "")), "a.stp"),
        (("#66", "NONE"), Some(("a.stp", "sub")), "sub/a.stp"),
        (("#66", "NONE"), Some(("a.stp", "sub/")), "sub/a.stp"),
        (("#66", "NONE"), Some(("a.stp", "C:\\\\cad\\\\parts\\\\")), "a.stp"),
        (("#66", "NONE"), Some(("C:\\\\cad\\\\a.stp", "")), "a.stp"),
        (("DOC-1", "bracket"), Some(("DOC-1", "")), "bracket.step"),
        (("a.CATPart", ""), None, "a.stp"),
        (("a.prt", ""), Some(("#9", "a.prt")), "a.prt.step"),
        (("rev 1.2", ""), None, "rev 1.2.stp"),
    ];
    for complex in [false, true] {
        for (file, identified, there) in cases {
            let text = with_document(file, identified, complex);
            let tried = RefCell::new(Vec::new());
            let resolve = |name: &str| {
                tried.borrow_mut().push(name.to_owned());
                (name == there).then(|| part.clone())
            };
            let options = ReadOptions { resolve: &resolve, reading: Reading::default() };
            let import = read_step_with("assembly.step", text.as_bytes(), &options)
                .unwrap_or_else(|e| panic!("{file:?} {identified:?}: {e}: {:?}", tried.borrow()));
            assert_eq!((import.solids.len(), import.instances.len()), (1, 1), "{file:?} {identified:?}");
            assert_eq!(import.files[0].as_deref(), Some(there));
            let names = tried.borrow();
            assert!(names.iter().all(|n| !n.contains('#') && !n.contains(':')), "{names:?}");
        }
    }
}

#[test]
fn a_missing_file_is_named() {
    let text = with_document(("#66", " "), Some(("#71", "lost.stp")), false);
    let options = ReadOptions { resolve: &|_| None, reading: Reading::default() };
    let error = read_step_with("assembly.step", text.as_bytes(), &options).unwrap_err().to_string();
    assert!(error.contains("has its shape in lost.stp, which was not found"), "{error}");
}
