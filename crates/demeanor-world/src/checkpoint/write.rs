//! Writes a checkpoint: each file gets a temporary name, is synced to the disk, and is renamed when it is complete.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::content::{ContentRef, MAGIC, Summed, VERSION};
use super::manifest::{self, Manifest};
use super::part::Part;
use super::read::{checkpoints_in, folder_of, folders_in};
use crate::citizen::Citizen;
use crate::error::WorldError;
use crate::setup::Setup;

/// The number of checkpoints that are kept: the last one and the one before.
const KEPT: usize = 2;

/// Writes one worker's part.
pub(crate) fn write_part<T: Citizen>(
    folder: &Path,
    ticks: u64,
    worker: u32,
    content: &ContentRef<'_, T>,
    citizens: u64,
) -> Result<Part, WorldError> {
    let folder = folder_of(folder, ticks);
    fs::create_dir_all(&folder).map_err(|error| failed(&folder, &error))?;
    let write = |file: &mut BufWriter<File>| {
        let (bytes, digest) = write_content(content, file)?;
        Ok(Part { number: worker, bytes, digest, citizens })
    };
    let written = write_whole(&folder, write, Part::file);
    written.map_err(|error| failed(&folder.join(format!("part-{worker:05}")), &error))
}

/// Writes the content of a part. Returns the number of bytes and their digest.
fn write_content<T: Citizen>(content: &ContentRef<'_, T>, to: impl Write) -> io::Result<(u64, u64)> {
    let mut summed = Summed::new(to);
    let head = summed.write_all(MAGIC).and_then(|()| summed.write_all(&VERSION.to_le_bytes()));
    let written = head.and_then(|()| postcard::to_io(content, &mut summed).map(drop).map_err(io::Error::other));
    written.map_err(|error| summed.error.take().unwrap_or(error))?;
    Ok((summed.bytes, summed.digest()))
}

/// Writes the manifest, which makes the parts a checkpoint, and removes checkpoints that are too old.
pub(crate) fn write_manifest<T: Citizen>(
    folder: &Path,
    setup: &Setup<T>,
    ticks: u64,
    parts: Vec<Part>,
) -> Result<(), WorldError> {
    let of_ticks = folder_of(folder, ticks);
    let text = Manifest::new(setup, ticks, parts).text();
    write_whole(&of_ticks, |file| file.write_all(text.as_bytes()), |()| manifest::FILE.to_owned())
        .map_err(|error| failed(&of_ticks.join(manifest::FILE), &error))?;
    sync_folder(folder).map_err(|error| failed(folder, &error))?;
    let stays = |what: &Path, error: &io::Error| {
        log::warn!(target: "demeanor_world", "the old checkpoint {} cannot be removed: {error}", what.display());
    };
    remove_old(folder, ticks, stays).unwrap_or_else(|error| stays(folder, &error));
    Ok(())
}

/// Removes the checkpoints before the last ones, and the files that crashes have left.
fn remove_old(folder: &Path, ticks: u64, stays: impl Fn(&Path, &io::Error)) -> io::Result<()> {
    let mut whole = checkpoints_in(folder)?;
    whole.retain(|(of, _)| *of <= ticks);
    let kept: Vec<_> = whole.iter().rev().take(KEPT).map(|(_, folder)| folder).collect();
    for (of, path) in folders_in(folder)? {
        if of > ticks || kept.contains(&&path) || path != folder_of(folder, of) {
            continue;
        }
        // The manifest is removed before the parts, so that a folder with missing parts is never a checkpoint.
        let removed = match fs::remove_file(path.join(manifest::FILE)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => fs::remove_dir_all(&path),
        };
        if let Err(error) = removed {
            stays(&path, &error);
        }
    }
    Ok(())
}

/// Writes a file to a folder. The file's name appears only when its whole content is on the disk.
fn write_whole<R>(
    folder: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<R>,
    name: impl FnOnce(&R) -> String,
) -> io::Result<R> {
    // The name is random, because a stopped process of an earlier run may continue to write its own file.
    let beside = folder.join(format!("{:016x}.tmp", getrandom::u64()?));
    let result = write_synced(File::create(&beside)?, write).and_then(|result| {
        fs::rename(&beside, folder.join(name(&result)))?;
        sync_folder(folder)?;
        Ok(result)
    });
    if result.is_err() {
        // The disk may be full. An error of the removal is ignored in favor of the first error.
        let _ = fs::remove_file(&beside);
    }
    result
}

