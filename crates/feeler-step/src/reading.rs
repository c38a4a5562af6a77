//! User options for reading a file.

/// Options that a user can set when a file is read.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reading {
    /// Whether surface models are read as well: closed ones as solids, open ones as sheets without
    /// thickness.
    pub open_shells: bool,
    /// Length unit in millimetres, which overrides the unit of the file; for files with a missing or
    /// wrong unit. `None` uses the unit of the file.
    pub unit: Option<f64>,
    /// Whether solids that the file hides (`INVISIBILITY`) are left out.
    pub skip_hidden: bool,
}
