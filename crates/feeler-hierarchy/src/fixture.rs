//! A made-up model with every kind of surface, curve and feature, for the tests of this crate.

use crate::data::{
    AdjacentFace, Area, Component, Edge, Face, Feature, Hierarchy, Inertia, Instance, Model, NearCanonical,
    Node, Options, Origin, Reference, Remark, Severity, SolidInfo, Span, Vertex,
};
use crate::id::{EdgeId, FaceId, VertexId};
use feeler_geom::bezier::{BezierSpline, BezierSurface, H4};
use feeler_geom::trim::{TrimCells, TrimDomain, TrimPiece};
use feeler_geom::{Curve, Frame, Obb, P2, P3, PolyCone, Rect, RevolutionCone, Surface, V3};

fn frame() -> Frame {
    Frame::from_z(P3::new(1.0, -2.0, 3.0), V3::new(1.0, 2.0, 2.0), None).expect("a direction")
}

/// Trimmed domain that is a square with a square hole.
fn trim() -> TrimCells {
    let square = |s: f64| [P2::new(-s, -s), P2::new(s, -s), P2::new(s, s), P2::new(-s, s)];
    let (outer, mut inner) = (square(2.0), square(0.5));
    inner.reverse();
    let mut pieces = Vec::new();
    for (edge, loop_) in [(0, outer), (1, inner)] {
        for i in 0..4 {
            let (a, b) = (loop_[i], loop_[(i + 1) % 4]);
            let control = [a, a + (b - a) / 3.0, b - (b - a) / 3.0, b];
            pieces.push(TrimPiece { control, edge, deviation: 1e-6 });
        }
    }
    let natural = Rect { u0: -3.0, u1: 3.0, v0: -3.0, v1: 3.0 };
    let (cells, problems) =
        TrimCells::build(&TrimDomain::new(&pieces, natural, None, None, P2::new(0.0, 0.0)));
    assert!(problems.is_empty(), "{problems:?}");
    cells
}

fn grid() -> BezierSurface {
    // Two bilinear patches along u.
    let control = (0..8).map(f64::from).map(|i| H4::new(i, i * i, 1.0 - i, 1.0)).collect();
    BezierSurface {
        u_degree: 1,
        v_degree: 1,
        u_breaks: vec![0.0, 1.0, 2.0],
        v_breaks: vec![0.0, 1.0],
        control,
        u_periodic: false,
        v_periodic: false,
    }
}

fn spline() -> BezierSpline {
    let control = (0..6).map(f64::from).map(|i| H4::new(i, -i, i * i, 2.0)).collect();
    BezierSpline { degree: 2, breaks: vec![-1.0, 0.0, 3.0], control, periodic: false }
}

fn surfaces() -> Vec<Surface> {
    let frame = frame();
    vec![
        Surface::Plane { frame },
        Surface::Cylinder { frame, radius: 2.0 },
        Surface::Cone { frame, half_angle: 0.3 },
        Surface::Sphere { frame, radius: 1.0 },
        Surface::Torus { frame, major: 3.0, minor: 1.0 },
        Surface::Bezier(grid()),
    ]
}

fn curves() -> Vec<Curve> {
    let frame = frame();
    vec![
        Curve::Line { origin: P3::origin(), dir: V3::x() },
        Curve::Circle { frame, radius: 1.0 },
        Curve::Ellipse { frame, semi_x: 2.0, semi_y: 1.0 },
        Curve::Parabola { frame, focal: 0.5 },
        Curve::Hyperbola { frame, semi: 1.0, semi_imag: 2.0 },
        Curve::Bezier(spline()),
    ]
}

fn near<T>(shape: T) -> NearCanonical<T> {
    NearCanonical { shape, outward: true, deviation: 1e-5, angle: 1e-4, curvature: 1e-3 }
}

