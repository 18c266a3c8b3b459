//! The keys and certificates of one server.

use std::io;
use std::path::Path;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose,
};

use super::Certificate;

/// Whoever signs the server's certificate and those of its users.
#[derive(Debug)]
pub(super) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    pub(super) fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        params.distinguished_name.push(DnType::CommonName, "conformance");
        let issuer = CertifiedIssuer::self_signed(params, key()).expect("the parameters are fixed");
        Self { issuer }
    }

    /// Its certificate, in PEM.
    pub(super) fn certificate(&self) -> String {
        self.issuer.pem()
    }

    /// Writes what the API server reads.
    pub(super) fn write(&self, folder: &Path) -> io::Result<()> {
        let server = self.sign("kube-apiserver", None, ExtendedKeyUsagePurpose::ServerAuth);
        let service_accounts = key();
        for (name, content) in [
            ("ca.crt", self.certificate()),
            ("server.crt", server.certificate),
            ("server.key", server.key),
            ("service-accounts.key", service_accounts.serialize_pem()),
            ("service-accounts.pub", service_accounts.public_key_pem()),
        ] {
            std::fs::write(folder.join(name), content)?;
        }
        Ok(())
    }

    /// A user's certificate: the name is the user's, the organisation the group.
    pub(super) fn client(&self, user: &str, group: Option<&str>) -> Certificate {
        self.sign(user, group, ExtendedKeyUsagePurpose::ClientAuth)
    }

    fn sign(&self, name: &str, organisation: Option<&str>, purpose: ExtendedKeyUsagePurpose) -> Certificate {
        let names = ["127.0.0.1".to_owned(), "localhost".to_owned()];
        let mut params = CertificateParams::new(names).expect("the names are fixed");
        params.distinguished_name.push(DnType::CommonName, name);
        if let Some(organisation) = organisation {
            params
                .distinguished_name
                .push(DnType::OrganizationName, organisation);
        }
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![purpose];
        let key = key();
        let signed = params
            .signed_by(&key, &self.issuer)
            .expect("the key and its issuer are sound");
        Certificate {
            certificate: signed.pem(),
            key: key.serialize_pem(),
        }
    }
}

fn key() -> KeyPair {
    KeyPair::generate().expect("the system has randomness")
}
