//! Definition of the command line, which docs/INTERFACE.md describes under "Commands".

use clap::{Args, Parser, Subcommand};
use feeler_assembly::ToleranceChoice;
use feeler_tessellation::VoxelType;
use std::path::PathBuf;
use std::sync::LazyLock;

/// Text of `--version`: version and commit of the program, and version of the `.feeler` format.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let format = feeler_hierarchy::file::FORMAT_VERSION;
    format!("{} (commit {}, file format {format})", env!("CARGO_PKG_VERSION"), env!("FEELER_COMMIT"))
});

/// Exact contact and clearance between CAD solids
#[derive(Debug, Parser)]
#[command(name = "feeler", version = VERSION.as_str(), about, max_term_width = 100)]
pub struct Cli {
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t)]
    pub color: crate::color::Color,
    /// Command with its arguments.
    #[command(subcommand)]
    pub command: Command,
}

/// Commands of the program, with their arguments.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Convert STEP files, or folders of them, to .feeler files
    Preprocess(PreprocessArgs),
    /// Print the contents of a .feeler or STEP file
    Inspect(InspectArgs),
    /// Compute all local minimal distances of two posed solids, and whether they interfere
    Query(QueryArgs),
    /// Query two solids along a trajectory
    Sweep(SweepArgs),
    /// Check whether the parts of a mechanism stay free of each other as it moves
    Mechanism(MechanismArgs),
    /// Pour grains into walls from CAD: outflow, and forces on the walls
    Pour(PourArgs),
    /// Fit cells to the grains of a voxel image
    Tessellate(TessellateArgs),
    /// Write a self-contained page that shows solids and their minima, or a glTF file
    View(ViewArgs),
    /// Find the parts of assemblies that touch, interfere or come too close
    Clearance(ClearanceArgs),
    /// Compare models, verdicts and minima with recorded results
    Regress(RegressArgs),
    /// List the differences between two versions of a model, or of a folder of models
    Diff(DiffArgs),
    /// Write completions for a shell to stdout
    Completions(CompletionsArgs),
    /// Write the manual page to stdout, or one page for each command to a folder
    Man(ManArgs),
}

/// Options for reading STEP and STL files.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct ReadArgs {
    /// Also read surface models in STEP files and open meshes in STL files: closed ones as solids, open ones
    /// as sheets without thickness, whose two sides are boundaries
    #[arg(long)]
    pub open_shells: bool,
    /// Unit of the coordinates: um, mm, cm, m, inch, ft, or the number of millimetres in one unit; overrides
    /// the unit of STEP files, and is required for STL files
    #[arg(long, value_name = "UNIT", value_parser = feeler_import::parse_unit)]
    pub unit: Option<f64>,
    /// Leave out solids that STEP files hide (INVISIBILITY)
    #[arg(long)]
    pub skip_hidden: bool,
}

/// Form of the output.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct OutputArgs {
    /// Print a JSON document instead of a table
    #[arg(long)]
    pub json: bool,
    /// Print only errors on stderr
    #[arg(short, long)]
    pub quiet: bool,
}

/// Number of threads, for commands that process many pairs or grains.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct ThreadArgs {
    /// Number of threads; the results do not depend on it [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub threads: Option<u16>,
}

impl ReadArgs {
    /// Converts the options to those of the importer.
    #[must_use]
    pub fn reading(self) -> feeler_import::Reading {
        feeler_import::Reading {
            open_shells: self.open_shells,
            unit: self.unit,
            skip_hidden: self.skip_hidden,
        }
    }
}