/// A solid with one area for each feature.
pub(crate) fn hierarchy() -> Hierarchy {
    let sources = |i: u64| vec![(100 + i, None), (200 + i, (i == 0).then(trim))];
    let faces: Vec<Face> = surfaces()
        .into_iter()
        .zip(0..)
        .map(|(surface, i)| {
            let sphere = Surface::Sphere { frame: frame(), radius: 2.0 };
            let near = (!surface.is_canonical()).then(|| near(sphere));
            Face {
                surface,
                outward: i % 2 == 0,
                trim: trim(),
                sources: sources(i),
                canonical_approximation: near,
            }
        })
        .collect();
    let side = |face: u32| AdjacentFace {
        face: FaceId(face),
        forward: face == 0,
        guide: vec![[0.0, 0.1, 0.2], [1.0, 0.3, 0.4]],
    };
    let edges: Vec<Edge> = curves()
        .into_iter()
        .map(|curve| Edge {
            canonical_approximation: matches!(curve, Curve::Bezier(_))
                .then(|| near(Curve::Circle { frame: frame(), radius: 2.0 })),
            curve,
            spans: vec![Span { t0: 0.0, t1: 1.0, source: 7, deviation: 1e-7 }],
            closed: false,
            sides: [side(0), side(5)],
            quasi_only: false,
        })
        .collect();
    let vertex = Vertex {
        point: P3::new(1.0, 2.0, 3.0),
        constraints: vec![V3::x(), V3::y()],
        source: 9,
        deviation: 0.0,
        quasi_only: true,
    };
    let rect = Rect { u0: 0.0, u1: 1.0, v0: 0.0, v1: 1.0 };
    let cone = PolyCone::hull(&[V3::x(), V3::y(), V3::z()]).expect("an octant");
    let features = (0..6)
        .map(|i| Feature::Face(FaceId(i)))
        .chain((0..6).map(|i| Feature::Edge(EdgeId(i))))
        .chain(std::iter::once(Feature::Vertex(VertexId(0))));
    let areas: Vec<Area> = features
        .map(|feature| Area {
            feature,
            rect,
            cone: if feature == Feature::Edge(EdgeId(3)) { PolyCone::all() } else { cone.clone() },
        })
        .collect();
    let nodes = chain(areas.len());
    let info = SolidInfo {
        name: "pièce".to_owned(),
        source: 42,
        bbox_min: [-1.0; 3],
        bbox_max: [2.0; 3],
        area: 10.0,
        volume: 3.0,
        inertia: Some(Inertia {
            centroid: [0.5, 0.25, -0.125],
            tensor: [[3.0, -0.5, 0.25], [-0.5, 4.0, 0.0], [0.25, 0.0, 5.0]],
        }),
        min_thickness: 0.75,
        ..SolidInfo::default()
    };
    let hull = Obb::fit(&[P3::origin(), P3::new(1.0, 2.0, 3.0)]).corners().to_vec();
    Hierarchy { info, faces, edges, vertices: vec![vertex], areas, nodes, hull }
}

/// Nodes of a tree over the areas `0..n_areas` in which each left child is a leaf, so that its depth is
/// `n_areas`.
pub(crate) fn chain(n_areas: usize) -> Vec<Node> {
    let obb = Obb::fit(&[P3::origin(), P3::new(1.0, 2.0, 3.0)]);
    let node = |link: usize| Node {
        obb,
        cone: RevolutionCone { axis: V3::z(), half_angle: 0.5 },
        types: 1,
        link: u32::try_from(link).expect("a small model"),
    };
    let leaf = |area: usize| node(Node::LEAF as usize | area);
    let mut nodes = vec![leaf(n_areas - 1)];
    for area in 0..n_areas - 1 {
        let last = nodes.len() - 1;
        nodes[last] = node(nodes.len());
        nodes.push(leaf(area));
        nodes.push(leaf(n_areas - 1));
    }
    nodes
}

/// A model of two solids, three instances and two components.
pub(crate) fn model() -> Model {
    let instance = |solid| Instance {
        solid,
        name: format!("part {solid}"),
        path: "root/part".to_owned(),
        translation: [1.0, 2.0, 3.0],
        rotation: [0.6, 0.0, 0.0, 0.8],
    };
    let component = |parent, instances| Component {
        name: "root".to_owned(),
        source: 5,
        parent,
        mirrored: parent.is_some(),
        translation: [0.0, 0.0, 1.0],
        rotation: [0.0, 0.0, 0.0, 1.0],
        instances,
    };
    Model {
        input: "made-up.step".to_owned(),
        input_hash: 0x0123_4567_89AB_CDEF,
        options: Options { flatness: 0.5 },
        solids: vec![hierarchy(), hierarchy()],
        instances: vec![instance(0), instance(1), instance(0)],
        components: vec![component(None, vec![1]), component(Some(0), vec![0, 2])],
        remarks: vec![
            Remark {
                severity: Severity::Warning,
                subject: "solid #2 'x'".to_owned(),
                entity: Some(3),
                point: Some([1.0, 2.0, 3.0]),
                message: "face #3: something".to_owned(),
            },
            Remark {
                severity: Severity::Error,
                subject: "solid #7".to_owned(),
                entity: Some(7),
                point: None,
                message: "open".to_owned(),
            },
        ],
        origin: Origin {
            program: "feeler 0".to_owned(),
            references: vec![Reference { path: "other.step".to_owned(), hash: Some(7) }],
        },
    }
}
