//! Query options from keywords.

use feeler::QueryOptions;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Query options with `d_max` (mm) and the values of keyword arguments; all others are defaults.
pub(crate) fn read(d_max: f64, keywords: Option<&Bound<'_, PyDict>>) -> PyResult<QueryOptions> {
    let mut options = QueryOptions::within(d_max);
    for (name, value) in keywords.into_iter().flatten() {
        match name.extract::<&str>()? {
            "quasi_angle" => options.quasi_angle = value.extract()?,
            "dilation_a" => options.dilation_a = value.extract()?,
            "dilation_b" => options.dilation_b = value.extract()?,
            "parallel" => options.parallel = value.extract()?,
            "detect_interference" => options.detect_interference = value.extract()?,
            "verdict_unless_pressed" => options.verdict_unless_pressed = value.extract()?,
            "tolerance" => options.tolerance = value.extract()?,
            "penetration" => options.penetration = value.extract()?,
            "certified" => options.certified = value.extract()?,
            "load_bearing" => options.load_bearing = value.extract()?,
            "conformal_spacing" => options.conformal_spacing = value.extract()?,
            other => return Err(PyTypeError::new_err(format!("no option '{other}'"))),
        }
    }
    Ok(options)
}
