//! Certificates and requests for them, as their kinds have them: in PEM.

use rcgen::PublicKeyData as _;
use x509_parser::certification_request::X509CertificationRequest;
use x509_parser::error::X509Error;
use x509_parser::pem::Pem;
use x509_parser::prelude::FromDer as _;
use x509_parser::public_key::PublicKey;
use x509_parser::x509::SubjectPublicKeyInfo;

/// Why this is no request for a certificate, signed by who asks.
pub(crate) fn request_fault(pem: &[u8]) -> Option<String> {
    let of_request = |request: &X509CertificationRequest<'_>| match request.verify_signature() {
        // Of other keys and algorithms nothing is known here.
        Err(X509Error::SignatureVerificationError) if !is_short(request) => {
            Some("x509: the signature does not verify".to_owned())
        }
        _ => None,
    };
    with_request(pem, of_request).unwrap_or_else(Some)
}

/// The organizations that a request names: the groups of whom the certificate is for.
///
/// # Errors
///
/// Why it is no request.
pub(crate) fn organizations(pem: &[u8]) -> Result<Vec<String>, String> {
    with_request(pem, |request| {
        let subject = &request.certification_request_info.subject;
        let names = subject.iter_organization();
        names
            .filter_map(|name| name.as_str().ok())
            .map(str::to_owned)
            .collect()
    })
}

