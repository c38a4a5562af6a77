//! What the crate's page says of threads.

use feeler::{Body, BodyError, Contact, ContactPair, Model, QueryError, QueryOptions, Scene, Verdict};

fn is_shared<T: Send + Sync>() {}

#[test]
fn all_types_may_be_sent_and_shared() {
    is_shared::<Body>();
    is_shared::<BodyError>();
    is_shared::<ContactPair>();
    is_shared::<Contact>();
    is_shared::<Model>();
    is_shared::<QueryError>();
    is_shared::<QueryOptions>();
    is_shared::<Scene>();
    is_shared::<Verdict>();
    #[cfg(feature = "prepare")]
    is_shared::<feeler::ImportError>();
}

#[test]
fn a_model_without_the_solid_is_named() {
    let model = Model { solids: Vec::new(), ..empty() };
    let error = Body::from_model(&model, 3).expect_err("there is none");
    assert_eq!(error.to_string(), "the model has 0 distinct solids, numbered from 0: no 3");
}

fn empty() -> Model {
    Model {
        input: String::new(),
        input_hash: 0,
        options: feeler_hierarchy::Options { flatness: 0.8 },
        solids: Vec::new(),
        instances: Vec::new(),
        components: Vec::new(),
        remarks: Vec::new(),
        origin: feeler_hierarchy::Origin { program: String::new(), references: Vec::new() },
    }
}
