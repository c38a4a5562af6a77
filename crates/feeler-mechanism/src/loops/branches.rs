//! Branches of a linkage: all positions of the dependent joints for one position of the driven joints, as far
//! as a search from many start values finds them.

use super::equations::Equations;
use super::newton::CLOSURE_TOLERANCE;
use crate::JointKind;
use std::f64::consts::{PI, TAU};

/// Number of start values of the search for branches. With a larger value the search takes longer; with a
/// smaller one branches are missed.
const NUM_STARTS: u64 = 64;

/// Maximum difference (rad, and sizes of the loops) of the unknowns of two equal solutions. With a larger
/// value close branches are merged; with a smaller one a solution at a dead point, where iterations converge
/// slowly, is listed repeatedly.
const SAME_SOLUTION: f64 = 1e-5;

impl Equations<'_> {
    /// Solutions with the driven joints of `values`, as values of all joints, in increasing order of the
    /// unknowns. Angles are within half a turn. Solutions beyond the limits of joints are omitted.
    pub(super) fn branches(&self, values: &[f64]) -> Vec<Vec<f64>> {
        let mut found: Vec<Vec<f64>> = Vec::new();
        let mut add = |solution: Vec<f64>| {
            let is_new = !found.iter().any(|other| self.is_same(other, &solution));
            if is_new && self.error(&solution) <= CLOSURE_TOLERANCE && self.mechanism.check(&solution).is_ok()
            {
                found.push(self.within_half_turns(&solution));
            }
        };
        if self.error(values) <= CLOSURE_TOLERANCE {
            add(values.to_vec());
        }
        for i in 0..NUM_STARTS {
            let mut start = values.to_vec();
            for (c, unknown) in self.unknowns.iter().enumerate() {
                let joint = &self.mechanism.joints[unknown.joint];
                let [min, max] = joint.limits.unwrap_or(match joint.kind {
                    JointKind::Revolute { .. } => [-PI, PI],
                    _ => [-2.0 * self.size, 2.0 * self.size],
                });
                start[unknown.joint] = min + fraction(i * 1021 + c as u64) * (max - min);
            }
            add(self.assemble(&self.mechanism.all_values(&start)));
        }
        let key = |values: &Vec<f64>| -> Vec<i64> {
            #[expect(clippy::cast_possible_truncation, reason = "small numbers")]
            self.unknowns.iter().map(|u| (values[u.joint] / u.unit / SAME_SOLUTION).round() as i64).collect()
        };
        found.sort_by_key(key);
        found
    }

    /// Whether two solutions are equal, up to whole turns of revolute unknowns without followers.
    pub(super) fn is_same(&self, a: &[f64], b: &[f64]) -> bool {
        self.unknowns.iter().all(|u| {
            let mut change = (a[u.joint] - b[u.joint]) / u.unit;
            if self.can_turn(u) {
                change -= TAU * (change / TAU).round();
            }
            change.abs() <= SAME_SOLUTION
        })
    }

    /// Whether whole turns of an unknown do not matter: it is a revolute joint that no other joint mimics.
    fn can_turn(&self, unknown: &super::equations::Unknown) -> bool {
        let joint = &self.mechanism.joints[unknown.joint];
        unknown.moved.len() == 1 && matches!(joint.kind, JointKind::Revolute { .. })
    }

    fn within_half_turns(&self, values: &[f64]) -> Vec<f64> {
        let mut values = values.to_vec();
        for unknown in self.unknowns.iter().filter(|u| self.can_turn(u)) {
            let value = &mut values[unknown.joint];
            let turned = *value - TAU * (*value / TAU).round();
            // A joint whose limits exclude the equal angle keeps its own.
            if self.mechanism.joints[unknown.joint].limits.is_none() {
                *value = turned;
            }
        }
        self.mechanism.all_values(&values)
    }
}

/// Pseudorandom number from 0 to 1 for the index `i`, the same on all platforms (`SplitMix64`).
fn fraction(i: u64) -> f64 {
    let mut z = i.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    #[expect(clippy::cast_precision_loss, reason = "53 bits")]
    let numerator = (z >> 11) as f64;
    numerator / 9_007_199_254_740_992.0
}
