//! The file that makes a folder a checkpoint: which parts belong to it, and of which world it is.

use serde::{Deserialize, Serialize};

use super::content::{Part, VERSION};
use crate::citizen::Citizen;
use crate::setup::Setup;

pub(super) const FILE: &str = "manifest.json";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    version: u32,
    /// How many ticks had passed.
    pub(crate) ticks: u64,
    /// The type of the citizens.
    citizens: String,
    shards: u32,
    seed: u64,
    pub(crate) parts: Vec<Part>,
}

impl Manifest {
    pub(super) fn new<T: Citizen>(setup: &Setup<T>, ticks: u64, mut parts: Vec<Part>) -> Self {
        parts.sort_unstable_by(|one, other| one.file.cmp(&other.file));
        Self {
            version: VERSION,
            ticks,
            citizens: std::any::type_name::<T>().to_owned(),
            shards: setup.shards,
            seed: setup.seed,
            parts,
        }
    }

    /// Whether it is of this world. The error says why not.
    pub(super) fn check<T: Citizen>(&self, setup: &Setup<T>) -> Result<(), String> {
        let of_world = Self::new(setup, self.ticks, Vec::new());
        let compare = |what: &str, found: &dyn ToString, wanted: &dyn ToString| {
            let (found, wanted) = (found.to_string(), wanted.to_string());
            if found == wanted { Ok(()) } else { Err(format!("{what} is {found}, but {wanted} here")) }
        };
        compare("the type of citizens", &self.citizens, &of_world.citizens)?;
        compare("the number of shards", &self.shards, &of_world.shards)?;
        compare("the seed", &self.seed, &of_world.seed)
    }
}

/// What is read first of a manifest, whatever its version.
#[derive(Deserialize)]
pub(super) struct Version {
    pub(super) version: u32,
}
