//! The command line, as docs/INTERFACE.md ("Commands") lists it.

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;
use std::sync::LazyLock;

/// Version, commit and the format of files.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let format = feeler_hierarchy::file::FORMAT_VERSION;
    format!("{} (commit {}, file format {format})", env!("CARGO_PKG_VERSION"), env!("FEELER_COMMIT"))
});

/// feeler: every place where two CAD solids come close, exactly.
#[derive(Debug, Parser)]
#[command(name = "feeler", version = VERSION.as_str(), about, max_term_width = 100)]
pub struct Cli {
    /// Colours in tables
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t)]
    pub color: crate::color::Color,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Turn STEP files, or whole folders of them, into .feeler files
    Preprocess(Preprocess),
    /// Show what a .feeler (or STEP) file holds
    Inspect(Inspect),
    /// All local minimal distances between two posed solids
    Query(Query),
    /// The minima along a trajectory
    Sweep(Sweep),
    /// Whether the parts of a mechanism stay free of each other as it moves
    Mechanism(Mechanism),
    /// Pour grains into walls from CAD, and tell what flows out and what loads the walls bear
    Pour(Pour),
    /// Show solids and what was measured of them on a page that needs nothing beside it, or write them as
    /// glTF
    View(View),
    /// Which parts of assemblies touch, clash or come too close
    Clearance(Clearance),
    /// Whether models, verdicts and minima are still what they were
    Regress(Regress),
    /// What differs between two versions of a model, or of a folder of models
    Diff(Diff),
    /// Completions for a shell, to stdout
    Completions(Completions),
    /// The manual page to stdout, or one for each command into a folder
    Man(Man),
}

/// How STEP and STL files are read: shared by all commands that do.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct ReadArgs {
    /// Read surface models of STEP files, and open meshes of STL files, as well: closed ones as solids, open
    /// ones as sheets without thickness that have a front and a back
    #[arg(long)]
    pub open_shells: bool,
    /// Unit of length of the coordinates in STEP files, whatever they say, and in STL files, which need it:
    /// um, mm, cm, m, inch, ft, or the millimetres in one
    #[arg(long, value_name = "UNIT", value_parser = unit)]
    pub unit: Option<f64>,
}

impl ReadArgs {
    /// As the reader takes it.
    #[must_use]
    pub fn reading(self) -> feeler_import::Reading {
        feeler_import::Reading { open_shells: self.open_shells, unit: self.unit }
    }
}

/// `feeler preprocess`.
#[derive(Debug, Default, Args)]
pub struct Preprocess {
    /// STEP files, also in gzip (*.stpz, *.step.gz) or ZIP; STL files (*.stl) with --unit; folders to search
    /// for *.step, *.stp, *.p21 and *.stpz; `-`: standard input
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,
    /// Output file (one input) or folder, which is made if need be and mirrors input folders; default:
    /// NAME.feeler beside each input
    #[arg(short, long, value_name = "FILE or DIR")]
    pub output: Option<PathBuf>,
    /// Largest apex angle (rad) of the normals within one area; smaller: more and tighter areas
    #[arg(long, value_name = "RAD", value_parser = flatness)]
    #[arg(default_value_t = feeler_import::DEFAULT_FLATNESS)]
    pub flatness: f64,
    /// How STEP files are read.
    #[command(flatten)]
    pub read: ReadArgs,
    /// Files prepared at the same time; default: one per core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// Memory that files prepared at the same time may take together, as estimated from their sizes; a larger
    /// file is prepared alone; default: three quarters of what is free
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1 << 40))]
    pub memory: Option<u64>,
    /// Remove files from the output folder whose inputs are gone; without it they are named
    #[arg(long)]
    pub prune: bool,
    /// Inputs that are known to fail, a path or pattern a line: such failures are none, and it is one if they
    /// do not fail
    #[arg(long, value_name = "FILE")]
    pub expect: Option<PathBuf>,
    /// Prepare also what is up to date: same bytes, options and version of feeler
    #[arg(long)]
    pub force: bool,
    /// Write the JSON document to this file, too
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Write a page to this file that tells people what became of each input, and what was odd in it
    #[arg(long, value_name = "FILE.html")]
    pub html: Option<PathBuf>,
    /// One JSON document on stdout instead of a table
    #[arg(long)]
    pub json: bool,
    /// No messages on stderr but errors
    #[arg(short, long)]
    pub quiet: bool,
}

