//! Seeds of all crossing curves of two faces: points where the trims of one face pass through the surface
//! of the other one, and points on each closed curve.

use super::march::Faces;
use super::seed::Seed;
use crate::body::edge_arcs::PatchThirds;
use crate::body::ids::AreaPair;
use crate::body::side::Which;
use crate::verdict::patch_of;
use feeler_geom::crossing::{
    Arc, Level, Search, Shifted, curve_through_level, curve_through_patch, patch_through_level,
    patch_through_patch,
};
use feeler_geom::skeleton::Primitive;
use feeler_geom::trim::TrimPiece;
use feeler_geom::{P2, P3, V3};
use feeler_hierarchy::{AreaId, Feature};

/// Maximum number of cells (rectangles or intervals of parameters) that all searches for two solids
/// examine. A larger value is slower in unresolvable cases; with a smaller one, curves are incomplete.
pub(super) const TOTAL_BUDGET: u32 = 1_000_000;
/// Maximum number of cells (rectangles or intervals of parameters) that one search examines. A larger
/// value lets one search use up [`TOTAL_BUDGET`]; with a smaller one, curves are incomplete.
const SEARCH_BUDGET: u32 = 50_000;
/// Distance from a surface, in tolerances, at which a cell counts as crossing it: for intervals of trims,
/// and for rectangles of areas. A larger value finds points several times, a smaller one needs more cells.
const CELL_SLACK: [f64; 2] = [1e-2, 0.5];
/// Distance, as a fraction of the size of the larger solid, below which seeds are the same point. A larger
/// value loses a curve; a smaller one traces a curve twice.
const SAME_SEED_DISTANCE: f64 = 1e-7;
/// Distance, as a fraction of the longest step of the tracing, below which a seed replaces another seed of
/// the same curve. A larger value loses a curve; a smaller one is slower.
const SAME_CURVE_DISTANCE: f64 = 0.1;
/// Maximum number of seeds of one pair of faces: at trims, and elsewhere. A larger value is slower; with a
/// smaller one, curves are incomplete.
const MAX_SEEDS: [usize; 2] = [4000, 500];
/// Sine of the smallest angle between an edge and a crossing curve at which the edge counts as an end of
/// the curve. A larger value misses ends of curves; a smaller one adds ends due to rounding.
const MIN_EDGE_SINE: f64 = 0.05;

/// Seeds of one pair of faces.
#[derive(Debug, Default)]
pub(super) struct Seeds {
    pub seeds: Vec<Seed>,
    /// A common point (frame of A) of the two faces at which no crossing curve could be located, because
    /// the surfaces are presumably tangent there. `None` if seeds were found, or no such point.
    pub tangent: Option<P3>,
    /// A point (frame of A) near which the seeds can be incomplete, because the budget of cells or the
    /// maximum number of seeds was exhausted; `None` if all searches were completed.
    pub unfinished: Option<P3>,
}

/// Finds all seeds of a pair of faces. `areas` are the pairs of their areas that can intersect. The number
/// of cells that the searches examine is subtracted from `budget`.
pub(super) fn find(faces: &Faces<'_>, areas: &[AreaPair], budget: &mut u32) -> Seeds {
    let mut finder = Finder { faces, areas, budget, found: Seeds::default(), doubtful: None, at_edges: 0 };
    finder.search_trims(Which::A);
    finder.search_trims(Which::B);
    finder.at_edges = finder.found.seeds.len();
    finder.search_areas();
    let Finder { mut found, doubtful, .. } = finder;
    // Curves are traced from their ends first, then from points where the surfaces intersect at large angles.
    found.seeds.sort_by(|x, y| y.at_edge.cmp(&x.at_edge).then(y.sine.total_cmp(&x.sine)));
    // Tangent points on curves are reported when the tracing stops there.
    if found.seeds.is_empty() {
        found.tangent = doubtful;
    }
    found
}

struct Finder<'a> {
    faces: &'a Faces<'a>,
    areas: &'a [AreaPair],
    budget: &'a mut u32,
    found: Seeds,
    /// The first found common point (frame of A) of both faces near which Newton's method located no
    /// point of a crossing curve, because the surfaces may be tangent; `None` without such a point.
    doubtful: Option<P3>,
    /// Number of seeds at trims, which are the first ones of the list; set after all of them are found.
    at_edges: usize,
}

