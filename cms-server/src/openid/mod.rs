//! The client of an OpenID Connect issuer: the URL at which the browser signs in, and the claims of
//! the issuer about the user who has signed in.
//!
//! `client` sends requests. The rules on claims are in `cms-core/model/src/user/openid.rs`, those on users in
//! `cms-core/src/user/openid.rs`; the endpoints are in `http/openid.rs`.

mod client;
mod config;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Duration,
};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use cms_core::{OpenIdError, OpenIdSignIn, OpenIdStart, clock::Timestamp, error::causes};
use openidconnect::{
    AccessToken, AuthType, AuthenticationFlow, AuthorizationCode, ClaimsVerificationError,
    ClientId, ClientSecret, CsrfToken, EndpointMaybeSet, EndpointNotSet, EndpointSet, IssuerUrl,
    Nonce, OAuth2TokenResponse, PkceCodeChallenge, PkceCodeVerifier, RedirectUrl,
    RequestTokenError, Scope, SignatureVerificationError, SubjectIdentifier,
    core::{
        CoreClient, CoreClientAuthMethod, CoreIdToken, CoreProviderMetadata, CoreResponseType,
        CoreUserInfoClaims,
    },
};
use serde_json::{Map, Value};
use tokio::{sync::Mutex, time};

use client::HttpClient;
pub use config::OpenIdConfig;

/// How long the discovery document and the keys of the issuer are used.
const MAX_METADATA_AGE: Duration = Duration::from_hours(1);
/// Maximum time of discovery, with its two requests, and of each other request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// Why there are no claims, for the browser and for the log.
pub(crate) struct OpenIdFailure {
    pub(crate) error: OpenIdError,
    pub(crate) reason: String,
}

type Result<T> = std::result::Result<T, OpenIdFailure>;

/// A client that knows the endpoints of the issuer.
type Client = CoreClient<
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointMaybeSet,
    EndpointMaybeSet,
>;

/// The issuer that the configuration names.
pub(crate) struct OpenId {
    pub(crate) config: OpenIdConfig,
    http: HttpClient,
    /// The discovery document with the keys of the issuer, and when it was read.
    provider: Mutex<Option<(Arc<CoreProviderMetadata>, time::Instant)>>,
}

impl OpenId {
    pub(crate) fn new(config: &OpenIdConfig) -> Self {
        Self { config: config.clone(), http: HttpClient::default(), provider: Mutex::default() }
    }

    /// Checks that the issuer can be used, before anything is stored for a sign-in.
    pub(crate) async fn discover(&self) -> Result<()> {
        self.provider(MAX_METADATA_AGE).await.map(drop)
    }

    /// The URL of the issuer at which the browser signs in.
    pub(crate) async fn authorization_url(
        &self,
        redirect_url: String,
        start: OpenIdStart,
    ) -> Result<String> {
        let client = self.client(&*self.provider(MAX_METADATA_AGE).await?, redirect_url)?;
        let verifier = PkceCodeVerifier::new(start.verifier);
        let request = client.authorize_url(
            AuthenticationFlow::<CoreResponseType>::AuthorizationCode,
            || CsrfToken::new(start.state),
            || Nonce::new(start.nonce),
        );
        let request = request
            .add_scope(Scope::new("email".to_owned()))
            .add_scope(Scope::new("profile".to_owned()))
            .set_pkce_challenge(PkceCodeChallenge::from_code_verifier_sha256(&verifier));
        Ok(request.url().0.into())
    }

    /// Exchanges a code for an ID token, and returns its claims when it is valid.
    pub(crate) async fn claims(
        &self,
        code: String,
        redirect_url: String,
        sign_in: OpenIdSignIn,
        now: Timestamp,
    ) -> Result<Map<String, Value>> {
        let provider = self.provider(MAX_METADATA_AGE).await?;
        let client = self.client(&provider, redirect_url.clone())?;
        let request = client.exchange_code(AuthorizationCode::new(code));
        let request = request.map_err(|error| unavailable(error.to_string()))?;
        let request = request.set_pkce_verifier(PkceCodeVerifier::new(sign_in.verifier));
        let response = request.request_async(&self.http).await.map_err(|error| match error {
            RequestTokenError::Request(error) => unavailable(error.to_string()),
            // The text of the error may contain a part of the response.
            RequestTokenError::Parse(_, body) => match serde_json::from_slice(&body) {
                Ok(Value::Object(body)) if body.contains_key("id_token") => {
                    invalid("the ID token has no valid claims")
                }
                _ => unavailable("the token response is not valid"),
            },
            error => unavailable(error.to_string()),
        })?;
        let token = response.extra_fields().id_token();
        let token = token.ok_or_else(|| invalid("there is no ID token"))?;
        let nonce = Nonce::new(sign_in.nonce);
        match verify(&client, token, &nonce, now) {
            // The issuer may have new keys: they are read again, at most once per `REQUEST_TIMEOUT`.
            Err(ClaimsVerificationError::SignatureVerification(
                SignatureVerificationError::NoMatchingKey,
            )) => {
                let provider = self.provider(REQUEST_TIMEOUT).await?;
                verify(&self.client(&provider, redirect_url)?, token, &nonce, now)
            }
            verified => verified,
        }
        .map_err(|error| invalid(reason(&error)))?;
        let mut claims = payload(token)?;
        if !claims.contains_key("email") {
            self.add_user_info(&client, response.access_token(), &mut claims).await?;
        }
        Ok(claims)
    }

