//! Clearance of assemblies: pairs of parts that touch, interfere or come too close.

use crate::error::{Failure, FeelerResult, enter};
use crate::model::FeelerModel;
use crate::pointer::{exclusive, get_sized, hand_out, put, put_sized, shared, take_back, text};
use crate::record::{self, FeelerPose, FeelerStatus};
use feeler::P3;
use feeler::assembly::{
    Assembly, ClearanceOptions, ClearancePair, Finding, Rules, ToleranceChoice, clearance,
};
use std::ffi::{CString, c_char};
use std::ptr;

/// Placed solids of one or several models, whose clearance `feeler_clearance_new` checks.
#[derive(Debug, Default)]
pub struct FeelerAssembly {
    assembly: Assembly,
}

/// Result of a clearance check: findings about pairs of parts, sorted by decreasing severity.
#[derive(Debug)]
pub struct FeelerClearance {
    findings: Vec<FeelerFinding>,
    /// Paths of both parts and name of the rule, for each finding.
    names: Vec<([CString; 2], Option<CString>)>,
}

/// Options of a clearance check. Set all members to 0 for the defaults, then `struct_size`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FeelerClearanceOptions {
    /// `sizeof(FeelerClearanceOptions)`, set by the caller.
    pub struct_size: u32,
    /// Reserved, 0.
    pub reserved: u32,
    /// Largest distance (mm) that is measured. 0: the `d_max` of the rules, or else the largest minimum
    /// distance that a rule requires, or else 1 mm.
    pub d_max: f64,
    /// Lengths (mm) below this count as zero. 0: the tolerance of the rules, or else 1e-7 of the
    /// diagonal of the larger part's bounding box; pairs that it leaves undecided are measured again at
    /// coarser tolerances.
    pub tolerance: f64,
}

/// Kind of a finding, in order of decreasing severity.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeelerFindingKind {
    /// The interiors of the parts intersect.
    Interferes = 0,
    /// The computing budget was exhausted before interference was found or excluded.
    Undecided = 1,
    /// The query of the two parts failed, so their relation is unknown.
    Failed = 2,
    /// The interiors of the parts intersect, but not deeper than the geometry is accurate.
    WithinAccuracy = 3,
    /// The parts are nearer than a rule allows.
    TooClose = 4,
    /// The parts touch although a rule forbids it.
    Touches = 5,
    /// The parts do not touch although a rule requires it.
    DoesNotTouch = 6,
}

impl From<Finding> for FeelerFindingKind {
    fn from(finding: Finding) -> Self {
        match finding {
            Finding::Interferes => Self::Interferes,
            Finding::Undecided => Self::Undecided,
            Finding::Failed => Self::Failed,
            Finding::WithinAccuracy => Self::WithinAccuracy,
            Finding::TooClose => Self::TooClose,
            Finding::Touches => Self::Touches,
            Finding::DoesNotTouch => Self::DoesNotTouch,
        }
    }
}

/// Finding about a pair of parts: their relation, distance and location.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FeelerFinding {
    /// `sizeof(FeelerFinding)`, set by the caller.
    pub struct_size: u32,
    /// Kind of the finding, that is what is wrong with the pair.
    pub kind: FeelerFindingKind,
    /// Index of the first part, counted from 0 in the order in which parts were added.
    pub part_a: u32,
    /// Index of the second part, larger than `part_a`.
    pub part_b: u32,
    /// Relation of the parts; `FEELER_STATUS_UNKNOWN` if their query failed or they are farther apart
    /// than `d_max`.
    pub status: FeelerStatus,
    /// Reserved, 0.
    pub reserved: u32,
    /// Smallest distance (mm) of the parts; NaN if no local minimum of the distance is within `d_max`.
    pub distance: f64,
    /// Smallest distance (mm) that the rule allows; NaN if the rule sets no such limit.
    pub min: f64,
    /// Lower bound (mm) of the length of any translation that separates interfering parts; 0 for other
    /// parts.
    pub depth: f64,
    /// Location of the finding on the first part (mm, world coordinates): a point inside both parts if
    /// they interfere, else the point nearest to the second part; NaN if neither is known.
    pub point_a: [f64; 3],
    /// Location of the finding on the second part (mm, world coordinates), like `point_a`.
    pub point_b: [f64; 3],
}

impl FeelerFinding {
    /// Record of the finding about a pair of parts; `None` if the pair has no finding.
    fn new(pair: &ClearancePair) -> Option<Self> {
        let kind = pair.finding?.into();
        let [part_a, part_b] = pair.parts.map(|i| u32::try_from(i).unwrap_or(u32::MAX));
        let measured = pair.measurement.as_ref();
        let witness = measured.and_then(|m| m.witness).map(|w| [w.point; 2]);
        let nearest = measured.and_then(|m| m.nearest.as_ref()).map(|n| n.points);
        let [point_a, point_b] = witness.or(nearest).unwrap_or([P3::from([f64::NAN; 3]); 2]).map(Into::into);
        Some(Self {
            struct_size: 0,
            kind,
            part_a,
            part_b,
            status: FeelerStatus::of(pair.status()),
            reserved: 0,
            distance: pair.distance().unwrap_or(f64::NAN),
            min: pair.min.unwrap_or(f64::NAN),
            depth: pair.depth(),
            point_a,
            point_b,
        })
    }
}

