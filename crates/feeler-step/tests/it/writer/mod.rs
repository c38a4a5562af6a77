//! Writes small STEP files, entity by entity.
#![allow(dead_code, unreachable_pub, reason = "the unit tests use a part of this module")]

use std::fmt::Write as _;

/// A STEP file under construction.
#[derive(Default)]
pub struct File {
    body: String,
    last: u64,
}

/// Length unit of a file.
#[derive(Clone, Copy)]
pub enum Length {
    Millimetre,
    Centimetre,
    Metre,
    Inch,
    Foot,
}

pub fn xyz(p: [f64; 3]) -> String {
    format!("({:?},{:?},{:?})", p[0], p[1], p[2])
}

pub fn refs(ids: &[u64]) -> String {
    let list: Vec<String> = ids.iter().map(|i| format!("#{i}")).collect();
    format!("({})", list.join(","))
}

impl File {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an entity and returns its id.
    pub fn add(&mut self, entity: impl AsRef<str>) -> u64 {
        self.last += 1;
        writeln!(self.body, "#{}={};", self.last, entity.as_ref()).expect("writing to a string");
        self.last
    }

    /// Returns the text of the complete file.
    pub fn text(&self) -> String {
        format!(
            "ISO-10303-21;\nHEADER;\nFILE_DESCRIPTION((''),'2;1');\n\
             FILE_NAME('small','2024-01-01T00:00:00',(''),(''),'','','');\n\
             FILE_SCHEMA(('AUTOMOTIVE_DESIGN'));\nENDSEC;\nDATA;\n{}ENDSEC;\nEND-ISO-10303-21;\n",
            self.body
        )
    }

    pub fn point(&mut self, p: [f64; 3]) -> u64 {
        self.add(format!("CARTESIAN_POINT('',{})", xyz(p)))
    }

    pub fn direction(&mut self, d: [f64; 3]) -> u64 {
        self.add(format!("DIRECTION('',{})", xyz(d)))
    }

    pub fn vertex(&mut self, p: [f64; 3]) -> u64 {
        let p = self.point(p);
        self.add(format!("VERTEX_POINT('',#{p})"))
    }

    /// Adds a placement; without `x` its `ref_direction` is omitted.
    pub fn placement(&mut self, origin: [f64; 3], z: [f64; 3], x: Option<[f64; 3]>) -> u64 {
        let (o, z) = (self.point(origin), self.direction(z));
        let x = x.map_or("$".to_owned(), |x| format!("#{}", self.direction(x)));
        self.add(format!("AXIS2_PLACEMENT_3D('',#{o},#{z},{x})"))
    }

    pub fn line(&mut self, a: [f64; 3], d: [f64; 3]) -> u64 {
        let (p, d) = (self.point(a), self.direction(d));
        let v = self.add(format!("VECTOR('',#{d},1.)"));
        self.add(format!("LINE('',#{p},#{v})"))
    }

    pub fn edge(&mut self, a: u64, b: u64, curve: u64) -> u64 {
        self.add(format!("EDGE_CURVE('',#{a},#{b},#{curve},.T.)"))
    }

    /// Adds a loop of edges, each with its orientation flag.
    pub fn edge_loop(&mut self, edges: &[(u64, bool)]) -> u64 {
        let ids: Vec<u64> = edges
            .iter()
            .map(|(e, forward)| {
                self.add(format!("ORIENTED_EDGE('',*,*,#{e},.{}.)", if *forward { "T" } else { "F" }))
            })
            .collect();
        self.add(format!("EDGE_LOOP('',{})", refs(&ids)))
    }

    pub fn face(&mut self, loops: &[u64], surface: u64, same_sense: bool) -> u64 {
        let bounds: Vec<u64> = loops.iter().map(|l| self.add(format!("FACE_BOUND('',#{l},.T.)"))).collect();
        let sense = if same_sense { "T" } else { "F" };
        self.add(format!("ADVANCED_FACE('',{},#{surface},.{sense}.)", refs(&bounds)))
    }

    pub fn closed_shell(&mut self, faces: &[u64]) -> u64 {
        self.add(format!("CLOSED_SHELL('',{})", refs(faces)))
    }

