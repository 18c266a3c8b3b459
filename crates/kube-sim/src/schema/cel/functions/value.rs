//! The values of types that Kubernetes adds to CEL.

use std::cmp::Ordering;
use std::net::IpAddr;
use std::sync::Arc;

use cel::Value;
use cel::objects::Opaque;
use ipnet::IpNet;
use semver::Version;

use super::formats::Format;
use super::url::Url;
use super::{Result, mismatch, own, string};
use crate::quantity::Quantity;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Own {
    Quantity(Quantity),
    Version(Version),
    Ip(IpAddr),
    Cidr(IpNet),
    Url(Url),
    Format(&'static Format),
}

impl Opaque for Own {
    fn runtime_type_name(&self) -> &str {
        match self {
            Self::Quantity(_) => "kubernetes.Quantity",
            Self::Version(_) => "kubernetes.Semver",
            Self::Ip(_) => "net.IP",
            Self::Cidr(_) => "net.CIDR",
            Self::Url(_) => "kubernetes.URL",
            Self::Format(_) => "kubernetes.NamedFormat",
        }
    }
}

impl From<Own> for Value {
    fn from(own: Own) -> Self {
        let own: Arc<dyn Opaque> = Arc::new(own);
        Self::Opaque(own)
    }
}

fn order(arguments: &[Value]) -> Result<Ordering> {
    match arguments {
        [one, other] => match (own(one)?, own(other)?) {
            (Own::Quantity(one), Own::Quantity(other)) => Ok(one.cmp(other)),
            // What was built does not count.
            (Own::Version(one), Own::Version(other)) => Ok(one.cmp_precedence(other)),
            _ => Err(mismatch()),
        },
        _ => Err(mismatch()),
    }
}

pub(super) fn is_greater(arguments: &[Value]) -> Result {
    Ok(order(arguments)?.is_gt().into())
}

pub(super) fn is_less(arguments: &[Value]) -> Result {
    Ok(order(arguments)?.is_lt().into())
}

pub(super) fn compared(arguments: &[Value]) -> Result {
    Ok(Value::Int(order(arguments)? as i64))
}

/// An address as a string.
pub(super) fn shown(arguments: &[Value]) -> Result {
    match arguments {
        [value] => match own(value)? {
            Own::Ip(address) => Ok(string(address.to_string())),
            Own::Cidr(network) => Ok(string(network.to_string())),
            _ => Err(mismatch()),
        },
        _ => Err(mismatch()),
    }
}