/// `feeler preprocess`.
#[derive(Debug, Default, Args)]
pub struct PreprocessArgs {
    /// STEP files, also compressed by gzip (*.stpz, *.step.gz) or ZIP; STL files (*.stl), with --unit;
    /// folders, which are searched for *.step, *.stp, *.p21 and *.stpz; or `-` for standard input
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,
    /// Output file (for one input) or folder, which is created if necessary and mirrors input folders
    /// [default: NAME.feeler beside each input]
    #[arg(short, long, value_name = "FILE or DIR")]
    pub output: Option<PathBuf>,
    /// Largest apex angle (rad) of the normals within one area; a smaller angle gives more and tighter areas
    #[arg(long, value_name = "RAD", value_parser = flatness)]
    #[arg(default_value_t = feeler_import::DEFAULT_FLATNESS)]
    pub flatness: f64,
    /// Options for reading STEP files.
    #[command(flatten)]
    pub read: ReadArgs,
    /// Number of files prepared at the same time [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// Memory for files prepared at the same time, as estimated from their sizes; a file that needs more is
    /// prepared alone [default: three quarters of the free memory]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1 << 40))]
    pub memory: Option<u64>,
    /// Delete the files of the output folder whose inputs no longer exist; without this option they are
    /// listed
    #[arg(long)]
    pub prune: bool,
    /// Inputs that are expected to fail, one path or pattern per line; their failure does not count, but
    /// their success does
    #[arg(long, value_name = "FILE")]
    pub expect: Option<PathBuf>,
    /// Also prepare inputs whose output is up to date (same bytes, options and version of feeler)
    #[arg(long)]
    pub force: bool,
    /// Also write the JSON document to a file
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Write a page with the result and the remarks of each input
    #[arg(long, value_name = "FILE.html")]
    pub html: Option<PathBuf>,
    /// Format (table or JSON) and verbosity of the output.
    #[command(flatten)]
    pub form: OutputArgs,
}

/// `feeler inspect`.
#[derive(Debug, Args)]
pub struct InspectArgs {
    /// A .feeler file, or a STEP file, which is prepared in memory; `-` for standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Density (kg/m³) of the solids with this name, path or number, or `*` for all other solids; adds masses
    /// (kg) and inertia (kg·mm²); may be repeated
    #[arg(long, value_name = "NAME=KG_M3", value_parser = density)]
    pub density: Vec<(String, f64)>,
    /// Options for reading STEP files.
    #[command(flatten)]
    pub read: ReadArgs,
    /// Print a JSON document instead of a table
    #[arg(long)]
    pub json: bool,
}

/// Two solids and the options of their queries.
#[derive(Debug, Args)]
pub struct PairArgs {
    /// First file: .feeler, or STEP, which is prepared in memory; `-` for standard input
    #[arg(value_name = "A")]
    pub a: PathBuf,
    /// Second file, like A
    #[arg(value_name = "B")]
    pub b: PathBuf,
    /// Report minima up to this distance (mm); `inf` for all
    #[arg(long, value_name = "MM", value_parser = reach)]
    pub d_max: f64,
    /// Solid of A: number (as listed by `inspect`), name or path; required if A has several solids
    #[arg(long, value_name = "S")]
    pub solid_a: Option<String>,
    /// Solid of B, selected like that of A
    #[arg(long, value_name = "S")]
    pub solid_b: Option<String>,
    /// Lengths below this (mm) count as zero: solids nearer than this touch, and solids without a deeper
    /// common point do not interfere. `file`: the larger uncertainty that their files state [default: 1e-7 of
    /// the larger solid's diagonal; coarser if that leaves the solids undecided]
    #[arg(long, value_name = "MM", value_parser = tolerance)]
    pub tolerance: Option<ToleranceChoice>,
    /// Also report contacts at negative distances, down to this depth (mm); less than half the sum of the
    /// minimum thicknesses of both solids
    #[arg(long, value_name = "MM", default_value_t = 0.0, value_parser = non_negative)]
    pub penetration: f64,
    /// Also report quasi-minima: dilate the polars of edges and vertices by this angle (rad, at most pi/4)
    #[arg(long, value_name = "RAD", default_value_t = 0.0, value_parser = quasi_angle)]
    pub quasi_angle: f64,
    /// Implicit thickness of A (mm), which is subtracted from `gap`; may be negative
    #[arg(long, value_name = "MM", default_value_t = 0.0, value_parser = finite, allow_hyphen_values = true)]
    pub dilation_a: f64,
    /// Implicit thickness of B (mm), which is subtracted from `gap`; may be negative
    #[arg(long, value_name = "MM", default_value_t = 0.0, value_parser = finite, allow_hyphen_values = true)]
    pub dilation_b: f64,
    /// Largest spacing (mm) of the samples of a conformal contact [default: a quarter of its extent]
    #[arg(long, value_name = "MM", value_parser = positive)]
    pub conformal_spacing: Option<f64>,
    /// Number of threads of one query; the results do not depend on it
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=256))]
    pub threads: u16,
    /// Solve all pairs of features without hierarchies; slow, for testing
    #[arg(long)]
    pub brute_force: bool,
    /// Show only the N nearest minima
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
    /// Options for reading STEP files.
    #[command(flatten)]
    pub read: ReadArgs,
    /// Prove that every minimum on a free-form surface or curve was found, or report the undecided ones
    #[arg(long)]
    pub certified: bool,
    /// Format (table or JSON) and verbosity of the output.
    #[command(flatten)]
    pub form: OutputArgs,
}

