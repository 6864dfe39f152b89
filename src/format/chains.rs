//! Chains of things, for example states with their parents, or machines with the machines that they are like. Each thing leads
//! to at most one other thing.

/// The chains of some things. The things are numbered by their indices.
pub(crate) struct Chains {
    /// All things. Each comes after the thing that it leads to, except the last thing of each circle, which comes before the
    /// other things of its circle.
    pub(crate) order: Vec<usize>,
    /// The things of each circle, in the order of the chain. The last leads to the first.
    pub(crate) circles: Vec<Vec<usize>>,
}

impl Chains {
    /// Follows the chains of the things with the indices below `count`. `next` returns the thing that a thing leads to.
    pub(crate) fn follow(count: usize, next: impl Fn(usize) -> Option<usize>) -> Self {
        let mut chains = Self { order: Vec::with_capacity(count), circles: Vec::new() };
        let mut is_followed = vec![false; count];
        for start in 0..count {
            let mut trail = Vec::new();
            let mut at = Some(start);
            while let Some(i) = at.filter(|i| !is_followed[*i]) {
                is_followed[i] = true;
                trail.push(i);
                at = next(i);
            }
            let begin = at.and_then(|end| trail.iter().position(|on| *on == end));
            chains.circles.extend(begin.map(|begin| trail[begin..].to_vec()));
            chains.order.extend(trail.into_iter().rev());
        }
        chains
    }
}
