//! Generated solids, described by their dimensions.

use super::form::{Form, Outline};
use super::source::{Hole, ball_in_box, box_in_box, bullet, turned, upright};
use feeler_brep::fixtures;
use feeler_brep::source::SolidSource;
use feeler_geom::{P3, V3, math};

/// A solid in closed form and as a boundary representation, with its characteristic coordinates and
/// points.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The boundary representation.
    pub source: SolidSource,
    /// The closed form.
    pub form: Form,
    /// Coordinates (mm) of the planes, axes and outlines along x, y and z.
    pub marks: [Vec<f64>; 3],
    /// Axes of holes and shafts, parallel to z: x, y, radius (mm).
    pub axes: Vec<[f64; 3]>,
    /// Points (mm) in the voids, holes and bays.
    pub pockets: Vec<P3>,
}

/// Dimensions (mm) of a generated solid. All solids have their base at `z = 0` or are centred at the
/// origin.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields are dimensions with common names")]
pub enum Spec {
    Block { x: f64, y: f64, z: f64 },
    Cylinder { r: f64, h: f64 },
    CylinderWithSeam { r: f64, h: f64 },
    CylinderHalves { r: f64, h: f64 },
    Cone { r: f64, h: f64 },
    ConeWithSeam { r: f64, h: f64 },
    HalfCone { r: f64, h: f64 },
    Frustum { low: f64, high: f64, h: f64 },
    DoubleCone { r: f64, h: f64 },
    Ball { r: f64 },
    BallWithSeam { r: f64 },
    BallWedge { r: f64, angle: f64 },
    HalfBall { r: f64 },
    Bullet { r: f64, h: f64 },
    Torus { major: f64, minor: f64 },
    TorusWithSeams { major: f64, minor: f64 },
    Apple { major: f64, minor: f64 },
    Tube { outer: f64, inner: f64, h: f64 },
    Countersunk { outer: f64, inner: f64, h: f64 },
    Cup { outer: f64, inner: f64, h: f64, floor: f64 },
    SteppedPin { low: f64, high: f64, h: f64 },
    SharpPin { r: f64, h: f64, tip: f64 },
    Spool { flange: f64, core: f64, h: f64 },
    HollowBall { outer: f64, inner: f64 },
    HollowCan { r: f64, h: f64, wall: f64 },
    HollowBox { x: f64, y: f64, z: f64, wall: f64 },
    BallInBox { a: f64, r: f64 },
    Drilled { a: f64, h: f64, r: f64 },
    Blind { a: f64, h: f64, r: f64, floor: f64 },
    Plate { pitch: f64, r: f64, h: f64, columns: u8, rows: u8 },
    LPrism { leg: f64, t: f64, h: f64 },
    Channel { a: f64, wall: f64, h: f64 },
    Notched { a: f64 },
    Stadium { length: f64, r: f64, h: f64 },
    Hexagon { r: f64, h: f64 },
    Wedge { x: f64, y: f64, h: f64 },
}

