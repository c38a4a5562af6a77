//! Tests of files that deviate from Part 21: they are read with a remark, and names are decoded. Unit
//! tests of `part21` cover irregular sections.

use crate::writer::{File, Length};
use feeler_step::{Import, StepError, read_step_bytes};
use flate2::{Compression, write::GzEncoder};
use std::io::Write as _;

/// File with a block of this name.
fn block(name: &str) -> String {
    let mut f = File::new();
    let faces = f.block([0., 0., 0.], [1., 2., 3.]);
    let shell = f.closed_shell(&faces);
    let solid = f.add(format!("MANIFOLD_SOLID_BREP('{name}',#{shell})"));
    let context = f.context(Length::Millimetre, false);
    f.shape(&[solid], context);
    f.text()
}

fn read(text: impl AsRef<[u8]>) -> Import {
    read_step_bytes("odd.step", text.as_ref()).expect("a readable file")
}

/// Reads a file, asserts that it contains one solid of six faces, and returns the remarks.
fn remarks(text: impl AsRef<[u8]>) -> Vec<String> {
    let import = read(text);
    assert_eq!(import.solids.len(), 1, "the number of solids");
    assert_eq!(import.solids[0].faces.len(), 6, "the number of faces");
    import.problems.iter().map(ToString::to_string).collect()
}

#[test]
fn irregular_headers_and_sections_are_reported() {
    let good = block("a");
    assert_eq!(remarks(&good), [""; 0], "a valid file");
    let name = "FILE_NAME('small','2024-01-01T00:00:00',(''),(''),'','','');\n";
    let last = good.rfind("\n#").unwrap() + 1;
    let (first, entity) = (&good[..last], good[last..].split_inclusive('\n').next().unwrap());
    for (text, says) in [
        (good.replace(name, ""), "no FILE_NAME"),
        (good.replace("FILE_SCHEMA(('AUTOMOTIVE_DESIGN'));", ""), "no FILE_SCHEMA"),
        (good.replace("(('AUTOMOTIVE_DESIGN'))", "('AUTOMOTIVE_DESIGN')"), "no FILE_SCHEMA that can be read"),
        (good.replace("AUTOMOTIVE_DESIGN", "MY_OWN_DESIGN"), "'MY_OWN_DESIGN' is not AP203"),
        (good.replace("END-ISO-10303-21;", ""), "does not end with"),
        (format!("{first}ENDSEC;\n{entity}END-ISO-10303-21;\n"), "1 entities after the end of its data"),
        (format!("{first}ENDSEC;DATA;\n{entity}ENDSEC;END-ISO-10303-21;\n"), "2 DATA sections"),
    ] {
        let remarks = remarks(&text);
        assert!(remarks.iter().any(|t| t.contains(says)), "{says}: {remarks:?}");
    }
}

#[test]
fn comments_and_lower_case_are_not_reported() {
    let good = block("a");
    let comments = good.replace('\n', "/* ; ' */\n").replace("=", "/*;*/=/*'*/").replace(',', ",/**/");
    assert_eq!(remarks(format!("/* one */ {comments} /* the last; */")), [""; 0], "comments");
    let commented_end = format!("{good}/* END-ISO-10303-21; */");
    assert_eq!(remarks(commented_end), [""; 0], "an end in a comment");
    // Only the name of the schema stays in upper case, so that this test depends on the syntax alone.
    let lower = good.to_lowercase().replace("automotive_design", "AUTOMOTIVE_DESIGN");
    assert_eq!(remarks(lower), [""; 0], "lower case");
}

