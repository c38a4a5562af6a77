//! Tests of deformable bodies, as one program; `allocation` is separate, because it replaces the allocator.

#[expect(clippy::unwrap_used, reason = "the scenarios are valid")]
#[path = "../../examples/scenarios/mod.rs"]
mod scenarios;

mod contact;
mod elements;
mod hierarchy;
mod msh;
mod smooth;
