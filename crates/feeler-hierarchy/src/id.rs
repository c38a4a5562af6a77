//! Indices into the lists of a hierarchy. Each list has its own index type, so that indices cannot be
//! confused.

use serde::{Deserialize, Serialize};

/// Defines index types that differ in name only.
macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(pub u32);

        impl $name {
            /// Creates the index of entry `n` of its list.
            ///
            /// # Panics
            /// Panics if `n` is 2³² or more; no file contains that many entries.
            #[must_use]
            pub fn new(n: usize) -> Self {
                Self(feeler_geom::count::index(n))
            }

            /// Returns the index as a `usize`, for its list in the hierarchy.
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
    /// Index of a supermaximal face in [`Hierarchy::faces`](crate::Hierarchy::faces).
    FaceId;
    /// Index of a supermaximal edge in [`Hierarchy::edges`](crate::Hierarchy::edges).
    EdgeId;
    /// Index of a vertex in [`Hierarchy::vertices`](crate::Hierarchy::vertices).
    VertexId;
    /// Index of an area in [`Hierarchy::areas`](crate::Hierarchy::areas).
    AreaId;
    /// Index of a node of the tree in [`Hierarchy::nodes`](crate::Hierarchy::nodes).
    NodeId;
}
