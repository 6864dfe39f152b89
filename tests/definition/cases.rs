//! How many random cases the tests of definitions try.

use proptest::prelude::ProptestConfig;

/// How many `PROPTEST_CASES` there are unless somebody says otherwise: `.cargo/config.toml`.
const USUAL: u32 = 64;

/// Tries `usual` cases, or more or fewer, as the environment variable `PROPTEST_CASES` says.
pub(crate) fn cases(usual: u32) -> ProptestConfig {
    let config = ProptestConfig::default();
    ProptestConfig { cases: (usual * config.cases).div_ceil(USUAL), failure_persistence: None, ..config }
}
