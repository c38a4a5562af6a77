//! Tests of contacts of curves, as one program.

mod scene;
mod solids;
mod spring;
mod valleys;
mod vertices;
