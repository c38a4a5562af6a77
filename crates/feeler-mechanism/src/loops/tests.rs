//! Tests of linkages against closed forms: four-bar linkage, slider-crank, Stewart platform.

use super::*;
use crate::{Joint, file};
use feeler_geom::{Pose, Twist, V3, math};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::f64::consts::{PI, TAU};
use std::fmt::Write as _;

/// Mechanism and motion of the text of a file.
fn read(text: &str) -> (Mechanism, JointTrajectory) {
    let file = file::read(text).unwrap();
    let mechanism = file.mechanism(None).unwrap();
    let motion = file.motion(&mechanism).unwrap();
    (mechanism, motion)
}

fn solve(text: &str) -> Result<(Mechanism, LoopMotion), MechanismError> {
    let (mechanism, motion) = read(text);
    let solved = mechanism.solve(&motion, &LoopOptions { branches: true, ..LoopOptions::default() })?;
    Ok((mechanism, solved))
}

fn vector(v: &V3) -> String {
    format!("[{:?}, {:?}, {:?}]", v.x, v.y, v.z)
}

/// Four-bar linkage with ground pivots at 0 and (d, 0), in a plane that `pose` places.
#[derive(Clone, Copy)]
struct FourBar {
    crank: f64,
    coupler: f64,
    rocker: f64,
    ground: f64,
    /// Side of the line from the crank's end to the rocker's pivot on which the coupler's end is.
    side: f64,
    pose: Pose,
}

impl FourBar {
    /// Ends of crank and coupler at the angle (rad) of the crank by intersecting two circles; `None` beyond
    /// the reach.
    fn ends(&self, angle: f64) -> Option<[P3; 2]> {
        let (s, c) = math::sin_cos(angle);
        let b = V3::new(self.crank * c, self.crank * s, 0.0);
        let d = V3::new(self.ground, 0.0, 0.0) - b;
        let length = d.norm();
        let along =
            (length * length + self.coupler * self.coupler - self.rocker * self.rocker) / (2.0 * length);
        let square = self.coupler * self.coupler - along * along;
        let across = V3::new(-d.y, d.x, 0.0) * (self.side / length);
        (square >= 0.0).then(|| [P3::from(b), P3::from(b + d * (along / length) + across * square.sqrt())])
    }

    /// Angle (rad) of the rocker.
    fn rocker_angle(&self, angle: f64) -> f64 {
        let [_, c] = self.ends(angle).unwrap();
        math::atan2(c.y, c.x - self.ground)
    }

    /// File with the linkage drawn at the angle `drawn` (rad), and a motion of the crank (deg).
    fn text(&self, drawn: f64, times: &str, crank: &str) -> String {
        let [b, c] = self.ends(drawn).unwrap();
        let z = vector(&(self.pose * V3::z()));
        let at = |p: P3| vector(&(self.pose * p).coords);
        format!(
            "[links]\ncrank = []\ncoupler = []\nrocker = []\n\
             [[joint]]\nlink = 'crank'\nrevolute = {z}\npoint = {}\n\
             [[joint]]\nlink = 'coupler'\nparent = 'crank'\nrevolute = {z}\npoint = {}\n\
             [[joint]]\nlink = 'rocker'\nrevolute = {z}\npoint = {}\n\
             [[joint]]\nname = 'pin'\nlink = 'coupler'\nparent = 'rocker'\nrevolute = {z}\npoint = {}\n\
             closes = true\n[motion]\ntimes = {times}\ncrank = {crank}\n",
            at(P3::origin()),
            at(b),
            at(P3::new(self.ground, 0.0, 0.0)),
            at(c),
        )
    }
}

fn four_bar(lengths: [f64; 4], side: f64) -> FourBar {
    let [crank, coupler, rocker, ground] = lengths;
    FourBar { crank, coupler, rocker, ground, side, pose: Pose::identity() }
}

fn wrapped(angle: f64) -> f64 {
    angle - TAU * (angle / TAU).round()
}