#[test]
fn names_are_readable() {
    for (written, name) in [
        (r"\X2\4E2D56FD\X0\", "中国"),
        (r"Geh\X\E4use", "Gehäuse"),
        (r"Geh\S\duse", "Gehäuse"),
        (r"two\X\0Alines", "two lines"),
        (r"\X2\4E2D5\X0\", r"\X2\4E2D5\X0\"),
        (r"\PB\Geh\S\d", "Gehä"),
        (r"\PJ\Geh", r"\PJ\Geh"),
    ] {
        assert_eq!(read(block(written)).solids[0].name, name, "{written}");
    }
    let good = block("WORD");
    let (before, after) = good.split_once("WORD").unwrap();
    for (bytes, name) in [
        (&b"Geh\xe4use"[..], "Gehäuse"),
        (b"\xc7\xd0\xb3\xfd-\xc9\xa8\xc3\xe81", "切除-扫描1"),
        ("切除".as_bytes(), "切除"),
    ] {
        let import = read([before.as_bytes(), bytes, after.as_bytes()].concat());
        assert_eq!(import.solids[0].name, name);
    }
}

#[test]
fn packed_files_are_read() {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(block("a").as_bytes()).unwrap();
    let bytes = gzip.finish().unwrap();
    assert_eq!(remarks(&bytes), [""; 0], "gzip");
    let e = read_step_bytes("cut.stpz", &bytes[..bytes.len() / 2]).unwrap_err();
    assert!(matches!(e, StepError::Packed { .. }) && e.to_string().starts_with("cut.stpz: "), "{e}");
}

/// Apostrophes that are not doubled, and the section sign, which is written with one.
#[test]
fn apostrophes_in_names() {
    for (written, name, says) in [
        (r"abc\S\'def", "abc§def", None),
        ("it''s", "it's", None),
        ("Bob's part", "Bob's part", Some("apostrophe")),
        ("rock 'n' roll", "rock 'n' roll", Some("apostrophe")),
        (r"C:\S\", r"C:\S\", Some("escape")),
    ] {
        let text = block(written);
        let found = remarks(&text);
        assert_eq!(found.len(), usize::from(says.is_some()), "{written}: {found:?}");
        assert!(found.iter().zip(says).all(|(t, says)| t.contains(says)), "{written}: {found:?}");
        assert_eq!(read(&text).solids[0].name, name, "{written}");
    }
    let header = block("a").replace("'small'", "'D'x part'");
    assert!(remarks(&header).iter().any(|t| t.contains("header") && t.contains("apostrophe")), "{header}");
}

/// A record that cannot be read is left out if no entity refers to it and it cannot have an effect of
/// its own.
#[test]
fn bad_records() {
    let good = block("a");
    let with = |record: &str| good.replace("ENDSEC;\nEND-ISO", &format!("{record}\nENDSEC;\nEND-ISO"));
    for record in [
        "#9990=@@@ what;",
        "#9990=COLOUR_RGB('',0.1,0.2;",
        "#9990=;",
        "#9990=CARTESIAN_POINT('x,(1.,2.,3.));",
    ] {
        let found = remarks(with(record));
        assert!(found.len() == 1 && found[0].contains("nothing refers to #9990"), "{record}: {found:?}");
    }
    let refused = |text: &str| read_step_bytes("odd.step", text.as_bytes()).unwrap_err().to_string();
    // The point is referred to; a usage of an assembly has an effect without a reference to it.
    let point = good.lines().find(|l| l.contains("CARTESIAN_POINT")).unwrap();
    let broken = point.replace("CARTESIAN_POINT(", "CARTESIAN_POINT@(");
    for text in [good.replace(point, &broken), with("#9990=NEXT_ASSEMBLY_USAGE_OCCURRENCE('',@);")] {
        assert!(refused(&text).contains("unexpected character '@'"), "{}", refused(&text));
    }
    // Two equal records with one number count as one; two different ones are a fault.
    let told = remarks(with(point));
    assert!(told.len() == 1 && told[0].contains("second time; it is read once"), "{told:?}");
    let other = point.replace("1.0", "1.5").replace("0.0", "0.5");
    assert!(refused(&with(&other)).contains("is defined twice"), "{}", refused(&with(&other)));
}
