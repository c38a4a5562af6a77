//! `feeler view`: solids and their minima on a page, or solids as glTF.

use crate::CommandOutcome;
use crate::args::ViewArgs;
use crate::clearance::html::scene;
use crate::clearance::parts::parts;
use crate::drawing::Drawing;
use crate::{playback, progress};
use anyhow::{Context as _, bail, ensure};
use feeler_assembly::{AssemblyPart, Clearance, ClearanceOptions, PairMeasurement, Rules};
use feeler_hierarchy::{file, whole};
use feeler_import as import;
use feeler_view::picture::Live;
use feeler_view::{glb, page};
use std::io::Write;
use std::path::Path;

pub(crate) fn run(args: &ViewArgs, err: &mut dyn Write) -> anyhow::Result<CommandOutcome> {
    let name = args.output.display();
    let ends = |e: &str| args.output.extension().is_some_and(|x| x.eq_ignore_ascii_case(e));
    ensure!(ends("html") || ends("htm") || ends("glb"), "{name}: give a name that ends with .html or .glb");
    let is_page = !ends("glb");
    let folder = args.output.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    ensure!(folder.is_dir(), "{name}: the folder does not exist");
    ensure!(is_page || args.live.is_none(), "--live is only for pages, not for {name}");
    ensure!(is_page || args.sweep.is_none(), "--sweep is only for pages, not for {name}");
    let package = args.live.as_deref().map(package).transpose()?;

    let (mut parts, left_out) = parts(&args.files, &args.pose, args.read.reading(), |line| {
        if args.quiet { Ok(()) } else { writeln!(err, "feeler: {line}") }
    })?;
    for what in &left_out {
        writeln!(err, "feeler: left out: {what}")?;
    }
    let motion = match &args.sweep {
        Some(file) => Some(playback::read(file, &mut parts)?),
        None => None,
    };
    ensure!(!parts.is_empty(), "the files contain no solids");
    let mut drawing = Drawing::new(args.chord, is_page && !args.plain);
    let measured = if is_page && motion.is_none() { measured(args, &parts)? } else { Vec::new() };
    let mut shown = scene(&mut drawing, &parts, measured.iter());
    shown.name = title(args);
    if let Some(motion) = motion {
        shown.parts.iter_mut().enumerate().for_each(|(k, part)| part.track = Some(k));
        shown.motion = Some(motion);
    }
    for what in &drawing.failed {
        writeln!(err, "feeler: {what}")?;
    }
    let bytes = if is_page {
        drawing.picture.live = package.map(|p| live(args, p, &parts)).transpose()?;
        drawing.add(shown);
        page::page(&title(args), "", drawing.finished())?.into_bytes()
    } else {
        glb::glb(&drawing.picture, &shown)?
    };
    whole::write_whole(&args.output, &bytes).with_context(|| format!("{name}: cannot be written"))?;
    if !args.quiet {
        let triangles = drawing.triangles();
        let deviation = drawing.picture.shapes.iter().map(|s| s.mesh.deviation).fold(0.0, f64::max);
        writeln!(
            err,
            "feeler: {name}: {} parts, {triangles} triangles within {deviation:.1e} mm, {} pairs, {} kB",
            parts.len(),
            measured.len(),
            bytes.len().div_ceil(1000)
        )?;
    }
    let is_whole = left_out.is_empty() && drawing.failed.is_empty();
    Ok(if is_whole { CommandOutcome::Done } else { CommandOutcome::Partly })
}

fn title(args: &ViewArgs) -> String {
    let stem = |p: &std::path::PathBuf| p.file_stem().map(|s| s.to_string_lossy().into_owned());
    args.files.iter().filter_map(stem).collect::<Vec<_>>().join(", ")
}

/// Measures all pairs of parts within `--d-max` of each other.
fn measured(args: &ViewArgs, parts: &[AssemblyPart]) -> anyhow::Result<Vec<PairMeasurement>> {
    let rules = Rules::default();
    let check = Clearance::new(parts, &rules, &ClearanceOptions::within(args.d_max))
        .context("the parts cannot be measured")?;
    let count = check.near_pairs().len();
    let bar = progress::bar(count, progress::PAIRS, !args.quiet && count > 1);
    let measurements = check.measure(&|| bar.inc(1));
    bar.finish_and_clear();
    Ok(measurements)
}

/// JavaScript and WebAssembly of the package for web pages.
type Package = (String, Vec<u8>);

fn package(folder: &Path) -> anyhow::Result<Package> {
    let made = "docs/BINDINGS.md, \"Web pages\", describes how to build the package";
    let of = |name: &str| {
        let path = folder.join("classic").join(name);
        std::fs::read(&path).with_context(|| format!("{}: cannot be read; {made}", path.display()))
    };
    let script = String::from_utf8(of("feeler.js")?).ok();
    // A script that contains `</script` would end its element in the page.
    let script = script.filter(|s| !s.to_ascii_lowercase().contains("</script"));
    let Some(script) = script else {
        bail!(
            "{}: classic/feeler.js is not UTF-8 or contains `</script`, so a page cannot include it; {made}",
            folder.display()
        )
    };
    Ok((script, of("feeler_bg.wasm")?))
}

/// Runtime that a page includes, with the models of all files in the `.feeler` format.
fn live(args: &ViewArgs, (script, wasm): Package, parts: &[AssemblyPart]) -> anyhow::Result<Live> {
    let mut models = Vec::new();
    for path in &args.files {
        let mut model = import::load_with(path, args.read.reading())?.0;
        // Remarks of the import are not shown in the page.
        model.remarks.clear();
        models.push(file::encode(&model).with_context(|| path.display().to_string())?);
    }
    Ok(Live { script, wasm, models, parts: parts.iter().map(|p| [p.model, p.solid]).collect() })
}