/// Compares a solved four-bar linkage, drawn at the angle `drawn`, with its closed form at all ends of
/// pieces and between them.
fn check_four_bar(bar: &FourBar, drawn: f64, mechanism: &Mechanism, solved: &LoopMotion, slack: f64) {
    let report = solved.report.as_ref().unwrap();
    assert!(report.closure_error <= 1e-10 * report.size, "{report:?}");
    assert!(report.deviation <= DEFAULT_DEVIATION * report.size);
    let [crank, rocker] = ["crank", "rocker"].map(|n| mechanism.joint(n).unwrap());
    let link = mechanism.link("coupler").unwrap();
    let [_, tip] = bar.ends(drawn).unwrap();
    let paths = mechanism.paths(&solved.trajectory).unwrap();
    let first = solved.trajectory.times[0];
    for (times, values) in solved.trajectory.times.windows(2).zip(&solved.trajectory.values) {
        let exact = bar.rocker_angle(drawn + values[crank]) - bar.rocker_angle(drawn);
        assert!(wrapped(values[rocker] - exact).abs() < slack, "{values:?} {exact}");
        // The end of the coupler, halfway between the ends of the piece and near one.
        for part in [0.5, 0.2] {
            let time = times[0] + part * (times[1] - times[0]) - first;
            let values = solved.trajectory.values_at(time);
            let [_, exact] = bar.ends(drawn + values[crank]).unwrap();
            let moved = paths[link].pose(time) * (bar.pose * tip);
            let off = (moved - bar.pose * exact).norm();
            assert!(off <= report.deviation + slack * report.size, "{off:e} {report:?}");
        }
    }
}

/// Compares the poses of all links between the ends of pieces with those of solved loops: no corner of a cube
/// in the default ball of a link is farther than stated from its exact position.
fn check_deviation(mechanism: &Mechanism, motion: &JointTrajectory, solved: &LoopMotion) {
    let (trajectory, report) = (&solved.trajectory, solved.report.as_ref().unwrap());
    let mut equations = Equations::new(mechanism, &motion.driven, &trajectory.values[0]);
    equations.measure(&trajectory.values[0]);
    let balls = mechanism.default_balls(&trajectory.values[0], report.size);
    let mut largest: f64 = 0.0;
    for (i, times) in trajectory.times.windows(2).enumerate().step_by(7) {
        let part = [0.5, 0.3, 0.9][i % 3];
        let values = trajectory.values_at(times[0] + part * (times[1] - times[0]) - trajectory.times[0]);
        let exact = equations.correct(&values).unwrap();
        let [near, exact] = [values, exact].map(|v| mechanism.poses(&v));
        for ball in &balls {
            let half = ball.radius / 3.0_f64.sqrt();
            for corner in 0..8_u8 {
                let sign = |bit: u8| if corner >> bit & 1 == 0 { -half } else { half };
                let p = ball.center + V3::new(sign(0), sign(1), sign(2));
                largest = largest.max((near[ball.link] * p - exact[ball.link] * p).norm());
            }
        }
    }
    assert!(largest <= report.deviation, "{largest} {report:?}");
    // The bound is not much larger than the deviation.
    assert!(largest > 0.05 * report.deviation, "{largest} {report:?}");
}

/// A whole turn of the crank on both branches: by the position in which the linkage is drawn, and by start
/// values.
#[test]
fn a_four_bar_linkage_turns_on_both_branches() {
    for side in [1.0, -1.0] {
        let bar = four_bar([20.0, 50.0, 40.0, 60.0], side);
        let text = bar.text(0.3, "[0, 1, 4]", "[0, 120, 360]");
        let (mechanism, solved) = solve(&text).unwrap();
        check_four_bar(&bar, 0.3, &mechanism, &solved, 1e-9);
        let report = solved.report.unwrap();
        assert_eq!((report.branches.len(), report.dependent.len()), (2, 3));
        // After a whole turn, all joints but the crank are back, or have turned with it.
        let values = &solved.trajectory.values;
        for k in &report.dependent {
            assert!(wrapped(values.last().unwrap()[*k] - values[0][*k]).abs() < 1e-9);
        }
        // The start values of the other branch lead to it.
        let other = &report.branches[1 - report.branch];
        let mut text = text.clone();
        for name in ["coupler", "rocker"] {
            let value = other[mechanism.joint(name).unwrap()].to_degrees().round();
            let table = format!("[[joint]]\nlink = '{name}'\n");
            assert!(text.contains(&table), "{text}");
            text = text.replace(&table, &format!("{table}start = {value}\n"));
        }
        let (mechanism, solved) = solve(&text).unwrap();
        let rocker = mechanism.joint("rocker").unwrap();
        let mirrored = FourBar { side: -side, ..bar };
        for (time, values) in solved.trajectory.times.iter().zip(&solved.trajectory.values) {
            let angle = 0.3 + values[mechanism.joint("crank").unwrap()];
            let exact = mirrored.rocker_angle(angle) - bar.rocker_angle(0.3);
            assert!(wrapped(values[rocker] - exact).abs() < 1e-9, "{time}");
        }
    }
}

