//! How many random cases a test tries.

use proptest::prelude::ProptestConfig;

/// The value of `RANDOM_CASES` for which each test tries its own number of cases.
const USUAL: u32 = 64;

/// Tries `usual` cases; or more or fewer, as the environment variable `RANDOM_CASES` says: with 640, ten times as many.
///
/// This cannot be `PROPTEST_CASES`, because each test of `proptest!` would try exactly so many, whatever its own number is.
pub(crate) fn cases(usual: u32) -> ProptestConfig {
    let said = std::env::var("RANDOM_CASES").map_or(USUAL, |said| said.parse().expect("RANDOM_CASES is a number"));
    let cases = (u64::from(usual) * u64::from(said)).div_ceil(u64::from(USUAL));
    let cases = u32::try_from(cases).expect("so many cases can be counted");
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}
