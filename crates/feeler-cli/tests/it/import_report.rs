//! Reports of `feeler preprocess`: JSON and pages.
#![allow(clippy::unwrap_used, reason = "test code")]

use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Report on a folder, as JSON and as a page.
fn reports(folder: &Path, more: &[&str]) -> (Value, String) {
    let (json, html) = (folder.join("report.json"), folder.join("report.html"));
    let run = Command::new(env!("CARGO_BIN_EXE_feeler"))
        .args(["preprocess", "--quiet", "--report"])
        .args([&json, Path::new("--html"), &html, folder])
        .args(more)
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&run.stderr).into_owned();
    let read = |p: &Path| std::fs::read(p).unwrap_or_else(|e| panic!("{}: {e}: {message}", p.display()));
    (serde_json::from_slice(&read(&json)).unwrap(), String::from_utf8(read(&html)).unwrap())
}

/// Folder with a block, the same block with its shell declared open and characters of HTML in its name,
/// and a file that is not STEP.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let block = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/box.step");
    let text = std::fs::read_to_string(block).unwrap();
    std::fs::write(dir.path().join("a.step"), &text).unwrap();
    let odd = text.replace("CLOSED_SHELL", "OPEN_SHELL");
    assert_ne!(odd, text, "nothing was changed");
    std::fs::write(dir.path().join("b <i>&.step"), odd).unwrap();
    std::fs::write(dir.path().join("c.step"), "nothing").unwrap();
    dir
}

#[test]
fn the_report_has_facts_and_groups() {
    let dir = folder();
    let (report, _) = reports(dir.path(), &["--flatness", "0.5"]);
    let [plain, odd, bad] = report["inputs"].as_array().unwrap().as_slice() else { panic!("{report}") };
    // The box measures 40 × 30 × 20 mm.
    for input in [plain, odd] {
        let (area, volume) = (input["area"].as_f64().unwrap(), input["volume"].as_f64().unwrap());
        assert!((area - 5200.0).abs() < 1e-9 && (volume - 24_000.0).abs() < 1e-8, "{input}");
        assert_eq!(
            input["options"],
            serde_json::json!({ "flatness": 0.5, "open_shells": false, "unit": null })
        );
        assert_eq!(input["input_hash"].as_str().unwrap().len(), 16);
    }
    assert_ne!(plain["input_hash"], odd["input_hash"]);
    assert_eq!(plain["severities"], serde_json::json!({ "note": 0, "warning": 0, "error": 0 }));
    assert_eq!(plain["warning_groups"], serde_json::json!([]));
    assert_eq!(odd["severities"], serde_json::json!({ "note": 0, "warning": 1, "error": 0 }));
    let group = &odd["warning_groups"][0];
    assert_eq!((&group["severity"], &group["count"]), (&"warning".into(), &1.into()), "{odd}");
    let entity = group["first"][0]["entity"].as_str().unwrap();
    assert!(odd["warnings"][0].as_str().unwrap().starts_with(entity), "{odd}");
    assert!(bad["area"].is_null() && bad["input_hash"].is_string(), "{bad}");
    assert_eq!(bad["severities"]["error"], 1);
    assert_eq!(report["summary"]["severities"], serde_json::json!({ "note": 0, "warning": 1, "error": 1 }));

    // An input that is up to date has the same report.
    let (again, _) = reports(dir.path(), &["--flatness", "0.5"]);
    assert_eq!(again["inputs"][1]["unchanged"], true);
    for key in ["input_hash", "area", "volume", "warnings", "severities", "warning_groups"] {
        assert_eq!(again["inputs"][1][key], odd[key], "{key}");
    }
}

#[test]
fn the_page_is_whole_and_names_are_text() {
    let dir = folder();
    let (_, page) = reports(dir.path(), &[]);
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    // Scripts of the page are tested in a browser by tools/view.
    let page = page.split("<script").next().unwrap();
    assert!(page.contains("b &lt;i&gt;&amp;.step") && !page.contains("<i>"), "{page}");
    assert!(page.contains("OPEN_SHELL") && page.contains("is not a STEP file"), "{page}");
    for tag in ["table", "tr", "td", "th", "details", "p", "div", "h2", "a", "span"] {
        let (open, close) = (format!("<{tag}"), format!("</{tag}>"));
        let opened = page.match_indices(&open).filter(|(i, _)| {
            let next = page.as_bytes()[i + open.len()];
            next == b'>' || next == b' '
        });
        assert_eq!(opened.count(), page.matches(&close).count(), "{tag}");
    }
    assert!(!page.contains("http") && !page.contains("src="), "it needs something beside it");
}

