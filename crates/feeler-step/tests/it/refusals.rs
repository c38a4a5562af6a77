//! Invalid input is refused with a message that names the file, the entity and what to do; nothing
//! panics.

use crate::writer::{File, Length};
use feeler_step::{Import, Severity, StepError, read_step, read_step_bytes};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

fn block() -> File {
    let mut f = File::new();
    let faces = f.block([0., 0., 0.], [1., 2., 3.]);
    let solid = f.solid(&faces);
    let context = f.context(Length::Millimetre, false);
    f.shape(&[solid], context);
    f
}

fn read(text: &str) -> Result<Import, StepError> {
    read_step_bytes("bad.step", text.as_bytes())
}

#[test]
fn other_files_are_refused() {
    for (bytes, says) in [
        (&b""[..], "empty"),
        (b" \n\t ", "empty"),
        (b"\xef\xbb\xbf", "empty"),
        (b"\xff\xfeI\0S\0O\0", "begins with \"ISO\""),
        (b"solid cube\nfacet normal 0 0 1", "STL"),
        (b"hello", "hello"),
        (b"/* ISO-10303-21; never closed", "begins with"),
    ] {
        let e = read_step_bytes("thing.stp", bytes).unwrap_err();
        assert!(matches!(e, StepError::NotStep { .. }), "{e}");
        let text = e.to_string();
        assert!(text.starts_with("thing.stp: ") && text.contains(says), "{text}");
    }
}

#[test]
fn paths_that_cannot_be_read() {
    let dir = std::env::temp_dir();
    let e = read_step(&dir).unwrap_err();
    assert!(matches!(e, StepError::Unreadable { .. }) && e.to_string().contains("folder"), "{e}");
    let e = read_step(&dir.join("feeler-no-such-file.step")).unwrap_err();
    assert!(e.to_string().contains("feeler-no-such-file.step"), "{e}");
}

#[test]
fn a_file_cut_anywhere_is_an_error() {
    let text = block().text();
    let end = text.find("END-ISO-10303-21;").unwrap() + "END-ISO-10303-21".len();
    // After the end of the data only the end mark is missing, which is reported.
    let data = text.rfind("ENDSEC").unwrap() + "ENDSEC".len();
    for cut in data..end {
        let import = read(&text[..cut]).unwrap();
        assert!(
            import.problems.iter().any(|p| p.message.contains("does not end with")),
            "{:?}",
            import.problems
        );
    }
    for cut in (1..data).step_by(7) {
        let e = read(&text[..cut]).expect_err("half a file is accepted");
        let cut_off = matches!(e, StepError::Truncated { .. });
        let too_short = matches!(e, StepError::NotStep { .. }) && cut < 13;
        assert!(cut_off || too_short, "cut at {cut}: {e}");
    }
}

#[test]
fn missing_entities_are_named() {
    // Each line is removed in turn: the error names the missing entity or its user.
    let text = block().text();
    let lines: Vec<&str> = text.lines().collect();
    let first = lines.iter().position(|l| l.starts_with("#1=")).unwrap();
    let last = lines.iter().position(|l| l.contains("MANIFOLD_SOLID_BREP")).unwrap();
    for gone in first..last {
        let id = lines[gone].split('=').next().unwrap();
        let rest: Vec<&str> = lines.iter().enumerate().filter(|(i, _)| *i != gone).map(|(_, l)| *l).collect();
        let e = read(&rest.join("\n")).unwrap_err();
        assert!(matches!(e, StepError::AllRefused { .. }), "{e}");
        assert!(e.to_string().contains(id), "without {id}: {e}");
    }
}

