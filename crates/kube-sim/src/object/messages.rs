//! What an object is in protobuf, kept beside it: a message is made once, for all lists and watches that send it, as long as there is
//! room for it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use super::room::Room;

/// The messages of all objects of this process: those of some 70,000 pods of 10 KB. What is beyond is made each time.
static ROOM: Room = Room::of(512 * 1024 * 1024);

/// The messages of one version of an object that were asked for.
#[derive(Debug, Default)]
pub(super) struct Messages(Mutex<Kept>);

#[derive(Debug)]
enum Kept {
    /// One for each type of message (the kind, or its metadata) in each served version, and for each resource version: a
    /// deletion has another one than the object.
    Some(Vec<Message>),
    /// None any more.
    None,
}

#[derive(Debug)]
struct Message {
    name: &'static str,
    version: Box<str>,
    resource_version: u64,
    bytes: Bytes,
}

impl Default for Kept {
    fn default() -> Self {
        Self::Some(Vec::new())
    }
}

impl Kept {
    fn bytes(&self) -> usize {
        match self {
            Self::Some(messages) => messages.iter().map(|message| message.bytes.len()).sum(),
            Self::None => 0,
        }
    }
}

impl Drop for Messages {
    fn drop(&mut self) {
        let kept = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        ROOM.give_back(kept.bytes());
    }
}

/// A copy begins without messages.
impl Clone for Messages {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Messages {
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A message, which `make` makes if it is not kept. Whoever asks for it meanwhile waits.
    pub(super) fn get<E>(
        &self,
        (name, version): (&'static str, &str),
        resource_version: u64,
        make: impl FnOnce() -> Result<Vec<u8>, E>,
    ) -> Result<Bytes, E> {
        let mut kept = self.lock();
        let Kept::Some(messages) = &mut *kept else {
            drop(kept);
            return make().map(Bytes::from);
        };
        let is_meant = |message: &&Message| {
            (message.name, &*message.version, message.resource_version) == (name, version, resource_version)
        };
        if let Some(message) = messages.iter().find(is_meant) {
            return Ok(message.bytes.clone());
        }
        let bytes = Bytes::from(make()?);
        if !ROOM.take(bytes.len()) {
            return Ok(bytes);
        }
        messages.push(Message {
            name,
            version: version.into(),
            resource_version,
            bytes: bytes.clone(),
        });
        Ok(bytes)
    }

    /// Drops the messages, and keeps none from now on.
    pub(super) fn retire(&self) {
        let mut kept = self.lock();
        ROOM.give_back(kept.bytes());
        *kept = Kept::None;
    }

    /// Keeps messages again.
    pub(super) fn revive(&self) {
        let mut kept = self.lock();
        if let Kept::None = *kept {
            *kept = Kept::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_made_once_until_it_is_retired() {
        let messages = Messages::default();
        let made = std::cell::Cell::new(0);
        let get = |name, version| {
            let make = || {
                made.set(made.get() + 1);
                Ok::<_, ()>(format!("{name} {version}").into_bytes())
            };
            let bytes = messages.get((name, "v1"), version, make).unwrap();
            assert_eq!(bytes, format!("{name} {version}"));
            made.get()
        };
        assert_eq!(
            [get("a", 1), get("a", 1), get("a", 2), get("b", 1), get("a", 1)],
            [1, 1, 2, 3, 3]
        );
        messages.retire();
        assert_eq!([get("a", 1), get("a", 1)], [4, 5]);
        messages.revive();
        assert_eq!([get("a", 1), get("a", 1)], [6, 6]);
        assert_eq!(messages.get(("c", "v1"), 1, || Err(())), Err(()));
        assert_eq!(get("c", 1), 7);
    }
}