/// `feeler query`.
#[derive(Debug, Args)]
pub struct QueryArgs {
    /// The two solids and the options of their query.
    #[command(flatten)]
    pub pair: PairArgs,
    /// Motion of A from its position in the file: tx,ty,tz (mm), tx,ty,tz,qx,qy,qz,qw, or @FILE with seven
    /// such numbers or a 4x4 matrix
    #[arg(long, value_name = "POSE", default_value = "0,0,0", allow_hyphen_values = true)]
    pub pose_a: String,
    /// Motion of B from its position in the file, in the form of --pose-a
    #[arg(long, value_name = "POSE", default_value = "0,0,0", allow_hyphen_values = true)]
    pub pose_b: String,
    /// Report the curves in which interfering solids cross, as polylines that deviate from the curves by at
    /// most CHORD (mm)
    #[arg(long, value_name = "CHORD", value_parser = positive)]
    pub curves: Option<f64>,
    /// Measure the common part of interfering solids: its volume (mm³), its centroid (mm, world), and its
    /// axis-aligned bounding box (mm, world)
    #[arg(long)]
    pub volume: bool,
}

/// `feeler sweep`.
#[derive(Debug, Args)]
pub struct SweepArgs {
    /// The two solids and the options of their queries.
    #[command(flatten)]
    pub pair: PairArgs,
    /// File with the poses of B, and of A if it moves:
    /// `{"unit":"mm","dt":S,"poses_b":[[tx,ty,tz,qx,qy,qz,qw],…],"poses_a":[…]}`
    #[arg(long, value_name = "FILE", required_unless_present = "joint", conflicts_with = "joint")]
    pub trajectory: Option<PathBuf>,
    /// Rotate B about an axis (--turn), move it along the axis (--slide), or both; the axis is given by a
    /// point on it (mm) and its direction: X,Y,Z,DX,DY,DZ
    #[arg(long, value_name = "AXIS", allow_hyphen_values = true)]
    pub joint: Option<String>,
    /// Range of the joint's angle (degrees): FROM,TO
    #[arg(long, value_name = "DEG", allow_hyphen_values = true, requires = "joint")]
    pub turn: Option<String>,
    /// Range of the joint's translation along its axis (mm), traversed together with the angle: FROM,TO
    #[arg(long, value_name = "MM", allow_hyphen_values = true, requires = "joint")]
    pub slide: Option<String>,
    /// Number of steps of the joint
    #[arg(long, value_name = "N", default_value_t = 100, requires = "joint")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub steps: u32,
    /// Also prove that the solids stay free between the steps, or report the time of first contact; poses are
    /// joined by screw motions
    #[arg(long)]
    pub proof: bool,
    /// With --proof, allow contact: prove that the solids nowhere penetrate deeper than two tolerances, or
    /// report the time of the first penetration
    #[arg(long, requires = "proof")]
    pub allow_touching: bool,
    /// Discard all cached results between steps
    #[arg(long)]
    pub cold: bool,
    /// Write a page that plays the sweep
    #[arg(long, value_name = "FILE.html")]
    pub html: Option<PathBuf>,
    /// Plot the time, the number of minima and the smallest distance of each step
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<PathBuf>,
}