/// The crank of a linkage that does not satisfy Grashof's condition reaches a dead point, at which coupler
/// and rocker are in line.
#[test]
fn dead_points_are_reported() {
    for side in [1.0, -1.0] {
        let [a, b, c, d] = [40.0, 30.0, 25.0, 50.0];
        let bar = four_bar([a, b, c, d], side);
        let error = solve(&bar.text(0.2, "[1, 3]", "[0, 180]")).unwrap_err();
        let MechanismError::DeadPoint { time, driven, .. } = &error else { panic!("{error}") };
        let limit = math::acos((a * a + d * d - (b + c) * (b + c)) / (2.0 * a * d));
        let expected = 2.0 * (limit - 0.2) / PI;
        assert!((time - expected).abs() < 1e-6, "{time} {expected}");
        let text = error.to_string();
        assert!(
            driven.starts_with("crank = ") && text.contains("rocker = ") && text.contains("at 1."),
            "{text}"
        );
    }
    // A parallelogram is in line at half a turn; its kite passes it likewise.
    let bar = four_bar([20.0, 60.0, 20.0, 60.0], 1.0);
    let error = solve(&bar.text(0.5, "[0, 1]", "[0, 360]")).unwrap_err();
    let MechanismError::DeadPoint { time, .. } = error else { panic!("{error}") };
    assert!((time - (PI - 0.5) / TAU).abs() < 1e-6, "{time} {}", (PI - 0.5) / TAU);
    // Drawn in line.
    let text = bar.text(0.0, "[0, 1]", "[0, 20]");
    let error = solve(&text).unwrap_err();
    assert!(matches!(error, MechanismError::DeadPoint { .. }), "{error}");
    // Away from the position in line, either branch is followed.
    let text =
        bar.text(0.0, "[0, 1]", "[10, 20]").replace("link = 'rocker'\n", "link = 'rocker'\nstart = 10\n");
    let (mechanism, solved) = solve(&text).unwrap();
    let end = solved.trajectory.values.last().unwrap();
    let [crank, rocker] = ["crank", "rocker"].map(|n| end[mechanism.joint(n).unwrap()]);
    assert!((crank - rocker).abs() < 1e-9, "{end:?}");
}

/// File with a slider-crank: a crank of length r about 0, a rod of length l, and a slider along x at y = e,
/// drawn at the angle `drawn` (rad).
fn slider_crank([r, l, e]: [f64; 3], drawn: f64, motion: &str) -> (String, f64) {
    let (s, c) = math::sin_cos(drawn);
    let x = slider([r, l, e], drawn);
    let text = format!(
        "[links]\ncrank = []\nrod = []\nslider = []\n[[joint]]\nlink = 'crank'\nrevolute = [0, 0, 1]\n\
         [[joint]]\nlink = 'rod'\nparent = 'crank'\nrevolute = [0, 0, 1]\npoint = [{:?}, {:?}, 0]\n\
         [[joint]]\nlink = 'slider'\nprismatic = [1, 0, 0]\n\
         [[joint]]\nname = 'pin'\nlink = 'rod'\nparent = 'slider'\nrevolute = [0, 0, 1]\n\
         point = [{x:?}, {e:?}, 0]\n\
         closes = true\n[motion]\ntimes = [0, 1]\n{motion}\n",
        r * c,
        r * s
    );
    (text, x)
}

fn slider([r, l, e]: [f64; 3], angle: f64) -> f64 {
    let (s, c) = math::sin_cos(angle);
    r * c + (l * l - (r * s - e) * (r * s - e)).sqrt()
}

#[test]
fn a_slider_crank_is_driven_by_its_crank_or_its_slider() {
    for (sizes, drawn) in [([20.0, 70.0, 0.0], 0.4), ([20.0, 50.0, 12.0], 1.0), ([3.0, 4.0, -0.5], 2.0)] {
        let (text, x) = slider_crank(sizes, drawn, "crank = [-30, 720]");
        let (mechanism, solved) = solve(&text).unwrap();
        let [crank, slide] = ["crank", "slider"].map(|n| mechanism.joint(n).unwrap());
        let report = solved.report.as_ref().unwrap();
        assert!(report.closure_error <= 1e-10 * report.size);
        for values in &solved.trajectory.values {
            let exact = slider(sizes, drawn + values[crank]) - x;
            assert!((values[slide] - exact).abs() < 1e-9 * report.size, "{values:?} {exact}");
        }
        // Between the ends of pieces the interpolated slider deviates at most as stated.
        for i in 0..=3000 {
            let values = solved.trajectory.values_at(f64::from(i) / 3000.0);
            let exact = slider(sizes, drawn + values[crank]) - x;
            assert!((values[slide] - exact).abs() <= report.deviation + 1e-9, "{values:?}");
        }
    }
    // The slider drives up to the dead point at r + l.
    let (text, x) = slider_crank([20.0, 70.0, 0.0], 0.4, "slider = [-5, 10]");
    let error = solve(&text).unwrap_err();
    let MechanismError::DeadPoint { time, .. } = error else { panic!("{error}") };
    assert!((15.0 * time - 5.0 - (90.0 - x)).abs() < 1e-6, "{time} {}", (95.0 - x) / 15.0);
    let (text, _) = slider_crank([20.0, 70.0, 0.0], 0.4, "slider = [-5, 1]");
    assert!(solve(&text).is_ok());
}

