//! The messages of `k8s.io.apimachinery.pkg.api.resource`.

use super::*;

pub(crate) static Quantity: Message = special("k8s.io.apimachinery.pkg.api.resource.Quantity", Form::Quantity, &[]);
