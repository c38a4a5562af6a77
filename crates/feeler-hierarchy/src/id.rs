//! Numbers of the parts of a hierarchy, each with its own type, so that none can stand for another.

use serde::{Deserialize, Serialize};

/// Defines numbers that differ in type only.
macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(pub u32);

        impl $name {
            /// That of the `n`-th one of a list.
            ///
            /// # Panics
            /// For 2³² and more, which no file holds.
            #[must_use]
            pub fn new(n: usize) -> Self {
                Self(feeler_geom::count::index(n))
            }

            /// Where it stands in the list of all.
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
    /// A supermaximal face.
    FaceId;
    /// A supermaximal edge.
    EdgeId;
    /// A vertex.
    VertexId;
    /// An area.
    AreaId;
    /// A node of a tree over areas.
    NodeId;
}
