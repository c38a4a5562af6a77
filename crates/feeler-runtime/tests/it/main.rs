//! Tests of queries between posed solids, as one program.

mod bad_input;
mod closed_forms;
mod common;
mod conformal;
mod far;
mod free_form;
mod interference;
mod near_contact;
mod overlap;
mod points;
mod pressed;
mod properties;
mod quasi_and_contact;
mod scene;
mod spindle;
mod verdict;