/// A rod with ball joints at both ends, and coupled joints: two cranks turn in opposite directions.
#[test]
fn spatial_and_coupled_linkages() {
    let text = "[links]\ncrank = []\nrod = []\nrocker = []\n[[joint]]\nlink = 'crank'\nrevolute = [0, 0, 1]\n\
                [[joint]]\nlink = 'rod'\nparent = 'crank'\nuniversal = [[0, 0, 1], [0, 1, 0]]\n\
                point = [5, 0, 0]\n\
                [[joint]]\nlink = 'rocker'\nrevolute = [1, 0, 0]\npoint = [20, 0, 30]\n\
                [[joint]]\nname = 'ball'\nlink = 'rod'\nparent = 'rocker'\nball = true\npoint = [20, 30, 0]\n\
                closes = true\n[motion]\ntimes = [0, 1]\ncrank = [0, 360]\n";
    let (mechanism, solved) = solve(text).unwrap();
    check_deviation(&mechanism, &read(text).1, &solved);
    let report = solved.report.as_ref().unwrap();
    assert!(report.closure_error <= 1e-10 * report.size && report.dependent.len() == 3);
    // The rod's length is constant: both ends by the values of crank and rocker alone.
    let [crank, rocker] = ["crank", "rocker"].map(|n| mechanism.joint(n).unwrap());
    let length = V3::new(15.0, 30.0, 0.0).norm();
    for values in &solved.trajectory.values {
        let (s, c) = math::sin_cos(values[crank]);
        let turned = Twist::rotation(&P3::new(20.0, 0.0, 30.0), V3::x() * values[rocker]).exp();
        let rod = turned * P3::new(20.0, 30.0, 0.0) - P3::new(5.0 * c, 5.0 * s, 0.0);
        assert!((rod.norm() - length).abs() < 1e-9);
    }
    let links = ["crank", "rod", "rocker", "ground"].map(|n| mechanism.link(n).unwrap());
    assert!(mechanism.are_neighbours(links[1], links[2]) && mechanism.are_neighbours(links[0], links[1]));
    assert!(!mechanism.are_neighbours(links[0], links[2]) && !mechanism.are_neighbours(links[1], links[3]));
    // A slider on the bisector of two cranks that are geared to each other.
    let text = "[links]\na = []\nb = []\nrod = []\nbar = []\n[[joint]]\nlink = 'a'\nrevolute = [0, 0, 1]\n\
                point = [-20, 0, 0]\n[[joint]]\nlink = 'b'\nrevolute = [0, 0, 1]\npoint = [20, 0, 0]\n\
                mimic = 'a'\n\
                ratio = -1\n[[joint]]\nlink = 'rod'\nparent = 'a'\nrevolute = [0, 0, 1]\n\
                point = [-30, 0, 0]\n\
                [[joint]]\nlink = 'bar'\nparent = 'b'\nrevolute = [0, 0, 1]\npoint = [30, 0, 0]\n\
                [[joint]]\nname = 'top'\nlink = 'rod'\nparent = 'bar'\nball = true\npoint = [0, 40, 0]\n\
                closes = true\n\
                [motion]\ntimes = [0, 1]\na = [0, 60]\n";
    let (mechanism, solved) = solve(text).unwrap();
    let top = mechanism.link("rod").unwrap();
    for values in &solved.trajectory.values {
        let p = mechanism.poses(values)[top] * P3::new(0.0, 40.0, 0.0);
        let (s, c) = math::sin_cos(values[mechanism.joint("a").unwrap()]);
        let x = -20.0 - 10.0 * c;
        let expected = -10.0 * s + (2500.0 - x * x).sqrt();
        assert!(p.x.abs() < 1e-9 && (p.y - expected).abs() < 1e-9, "{p}");
    }
}

/// Points of the base and of the platform of a Stewart platform, in the world with all joints at 0.
fn hexapod() -> Vec<[P3; 2]> {
    let at = |radius: f64, degrees: f64, z: f64| {
        let (s, c) = math::sin_cos(degrees.to_radians());
        P3::new(radius * c, radius * s, z)
    };
    let leg = |i: u32| {
        let (pair, sign) = (f64::from(i / 2) * 120.0, if i.is_multiple_of(2) { -1.0 } else { 1.0 });
        [at(100.0, pair + sign * 12.0, 0.0), at(60.0, pair + sign * 45.0, 120.0)]
    };
    (0..6).map(leg).collect()
}

