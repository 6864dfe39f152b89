//! What the studio works on: the folder with the files, and the game's words.

use demeanor::definition::Words;

use super::folder::Folder;

pub(super) struct Project {
    pub(super) folder: Folder,
    pub(super) words: Option<Words>,
}
