//! Tests of the command line, as one program.

mod bad_input;
mod batch;
mod clearance;
mod commands;
mod common;
mod diff;
mod documents;
mod fits;
mod flush;
mod import_faults;
mod import_report;
mod mechanism;
mod packed;
mod pour;
mod regress;
mod reports;
mod sweep;
mod tessellate;
mod tolerance;
mod truck;
mod view;
