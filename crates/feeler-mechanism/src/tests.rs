//! Tests of paths against poses, and of frequent mistakes in files.

use super::*;

const ARM: &str = r#"<robot name="arm">
  <link name="base"/><link name="upper"/><link name="fore"/><link name="hand"/><link name="jaw"/>
  <joint name="elbow" type="revolute"><parent link="upper"/><child link="fore"/>
    <origin xyz="0 0 0.3" rpy="0.1 0.2 0.3"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="1" velocity="1"/></joint>
  <joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/>
    <origin xyz="0.1 0 0.2" rpy="0 0 0"/><axis xyz="0 0 2"/></joint>
  <joint name="flange" type="fixed"><parent link="fore"/><child link="hand"/>
    <origin xyz="0 0 0.2" rpy="0 0 0"/></joint>
  <joint name="grip" type="prismatic"><parent link="hand"/><child link="jaw"/>
    <axis xyz="1 0 0"/><limit lower="0" upper="0.05" effort="1" velocity="1"/>
    <mimic joint="elbow" multiplier="0.01" offset="0.02"/></joint>
</robot>"#;

#[test]
fn a_urdf_in_millimetres_parents_first() {
    let arm = urdf::read(ARM).unwrap();
    let names: Vec<&str> = arm.joints.iter().map(|j| j.name.as_str()).collect();
    assert_eq!(names, ["shoulder", "elbow", "flange", "grip"]);
    let values = arm.all_values(&[0.0, 1.0, 0.0, 0.0]);
    assert!((values[3] - 30.0).abs() < 1e-12, "{values:?}");
    let poses = arm.poses(&[0.0; 4]);
    let upper = poses[arm.link("upper").unwrap()].translation.vector;
    assert!((upper - V3::new(100.0, 0.0, 200.0)).norm() < 1e-12);
    assert!(arm.are_neighbours(arm.link("upper").unwrap(), arm.link("hand").unwrap()));
    assert!(!arm.are_neighbours(arm.link("base").unwrap(), arm.link("hand").unwrap()));
}

/// Messages of faulty files name the line and what is wrong there.
#[test]
fn faults_of_a_urdf_are_named() {
    let cases = [
        (("</robot>", ""), "not a valid URDF"),
        (("<robot name", "<model name"), "not a valid URDF"),
        (("name=\"upper\"/>", "/>"), "line 2: <link> has no attribute 'name'"),
        (("type=\"revolute\"", "type=\"floating\""), "line 3: joint 'elbow' is floating; only fixed"),
        (("<parent link=\"upper\"/>", ""), "line 3: <joint> has no <parent>"),
        (("0 0 0.3", "0 0"), "line 4: xyz=\"0 0\" of <origin> is not 3 numbers"),
        (("upper=\"2\"", "upper=\"1e999\""), "line 5: upper=\"1e999\" of <limit> is not a number"),
        (("lower=\"-2\"", "lower=\"${low}\""), "line 5: lower=\"${low}\" of <limit> is not a number"),
        (
            ("<limit lower=\"-2\" upper=\"2\" effort=\"1\" velocity=\"1\"/>", ""),
            "'elbow' has no <limit>; use the type",
        ),
        (("joint=\"elbow\"", "joint=\"knee\""), "knee"),
        (("<child link=\"fore\"/>", "<child link=\"leg\"/>"), "leg"),
        (("<axis xyz=\"0 1 0\"/>", "<axis xyz=\"0 0 0\"/>"), "elbow"),
        (
            ("<axis", "<xacro:axis xmlns:xacro=\"http://wiki.ros.org/xacro\"/><axis"),
            "line 4: the text contains xacro",
        ),
    ];
    for ((from, to), expected) in cases {
        assert!(ARM.contains(from), "{from}");
        let error = urdf::read(&ARM.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}, expected {expected}");
    }
    let other = urdf::read("<sdf version='1.9'/>").unwrap_err().to_string();
    assert!(other.contains("line 1: the root element of a URDF is <robot>"), "{other}");
}