fn string(text: &str) -> CString {
    CString::new(text.replace('\0', " ")).unwrap_or_default()
}

/// Creates an assembly without parts. Free it with `feeler_assembly_free`.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_assembly_new(out: *mut *mut FeelerAssembly) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe { hand_out(out, FeelerAssembly::default()) })
}

/// Frees an assembly.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_assembly_free(assembly: *mut FeelerAssembly) {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        take_back(assembly);
        Ok(())
    });
}

/// Adds each instance of a model as a part. `pose` maps the coordinates of the model to the world.
/// `name` precedes the paths of the parts, unless it is NULL or "". Equal paths are numbered: "bolt#1",
/// "bolt#2". The model may be freed afterwards.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_assembly_add(
    assembly: *mut FeelerAssembly,
    model: *const FeelerModel,
    name: *const c_char,
    pose: *const FeelerPose,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        let model = &shared(model, "model")?.model;
        let name = if name.is_null() { "" } else { text(name, "name")? };
        let pose = record::pose(pose, "pose")?;
        let assembly = &mut exclusive(assembly, "assembly")?.assembly;
        assembly.add(model, name, &pose).map_err(Failure::of(FeelerResult::Body))
    })
}

/// Writes the number of parts of an assembly to `count`.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_assembly_part_count(
    assembly: *const FeelerAssembly,
    count: *mut usize,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe { put(count, "count", shared(assembly, "assembly")?.assembly.parts().len()) })
}

/// Measures, in parallel, all pairs of parts within `d_max` of each other and checks them against rules.
/// The assembly does not change. `rules` is the text of a rules file in TOML, as for the command
/// `feeler clearance`; NULL stands for the only rule that parts must not interfere. `options` may be
/// NULL for the defaults. Free the result with `feeler_clearance_free`.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_clearance_new(
    assembly: *const FeelerAssembly,
    rules: *const c_char,
    options: *const FeelerClearanceOptions,
    out: *mut *mut FeelerClearance,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        let parts = shared(assembly, "assembly")?.assembly.parts();
        let rules = if rules.is_null() {
            Rules::default()
        } else {
            Rules::from_toml(text(rules, "rules")?).map_err(Failure::of(FeelerResult::Argument))?
        };
        let default = FeelerClearanceOptions { struct_size: 0, reserved: 0, d_max: 0.0, tolerance: 0.0 };
        let options = get_sized(options, default, "options")?;
        let given = |value: f64| (value != 0.0).then_some(value);
        let options = ClearanceOptions {
            d_max: given(options.d_max),
            tolerance: given(options.tolerance).map(ToleranceChoice::Length),
            ..ClearanceOptions::default()
        };
        let report = clearance(parts, &rules, &options).map_err(Failure::of(FeelerResult::Query))?;
        let mut result = FeelerClearance { findings: Vec::new(), names: Vec::new() };
        for pair in report.findings() {
            result.findings.extend(FeelerFinding::new(pair));
            let paths = pair.parts.map(|i| string(&parts[i].path));
            result.names.push((paths, pair.rule.as_deref().map(string)));
        }
        hand_out(out, result)
    })
}

/// Frees the result of a clearance check.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_clearance_free(clearance: *mut FeelerClearance) {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        take_back(clearance);
        Ok(())
    });
}

/// Writes the number of findings of a clearance check to `count`.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_clearance_finding_count(
    clearance: *const FeelerClearance,
    count: *mut usize,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe { put(count, "count", shared(clearance, "clearance")?.findings.len()) })
}

/// Writes a finding to `out`, the paths of its parts to `path_a` and `path_b`, and the name of its rule
/// to `rule`, NULL if no rule applies to the pair. `index` counts from 0. `path_a`, `path_b` and `rule`
/// may be NULL; the strings are valid until `clearance` is freed.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_clearance_finding(
    clearance: *const FeelerClearance,
    index: usize,
    out: *mut FeelerFinding,
    path_a: *mut *const c_char,
    path_b: *mut *const c_char,
    rule: *mut *const c_char,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        let FeelerClearance { findings, names } = shared(clearance, "clearance")?;
        let finding = findings.get(index).ok_or_else(|| {
            let count = findings.len();
            Failure::argument(format!("no finding {index}: there are {count} findings, numbered from 0"))
        })?;
        put_sized(out, *finding, "out")?;
        let ([a, b], name) = &names[index];
        for (target, value) in [
            (path_a, a.as_ptr()),
            (path_b, b.as_ptr()),
            (rule, name.as_ref().map_or(ptr::null(), |n| n.as_ptr())),
        ] {
            if !target.is_null() {
                target.write(value);
            }
        }
        Ok(())
    })
}
