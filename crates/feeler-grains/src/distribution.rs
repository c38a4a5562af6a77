//! Random sizes and shapes. A seed determines the grains on every machine.

mod shapes;
#[cfg(test)]
mod tests;
#[cfg(feature = "serde")]
mod written;

pub use shapes::Shapes;

use crate::{GrainError, Random};
use feeler_geom::math;

/// Random distribution of a positive number that is drawn for each grain, mostly its diameter (mm). The
/// probabilities are by number of grains, except for [`Distribution::ByMass`].
///
/// With feature `serde` it is read from one of:
///
/// - a number: [`Same`](Self::Same)
/// - `{from, to}`: [`Uniform`](Self::Uniform)
/// - `{mean, deviation, from, to}`: [`Normal`](Self::Normal)
/// - `{median, spread, from, to}`: [`Lognormal`](Self::Lognormal)
/// - `{by_mass = [[size, share], …]}`: [`ByMass`](Self::ByMass), where `[from, to, share]` is a class
///   with a range of sizes
/// - `{by_number = [[size, share], …]}`: [`ByNumber`](Self::ByNumber), with the same classes
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize), serde(from = "written::Written"))]
pub enum Distribution {
    /// One value for all grains.
    Same(f64),
    /// Uniform distribution between two values.
    Uniform {
        /// Smallest value.
        from: f64,
        /// Largest value.
        to: f64,
    },
    /// Normal distribution, truncated: values outside the range are drawn again.
    Normal {
        /// Mean of the distribution before truncation.
        mean: f64,
        /// Standard deviation of the distribution before truncation.
        deviation: f64,
        /// Smallest value.
        from: f64,
        /// Largest value.
        to: f64,
    },
    /// Lognormal distribution, truncated: values outside the range are drawn again.
    Lognormal {
        /// Median of the distribution before truncation.
        median: f64,
        /// Standard deviation of the value's natural logarithm before truncation.
        spread: f64,
        /// Smallest value.
        from: f64,
        /// Largest value.
        to: f64,
    },
    /// Classes of sizes with their shares of the mass, as from sieving. The number of grains is
    /// proportional to mass / size³.
    ByMass(Vec<Class>),
    /// Classes of sizes with their shares of the number of grains.
    ByNumber(Vec<Class>),
}

/// Class of sizes over which its share (of mass or of grains) is spread evenly, or of a single size if both
/// ends are equal.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize), serde(from = "written::WrittenClass"))]
pub struct Class {
    /// Smallest size (mm).
    pub from: f64,
    /// Largest size (mm).
    pub to: f64,
    /// Mass or number of all grains in the class, in any unit that is the same for all classes.
    pub share: f64,
}

impl Class {
    /// Creates a class of grains of one size (mm) that have the share `share` of the mass or number, in any
    /// unit that is the same for all classes.
    #[must_use]
    pub fn of(size: f64, share: f64) -> Self {
        Self { from: size, to: size, share }
    }

    fn is_wide(&self) -> bool {
        self.from < self.to
    }

    /// Number of grains of a class by mass, apart from a factor that is the same for all classes.
    fn count(&self) -> f64 {
        if self.is_wide() {
            0.5 * self.share * (self.from + self.to) / (self.from * self.from * self.to * self.to)
        } else {
            self.share / (self.from * self.from * self.from)
        }
    }

    /// Draws a size (mm) within a class by mass. Mass is uniformly distributed over sizes, so the number
    /// density of grains is proportional to size⁻³.
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
    /// Checks that the parameters of the distribution are valid.
    ///
    /// # Errors
    /// Returns an error that states which parameter is not valid and what would be.
    pub fn check(&self) -> Result<(), GrainError> {
        let is_good = |d: f64| d > 0.0 && d.is_finite();
        let is_range = |from: f64, to: f64| is_good(from) && is_good(to) && from <= to;
        let error = |text: &str| Err(GrainError::Distribution(text.to_owned()));
        match self {
            Self::Same(d) if is_good(*d) => Ok(()),
            Self::Same(d) => {
                Err(GrainError::Distribution(format!("size is {d}: it must be finite and above 0")))
            }
            Self::Uniform { from, to } | Self::Normal { from, to, .. } | Self::Lognormal { from, to, .. }
                if !is_range(*from, *to) =>
            {
                Err(GrainError::Distribution(format!(
                    "range from {from} to {to} is not valid: give two finite numbers above 0, the smaller \
                     one first"
                )))
            }
            Self::Uniform { .. } => Ok(()),
            Self::Normal { mean, deviation, from, to } => {
                if !(mean.is_finite() && *deviation > 0.0 && deviation.is_finite()) {
                    return error("a normal distribution needs a finite mean and a deviation above 0");
                }
                // A range nearer to the mean contains enough probability to draw from.
                if from - mean > MAX_RANGE_OFFSET * deviation || mean - to > MAX_RANGE_OFFSET * deviation {
                    return error("the range is more than four deviations off the mean; move one of them");
                }
                if to - from < MIN_RANGE_WIDTH * deviation {
                    return error("the range is less than a hundredth of the deviation; make it wider");
                }
                Ok(())
            }
            Self::Lognormal { median, spread, from, to } => {
                if !(is_good(*median) && *spread > 0.0 && spread.is_finite()) {
                    return error("a lognormal distribution needs a median and a spread above 0");
                }
                let [low, high] = [from, to].map(|d| math::ln(d / median));
                if low > MAX_RANGE_OFFSET * spread || -high > MAX_RANGE_OFFSET * spread {
                    return error("the range is over four spreads (of ln) off the median; move one of them");
                }
                if high - low < MIN_RANGE_WIDTH * spread {
                    return error("ln(to / from) is below a hundredth of the spread; make the range wider");
                }
                Ok(())
            }
            Self::ByMass(classes) | Self::ByNumber(classes) => {
                if classes.is_empty() {
                    return error("a table of classes needs at least one [size, share] or [from, to, share]");
                }
                if !classes.iter().all(|c| is_range(c.from, c.to) && is_good(c.share)) {
                    return error(
                        "sizes and shares of a table of classes must be above 0, the smaller size first",
                    );
                }
                Ok(())
            }
        }
    }