/// File with a Stewart platform: each leg is a universal joint, a prismatic joint and a ball joint. `lengths`
/// has the extensions of the legs (mm) for each time.
fn stewart(lengths: &[Vec<f64>]) -> String {
    let mut text = "[links]\nplatform = []\n".to_owned();
    for i in 0..6 {
        writeln!(text, "base-{i} = []\nrod-{i} = []").unwrap();
    }
    for (i, [foot, head]) in hexapod().iter().enumerate() {
        let axis = (head - foot).normalize();
        let first = axis.cross(&V3::z()).normalize();
        let second = axis.cross(&first);
        let closes = if i == 0 { "" } else { "closes = true\n" };
        let (link, parent) = ("platform".to_owned(), format!("rod-{i}"));
        writeln!(
            text,
            "[[joint]]\nlink = 'base-{i}'\nuniversal = [{}, {}]\npoint = {}\n\
             [[joint]]\nname = 'leg-{i}'\nlink = 'rod-{i}'\nparent = 'base-{i}'\nprismatic = {}\n\
             [[joint]]\nname = 'head-{i}'\nlink = '{link}'\nparent = '{parent}'\nball = true\npoint = {}\n\
             {closes}",
            vector(&first),
            vector(&second),
            vector(&foot.coords),
            vector(&axis),
            vector(&head.coords),
        )
        .unwrap();
    }
    let times: Vec<String> = (0..lengths.len()).map(|i| i.to_string()).collect();
    writeln!(text, "[motion]\ntimes = [{}]", times.join(", ")).unwrap();
    for i in 0..6 {
        let values: Vec<String> = lengths.iter().map(|l| format!("{:?}", l[i])).collect();
        writeln!(text, "leg-{i} = [{}]", values.join(", ")).unwrap();
    }
    text
}

/// Extensions of the legs of a Stewart platform whose platform has moved by `pose`: the inverse kinematics.
fn extensions(pose: &Pose) -> Vec<f64> {
    let length = |[foot, head]: &[P3; 2]| (pose * head - foot).norm() - (head - foot).norm();
    hexapod().iter().map(length).collect()
}

#[test]
fn a_stewart_platform_follows_its_inverse_kinematics() {
    let mut r = SmallRng::seed_from_u64(11);
    let mut poses = vec![Pose::identity()];
    let center = P3::new(0.0, 0.0, 120.0);
    for _ in 0..4 {
        let turn = V3::from_fn(|_, _| r.random_range(-0.25..0.25));
        let shift = V3::from_fn(|_, _| r.random_range(-15.0..15.0));
        poses.push(Twist::translation(shift).exp() * Twist::rotation(&center, turn).exp());
    }
    let text = stewart(&poses.iter().map(extensions).collect::<Vec<_>>());
    let (mechanism, motion) = read(&text);
    // The pieces are coarse to save time; the ends are exact.
    let options = LoopOptions { deviation: Some(0.05), ..LoopOptions::default() };
    let solved = mechanism.solve(&motion, &options).unwrap();
    check_deviation(&mechanism, &motion, &solved);
    let report = solved.report.unwrap();
    assert!(report.closure_error <= 1e-10 * report.size && report.deviation <= 0.05, "{report:?}");
    assert_eq!(report.dependent.len(), 15);
    let platform = mechanism.link("platform").unwrap();
    for (i, pose) in poses.iter().enumerate() {
        #[expect(clippy::cast_precision_loss, reason = "a small number")]
        let values = solved.trajectory.values_at(i as f64);
        let reached = mechanism.poses(&values)[platform];
        for [_, head] in hexapod() {
            assert!((reached * head - pose * head).norm() < 1e-7, "{reached} {pose}");
        }
    }
    for values in &solved.trajectory.values {
        let exact = extensions(&mechanism.poses(values)[platform]);
        for (i, exact) in exact.iter().enumerate() {
            let leg = mechanism.joint(&format!("leg-{i}")).unwrap();
            assert!((values[leg] - exact).abs() < 1e-8);
        }
    }
    let error = solve(&text.replace("leg-3 = [", "# [")).unwrap_err();
    assert!(matches!(error, MechanismError::UnderDriven { missing: 1, .. }), "{error}");
    assert!(error.to_string().contains("'leg-3'"), "{error}");
}

