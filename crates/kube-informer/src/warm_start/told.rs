//! What handlers were told before the server had confirmed a saved cache: a small file beside it.
//!
//! A saved cache is not replaced before it is confirmed. So without this file, a run that ends before would be followed by one that tells
//! handlers the same: for ever, if they panic because of it.

use super::directory;
use super::turns::Writing;
use crate::object::ObjectKey;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Nobody is told of more deletions than a cache has objects; a file of this size has names of more than a hundred thousand.
const LARGEST: u64 = 64 << 20;

/// What the next run must not repeat.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Told {
    /// The random number of the cache file that it belongs to. After a crash, it may be beside a newer one.
    of: u64,
    /// The deleted objects of the cache of whose deletion every handler has been told: their keys and uids.
    pub(crate) deletions: BTreeSet<(String, Option<String>)>,
    /// Whether a handler has panicked, so that the next run tells of no object before the server has confirmed it.
    pub(crate) panicked: bool,
}

impl Told {
    /// Nothing was told that is in the file of this number.
    pub(crate) fn of(file: u64) -> Self {
        Self {
            of: file,
            ..Self::default()
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.deletions.is_empty() && !self.panicked
    }

    /// Reads what belongs to the cache file of this number. What cannot be read is as if nothing had been told.
    pub(crate) fn read(cache: &Path, file: u64) -> Self {
        let read = || -> io::Result<Self> {
            let path = path_of(cache);
            if !fs::metadata(&path)?.is_file() {
                return Ok(Self::of(file));
            }
            let mut text = Vec::new();
            File::open(&path)?.take(LARGEST).read_to_end(&mut text)?;
            Ok(serde_json::from_slice(&text)?)
        };
        let read = read().ok().filter(|told| told.of == file);
        read.unwrap_or_else(|| Self::of(file))
    }

    /// Writes it beside a cache file.
    pub(crate) fn write(&self, cache: &Path, writing: &Writing) -> io::Result<()> {
        let text = serde_json::to_vec(self)?;
        directory::replace(&path_of(cache), writing, |file| file.write_all(&text))
    }

    /// Removes it: the cache file has been replaced.
    pub(crate) fn remove(cache: &Path) {
        let _ = fs::remove_file(path_of(cache));
    }

    pub(crate) fn has(&self, key: &ObjectKey, uid: Option<&str>) -> bool {
        self.deletions
            .contains(&(key.to_string(), uid.map(str::to_owned)))
    }
}

fn path_of(cache: &Path) -> PathBuf {
    let mut path = OsString::from(cache);
    path.push(".told");
    path.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_told_is_read_again_until_it_is_removed() {
        let directory = std::env::temp_dir().join(format!("kube-informer-told-{:x}", rand::random::<u64>()));
        let cache = directory.join("pods.cache");
        assert_eq!(Told::read(&cache, 7), Told::of(7));
        let told = Told {
            of: 7,
            deletions: [("shop/a".to_owned(), Some("1".to_owned()))].into(),
            panicked: true,
        };
        told.write(&cache, &Writing::default()).unwrap();
        assert_eq!(Told::read(&cache, 7), told);
        assert_eq!(Told::read(&cache, 8), Told::of(8), "it belongs to another file");
        assert!(told.has(&"shop/a".into(), Some("1")) && !told.has(&"shop/a".into(), Some("2")));
        fs::write(path_of(&cache), "half of i").unwrap();
        assert_eq!(Told::read(&cache, 7), Told::of(7));
        Told::remove(&cache);
        assert!(!path_of(&cache).exists());
        fs::remove_dir_all(directory).unwrap();
    }
}