/// Remarks in the report have locations.
#[test]
fn remarks_have_places() {
    let dir = tempfile::tempdir().unwrap();
    let block = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/box.step");
    let text = std::fs::read_to_string(block).unwrap();
    // An edge gets the wrong sense relative to its curve.
    let at = text.find("EDGE_CURVE").unwrap();
    let end = at + text[at..].find(';').unwrap();
    let line = text[at..end].to_owned();
    let turned = if line.contains(".T.") { line.replace(".T.", ".F.") } else { line.replace(".F.", ".T.") };
    std::fs::write(dir.path().join("a.step"), text.replace(&line, &turned)).unwrap();
    let (report, page) = reports(dir.path(), &[]);
    let group = &report["inputs"][0]["warning_groups"][0];
    let place = group["first"][0]["place"].as_array().unwrap_or_else(|| panic!("{report}"));
    for (x, half) in place.iter().zip([20.0, 15.0, 10.0]) {
        assert!((x.as_f64().unwrap().abs() - half).abs() < 1e-9, "no corner: {report}");
    }
    let row = page.lines().find(|l| l.contains("20.000, ")).unwrap_or_else(|| panic!("{page}"));
    assert!(row.starts_with("<tr data-show="), "{row}");
}

#[test]
fn a_page_that_cannot_be_written_is_told_before_the_work() {
    let dir = folder();
    let run = Command::new(env!("CARGO_BIN_EXE_feeler"))
        .args(["preprocess", "--html", "nowhere/report.html"])
        .arg(dir.path())
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&run.stderr).contains("the folder of the report does not exist"));
    assert!(!dir.path().join("a.feeler").exists());
}

/// JSON document of the picture of a page, unpacked as by the page's script.
fn picture(page: &str) -> Value {
    use base64::Engine as _;
    use std::io::Read as _;
    let start = page.find("id=\"picture\">").unwrap() + "id=\"picture\">".len();
    let text = &page[start..start + page[start..].find('<').unwrap()];
    let packed = base64::engine::general_purpose::STANDARD.decode(text).unwrap();
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut bytes).unwrap();
    let length = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
    serde_json::from_slice(&bytes[4..4 + length]).unwrap()
}

/// Repaired and refused places are marked in the picture: points, edges and faces, each with its row.
#[test]
fn places_are_marked_in_the_picture() {
    let dir = tempfile::tempdir().unwrap();
    let block = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/box.step");
    let text = std::fs::read_to_string(block).unwrap();
    // A face is missing: the block is refused, and the four edges of the face are open.
    let list = text.find("CLOSED_SHELL").unwrap();
    let first = list + text[list..].find('#').unwrap();
    let next = first + text[first..].find(',').unwrap() + 1;
    std::fs::write(dir.path().join("a.step"), format!("{}{}", &text[..first], &text[next..])).unwrap();
    // An edge has the wrong sense and is repaired.
    let at = text.find("EDGE_CURVE").unwrap();
    let end = at + text[at..].find(';').unwrap();
    let line = text[at..end].to_owned();
    let turned = if line.contains(".T.") { line.replace(".T.", ".F.") } else { line.replace(".F.", ".T.") };
    std::fs::write(dir.path().join("b.step"), text.replace(&line, &turned)).unwrap();
    let (_, page) = reports(dir.path(), &[]);
    let picture = picture(&page);
    let scene = |name: &str| {
        let all = picture["scenes"].as_array().unwrap();
        all.iter().find(|s| s["name"].as_str().unwrap().ends_with(name)).unwrap_or_else(|| panic!("{name}"))
    };
    let refused = scene("a.step");
    let marks = refused["marks"].as_array().unwrap();
    assert_eq!(marks.len(), 4, "one for each open edge: {marks:?}");
    for mark in marks {
        assert_eq!((&mark["class"], mark["points"].as_array().unwrap().len()), (&"error".into(), 1));
        assert!(!mark["lines"].as_array().unwrap().is_empty(), "the edge: {mark}");
        let corner = mark["points"][0].as_array().unwrap();
        for (x, half) in corner.iter().zip([20.0, 15.0, 10.0]) {
            assert!((x.as_f64().unwrap().abs() - half).abs() < 1e-9, "no corner: {mark}");
        }
    }
    assert!(refused["parts"][0]["path"].as_str().unwrap().starts_with("refused"), "{refused}");
    let repaired = &scene("b.step")["marks"];
    assert_eq!(repaired[0]["class"], "note", "{repaired}");
    assert!(!repaired[0]["lines"].as_array().unwrap().is_empty(), "the edge: {repaired}");
    // Rows of the tables show the marks.
    let shows = picture["shows"].as_array().unwrap();
    let rows: Vec<&str> = page.lines().filter(|l| l.starts_with("<tr data-show=")).collect();
    assert_eq!(rows.len(), shows.len());
    let marked = shows.iter().filter(|s| s["mark"].is_u64()).count();
    assert!(marked >= 5, "{shows:?}");
    let open = rows.iter().filter(|r| r.contains("the shell is open at edge")).count();
    assert_eq!(open, 4, "{rows:?}");
}
