//! Sizes and shapes by chance: plain data and a seed give the same grains always and everywhere.

use crate::convex::Grain;
use crate::mass::poly_superellipsoid;
use crate::{GrainError, Random};
use feeler_convex::PolySuperellipsoid;
use feeler_geom::V3;
use feeler_geom::math::{exp, ln, powf};

/// A distribution of a positive number.
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution {
    /// Always the same.
    Fixed(f64),
    /// All between two numbers alike.
    Uniform {
        /// The least.
        min: f64,
        /// The most.
        max: f64,
    },
    /// Normal, with what is beyond two bounds left out.
    Normal {
        /// Mean, between the bounds; of what is left it is another one where bounds are not symmetric.
        mean: f64,
        /// Standard deviation before the cut.
        deviation: f64,
        /// The least.
        min: f64,
        /// The most.
        max: f64,
    },
    /// The logarithm is normal, with what is beyond two bounds left out.
    LogNormal {
        /// Median, between the bounds.
        median: f64,
        /// Standard deviation of the natural logarithm.
        spread: f64,
        /// The least.
        min: f64,
        /// The most.
        max: f64,
    },
    /// Classes of sizes with their parts of the mass, as sieves give them. Within a class mass is spread
    /// evenly over sizes; grains count by mass / size³.
    ByMass(Vec<Class>),
}

/// A class of sizes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Class {
    /// The least size.
    pub min: f64,
    /// The most.
    pub max: f64,
    /// Mass of all grains in the class, in any unit.
    pub mass: f64,
}

/// Most trials for a number within bounds.
const TRIALS: u32 = 100_000;
/// Bounds are apart by this part of the deviation at least: else trials would not end.
const NARROWEST: f64 = 0.01;

impl Class {
    /// Number of grains, up to a factor.
    fn count(&self) -> f64 {
        0.5 * self.mass * (self.min + self.max) / (self.min * self.min * self.max * self.max)
    }
}

impl Distribution {
    /// # Errors
    /// Bounds that are not above 0, finite and in order; a mean or median outside of them; a deviation below
    /// 0, or more than 100 times as large as the bounds are apart; no class with a mass.
    pub fn check(&self) -> Result<(), GrainError> {
        let no = |why| Err(GrainError::Distribution(why));
        let is_range = |min: f64, max: f64| 0.0 < min && min <= max && max.is_finite();
        let bounds = "needs bounds above 0, finite, the least first";
        match self {
            Self::Fixed(x) if !is_range(*x, *x) => no("needs a number above 0"),
            Self::Uniform { min, max } if !is_range(*min, *max) => no(bounds),
            Self::Normal { mean: middle, deviation, min, max }
            | Self::LogNormal { median: middle, spread: deviation, min, max } => {
                let is_log = matches!(self, Self::LogNormal { .. });
                let apart = if is_log { ln(max / min) } else { max - min };
                if !is_range(*min, *max) {
                    no(bounds)
                } else if !(min <= middle && middle <= max) {
                    no("needs its mean or median between its bounds")
                } else if !(*deviation >= 0.0 && deviation.is_finite() && apart >= NARROWEST * deviation) {
                    no("needs a deviation of 0 or more, at most 100 times the distance of its bounds")
                } else {
                    Ok(())
                }
            }
            Self::ByMass(classes) => {
                let is_class = |c: &Class| is_range(c.min, c.max) && c.mass >= 0.0 && c.mass.is_finite();
                if !classes.iter().all(is_class) {
                    no("needs classes with bounds above 0 in order, and masses of 0 or more")
                } else if !classes.iter().any(|c| c.mass > 0.0) {
                    no("needs a class with a mass")
                } else {
                    Ok(())
                }
            }
            Self::Fixed(_) | Self::Uniform { .. } => Ok(()),
        }
    }

