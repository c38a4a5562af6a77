//! Damages files at random, as faulty transfers, editors, writers or attackers do.

use rand::Rng;
use rand::rngs::SmallRng;
use std::ops::Range;

/// Extreme and invalid numbers, as the bytes of a word.
const EXTREME_WORDS: [u64; 12] = [
    0,
    1,
    u64::MAX,
    u64::MAX / 2,
    1 << 31,
    1 << 32,
    1 << 45,
    0x7FF0_0000_0000_0000, // ∞
    0x7FF8_0000_0000_0000, // not a number
    0xFFF0_0000_0000_0000, // -∞
    0x7FEF_FFFF_FFFF_FFFF, // the largest
    0x8000_0000_0000_0001, // the smallest negative
];

/// Extreme and invalid values of parameters, as text.
const EXTREME_VALUES: [&str; 18] = [
    "0.",
    "-1.",
    "1.",
    "1.E300",
    "-1.E300",
    "1.E-300",
    "1.E999",
    "NaN",
    "0.5",
    "3.141592653589793",
    "1.E-7",
    "1000000.",
    "99999999999999999999",
    "-0.",
    "$",
    "*",
    "''",
    "()",
];

/// Length (bytes) of the header of a `.feeler` file.
const HEADER_LENGTH: usize = 64;

/// Returns a damaged `.feeler` file. Most of the results have a valid header and checksum, so that
/// decoding reaches the damaged bytes.
#[must_use]
pub fn feeler(rng: &mut SmallRng, good: &[u8], other: &[u8]) -> Vec<u8> {
    let mut bytes = good.to_vec();
    for _ in 0..[1, 1, 1, 2, 3, 8][rng.random_range(0..6)] {
        damage_bytes(rng, &mut bytes, other);
    }
    if rng.random_bool(0.85) && bytes.len() >= HEADER_LENGTH {
        bytes[..8].copy_from_slice(b"FEELER\r\n");
        bytes[12..16].copy_from_slice(&[8, 0, 1, 0]);
        let payload = (bytes.len() - HEADER_LENGTH) as u64;
        bytes[16..24].copy_from_slice(&payload.to_le_bytes());
        bytes = feeler_hierarchy::file::with_version(&bytes, feeler_hierarchy::file::FORMAT_VERSION);
    }
    bytes
}

/// Returns a damaged STEP file, made from a valid one and in some cases pieces of `other`.
#[must_use]
pub fn step(rng: &mut SmallRng, good: &[u8], other: &[u8]) -> Vec<u8> {
    let mut bytes = good.to_vec();
    for _ in 0..[1, 1, 1, 2, 3, 8][rng.random_range(0..6)] {
        if rng.random_bool(0.25) {
            damage_bytes(rng, &mut bytes, other);
        } else {
            damage_text(rng, &mut bytes);
        }
    }
    bytes
}

/// A random range of bytes within `len` bytes; most ranges are short.
fn range(rng: &mut SmallRng, len: usize) -> Range<usize> {
    let max_len = [1, 8, 64, 1024, len][rng.random_range(0..5)].min(len);
    let from = rng.random_range(0..=len);
    from..(from + rng.random_range(0..=max_len)).min(len)
}

fn damage_bytes(rng: &mut SmallRng, bytes: &mut Vec<u8>, other: &[u8]) {
    let n = bytes.len();
    if n == 0 {
        return;
    }
    match rng.random_range(0..8) {
        0 | 1 => bytes[rng.random_range(0..n)] ^= 1 << rng.random_range(0..8),
        2 | 3 => {
            let word = EXTREME_WORDS[rng.random_range(0..EXTREME_WORDS.len())].to_le_bytes();
            let at = rng.random_range(0..n);
            let width = [1, 2, 4, 8][rng.random_range(0..4)].min(n - at);
            bytes[at..at + width].copy_from_slice(&word[..width]);
        }
        4 => {
            // Swap two numbers.
            let (a, b) = (rng.random_range(0..n), rng.random_range(0..n));
            for k in 0..8_usize.min(n - a.max(b)) {
                bytes.swap(a + k, b + k);
            }
        }
        5 => {
            bytes.drain(range(rng, n));
        }
        6 => {
            let piece = other[range(rng, other.len())].to_vec();
            let at = range(rng, n);
            let at = if rng.random_bool(0.5) { at.start..at.start } else { at };
            bytes.splice(at, piece);
        }
        _ => bytes.truncate(rng.random_range(0..n)),
    }
}

fn damage_text(rng: &mut SmallRng, bytes: &mut Vec<u8>) {
    let (numbers, references, entities) = (0, 1, 2);
    match rng.random_range(0..9) {
        0..=2 => replace(rng, bytes, numbers, |rng, _| {
            EXTREME_VALUES[rng.random_range(0..EXTREME_VALUES.len())].into()
        }),
        3 | 4 => replace(rng, bytes, references, |rng, all| all[rng.random_range(0..all.len())].to_vec()),
        5 => replace(rng, bytes, entities, |rng, all| all[rng.random_range(0..all.len())].to_vec()),
        6 => {
            // Remove or duplicate an entity.
            let ends: Vec<usize> =
                bytes.iter().enumerate().filter(|(_, b)| **b == b';').map(|(i, _)| i + 1).collect();
            if ends.len() < 2 {
                return;
            }
            let k = rng.random_range(1..ends.len());
            let entity = ends[k - 1]..ends[k];
            if rng.random_bool(0.6) {
                bytes.drain(entity);
            } else {
                let copy = bytes[entity.clone()].to_vec();
                bytes.splice(entity.end..entity.end, copy);
            }
        }
        7 => {
            // Invert a flag.
            let flags: Vec<usize> = bytes
                .windows(3)
                .enumerate()
                .filter(|(_, w)| *w == b".T." || *w == b".F.")
                .map(|(i, _)| i)
                .collect();
            if let Some(at) = flags.get(rng.random_range(0..flags.len().max(1))) {
                bytes[at + 1] = if bytes[at + 1] == b'T' { b'F' } else { b'T' };
            }
        }
        _ => {
            // Insert a very deep list, or a very long text.
            let n = 1 << rng.random_range(0..17);
            let insert = if rng.random_bool(0.5) { vec![b'('; n] } else { vec![b'\''; n | 1] };
            let at = rng.random_range(0..=bytes.len());
            bytes.splice(at..at, insert);
        }
    }
}

/// Replaces a random token of one kind (number, reference or entity name). `with` receives all tokens of
/// that kind.
fn replace(
    rng: &mut SmallRng,
    bytes: &mut Vec<u8>,
    kind: usize,
    with: impl Fn(&mut SmallRng, &[&[u8]]) -> Vec<u8>,
) {
    let mut tokens: Vec<Range<usize>> = Vec::new();
    let word = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'#' | b'.' | b'-' | b'+' | b'_');
    let mut i = 0;
    while i < bytes.len() {
        let len = bytes[i..].iter().take_while(|b| word(b)).count();
        let token = &bytes[i..i + len];
        let is = match (kind, token) {
            (0, [b'0'..=b'9' | b'-', ..]) => true,
            (1, [b'#', ..]) => true,
            (2, [b'A'..=b'Z', ..]) => len > 3,
            _ => false,
        };
        if is {
            tokens.push(i..i + len);
        }
        i += len.max(1);
    }
    if tokens.is_empty() {
        return;
    }
    let all: Vec<&[u8]> = tokens.iter().map(|t| &bytes[t.clone()]).collect();
    let new = with(rng, &all);
    let at = tokens.swap_remove(rng.random_range(0..tokens.len()));
    bytes.splice(at, new);
}
