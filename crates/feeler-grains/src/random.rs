//! Random numbers that a seed determines on every machine and in every version. Libraries of random
//! numbers do not guarantee this.
//!
//! # Source
//! `SplitMix64`: Steele, Lea and Flood, *Fast splittable pseudorandom number generators* (2014).

use feeler_geom::math;
use std::f64::consts::PI;

/// Stream of random numbers. Its state is one public number, which can be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Random(pub u64);

impl Random {
    /// Creates a stream from a seed and a number for the stream's purpose, for example sizes or
    /// positions. Streams with different purposes are independent.
    #[must_use]
    pub fn new(seed: u64, purpose: u64) -> Self {
        let mut mixed = Self(seed);
        let first = mixed.whole();
        Self(first ^ Self(purpose).whole())
    }

    /// Draws 64 random bits.
    pub fn whole(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Draws a number uniform in [0, 1).
    pub fn part(&mut self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
        let bits = (self.whole() >> 11) as f64;
        bits / (1_u64 << 53) as f64
    }

    /// Draws a number uniform between `from` and `to`.
    pub fn between(&mut self, from: f64, to: f64) -> f64 {
        from + (to - from) * self.part()
    }

    /// Draws a normally distributed number with mean 0 and standard deviation 1 (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        // 1 − u is never 0.
        let radius = (-2.0 * math::ln(1.0 - self.part())).sqrt();
        radius * math::cos(2.0 * PI * self.part())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_source() {
        // The published reference implementation from seed 1234567.
        let mut random = Random(1_234_567);
        let found: Vec<u64> = (0..3).map(|_| random.whole()).collect();
        assert_eq!(found, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn moments_are_those_of_the_distributions() {
        let mut random = Random::new(3, 0);
        let n = 100_000;
        let mean = |numbers: &[f64]| numbers.iter().sum::<f64>() / numbers.len() as f64;
        let uniform: Vec<f64> = (0..n).map(|_| random.between(2.0, 4.0)).collect();
        assert!((mean(&uniform) - 3.0).abs() < 0.01, "{}", mean(&uniform));
        let normal: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        let squares: Vec<f64> = normal.iter().map(|x| x * x).collect();
        let fourth: Vec<f64> = squares.iter().map(|x| x * x).collect();
        let found = [mean(&normal), mean(&squares), mean(&fourth)];
        assert!(found.iter().zip([0.0, 1.0, 3.0]).all(|(x, y)| (x - y).abs() < 0.1), "{found:?}");
        assert_ne!(Random::new(3, 0), Random::new(3, 1), "streams");
    }
}