#[test]
fn wrong_numbers_of_driven_joints() {
    let text = four_bar([20.0, 50.0, 40.0, 60.0], 1.0).text(0.3, "[0, 1]", "[0, 30]");
    let error = solve(&text.replace("crank = [0, 30]", "")).unwrap_err();
    let MechanismError::UnderDriven { missing: 1, joints } = &error else { panic!("{error}") };
    assert_eq!(joints, "'crank', 'rocker', 'coupler', 'pin'");
    let error = solve(&format!("{text}rocker = [0, 20]\n")).unwrap_err();
    let MechanismError::OverDriven { excess: 1, joints } = &error else { panic!("{error}") };
    assert_eq!(joints, "'crank', 'rocker'");
    // A triangle does not move.
    let triangle = "[links]\na = []\nb = []\n[[joint]]\nlink = 'a'\nrevolute = [0, 0, 1]\n[[joint]]\n\
    link = 'b'\n\
                    revolute = [0, 0, 1]\npoint = [10, 0, 0]\n[[joint]]\nname = 'top'\nlink = 'a'\n\
                    parent = 'b'\n\
                    revolute = [0, 0, 1]\npoint = [5, 5, 0]\ncloses = true\n[motion]\ntimes = [0, 1]\n";
    assert!(solve(triangle).is_ok(), "a triangle at rest");
    let error = solve(&format!("{triangle}a = [0, 10]")).unwrap_err();
    assert!(matches!(error, MechanismError::OverDriven { excess: 1, .. }), "{error}");
}

#[test]
fn loops_that_do_not_close() {
    let bar = four_bar([20.0, 50.0, 40.0, 60.0], 1.0);
    let text = bar.text(0.3, "[0, 1]", "[0, 30]");
    // The coupler is drawn too short: its pin is in the middle.
    let [_, c] = bar.ends(0.3).unwrap();
    let pin = format!("point = {}\ncloses", vector(&c.coords));
    let short =
        text.replace(&pin, &format!("point = [22, 7, 0]\nparent_point = {}\ncloses", vector(&c.coords)));
    assert_ne!(short, text);
    let short = short.replace("crank = [0, 30]", "crank = [60, 90]");
    let error = solve(&short).unwrap_err();
    let MechanismError::Open { joint, distance, .. } = &error else { panic!("{error}") };
    assert!(joint == "pin" && *distance > 1.0, "{error}");
    // Axes that are not parallel: the best position is open.
    let crooked = text
        .replace("rocker'\nrevolute = [0.0, 0.0, 1.0]\npoint", "rocker'\nrevolute = [0.0, 0.01, 1.0]\npoint");
    assert_ne!(crooked, text);
    let error = solve(&crooked).unwrap_err();
    assert!(matches!(error, MechanismError::Open { .. } | MechanismError::OverDriven { .. }), "{error}");
    // Axes that differ by less: the drawing is closed, but the loop opens as it moves.
    let rounded = text.replace(
        "rocker'\nrevolute = [0.0, 0.0, 1.0]\npoint",
        "rocker'\nrevolute = [0.0, 0.000000001, 1.0]\npoint",
    );
    let error = solve(&rounded).unwrap_err();
    assert!(error.to_string().contains("more digits"), "{error}");
    // Without a position in the drawing, a start value or the search closes the loop.
    let bars = "[links]\ncrank = []\ncoupler = []\nrocker = []\n[[joint]]\nlink = 'crank'\n\
    revolute = [0, 0, 1]\n\
                [[joint]]\nlink = 'coupler'\nparent = 'crank'\nrevolute = [0, 0, 1]\n\
                parent_point = [20, 0, 0]\n\
                [[joint]]\nlink = 'rocker'\nrevolute = [0, 0, 1]\nparent_point = [60, 0, 0]\nstart = 90\n\
                [[joint]]\nname = 'pin'\nlink = 'coupler'\nparent = 'rocker'\nrevolute = [0, 0, 1]\n\
                point = [50, 0, 0]\nparent_point = [40, 0, 0]\ncloses = true\n[motion]\ntimes = [0, 1]\n\
                crank = [17.2, 90]\n";
    let (mechanism, solved) = solve(bars).unwrap();
    let [crank, rocker] = ["crank", "rocker"].map(|n| mechanism.joint(n).unwrap());
    for values in &solved.trajectory.values {
        assert!((wrapped(values[rocker] - bar.rocker_angle(values[crank]))).abs() < 1e-9);
    }
    for (text, message) in [
        (text.replace("name = 'pin'\n", ""), "needs a name"),
        (text.replace("name = 'pin'", "name = 'rocker'"), "name of another joint"),
        (text.replace("closes = true", "closes = true\nball = true"), "exactly one of"),
        (text.replace("closes = true", "closes = true\nfixed = true"), "exactly one of"),
        (text.replace("closes = true", ""), "`closes = true`"),
        (text.replacen("link = 'crank'\n", "link = 'crank'\nstart = 3\n", 1), "`start`"),
    ] {
        let error = file::read(&text)
            .and_then(|f| f.mechanism(None).and_then(|m| f.motion(&m).map(|t| (m, t))))
            .and_then(|(m, t)| m.solve(&t, &LoopOptions::default()).map(|_| ()))
            .unwrap_err()
            .to_string();
        assert!(error.contains(message), "{error}");
    }
}

