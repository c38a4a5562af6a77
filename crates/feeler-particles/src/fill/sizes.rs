//! How large grains are.

use super::FillError;
use feeler_geom::math;
use feeler_grains::Random;

/// A distribution of diameters (mm), by number where nothing else is said.
#[derive(Clone, Debug, PartialEq)]
pub enum Sizes {
    /// All alike.
    Same(f64),
    /// Between two, all equally likely.
    Uniform {
        /// Smallest.
        from: f64,
        /// Largest.
        to: f64,
    },
    /// Normal, cut off: what is beyond is drawn again.
    Normal {
        /// Mean of the whole distribution.
        mean: f64,
        /// Deviation of the whole distribution.
        deviation: f64,
        /// Smallest.
        from: f64,
        /// Largest.
        to: f64,
    },
    /// Lognormal, cut off.
    Lognormal {
        /// Median of the whole distribution.
        median: f64,
        /// Deviation of the natural logarithm.
        spread: f64,
        /// Smallest.
        from: f64,
        /// Largest.
        to: f64,
    },
    /// Classes, each a diameter with its share of the mass, in any unit.
    ByMass(Vec<(f64, f64)>),
}

impl Sizes {
    /// Whether its numbers make sense.
    ///
    /// # Errors
    /// What does not.
    pub fn check(&self) -> Result<(), FillError> {
        let is_good = |d: f64| d > 0.0 && d.is_finite();
        let is_range = |from: f64, to: f64| is_good(from) && is_good(to) && from <= to;
        let wrong = |text: &str| Err(FillError::Sizes(text.to_owned()));
        match self {
            Self::Same(d) if is_good(*d) => Ok(()),
            Self::Same(d) => Err(FillError::Sizes(format!("the diameter is {d} mm; give one above 0"))),
            Self::Uniform { from, to } | Self::Normal { from, to, .. } | Self::Lognormal { from, to, .. }
                if !is_range(*from, *to) =>
            {
                Err(FillError::Sizes(format!(
                    "diameters from {from} to {to} mm are no range; give two above 0, the smaller one first"
                )))
            }
            Self::Uniform { .. } => Ok(()),
            Self::Normal { mean, deviation, from, to } => {
                if !(mean.is_finite() && *deviation > 0.0 && deviation.is_finite()) {
                    return wrong("a normal distribution needs a finite mean and a deviation above 0");
                }
                // Nearer to the mean there is enough to draw from.
                if from - mean > MOST_OFF * deviation || mean - to > MOST_OFF * deviation {
                    return wrong("the range is more than four deviations off the mean; move one of them");
                }
                if to - from < LEAST_PART * deviation {
                    return wrong("the range is less than a hundredth of the deviation; make it wider");
                }
                Ok(())
            }
            Self::Lognormal { median, spread, from, to } => {
                if !(is_good(*median) && *spread > 0.0 && spread.is_finite()) {
                    return wrong("a lognormal distribution needs a median and a spread above 0");
                }
                let [low, high] = [from, to].map(|d| math::ln(d / median));
                if low > MOST_OFF * spread || -high > MOST_OFF * spread {
                    return wrong("the range is more than four spreads off the median; move one of them");
                }
                if high - low < LEAST_PART * spread {
                    return wrong("the range is less than a hundredth of the spread; make it wider");
                }
                Ok(())
            }
            Self::ByMass(classes) => {
                if classes.is_empty() {
                    return wrong("a table by mass needs at least one [diameter, share]");
                }
                if !classes.iter().all(|(d, share)| is_good(*d) && is_good(*share)) {
                    return wrong("diameters and shares of a table by mass must be above 0");
                }
                Ok(())
            }
        }
    }

    /// The smallest and the largest diameter there may be (mm).
    #[must_use]
    pub fn range(&self) -> (f64, f64) {
        match self {
            Self::Same(d) => (*d, *d),
            Self::Uniform { from, to } | Self::Normal { from, to, .. } | Self::Lognormal { from, to, .. } => {
                (*from, *to)
            }
            Self::ByMass(classes) => {
                classes.iter().fold((f64::INFINITY, 0.0), |(low, high), (d, _)| (low.min(*d), high.max(*d)))
            }
        }
    }

