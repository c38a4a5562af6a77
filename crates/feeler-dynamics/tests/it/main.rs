//! Tests of rigid-body dynamics, as one program.

mod mechanisms;
mod motions;
