//! Do the interiors meet?

use crate::filter::Accepted;
use crate::solve::Context;

pub(crate) fn interiors_meet(_ctx: &Context<'_>, _kept: &[Accepted]) -> bool {
    false
}
