//! Display of prepared solids: meshes of their exact patches, pages and glTF files.
//!
//! A [`picture::Picture`] consists of the shapes of solids and of scenes that place them. It is exported
//! as a self-contained page ([`page`]) or as a glTF file ([`glb`]).

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
