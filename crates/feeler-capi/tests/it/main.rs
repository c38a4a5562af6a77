//! Tests of the C interface, as one program.

mod border;
mod clearance;
mod curves;
mod exact_walls;
mod header;
mod names;
