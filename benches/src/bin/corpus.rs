//! Import report of folders of STEP files:
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin corpus -- FOLDER… [--json]
//! ```
//!
//! For each file: ok or the reason of the failure, counts, area and volume compared with `manifest.json`
//! if the folder has one, supermaximal features (BREP Tables 5.1 and 5.2), preparation time, bytes. Then
//! the sums by category and by CAD system.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports")]
#![expect(clippy::cast_precision_loss, reason = "counts in a report")]

use feeler_brep::build::{BuildOptions, build_solid};
use feeler_hierarchy::Options;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

#[derive(Deserialize)]
struct Record {
    file: String,
    category: String,
    #[serde(default)]
    cad_system: String,
    #[serde(default)]
    solids: Option<usize>,
    #[serde(default)]
    file_faces: Option<usize>,
    #[serde(default)]
    file_edge_curves: Option<usize>,
    #[serde(default)]
    solids_facts: Option<Vec<Facts>>,
    #[serde(default)]
    integration_relative_error: Option<[f64; 2]>,
}

#[derive(Clone, Deserialize)]
struct Facts {
    volume_mm3: f64,
    area_mm2: f64,
}

struct Row {
    file: String,
    category: String,
    system: String,
    expected: bool,
    /// Whether all solids of the file were prepared.
    prepared: bool,
    ok: bool,
    reason: String,
    solids: [usize; 2],
    faces: usize,
    edges: usize,
    worst: [f64; 2],
    seconds: [f64; 3],
    bytes: usize,
    leaves: usize,
    /// Numbers of supermaximal faces and edges.
    supermaximal: [u32; 2],
}