/// `feeler mechanism`.
#[derive(Debug, Args)]
pub struct MechanismArgs {
    /// Links, joints (or a URDF) and their motion: see docs/INTERFACE.md, "Mechanisms"
    #[arg(value_name = "FILE.toml")]
    pub file: PathBuf,
    /// Number of poses at which margins are measured, evenly over the motion
    #[arg(long, value_name = "N", default_value_t = 100)]
    #[arg(value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    pub steps: u32,
    /// Measure margins up to this distance (mm)
    #[arg(long, value_name = "MM", default_value_t = 10.0, value_parser = positive)]
    pub d_max: f64,
    /// Parts within this distance (mm) count as in contact
    #[arg(long, value_name = "MM", default_value_t = 0.0, value_parser = non_negative)]
    pub distance: f64,
    /// Parts may touch: prove that they nowhere penetrate deeper than two tolerances between the steps,
    /// or report the time of the first penetration
    #[arg(long, conflicts_with_all = ["distance", "no_proof", "grid"])]
    pub allow_touching: bool,
    /// Lengths below this (mm) count as zero, at the steps and between them. `file`: the larger uncertainty
    /// that the files of two parts state [default: 1e-7 of the larger part's diagonal; at steps coarser if
    /// that leaves the parts undecided]
    #[arg(long, value_name = "MM", value_parser = tolerance)]
    pub tolerance: Option<ToleranceChoice>,
    /// Measure only at the steps, without a proof for the motion between them
    #[arg(long)]
    pub no_proof: bool,
    /// Instead of the motion, measure all combinations of N values of each joint that has limits
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub grid: Option<u32>,
    /// Plot the margin over time
    #[arg(long, value_name = "FILE.svg", conflicts_with = "grid")]
    pub plot: Option<PathBuf>,
    /// Write a page that plays the motion
    #[arg(long, value_name = "FILE.html", conflicts_with = "grid")]
    pub html: Option<PathBuf>,
    /// Write the margin (smallest distance of any pair) at each step, and its pair, as CSV
    #[arg(long, value_name = "FILE.csv", conflicts_with = "grid")]
    pub csv: Option<PathBuf>,
    /// Options for reading STEP files.
    #[command(flatten)]
    pub read: ReadArgs,
    /// Number of threads.
    #[command(flatten)]
    pub threads: ThreadArgs,
    /// Format (table or JSON) and verbosity of the output.
    #[command(flatten)]
    pub form: OutputArgs,
}

/// `feeler pour`.
#[derive(Debug, Args)]
pub struct PourArgs {
    /// Walls, grains, contact laws and times: see docs/POUR.md
    #[arg(value_name = "SCENE.toml")]
    pub scene: PathBuf,
    /// Output folder, which is created if necessary [default: a folder beside the scene, with its name]
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Start over instead of continuing from the checkpoint in the output folder
    #[arg(long)]
    pub fresh: bool,
    /// Count the pairs that the search for contacts excludes, tracks and searches, for the JSON document;
    /// `all` also searches those that bounds of distances exclude, to measure what the bounds save
    #[arg(long, value_name = "used or all")]
    pub count_searches: Option<SearchArg>,
    /// Plot flow, masses and kinetic energy over time
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<PathBuf>,
    /// Write a page that plays the run
    #[arg(long, value_name = "FILE.html")]
    pub html: Option<PathBuf>,
    /// Number of threads.
    #[command(flatten)]
    pub threads: ThreadArgs,
    /// Format (table or JSON) and verbosity of the output.
    #[command(flatten)]
    pub form: OutputArgs,
}

/// Which pairs `feeler pour --count-searches` searches for contacts.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum SearchArg {
    /// Those that bounds of distances do not exclude.
    Used,
    /// All of them.
    All,
}

