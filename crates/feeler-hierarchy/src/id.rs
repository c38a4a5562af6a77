//! Indices of the parts of a hierarchy, each with its own type so that they cannot be confused.

use serde::{Deserialize, Serialize};

/// Defines index types that differ in name only.
macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(pub u32);

        impl $name {
            /// Index of entry `n` of a list.
            ///
            /// # Panics
            /// If `n` is 2³² or more; no file contains that many entries.
            #[must_use]
            pub fn new(n: usize) -> Self {
                Self(feeler_geom::count::index(n))
            }

            /// Index into the list of all parts of this kind.
            #[must_use]
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}

ids! {
    /// Index of a supermaximal face.
    FaceId;
    /// Index of a supermaximal edge.
    EdgeId;
    /// Index of a vertex.
    VertexId;
    /// Index of an area.
    AreaId;
    /// Index of a node of a tree over areas.
    NodeId;
}