#[test]
fn all_problems_are_reported_at_once() {
    // Two faces lose their surfaces, a third one an edge.
    let text = block().text();
    let planes: Vec<&str> =
        text.lines().filter(|l| l.contains("=PLANE(")).map(|l| l.split('=').next().unwrap()).collect();
    let edge = text.lines().find(|l| l.contains("=EDGE_CURVE(")).unwrap();
    let gone = [planes[0], planes[5], edge.split('=').next().unwrap()];
    let is_gone = |l: &&str| gone.contains(&l.split('=').next().unwrap());
    let rest: Vec<&str> = text.lines().filter(|l| !is_gone(l)).collect();
    let e = read(&rest.join("\n")).unwrap_err().to_string();
    for id in gone {
        assert!(e.contains(&format!("refers to {id}, which the file does not contain")), "{id} in: {e}");
    }
}

#[test]
fn errors_describe_files_without_solids() {
    let mut f = File::new();
    let faces = f.block([0., 0., 0.], [1., 2., 3.]);
    let shell = f.add(format!("OPEN_SHELL('',{})", crate::writer::refs(&faces[1..])));
    let model = f.add(format!("SHELL_BASED_SURFACE_MODEL('',(#{shell}))"));
    let context = f.context(Length::Millimetre, false);
    f.add(format!("MANIFOLD_SURFACE_SHAPE_REPRESENTATION('',(#{model}),#{context})"));
    let e = read(&f.text()).unwrap_err();
    let text = e.to_string();
    assert!(matches!(e, StepError::NoSolids { .. }), "{text}");
    assert!(text.contains("1 surface model, 1 open shell") && text.contains("close the surfaces"), "{text}");

    let e = read(&File::new().text()).unwrap_err();
    assert!(matches!(e, StepError::NoSolids { .. }) && e.to_string().contains("0 entities"), "{e}");
}

/// Replaces the first occurrence after `from` in the line of the first entity of a type.
fn with(text: &str, entity: &str, from: &str, to: &str) -> String {
    let line = text.lines().find(|l| l.contains(entity)).expect("no such entity");
    text.replacen(line, &line.replacen(from, to, 1), 1)
}

#[test]
fn wrong_values_name_their_entity() {
    let text = block().text();
    let id_of = |entity: &str| text.lines().find(|l| l.contains(entity)).unwrap().split('=').next().unwrap();
    for (entity, from, to, says) in [
        ("CARTESIAN_POINT", "(0.0,", "(1.E12,", "length unit"),
        ("CARTESIAN_POINT", "(0.0,0.0,0.0)", "(0.0)", "coordinates"),
        ("CARTESIAN_POINT", "(0.0,0.0,0.0)", "$", "coordinates"),
        ("CARTESIAN_POINT", "(0.0,", "('a',", "numbers"),
        ("DIRECTION", "(0.0,2.0,0.0)", "(0.0,0.0,0.0)", "length zero"),
        ("ADVANCED_FACE", ",.T.", ",$", "same_sense"),
        ("CLOSED_SHELL", "(#", "(#999999,#", "#999999"),
        ("EDGE_LOOP", "(#", "(#1,#", "EDGE_CURVE is needed"),
    ] {
        let bad = with(&text, entity, from, to);
        assert_ne!(bad, text, "{entity} {from}");
        let e = read(&bad).unwrap_err().to_string();
        // The error concerns the element of the edge loop.
        let id = if entity == "EDGE_LOOP" { "#1 " } else { id_of(entity) };
        assert!(e.contains(id) && e.contains(says), "{entity} {from} → {to}: {e}");
    }
    // A number that overflows.
    let e = read(&with(&text, "CARTESIAN_POINT", "(0.0,", "(1.E400,")).unwrap_err().to_string();
    assert!(e.contains(id_of("CARTESIAN_POINT")) && e.contains("finite numbers"), "{e}");
    // A face without a surface.
    let line = text.lines().find(|l| l.contains("ADVANCED_FACE")).unwrap();
    let (head, tail) = line.rsplit_once(",#").unwrap();
    let (_, sense) = tail.split_once(',').unwrap();
    let e = read(&text.replace(line, &format!("{head},$,{sense}"))).unwrap_err().to_string();
    assert!(e.contains("without a surface") && e.contains(id_of("ADVANCED_FACE")), "{e}");
}