/// `feeler tessellate`.
#[derive(Debug, Args)]
pub struct TessellateArgs {
    /// Image whose voxels have the labels of grains: .nrrd, .nhdr, .tif, .raw, or a folder of .tif slices;
    /// label 0 marks voxels outside all grains
    #[arg(value_name = "IMAGE")]
    pub image: PathBuf,
    /// File of the cells to write: .vtu (VTK), .stl or .geo (gmsh); can be given several times
    #[arg(short, long, value_name = "FILE.vtu, FILE.stl or FILE.geo")]
    pub output: Vec<PathBuf>,
    /// Number of voxels along each axis of a raw file, the fastest axis first
    #[arg(long, value_name = "NX,NY,NZ", value_parser = voxel_size)]
    pub size: Option<[u64; 3]>,
    /// Type of the voxels of a raw file: u8, i8, u16, i16, u32, i32, u64, i64, f32 or f64
    #[arg(long = "type", value_name = "TYPE", default_value = "u8")]
    pub voxel_type: VoxelType,
    /// The highest byte of a voxel in a raw file comes first
    #[arg(long)]
    pub big_endian: bool,
    /// Edge lengths of a voxel [default: those of the file, otherwise 1]
    #[arg(long, value_name = "S or SX,SY,SZ", value_parser = voxel_spacing)]
    pub spacing: Option<[f64; 3]>,
    /// Axes along which the image repeats, such as xyz
    #[arg(long, value_name = "AXES", default_value = "", hide_default_value = true, value_parser = axes)]
    pub periodic: Axes,
    /// Fit ordinary Voronoi cells, without weights
    #[arg(long)]
    pub voronoi: bool,
    /// Fit without derivatives, site by site; slower
    #[arg(long)]
    pub derivative_free: bool,
    /// End the fit when an iteration decreases the root mean square distance by less than this, in mean grain
    /// diameters
    #[arg(long, value_name = "X", default_value_t = 1e-6, value_parser = positive_number)]
    pub tolerance: f64,
    /// Maximum number of iterations; if it is reached, the exit status is 1
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub max_iterations: u64,
    /// Merge edges shorter than this, in the unit of the image, before the cells are written
    #[arg(long, value_name = "LENGTH", value_parser = positive_number)]
    pub min_edge: Option<f64>,
    /// Page to look at: cells that can be picked and moved apart, short edges before and after --min-edge
    #[arg(long, value_name = "FILE.html")]
    pub html: Option<PathBuf>,
    /// Save the state of the fit in this file after each iteration, and continue from it if it exists
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// Number of threads.
    #[command(flatten)]
    pub threads: ThreadArgs,
    /// Format (table or JSON) and verbosity of the output.
    #[command(flatten)]
    pub form: OutputArgs,
}

/// Set of axes, as flags for x, y and z.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Axes(pub [bool; 3]);

/// `feeler view`.
#[derive(Debug, Args)]
pub struct ViewArgs {
    /// Models: .feeler, or STEP, which is prepared in memory
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Page to write, or a binary glTF file
    #[arg(short, long, value_name = "FILE.html or FILE.glb")]
    pub output: PathBuf,
    /// Largest distance (mm) between triangles and solid [default: 1/2000 of the diagonal of each solid]
    #[arg(long, value_name = "MM", value_parser = positive)]
    pub chord: Option<f64>,
    /// Measure local minimal distances of pairs of parts up to this length (mm), and show them in the page
    #[arg(long, value_name = "MM", default_value_t = 1.0, value_parser = positive)]
    pub d_max: f64,
    /// Play the output of `sweep --json` for the two files
    #[arg(long, value_name = "RESULT.json")]
    pub sweep: Option<PathBuf>,
    /// Include the runtime in the page, so that parts can be dragged and any two parts can be measured; DIR
    /// is the package for web pages
    #[arg(long, value_name = "DIR")]
    pub live: Option<PathBuf>,
    /// Omit boxes, cones and leaf areas, for a smaller page
    #[arg(long)]
    pub plain: bool,
    /// Move all solids of file number N (counted from 0) by a pose as for `query`; may be repeated
    #[arg(long, value_name = "N=POSE")]
    pub pose: Vec<String>,
    /// Options for reading STEP files.
    #[command(flatten)]
    pub read: ReadArgs,
    /// Print only errors on stderr
    #[arg(short, long)]
    pub quiet: bool,
}