    /// Adds the faces of a box with the corners `lo` and `hi` (minimum and maximum coordinates); the
    /// planes face outward.
    pub fn block(&mut self, lo: [f64; 3], hi: [f64; 3]) -> Vec<u64> {
        let corner = |i: usize| [0, 1, 2].map(|k| if i >> k & 1 == 1 { hi[k] } else { lo[k] });
        let vertices: Vec<u64> = (0..8).map(|i| self.vertex(corner(i))).collect();
        let mut edges = std::collections::BTreeMap::new();
        let sides: [([usize; 4], [f64; 3]); 6] = [
            ([0, 2, 3, 1], [0., 0., -1.]),
            ([4, 5, 7, 6], [0., 0., 1.]),
            ([0, 1, 5, 4], [0., -1., 0.]),
            ([2, 6, 7, 3], [0., 1., 0.]),
            ([0, 4, 6, 2], [-1., 0., 0.]),
            ([1, 3, 7, 5], [1., 0., 0.]),
        ];
        sides
            .iter()
            .map(|(ring, normal)| {
                let uses: Vec<(u64, bool)> = (0..4)
                    .map(|k| {
                        let (a, b) = (ring[k], ring[(k + 1) % 4]);
                        let (s, e) = (a.min(b), a.max(b));
                        let edge = *edges.entry((s, e)).or_insert_with(|| {
                            let (p, q) = (corner(s), corner(e));
                            let line = self.line(p, [q[0] - p[0], q[1] - p[1], q[2] - p[2]]);
                            self.edge(vertices[s], vertices[e], line)
                        });
                        (edge, a == s)
                    })
                    .collect();
                let l = self.edge_loop(&uses);
                let frame = self.placement(corner(ring[0]), *normal, None);
                let plane = self.add(format!("PLANE('',#{frame})"));
                self.face(&[l], plane, true)
            })
            .collect()
    }

    /// Adds the faces of a body of revolution about the world z axis between circles of radius `r0` at
    /// height `z0` and `r1` at `z1`. Its side lies on the surface `side`, with a seam at y = 0.
    pub fn turned(&mut self, r0: f64, z0: f64, r1: f64, z1: f64, side: u64, side_sense: bool) -> Vec<u64> {
        let (v0, v1) = (self.vertex([r0, 0., z0]), self.vertex([r1, 0., z1]));
        let ring = |f: &mut Self, v: u64, r: f64, z: f64| {
            let frame = f.placement([0., 0., z], [0., 0., 1.], Some([1., 0., 0.]));
            let circle = f.add(format!("CIRCLE('',#{frame},{r:?})"));
            f.edge(v, v, circle)
        };
        let (c0, c1) = (ring(self, v0, r0, z0), ring(self, v1, r1, z1));
        let seam = self.line([r0, 0., z0], [r1 - r0, 0., z1 - z0]);
        let seam = self.edge(v0, v1, seam);
        let side_loop = self.edge_loop(&[(c0, true), (seam, true), (c1, false), (seam, false)]);
        let side = self.face(&[side_loop], side, side_sense);
        let cap = |f: &mut Self, edge: u64, forward: bool, z: f64, up: f64| {
            let l = f.edge_loop(&[(edge, forward)]);
            let frame = f.placement([0., 0., z], [0., 0., up], None);
            let plane = f.add(format!("PLANE('',#{frame})"));
            f.face(&[l], plane, true)
        };
        let bottom = cap(self, c0, false, z0, -1.0);
        let top = cap(self, c1, true, z1, 1.0);
        vec![side, bottom, top]
    }

    pub fn solid(&mut self, faces: &[u64]) -> u64 {
        let shell = self.closed_shell(faces);
        self.add(format!("MANIFOLD_SOLID_BREP('body',#{shell})"))
    }

