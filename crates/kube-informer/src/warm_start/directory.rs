//! Replaces a file as a whole: written beside, then renamed.

use super::turns::Writing;
use std::fs::{self, DirEntry, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The end of the names of files that are being written.
const TEMPORARY: &str = ".tmp";

/// Replaces the file at `path` by what `write` writes, or leaves it as it is. Whoever opens `path` at any time, even after a
/// crash in the middle of this, finds the old content or the new one. The file can be read by its owner only; so can the
/// directory, if it is made.
///
/// Processes that do this at the same time write to files of their own; the last one that is ready counts. One that was given up, because
/// the disk took nothing for long, leaves the file as it is: it may be a newer one by then.
pub(crate) fn replace<T>(
    path: &Path,
    writing: &Writing,
    write: impl FnOnce(&mut File) -> io::Result<T>,
) -> io::Result<T> {
    let directory = path
        .parent()
        .filter(|directory| !directory.as_os_str().is_empty());
    let directory = directory.unwrap_or(Path::new("."));
    create_directory(directory)?;
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(format!(".{:016x}{TEMPORARY}", rand::random::<u64>()));
    let temporary = PathBuf::from(temporary);
    let written = write_to(&temporary, write).and_then(|written| {
        writing.check()?;
        fs::rename(&temporary, path)?;
        // Without it, a crash may undo the rename: the old file is as good a start. Some file systems cannot do it.
        let _ = sync_directory(directory);
        Ok(written)
    });
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn write_to<T>(path: &Path, write: impl FnOnce(&mut File) -> io::Result<T>) -> io::Result<T> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    // It is not a leftover as long as it is locked. A file system without locks does without.
    let _ = file.try_lock();
    let written = write(&mut file)?;
    file.sync_all()?;
    Ok(written)
}

fn create_directory(directory: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

/// Makes a rename in the directory permanent.
#[cfg(unix)]
fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

#[cfg(not(unix))]
fn sync_directory(_: &Path) -> io::Result<()> {
    Ok(())
}

/// A file that has not been written to for so long is not one that another process has just made and not locked yet.
const LEFT: Duration = Duration::from_secs(60);

/// Removes what processes that were killed have left of attempts to replace the file at `path`. What is being written is
/// locked, and stays. What cannot be removed stays, too.
pub(crate) fn remove_leftovers(path: &Path) {
    let (Some(directory), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str()))
    else {
        return;
    };
    for (entry, rest) in entries_of(directory, &format!("{name}.")) {
        if rest.ends_with(TEMPORARY)
            && is_old_file(&entry)
            && File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok())
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// What is in a directory and has a name that begins so, each with the rest of its name; nothing if that cannot be read.
fn entries_of(directory: &Path, prefix: &str) -> impl Iterator<Item = (DirEntry, String)> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(move |entry| {
        let name = entry.file_name();
        let rest = name.to_str()?.strip_prefix(prefix)?.to_owned();
        Some((entry, rest))
    })
}

/// Whether it is a file, which can be opened without waiting, and has been left.
fn is_old_file(entry: &DirEntry) -> bool {
    let Ok(metadata) = entry.metadata() else {
        return false;
    };
    let modified = metadata.modified().ok();
    let age = modified.and_then(|modified| modified.elapsed().ok());
    metadata.is_file() && age.is_some_and(|age| age >= LEFT)
}

/// Removes all caches of a resource, whatever was selected of it.
pub(crate) fn remove_caches(directory: &Path, resource: &str) {
    for (entry, rest) in entries_of(directory, &format!("{resource}-")) {
        // 16 digits, and what follows while it is being written.
        let (digits, rest) = rest.split_at_checked(16).unwrap_or_default();
        let ours = digits.bytes().all(|digit| digit.is_ascii_hexdigit()) && rest.starts_with(".cache");
        if ours && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::time::SystemTime;

    /// A directory of its own for a test.
    fn directory(name: &str) -> PathBuf {
        let directory =
            std::env::temp_dir().join(format!("kube-informer-{name}-{:x}", rand::random::<u64>()));
        fs::create_dir(&directory).unwrap();
        directory
    }

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_write_that_fails_leaves_the_old_file_and_nothing_else() {
        let directory = directory("fails");
        let path = directory.join("pods.cache");
        replace(&path, &Writing::default(), |file| file.write_all(b"old")).unwrap();
        let full = replace(&path, &Writing::default(), |file| {
            file.write_all(b"half")?;
            Err::<(), _>(io::Error::from(io::ErrorKind::StorageFull))
        });
        assert_eq!(full.unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(&directory), ["pods.cache"]);
        fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn only_the_caches_of_one_resource_are_removed() {
        let directory = directory("removed");
        let kept = [
            "configmaps-0123456789abcdef.cache",
            "secrets-notes.txt",
            "secrets-of-b-0123456789abcdef.cache",
        ];
        let removed = [
            "secrets-0123456789abcdef.cache",
            "secrets-0123456789abcdef.cache.0123456789abcdef.tmp",
        ];
        for name in kept.iter().chain(&removed) {
            fs::write(directory.join(name), "content").unwrap();
        }
        remove_caches(&directory, "secrets");
        assert_eq!(names(&directory), kept);
        fs::remove_dir_all(directory).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_can_read_what_is_saved() {
        use std::os::unix::fs::PermissionsExt;
        let directory = directory("mode");
        let path = directory.join("new").join("pods.cache");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        replace(&path, &Writing::default(), |file| {
            let own = file.metadata()?.permissions().mode() & 0o777;
            assert_eq!(own, 0o600, "from the beginning");
            Ok(())
        })
        .unwrap();
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn leftovers_are_removed_but_not_what_is_being_written() {
        let directory = directory("leftovers");
        let path = directory.join("pods.cache");
        let leftover = directory.join("pods.cache.0123456789abcdef.tmp");
        let other = directory.join("nodes.cache.0123456789abcdef.tmp");
        let new = directory.join("pods.cache.fedcba9876543210.tmp");
        for file in [&leftover, &other, &new] {
            fs::write(file, "half").unwrap();
        }
        let set_old = |file: &File| file.set_modified(SystemTime::now() - 2 * LEFT).unwrap();
        for file in [&leftover, &other] {
            set_old(&OpenOptions::new().write(true).open(file).unwrap());
        }
        replace(&path, &Writing::default(), |written| {
            set_old(written);
            remove_leftovers(&path);
            assert!(!leftover.exists() && other.exists());
            assert!(new.exists(), "it may not be locked yet");
            assert_eq!(names(&directory).len(), 3, "the file that is being written stays");
            Ok(())
        })
        .unwrap();
        fs::remove_dir_all(directory).unwrap();
    }
}
