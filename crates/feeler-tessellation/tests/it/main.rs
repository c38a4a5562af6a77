//! Tests of the fit of tessellations, as one program; `cells` is separate, because it measures times.

mod images;
mod mesh;
mod recovery;
