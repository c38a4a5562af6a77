//! Tests of the import of STEP files, as one program.

mod agreement;
mod assemblies;
mod corpus;
mod dialects;
mod external_names;
mod hidden;
mod profiles;
mod refusals;
mod routes;
mod syntax;
mod tessellated;
mod tips;
mod writer;
