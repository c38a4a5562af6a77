//! Contact of surfaces of facets with smooth shapes.
//!
//! | module | content |
//! |---|---|
//! | `minimum` | minima of the signed distance on edges and facets |
//! | `share` | potential of an edge or facet beyond that of its border |
//! | `search` | bounds of distances, contacts and their forces |

mod minimum;
mod search;
mod share;

pub(crate) use search::{SmoothContact, SmoothSearch};