/// `feeler clearance`.
#[derive(Debug, Args)]
pub struct ClearanceArgs {
    /// Assemblies or parts: .feeler, or STEP, which is prepared in memory; all parts of all files are checked
    /// against each other
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Measure pairs of parts up to this distance (mm) [default: the largest `min` of the rules, or 1]
    #[arg(long, value_name = "MM", value_parser = positive)]
    pub d_max: Option<f64>,
    /// Rules for pairs of parts: see docs/INTERFACE.md, "clearance"; without rules, only interference is a
    /// finding
    #[arg(long, value_name = "FILE.toml")]
    pub rules: Option<PathBuf>,
    /// Exclude the pairs with a part of this name or path, or with two such parts; may be repeated
    #[arg(long, value_name = "A or A=B")]
    pub ignore: Vec<String>,
    /// Check only the pairs with a part of this name or path, or with two such parts; may be repeated
    #[arg(long, value_name = "A or A=B")]
    pub only: Vec<String>,
    /// Move all solids of file number N (counted from 0) by a pose as for `query`; may be repeated
    #[arg(long, value_name = "N=POSE")]
    pub pose: Vec<String>,
    /// Lengths below this (mm) count as zero. `file`: the larger uncertainty that the files of two parts
    /// state [default: 1e-7 of the larger part's diagonal; coarser if that leaves the parts undecided]
    #[arg(long, value_name = "MM", value_parser = tolerance)]
    pub tolerance: Option<ToleranceChoice>,
    /// Options for reading STEP files.
    #[command(flatten)]
    pub read: ReadArgs,
    /// Measure the common parts of all interfering pairs: volume, centroid and box
    #[arg(long)]
    pub volume: bool,
    /// Known findings, which do not fail the check
    #[arg(long, value_name = "FILE.json")]
    pub baseline: Option<PathBuf>,
    /// Write all findings to the file of --baseline, as known ones; exit status 0
    #[arg(long)]
    pub bless: bool,
    /// Number of threads.
    #[command(flatten)]
    pub threads: ThreadArgs,
    /// Show all measured pairs in the table
    #[arg(long)]
    pub all: bool,
    /// Write all measured pairs as CSV
    #[arg(long, value_name = "FILE.csv")]
    pub csv: Option<PathBuf>,
    /// Write `JUnit` XML, with a test case for each pair that has a finding or is decided by a rule
    #[arg(long, value_name = "FILE.xml")]
    pub junit: Option<PathBuf>,
    /// Write an HTML page with a sortable table of the pairs and a 3D view of the parts
    #[arg(long, value_name = "FILE.html")]
    pub html: Option<PathBuf>,
    /// Format (table or JSON) and verbosity of the output.
    #[command(flatten)]
    pub form: OutputArgs,
}

/// `feeler regress`.
#[derive(Debug, Args)]
pub struct RegressArgs {
    /// Models and pairs to compare, and tolerances: see docs/INTERFACE.md, "regress"
    #[arg(value_name = "SUITE.toml")]
    pub suite: PathBuf,
    /// Record the results as golden results instead of comparing them; exit status 0
    #[arg(long)]
    pub bless: bool,
    /// Run only entries whose names match; may be repeated
    #[arg(long, value_name = "PATTERN")]
    pub only: Vec<String>,
    /// Number of threads.
    #[command(flatten)]
    pub threads: ThreadArgs,
    /// Show all differences in the table
    #[arg(long)]
    pub all: bool,
    /// Write `JUnit` XML, with a test case for each entry
    #[arg(long, value_name = "FILE.xml")]
    pub junit: Option<PathBuf>,
    /// Write an HTML page with a sortable table of the differences and a 3D view of the models
    #[arg(long, value_name = "FILE.html")]
    pub html: Option<PathBuf>,
    /// Format (table or JSON) and verbosity of the output.
    #[command(flatten)]
    pub form: OutputArgs,
}