impl Spec {
    /// Returns the solid scaled by the factor `k`.
    #[must_use]
    pub fn scaled(&self, k: f64) -> Self {
        match *self {
            Self::Block { x, y, z } => Self::Block { x: k * x, y: k * y, z: k * z },
            Self::Cylinder { r, h } => Self::Cylinder { r: k * r, h: k * h },
            Self::CylinderWithSeam { r, h } => Self::CylinderWithSeam { r: k * r, h: k * h },
            Self::CylinderHalves { r, h } => Self::CylinderHalves { r: k * r, h: k * h },
            Self::Cone { r, h } => Self::Cone { r: k * r, h: k * h },
            Self::ConeWithSeam { r, h } => Self::ConeWithSeam { r: k * r, h: k * h },
            Self::HalfCone { r, h } => Self::HalfCone { r: k * r, h: k * h },
            Self::Frustum { low, high, h } => Self::Frustum { low: k * low, high: k * high, h: k * h },
            Self::DoubleCone { r, h } => Self::DoubleCone { r: k * r, h: k * h },
            Self::Ball { r } => Self::Ball { r: k * r },
            Self::BallWithSeam { r } => Self::BallWithSeam { r: k * r },
            Self::BallWedge { r, angle } => Self::BallWedge { r: k * r, angle },
            Self::HalfBall { r } => Self::HalfBall { r: k * r },
            Self::Bullet { r, h } => Self::Bullet { r: k * r, h: k * h },
            Self::Torus { major, minor } => Self::Torus { major: k * major, minor: k * minor },
            Self::TorusWithSeams { major, minor } => {
                Self::TorusWithSeams { major: k * major, minor: k * minor }
            }
            Self::Apple { major, minor } => Self::Apple { major: k * major, minor: k * minor },
            Self::Tube { outer, inner, h } => Self::Tube { outer: k * outer, inner: k * inner, h: k * h },
            Self::Countersunk { outer, inner, h } => {
                Self::Countersunk { outer: k * outer, inner: k * inner, h: k * h }
            }
            Self::Cup { outer, inner, h, floor } => {
                Self::Cup { outer: k * outer, inner: k * inner, h: k * h, floor: k * floor }
            }
            Self::SteppedPin { low, high, h } => Self::SteppedPin { low: k * low, high: k * high, h: k * h },
            Self::SharpPin { r, h, tip } => Self::SharpPin { r: k * r, h: k * h, tip: k * tip },
            Self::Spool { flange, core, h } => Self::Spool { flange: k * flange, core: k * core, h: k * h },
            Self::HollowBall { outer, inner } => Self::HollowBall { outer: k * outer, inner: k * inner },
            Self::HollowCan { r, h, wall } => Self::HollowCan { r: k * r, h: k * h, wall: k * wall },
            Self::HollowBox { x, y, z, wall } => {
                Self::HollowBox { x: k * x, y: k * y, z: k * z, wall: k * wall }
            }
            Self::BallInBox { a, r } => Self::BallInBox { a: k * a, r: k * r },
            Self::Drilled { a, h, r } => Self::Drilled { a: k * a, h: k * h, r: k * r },
            Self::Blind { a, h, r, floor } => Self::Blind { a: k * a, h: k * h, r: k * r, floor: k * floor },
            Self::Plate { pitch, r, h, columns, rows } => {
                Self::Plate { pitch: k * pitch, r: k * r, h: k * h, columns, rows }
            }
            Self::LPrism { leg, t, h } => Self::LPrism { leg: k * leg, t: k * t, h: k * h },
            Self::Channel { a, wall, h } => Self::Channel { a: k * a, wall: k * wall, h: k * h },
            Self::Notched { a } => Self::Notched { a: k * a },
            Self::Stadium { length, r, h } => Self::Stadium { length: k * length, r: k * r, h: k * h },
            Self::Hexagon { r, h } => Self::Hexagon { r: k * r, h: k * h },
            Self::Wedge { x, y, h } => Self::Wedge { x: k * x, y: k * y, h: k * h },
        }
    }

