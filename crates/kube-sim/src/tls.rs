//! HTTPS: a server's certificate, and the authority that has signed it.

use std::net::IpAddr;
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose,
};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

/// Who a server is to its clients. Its key is made anew for each server, and kept in memory only.
#[derive(Clone)]
pub(crate) struct Identity {
    pub(crate) acceptor: TlsAcceptor,
    /// The certificate of the authority, in PEM.
    pub(crate) authority: Arc<str>,
}

/// Without the key.
impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Identity").finish_non_exhaustive()
    }
}

impl Identity {
    /// That of a server at this address, by which, and as `localhost`, clients may call it.
    pub(crate) fn new(address: IpAddr) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        params.distinguished_name.push(DnType::CommonName, "kube-sim-ca");
        let authority = CertifiedIssuer::self_signed(params, key()).expect("the parameters are fixed");

        let names = [
            address.to_string(),
            "localhost".to_owned(),
            "kubernetes".to_owned(),
            "kubernetes.default.svc".to_owned(),
        ];
        let mut params = CertificateParams::new(names).expect("the names are valid");
        params.distinguished_name.push(DnType::CommonName, "kube-sim");
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let key = key();
        let certificate = params
            .signed_by(&key, &authority)
            .expect("the key and its issuer are sound");
        let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .expect("the provider has the usual versions")
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivateKeyDer::Pkcs8(key.serialize_der().into()),
            )
            .expect("the key is that of the certificate");
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Self {
            acceptor: TlsAcceptor::from(Arc::new(config)),
            authority: authority.pem().into(),
        }
    }
}

fn key() -> KeyPair {
    KeyPair::generate().expect("the system has randomness")
}
