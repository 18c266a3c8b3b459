//! The values of types that Kubernetes adds to CEL.

use std::cmp::Ordering;
use std::net::IpAddr;
use std::sync::Arc;

use cel::Value;
use cel::objects::Opaque;
use ipnet::IpNet;
use semver::Version;

use super::argument::{Argument, Result, mismatch, string};
use super::authorizer::Rights;
use super::formats::Format;
use super::url::Url;
use crate::quantity::Quantity;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Own {
    Quantity(Quantity),
    Version(Version),
    Ip(IpAddr),
    Cidr(IpNet),
    Url(Url),
    Format(&'static Format),
    Rights(Rights),
}

impl Own {
    /// About how many bytes it has beside the value itself.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Version(version) => version.pre.len() + version.build.len(),
            Self::Url(url) => url.len(),
            Self::Rights(rights) => rights.len(),
            Self::Quantity(_) | Self::Ip(_) | Self::Cidr(_) | Self::Format(_) => 0,
        }
    }
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
            Self::Rights(Rights::All(_)) => "kubernetes.authorization.Authorizer",
            Self::Rights(Rights::Path(..)) => "kubernetes.authorization.PathCheck",
            Self::Rights(Rights::Group(..)) => "kubernetes.authorization.GroupCheck",
            Self::Rights(Rights::Resource(..)) => "kubernetes.authorization.ResourceCheck",
            Self::Rights(Rights::Decided(_)) => "kubernetes.authorization.Decision",
        }
    }
}

impl From<Own> for Value {
    fn from(own: Own) -> Self {
        let own: Arc<dyn Opaque> = Arc::new(own);
        Self::Opaque(own)
    }
}

fn order(arguments: &[Argument<'_>]) -> Result<Ordering> {
    match arguments {
        [one, other] => match (one.own()?, other.own()?) {
            (Own::Quantity(one), Own::Quantity(other)) => Ok(one.cmp(other)),
            // What was built does not count.
            (Own::Version(one), Own::Version(other)) => Ok(one.cmp_precedence(other)),
            _ => Err(mismatch()),
        },
        _ => Err(mismatch()),
    }
}

pub(super) fn is_greater(arguments: &[Argument<'_>]) -> Result {
    Ok(order(arguments)?.is_gt().into())
}

pub(super) fn is_less(arguments: &[Argument<'_>]) -> Result {
    Ok(order(arguments)?.is_lt().into())
}

pub(super) fn compared(arguments: &[Argument<'_>]) -> Result {
    Ok(Value::Int(order(arguments)? as i64))
}

/// An address as a string.
pub(super) fn shown(arguments: &[Argument<'_>]) -> Result {
    match arguments {
        [value] => match value.own()? {
            Own::Ip(address) => Ok(string(address.to_string())),
            Own::Cidr(network) => Ok(string(network.to_string())),
            _ => Err(mismatch()),
        },
        _ => Err(mismatch()),
    }
}