    /// Builds the solid in both representations.
    #[must_use]
    pub fn shape(&self) -> Shape {
        match *self {
            Self::Block { x, y, z } => {
                let (min, max) = ([-0.5 * x, -0.5 * y, 0.0], [0.5 * x, 0.5 * y, z]);
                let form = Form::Block { min, max };
                Shape::new(fixtures::block(min, max), form).marked([
                    &[min[0], 0.0, max[0]],
                    &[min[1], 0.0, max[1]],
                    &[0.0, 0.5 * z, z],
                ])
            }
            Self::Cylinder { r, h } => {
                turned_shape("cylinder", &[vec![[0.0, 0.0], [r, 0.0], [r, h], [0.0, h]]])
            }
            Self::CylinderWithSeam { r, h } => {
                Shape { source: fixtures::cylinder(r, h), ..Self::Cylinder { r, h }.shape() }
            }
            Self::CylinderHalves { r, h } => {
                Shape { source: fixtures::cylinder_halves(r, h), ..Self::Cylinder { r, h }.shape() }
            }
            Self::Cone { r, h } => turned_shape("cone", &[vec![[0.0, 0.0], [r, 0.0], [0.0, h]]]),
            Self::ConeWithSeam { r, h } => {
                Shape { source: fixtures::cone_with_seam(r, h), ..Self::Cone { r, h }.shape() }
            }
            Self::HalfCone { r, h } => {
                let cone = Self::Cone { r, h }.shape();
                let half = Form::Half { normal: -V3::y(), offset: 0.0 };
                Shape { source: fixtures::half_cone(r, h), form: Form::And(vec![cone.form, half]), ..cone }
            }
            Self::Frustum { low, high, h } => {
                turned_shape("frustum", &[vec![[0.0, 0.0], [low, 0.0], [high, h], [0.0, h]]])
            }
            Self::DoubleCone { r, h } => {
                turned_shape("double_cone", &[vec![[0.0, 0.0], [r, 0.5 * h], [0.0, h]]])
            }
            Self::Ball { r } => ball(fixtures::sphere(r), r),
            Self::BallWithSeam { r } => ball(fixtures::sphere_with_seam(r), r),
            Self::BallWedge { r, angle } => {
                let (s, c) = math::sin_cos(angle);
                let ball = ball(fixtures::ball_wedge(r, angle), r);
                let first = Form::Half { normal: -V3::y(), offset: 0.0 };
                let last = Form::Half { normal: V3::new(-s, c, 0.0), offset: 0.0 };
                let wedge = if angle < std::f64::consts::PI {
                    Form::And(vec![first, last])
                } else {
                    let outside = |f: Form| Form::Not(Box::new(f));
                    outside(Form::And(vec![outside(first), outside(last)]))
                };
                Shape { form: Form::And(vec![ball.form, wedge]), ..ball }
            }
            Self::HalfBall { r } => {
                let ball = ball(fixtures::hemisphere(r), r);
                let half = Form::Half { normal: -V3::z(), offset: 0.0 };
                Shape { form: Form::And(vec![ball.form, half]), ..ball }
            }
            Self::Bullet { r, h } => {
                let half = Form::Half { normal: -V3::z(), offset: 0.0 };
                let pill = Form::Pill { low: 0.0, high: h, radius: r };
                let x = [-r, 0.0, r];
                Shape::new(bullet(r, h), Form::And(vec![pill, half]))
                    .marked([&x, &x, &[0.0, h, h + r]])
                    .with_axes(&[[0.0, 0.0, r]])
            }
            Self::Torus { major, minor } => torus(fixtures::torus(major, minor), major, minor),
            Self::TorusWithSeams { major, minor } => {
                torus(fixtures::torus_with_seams(major, minor), major, minor)
            }
            Self::Apple { major, minor } => {
                Shape { pockets: vec![], ..torus(fixtures::apple(major, minor), major, minor) }
            }
            Self::Tube { outer: o, inner: i, h } => turned_shape(
                "tube",
                &[vec![[i, 0.0], [o, 0.0], [o, h], [i, h]]],
            )
            .with_pockets(&[P3::new(0.0, 0.0, 0.5 * h)]),
            Self::Countersunk { outer: o, inner: i, h } => {
                let m = 0.5 * (o + i);
                turned_shape("countersunk", &[vec![[i, 0.0], [o, 0.0], [o, h], [m, h], [i, 0.5 * h]]])
                    .with_pockets(&[P3::new(0.0, 0.0, 0.7 * h)])
            }
            Self::Cup { outer: o, inner: i, h, floor } => {
                turned_shape("cup", &[vec![[0.0, 0.0], [o, 0.0], [o, h], [i, h], [i, floor], [0.0, floor]]])
                    .with_pockets(&[P3::new(0.0, 0.0, 0.5 * (h + floor))])
            }
            Self::SteppedPin { low, high, h } => turned_shape(
                "stepped_pin",
                &[vec![[0.0, 0.0], [low, 0.0], [low, 0.5 * h], [high, 0.5 * h], [high, h], [0.0, h]]],
            ),
            Self::SharpPin { r, h, tip } => {
                turned_shape("sharp_pin", &[vec![[0.0, 0.0], [r, 0.0], [r, h], [0.0, h + tip]]])
            }
            Self::Spool { flange: f, core: c, h } => {
                let (low, high) = (0.25 * h, 0.75 * h);
                turned_shape(
                    "spool",
                    &[vec![[0.0, 0.0], [f, 0.0], [f, low], [c, low], [c, high], [f, high], [f, h], [0.0, h]]],
                )
                .with_pockets(&[P3::new(0.5 * (f + c), 0.0, 0.5 * h)])
            }
            Self::HollowBall { outer, inner } => {
                let shape = ball(fixtures::hollow_sphere(outer, inner), outer);
                let void = Form::Ball { center: P3::origin(), radius: inner };
                let form = Form::Hollow(Box::new(shape.form), Box::new(void));
                let mut shape = Shape { form, ..shape };
                for m in &mut shape.marks {
                    m.extend([-inner, inner]);
                }
                shape.with_pockets(&[P3::origin()])
            }
            Self::HollowCan { r, h, wall: w } => {
                let outer = vec![[0.0, 0.0], [r, 0.0], [r, h], [0.0, h]];
                let void = vec![[0.0, h - w], [r - w, h - w], [r - w, w], [0.0, w]];
                turned_shape("hollow_can", &[outer, void]).with_pockets(&[P3::new(0.0, 0.0, 0.5 * h)])
            }
            Self::HollowBox { x, y, z, wall: w } => {
                let (min, max) = ([-0.5 * x, -0.5 * y, 0.0], [0.5 * x, 0.5 * y, z]);
                let inner = (min.map(|c| c + w), max.map(|c| c - w));
                let form = Form::Hollow(
                    Box::new(Form::Block { min, max }),
                    Box::new(Form::Block { min: inner.0, max: inner.1 }),
                );
                let marks = [0, 1, 2].map(|k| [min[k], min[k] + w, max[k] - w, max[k]]);
                Shape::new(box_in_box((min, max), inner), form)
                    .marked([&marks[0], &marks[1], &marks[2]])
                    .with_pockets(&[P3::new(0.0, 0.0, 0.5 * z)])
            }
            Self::BallInBox { a, r } => {
                let (min, max) = ([-a; 3], [a; 3]);
                let void = Form::Ball { center: P3::origin(), radius: r };
                let form = Form::Hollow(Box::new(Form::Block { min, max }), Box::new(void));
                let m = [-a, -r, 0.0, r, a];
                Shape::new(ball_in_box(min, max, P3::origin(), r), form)
                    .marked([&m, &m, &m])
                    .with_pockets(&[P3::origin()])
            }
            Self::Drilled { a, h, r } => {
                let shape =
                    prism("drilled", square(a), h, &[Hole { x: 0.0, y: 0.0, radius: r, floor: None }]);
                Shape { source: fixtures::block_with_hole(a, h, r), ..shape }
            }
            Self::Blind { a, h, r, floor } => {
                prism("blind", square(a), h, &[Hole { x: 0.0, y: 0.0, radius: r, floor: Some(floor) }])
            }
            Self::Plate { pitch, r, h, columns, rows } => {
                let (nx, ny) = (f64::from(columns), f64::from(rows));
                let (x, y) = (0.5 * pitch * nx, 0.5 * pitch * ny);
                let center = |i: u8, half: f64| pitch * (f64::from(i) + 0.5) - half;
                let holes: Vec<Hole> = (0..columns)
                    .flat_map(|i| (0..rows).map(move |j| (i, j)))
                    .map(|(i, j)| Hole { x: center(i, x), y: center(j, y), radius: r, floor: None })
                    .collect();
                prism("plate", vec![[-x, -y], [x, -y], [x, y], [-x, y]], h, &holes)
            }
            Self::LPrism { leg: l, t, h } => {
                prism("l_prism", vec![[0.0, 0.0], [0.0, l], [-t, l], [-t, -t], [l, -t], [l, 0.0]], h, &[])
                    .with_pockets(&[P3::new(0.5 * l, 0.5 * l, 0.5 * h)])
            }
            Self::Channel { a, wall: w, h } => {
                let b = a - w;
                let corners = vec![[-a, -a], [a, -a], [a, a], [b, a], [b, -b], [-b, -b], [-b, a], [-a, a]];
                prism("channel", corners, h, &[]).with_pockets(&[P3::new(0.0, 0.5 * w, 0.5 * h)])
            }
            Self::Notched { a } => {
                let cut = Form::Block { min: [0.5 * a; 3], max: [2.0 * a; 3] };
                let cube = Form::Block { min: [0.0; 3], max: [a; 3] };
                let m = [0.0, 0.5 * a, a];
                Shape::new(fixtures::notched_cube(a), Form::And(vec![cube, Form::Not(Box::new(cut))]))
                    .marked([&m, &m, &m])
                    .with_pockets(&[P3::new(0.75 * a, 0.75 * a, 0.75 * a)])
            }
            Self::Stadium { length, r, h } => {
                let e = 0.5 * length;
                // A stadium prism that is unbounded along z, cut by two planes.
                let form = Form::And(vec![
                    Form::Track { half: e, radius: r },
                    Form::Half { normal: -V3::z(), offset: 0.0 },
                    Form::Half { normal: V3::z(), offset: h },
                ]);
                Shape::new(fixtures::stadium(length, r, h), form)
                    .marked([&[-e - r, -e, e, e + r], &[-r, 0.0, r], &[0.0, h]])
                    .with_axes(&[[-e, 0.0, r], [e, 0.0, r]])
            }
            Self::Hexagon { r, h } => {
                let corner = |k: i32| {
                    let (s, c) = math::sin_cos(std::f64::consts::FRAC_PI_3 * f64::from(k));
                    [r * c, r * s]
                };
                prism("hexagon", (0..6).map(corner).collect(), h, &[])
            }
            Self::Wedge { x, y, h } => prism("wedge", vec![[0.0, 0.0], [x, 0.0], [0.0, y]], h, &[]),
        }
    }
}