/// `feeler inspect`.
#[derive(Debug, Args)]
pub struct Inspect {
    /// A .feeler file, or a STEP file to prepare in memory; `-`: standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Density (kg/m³) of the solids of that name, path or number, for mass in kg and inertia in kg·mm²; `*`:
    /// of all others; may be given several times
    #[arg(long, value_name = "NAME=KG_M3", value_parser = density)]
    pub density: Vec<(String, f64)>,
    /// How STEP files are read.
    #[command(flatten)]
    pub read: ReadArgs,
    /// One JSON document on stdout instead of a table
    #[arg(long)]
    pub json: bool,
}

/// Two solids and what is asked of them: shared by the commands that query.
#[derive(Debug, Args)]
pub struct PairArgs {
    /// First file: .feeler, or STEP to be prepared in memory; `-`: standard input
    #[arg(value_name = "A")]
    pub a: PathBuf,
    /// Second file
    #[arg(value_name = "B")]
    pub b: PathBuf,
    /// Report minima up to this distance (mm); `inf`: all of them
    #[arg(long, value_name = "MM", value_parser = reach)]
    pub d_max: f64,
    /// Solid of A: index as `inspect` lists them, name or path; needed where A holds several
    #[arg(long, value_name = "S")]
    pub solid_a: Option<String>,
    /// Solid of B
    #[arg(long, value_name = "S")]
    pub solid_b: Option<String>,
    /// Lengths below this (mm) are zero: solids that are nearer touch, and those that meet less deep do not
    /// interfere; default: 1e-7 of the larger solid's diagonal
    #[arg(long, value_name = "MM", value_parser = positive)]
    pub tolerance: Option<f64>,
    /// Report contacts at negative distances, too, down to this depth (mm): less than half the sum of both
    /// solids' walls
    #[arg(long, value_name = "MM", default_value_t = 0.0, value_parser = non_negative)]
    pub penetration: f64,
    /// Dilate the polars of edges and vertices by this angle (rad) and report quasi-minima too
    #[arg(long, value_name = "RAD", default_value_t = 0.0, value_parser = quasi_angle)]
    pub quasi_angle: f64,
    /// Implicit thickness of A (mm), subtracted from the gap
    #[arg(long, value_name = "MM", default_value_t = 0.0, value_parser = finite, allow_hyphen_values = true)]
    pub dilation_a: f64,
    /// Implicit thickness of B (mm)
    #[arg(long, value_name = "MM", default_value_t = 0.0, value_parser = finite, allow_hyphen_values = true)]
    pub dilation_b: f64,
    /// Largest spacing (mm) of the samples of a conformal contact; default: a quarter of its extent
    #[arg(long, value_name = "MM", value_parser = positive)]
    pub conformal_spacing: Option<f64>,
    /// Threads of one query; the result does not depend on it
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=256))]
    pub threads: u16,
    /// Skip the hierarchies and solve every pair of features: slow, for checking
    #[arg(long)]
    pub brute_force: bool,
    /// Show no more than the N nearest minima
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
    /// How STEP files are read.
    #[command(flatten)]
    pub read: ReadArgs,
    /// Prove that every minimum with a free-form side has been found, or say what is undecided
    #[arg(long)]
    pub certified: bool,
    /// One JSON document on stdout instead of a table
    #[arg(long)]
    pub json: bool,
    /// No messages on stderr but errors
    #[arg(short, long)]
    pub quiet: bool,
}

/// `feeler query`.
#[derive(Debug, Args)]
pub struct Query {
    /// The solids.
    #[command(flatten)]
    pub pair: PairArgs,
    /// Motion of A: tx,ty,tz or tx,ty,tz,qx,qy,qz,qw or @FILE with a 4x4 matrix or a translation and a
    /// rotation
    #[arg(long, value_name = "POSE", default_value = "0,0,0", allow_hyphen_values = true)]
    pub pose_a: String,
    /// Motion of B
    #[arg(long, value_name = "POSE", default_value = "0,0,0", allow_hyphen_values = true)]
    pub pose_b: String,
    /// Give the curves in which interfering solids cross, as polylines no point of them farther than this
    /// (mm) from the curve
    #[arg(long, value_name = "CHORD", value_parser = positive)]
    pub curves: Option<f64>,
}

