//! Errors of scenes and runs.

use feeler_assembly::AssemblyError;
use feeler_geom::pose::PoseError;
use feeler_grains::GrainError;
use feeler_hierarchy::whole::WriteError;
use feeler_particles::{FacetError, FillError, LawError, SimulationError};
use feeler_runtime::BodyError;
use feeler_view::mesh::MeshError;
use std::io;
use std::path::{Path, PathBuf};

/// Error of a scene, of its simulation or of the files of a run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PourError {
    /// The text is not TOML, or has keys that a scene does not have.
    #[error("the file is not a scene (docs/POUR.md describes scenes): {0}")]
    Syntax(toml::de::Error),
    /// The value of a key is not valid, or keys exclude each other.
    #[error("{key}: {problem}")]
    Value {
        /// Key in the scene file, or several keys.
        key: String,
        /// Fault of the value, and what to give instead.
        problem: String,
    },
    /// An error in a table, in a key, in a file or at a time of the run.
    #[error("{subject}: {error}")]
    Within {
        /// Table, key, file or time at which the error occurred.
        subject: String,
        /// The error itself.
        error: Box<Self>,
    },
    /// The parameters of a contact law are not valid.
    #[error(transparent)]
    Law(#[from] LawError),
    /// The simulation rejects a particle, a wall or a step.
    #[error(transparent)]
    Step(#[from] SimulationError),
    /// Particles do not fit in their region.
    #[error(transparent)]
    Fill(#[from] FillError),
    /// The triangles of a wall are not valid.
    #[error(transparent)]
    Facets(#[from] FacetError),
    /// A shape or a distribution of sizes is not valid.
    #[error(transparent)]
    Grain(#[from] GrainError),
    /// A pose is not valid.
    #[error(transparent)]
    Pose(#[from] PoseError),
    /// A solid cannot be queried.
    #[error(transparent)]
    Body(#[from] BodyError),
    /// The parts of a file cannot be placed.
    #[error(transparent)]
    Assembly(#[from] AssemblyError),
    /// A solid cannot be triangulated.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// A model cannot be imported.
    #[error("{0}")]
    Import(String),
    /// A file cannot be read.
    #[error("{}: cannot be read: {error}", path.display())]
    Read {
        /// File that cannot be read.
        path: PathBuf,
        /// Error of the operating system.
        error: io::Error,
    },
    /// A file or a folder cannot be written or removed.
    #[error("{}: cannot {action}: {error}", path.display())]
    Write {
        /// File or folder that cannot be written or removed.
        path: PathBuf,
        /// Attempted action: "write", "remove", …
        action: &'static str,
        /// Error of the operating system.
        error: io::Error,
    },
    /// Another run writes to the same folder.
    #[error("{}: another run writes to it; end that run, or give another folder", path.display())]
    Locked {
        /// File in the folder that the other run has locked.
        path: PathBuf,
    },
    /// A run cannot continue from its checkpoint.
    #[error("{}: {problem}", path.display())]
    Checkpoint {
        /// Path of the checkpoint.
        path: PathBuf,
        /// Why the run cannot continue from it.
        problem: CheckpointProblem,
    },
    /// A file of a run (the series or a frame) is shorter than at the checkpoint, is cut, or has another
    /// format.
    #[error("{}: {problem}; start the run over", path.display())]
    RunFile {
        /// Path of the file.
        path: PathBuf,
        /// Fault of the file, for a message that begins with the path.
        problem: String,
    },
}

/// Reason why a run cannot continue from a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointProblem {
    /// The hash of the checkpoint does not match its content.
    #[error("is damaged or not a checkpoint; start the run over")]
    Damaged,
    /// Another version of the program wrote the checkpoint.
    #[error("is of another version of this program; start the run over")]
    Version,
    /// The scene, a file that the scene names or the program has changed since the checkpoint.
    #[error(
        "is of another scene: the scene, a file that it names or the program has changed since; start the \
         run over, or write to another folder"
    )]
    OtherScene,
    /// The particles, sources or outlets in the checkpoint are not those of the scene.
    #[error("its particles, sources and outlets differ from those of the scene; start the run over")]
    Contents,
}

impl PourError {
    pub(crate) fn value(key: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Value { key: key.into(), problem: problem.into() }
    }

    pub(crate) fn write(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |error| Self::Write { path, action, error }
    }

    pub(crate) fn whole(path: &Path) -> impl FnOnce(WriteError) -> Self + use<> {
        let path = path.to_owned();
        move |e| Self::Write { path, action: e.action, error: e.source }
    }

    pub(crate) fn run_file(path: &Path, problem: impl Into<String>) -> Self {
        Self::RunFile { path: path.to_owned(), problem: problem.into() }
    }
}

/// Extension of results that adds to an error where it occurred.
pub(crate) trait Within<T> {
    /// Precedes the text of the error by a subject, such as a table or a file.
    fn within(self, subject: impl FnOnce() -> String) -> Result<T, PourError>;

    /// Precedes the text of the error by the name of a key of the scene file.
    fn in_key(self, key: &str) -> Result<T, PourError>;
}

impl<T, E: Into<PourError>> Within<T> for Result<T, E> {
    fn within(self, subject: impl FnOnce() -> String) -> Result<T, PourError> {
        self.map_err(|e| PourError::Within { subject: subject(), error: Box::new(e.into()) })
    }

    fn in_key(self, key: &str) -> Result<T, PourError> {
        self.within(|| key.to_owned())
    }
}

/// Returns [`PourError::Value`] from the enclosing function unless a condition is true.
macro_rules! ensure {
    ($condition:expr, $key:expr, $($problem:tt)+) => {
        let holds: bool = $condition;
        if !holds {
            return Err($crate::error::PourError::value($key, format!($($problem)+)));
        }
    };
}
pub(crate) use ensure;
