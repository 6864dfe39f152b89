//! The manifest: the file that makes a folder a checkpoint. It names the parts, and describes the world.

use serde::{Deserialize, Serialize};

use super::content::{VERSION, digest_of};
use super::part::Part;
use crate::citizen::Citizen;
use crate::setup::Setup;

pub(super) const FILE: &str = "manifest.json";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    version: u32,
    /// The number of ticks that had passed.
    pub(crate) ticks: u64,
    /// The name of the citizens' type.
    citizens: String,
    shards: u32,
    seed: u64,
    pub(crate) parts: Vec<Part>,
    /// The digest of the file, calculated with 0 in place of this number.
    pub(crate) digest: u64,
}

impl Manifest {
    pub(super) fn new<T: Citizen>(setup: &Setup<T>, ticks: u64, mut parts: Vec<Part>) -> Self {
        parts.sort_unstable_by_key(|part| part.number);
        let mut manifest = Self {
            version: VERSION,
            ticks,
            citizens: std::any::type_name::<T>().to_owned(),
            shards: setup.shards,
            seed: setup.seed,
            parts,
            digest: 0,
        };
        manifest.digest = manifest.digest();
        manifest
    }

    /// Returns the text of the file.
    pub(super) fn text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_else(|error| unreachable!("numbers and texts are JSON: {error}"))
    }

    fn digest(&self) -> u64 {
        digest_of(Self { digest: 0, ..self.clone() }.text().as_bytes())
    }

    /// Reads the file. The error says what is wrong with it.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let Version { version } = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if version != VERSION {
            return Err(other_version(version));
        }
        let manifest: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if manifest.digest != manifest.digest() || manifest.text() != text {
            return Err(CHANGED.to_owned());
        }
        let count = manifest.parts.len();
        if count == 0 {
            return Err("it names no parts".to_owned());
        }
        match manifest.parts.iter().zip(0..).find(|(part, nth)| part.number != *nth) {
            Some((_, missing)) => Err(format!("it names {count} parts, but not part {missing}")),
            None => Ok(manifest),
        }
    }

    /// Checks that the checkpoint belongs to this world. The error says why it does not.
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

/// The part of a manifest that is read first, because it is the same in every version.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

pub(super) const CHANGED: &str = "the file has changed since it was written: its digest is different";

pub(super) fn other_version(version: u32) -> String {
    format!("it is of version {version}; this program reads version {VERSION}")
}