/// Limits of dependent joints, and motions whose loops are open.
#[test]
fn paths_of_open_loops_are_refused() {
    let bar = four_bar([20.0, 50.0, 40.0, 60.0], 1.0);
    let text = bar.text(0.3, "[0, 1]", "[0, 90]");
    let (mechanism, motion) = read(&text);
    assert!(matches!(mechanism.paths(&motion), Err(MechanismError::Open { .. })));
    let limited = text.replace("link = 'rocker'\n", "link = 'rocker'\nlimits = [-5, 5]\n");
    let (mechanism, solved) = solve(&limited).unwrap();
    let error = mechanism.paths(&solved.trajectory).unwrap_err();
    assert!(matches!(&error, MechanismError::Limit { joint, .. } if joint == "rocker"), "{error}");
    let ball = "[links]\na = []\n[[joint]]\nlink = 'a'\nball = true\nlimits = [0, 1]";
    assert!(file::read(ball).unwrap().mechanism(None).unwrap_err().to_string().contains("no single value"));
    let (mechanism, mut motion) = read(&text);
    motion.values[1][0] = f64::NAN;
    let error = mechanism.solve(&motion, &LoopOptions::default()).unwrap_err().to_string();
    assert!(error.contains("'crank'") && error.contains("not a finite number"), "{error}");
    let (_, motion) = read(&text);
    // A motion with added times is the same.
    let finer = motion.with_times(&[0.25, 0.5, 1.0, 2.0]);
    assert_eq!(finer.times, [0.0, 0.25, 0.5, 1.0]);
    assert!((finer.values_at(0.3)[0] - motion.values_at(0.3)[0]).abs() < 1e-15);
}

/// Random four-bar linkages in random planes, some of them close to a change point: the crank turns, or the
/// dead point is where the closed form has it.
#[test]
fn random_linkages() {
    let mut r = SmallRng::seed_from_u64(5);
    let (mut turns, mut dead) = (0, 0);
    while turns + dead < 60 {
        let mut lengths = [0.0; 4].map(|_: f64| r.random_range(10.0..60.0));
        if r.random_bool(0.4) {
            // Nearly a change point: crank + ground = coupler + rocker.
            let near = [1e-2, 1e-4][r.random_range(0..2)];
            lengths[3] = lengths[1] + lengths[2] - lengths[0] + if r.random_bool(0.5) { near } else { -near };
        }
        if lengths[3] < 5.0 {
            continue;
        }
        let side = if r.random_bool(0.5) { 1.0 } else { -1.0 };
        let drawn = r.random_range(-0.8..0.8);
        let turn = V3::from_fn(|_, _| r.random_range(-2.0..2.0));
        let shift = V3::from_fn(|_, _| r.random_range(-50.0..50.0));
        let pose = Twist::translation(shift).exp() * Twist { v: V3::zeros(), w: turn }.exp();
        let bar = FourBar { pose, ..four_bar(lengths, side) };
        // First crank angle at which the linkage cannot be closed, and whether it is well away from the
        // start.
        let steps = 20_000_u16;
        let angle = |i: u16| drawn + TAU * f64::from(i) / f64::from(steps);
        let reach = (0..=steps).take_while(|&i| bar.ends(angle(i)).is_some()).count();
        if reach < 500 {
            continue;
        }
        let solved = solve(&bar.text(drawn, "[0, 1]", "[0, 360]"));
        match solved {
            Ok((mechanism, solved)) => {
                assert_eq!(reach, usize::from(steps) + 1, "{lengths:?} {drawn}");
                check_four_bar(&bar, drawn, &mechanism, &solved, 1e-7);
                turns += 1;
            }
            Err(MechanismError::DeadPoint { time, .. }) => {
                #[expect(clippy::cast_precision_loss, reason = "a small number")]
                let expected = (reach - 1) as f64 / f64::from(steps);
                assert!(
                    time > expected - 1e-6 && time < expected + 1.0 / f64::from(steps) + 1e-6,
                    "{lengths:?}"
                );
                dead += 1;
            }
            Err(error) => panic!("{lengths:?} {drawn} {error}"),
        }
    }
    assert!(turns > 10 && dead > 10, "{turns} {dead}");
}

