use super::*;
use crate::convex::Grain;
use crate::mass::poly_superellipsoid;
use feeler_geom::math::{exp, ln, powf};

fn many(of: &Distribution, n: u32) -> Vec<f64> {
    of.check().unwrap();
    let mut random = Random(5);
    (0..n).map(|_| of.draw(&mut random)).collect()
}

fn mean(x: &[f64], f: impl Fn(f64) -> f64) -> f64 {
    x.iter().map(|x| f(*x)).sum::<f64>() / f64::from(u32::try_from(x.len()).expect("few"))
}

#[test]
fn moments_are_those_of_closed_forms() {
    let n = 200_000;
    // The standard error of such a mean is about 1/450 of the deviation.
    let x = many(&Distribution::Uniform { from: 1.0, to: 3.0 }, n);
    assert!(
        (mean(&x, |x| x) - 2.0).abs() < 0.005
            && (mean(&x, |x| (x - 2.0) * (x - 2.0)) - 1.0 / 3.0).abs() < 0.005
    );
    let x = many(&Distribution::Normal { mean: 2.0, deviation: 0.3, from: 1.7, to: 2.3 }, n);
    // Truncated at one deviation on both sides: variance 1 − 2φ(1)/(2Φ(1) − 1).
    assert!((mean(&x, |x| x) - 2.0).abs() < 0.002, "{}", mean(&x, |x| x));
    assert!((mean(&x, |x| (x - 2.0) * (x - 2.0)) - 0.09 * 0.291_125).abs() < 3e-4);
    assert!(x.iter().all(|x| (1.7..=2.3).contains(x)));
    let x = many(&Distribution::Lognormal { median: 2.0, spread: 0.4, from: 0.1, to: 40.0 }, n);
    assert!((mean(&x, ln) - ln(2.0)).abs() < 0.005 && (mean(&x, |x| x) - 2.0 * exp(0.08)).abs() < 0.01);
    let x = many(&Distribution::Same(1.5), 3);
    assert!(x.iter().all(|x| (x - 1.5).abs() < f64::EPSILON));
}

#[test]
fn classes_have_their_mass() {
    let class = |min, max, mass| Class { from: min, to: max, share: mass };
    let classes =
        vec![class(0.2, 0.3, 7.0), class(0.3, 0.5, 76.0), class(0.9, 0.9, 5.0), class(0.5, 0.9, 17.0)];
    let x = many(&Distribution::ByMass(classes.clone()), 400_000);
    let cube = |x: f64| x * x * x;
    let total: f64 = x.iter().map(|x| cube(*x)).sum();
    for c in &classes {
        let is_in =
            |x: &&f64| if c.is_wide() { (c.from..c.to).contains(*x) } else { (**x - c.from).abs() < 1e-12 };
        let part: f64 = x.iter().filter(is_in).map(|x| cube(*x)).sum::<f64>() / total;
        assert!((part - c.share / 105.0).abs() < 0.005, "{part} {c:?}");
    }
    // Mass is spread evenly within a class.
    let below: f64 = x.iter().filter(|x| (0.5..0.7).contains(*x)).map(|x| cube(*x)).sum::<f64>() / total;
    assert!((below - 8.5 / 105.0).abs() < 0.005, "{below}");
}

#[test]
fn classes_by_number_have_their_share_of_grains() {
    // The radii of DIST Table 5.3, and a class with a range.
    let classes = vec![Class::of(0.71, 7.0), Class::of(0.5, 76.0), Class { from: 0.3, to: 0.4, share: 17.0 }];
    let of = Distribution::ByNumber(classes.clone());
    let x = many(&of, 100_000);
    for c in &classes {
        let part = mean(&x, |x| f64::from(u8::from((c.from..=c.to).contains(&x))));
        // The standard error is at most 0.0016.
        assert!((part - c.share / 100.0).abs() < 0.006, "{part} {c:?}");
    }
    let wide: Vec<f64> = x.iter().copied().filter(|x| *x < 0.45).collect();
    assert!((mean(&wide, |x| x) - 0.35).abs() < 0.001, "uniform within a class");
    assert!(of.range() == (0.3, 0.71) && of.times(2.0).range() == (0.6, 1.42));
    assert_eq!(of.discrete_values(), None);
    let discrete = Distribution::ByNumber(classes[..2].to_vec());
    assert_eq!(discrete.discrete_values(), Some(vec![0.5, 0.71]));
    assert!(Distribution::ByNumber(Vec::new()).check().is_err());
}

