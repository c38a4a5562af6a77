use super::*;

const GOOD: &str = "ISO-10303-21;HEADER;FILE_DESCRIPTION((''),'1');FILE_NAME('','',(''),(''),'','','');\
                    FILE_SCHEMA(('S'));ENDSEC;DATA;#1=A('x;''y');ENDSEC;END-ISO-10303-21;";

fn good(text: &str) -> Graph {
    read(text.as_bytes()).unwrap_or_else(|e| panic!("{e}: {text}"))
}

/// Attributes of the only entity of a file.
fn attributes(of: &str) -> Vec<Attribute> {
    let graph = good(&GOOD.replace("'x;''y'", of));
    match graph.entities.into_values().next() {
        Some(Instance::Plain(part)) => part.attributes,
        other => panic!("{other:?}"),
    }
}

#[test]
fn values_of_every_kind() {
    let cases = [
        ("1,-2,+3", vec![Attribute::Integer(1), Attribute::Integer(-2), Attribute::Integer(3)]),
        ("1.,-.5,1.E-3,2.5e+2,1E2", [1.0, -0.5, 1e-3, 250.0, 100.0].map(Attribute::Real).to_vec()),
        ("99999999999999999999", vec![Attribute::Real(1e20)]),
        (".T.,.U_1.", ["T", "U_1"].map(|e| Attribute::Enumeration(e.to_owned())).to_vec()),
        ("$,*,\"0AF\"", vec![Attribute::Unset, Attribute::Derived, Attribute::Binary]),
        ("#12,()", vec![Attribute::Reference(12), Attribute::List(vec![])]),
        ("L(1.)", vec![Attribute::Typed(Box::new(Attribute::Real(1.0)))]),
        (
            "((1),(#2,$))",
            vec![Attribute::List(vec![
                Attribute::List(vec![Attribute::Integer(1)]),
                Attribute::List(vec![Attribute::Reference(2), Attribute::Unset]),
            ])],
        ),
        ("/* a ' ; */ 'it''s' /**/", vec![Attribute::Text("it's".to_owned())]),
        ("'ä\\X2\\00F6\\X0\\'", vec![Attribute::Text("äö".to_owned())]),
        ("", vec![]),
    ];
    for (text, expected) in cases {
        assert_eq!(attributes(text), expected, "{text}");
    }
    let overflow = attributes("1.E999");
    assert!(matches!(overflow[0], Attribute::Real(x) if x.is_infinite()), "{overflow:?}");
}

#[test]
fn blank_attributes_are_unset_and_reported() {
    let graph = good(&GOOD.replace("'x;''y'", "1,,\n2,"));
    let Some(Instance::Plain(part)) = graph.entities.get(&1) else { panic!("{graph:?}") };
    assert_eq!(
        part.attributes,
        [Attribute::Integer(1), Attribute::Unset, Attribute::Integer(2), Attribute::Unset]
    );
    let lines: Vec<&str> = graph.oddities.iter().filter_map(|o| o.split(':').next()).collect();
    assert_eq!(lines, ["line 1", "line 2"], "{:?}", graph.oddities);
    assert!(graph.oddities[0].contains("in #1"), "{:?}", graph.oddities);
}

#[test]
fn names_are_upper_case_and_complex_instances_keep_their_parts() {
    let graph = good(&GOOD.replace("A('x;''y')", "( a(1) B_c() !Own(.F.) )"));
    let Some(Instance::Complex(parts)) = graph.entities.get(&1) else { panic!("{graph:?}") };
    let names: Vec<&str> = parts.iter().map(|p| &*p.name).collect();
    assert_eq!(names, ["A", "B_C", "!OWN"]);
    assert_eq!(parts[1].attributes, []);
}