    /// Returns the smallest and the largest value that can be drawn from the distribution.
    #[must_use]
    pub fn range(&self) -> (f64, f64) {
        match self {
            Self::Same(d) => (*d, *d),
            Self::Uniform { from, to } | Self::Normal { from, to, .. } | Self::Lognormal { from, to, .. } => {
                (*from, *to)
            }
            Self::ByMass(classes) | Self::ByNumber(classes) => {
                classes.iter().fold((f64::INFINITY, 0.0), |(low, high), c| (low.min(c.from), high.max(c.to)))
            }
        }
    }

    /// Returns the distribution with all sizes multiplied by a factor above 0.
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
            Self::ByMass(classes) => Self::ByMass(scaled(classes, f)),
            Self::ByNumber(classes) => Self::ByNumber(scaled(classes, f)),
        }
    }

    /// Returns all values that can be drawn, in increasing order and without repetition, if they are finitely
    /// many; `None` for distributions over ranges.
    #[must_use]
    pub fn discrete_values(&self) -> Option<Vec<f64>> {
        let mut values = match self {
            Self::Same(d) => vec![*d],
            Self::ByMass(classes) | Self::ByNumber(classes) if !classes.iter().any(Class::is_wide) => {
                classes.iter().map(|c| c.from).collect()
            }
            _ => return None,
        };
        values.sort_by(f64::total_cmp);
        values.dedup_by(|a, b| a.total_cmp(b).is_eq());
        Some(values)
    }

    /// Draws a random number. The distribution must have passed [`Distribution::check`].
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
                // Classes are drawn with probabilities proportional to their numbers of grains.
                drawn_class(classes, Class::count, random).map_or(0.0, |class| class.draw(random))
            }
            Self::ByNumber(classes) => {
                let class = drawn_class(classes, |class| class.share, random);
                class.map_or(0.0, |c| if c.is_wide() { random.between(c.from, c.to) } else { c.from })
            }
        }
    }
}

fn scaled(classes: Vec<Class>, by: f64) -> Vec<Class> {
    classes.into_iter().map(|c| Class { from: c.from * by, to: c.to * by, share: c.share }).collect()
}

/// Draws one of `classes`, with probabilities proportional to their `count`; `None` without classes.
fn drawn_class<'c>(
    classes: &'c [Class],
    count: impl Fn(&Class) -> f64,
    random: &mut Random,
) -> Option<&'c Class> {
    let all: f64 = classes.iter().map(&count).sum();
    let mut left = random.part() * all;
    let one = classes.iter().find(|class| {
        left -= count(class);
        left < 0.0
    });
    // The last class, if rounding leaves a remainder.
    one.or(classes.last())
}

fn cut_off(from: f64, to: f64, mut one: impl FnMut() -> f64) -> f64 {
    let drawn = (0..MAX_DRAWS).map(|_| one()).find(|d| (from..=to).contains(d));
    drawn.unwrap_or(0.5 * (from + to))
}

/// Largest distance, in standard deviations, between the mean of a normal distribution and the nearer
/// end of a truncation range beside it. For a lognormal distribution the logarithms of the median and of
/// the ends are compared. Drawing takes long with a larger value; with a smaller one, distributions are
/// refused that could be drawn from.
const MAX_RANGE_OFFSET: f64 = 4.0;

/// Smallest width of a truncation range, in standard deviations; of a lognormal distribution the width
/// of the range of logarithms. With a larger value, distributions are refused that could be drawn from;
/// drawing takes long with a smaller one.
const MIN_RANGE_WIDTH: f64 = 0.01;

/// Maximum number of draws of one truncated value, after which the middle of the range is returned. A
/// range that [`Distribution::check`] accepts contains at least one in 10⁷ draws on average.
const MAX_DRAWS: u32 = 1 << 28;
