//! Properties of public types that the documentation of the crate states.

use feeler::{Body, BodyError, Contact, ContactPair, Model, QueryError, QueryOptions, Scene, Verdict};

fn assert_send_and_sync<T: Send + Sync>() {}

#[test]
fn types_are_send_and_sync() {
    assert_send_and_sync::<Body>();
    assert_send_and_sync::<BodyError>();
    assert_send_and_sync::<ContactPair>();
    assert_send_and_sync::<Contact>();
    assert_send_and_sync::<Model>();
    assert_send_and_sync::<QueryError>();
    assert_send_and_sync::<QueryOptions>();
    assert_send_and_sync::<Scene>();
    assert_send_and_sync::<Verdict>();
    #[cfg(feature = "prepare")]
    assert_send_and_sync::<feeler::ImportError>();
}

#[test]
fn errors_report_the_missing_solid() {
    let model = Model { solids: Vec::new(), ..empty() };
    let error = Body::from_model(&model, 3).expect_err("an empty model");
    assert_eq!(error.to_string(), "the model has 0 distinct solids, numbered from 0; solid 3 does not exist");
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
