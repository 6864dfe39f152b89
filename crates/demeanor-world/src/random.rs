//! Random numbers that depend on the citizen and the tick, not on the worker.

use oorandom::Rand64;

/// Returns the random numbers of one citizen in one tick of a world with this seed. They are the same as those of
/// [`Post::random_for`](crate::Post::random_for), and depend only on the arguments.
///
/// # Examples
///
/// ```
/// use demeanor_world::random;
///
/// let die = |tick| random(7, 42, tick, 0).rand_range(1..7);
/// assert_eq!(die(3), die(3));
/// assert!((0..20).any(|tick| die(tick) != die(3)));
/// ```
#[must_use]
pub fn random(seed: u64, id: u64, tick: u64, purpose: u64) -> Rand64 {
    let high = mix(mix(seed) ^ id);
    let low = mix(mix(tick ^ high).wrapping_add(purpose));
    Rand64::new(u128::from(high) << 64 | u128::from(low))
}

/// Mixes the bits of a number, so that each bit of the result depends on all of them: the finalizer of `SplitMix64` (Steele,
/// Lea and Flood).
pub(crate) fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