/// `feeler diff`.
#[derive(Debug, Args)]
pub struct DiffArgs {
    /// Old version: .feeler, or STEP, which is prepared in memory, or a folder of such files
    #[arg(value_name = "OLD")]
    pub old: PathBuf,
    /// New version, in the same form
    #[arg(value_name = "NEW")]
    pub new: PathBuf,
    /// Ignore differences of positions and lengths below this value (mm)
    #[arg(long, value_name = "MM", default_value_t = 1e-6, value_parser = non_negative)]
    pub tolerance: f64,
    /// Ignore relative differences of areas, volumes and inertia below this value
    #[arg(long, value_name = "PART", default_value_t = 1e-9, value_parser = non_negative)]
    pub relative: f64,
    /// Do not measure the volumes by which solids differ, which takes most of the time of solids with many
    /// faces
    #[arg(long)]
    pub skip_volumes: bool,
    /// Options for reading STEP files.
    #[command(flatten)]
    pub read: ReadArgs,
    /// Show all differences in the table
    #[arg(long)]
    pub all: bool,
    /// Write an HTML page with a sortable table of the differences and a 3D view of both versions
    #[arg(long, value_name = "FILE.html")]
    pub html: Option<PathBuf>,
    /// Format (table or JSON) and verbosity of the output.
    #[command(flatten)]
    pub form: OutputArgs,
}

/// `feeler completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// Shell
    #[arg(value_name = "SHELL", value_enum)]
    pub shell: clap_complete::Shell,
}

/// `feeler man`.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// Folder for the pages, which is created if necessary
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

fn tolerance(s: &str) -> Result<ToleranceChoice, String> {
    if s == "file" {
        return Ok(ToleranceChoice::Stated);
    }
    let length = positive(s).map_err(|e| format!("{e}, or `file`"))?;
    Ok(ToleranceChoice::Length(length))
}

fn positive(s: &str) -> Result<f64, String> {
    let x = finite(s)?;
    if x > 0.0 { Ok(x) } else { Err(format!("'{s}' is not above 0; give a length above 0 mm")) }
}

fn positive_number(s: &str) -> Result<f64, String> {
    let x = finite(s)?;
    if x > 0.0 { Ok(x) } else { Err(format!("'{s}' is not above 0")) }
}

/// Parses one number, which stands for three equal ones, or three numbers separated by commas.
fn three<T: std::str::FromStr + Copy>(s: &str, is_valid: impl Fn(&T) -> bool) -> Option<[T; 3]> {
    let parsed: Option<Vec<T>> = s.split(',').map(|t| t.trim().parse().ok().filter(&is_valid)).collect();
    match parsed?[..] {
        [x] => Some([x; 3]),
        [x, y, z] => Some([x, y, z]),
        _ => None,
    }
}

fn voxel_size(s: &str) -> Result<[u64; 3], String> {
    let size = three(s, |n: &u64| *n > 0);
    size.ok_or_else(|| {
        format!("'{s}' is not a size; give the numbers of voxels along three axes, such as 64,64,32")
    })
}

fn voxel_spacing(s: &str) -> Result<[f64; 3], String> {
    let spacing = three(s, |x: &f64| *x > 0.0 && x.is_finite());
    spacing.ok_or_else(|| {
        format!("'{s}' is not a spacing; give one or three lengths above 0, such as 0.5 or 1,1,2")
    })
}

fn axes(s: &str) -> Result<Axes, String> {
    let mut out = Axes::default();
    for c in s.chars() {
        match "xyz".find(c.to_ascii_lowercase()) {
            Some(k) => out.0[k] = true,
            None => return Err(format!("'{c}' is not an axis; give x, y and z, such as xyz")),
        }
    }
    Ok(out)
}

fn density(s: &str) -> Result<(String, f64), String> {
    // Names may contain an equals sign, but numbers do not.
    let (name, number) =
        s.rsplit_once('=').ok_or_else(|| format!("'{s}' has no '='; give NAME=KG_M3, such as bolt=7850"))?;
    match number.trim().parse::<f64>() {
        Ok(x) if x.is_finite() && x > 0.0 => Ok((name.to_owned(), x)),
        _ => Err(format!("'{number}' is not a density; give kg/m3 above 0, such as bolt=7850")),
    }
}

fn quasi_angle(s: &str) -> Result<f64, String> {
    let x = non_negative(s)?;
    if x <= std::f64::consts::FRAC_PI_4 {
        Ok(x)
    } else {
        Err(format!("'{s}' is above pi/4 (0.785) rad; give a smaller angle"))
    }
}

fn flatness(s: &str) -> Result<f64, String> {
    finite(s).and_then(|x| {
        if (0.01..=1.5).contains(&x) { Ok(x) } else { Err(format!("'{s}' is not between 0.01 and 1.5 rad")) }
    })
}