impl Finder<'_> {
    /// Runs the search `run` with at most [`SEARCH_BUDGET`] cells, which are charged to the total
    /// budget. If they are exhausted, stores the point `at` (frame of A) in [`Seeds::unfinished`],
    /// unless a point is stored already.
    fn search(&mut self, at: P3, run: impl FnOnce(&mut Self, &mut u32) -> Search) {
        let given = SEARCH_BUDGET.min(*self.budget);
        let mut left = given;
        let search = run(self, &mut left);
        *self.budget -= given - left;
        if let Search::BudgetExhausted(_) = search {
            self.found.unfinished.get_or_insert(at);
        }
    }

    /// Adds a seed on the crossing curve near the point `p` (frame of A). `edge` is the direction of the
    /// edge that passes through the other face there, if any; `uv` are the parameters on both surfaces.
    /// Returns `true` if the maximum number of seeds is reached.
    fn add_seed(&mut self, p: P3, edge: Option<V3>, uv: [P2; 2]) -> bool {
        let tol = &self.faces.ctx.tol;
        match self.faces.onto(&p, None, uv) {
            Some(on) if (on.p - p).norm() <= 1e-2 * tol.size => {
                // An edge along the curve does not end it.
                let across = |d: V3| d.cross(&on.t).norm() > MIN_EDGE_SINE * d.norm();
                let at_edge = edge.is_some_and(across);
                let seed = Seed { p: on.p, t: on.t, at_edge, sine: on.sine, uv };
                let (same, nearby) =
                    (SAME_SEED_DISTANCE * tol.size, self.faces.max_step * SAME_CURVE_DISTANCE);
                if !self.found.seeds.iter().any(|s| s.replaces(&seed, same, nearby)) {
                    self.found.seeds.push(seed);
                }
            }
            _ => {
                self.doubtful.get_or_insert(p);
            }
        }
        let full = self.found.seeds.len()
            >= if edge.is_some() { MAX_SEEDS[0] } else { self.at_edges + MAX_SEEDS[1] };
        if full {
            self.found.unfinished.get_or_insert(p);
        }
        full
    }

    fn primitive(&self, which: Which) -> Option<Primitive> {
        self.faces.ctx.primitive(which, Feature::Face(self.faces.numbers[which as usize]))
    }

    /// Searches for points where trims of the face of `own` pass through the surface of the other face.
    fn search_trims(&mut self, own: Which) {
        let ctx = self.faces.ctx;
        let other = own.other();
        let (body, facing) = (ctx.body(own), ctx.body(other));
        let face = body.face(self.faces.numbers[own as usize]);
        let to_own = *ctx.pose_to_other(other);
        let primitive =
            self.primitive(other).map(|p| if own == Which::A { p } else { p.transformed(&ctx.pose_ba) });
        let mut theirs: Vec<AreaId> =
            self.areas.iter().map(|&(i, j)| if own == Which::A { j } else { i }).collect();
        theirs.sort_unstable();
        theirs.dedup();
        let slack = CELL_SLACK[0] * ctx.tol.tol;
        let turned = |d: V3| if own == Which::A { d } else { ctx.pose_ab * d };
        let mut thirds = PatchThirds::default();
        for piece in face.trim.pieces.iter().filter(|p| p.edge != u32::MAX) {
            let (speed, bend) = thirds.bounds_along(&face.surface, piece);
            let eval = |s: f64| along(&face.surface, piece, s);
            let middle = eval(0.5).0;
            let near = |area: &AreaId| {
                let q = ctx.pose_to_other(own) * middle;
                facing.node(facing.leaf_of_area(*area)).obb.distance_to(&q) <= 0.5 * speed + ctx.tol.tol
            };
            let near: Vec<AreaId> = theirs.iter().copied().filter(|a| near(a)).collect();
            if near.is_empty() {
                continue;
            }
            let arc = Arc { eval, range: [0.0, 1.0], speed, bend };
            let at = ctx.in_a(own, &middle);
            let parameters = |s: f64, of_other: P2| {
                if own == Which::A { [piece.eval(s), of_other] } else { [of_other, piece.eval(s)] }
            };
            if let Some(primitive) = &primitive {
                self.search(at, |this, left| {
                    let level = Level { primitive, at: 0.0, slack };
                    curve_through_level(&arc, &level, None, left, &mut |s| {
                        let (p, d) = eval(s);
                        this.add_seed(ctx.in_a(own, &p), Some(turned(d)), parameters(s, P2::origin()))
                    })
                });
                continue;
            }
            for area in near {
                let Some((_, patch)) = patch_of(facing, area, Some(&to_own)) else { continue };
                self.search(at, |this, left| {
                    let target = Shifted { patch, by: 0.0, slack };
                    curve_through_patch(&arc, &target, left, &mut |s, uv| {
                        let (p, d) = eval(s);
                        this.add_seed(ctx.in_a(own, &p), Some(turned(d)), parameters(s, uv))
                    })
                });
            }
        }
    }

    /// Searches for at least one point on each closed crossing curve. Points on other curves can be found,
    /// too.
    fn search_areas(&mut self) {
        let ctx = self.faces.ctx;
        let (a, b) = (self.primitive(Which::A), self.primitive(Which::B));
        let is_plane = |p: &Option<Primitive>| matches!(p, Some(Primitive::Plane { .. }));
        match (a, b) {
            // Two planes intersect in a line, which is not closed.
            _ if is_plane(&a) && is_plane(&b) => {}
            (Some(form), _) if is_plane(&a) || b.is_none() => self.through_form(Which::B, &form),
            (_, Some(form)) => self.through_form(Which::A, &form),
            _ => {
                for &(i, j) in self.areas {
                    let (Some((_, patch)), Some((_, target))) =
                        (patch_of(ctx.a, i, None), patch_of(ctx.b, j, Some(&ctx.pose_ab)))
                    else {
                        continue;
                    };
                    self.search(patch.surface.point(patch.rect.center()), |this, left| {
                        let target = Shifted { patch: target, by: 0.0, slack: CELL_SLACK[1] * ctx.tol.tol };
                        patch_through_patch(&patch, &target, left, &mut |uv, other| {
                            this.add_seed(patch.surface.point(uv), None, [uv, other])
                        })
                    });
                }
            }
        }
    }

    /// Searches for points where areas of the face of `own` pass through the closed form `form` of the
    /// other face's surface (frame of A).
    fn through_form(&mut self, own: Which, form: &Primitive) {
        let ctx = self.faces.ctx;
        let primitive = if own == Which::A { *form } else { form.transformed(&ctx.pose_ba) };
        let level = Level { primitive: &primitive, at: 0.0, slack: CELL_SLACK[1] * ctx.tol.tol };
        let split = |pair: &AreaPair| if own == Which::A { *pair } else { (pair.1, pair.0) };
        let mut pairs: Vec<AreaPair> = self.areas.iter().map(split).collect();
        pairs.sort_unstable();
        for group in pairs.chunk_by(|x, y| x.0 == y.0) {
            let Some((_, patch)) = patch_of(ctx.body(own), group[0].0, None) else { continue };
            // The closed form extends beyond the areas of the other face.
            let other = ctx.body(own.other());
            let mut relevant = |p: &P3, radius: f64| {
                let q = ctx.pose_to_other(own) * p;
                let obb = |area: AreaId| &other.node(other.leaf_of_area(area)).obb;
                group.iter().any(|(_, area)| obb(*area).distance_to(&q) <= radius + ctx.tol.tol)
            };
            let at = ctx.in_a(own, &patch.surface.point(patch.rect.center()));
            self.search(at, |this, left| {
                patch_through_level((&patch, [true; 2]), &level, None, &mut relevant, left, &mut |uv| {
                    let hints = if own == Which::A { [uv, P2::origin()] } else { [P2::origin(), uv] };
                    this.add_seed(ctx.in_a(own, &patch.surface.point(uv)), None, hints)
                })
            });
        }
    }
}

/// Point of a trim at the parameter `s` and its derivative by `s`, in the frame of the solid of the trim.
fn along(surface: &feeler_geom::Surface, piece: &TrimPiece, s: f64) -> (P3, V3) {
    let (p, du, dv) = surface.first_derivs(piece.eval(s));
    let d = piece.derivative(s);
    (p, du * d.x + dv * d.y)
}
