//! `demeanor studio`: a page in the browser that shows a machine, changes it, plays it, proves it, and watches it in a
//! running game.
//!
//! The server reads and writes files only in one folder. The page has no data of its own: it sends the text that it shows, and the
//! server answers with the picture, the problems, the changed text, or a run.

mod assets;
mod change;
mod drawing;
mod folder;
mod game;
mod hash;
mod keep;
mod offsets;
mod problems;
mod project;
mod requests;
mod runner;
mod server;
mod shared;
mod source;
mod watch;

use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;

use clap::Args;
use demeanor::definition::Words;

use self::folder::Folder;
use self::project::Project;
use crate::{Exit, Outcome, WordsFile, complain, tell};

#[derive(Args)]
pub(crate) struct Studio {
    /// A definition file, or a folder with definition files in it.
    #[arg(default_value = ".")]
    path: PathBuf,
    /// The game's words: a file that the game's own tool has written, with `vocabulary`.
    #[arg(long, value_name = "FILE", visible_alias = "vocabulary")]
    words: Option<PathBuf>,
    /// Watch a running game: the address of its inspector, such as `127.0.0.1:7878`.
    #[arg(long, value_name = "ADDRESS")]
    game: Option<String>,
    /// The port on this computer. By default a free one.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Print the address of the page, and do not open it in the browser.
    #[arg(long)]
    no_browser: bool,
}

impl Studio {
    pub(crate) fn words(&self) -> WordsFile {
        WordsFile { vocabulary: self.words.clone() }
    }
}

/// Serves the page until the process ends.
pub(crate) fn studio(studio: &Studio, words: Option<Words>) -> Outcome {
    let folder = Folder::new(&studio.path)?;
    studio.game.as_deref().map(game::address).transpose()?;
    let address = format!("127.0.0.1:{}", studio.port);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, studio.port)).map_err(|why| format!("{address}: {why}"))?;
    let served = server::serve(listener, Project { folder, words }, studio.game.clone())
        .map_err(|why| format!("{address}: {why}"))?;
    tell(&format!("{}\n", served.url))?;
    if !studio.no_browser && open::that_detached(&served.url).is_err() {
        complain("no browser could be opened: open this address in one");
    }
    // The server ends only with the process.
    let _ = served.thread.join();
    Ok(Exit::Failed)
}