    /// A diameter (mm). The distribution has been checked.
    pub fn draw(&self, random: &mut Random) -> f64 {
        match self {
            Self::Same(d) => *d,
            Self::Uniform { from, to } => random.between(*from, *to),
            Self::Normal { mean, deviation, from, to } => {
                cut_off(*from, *to, || mean + deviation * random.normal())
            }
            Self::Lognormal { median, spread, from, to } => {
                cut_off(*from, *to, || median * math::exp(spread * random.normal()))
            }
            Self::ByMass(classes) => {
                // As many grains of a class as its mass needs.
                let count = |(d, share): &(f64, f64)| share / (d * d * d);
                let all: f64 = classes.iter().map(count).sum();
                let mut left = random.part() * all;
                for class in classes {
                    left -= count(class);
                    if left < 0.0 {
                        return class.0;
                    }
                }
                classes.last().map_or(0.0, |c| c.0)
            }
        }
    }
}

fn cut_off(from: f64, to: f64, mut one: impl FnMut() -> f64) -> f64 {
    let drawn = (0..TRIES).map(|_| one()).find(|d| (from..=to).contains(d));
    drawn.unwrap_or(0.5 * (from + to))
}

/// How many deviations a range may be off the mean: beyond, next to nothing is drawn.
const MOST_OFF: f64 = 4.0;

/// Least width of a range as a part of the deviation.
const LEAST_PART: f64 = 0.01;

/// Draws after which the middle of the range is taken; of checked ranges one in 10⁷ draws is within at the
/// least.
const TRIES: u32 = 1 << 28;

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(sizes: &Sizes) -> Vec<f64> {
        sizes.check().unwrap();
        let mut random = Random::new(11, 0);
        (0..20_000).map(|_| sizes.draw(&mut random)).collect()
    }

    #[test]
    fn shares_of_the_mass_are_those_of_the_table() {
        let classes = vec![(1.0, 20.0), (2.0, 50.0), (4.0, 30.0)];
        let all = drawn(&Sizes::ByMass(classes.clone()));
        let mass = |d: f64| all.iter().filter(|x| (**x - d).abs() < 1e-12).count() as f64 * d * d * d;
        let total: f64 = classes.iter().map(|c| mass(c.0)).sum();
        for (d, share) in classes {
            // The largest class has some 170 grains of the 20,000.
            assert!((mass(d) / total - share / 100.0).abs() < 0.05, "{d}: {}", mass(d) / total);
        }
    }

    #[test]
    fn medians_and_quartiles_are_those_of_the_distributions() {
        let quantile = |all: &[f64], percent: usize| {
            let mut all = all.to_vec();
            all.sort_by(f64::total_cmp);
            all[all.len() * percent / 100]
        };
        let normal = drawn(&Sizes::Normal { mean: 3.0, deviation: 0.5, from: 1.0, to: 5.0 });
        // 0.6745 deviations: the upper quartile, hardly touched by cutting off at four deviations.
        assert!((quantile(&normal, 50) - 3.0).abs() < 0.02 && (quantile(&normal, 75) - 3.33725).abs() < 0.02);
        let wide = drawn(&Sizes::Lognormal { median: 2.0, spread: 0.4, from: 0.1, to: 20.0 });
        assert!((quantile(&wide, 50) - 2.0).abs() < 0.02, "median");
        assert!((quantile(&wide, 75) - 2.0 * math::exp(0.6745 * 0.4)).abs() < 0.03, "quartile");
        let cut = drawn(&Sizes::Normal { mean: 3.0, deviation: 0.5, from: 2.9, to: 3.1 });
        assert!(cut.iter().all(|d| (2.9..=3.1).contains(d)), "cut off");
        // Far off the mean there is something to draw, too.
        let far = drawn(&Sizes::Normal { mean: 3.0, deviation: 0.5, from: 4.5, to: 5.0 });
        assert!(far.iter().all(|d| (4.5..=5.0).contains(d)) && quantile(&far, 50) < 4.65, "the tail falls");
    }

    #[test]
    fn what_is_no_distribution_is_refused() {
        let none = [
            (Sizes::Same(0.0), "above 0"),
            (Sizes::Same(f64::NAN), "above 0"),
            (Sizes::Uniform { from: 2.0, to: 1.0 }, "no range"),
            (Sizes::Normal { mean: 3.0, deviation: 0.0, from: 1.0, to: 4.0 }, "deviation above 0"),
            (Sizes::Normal { mean: 3.0, deviation: 0.1, from: 4.0, to: 5.0 }, "four deviations"),
            (Sizes::Lognormal { median: 3.0, spread: 0.1, from: 3.0, to: 3.0 }, "hundredth"),
            (Sizes::Lognormal { median: -3.0, spread: 0.1, from: 3.0, to: 4.0 }, "median"),
            (Sizes::ByMass(vec![]), "at least one"),
            (Sizes::ByMass(vec![(1.0, -1.0)]), "above 0"),
        ];
        for (sizes, told) in none {
            let error = sizes.check().unwrap_err().to_string();
            assert!(error.contains(told), "{sizes:?}: {error}");
        }
    }
}
