//! The flat records of the C library as numpy's structured types.

use feeler_c::{
    FeelerContact, FeelerCurveContact, FeelerEvent, FeelerSceneContact, FeelerStepContact, FeelerTightBend,
    FeelerTrackedPair, FeelerWallContact,
};
use numpy::{Element, PyArray1, PyArrayDescr};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList};
use std::mem::offset_of;

/// A minimum.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contact(pub(crate) FeelerContact);

/// A minimum of a pair of bodies of a scene.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct SceneContact(pub(crate) FeelerSceneContact);

/// What became of a contact.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event(pub(crate) FeelerEvent);

/// A minimum of a scene of curves.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct CurveContact(pub(crate) FeelerCurveContact);

/// A stretch of a curve of a scene that is bent too much.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct TightBend(pub(crate) FeelerTightBend);

/// A stretch of one curve that is bent too much: of which need not be said.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct CurveBend(pub(crate) FeelerTightBend);

/// A place where a particle and a wall are near.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct WallContact(pub(crate) FeelerWallContact);

/// A contact of the set of a step.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepContact(pub(crate) FeelerStepContact);

/// A near pair of solids of a scene.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct TrackedPair(pub(crate) FeelerTrackedPair);

/// A type with members at given places.
fn dtype<'py>(
    py: Python<'py>,
    fields: &[(&str, &str, usize)],
    size: usize,
) -> PyResult<Bound<'py, PyArrayDescr>> {
    let of = PyDict::new(py);
    let of_all = |k: fn(&(&str, &str, usize)) -> String| PyList::new(py, fields.iter().map(k));
    of.set_item("names", of_all(|f| f.0.to_owned())?)?;
    of.set_item("formats", of_all(|f| f.1.to_owned())?)?;
    of.set_item("offsets", PyList::new(py, fields.iter().map(|f| f.2))?)?;
    of.set_item("itemsize", size)?;
    PyArrayDescr::new(py, of)
}

fn contact_fields(first: usize) -> Vec<(&'static str, &'static str, usize)> {
    let mut fields = vec![
        ("distance", "<f8", offset_of!(FeelerContact, distance)),
        ("gap", "<f8", offset_of!(FeelerContact, gap)),
        ("point_a", "(3,)<f8", offset_of!(FeelerContact, point_a)),
        ("point_b", "(3,)<f8", offset_of!(FeelerContact, point_b)),
        ("local_a", "(3,)<f8", offset_of!(FeelerContact, local_a)),
        ("local_b", "(3,)<f8", offset_of!(FeelerContact, local_b)),
        ("normal", "(3,)<f8", offset_of!(FeelerContact, normal)),
        ("curvature_a", "(2,)<f8", offset_of!(FeelerContact, curvature_a)),
        ("curvature_b", "(2,)<f8", offset_of!(FeelerContact, curvature_b)),
        ("id", "<u8", offset_of!(FeelerContact, id)),
        ("age", "<u4", offset_of!(FeelerContact, age)),
        ("kind", "u1", offset_of!(FeelerContact, kind)),
        ("undecided", "?", offset_of!(FeelerContact, undecided)),
    ];
    let feature = |of: usize, names: [&'static str; 4]| {
        use feeler_c::FeelerFeature as F;
        [
            (names[0], "<u4", of + offset_of!(F, kind)),
            (names[1], "<u4", of + offset_of!(F, index)),
            (names[2], "<u8", of + offset_of!(F, source)),
            (names[3], "(2,)<f8", of + offset_of!(F, uv)),
        ]
    };
    let a = ["feature_kind_a", "feature_a", "source_a", "uv_a"];
    let b = ["feature_kind_b", "feature_b", "source_b", "uv_b"];
    fields.extend(feature(offset_of!(FeelerContact, feature_a), a));
    fields.extend(feature(offset_of!(FeelerContact, feature_b), b));
    fields.iter_mut().for_each(|f| f.2 += first);
    fields
}

fn once<'py>(
    py: Python<'py>,
    cell: &'static PyOnceLock<Py<PyArrayDescr>>,
    make: impl FnOnce() -> PyResult<Bound<'py, PyArrayDescr>>,
) -> PyResult<Bound<'py, PyArrayDescr>> {
    Ok(cell.get_or_try_init(py, || make().map(Bound::unbind))?.bind(py).clone())
}