    /// Adds claims from the user info endpoint: the issuer may leave them out of the ID token.
    async fn add_user_info(
        &self,
        client: &Client,
        token: &AccessToken,
        claims: &mut Map<String, Value>,
    ) -> Result<()> {
        let subject = claims.get("sub").and_then(Value::as_str).unwrap_or_default().to_owned();
        let subject = SubjectIdentifier::new(subject);
        let Ok(request) = client.user_info(token.clone(), Some(subject)) else { return Ok(()) };
        let info: CoreUserInfoClaims = request
            .request_async(&self.http)
            .await
            .map_err(|error| unavailable(format!("no response about the user: {error}")))?;
        let name = info.name().and_then(|name| name.get(None));
        for (claim, text) in [
            ("email", info.email().map(|text| text.as_str())),
            ("name", name.map(|text| text.as_str())),
        ] {
            if let Some(text) = text {
                claims.entry(claim).or_insert_with(|| text.into());
            }
        }
        let is_verified = info.email_verified() == Some(true);
        claims.insert("email_verified".to_owned(), is_verified.into());
        Ok(())
    }

    /// Returns the discovery document with the keys, read less than `max_age` ago.
    async fn provider(&self, max_age: Duration) -> Result<Arc<CoreProviderMetadata>> {
        // Concurrent requests share a discovery, and its timeout.
        let read = async {
            let mut cached = self.provider.lock().await;
            if let Some((metadata, read_at)) = &*cached
                && read_at.elapsed() < max_age
            {
                return Ok(Arc::clone(metadata));
            }
            let issuer = IssuerUrl::new(self.config.issuer.clone())
                .map_err(|error| unavailable(error.to_string()))?;
            let metadata = CoreProviderMetadata::discover_async(issuer, &self.http).await;
            let metadata = Arc::new(metadata.map_err(|error| unavailable(reason(&error)))?);
            *cached = Some((Arc::clone(&metadata), time::Instant::now()));
            Ok(metadata)
        };
        let timed_out = |_| unavailable("no response within the timeout");
        time::timeout(REQUEST_TIMEOUT, read).await.map_err(timed_out)?
    }

    fn client(&self, provider: &CoreProviderMetadata, redirect_url: String) -> Result<Client> {
        let redirect_url =
            RedirectUrl::new(redirect_url).map_err(|error| unavailable(error.to_string()))?;
        let methods = provider.token_endpoint_auth_methods_supported();
        let has = |method| methods.is_some_and(|methods| methods.contains(&method));
        let is_in_body = has(CoreClientAuthMethod::ClientSecretPost)
            && !has(CoreClientAuthMethod::ClientSecretBasic);
        let secret = self.config.client_secret.clone().map(ClientSecret::new);
        let id = ClientId::new(self.config.client_id.clone());
        Ok(CoreClient::from_provider_metadata(provider.clone(), id, secret)
            .set_auth_type(if is_in_body { AuthType::RequestBody } else { AuthType::BasicAuth })
            .set_redirect_uri(redirect_url))
    }
}

/// Verifies signature, issuer, audience, nonce and expiry of an ID token.
fn verify(
    client: &Client,
    token: &CoreIdToken,
    nonce: &Nonce,
    now: Timestamp,
) -> std::result::Result<(), ClaimsVerificationError> {
    let now = std::time::UNIX_EPOCH + Duration::from_micros(u64::try_from(now.0).unwrap_or(0));
    let verifier = client.id_token_verifier();
    let verifier =
        verifier.set_time_fn(move || now.into()).set_other_audience_verifier_fn(|_| true);
    // The crate panics when an ECDSA signature does not have the length of its curve.
    let claims = catch_unwind(AssertUnwindSafe(|| token.claims(&verifier, nonce)))
        .map_err(|_| ClaimsVerificationError::Other("the signature is malformed".to_owned()))??;
    // A token for several clients names the client that it was issued to.
    if claims.audiences().len() == 1 || claims.authorized_party() == Some(client.client_id()) {
        Ok(())
    } else {
        let message = "several audiences, and issued to another client";
        Err(ClaimsVerificationError::InvalidAudience(message.to_owned()))
    }
}

/// The claims of a verified ID token.
fn payload(token: &CoreIdToken) -> Result<Map<String, Value>> {
    let text = token.to_string();
    let claims = text.split('.').nth(1).and_then(|payload| {
        let json = URL_SAFE_NO_PAD.decode(payload).ok()?;
        serde_json::from_slice(&json).ok()
    });
    claims.ok_or_else(|| invalid("the ID token is not valid JSON"))
}

/// An error with its causes.
fn reason(error: &(dyn std::error::Error + 'static)) -> String {
    causes(error).map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

fn unavailable(reason: impl Into<String>) -> OpenIdFailure {
    OpenIdFailure { error: OpenIdError::Unavailable, reason: reason.into() }
}

fn invalid(reason: impl Into<String>) -> OpenIdFailure {
    OpenIdFailure { error: OpenIdError::Token, reason: reason.into() }
}
