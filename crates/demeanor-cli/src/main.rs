//! The tool `demeanor`: checks, draws and runs definition files, knowing the game's words from a file if at all.

use std::process::ExitCode;

fn main() -> ExitCode {
    demeanor_cli::main()
}
