//! The tool `demeanor`: checks, draws and runs definition files. It can read the game's words from a file.

use std::process::ExitCode;

fn main() -> ExitCode {
    demeanor_cli::main()
}
