//! The version at the beginning of every saved value.

use core::fmt;
use core::marker::PhantomData;

use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::error::{LoadError, VERSION};

/// A saved value, which begins with its version.
///
/// It is plain data. A game can change it before loading it, for example if a state has been renamed.
///
/// If the version is unknown, the content is not read. So in every format, loading returns an error about the version. For this,
/// the version must come first in a text such as JSON, as it does in every value that this crate writes. In a value such as
/// `serde_json::Value`, the order does not matter.
///
/// # Examples
///
/// ```
/// use demeanor::save::SavedMachine;
///
/// let future: SavedMachine = serde_json::from_str(r#"{ "version": 2, "content": { "who": "knows" } }"#)?;
/// assert_eq!(future.version, 2);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Saved<C> {
    /// The version of the content. It is [`VERSION`], unless another version of this crate wrote the value.
    pub version: u32,
    /// The saved data.
    pub content: C,
}

impl<C> Saved<C> {
    pub(crate) fn new(content: C) -> Self {
        Self { version: VERSION, content }
    }

    /// Returns the content, if the version is known.
    pub(crate) fn known(self) -> Result<C, LoadError> {
        if self.version == VERSION { Ok(self.content) } else { Err(LoadError::Version { found: self.version }) }
    }
}

impl<'de, C: Deserialize<'de> + Default> Deserialize<'de> for Saved<C> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_struct("Saved", &["version", "content"], Parts(PhantomData))
    }
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum FilePart {
    Version,
    Content,
    #[serde(other)]
    Other,
}

struct Parts<C>(PhantomData<C>);

impl<'de, C: Deserialize<'de> + Default> Visitor<'de> for Parts<C> {
    type Value = Saved<C>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a version and what was saved")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Saved<C>, A::Error> {
        let version = parts.next_element()?.ok_or_else(|| A::Error::invalid_length(0, &self))?;
        if version != VERSION {
            return Ok(Saved { version, content: C::default() });
        }
        let content = parts.next_element()?.ok_or_else(|| A::Error::invalid_length(1, &self))?;
        Ok(Saved { version, content })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut parts: A) -> Result<Saved<C>, A::Error> {
        let (mut version, mut content) = (None, None);
        while let Some(part) = parts.next_key()? {
            match part {
                FilePart::Version if version.is_some() => return Err(A::Error::duplicate_field("version")),
                FilePart::Content if content.is_some() => return Err(A::Error::duplicate_field("content")),
                FilePart::Version => version = Some(parts.next_value()?),
                FilePart::Content if version.is_none_or(|version| version == VERSION) => {
                    content = Some(match parts.next_value() {
                        // A version that comes after the content may explain the error: the parts of a `serde_json::Value`,
                        // for example, may be sorted by name. If the number of parts is known in advance, the parts after an
                        // unreadable part can still be read.
                        Err(error) if version.is_some() || parts.size_hint().is_none() => return Err(error),
                        read => read,
                    });
                }
                FilePart::Content | FilePart::Other => _ = parts.next_value::<IgnoredAny>()?,
            }
        }
        let version = version.ok_or_else(|| A::Error::missing_field("version"))?;
        if version != VERSION {
            return Ok(Saved { version, content: C::default() });
        }
        let content = content.ok_or_else(|| A::Error::missing_field("content"))??;
        Ok(Saved { version, content })
    }
}
