//! Dynamic objects as records of a file: as JSON.

use super::{RestoreObjects, SaveObjects};
use crate::low_level::wire::Encoding;
use crate::object::is_path_segment;
use kube::core::DynamicObject;
use serde::de::DeserializeOwned;
use std::any::{Any, TypeId};
use std::sync::Arc;

/// Writes and reads [`DynamicObject`]s. Other types are not known to be written as they are read.
pub(super) struct DynamicObjects;

impl DynamicObjects {
    /// `None` if `K` is another type.
    pub(super) fn of<K: 'static>() -> Option<Self> {
        (TypeId::of::<K>() == TypeId::of::<DynamicObject>()).then_some(Self)
    }
}

impl<K: kube::Resource + Send + Sync + 'static> SaveObjects<K> for DynamicObjects {
    fn write(&mut self, object: &Arc<K>, out: &mut Vec<u8>) {
        if let Some(object) = (&**object as &dyn Any).downcast_ref::<DynamicObject>() {
            // What cannot be written makes a record that cannot be read, and so a file that is not used.
            let _ = serde_json::to_writer(out, object);
        }
    }

    fn finish(&mut self, _: &mut Vec<u8>) {}
}

impl<K: kube::Resource + DeserializeOwned + Send + Sync + 'static> RestoreObjects<K> for DynamicObjects {
    fn read(&mut self, record: &[u8]) -> Option<Arc<K>> {
        // By the decoder of the server's answers, so that what it has read can be read again.
        let write = |out: &mut Vec<u8>| record.clone_into(out);
        let object: K = super::decoding::object(Encoding::Json, None, write).ok()?;
        let metadata = object.meta();
        let name = metadata.name.as_deref().filter(|name| !name.is_empty())?;
        let valid = is_path_segment(name) && metadata.namespace.as_deref().is_none_or(is_path_segment);
        valid.then(|| Arc::new(object))
    }

    fn finish(&mut self, record: &[u8]) -> Option<()> {
        record.is_empty().then_some(())
    }
}

#[cfg(all(test, feature = "simd-json"))]
mod tests {
    use super::*;

    #[test]
    fn deep_objects_are_read_again() {
        let deep = format!(
            r#"{{"metadata":{{"name":"a"}},"deep":{}1{}}}"#,
            "[".repeat(200),
            "]".repeat(200)
        );
        let write = |out: &mut Vec<u8>| deep.as_bytes().clone_into(out);
        let object: DynamicObject = super::super::decoding::object(Encoding::Json, None, write).unwrap();
        let object = Arc::new(object);
        let mut record = Vec::new();
        SaveObjects::<DynamicObject>::write(&mut DynamicObjects, &object, &mut record);
        let read =
            RestoreObjects::<DynamicObject>::read(&mut DynamicObjects, &record).expect("it was written");
        assert_eq!(read.data, object.data);
    }
}
