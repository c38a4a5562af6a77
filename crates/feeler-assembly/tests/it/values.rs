//! Values of the library against closed forms, on models of `data/`.
#![allow(clippy::unwrap_used, reason = "test code")]

use feeler_assembly::regress::{
    EntryOutcome, EntryResult, PairFacts, RegressionLimits, compare_entries, measure_pair,
};
use feeler_assembly::{
    Assembly, AssemblyError, AssemblyPart, Baseline, Clearance, ClearanceOptions, ComparisonTolerances,
    DifferenceKind, Finding, JointMotion, MechanismCheck, MechanismOptions, MovingPart, Progress, Rules,
    Sweep, Trajectory, assign_links, clearance, compare_models,
};
use feeler_geom::Pose;
use feeler_hierarchy::Model;
use feeler_mechanism::{Joint, JointKind, JointTrajectory, Mechanism};
use feeler_runtime::{PassageOutcome, QueryOptions, Status};
use std::collections::BTreeMap;

fn model(name: &str) -> Model {
    feeler_import::prepare_step(format!("{}/../../data/{name}.step", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// The bore, and the pin moved by `x` (mm) along x. The radius of the pin is 0.05 mm smaller than that
/// of the bore.
fn bore_and_pin(x: f64) -> Assembly {
    let mut assembly = Assembly::default();
    assembly.add(&model("bore"), "bore", &Pose::identity()).unwrap();
    assembly.add(&model("pin"), "pin", &Pose::translation(x, 0.0, 0.0)).unwrap();
    assembly
}

#[test]
fn clearances_of_a_pin_in_its_bore() {
    for (x, status, distance) in
        [(0.02, Status::Separated, 0.03), (0.05, Status::Touching, 0.0), (0.15, Status::Interfering, -0.1)]
    {
        let assembly = bore_and_pin(x);
        let report = clearance(assembly.parts(), &Rules::default(), &ClearanceOptions::within(1.0)).unwrap();
        let [pair] = report.pairs.as_slice() else { panic!("{report:?}") };
        assert_eq!((pair.status(), report.counts.total), (Some(status), 1), "{pair:?}");
        let measurement = pair.measurement.as_ref().unwrap();
        match status {
            Status::Separated => assert!((pair.distance().unwrap() - distance).abs() < 1e-12, "{pair:?}"),
            Status::Touching => assert_eq!(measurement.regions.len(), 1, "{pair:?}"),
            _ => assert!(pair.depth() > 0.01 && pair.depth() <= 0.1 + 1e-9, "{pair:?}"),
        }
        let finding = (status == Status::Interfering).then_some(Finding::Interferes);
        assert_eq!(pair.finding, finding);
    }
}

#[test]
fn baselines_separate_known_from_new_findings() {
    let assembly = bore_and_pin(0.15);
    let check =
        |parts: &[AssemblyPart]| clearance(parts, &Rules::default(), &ClearanceOptions::default()).unwrap();
    let mut report = check(assembly.parts());
    let baseline = report.to_baseline(assembly.parts());
    assert!(baseline.len() == 1 && baseline.contains("pin/pin", "bore/bore", Finding::Interferes));
    let text = serde_json::to_string(&baseline).unwrap();
    assert_eq!(serde_json::from_str::<Baseline>(&text).unwrap(), baseline);
    report.apply_baseline(&baseline, assembly.parts());
    assert!(report.findings().next().is_none() && report.pairs[0].is_known);
    let assembly = bore_and_pin(0.0);
    let mut report = check(assembly.parts());
    report.apply_baseline(&baseline, assembly.parts());
    assert_eq!(report.fixed, 1);
}

#[test]
fn a_minimum_beyond_the_reach_is_rejected() {
    let rules = Rules::from_toml("d_max = 1\n[[rule]]\na = '*'\nmin = 2").unwrap();
    let error = clearance(bore_and_pin(0.0).parts(), &rules, &ClearanceOptions::default()).unwrap_err();
    assert_eq!(error, AssemblyError::DMaxBelowMinimum { d_max: 1.0, min: 2.0 });
}

#[test]
fn sweeps_follow_a_joint() {
    let (bore, pin) = (model("bore"), model("pin"));
    let [bore, pin] = [&bore, &pin].map(|m| AssemblyPart::from_instance(m, 0).unwrap());
    let joint =
        JointMotion { direction: [1.0, 0.0, 0.0].into(), lengths: [0.0, 0.04], ..JointMotion::about_z() };
    let trajectory = Trajectory::of_joint(&joint, 4).unwrap();
    let warm = Sweep::new(&bore, &pin, &trajectory, QueryOptions::within(1.0)).unwrap();
    let cold = Sweep::new(&bore, &pin, &trajectory, QueryOptions::within(1.0)).unwrap().cold();
    assert_eq!(warm.passage().unwrap().outcome, PassageOutcome::Free);
    let mut count = 0;
    for (k, (warm, cold)) in (0_u32..).zip(warm.zip(cold)) {
        let (warm, cold) = (warm.unwrap(), cold.unwrap());
        let distance = warm.min_distance.unwrap();
        assert!((distance - (0.05 - 0.01 * f64::from(k))).abs() < 1e-9, "step {k}: {distance}");
        assert_eq!(warm.min_distance, cold.min_distance, "step {k}");
        count += 1;
    }
    assert_eq!(count, trajectory.len());
    assert!(Trajectory::new(vec![], vec![], None).is_err());
    let fast = JointMotion { angles: [0.0, 360.0], ..JointMotion::about_z() };
    assert_eq!(Trajectory::of_joint(&fast, 2).unwrap_err(), AssemblyError::JointStep(180.0));
}

/// A pin that slides along its bore, as a mechanism of two links.
#[test]
fn mechanisms_are_measured_and_proven() {
    let links = vec!["housing".into(), "slider".into()];
    let mut mechanism = Mechanism { links, ..Mechanism::default() };
    mechanism.joints.push(Joint {
        name: "slide".into(),
        parent: 0,
        child: 1,
        origin: Pose::identity(),
        kind: JointKind::Prismatic { axis: [0.0, 0.0, 1.0].into() },
        limits: Some([0.0, 5.0]),
        mimic: None,
        start: None,
    });
    let parts = bore_and_pin(0.0).into_parts();
    let (bore, pin) = (["bore".to_owned()], ["pin".to_owned()]);
    let links = [("housing", &bore[..]), ("slider", &pin[..])];
    let parts: Vec<MovingPart> = assign_links(parts, &mechanism, links).unwrap();
    assert_eq!(
        MechanismCheck::new(&mechanism, &parts, &[], false).unwrap_err(),
        AssemblyError::NoMovingPairs,
        "neighbours are not checked"
    );
    let check = MechanismCheck::new(&mechanism, &parts, &[], true).unwrap();
    let values = vec![vec![0.0], vec![5.0]];
    let motion = JointTrajectory { times: vec![0.0, 2.0], values, driven: vec![0] };
    let report = check.along(&motion, 5, &MechanismOptions::default()).unwrap();
    assert!(report.pairs[0].is_proven_free() && report.moments.len() == 5);
    for margin in report.margins() {
        assert!((margin.unwrap().distance - 0.05).abs() < 1e-9, "{margin:?}");
    }
    let grid = check.over_grid(3, &MechanismOptions::default()).unwrap();
    assert_eq!((grid.moments.len(), grid.pairs[0].motion.is_none()), (3, true));
    let progress = Progress::default();
    let counted = check.clone().with_progress(&progress);
    counted.along(&motion, 5, &MechanismOptions::default()).unwrap();
    assert_eq!(progress.counts(), (6, 6), "five moments and a proof");
    progress.stop();
    assert_eq!(counted.along(&motion, 5, &MechanismOptions::default()).unwrap_err(), AssemblyError::Stopped);
    let none = [("housing", &["nut".to_owned()][..])];
    let error = assign_links(bore_and_pin(0.0).into_parts(), &mechanism, none).unwrap_err().to_string();
    assert!(error.contains("'nut'") && error.contains("bore/bore, pin/pin"), "{error}");
}

#[test]
fn progress_counts_pairs_and_stops_checks() {
    let assembly = bore_and_pin(0.02);
    let (rules, options) = (Rules::default(), ClearanceOptions::within(1.0));
    let check = Clearance::new(assembly.parts(), &rules, &options).unwrap();
    let progress = Progress::default();
    let measured = check.measure_with(&progress).unwrap();
    assert_eq!((measured.len(), progress.counts(), progress.is_stopped()), (1, (1, 1), false));
    let report = clearance(assembly.parts(), &rules, &options).unwrap();
    assert_eq!(check.report(measured).pairs[0].distance(), report.pairs[0].distance());
    progress.stop();
    assert!(check.measure_with(&progress).is_none());
}

#[test]
fn versions_of_a_model_are_compared() {
    let (long, short) = (model("pin"), model("pin-short"));
    let tolerances = ComparisonTolerances::default();
    assert!(compare_models(&long, &long, &tolerances).differences.is_empty());
    let found = compare_models(&long, &short, &tolerances);
    assert_eq!(found.parts.changed, 1);
    for kind in [DifferenceKind::Face, DifferenceKind::Mass, DifferenceKind::Area] {
        assert!(found.differences.iter().any(|d| d.kind == kind), "{kind:?}: {:?}", found.differences);
    }
}

#[test]
fn recorded_results_are_compared() {
    let results = |x: f64| {
        let parts = bore_and_pin(0.0).into_parts();
        let poses = [(Pose::identity(), Pose::translation(x, 0.0, 0.0))];
        let (steps, _) = measure_pair([&parts[0], &parts[1]], &poses, &QueryOptions::within(1.0), 1).unwrap();
        let facts = PairFacts { inputs: [String::new(), String::new()], size: 50.0, steps };
        let result = EntryResult { found: EntryOutcome::Pair(facts), time: None };
        BTreeMap::from([("pin in its bore".to_owned(), result)])
    };
    let known = results(0.0);
    let text = serde_json::to_string(&known).unwrap();
    assert_eq!(serde_json::from_str::<BTreeMap<String, EntryResult>>(&text).unwrap(), known);
    let limits = RegressionLimits::default();
    assert!(compare_entries(&known, &results(0.0), &limits)[0].differences.is_empty());
    let moved = compare_entries(&known, &results(0.15), &limits);
    assert!(moved[0].differences.iter().any(|d| d.kind == DifferenceKind::Verdict), "{moved:?}");
    let missing = compare_entries(&BTreeMap::new(), &known, &limits);
    assert_eq!(missing[0].differences[0].kind, DifferenceKind::Import);
}