/// At all times, the paths of links equal their poses computed from the values of the joints.
#[test]
fn paths_are_where_joints_put_links() {
    let arm = urdf::read(ARM).unwrap();
    let values = vec![vec![0.0; 4], vec![3.0, 1.0, 0.0, 0.0], vec![-1.0, -1.5, 0.0, 0.0]];
    let motion = JointTrajectory { times: vec![1.0, 2.0, 4.0], values: values.clone(), driven: vec![0, 1] };
    let paths = arm.paths(&motion).unwrap();
    let p = P3::new(30.0, -20.0, 10.0);
    for i in 0..=60_u32 {
        let time = 3.0 * f64::from(i) / 60.0;
        let (k, s) = if time < 1.0 { (0, time) } else { (1, (time - 1.0) / 2.0) };
        let between: Vec<f64> =
            (0..4).map(|j| values[k][j] + s * (values[k + 1][j] - values[k][j])).collect();
        for (path, pose) in paths.iter().zip(arm.poses(&arm.all_values(&between))) {
            assert!((path.pose(time) * p - pose * p).norm() < 1e-10);
        }
    }
}

#[test]
fn values_beyond_limits_are_refused() {
    let arm = urdf::read(ARM).unwrap();
    let values = vec![vec![0.0; 4], vec![0.0, 2.5, 0.0, 0.0]];
    let motion = JointTrajectory { times: vec![0.0, 1.0], values, driven: vec![1] };
    let error = arm.paths(&motion).unwrap_err().to_string();
    assert!(error.contains("'elbow'") && error.contains("143.2") && error.contains("deg"), "{error}");
}

#[test]
fn gears_mimic_and_loops_are_rejected() {
    let text = |extra: &str| {
        format!(
            "[links]\nsun = 'a'\nring = 'b'\n[[joint]]\nlink = 'ring'\nrevolute = [0, 0, 1]\nmimic = 'sun'\n\
             ratio = -0.5\noffset = 90\n[[joint]]\nlink = 'sun'\nrevolute = [0, 0, 1]\n\
             point = [1, 2, 3]\n{extra}"
        )
    };
    let gears = file::read(&text("[motion]\ntimes = [0, 1]\nsun = [0, 180]")).unwrap();
    let mechanism = gears.mechanism(None).unwrap();
    let motion = gears.motion(&mechanism).unwrap();
    let sun = mechanism.joint("sun").unwrap();
    let ring = mechanism.joint("ring").unwrap();
    let values = mechanism.all_values(&motion.values[1]);
    assert!((values[sun] - std::f64::consts::PI).abs() < 1e-12 && values[ring].abs() < 1e-12);
    let twice = file::read(&text("[[joint]]\nlink = 'sun'\nprismatic = [1, 0, 0]")).unwrap();
    assert!(matches!(twice.mechanism(None), Err(MechanismError::Loop(_))));
    let circle = file::read(
        "[links]\na = '1'\nb = '2'\n[[joint]]\nlink = 'a'\nparent = 'b'\nrevolute = [1, 0, 0]\n\
        [[joint]]\nlink = 'b'\nparent = 'a'\nrevolute = [1, 0, 0]",
    );
    assert!(matches!(circle.unwrap().mechanism(None), Err(MechanismError::Loop(_))));
    let own = file::read("[links]\na = '1'\n[[joint]]\nlink = 'a'\nrevolute = [1, 0, 0]\nmimic = 'a'");
    assert!(matches!(own.unwrap().mechanism(None), Err(MechanismError::MimicsItself(_))));
    let unknown = file::read("[links]\na = '1'\n[[joint]]\nlink = 'c'\nrevolute = [1, 0, 0]");
    let error = unknown.unwrap().mechanism(None).unwrap_err().to_string();
    assert!(error.contains("unknown link 'c'") && error.contains("ground"), "{error}");
}