fn with_request<T>(pem: &[u8], f: impl FnOnce(&X509CertificationRequest<'_>) -> T) -> Result<T, String> {
    let block = blocks(pem)
        .next()
        .filter(|block| block.label == "CERTIFICATE REQUEST")
        .ok_or("PEM block type must be CERTIFICATE REQUEST")?;
    match X509CertificationRequest::from_der(&block.contents) {
        Ok((_, request)) => Ok(f(&request)),
        Err(_) => Err("x509: malformed certificate request".to_owned()),
    }
}

/// Keys that are too short for the library that verifies, but not for Kubernetes.
fn is_short(request: &X509CertificationRequest<'_>) -> bool {
    let key = request.certification_request_info.subject_pki.parsed();
    matches!(key, Ok(PublicKey::RSA(key)) if key.key_size() < 2048)
}

/// Why this is no certificate, or several.
pub(crate) fn certificate_fault(pem: &[u8]) -> Option<String> {
    if pem.is_empty() {
        return None;
    }
    let mut blocks = blocks(pem).peekable();
    if blocks.peek().is_none() {
        return Some("must contain at least one CERTIFICATE PEM block".into());
    }
    blocks.find_map(|block| {
        if block.label != "CERTIFICATE" {
            let found = crate::status::quoted(&block.label);
            return Some(format!("only CERTIFICATE PEM blocks are allowed, found {found}"));
        }
        match block.parse_x509() {
            Ok(_) => None,
            Err(_) => Some("x509: malformed certificate".to_owned()),
        }
    })
}

/// Why a certificate and a key are none, or not for each other.
pub(crate) fn pair_fault(certificate: &[u8], key: &[u8]) -> Option<String> {
    let is_key = |label: &str| label == "PRIVATE KEY" || label.ends_with(" PRIVATE KEY");
    let (certificates, others): (Vec<_>, Vec<_>) =
        blocks(certificate).partition(|block| block.label == "CERTIFICATE");
    let Some(first) = certificates.first() else {
        return Some(match &labels(&others)[..] {
            [] => "tls: failed to find any PEM data in certificate input".into(),
            [one] if is_key(one) => {
                "tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have \
                 been switched"
                    .into()
            }
            others => format!(
                "tls: failed to find \"CERTIFICATE\" PEM block in certificate input after skipping PEM blocks of the following \
                 types: [{}]",
                others.join(" ")
            ),
        });
    };
    let blocks: Vec<_> = blocks(key).collect();
    let Some(key) = blocks.iter().find(|block| is_key(&block.label)) else {
        return Some(match &labels(&blocks)[..] {
            [] => "tls: failed to find any PEM data in key input".into(),
            ["CERTIFICATE"] => {
                "tls: found a certificate rather than a key in the PEM for the private key".into()
            }
            others => format!(
                "tls: failed to find PEM block with type ending in \"PRIVATE KEY\" in key input after skipping PEM blocks of the \
                 following types: [{}]",
                others.join(" ")
            ),
        });
    };
    let Ok(certificate) = first.parse_x509() else {
        return Some("x509: malformed certificate".into());
    };
    // Keys of other forms are taken as they are.
    let key = rcgen::KeyPair::try_from(&key.contents[..]).ok()?;
    let of_certificate = certificate.public_key();
    let of_key = key.subject_public_key_info();
    if of_certificate.raw == of_key {
        return None;
    }
    let kind = SubjectPublicKeyInfo::from_der(&of_key).map(|(_, info)| info.algorithm.algorithm);
    Some(match kind {
        Ok(kind) if kind != of_certificate.algorithm.algorithm => {
            "tls: private key type does not match public key type".into()
        }
        _ => "tls: private key does not match public key".into(),
    })
}

fn labels(blocks: &[Pem]) -> Vec<&str> {
    blocks.iter().map(|block| &block.label[..]).collect()
}

/// The blocks of a text, up to one that is none.
fn blocks(pem: &[u8]) -> impl Iterator<Item = Pem> {
    Pem::iter_from_buffer(pem).map_while(Result::ok)
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use rcgen::{CertificateParams, DnType, KeyPair, generate_simple_self_signed};

    use super::*;

    fn request(organization: &str) -> String {
        let mut params = CertificateParams::default();
        params
            .distinguished_name
            .push(DnType::OrganizationName, organization);
        let key = KeyPair::generate().unwrap();
        params.serialize_request(&key).unwrap().pem().unwrap()
    }

    #[test]
    fn a_request_is_read_and_its_signature_verified() {
        let request = request("system:masters");
        assert_eq!(request_fault(request.as_bytes()), None);
        assert_eq!(organizations(request.as_bytes()).unwrap(), ["system:masters"]);
        let block = Pem::iter_from_buffer(request.as_bytes()).next().unwrap().unwrap();
        let mut forged = block.contents;
        let end = forged.len() - 1;
        forged[end] ^= 1;
        let forged = STANDARD.encode(forged);
        let forged =
            format!("-----BEGIN CERTIFICATE REQUEST-----\n{forged}\n-----END CERTIFICATE REQUEST-----\n");
        assert_eq!(
            request_fault(forged.as_bytes()).unwrap(),
            "x509: the signature does not verify"
        );
    }

    #[test]
    fn what_is_no_request_is_told() {
        let none = "PEM block type must be CERTIFICATE REQUEST";
        for text in ["", "hello", "-----BEGIN CERTIFICATE REQUEST-----\n"] {
            assert_eq!(request_fault(text.as_bytes()).unwrap(), none, "{text}");
        }
        let empty = "-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n";
        assert_eq!(
            request_fault(empty.as_bytes()).unwrap(),
            "x509: malformed certificate request"
        );
    }

    #[test]
    fn a_key_is_that_of_its_certificate() {
        let [one, other] = [(); 2].map(|()| generate_simple_self_signed(["a".to_owned()]).unwrap());
        let key = one.signing_key.serialize_pem();
        let fault = |certificate: &str, key: &str| pair_fault(certificate.as_bytes(), key.as_bytes());
        assert_eq!(fault(&one.cert.pem(), &key), None);
        assert_eq!(
            fault(&other.cert.pem(), &key).unwrap(),
            "tls: private key does not match public key"
        );
        let switched = fault(&key, &one.cert.pem()).unwrap();
        assert!(
            switched.ends_with("PEM inputs may have been switched"),
            "{switched}"
        );
        assert_eq!(
            fault(&one.cert.pem(), &one.cert.pem()).unwrap(),
            "tls: found a certificate rather than a key in the PEM for the private key"
        );
        let none = fault("-----BEGIN ", &key).unwrap();
        assert_eq!(none, "tls: failed to find any PEM data in certificate input");
    }

    #[test]
    fn certificates_are_read_to_the_last() {
        let one = generate_simple_self_signed(["a".to_owned()]).unwrap().cert.pem();
        let fault = |text: &str| certificate_fault(text.as_bytes());
        assert_eq!(fault(""), None);
        assert_eq!(fault(&one), None);
        assert_eq!(fault(&format!("text\n{one}{one}")), None);
        assert_eq!(
            fault("hello").unwrap(),
            "must contain at least one CERTIFICATE PEM block"
        );
        let other = request("x");
        assert_eq!(
            fault(&format!("{one}{other}")).unwrap(),
            "only CERTIFICATE PEM blocks are allowed, found \"CERTIFICATE REQUEST\""
        );
    }
}
