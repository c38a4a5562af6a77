//! All local minimal distances between two posed solids.