pub(crate) fn contact_dtype(py: Python<'_>) -> PyResult<Bound<'_, PyArrayDescr>> {
    static CELL: PyOnceLock<Py<PyArrayDescr>> = PyOnceLock::new();
    once(py, &CELL, || dtype(py, &contact_fields(0), size_of::<FeelerContact>()))
}

pub(crate) fn scene_contact_dtype(py: Python<'_>) -> PyResult<Bound<'_, PyArrayDescr>> {
    static CELL: PyOnceLock<Py<PyArrayDescr>> = PyOnceLock::new();
    once(py, &CELL, || {
        let mut fields = vec![
            ("bodies", "(2,)<u4", offset_of!(FeelerSceneContact, bodies)),
            ("parts", "(2,)<u4", offset_of!(FeelerSceneContact, parts)),
        ];
        fields.extend(contact_fields(offset_of!(FeelerSceneContact, contact)));
        dtype(py, &fields, size_of::<FeelerSceneContact>())
    })
}

pub(crate) fn event_dtype(py: Python<'_>) -> PyResult<Bound<'_, PyArrayDescr>> {
    static CELL: PyOnceLock<Py<PyArrayDescr>> = PyOnceLock::new();
    once(py, &CELL, || {
        let fields = [
            ("bodies", "(2,)<u4", offset_of!(FeelerEvent, bodies)),
            ("parts", "(2,)<u4", offset_of!(FeelerEvent, parts)),
            ("id", "<u8", offset_of!(FeelerEvent, id)),
            ("contact", "<i8", offset_of!(FeelerEvent, contact)),
            ("kind", "<u4", offset_of!(FeelerEvent, kind)),
        ];
        dtype(py, &fields, size_of::<FeelerEvent>())
    })
}

pub(crate) fn curve_contact_dtype(py: Python<'_>) -> PyResult<Bound<'_, PyArrayDescr>> {
    static CELL: PyOnceLock<Py<PyArrayDescr>> = PyOnceLock::new();
    once(py, &CELL, || {
        use FeelerCurveContact as C;
        let fields = [
            ("kind", "<u4", offset_of!(C, kind)),
            ("curve", "<u4", offset_of!(C, curve)),
            ("other", "<u4", offset_of!(C, other)),
            ("part", "<u4", offset_of!(C, part)),
            ("u", "(2,)<f8", offset_of!(C, u)),
            ("point_a", "(3,)<f8", offset_of!(C, point_a)),
            ("point_b", "(3,)<f8", offset_of!(C, point_b)),
            ("normal", "(3,)<f8", offset_of!(C, normal)),
            ("distance", "<f8", offset_of!(C, distance)),
            ("gap", "<f8", offset_of!(C, gap)),
            ("place", "(2,)<u4", offset_of!(C, place)),
            // -1 where there is none: the same bits as the largest number without a sign.
            ("feature_kind", "<i4", offset_of!(C, feature_kind)),
            ("feature", "<i4", offset_of!(C, feature)),
            ("set", "<i4", offset_of!(C, set)),
            ("id", "<u8", offset_of!(C, id)),
        ];
        dtype(py, &fields, size_of::<C>())
    })
}

fn bend_fields() -> [(&'static str, &'static str, usize); 4] {
    use FeelerTightBend as B;
    [
        ("curve", "<u4", offset_of!(B, curve)),
        ("range", "(2,)<f8", offset_of!(B, range)),
        ("u", "<f8", offset_of!(B, u)),
        ("curvature", "<f8", offset_of!(B, curvature)),
    ]
}

pub(crate) fn tight_bend_dtype(py: Python<'_>) -> PyResult<Bound<'_, PyArrayDescr>> {
    static CELL: PyOnceLock<Py<PyArrayDescr>> = PyOnceLock::new();
    once(py, &CELL, || dtype(py, &bend_fields(), size_of::<FeelerTightBend>()))
}

fn curve_bend_dtype(py: Python<'_>) -> PyResult<Bound<'_, PyArrayDescr>> {
    static CELL: PyOnceLock<Py<PyArrayDescr>> = PyOnceLock::new();
    once(py, &CELL, || dtype(py, &bend_fields()[1..], size_of::<FeelerTightBend>()))
}

pub(crate) fn wall_contact_dtype(py: Python<'_>) -> PyResult<Bound<'_, PyArrayDescr>> {
    static CELL: PyOnceLock<Py<PyArrayDescr>> = PyOnceLock::new();
    once(py, &CELL, || {
        use FeelerWallContact as C;
        let fields = [
            ("particle", "<u4", offset_of!(C, particle)),
            ("point", "(3,)<f8", offset_of!(C, point)),
            ("normal", "(3,)<f8", offset_of!(C, normal)),
            ("gap", "<f8", offset_of!(C, gap)),
            ("curvatures", "(2,)<f8", offset_of!(C, curvatures)),
            ("id", "<u8", offset_of!(C, id)),
        ];
        dtype(py, &fields, size_of::<C>())
    })
}

pub(crate) fn step_contact_dtype(py: Python<'_>) -> PyResult<Bound<'_, PyArrayDescr>> {
    static CELL: PyOnceLock<Py<PyArrayDescr>> = PyOnceLock::new();
    once(py, &CELL, || {
        use FeelerStepContact as C;
        let fields = [
            ("id", "<u8", offset_of!(C, id)),
            ("gap", "<f8", offset_of!(C, gap)),
            ("point_a", "(3,)<f8", offset_of!(C, point_a)),
            ("point_b", "(3,)<f8", offset_of!(C, point_b)),
            ("normal", "(3,)<f8", offset_of!(C, normal)),
            ("local_a", "(3,)<f8", offset_of!(C, local_a)),
            ("local_b", "(3,)<f8", offset_of!(C, local_b)),
            ("local_normal", "(3,)<f8", offset_of!(C, local_normal)),
            ("gap_rate", "(6,)<f8", offset_of!(C, gap_rate)),
            ("curvature_a", "(2,)<f8", offset_of!(C, curvature_a)),
            ("curvature_b", "(2,)<f8", offset_of!(C, curvature_b)),
            ("feature_kind_a", "<u4", offset_of!(C, feature_a)),
            ("feature_a", "<u4", offset_of!(C, feature_a) + size_of::<u32>()),
            ("feature_kind_b", "<u4", offset_of!(C, feature_b)),
            ("feature_b", "<u4", offset_of!(C, feature_b) + size_of::<u32>()),
            ("uv_a", "(2,)<f8", offset_of!(C, uv_a)),
            ("uv_b", "(2,)<f8", offset_of!(C, uv_b)),
            ("kind", "<u4", offset_of!(C, kind)),
            // 0 or 1; the lower byte of a little-endian number.
            ("is_active", "?", offset_of!(C, is_active)),
        ];
        dtype(py, &fields, size_of::<C>())
    })
}

pub(crate) fn tracked_pair_dtype(py: Python<'_>) -> PyResult<Bound<'_, PyArrayDescr>> {
    static CELL: PyOnceLock<Py<PyArrayDescr>> = PyOnceLock::new();
    once(py, &CELL, || {
        use FeelerTrackedPair as P;
        let fields = [
            ("bodies", "(2,)<u4", offset_of!(P, bodies)),
            ("parts", "(2,)<u4", offset_of!(P, parts)),
            ("status", "<u4", offset_of!(P, status)),
            ("jumped", "?", offset_of!(P, jumped)),
            ("decided", "?", offset_of!(P, decided)),
            ("depth", "<f8", offset_of!(P, depth)),
            ("bound", "(2,)<f8", offset_of!(P, bound)),
            ("first_contact", "<u8", offset_of!(P, first_contact)),
            ("contact_count", "<u8", offset_of!(P, contact_count)),
            ("dropped", "<u8", offset_of!(P, dropped)),
        ];
        dtype(py, &fields, size_of::<P>())
    })
}

macro_rules! element {
    ($record:ty, $dtype:ident) => {
        // SAFETY: plain numbers in the layout that the type tells, which is that of the record.
        unsafe impl Element for $record {
            const IS_COPY: bool = true;

            fn get_dtype(py: Python<'_>) -> Bound<'_, PyArrayDescr> {
                $dtype(py).expect("numpy knows these formats")
            }

            fn clone_ref(&self, _: Python<'_>) -> Self {
                *self
            }
        }
    };
}

element!(Contact, contact_dtype);
element!(SceneContact, scene_contact_dtype);
element!(Event, event_dtype);
element!(CurveContact, curve_contact_dtype);
element!(TightBend, tight_bend_dtype);
element!(CurveBend, curve_bend_dtype);
element!(WallContact, wall_contact_dtype);
element!(StepContact, step_contact_dtype);
element!(TrackedPair, tracked_pair_dtype);

/// Records as an array that owns them: nothing is copied. It is shown as a table in notebooks.
pub(crate) fn array<'py, T: Element>(py: Python<'py>, records: Vec<T>) -> PyResult<Bound<'py, PyAny>> {
    static SHOWN: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let shown = SHOWN
        .get_or_try_init(py, || PyResult::Ok(py.import("feeler._show")?.getattr("Records")?.unbind()))?;
    PyArray1::from_vec(py, records).call_method1("view", (shown,))
}
