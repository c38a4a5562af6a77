//! Sizes and shapes by chance: plain data and a seed give the same grains always and everywhere.

mod shapes;
#[cfg(test)]
mod tests;
#[cfg(feature = "serde")]
mod written;

pub use shapes::Shapes;

use crate::{GrainError, Random};
use feeler_geom::math;

/// A distribution of a positive number, mostly a diameter (mm), by number of grains where nothing else is
/// said.
///
/// With feature `serde` it is read as people write it: a number, or one of `{from, to}`,
/// `{mean, deviation, from, to}`, `{median, spread, from, to}` and `{by_mass = [[size, share], …]}`, where
/// `[from, to, share]` is a class as wide as that.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize), serde(from = "written::Written"))]
pub enum Distribution {
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
    /// Classes of sizes with their shares of the mass, as sieves give them. Grains count by mass / size³.
    ByMass(Vec<Class>),
}

/// A class of sizes, over which mass is spread evenly; or of one size, where both ends are alike.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize), serde(from = "written::WrittenClass"))]
pub struct Class {
    /// Smallest.
    pub from: f64,
    /// Largest.
    pub to: f64,
    /// Mass of all grains in the class, in any unit.
    pub share: f64,
}

impl Class {
    /// That of one size.
    #[must_use]
    pub fn of(size: f64, share: f64) -> Self {
        Self { from: size, to: size, share }
    }

    fn is_wide(&self) -> bool {
        self.from < self.to
    }

    /// Number of grains, up to a factor that all classes have in common.
    fn count(&self) -> f64 {
        if self.is_wide() {
            0.5 * self.share * (self.from + self.to) / (self.from * self.from * self.to * self.to)
        } else {
            self.share / (self.from * self.from * self.from)
        }
    }

    /// A size of the class: the density of their number goes with size⁻³.
    fn draw(&self, random: &mut Random) -> f64 {
        if !self.is_wide() {
            return self.from;
        }
        let inverse = |x: f64| 1.0 / (x * x);
        let (a, b) = (inverse(self.from), inverse(self.to));
        (1.0 / (a + (b - a) * random.part()).sqrt()).clamp(self.from, self.to)
    }
}

impl Distribution {
    /// Whether its numbers make sense.
    ///
    /// # Errors
    /// What does not, and what would.
    pub fn check(&self) -> Result<(), GrainError> {
        let is_good = |d: f64| d > 0.0 && d.is_finite();
        let is_range = |from: f64, to: f64| is_good(from) && is_good(to) && from <= to;
        let wrong = |text: &str| Err(GrainError::Distribution(text.to_owned()));
        match self {
            Self::Same(d) if is_good(*d) => Ok(()),
            Self::Same(d) => Err(GrainError::Distribution(format!("{d} is no size; give a number above 0"))),
            Self::Uniform { from, to } | Self::Normal { from, to, .. } | Self::Lognormal { from, to, .. }
                if !is_range(*from, *to) =>
            {
                Err(GrainError::Distribution(format!(
                    "from {from} to {to} is no range; give two numbers above 0, the smaller one first"
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
                    return wrong("a table by mass needs at least one [size, share] or [from, to, share]");
                }
                if !classes.iter().all(|c| is_range(c.from, c.to) && is_good(c.share)) {
                    return wrong(
                        "sizes and shares of a table by mass must be above 0, the smaller size first",
                    );
                }
                Ok(())
            }
        }
    }

    /// The smallest and the largest number there may be.
    #[must_use]
    pub fn range(&self) -> (f64, f64) {
        match self {
            Self::Same(d) => (*d, *d),
            Self::Uniform { from, to } | Self::Normal { from, to, .. } | Self::Lognormal { from, to, .. } => {
                (*from, *to)
            }
            Self::ByMass(classes) => {
                classes.iter().fold((f64::INFINITY, 0.0), |(low, high), c| (low.min(c.from), high.max(c.to)))
            }
        }
    }

    /// The same with all sizes times a factor above 0.
    #[must_use]
    pub fn times(&self, f: f64) -> Self {
        match self.clone() {
            Self::Same(d) => Self::Same(d * f),
            Self::Uniform { from, to } => Self::Uniform { from: from * f, to: to * f },
            Self::Normal { mean, deviation, from, to } => {
                Self::Normal { mean: mean * f, deviation: deviation * f, from: from * f, to: to * f }
            }
            Self::Lognormal { median, spread, from, to } => {
                Self::Lognormal { median: median * f, spread, from: from * f, to: to * f }
            }
            Self::ByMass(classes) => {
                let larger = |c: Class| Class { from: c.from * f, to: c.to * f, share: c.share };
                Self::ByMass(classes.into_iter().map(larger).collect())
            }
        }
    }

    /// A number by chance. The distribution has been checked.
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
                let all: f64 = classes.iter().map(Class::count).sum();
                let mut left = random.part() * all;
                let one = classes.iter().find(|class| {
                    left -= class.count();
                    left < 0.0
                });
                // The last one where rounding leaves something over.
                one.or(classes.last()).map_or(0.0, |class| class.draw(random))
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