/// `feeler sweep`.
#[derive(Debug, Args)]
pub struct Sweep {
    /// The solids.
    #[command(flatten)]
    pub pair: PairArgs,
    /// Poses of B, and of A if it moves:
    /// `{"unit":"mm","dt":S,"poses_b":[[tx,ty,tz,qx,qy,qz,qw],…],"poses_a":[…]}`
    #[arg(long, value_name = "FILE", required_unless_present = "joint", conflicts_with = "joint")]
    pub trajectory: Option<PathBuf>,
    /// Move B by a joint instead: a point and the direction of its axis, X,Y,Z,DX,DY,DZ
    #[arg(long, value_name = "AXIS", allow_hyphen_values = true)]
    pub joint: Option<String>,
    /// Angles (degrees) between which the joint turns: FROM,TO
    #[arg(long, value_name = "DEG", allow_hyphen_values = true, requires = "joint")]
    pub turn: Option<String>,
    /// Lengths (mm) between which the joint slides, as it turns: FROM,TO
    #[arg(long, value_name = "MM", allow_hyphen_values = true, requires = "joint")]
    pub slide: Option<String>,
    /// Steps of the joint
    #[arg(long, value_name = "N", default_value_t = 100, requires = "joint")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub steps: u32,
    /// Prove that the solids stay free between the steps, too, or tell when they first touch: poses are
    /// joined by screw motions
    #[arg(long)]
    pub proof: bool,
    /// Forget everything between two steps; minima are then new in each
    #[arg(long)]
    pub cold: bool,
    /// Write a page that plays the sweep
    #[arg(long, value_name = "FILE.html")]
    pub html: Option<PathBuf>,
    /// Draw time, number of minima and smallest distance of every step
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<PathBuf>,
}

/// `feeler mechanism`.
#[derive(Debug, Args)]
pub struct Mechanism {
    /// Links, joints (or a URDF) and their motion: docs/INTERFACE.md, "Mechanisms"
    #[arg(value_name = "FILE.toml")]
    pub file: PathBuf,
    /// Poses at which the margin is measured
    #[arg(long, value_name = "N", default_value_t = 100)]
    #[arg(value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    pub steps: u32,
    /// Measure margins up to this distance (mm)
    #[arg(long, value_name = "MM", default_value_t = 10.0, value_parser = positive)]
    pub d_max: f64,
    /// Contact is where parts come as near as this (mm)
    #[arg(long, value_name = "MM", default_value_t = 0.0, value_parser = non_negative)]
    pub distance: f64,
    /// Measure at the steps only; prove nothing of what is between them
    #[arg(long)]
    pub no_proof: bool,
    /// Instead of the motion, all combinations of this many values of each joint that has limits
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub grid: Option<u32>,
    /// Draw the margin over time
    #[arg(long, value_name = "FILE.svg", conflicts_with = "grid")]
    pub plot: Option<PathBuf>,
    /// Write a page that plays the motion
    #[arg(long, value_name = "FILE.html", conflicts_with = "grid")]
    pub html: Option<PathBuf>,
    /// Write the margin at each step as CSV
    #[arg(long, value_name = "FILE.csv", conflicts_with = "grid")]
    pub csv: Option<PathBuf>,
    /// How STEP files are read.
    #[command(flatten)]
    pub read: ReadArgs,
    /// Threads; the answer does not depend on them; default: one per core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub threads: Option<u16>,
    /// One JSON document on stdout instead of a table
    #[arg(long)]
    pub json: bool,
    /// No messages on stderr but errors
    #[arg(short, long)]
    pub quiet: bool,
}

/// `feeler pour`.
#[derive(Debug, Args)]
pub struct Pour {
    /// Walls, grains, laws of contact and times: docs/POUR.md
    #[arg(value_name = "SCENE.toml")]
    pub scene: PathBuf,
    /// Folder for what is written, which is made if need be; default: one beside the scene, of its name
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Start over, instead of going on from the checkpoint in the folder
    #[arg(long)]
    pub fresh: bool,
    /// Draw flow, masses and energy over time
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<PathBuf>,
    /// Write a page that plays the run
    #[arg(long, value_name = "FILE.html")]
    pub html: Option<PathBuf>,
    /// Threads; the answer does not depend on them; default: one per core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub threads: Option<u16>,
    /// One JSON document on stdout instead of a table
    #[arg(long)]
    pub json: bool,
    /// No messages on stderr but errors
    #[arg(short, long)]
    pub quiet: bool,
}