fn square(a: f64) -> Vec<[f64; 2]> {
    vec![[-a, -a], [a, -a], [a, a], [-a, a]]
}

fn ball(source: SolidSource, r: f64) -> Shape {
    let m = [-r, 0.0, r];
    Shape::new(source, Form::Ball { center: P3::origin(), radius: r })
        .marked([&m, &m, &m])
        .with_axes(&[[0.0, 0.0, r]])
}

fn torus(source: SolidSource, major: f64, minor: f64) -> Shape {
    let m = [-major - minor, -major, minor - major, 0.0, major - minor, major, major + minor];
    Shape::new(source, Form::Torus { major, minor })
        .marked([&m, &m, &[-minor, 0.0, minor]])
        .with_axes(&[[0.0, 0.0, (major - minor).abs()], [0.0, 0.0, major + minor]])
        .with_pockets(&[P3::origin()])
}

fn turned_shape(name: &str, profiles: &[Vec<[f64; 2]>]) -> Shape {
    let points = || profiles.iter().flatten();
    let mut x: Vec<f64> = points().flat_map(|p| [-p[0], p[0]]).collect();
    let mut z: Vec<f64> = points().map(|p| p[1]).collect();
    let mut axes: Vec<[f64; 3]> = points().filter(|p| p[0] > 0.0).map(|p| [0.0, 0.0, p[0]]).collect();
    axes.dedup();
    for m in [&mut x, &mut z] {
        m.sort_by(f64::total_cmp);
        m.dedup();
    }
    Shape::new(turned(name, profiles), Form::Turned { profiles: profiles.to_vec() })
        .marked([&x, &x, &z])
        .with_axes(&axes)
}

