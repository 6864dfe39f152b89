//! The output file of a picture is replaced completely or left unchanged.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const TOOL: &str = env!("CARGO_BIN_EXE_demeanor");
const OLD: &str = "the old picture";

/// Creates a directory for one test, with an old picture in it. Returns the directory and the picture.
fn old_picture(test: &str) -> (PathBuf, PathBuf) {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("picture_file").join(test);
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).unwrap();
    let picture = directory.join("guard.svg");
    fs::write(&picture, OLD).unwrap();
    (directory, picture)
}

fn definition() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files/guard.toml")
}

/// Draws to a file. Returns the exit code, and the tool's error output.
fn draw(output: &Path) -> (i32, String) {
    run(Command::new(TOOL).args(["graph", "--format", "svg"]).arg(definition()).arg("--output").arg(output))
}

fn run(command: &mut Command) -> (i32, String) {
    let output = command.output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

fn names(directory: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<_> = fs::read_dir(directory).unwrap().map(name).collect();
    names.sort();
    names
}

/// A limit on the size of files simulates a full disk, because it also cuts off the output.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_the_old_picture_and_nothing_beside_it() {
    let (directory, picture) = old_picture("full_disk");
    let shell = r#"trap '' XFSZ; ulimit -f 1; exec "$0" graph --format svg "$1" --output "$2""#;
    let (code, complaint) = run(Command::new("sh").args(["-c", shell, TOOL]).arg(definition()).arg(&picture));
    assert_eq!(code, 2);
    assert!(complaint.starts_with(&format!("error: {}: ", picture.display())), "{complaint}");
    assert_eq!(fs::read_to_string(&picture).unwrap(), OLD);
    assert_eq!(names(&directory), ["guard.svg"]);
}

/// If the file were written in place, it would also change under its other name.
#[test]
fn a_new_picture_takes_the_place_of_the_old_one() {
    let (directory, picture) = old_picture("replaced");
    fs::hard_link(&picture, directory.join("other-name.svg")).unwrap();
    assert_eq!(draw(&picture), (0, String::new()));
    assert!(fs::read_to_string(&picture).unwrap().ends_with("</svg>\n"));
    assert_eq!(fs::read_to_string(directory.join("other-name.svg")).unwrap(), OLD);
    assert_eq!(names(&directory), ["guard.svg", "other-name.svg"]);
}

#[cfg(unix)]
#[test]
fn a_picture_keeps_its_permissions_and_a_link_to_it_stays_a_link() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let (directory, picture) = old_picture("permissions");
    let link = directory.join("link.svg");
    symlink(&picture, &link).unwrap();
    fs::set_permissions(&picture, fs::Permissions::from_mode(0o664)).unwrap();
    assert_eq!(draw(&link), (0, String::new()));
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::metadata(&picture).unwrap().permissions().mode() & 0o777, 0o664);
    assert!(fs::read_to_string(&picture).unwrap().ends_with("</svg>\n"));
}

#[cfg(unix)]
#[test]
fn a_link_to_a_file_that_is_not_there_yet_stays_a_link() {
    use std::os::unix::fs::symlink;

    let (directory, _) = old_picture("new_behind_a_link");
    let [new, link, outer, circle] =
        ["new.svg", "link.svg", "outer.svg", "circle.svg"].map(|name| directory.join(name));
    symlink("new.svg", &link).unwrap();
    symlink(&link, &outer).unwrap();
    symlink("circle.svg", &circle).unwrap();
    assert_eq!(draw(&outer), (0, String::new()));
    assert!(fs::symlink_metadata(&new).unwrap().is_file());
    assert_eq!(draw(&circle).0, 2);
    assert!([link, outer, circle].iter().all(|link| fs::symlink_metadata(link).unwrap().is_symlink()));
}

/// The permissions are those of any new file, from the umask.
#[cfg(unix)]
#[test]
fn others_can_read_a_new_picture() {
    use std::os::unix::fs::PermissionsExt;

    let (directory, _) = old_picture("new");
    let [plain, drawn] = ["plain.txt", "new.svg"].map(|name| directory.join(name));
    fs::write(&plain, "").unwrap();
    assert_eq!(draw(&drawn), (0, String::new()));
    let [plain, drawn] = [plain, drawn].map(|file| fs::metadata(file).unwrap().permissions().mode());
    assert_eq!(drawn, plain);
}

#[cfg(unix)]
#[test]
fn a_picture_can_be_drawn_to_a_device() {
    let mut tool = Command::new(TOOL);
    tool.args(["graph", "--format", "svg"]).arg(definition()).args(["--output", "/dev/stdout"]);
    let printed = String::from_utf8(tool.output().unwrap().stdout).unwrap();
    assert!(printed.ends_with("</svg>\n"), "{printed}");
}

#[test]
fn a_picture_in_a_directory_that_is_not_there_is_an_error() {
    let (directory, _) = old_picture("nowhere");
    let nowhere = directory.join("nowhere/guard.svg");
    let (code, complaint) = draw(&nowhere);
    assert_eq!(code, 2);
    assert!(complaint.starts_with(&format!("error: {}: ", nowhere.display())), "{complaint}");
}
