//! The error of loading a definition from a file.

use std::error::Error;
use std::path::PathBuf;
use std::{fmt, io};

use miette::Diagnostic;

use super::problem::Problems;

/// The reason why a definition could not be loaded from a file.
///
/// It is a [`miette::Diagnostic`], like [`Problems`]. If `main` returns `miette::Result<()>`, use `?`: the report handler of
/// miette draws each problem at its place in the file.
///
/// # Examples
///
/// ```
/// use demeanor::definition::{Definition, Vocabulary};
/// struct Guard;
/// impl demeanor::Owner for Guard { type Context<'a> = (); type Message = (); }
///
/// fn run() -> miette::Result<()> {
///     Definition::load("no/such/guard.toml", &Vocabulary::<Guard>::new())?;
///     Ok(())
/// }
///
/// assert!(run().unwrap_err().to_string().starts_with("no/such/guard.toml: "));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum LoadError {
    /// The file could not be read.
    Io {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// The file was read, and has mistakes.
    Problems(Problems),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, error } => write!(f, "{}: {error}", path.display()),
            Self::Problems(problems) => fmt::Display::fmt(problems, f),
        }
    }
}

impl Error for LoadError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Io { error, .. } => Some(error),
            // `Display` already shows the problems. If they were also the source, a report would show them twice.
            Self::Problems(problems) => problems.source(),
        }
    }
}

impl Diagnostic for LoadError {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        match self {
            Self::Io { .. } => Some(Box::new("io")),
            Self::Problems(problems) => problems.code(),
        }
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        match self {
            Self::Io { .. } => None,
            Self::Problems(problems) => problems.related(),
        }
    }
}

impl From<Problems> for LoadError {
    fn from(problems: Problems) -> Self {
        Self::Problems(problems)
    }
}