#[test]
fn grains_have_their_size_and_a_seed_its_grains() {
    let shapes = Shapes {
        size: Distribution::Lognormal { median: 1.0, spread: 0.3, from: 0.5, to: 2.0 },
        proportions: std::array::from_fn(|_| Distribution::Uniform { from: 0.5, to: 1.5 }),
        symmetric: false,
        exponents: [Distribution::Uniform { from: 0.4, to: 1.6 }, Distribution::Same(1.0)],
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

fn drawn(sizes: &Distribution) -> Vec<f64> {
    sizes.check().unwrap();
    let mut random = Random::new(11, 0);
    (0..20_000).map(|_| sizes.draw(&mut random)).collect()
}

#[test]
fn shares_of_the_mass_are_those_of_the_table() {
    let classes = vec![(1.0, 20.0), (2.0, 50.0), (4.0, 30.0)];
    let all = drawn(&Distribution::ByMass(classes.iter().map(|(d, m)| Class::of(*d, *m)).collect()));
    let mass = |d: f64| all.iter().filter(|x| (**x - d).abs() < 1e-12).count() as f64 * d * d * d;
    let total: f64 = classes.iter().map(|c| mass(c.0)).sum();
    for (d, share) in classes {
        // The largest class has about 170 of the 20,000 grains.
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
    let normal = drawn(&Distribution::Normal { mean: 3.0, deviation: 0.5, from: 1.0, to: 5.0 });
    // The upper quartile is 0.6745 deviations above the mean, hardly affected by the truncation at four
    // deviations.
    assert!((quantile(&normal, 50) - 3.0).abs() < 0.02 && (quantile(&normal, 75) - 3.33725).abs() < 0.02);
    let wide = drawn(&Distribution::Lognormal { median: 2.0, spread: 0.4, from: 0.1, to: 20.0 });
    assert!((quantile(&wide, 50) - 2.0).abs() < 0.02, "median");
    assert!((quantile(&wide, 75) - 2.0 * exp(0.6745 * 0.4)).abs() < 0.03, "quartile");
    let cut = drawn(&Distribution::Normal { mean: 3.0, deviation: 0.5, from: 2.9, to: 3.1 });
    assert!(cut.iter().all(|d| (2.9..=3.1).contains(d)), "cut off");
    // A range far from the mean can be drawn from, too.
    let far = drawn(&Distribution::Normal { mean: 3.0, deviation: 0.5, from: 4.5, to: 5.0 });
    assert!(far.iter().all(|d| (4.5..=5.0).contains(d)) && quantile(&far, 50) < 4.65, "the tail falls");
}

#[test]
fn invalid_distributions_are_refused() {
    let invalid = [
        (Distribution::Same(0.0), "above 0"),
        (Distribution::Same(f64::NAN), "above 0"),
        (Distribution::Uniform { from: 2.0, to: 1.0 }, "not valid"),
        (Distribution::Normal { mean: 3.0, deviation: 0.0, from: 1.0, to: 4.0 }, "deviation above 0"),
        (Distribution::Normal { mean: 3.0, deviation: 0.1, from: 4.0, to: 5.0 }, "four deviations"),
        (Distribution::Lognormal { median: 3.0, spread: 0.1, from: 3.0, to: 3.0 }, "hundredth"),
        (Distribution::Lognormal { median: -3.0, spread: 0.1, from: 3.0, to: 4.0 }, "median"),
        (Distribution::ByMass(vec![]), "at least one"),
        (Distribution::ByMass(vec![Class::of(1.0, -1.0)]), "above 0"),
        (Distribution::ByMass(vec![Class { from: 2.0, to: 1.0, share: 1.0 }]), "smaller size first"),
        (Distribution::Uniform { from: 0.0, to: f64::NAN }, "not valid"),
        (Distribution::Normal { mean: 1.5, deviation: -1.0, from: 1.0, to: 2.0 }, "deviation above 0"),
        (Distribution::Normal { mean: 1.5, deviation: 1000.0, from: 1.0, to: 2.0 }, "hundredth"),
        (Distribution::Lognormal { median: 1.0, spread: f64::NAN, from: 0.5, to: 2.0 }, "spread above 0"),
    ];
    for (sizes, text) in invalid {
        let error = sizes.check().unwrap_err().to_string();
        assert!(error.contains(text), "{sizes:?}: {error}");
    }
}