    /// A number by chance.
    ///
    /// # Errors
    /// Those of [`check`](Self::check).
    pub fn sample(&self, random: &mut Random) -> Result<f64, GrainError> {
        self.check()?;
        let within = |random: &mut Random, middle: f64, min: f64, max: f64, of: &dyn Fn(f64) -> f64| {
            (0..TRIALS).map(|_| of(random.normal())).find(|x| (min..=max).contains(x)).unwrap_or(middle)
        };
        Ok(match self {
            Self::Fixed(x) => *x,
            Self::Uniform { min, max } => min + (max - min) * random.part(),
            Self::Normal { mean, deviation, min, max } => {
                within(random, *mean, *min, *max, &|n| mean + deviation * n)
            }
            Self::LogNormal { median, spread, min, max } => {
                within(random, *median, *min, *max, &|n| median * exp(spread * n))
            }
            Self::ByMass(classes) => {
                let total: f64 = classes.iter().map(Class::count).sum();
                let mut left = random.part() * total;
                let with_mass = classes.iter().filter(|c| c.mass > 0.0);
                // The last one where rounding leaves something over.
                let mut class = &classes[0];
                for c in with_mass {
                    class = c;
                    if left < c.count() {
                        break;
                    }
                    left -= c.count();
                }
                // The density goes with size⁻³.
                let inverse = |x: f64| 1.0 / (x * x);
                let (a, b) = (inverse(class.min), inverse(class.max));
                (1.0 / (a + (b - a) * random.part()).sqrt()).clamp(class.min, class.max)
            }
        })
    }
}

/// Poly-superellipsoids by chance.
#[derive(Clone, Debug, PartialEq)]
pub struct Shapes {
    /// Diameter (mm) of the ball with the volume of the grain.
    pub size: Distribution,
    /// Semi-axes before they are scaled to the size: +x, +y, +z, −x, −y, −z.
    pub proportions: [Distribution; 6],
    /// Whether both sides of an axis are alike, as those on the positive side are: superellipsoids.
    pub symmetric: bool,
    /// Exponents ε₁ and ε₂, within [0.1, 1.9].
    pub exponents: [Distribution; 2],
}

