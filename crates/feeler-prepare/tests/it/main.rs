//! Tests of preparation, as one program.

mod common;
mod fixtures;
mod grouping;
