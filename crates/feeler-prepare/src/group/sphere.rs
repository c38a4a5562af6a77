//! Refits boundaries of spherical faces in the parameters of a sphere with another axis.
//!
//! # Source
//! MATH §5: Table 2.3 has no isometry for spheres whose axes differ, so that the curves are refitted.

use feeler_geom::trim::TrimPiece;
use feeler_geom::{P2, Surface, V2, math};
use std::f64::consts::TAU;

/// Maximum number of halvings of a boundary piece, after which the refit fails. Each halving reduces the
/// error of a cubic Hermite piece by a factor of 16.
const MAX_DEPTH: u32 = 12;

/// Fits boundary pieces, given in the parameters of the sphere `from`, in the parameters of the equal
/// sphere `to`, within `tol` (mm) in space. Returns `None` if a piece is so close to a pole of `to` that
/// its longitude is undefined, or if the tolerance is not reached.
pub(super) fn refit(from: &Surface, to: &Surface, pieces: &[TrimPiece], tol: f64) -> Option<Vec<TrimPiece>> {
    let mut out = Vec::new();
    for piece in pieces {
        let path = Path { from, to, piece };
        let start = path.at(0.0, None)?;
        path.fit((0.0, start), (1.0, path.at(1.0, None)?), tol, MAX_DEPTH, &mut out)?;
    }
    Some(out)
}

struct Path<'a> {
    from: &'a Surface,
    to: &'a Surface,
    piece: &'a TrimPiece,
}

/// Parameters of a point on the sphere `to`, and their derivative with respect to the parameter of the
/// piece.
type Hermite = (P2, V2);

impl Path<'_> {
    fn at(&self, s: f64, near: Option<f64>) -> Option<Hermite> {
        let (uv, d) = (self.piece.eval(s), self.piece.derivative(s));
        let f = self.from.derivs(uv);
        let velocity = f.du * d.x + f.dv * d.y;
        let mut image = self.to.invert(&f.p, None, None);
        if let Some(u) = near {
            image.x = math::unwrap_near(image.x, u, TAU);
        }
        let g = self.to.derivs(image);
        let (e, h) = (g.du.norm_squared(), g.dv.norm_squared());
        // At a pole the longitude is undefined and its derivative unbounded.
        (e > 1e-8 * h).then(|| (image, V2::new(velocity.dot(&g.du) / e, velocity.dot(&g.dv) / h)))
    }

    fn fit(
        &self,
        a: (f64, Hermite),
        b: (f64, Hermite),
        tol: f64,
        depth: u32,
        out: &mut Vec<TrimPiece>,
    ) -> Option<()> {
        let h = b.0 - a.0;
        let mut end = b.1;
        // The longitude is unwrapped from the start. A span that could turn by half a turn is halved
        // first.
        end.0.x = math::unwrap_near(end.0.x, a.1.0.x, TAU);
        let turns = (end.0.x - a.1.0.x).abs().max((a.1.1.x * h).abs()).max((end.1.x * h).abs());
        let image = TrimPiece {
            control: [a.1.0, a.1.0 + a.1.1 * (h / 3.0), end.0 - end.1 * (h / 3.0), end.0],
            ..*self.piece
        };
        let mut worst = 0.0_f64;
        for k in [0.25, 0.5, 0.75] {
            let p = self.from.point(self.piece.eval(a.0 + h * k));
            worst = worst.max((self.to.point(image.eval(k)) - p).norm());
        }
        if turns < 1.0 && worst <= tol {
            out.push(TrimPiece { deviation: self.piece.deviation + worst, ..image });
            return Some(());
        }
        let depth = depth.checked_sub(1)?;
        let mid = a.0 + 0.5 * h;
        let m = self.at(mid, Some(a.1.0.x))?;
        self.fit(a, (mid, m), tol, depth, out)?;
        // The second half starts where the first one ended, so that the pieces join without a jump by a
        // turn.
        let joint = out.last()?.control[3];
        self.fit((mid, (joint, m.1)), (b.0, end), tol, depth, out)
    }
}
