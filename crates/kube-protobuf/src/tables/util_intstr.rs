//! The messages of `k8s.io.apimachinery.pkg.util.intstr`.

use super::*;

pub(crate) static IntOrString: Message = special("k8s.io.apimachinery.pkg.util.intstr.IntOrString", Form::IntOrString, &[]);