/// Irregular sections that writers produce are read, each with a remark.
#[test]
fn sections_out_of_order_are_read() {
    let cases = [
        (GOOD.to_owned(), ""),
        (GOOD.replace("END-ISO-10303-21;", ""), "does not end"),
        (GOOD.replace("ENDSEC;END-ISO-10303-21;", "endsec\n"), "does not end"),
        (GOOD.replace("ENDSEC;END", "END"), ""),
        (GOOD.replace("HEADER;", ""), ""),
        (GOOD.replace("HEADER;", "HEADER\n").replace("DATA;", "DATA /* ; */\n"), ""),
        (GOOD.replace("FILE_NAME('','',(''),(''),'','','');", ""), "no FILE_NAME"),
        (GOOD.replace("FILE_NAME('','',", "FILE_NAME('',%,"), "no FILE_NAME"),
        (GOOD.replace("FILE_SCHEMA(('S'));", ""), "no FILE_SCHEMA"),
        (GOOD.replace("FILE_SCHEMA(('S'));", "FILE_SCHEMA((S));"), "no FILE_SCHEMA"),
        (GOOD.replace("DATA;", "DATA;ENDSEC;DATA('B',('C'));"), "2 DATA sections"),
        (GOOD.replace("DATA;", "ANCHOR;<a>=#1;ENDSEC;REFERENCE;#7=<b.stp#c>;ENDSEC;DATA;"), ""),
        (GOOD.replace("END-ISO-10303-21;", "SIGNATURE;%&?;ENDSEC;END-ISO-10303-21;"), ""),
        (GOOD.to_lowercase().replace("'s'", "'S'"), ""),
        (GOOD.replace(';', ";\r\n").replace("x;\r\n", "x;"), ""),
        (format!("/* */{GOOD}"), ""),
    ];
    for (text, says) in cases {
        let graph = good(&text);
        let part = |t: &str| Part { name: "A".into(), attributes: vec![Attribute::Text(t.to_owned())] };
        assert_eq!(graph.entities.get(&1), Some(&Instance::Plain(part("x;'y"))), "{text}");
        assert_eq!(graph.entities.len(), 1, "{text}");
        assert_eq!(graph.external, usize::from(text.contains("REFERENCE")), "{text}");
        let remarks = &graph.remarks;
        assert!(
            says.is_empty() && remarks.is_empty() || remarks.len() == 1 && remarks[0].contains(says),
            "{remarks:?} {text}"
        );
        let schema: &[&str] = if says == "no FILE_SCHEMA" { &[] } else { &["S"] };
        assert_eq!(graph.schema, schema, "{text}");
    }
    let graph = good(&GOOD.replace("END-ISO", "#2=B();#3=C();END-ISO"));
    assert!(graph.entities.len() == 3 && graph.remarks[0].contains("2 entities after"), "{graph:?}");
    let graph = good(&GOOD.replace("END-ISO-10303-21;", "#2=B();#3=C("));
    assert!(graph.entities.len() == 2 && graph.remarks.len() == 2, "{graph:?}");
    let graph = good(&GOOD.replace("ENDSEC;END", "#2=B()\n#3=C()ENDSEC;END"));
    assert!(graph.entities.len() == 3 && graph.oddities.len() == 2, "{graph:?}");
    let graph = good(&GOOD.replace("'1');", "'1')"));
    assert_eq!(graph.oddities.len(), 1, "{graph:?}");
}

#[test]
fn syntax_errors_state_their_line() {
    let cases = [
        ("#1=A('x;''y');", "#1=A(1;", "line 1: in #1, expected ',' or ')', found ';'"),
        ("DATA;", "DATA;\n\n#1=A();", "line 3: #1 is defined twice; the first definition is in line 3"),
        ("A('x;''y')", "\nA(%)", "line 2: in #1, unexpected character '%'"),
        ("A('x;''y')", "A(1.#INF)", "'#' is not followed by a valid entity number"),
        ("A('x;''y')", "A(B(1,2))", "expected ')'"),
        ("A('x;''y')", "", "expected a type, found ';'"),
        ("'x;''y'", "'x", "a string has no closing quote"),
        ("'x;''y'", "/* 'x'", "a comment is not closed"),
        ("'x;''y'", "-", "'-' does not begin a number"),
        ("'x;''y'", ".5.", "'.' begins neither"),
    ];
    for (good, bad, says) in cases {
        let fault = read(GOOD.replacen(good, bad, 1).as_bytes()).unwrap_err();
        assert!(fault.to_string().contains(says) && !fault.at_end, "{bad}: {fault}");
    }
    let deep = GOOD.replace("'x;''y'", &format!("{}{}", "(".repeat(100_000), ")".repeat(100_000)));
    assert!(read(deep.as_bytes()).unwrap_err().to_string().contains("nested"));
}

/// Every prefix of a file is an error until its data are complete, and nothing panics.
#[test]
fn truncated_files_are_errors() {
    for end in 0..GOOD.len() - "NDSEC;END-ISO-10303-21;".len() {
        assert!(read(&GOOD.as_bytes()[..end]).is_err(), "{}", &GOOD[..end]);
    }
    let fault = read(GOOD.split("ENDSEC;END").next().unwrap_or("").as_bytes()).unwrap_err();
    assert!(fault.at_end, "{fault}");
}

#[test]
fn many_oddities_are_only_counted() {
    let graph = good(&GOOD.replace("'x;''y'", &",".repeat(5000)));
    assert_eq!(graph.oddities.len(), MAX_ODDITIES + 1);
}
