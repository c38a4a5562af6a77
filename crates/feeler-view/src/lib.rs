//! Pictures of prepared solids: meshes of their exact patches, and what shows them.
//!
//! A [`picture::Picture`] is made of the shapes of solids and of scenes in which they stand; it becomes a
//! page that needs nothing beside it ([`page`]), or a glTF file ([`glb`]).

pub mod mesh;

#[cfg(feature = "page")]
pub mod glb;
#[cfg(feature = "page")]
pub mod markup;
#[cfg(feature = "page")]
mod pack;
#[cfg(feature = "page")]
pub mod page;
#[cfg(feature = "page")]
pub mod picture;
#[cfg(feature = "page")]
pub mod shape;
#[cfg(feature = "page")]
mod tube;