impl Shapes {
    /// A grain by chance.
    ///
    /// # Errors
    /// Distributions that are none, exponents beyond their bounds.
    pub fn sample(&self, random: &mut Random) -> Result<Grain, GrainError> {
        let mut parts = [0.0; 6];
        for (part, of) in parts.iter_mut().zip(&self.proportions) {
            *part = of.sample(random)?;
        }
        let plus = V3::new(parts[0], parts[1], parts[2]);
        let minus = if self.symmetric { plus } else { V3::new(parts[3], parts[4], parts[5]) };
        let exponents = [self.exponents[0].sample(random)?, self.exponents[1].sample(random)?];
        let size = self.size.sample(random)?;
        let volume = poly_superellipsoid(&PolySuperellipsoid::new(plus, minus, exponents)?)?.volume;
        let scale = size * powf(std::f64::consts::PI / 6.0 / volume, 1.0 / 3.0);
        Grain::new(plus * scale, minus * scale, exponents)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn many(of: &Distribution, n: u32) -> Vec<f64> {
        let mut random = Random(5);
        (0..n).map(|_| of.sample(&mut random).expect("a distribution")).collect()
    }

    fn mean(x: &[f64], f: impl Fn(f64) -> f64) -> f64 {
        x.iter().map(|x| f(*x)).sum::<f64>() / f64::from(u32::try_from(x.len()).expect("few"))
    }

    #[test]
    fn moments_are_those_of_closed_forms() {
        let n = 200_000;
        // Errors of means of as many numbers are about 1/450 of the deviation.
        let x = many(&Distribution::Uniform { min: 1.0, max: 3.0 }, n);
        assert!(
            (mean(&x, |x| x) - 2.0).abs() < 0.005
                && (mean(&x, |x| (x - 2.0) * (x - 2.0)) - 1.0 / 3.0).abs() < 0.005
        );
        let x = many(&Distribution::Normal { mean: 2.0, deviation: 0.3, min: 1.7, max: 2.3 }, n);
        // Cut off at one deviation on both sides: variance 1 − 2φ(1)/(2Φ(1) − 1).
        assert!((mean(&x, |x| x) - 2.0).abs() < 0.002, "{}", mean(&x, |x| x));
        assert!((mean(&x, |x| (x - 2.0) * (x - 2.0)) - 0.09 * 0.291_125).abs() < 3e-4);
        assert!(x.iter().all(|x| (1.7..=2.3).contains(x)));
        let x = many(&Distribution::LogNormal { median: 2.0, spread: 0.4, min: 0.1, max: 40.0 }, n);
        assert!((mean(&x, ln) - ln(2.0)).abs() < 0.005 && (mean(&x, |x| x) - 2.0 * exp(0.08)).abs() < 0.01);
        let x = many(&Distribution::Fixed(1.5), 3);
        assert!(x.iter().all(|x| (x - 1.5).abs() < f64::EPSILON));
    }

    #[test]
    fn classes_have_their_mass() {
        let class = |min, max, mass| Class { min, max, mass };
        let classes =
            vec![class(0.2, 0.3, 7.0), class(0.3, 0.5, 76.0), class(0.5, 0.5, 0.0), class(0.5, 0.9, 17.0)];
        let x = many(&Distribution::ByMass(classes.clone()), 400_000);
        let cube = |x: f64| x * x * x;
        let total: f64 = x.iter().map(|x| cube(*x)).sum();
        for c in &classes {
            let part: f64 =
                x.iter().filter(|x| (c.min..c.max).contains(*x)).map(|x| cube(*x)).sum::<f64>() / total;
            assert!((part - 0.01 * c.mass).abs() < 0.005, "{part} {c:?}");
        }
        // Evenly within a class.
        let below: f64 = x.iter().filter(|x| (0.5..0.7).contains(*x)).map(|x| cube(*x)).sum::<f64>() / total;
        assert!((below - 0.085).abs() < 0.005, "{below}");
    }

    #[test]
    fn grains_have_their_size_and_a_seed_its_grains() {
        let shapes = Shapes {
            size: Distribution::LogNormal { median: 1.0, spread: 0.3, min: 0.5, max: 2.0 },
            proportions: std::array::from_fn(|_| Distribution::Uniform { min: 0.5, max: 1.5 }),
            symmetric: false,
            exponents: [Distribution::Uniform { min: 0.4, max: 1.6 }, Distribution::Fixed(1.0)],
        };
        let grains = |seed| -> Vec<Grain> {
            let mut random = Random(seed);
            (0..200).map(|_| shapes.sample(&mut random).expect("a grain")).collect()
        };
        let (some, same, other) = (grains(1), grains(1), grains(2));
        assert_eq!(some, same);
        assert_ne!(some, other);
        for g in &some {
            let volume = poly_superellipsoid(g.shape()).expect("a mass").volume;
            let size = powf(volume * 6.0 / std::f64::consts::PI, 1.0 / 3.0);
            assert!((0.5 - 1e-12..=2.0 + 1e-12).contains(&size), "{size}");
        }
        let even = Shapes { symmetric: true, ..shapes }.sample(&mut Random(3)).expect("a grain");
        assert_eq!(even.shape().positive(), even.shape().negative());
        // The published first number of SplitMix64 for seed 0, its upper 53 bits.
        #[expect(clippy::cast_precision_loss, reason = "53 bits")]
        let known = (0xe220_a839_7b1d_cdaf_u64 >> 11) as f64 / (1_u64 << 53) as f64;
        assert_eq!(Random(0).part().to_bits(), known.to_bits());
    }

    #[test]
    fn what_is_no_distribution_is_refused() {
        let normal = |mean, deviation, min, max| Distribution::Normal { mean, deviation, min, max };
        for bad in [
            Distribution::Fixed(0.0),
            Distribution::Uniform { min: 2.0, max: 1.0 },
            Distribution::Uniform { min: 0.0, max: f64::NAN },
            normal(3.0, 1.0, 1.0, 2.0),
            normal(1.5, -1.0, 1.0, 2.0),
            normal(1.5, 1000.0, 1.0, 2.0),
            Distribution::LogNormal { median: 1.0, spread: f64::NAN, min: 0.5, max: 2.0 },
            Distribution::ByMass(vec![]),
            Distribution::ByMass(vec![Class { min: 1.0, max: 2.0, mass: 0.0 }]),
        ] {
            assert!(matches!(bad.sample(&mut Random(1)), Err(GrainError::Distribution(_))), "{bad:?}");
        }
    }
}
