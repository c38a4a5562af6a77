//! Pictures of prepared solids: meshes of their exact patches.

pub mod mesh;
