//! What somebody asks of the reading of a file.

/// What is asked of the reading of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reading {
    /// Whether surface models are read as well: closed ones as solids, open ones as sheets without thickness.
    pub open_shells: bool,
    /// Millimetres in one unit of length, whatever the file says: for files that say nothing, or something
    /// wrong.
    pub unit: Option<f64>,
}