#[test]
fn one_bad_solid_does_not_affect_the_others() {
    let mut f = File::new();
    let good = f.block([0., 0., 0.], [1., 2., 3.]);
    let good = f.solid(&good);
    let frame = f.placement([0., 0., 0.], [0., 0., 1.], None);
    let strange = f.add(format!("SUPER_SURFACE('',#{frame})"));
    let face = f.face(&[], strange, true);
    let bad = f.solid(&[face]);
    let context = f.context(Length::Millimetre, false);
    f.shape(&[good, bad], context);
    let import = read(&f.text()).unwrap();
    assert_eq!((import.solids.len(), import.instances.len()), (1, 1));
    let [p] = &import.problems[..] else { panic!("{:?}", import.problems) };
    assert_eq!((p.entity, p.severity), (Some(bad), Severity::Error));
    assert!(p.message.contains(&format!("#{strange} is a SUPER_SURFACE")), "{p}");
}

#[test]
fn open_shells_in_solids_are_reported() {
    let mut f = File::new();
    let faces = f.block([0., 0., 0.], [1., 2., 3.]);
    let solid = f.solid(&faces[..5]);
    let context = f.context(Length::Millimetre, false);
    f.shape(&[solid], context);
    let import = read(&f.text()).unwrap();
    assert_eq!(import.problems.len(), 4, "one for each open edge: {:?}", import.problems);
    assert!(import.problems.iter().all(|p| p.message.contains("one face only")), "{:?}", import.problems);
}

#[test]
fn geometry_defined_by_itself() {
    let mut f = File::new();
    let faces = f.block([0., 0., 0.], [1., 2., 3.]);
    let solid = f.solid(&faces);
    let context = f.context(Length::Millimetre, false);
    f.shape(&[solid], context);
    let text = f.text();
    let plane = text.lines().find(|l| l.contains("PLANE")).unwrap();
    let id = plane.split('=').next().unwrap();
    let e = read(&text.replace(plane, &format!("{id}=OFFSET_SURFACE('',{id},1.,.F.);"))).unwrap_err();
    assert!(e.to_string().contains("defined by itself"), "{e}");
}

/// A few entities describe more instances than fit in memory, by usages and by mapped items, and chains
/// of representations deeper than a stack.
#[test]
fn assemblies_with_too_many_instances() {
    let mut f = block();
    let solid =
        f.text().lines().find(|l| l.contains("MANIFOLD")).unwrap().split('=').next().unwrap().to_owned();
    let mm = f.context(Length::Millimetre, false);
    let home = f.placement([0., 0., 0.], [0., 0., 1.], Some([1., 0., 0.]));
    // Every level uses the one below twice.
    let mut shape = f.add(format!("SHAPE_REPRESENTATION('',(#{home},{solid}),#{mm})"));
    let mut part = f.product("p0", shape);
    for level in 1..40 {
        let next = f.add(format!("SHAPE_REPRESENTATION('',(#{home}),#{mm})"));
        let assembly = f.product(&format!("p{level}"), next);
        f.usage(assembly, part, shape, next, (home, home));
        f.usage(assembly, part, shape, next, (home, home));
        (shape, part) = (next, assembly);
    }
    let import = read(&f.text()).unwrap();
    assert!(import.instances.len() <= 100_000, "{}", import.instances.len());
    assert!(import.problems.iter().any(|p| p.message.contains("more than")), "{:?}", import.problems);

    let mut f = block();
    let mm = f.context(Length::Millimetre, false);
    let home = f.placement([0., 0., 0.], [0., 0., 1.], Some([1., 0., 0.]));
    let mut rep = f.add(format!("SHAPE_REPRESENTATION('',(#{home}),#{mm})"));
    for _ in 0..40 {
        let map = f.add(format!("REPRESENTATION_MAP(#{home},#{rep})"));
        let (a, b) = (
            f.add(format!("MAPPED_ITEM('',#{map},#{home})")),
            f.add(format!("MAPPED_ITEM('',#{map},#{home})")),
        );
        rep = f.add(format!("SHAPE_REPRESENTATION('',(#{a},#{b}),#{mm})"));
    }
    f.product("all", rep);
    let import = read(&f.text()).unwrap();
    assert!(import.problems.iter().any(|p| p.message.contains("more than")), "{:?}", import.problems);

    let mut f = block();
    let mm = f.context(Length::Millimetre, false);
    let reps: Vec<u64> = (0..20_000).map(|_| f.add(format!("SHAPE_REPRESENTATION('',(),#{mm})"))).collect();
    for w in reps.windows(2) {
        f.add(format!("SHAPE_REPRESENTATION_RELATIONSHIP('','',#{},#{})", w[0], w[1]));
    }
    f.product("chain", reps[0]);
    let import = read(&f.text()).unwrap();
    assert!(import.problems.iter().any(|p| p.message.contains("too deep")), "{:?}", import.problems);
}