fn write_synced<R>(file: File, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<R>) -> io::Result<R> {
    let mut file = BufWriter::new(file);
    let result = write(&mut file)?;
    file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
    Ok(result)
}

/// Syncs a folder, so that the names of its files are on the disk.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// On other systems a folder cannot be opened as a file.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

pub(super) fn failed(path: &Path, error: &io::Error) -> WorldError {
    WorldError::Checkpoint { path: path.display().to_string(), text: error.to_string() }
}

#[cfg(test)]
mod tests {
    use demeanor::{Batch, Owner, State, StateBook};
    use serde::{Deserialize, Serialize};

    use super::*;
    use crate::parcel::Packed;

    #[derive(Clone, Serialize, Deserialize)]
    struct Stone(u64);

    impl Owner for Stone {
        type Context<'a> = ();
        type Message = ();
    }

    impl Citizen for Stone {
        fn id(&self) -> u64 {
            self.0
        }

        fn home(&self) -> u32 {
            0
        }

        fn digest(&self, _: &mut demeanor::DigestHasher) {}
    }

    struct Lie;

    impl State<Stone> for Lie {}

    /// Writes the content of a part with a hundred stones.
    fn write_stones(to: impl Write) -> io::Result<(u64, u64)> {
        let (book, mut batch) = (StateBook::new().with(&Lie), Batch::new());
        for id in 0..100 {
            batch.spawn(Stone(id), &Lie, &mut ());
        }
        let newborn = Packed { now: 0.0, citizens: Batch::new().save(&book, 0.0).unwrap().map_owners(Stone::clone) };
        let citizens = (0.0, batch.save(&book, 0.0).unwrap());
        write_content::<Stone>(&ContentRef { citizens, newborn, mail: &[], returned: Vec::new() }, to)
    }

    /// A disk with room for a limited number of bytes.
    struct Disk(usize);

    const NO_SPACE: i32 = 28;

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let room = self.0.min(bytes.len());
            self.0 -= room;
            if room == 0 { Err(io::Error::from_raw_os_error(NO_SPACE)) } else { Ok(room) }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn wherever_a_disk_is_full_the_error_is_that_of_the_system() {
        let (length, _) = write_stones(io::sink()).unwrap();
        let length = usize::try_from(length).unwrap();
        for room in 0..length {
            let written = [
                write_stones(Disk(room)),
                write_stones(BufWriter::with_capacity(16, Disk(room))),
                // With a large buffer, the write fails only when the buffer is flushed.
                write_stones(BufWriter::with_capacity(length + 1, Disk(room))),
            ];
            for result in written {
                assert_eq!(result.unwrap_err().raw_os_error(), Some(NO_SPACE), "{room} of {length} bytes");
            }
        }
        assert!(write_stones(Disk(length)).is_ok());
    }

    #[test]
    fn a_writer_that_takes_nothing_is_an_error_of_its_own() {
        struct Nothing;
        impl Write for Nothing {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Ok(0)
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        assert_eq!(write_stones(Nothing).unwrap_err().kind(), io::ErrorKind::WriteZero);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn an_error_of_the_disk_is_that_of_the_system_when_a_file_is_written_synced_and_renamed() {
        let open = |path: &str| File::options().write(true).open(path).unwrap();
        let full = write_synced(open("/dev/full"), |file| write_stones(file)).unwrap_err();
        assert_eq!(full.to_string(), "No space left on device (os error 28)");
        // The bytes are first written to the buffer; they get to the disk when the file is closed.
        let full = write_synced(open("/dev/full"), |file| file.write_all(b"text")).unwrap_err();
        assert_eq!(full.to_string(), "No space left on device (os error 28)");
        let synced = write_synced(open("/dev/null"), |file| file.write_all(b"text")).unwrap_err();
        assert_eq!(synced.to_string(), "Invalid argument (os error 22)");

        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("taken/full")).unwrap();
        let renamed = write_whole(folder.path(), |file| file.write_all(b"text"), |()| "taken".to_owned()).unwrap_err();
        assert_eq!(renamed.to_string(), "Is a directory (os error 21)");
        let names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["taken"]);
    }
}
