//! The authorities that a webhook's certificate is checked against.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::server::ParsedCertificate;

/// Why authorities, in base64, cannot be read; none at all are fine.
pub(crate) fn authority_fault(authorities: &str) -> Option<&'static str> {
    const NO_PEM: &str = "unable to load root certificates: unable to parse bytes as PEM block";
    const NO_CERTIFICATE: &str = "unable to load root certificates: no valid certificate authority data seen";
    const MALFORMED: &str =
        "unable to load root certificates: failed to parse certificate: x509: malformed certificate";
    let Ok(pem) = STANDARD.decode(authorities) else {
        return Some(NO_PEM);
    };
    let anchors = anchors(&pem);
    match anchors.is_empty() {
        true if pem.is_empty() => None,
        true if String::from_utf8_lossy(&pem).contains("-----END ") => Some(NO_CERTIFICATE),
        true => Some(NO_PEM),
        false => (!anchors.iter().any(is_certificate)).then_some(MALFORMED),
    }
}

/// Whether a webhook can be asked with such authorities, among which blanks are none.
pub(crate) fn are_usable(authorities: &str) -> bool {
    let decoded = STANDARD.decode(authorities);
    decoded.is_ok_and(|pem| pem.trim_ascii().is_empty()) || authority_fault(authorities).is_none()
}

/// The certificates in a text, whether or not they can be read.
pub(super) fn anchors(pem: &[u8]) -> Vec<CertificateDer<'static>> {
    CertificateDer::pem_slice_iter(pem)
        .filter_map(Result::ok)
        .collect()
}

fn is_certificate(certificate: &CertificateDer<'static>) -> bool {
    ParsedCertificate::try_from(certificate).is_ok()
}