fn prism(name: &str, corners: Vec<[f64; 2]>, h: f64, holes: &[Hole]) -> Shape {
    let source = upright(name, &corners, 0.0, h, holes);
    let marks = |k: usize| -> Vec<f64> {
        let own = corners.iter().map(|c| c[k]);
        let center = |o: &Hole| if k == 0 { o.x } else { o.y };
        own.chain(holes.iter().flat_map(|o| [center(o) - o.radius, center(o), center(o) + o.radius]))
            .collect()
    };
    let (x, y) = (marks(0), marks(1));
    let z: Vec<f64> = [0.0, h].into_iter().chain(holes.iter().filter_map(|o| o.floor)).collect();
    let axes: Vec<[f64; 3]> = holes.iter().map(|o| [o.x, o.y, o.radius]).collect();
    let pockets: Vec<P3> =
        holes.iter().map(|o| P3::new(o.x, o.y, 0.5 * (h + o.floor.unwrap_or(0.0)))).collect();
    let through = holes.iter().filter(|o| o.floor.is_none()).map(|o| [o.x, o.y, o.radius]).collect();
    let mut form = Form::Upright { outline: Outline { corners, holes: through }, low: 0.0, high: h };
    let blind: Vec<Form> = holes
        .iter()
        .filter_map(|o| {
            let profile = vec![[0.0, o.floor?], [o.radius, o.floor?], [o.radius, 2.0 * h], [0.0, 2.0 * h]];
            Some(Form::Not(Box::new(Form::Turned { profiles: vec![profile] })))
        })
        .collect();
    if !blind.is_empty() {
        form = Form::And(std::iter::once(form).chain(blind).collect());
    }
    Shape::new(source, form).marked([&x, &y, &z]).with_axes(&axes).with_pockets(&pockets)
}

impl Shape {
    fn new(source: SolidSource, form: Form) -> Self {
        Self { source, form, marks: [vec![], vec![], vec![]], axes: vec![], pockets: vec![] }
    }

    fn marked(mut self, marks: [&[f64]; 3]) -> Self {
        self.marks = marks.map(<[f64]>::to_vec);
        self
    }

    fn with_axes(mut self, axes: &[[f64; 3]]) -> Self {
        self.axes = axes.to_vec();
        self
    }

    fn with_pockets(mut self, pockets: &[P3]) -> Self {
        self.pockets = pockets.to_vec();
        self
    }
}
