//! The motion nearest to a free one that obeys linear gaps.

/// Twist of B about the centre of its box: translation (mm), then rotation (rad) times a lever (mm).
pub type Twist = nalgebra::SVector<f64, 6>;

/// Linear gap of a contact: its value (mm) and its derivative with respect to a twist.
pub type LinearGap = (f64, Twist);

/// Motion that obeys linear gaps, with its contact multipliers.
#[derive(Clone, Debug)]
pub struct Projection {
    /// The projected twist.
    pub twist: Twist,
    /// Multiplier of each gap, positive if the contact pushes.
    pub multipliers: Vec<f64>,
    /// Largest violation (mm) of a linear gap.
    pub violation: f64,
}

/// Maximum number of sweeps over all gaps.
const MAX_SWEEPS: usize = 20_000;
/// Maximum change of the motion in a sweep, and maximum violation (mm), at which the projection has
/// converged.
const CONVERGED: f64 = 1e-9;

/// Twist nearest to `free` for which every linear gap is at least `margin` (mm), by dual coordinate
/// ascent.
#[must_use]
pub fn project(gaps: &[LinearGap], free: &Twist, margin: f64) -> Projection {
    let mut multipliers = vec![0.0; gaps.len()];
    let mut twist = *free;
    for _ in 0..MAX_SWEEPS {
        let (mut change, mut violation) = (0.0_f64, 0.0_f64);
        for (multiplier, (gap, rate)) in multipliers.iter_mut().zip(gaps) {
            let squared = rate.norm_squared();
            // Restricted motions may have zero rate for some gaps.
            if squared < 1e-12 {
                continue;
            }
            let missing = margin - gap - rate.dot(&twist);
            violation = violation.max(missing);
            let next = (*multiplier + missing / squared).max(0.0_f64);
            let step = next - *multiplier;
            *multiplier = next;
            twist += rate * step;
            change = change.max(step.abs() * squared.sqrt());
        }
        if change < CONVERGED && violation < CONVERGED {
            break;
        }
    }
    let missing = |(gap, rate): &LinearGap| margin - gap - rate.dot(&twist);
    let can_change = |(_, rate): &&LinearGap| rate.norm_squared() >= 1e-12;
    let violation = gaps.iter().filter(can_change).map(missing).fold(0.0, f64::max);
    Projection { twist, multipliers, violation }
}