/// `feeler view`.
#[derive(Debug, Args)]
pub struct View {
    /// Models: .feeler, or STEP to be prepared in memory
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The page to write, or a binary glTF file
    #[arg(short, long, value_name = "FILE.html or FILE.glb")]
    pub output: PathBuf,
    /// Largest distance (mm) of what is drawn from the solids; default: 1/2000 of the diagonal of each
    #[arg(long, value_name = "MM", value_parser = positive)]
    pub chord: Option<f64>,
    /// Measure parts up to this distance (mm), and store their minima in the page
    #[arg(long, value_name = "MM", default_value_t = 1.0, value_parser = positive)]
    pub d_max: f64,
    /// Play what `sweep --json` has written of the two solids
    #[arg(long, value_name = "RESULT.json")]
    pub sweep: Option<PathBuf>,
    /// Put the runtime into the page, so that it measures any two parts and parts can be dragged: the folder
    /// of the package for web pages
    #[arg(long, value_name = "DIR")]
    pub live: Option<PathBuf>,
    /// Leave out boxes, cones and leaf areas: a smaller page
    #[arg(long)]
    pub plain: bool,
    /// Move file number N, from 0, by a pose as in `query`; may be given several times
    #[arg(long, value_name = "N=POSE")]
    pub pose: Vec<String>,
    /// How STEP files are read.
    #[command(flatten)]
    pub read: ReadArgs,
    /// No messages on stderr but errors
    #[arg(short, long)]
    pub quiet: bool,
}

/// `feeler clearance`.
#[derive(Debug, Args)]
pub struct Clearance {
    /// Assemblies: .feeler, or STEP to be prepared in memory; all parts of all files are checked against each
    /// other
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Measure parts up to this distance (mm); default: the largest `min` of the rules, else 1
    #[arg(long, value_name = "MM", value_parser = positive)]
    pub d_max: Option<f64>,
    /// Rules (TOML): what is asked of which parts; without them, interference is what fails
    #[arg(long, value_name = "FILE.toml")]
    pub rules: Option<PathBuf>,
    /// Leave pairs alone with a part of that name or path, or of two such parts; may be given several times
    #[arg(long, value_name = "A or A=B")]
    pub ignore: Vec<String>,
    /// Check such pairs alone
    #[arg(long, value_name = "A or A=B")]
    pub only: Vec<String>,
    /// Move file number N, from 0, by a pose as in `query`; may be given several times
    #[arg(long, value_name = "N=POSE")]
    pub pose: Vec<String>,
    /// Lengths below this (mm) are zero; default: 1e-7 of the larger part's diagonal
    #[arg(long, value_name = "MM", value_parser = positive)]
    pub tolerance: Option<f64>,
    /// How STEP files are read.
    #[command(flatten)]
    pub read: ReadArgs,
    /// Known findings: only others fail
    #[arg(long, value_name = "FILE.json")]
    pub baseline: Option<PathBuf>,
    /// Write what is found to the baseline
    #[arg(long)]
    pub bless: bool,
    /// Threads; the answer does not depend on them; default: one per core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub threads: Option<u16>,
    /// Show all measured pairs in the table
    #[arg(long)]
    pub all: bool,
    /// One JSON document on stdout instead of a table
    #[arg(long)]
    pub json: bool,
    /// Write all measured pairs as CSV
    #[arg(long, value_name = "FILE.csv")]
    pub csv: Option<PathBuf>,
    /// Write the XML of `JUnit`: a case for each pair that a rule decides about
    #[arg(long, value_name = "FILE.xml")]
    pub junit: Option<PathBuf>,
    /// Write a page whose table sorts itself
    #[arg(long, value_name = "FILE.html")]
    pub html: Option<PathBuf>,
    /// No messages on stderr but errors
    #[arg(short, long)]
    pub quiet: bool,
}

/// `feeler regress`.
#[derive(Debug, Args)]
pub struct Regress {
    /// What to compare, and how closely (TOML)
    #[arg(value_name = "SUITE.toml")]
    pub suite: PathBuf,
    /// Record the results as the golden ones instead of comparing them
    #[arg(long)]
    pub bless: bool,
    /// Entries with such names alone; may be given several times
    #[arg(long, value_name = "PATTERN")]
    pub only: Vec<String>,
    /// Threads; the answer does not depend on them; default: one per core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub threads: Option<u16>,
    /// Show all differences in the table
    #[arg(long)]
    pub all: bool,
    /// One JSON document on stdout instead of a table
    #[arg(long)]
    pub json: bool,
    /// Write the XML of `JUnit`: a case for each entry
    #[arg(long, value_name = "FILE.xml")]
    pub junit: Option<PathBuf>,
    /// Write a page whose table sorts itself
    #[arg(long, value_name = "FILE.html")]
    pub html: Option<PathBuf>,
    /// No messages on stderr but errors
    #[arg(short, long)]
    pub quiet: bool,
}

