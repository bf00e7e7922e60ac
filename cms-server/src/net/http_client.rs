//! The HTTP clients of this server.

use reqwest::{Client, ClientBuilder, redirect::Policy};

/// Builds a client that uses no proxy, which would resolve host names on its own, and follows no redirects.
pub(crate) fn builder() -> ClientBuilder {
    // Fails only if a cryptography provider is already installed, which works too.
    rustls::crypto::ring::default_provider().install_default().ok();
    Client::builder().no_proxy().redirect(Policy::none())
}
