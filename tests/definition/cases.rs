//! How many random cases the tests of definitions try.

use proptest::prelude::ProptestConfig;

/// Tries `usual` cases, or as many times that as the environment variable `DEFINITION_CASES` says.
pub(crate) fn cases(usual: u32) -> ProptestConfig {
    let times = std::env::var("DEFINITION_CASES")
        .map_or(1, |times| times.parse().expect("DEFINITION_CASES says how many times the usual number of cases"));
    ProptestConfig { cases: usual * times, failure_persistence: None, ..ProptestConfig::default() }
}