fn main() -> ExitCode {
    let mut files: Vec<PathBuf> = Vec::new();
    let mut manifest: BTreeMap<String, Record> = BTreeMap::new();
    for arg in std::env::args().skip(1) {
        let dir = PathBuf::from(&arg);
        if let Ok(text) = std::fs::read_to_string(dir.join("manifest.json")) {
            match serde_json::from_str::<Vec<Record>>(&text) {
                Ok(records) => manifest.extend(records.into_iter().map(|r| (r.file.clone(), r))),
                Err(e) => eprintln!("{}: manifest.json: {e}", dir.display()),
            }
        }
        if dir.is_file() {
            files.push(dir);
            continue;
        }
        match std::fs::read_dir(&dir) {
            Ok(entries) => files.extend(entries.flatten().map(|e| e.path()).filter(|p| {
                p.extension().is_some_and(|e| e.eq_ignore_ascii_case("step") || e.eq_ignore_ascii_case("stp"))
            })),
            Err(e) => eprintln!("{arg}: {e}"),
        }
    }
    files.sort();
    if files.is_empty() {
        eprintln!("an argument is needed: folders with STEP files");
        return ExitCode::from(2);
    }
    let mut rows: Vec<Row> = Vec::new();
    for file in &files {
        let r = report(file, &manifest);
        println!(
            "{:4} {:1} {:36} solids {:3}/{:<3} faces {:5} ({:5} supermaximal) edges {:5} ({:5}) area \
                {:8.1e} volume {:8.1e} import {:6.3} s build {:6.3} s prepare {:6.3} s leaves {:7} bytes \
                {:9} {}",
            if r.ok {
                "ok"
            } else if r.expected {
                "FAIL"
            } else {
                "-"
            },
            r.category,
            r.file,
            r.solids[0],
            r.solids[1],
            r.faces,
            r.supermaximal[0],
            r.edges,
            r.supermaximal[1],
            r.worst[0],
            r.worst[1],
            r.seconds[0],
            r.seconds[1],
            r.seconds[2],
            r.leaves,
            r.bytes,
            r.reason
        );
        rows.push(r);
    }
    table("category", &rows, |r| &r.category);
    table("CAD system", &rows, |r| &r.system);
    let expected = rows.iter().filter(|r| r.expected).count();
    let ok = rows.iter().filter(|r| r.expected && r.ok).count();
    let faces: usize = rows.iter().map(|r| r.faces).sum();
    let bytes: usize = rows.iter().map(|r| r.bytes).sum();
    let seconds: f64 = rows.iter().map(|r| r.seconds.iter().sum::<f64>()).sum();
    println!(
        "{ok} of {expected} files with solids ok ({:.1} %); {faces} faces in {seconds:.2} s: {:.0} faces/s, \
            {:.0} bytes/face",
        100.0 * ok as f64 / expected.max(1) as f64,
        faces as f64 / seconds.max(1e-9),
        bytes as f64 / faces.max(1) as f64
    );
    if ok == expected { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

/// Prints the sums of the files with the same value of `key`.
fn table(title: &str, rows: &[Row], key: impl Fn(&Row) -> &str) {
    println!(
        "| {title} | files with solids | prepared | as in the manifest | faces | supermaximal | edges | \
            supermaximal |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let keys: std::collections::BTreeSet<&str> = rows.iter().map(&key).collect();
    for k in keys {
        let here = || rows.iter().filter(|r| key(r) == k && r.expected);
        println!(
            "| {k} | {} | {} | {} | {} | {} | {} | {} |",
            here().count(),
            here().filter(|r| r.prepared).count(),
            here().filter(|r| r.ok).count(),
            here().map(|r| r.faces).sum::<usize>(),
            here().map(|r| r.supermaximal[0]).sum::<u32>(),
            here().map(|r| r.edges).sum::<usize>(),
            here().map(|r| r.supermaximal[1]).sum::<u32>()
        );
    }
}

fn report(path: &Path, manifest: &BTreeMap<String, Record>) -> Row {
    let file = path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    let record = manifest.get(&file);
    let mut row = Row {
        category: record.map_or_else(|| "?".into(), |r| r.category.clone()),
        system: record.map_or_else(|| "?".into(), |r| r.cad_system.clone()),
        prepared: false,
        expected: record.is_none_or(|r| r.solids.is_some_and(|n| n > 0)),
        ok: false,
        reason: String::new(),
        solids: [0, record.and_then(|r| r.solids).unwrap_or(0)],
        faces: 0,
        edges: 0,
        worst: [0.0; 2],
        seconds: [0.0; 3],
        bytes: 0,
        leaves: 0,
        supermaximal: [0; 2],
        file,
    };
    let clock = Instant::now();
    let import = match feeler_step::read_step(path) {
        Ok(i) => i,
        Err(e) => {
            row.reason = e.to_string();
            return row;
        }
    };
    row.seconds[0] = clock.elapsed().as_secs_f64();
    let mut reasons = Vec::new();
    let mut built = vec![None; import.solids.len()];
    for (i, source) in import.solids.iter().enumerate() {
        let clock = Instant::now();
        let solid = match build_solid(source, &BuildOptions::default()) {
            Ok(s) => s,
            Err(e) => {
                reasons.push(format!("solid #{}: {e}", source.id));
                continue;
            }
        };
        row.seconds[1] += clock.elapsed().as_secs_f64();
        // `canonical` refers to the surfaces in the file, because the other kernel integrates disguised
        // canonical surfaces numerically.
        let canonical = source.faces.iter().all(|f| f.surface.is_canonical());
        built[i] = Some((solid.area, solid.volume, canonical));
        row.faces += solid.faces.len();
        row.edges += solid.edges.len();
        let clock = Instant::now();
        match feeler_prepare::prepare_solid(&solid, &Options { flatness: feeler_import::DEFAULT_FLATNESS }) {
            Ok(h) => {
                row.seconds[2] += clock.elapsed().as_secs_f64();
                row.leaves += h.areas.len();
                row.supermaximal[0] += h.info.supermaximal[0];
                row.supermaximal[1] += h.info.supermaximal[1];
                row.bytes += feeler_hierarchy::file::encoded_size(&h);
            }
            Err(e) => reasons.push(format!("solid #{}: {e}", source.id)),
        }
    }
    row.prepared = reasons.is_empty() && !built.is_empty();
    row.solids[0] = import.instances.iter().filter(|i| built[i.solid].is_some()).count();
    if let Some(r) = record {
        let (faces, edges) = (import.file_faces, import.file_edge_curves);
        if r.file_faces.is_some_and(|n| n != faces) {
            reasons.push(format!("{faces} faces, the file has {}", r.file_faces.unwrap_or(0)));
        }
        if r.file_edge_curves.is_some_and(|n| n != edges) {
            reasons.push(format!("{edges} edges, the file has {}", r.file_edge_curves.unwrap_or(0)));
        }
        if r.solids.is_some_and(|n| n != row.solids[0]) {
            reasons.push(format!("{} of {} solids", row.solids[0], r.solids.unwrap_or(0)));
        }
        compare(&import, &built, r, &mut row, &mut reasons);
    }
    row.ok = reasons.is_empty() && row.solids[0] > 0;
    row.reason = reasons.join("; ");
    row
}

/// Compares areas and volumes of all instances with those of the manifest, each instance with the nearest
/// entry.
fn compare(
    import: &feeler_step::Import,
    built: &[Option<(f64, f64, bool)>],
    record: &Record,
    row: &mut Row,
    reasons: &mut Vec<String>,
) {
    let Some(facts) = &record.solids_facts else { return };
    let claimed = record.integration_relative_error.unwrap_or_default();
    let mut left: Vec<Facts> = facts.clone();
    for instance in &import.instances {
        let Some((area, volume, canonical)) = built[instance.solid] else { continue };
        let off = |f: &Facts| {
            [((area - f.area_mm2) / f.area_mm2).abs(), ((volume - f.volume_mm3) / f.volume_mm3).abs()]
        };
        let Some(best) = (0..left.len()).min_by(|&i, &j| {
            let (x, y) = (off(&left[i]), off(&left[j]));
            (x[0] + x[1]).total_cmp(&(y[0] + y[1]))
        }) else {
            return;
        };
        let f = left.swap_remove(best);
        let d = off(&f);
        let tol = if canonical { 1e-6 } else { 1e-5 };
        row.worst = [row.worst[0].max(d[0]), row.worst[1].max(d[1])];
        if d[0] > tol + claimed[0] || d[1] > tol + claimed[1] {
            reasons.push(format!(
                "solid #{}: area {area} against {}, volume {volume} against {}",
                import.solids[instance.solid].id, f.area_mm2, f.volume_mm3
            ));
        }
    }
}
