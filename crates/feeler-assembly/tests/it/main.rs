//! Tests of assemblies, as one program.

mod recut;
mod values;