    /// Adds a representation context with its units.
    pub fn context(&mut self, length: Length, degrees: bool) -> u64 {
        let si = |f: &mut Self, prefix: &str| {
            f.add(format!("(LENGTH_UNIT()NAMED_UNIT(*)SI_UNIT({prefix},.METRE.))"))
        };
        let length = match length {
            Length::Millimetre => si(self, ".MILLI."),
            Length::Centimetre => si(self, ".CENTI."),
            Length::Metre => si(self, "$"),
            Length::Inch | Length::Foot => {
                let mm = si(self, ".MILLI.");
                let (name, size) =
                    if matches!(length, Length::Inch) { ("INCH", 25.4) } else { ("FOOT", 304.8) };
                let m = self.add(format!("LENGTH_MEASURE_WITH_UNIT(LENGTH_MEASURE({size}),#{mm})"));
                let e = self.add("DIMENSIONAL_EXPONENTS(1.,0.,0.,0.,0.,0.,0.)");
                self.add(format!("(CONVERSION_BASED_UNIT('{name}',#{m})LENGTH_UNIT()NAMED_UNIT(#{e}))"))
            }
        };
        let radian = self.add("(NAMED_UNIT(*)PLANE_ANGLE_UNIT()SI_UNIT($,.RADIAN.))");
        let angle = if degrees {
            let m = self.add(format!(
                "PLANE_ANGLE_MEASURE_WITH_UNIT(PLANE_ANGLE_MEASURE(0.017453292519943295),#{radian})"
            ));
            let e = self.add("DIMENSIONAL_EXPONENTS(0.,0.,0.,0.,0.,0.,0.)");
            self.add(format!("(CONVERSION_BASED_UNIT('DEGREE',#{m})NAMED_UNIT(#{e})PLANE_ANGLE_UNIT())"))
        } else {
            radian
        };
        let solid_angle = self.add("(NAMED_UNIT(*)SI_UNIT($,.STERADIAN.)SOLID_ANGLE_UNIT())");
        let u = self.add(format!(
            "UNCERTAINTY_MEASURE_WITH_UNIT(LENGTH_MEASURE(1.E-5),#{length},'distance_accuracy_value','')"
        ));
        self.add(format!(
            "(GEOMETRIC_REPRESENTATION_CONTEXT(3)GLOBAL_UNCERTAINTY_ASSIGNED_CONTEXT((#{u}))\
             GLOBAL_UNIT_ASSIGNED_CONTEXT((#{length},#{angle},#{solid_angle}))\
             REPRESENTATION_CONTEXT('','3D'))"
        ))
    }

    pub fn shape(&mut self, items: &[u64], context: u64) -> u64 {
        self.add(format!("ADVANCED_BREP_SHAPE_REPRESENTATION('',{},#{context})", refs(items)))
    }

    /// Adds a product definition with the given name and shape.
    pub fn product(&mut self, name: &str, shape: u64) -> u64 {
        let product = self.add(format!("PRODUCT('{name}','{name}','',())"));
        let formation = self.add(format!("PRODUCT_DEFINITION_FORMATION('','',#{product})"));
        let definition = self.add(format!("PRODUCT_DEFINITION('design','',#{formation},$)"));
        let of = self.add(format!("PRODUCT_DEFINITION_SHAPE('','',#{definition})"));
        self.add(format!("SHAPE_DEFINITION_REPRESENTATION(#{of},#{shape})"));
        definition
    }

    /// Adds a usage of a component in an assembly, placed by a relation of their shapes.
    pub fn usage(&mut self, assembly: u64, component: u64, rep_1: u64, rep_2: u64, items: (u64, u64)) -> u64 {
        let usage =
            self.add(format!("NEXT_ASSEMBLY_USAGE_OCCURRENCE('1','use','',#{assembly},#{component},$)"));
        let of = self.add(format!("PRODUCT_DEFINITION_SHAPE('','',#{usage})"));
        let t = self.add(format!("ITEM_DEFINED_TRANSFORMATION('','',#{},#{})", items.0, items.1));
        let relation = self.add(format!(
            "(REPRESENTATION_RELATIONSHIP('','',#{rep_1},#{rep_2})\
             REPRESENTATION_RELATIONSHIP_WITH_TRANSFORMATION(#{t})SHAPE_REPRESENTATION_RELATIONSHIP())"
        ));
        self.add(format!("CONTEXT_DEPENDENT_SHAPE_REPRESENTATION(#{relation},#{of})"));
        usage
    }
}