#[test]
fn bytes_after_the_end_are_ignored() {
    let text = block().text();
    let trimmed = text.trim_end();
    for tail in ["\0\0\0", "\u{1a}", "\n-- \nregards"] {
        assert_eq!(read(&format!("{trimmed}{tail}")).unwrap().solids.len(), 1, "{tail:?}");
    }
    assert_eq!(read(trimmed.trim_end_matches(';')).unwrap().solids.len(), 1, "without the last semicolon");
}

#[test]
fn shapes_beside_the_solids_are_reported() {
    let mut f = block();
    let faces = f.block([5., 0., 0.], [6., 2., 3.]);
    let shell = f.add(format!("OPEN_SHELL('',{})", crate::writer::refs(&faces[1..])));
    f.add(format!("SHELL_BASED_SURFACE_MODEL('',(#{shell}))"));
    let import = read(&f.text()).unwrap();
    assert_eq!(import.solids.len(), 1);
    let [p] = &import.problems[..] else { panic!("{:?}", import.problems) };
    assert!(p.message.contains("also contains 1 surface model"), "{p}");
}

/// Bytes are replaced, removed and duplicated at random: any result but a panic is accepted.
#[test]
fn mutations_never_panic() {
    let mut rng = SmallRng::seed_from_u64(7);
    let mut f = block();
    let frame = f.placement([0., 0., 0.], [0., 0., 1.], None);
    let cone = f.add(format!("CONICAL_SURFACE('',#{frame},1.,0.5)"));
    let faces = f.turned(1.0, 0.0, 1.0 + 2.0 * feeler_geom::math::tan(0.5), 2.0, cone, true);
    let solid = f.solid(&faces);
    let context = f.context(Length::Inch, true);
    f.shape(&[solid], context);
    let text = f.text().into_bytes();
    const BYTES: &[u8] = b"0123456789#(),.$*'-ETF;= \xff\n";
    let (mut read, mut refused) = (0, 0);
    for _ in 0..1500 {
        let mut bytes = text.clone();
        for _ in 0..rng.random_range(1..4) {
            let at = rng.random_range(0..bytes.len());
            match rng.random_range(0..4) {
                0 => {
                    bytes.remove(at);
                }
                1 => bytes.insert(at, bytes[at]),
                _ => bytes[at] = BYTES[rng.random_range(0..BYTES.len())],
            }
        }
        match read_step_bytes("mutant", &bytes) {
            Ok(_) => read += 1,
            Err(e) => {
                refused += 1;
                assert!(!e.to_string().contains("unexpectedly"), "a panic was caught: {e}");
            }
        }
    }
    assert!(read > 100 && refused > 100, "{read} read, {refused} refused");
}
