//! Encryption of connections.

use std::sync::Arc;

use cms_model::error::{Error, Result};
use rustls::{
    ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{self, CryptoProvider, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject},
};
use rustls_platform_verifier::Verifier;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::settings::{PostgresSettings, Tls};

/// Returns the TLS connector; none if connections are not encrypted.
pub(crate) fn connector(settings: &PostgresSettings) -> Result<Option<MakeRustlsConnect>> {
    let provider = Arc::new(crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(Error::internal)?;
    let config = match (settings.tls, &settings.ca) {
        (Tls::Off, _) => return Ok(None),
        (Tls::Require, _) => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Unverified(provider)))
            .with_no_client_auth(),
        (Tls::VerifyFull, None) => {
            let verifier = Verifier::new(provider).map_err(Error::internal)?;
            builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(verifier))
                .with_no_client_auth()
        }
        (Tls::VerifyFull, Some(path)) => {
            let unusable = |reason: &dyn std::fmt::Display| {
                Error::BadRequest(format!(
                    "root certificates cannot be read from {}: {reason}",
                    path.display()
                ))
            };
            let mut roots = RootCertStore::empty();
            let found = CertificateDer::pem_file_iter(path).map_err(|error| unusable(&error))?;
            for certificate in found {
                let certificate = certificate.map_err(|error| unusable(&error))?;
                roots.add(certificate).map_err(|error| unusable(&error))?;
            }
            if roots.is_empty() {
                return Err(unusable(&"the file contains no certificate"));
            }
            builder.with_root_certificates(roots).with_no_client_auth()
        }
    };
    Ok(Some(MakeRustlsConnect::new(config)))
}

/// Accepts every certificate: the operator has chosen encryption without verification. Signatures
/// of the handshake are still verified.
#[derive(Debug)]
struct Unverified(Arc<CryptoProvider>);

impl ServerCertVerifier for Unverified {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
