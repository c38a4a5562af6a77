//! Tests that exclude directions from the polars of a feature or an area, by stored bounds of these
//! polars.

use crate::body::Body;
use crate::body::side::Which;
use crate::query::Context;
use feeler_geom::V3;
use feeler_geom::cone::Cap;
use feeler_hierarchy::{AreaId, Feature};

/// Whether an outward direction may lie in a polar of a feature, by the band of directions that contains
/// all its polars. The direction differs from `n` (frame of A) by at most `spread` (rad). `false` is
/// certain.
pub(crate) fn in_zone(ctx: &Context<'_>, (which, feature): (Which, Feature), n: &V3, spread: f64) -> bool {
    let body = ctx.body(which);
    let data = body.data(feature);
    let Some(&area) = body.areas_of(data).first() else { return true };
    let allowance = body.tree()[body.leaf_of_area(area).index()].allowance;
    let slack = ctx.polar_slack(&allowance) + spread;
    let n = if which == Which::A { *n } else { ctx.pose_ba * n };
    !data.zone.excludes(&n, slack)
}

/// Whether no outward direction of another feature is opposite to a direction in a polar of an area, so
/// that the two have no minimum. These outward directions differ by at most `spread` (rad) from
/// `gradient`, a unit vector in the frame of the area's solid. `true` is certain.
pub(crate) fn faces_away(
    ctx: &Context<'_>,
    (body, area): (&Body, AreaId),
    gradient: &V3,
    spread: f64,
) -> bool {
    let node = &body.tree()[body.leaf_of_area(area).index()];
    let slack = ctx.polar_slack(&node.allowance) + spread;
    // `sin` is at least the sine of the slack, and `cos` at most its cosine.
    let (sin, cos) = (slack, 1.0 - 0.5 * slack * slack);
    // Bounds of the sine and the cosine of the sum of the cone's half-angle and the slack. If the sum
    // exceeds half a turn, the cone contains every direction.
    let Cap { sin: of_cap, cos: along_cap, axis } = &node.cap;
    let sum_sin = of_cap * cos + along_cap.min(0.0) * sin;
    let sum_cos = along_cap * if *along_cap > 0.0 { cos } else { 1.0 } - of_cap * sin;
    slack < 1.0 && sum_sin > 0.0 && -gradient.dot(axis) < sum_cos - 1e-12
}
