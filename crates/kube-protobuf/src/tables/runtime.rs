//! The messages of `k8s.io.apimachinery.pkg.runtime`.

use super::*;

pub(crate) static RawExtension: Message = special("k8s.io.apimachinery.pkg.runtime.RawExtension", Form::RawExtension, &[]);