/// A loop on a moving base has the same values, and far from the origin the loops are closed as well.
#[test]
fn loops_move_with_their_base() {
    let bar = four_bar([20.0, 50.0, 40.0, 60.0], 1.0);
    let shift = Pose::from_parts(V3::new(1e4, -2e4, 5e3).into(), Default::default());
    let text = FourBar { pose: shift, ..bar }.text(0.3, "[0, 1]", "[0, 100]");
    let text = text.replace("[links]\n", "[links]\ntable = []\n").replace(
        "[[joint]]\nlink = 'crank'\n",
        "[[joint]]\nlink = 'table'\nrevolute = [1, 0, 0]\n[[joint]]\nlink = 'crank'\nparent = 'table'\n",
    );
    let text = text.replace("link = 'rocker'\n", "link = 'rocker'\nparent = 'table'\n");
    // A tool on the coupler turns much faster than the linkage.
    let tool =
        "[[joint]]\nlink = 'tool'\nparent = 'coupler'\nrevolute = [1, 0, 0]\npoint = [10020, -20000, 5000]\n";
    let text = text.replace("coupler = []\n", "coupler = []\ntool = []\n");
    let text = text.replace("[motion]\n", &format!("{tool}[motion]\n"));
    let text = format!("{text}table = [0, 90]\ntool = [0, 9000]\n");
    let (mechanism, solved) = solve(&text).unwrap();
    check_deviation(&mechanism, &read(&text).1, &solved);
    let report = solved.report.as_ref().unwrap();
    assert!(report.closure_error <= 1e-10 * report.size);
    let [crank, rocker] = ["crank", "rocker"].map(|n| mechanism.joint(n).unwrap());
    for values in &solved.trajectory.values {
        let exact = bar.rocker_angle(0.3 + values[crank]) - bar.rocker_angle(0.3);
        assert!(wrapped(values[rocker] - exact).abs() < 1e-9);
    }
    assert!(mechanism.joints.iter().all(|j: &Joint| j.start.is_none()));
}

/// The acceleration of the residual equals finite differences, and its third derivative and the change of
/// the Jacobian keep within their bounds, for random increments of a platform and of a four-bar linkage.
#[test]
fn bounds_of_a_piece() {
    let mut r = SmallRng::seed_from_u64(3);
    let bar = four_bar([20.0, 50.0, 40.0, 60.0], 1.0).text(0.3, "[0, 1]", "[0, 1]");
    for text in [bar, stewart(&[vec![0.0; 6], vec![1.0; 6]])] {
        let (mechanism, motion) = read(&text);
        let zero = vec![0.0; mechanism.joints.len()];
        let equations = Equations::new(&mechanism, &motion.driven, &zero);
        for _ in 0..20 {
            let scale = [1e-3, 0.02, 0.05][r.random_range(0..3)];
            let size = |k: &Joint| if k.kind.unit().1 < 1.0 { scale } else { scale * equations.size };
            let increments: Vec<f64> =
                mechanism.joints.iter().map(|k| size(k) * r.random_range(-1.0..1.0)).collect();
            if equations.turn(&increments) > 0.5 {
                continue;
            }
            let at = |s: f64| equations.position(&increments.iter().map(|x| s * x).collect::<Vec<_>>());
            let middle = at(0.0);
            // A fourth-order difference quotient.
            let h = 0.25;
            let residual = |s: f64| equations.residual(&at(s));
            let second = (-residual(2.0 * h) + residual(h) * 16.0 - residual(0.0) * 30.0
                + residual(-h) * 16.0
                - residual(-2.0 * h))
                / (12.0 * h * h);
            let exact = equations.acceleration(&middle, &increments);
            let bound = equations.third_bound(&middle, &increments);
            assert!((&second - &exact).norm() < 0.5 * scale * bound + 1e-13, "{second} {exact}");
            let third = (residual(0.5) - residual(0.25) * 2.0 + residual(-0.25) * 2.0 - residual(-0.5))
                / (2.0 * 0.25 * 0.25 * 0.25);
            assert!(third.norm() <= bound * (1.0 + 0.1 * scale) + 1e-12, "{} {bound}", third.norm());
            let jacobian = |at: &equations::Position| equations.jacobian(&equations.sensitivities(at));
            let change = equations.jacobian_change(&middle, &increments);
            for s in [-1.0, -0.5, 0.3, 1.0] {
                assert!((jacobian(&at(s)) - jacobian(&middle)).norm() <= change, "{s}");
            }
        }
    }
}