/// `feeler diff`.
#[derive(Debug, Args)]
pub struct Diff {
    /// The old version: .feeler, or STEP to be prepared in memory, or a folder of such files
    #[arg(value_name = "OLD")]
    pub old: PathBuf,
    /// The new version
    #[arg(value_name = "NEW")]
    pub new: PathBuf,
    /// Positions and lengths (mm) that differ by less are equal
    #[arg(long, value_name = "MM", default_value_t = 1e-6, value_parser = non_negative)]
    pub tolerance: f64,
    /// Areas, volumes and inertia that differ by less than this part of them are equal
    #[arg(long, value_name = "PART", default_value_t = 1e-9, value_parser = non_negative)]
    pub relative: f64,
    /// How STEP files are read.
    #[command(flatten)]
    pub read: ReadArgs,
    /// Show all differences in the table
    #[arg(long)]
    pub all: bool,
    /// One JSON document on stdout instead of a table
    #[arg(long)]
    pub json: bool,
    /// Write a page whose table sorts itself
    #[arg(long, value_name = "FILE.html")]
    pub html: Option<PathBuf>,
    /// No messages on stderr but errors
    #[arg(short, long)]
    pub quiet: bool,
}

/// `feeler completions`.
#[derive(Debug, Args)]
pub struct Completions {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    pub shell: clap_complete::Shell,
}

/// `feeler man`.
#[derive(Debug, Args)]
pub struct Man {
    /// Folder for the pages; it is made if need be
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
}

fn finite(s: &str) -> Result<f64, String> {
    let x: f64 = s.trim().parse().map_err(|_| format!("'{s}' is not a number"))?;
    if x.is_finite() { Ok(x) } else { Err(format!("'{s}' is not finite; give a number")) }
}

fn non_negative(s: &str) -> Result<f64, String> {
    finite(s).and_then(|x| if x >= 0.0 { Ok(x) } else { Err(format!("'{s}' is negative; give 0 or more")) })
}

fn reach(s: &str) -> Result<f64, String> {
    if s.trim().eq_ignore_ascii_case("inf") { Ok(f64::INFINITY) } else { non_negative(s) }
}

fn positive(s: &str) -> Result<f64, String> {
    finite(s)
        .and_then(|x| if x > 0.0 { Ok(x) } else { Err(format!("'{s}' is not above 0; give a length in mm")) })
}

fn density(s: &str) -> Result<(String, f64), String> {
    // Names may have an equals sign, numbers have none.
    let (name, number) =
        s.rsplit_once('=').ok_or_else(|| format!("'{s}' has no '='; give NAME=KG_M3, as in bolt=7850"))?;
    match number.trim().parse::<f64>() {
        Ok(x) if x.is_finite() && x > 0.0 => Ok((name.to_owned(), x)),
        _ => Err(format!("'{number}' is no density; give a number of kg/m3 above 0, as in bolt=7850")),
    }
}

/// Millimetres in a unit.
pub(crate) fn unit(s: &str) -> Result<f64, String> {
    match s.trim().to_ascii_lowercase().as_str() {
        "um" => Ok(1e-3),
        "mm" => Ok(1.0),
        "cm" => Ok(10.0),
        "m" => Ok(1000.0),
        "in" | "inch" => Ok(25.4),
        "ft" | "foot" => Ok(304.8),
        other => match other.parse::<f64>() {
            Ok(mm) if mm.is_finite() && mm > 0.0 => Ok(mm),
            _ => Err(format!("'{s}' is no unit; give um, mm, cm, m, inch, ft, or the millimetres in one")),
        },
    }
}

fn quasi_angle(s: &str) -> Result<f64, String> {
    non_negative(s).and_then(|x| {
        if x <= std::f64::consts::FRAC_PI_4 { Ok(x) } else { Err(format!("'{s}' is above pi/4 (0.785) rad")) }
    })
}

fn flatness(s: &str) -> Result<f64, String> {
    finite(s).and_then(|x| {
        if (0.01..=1.5).contains(&x) { Ok(x) } else { Err(format!("'{s}' is outside 0.01 ..= 1.5 rad")) }
    })
}
