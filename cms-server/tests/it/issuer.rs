//! [`Issuer`]: an OpenID Connect issuer that signs any claims.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use axum::{
    Router,
    body::Body,
    http::{Request, Response},
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair},
};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// An issuer on a free port; it ends with the runtime of its test.
pub(crate) struct Issuer {
    pub(crate) url: String,
    state: Arc<State>,
}

struct State {
    url: String,
    key: Mutex<Key>,
    /// The response to token requests; with `None`, the issuer never responds.
    token: Mutex<Option<(u16, Value)>>,
    discoveries: AtomicUsize,
}

/// A key of ECDSA on P-256.
struct Key {
    id: String,
    pair: EcdsaKeyPair,
}

impl Key {
    fn new(id: &str) -> Self {
        let (algorithm, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
        let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random).unwrap();
        Self { id: id.to_owned(), pair }
    }

    fn to_json(&self) -> Value {
        // The first byte says that both coordinates follow.
        let [_, coordinates @ ..] = self.pair.public_key().as_ref() else { panic!("a point") };
        let (x, y) = coordinates.split_at(32);
        json!({
            "kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": self.id,
            "x": URL_SAFE_NO_PAD.encode(x), "y": URL_SAFE_NO_PAD.encode(y),
        })
    }

    fn sign(&self, claims: &Value) -> String {
        let header = json!({ "alg": "ES256", "kid": self.id });
        let [header, claims] =
            [&header, claims].map(|part| URL_SAFE_NO_PAD.encode(part.to_string()));
        let text = format!("{header}.{claims}");
        let signature = self.pair.sign(&SystemRandom::new(), text.as_bytes()).unwrap();
        format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature))
    }
}

impl Issuer {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(State {
            url: url.clone(),
            key: Mutex::new(Key::new("first")),
            token: Mutex::default(),
            discoveries: AtomicUsize::new(0),
        });
        let served = Arc::clone(&state);
        let router = Router::new().fallback(move |request: Request<Body>| {
            let state = Arc::clone(&served);
            async move { state.respond(request.uri().path()).await }
        });
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, state }
    }

    /// Signs claims with the key of the issuer.
    pub(crate) fn sign(&self, claims: &Value) -> String {
        self.state.key.lock().unwrap().sign(claims)
    }

    /// Sets the response to token requests: a response with this ID token.
    pub(crate) fn respond_with(&self, id_token: &str) {
        let body = json!({ "access_token": "a", "token_type": "Bearer", "id_token": id_token });
        self.respond(Some((200, body)));
    }

    /// Sets the response to token requests; with `None`, the issuer never responds.
    pub(crate) fn respond(&self, response: Option<(u16, Value)>) {
        *self.state.token.lock().unwrap() = response;
    }

    /// Replaces the key.
    pub(crate) fn rotate_key(&self, id: &str) {
        *self.state.key.lock().unwrap() = Key::new(id);
    }

    /// How often the discovery document was read.
    pub(crate) fn discoveries(&self) -> usize {
        self.state.discoveries.load(Ordering::Relaxed)
    }
}

impl State {
    async fn respond(&self, path: &str) -> Response<Body> {
        let url = &self.url;
        let response = match path {
            "/.well-known/openid-configuration" => {
                self.discoveries.fetch_add(1, Ordering::Relaxed);
                let document = json!({
                    "issuer": url,
                    "authorization_endpoint": format!("{url}/authorize"),
                    "token_endpoint": format!("{url}/token"),
                    "jwks_uri": format!("{url}/keys"),
                    "response_types_supported": ["code"],
                    "subject_types_supported": ["public"],
                    "id_token_signing_alg_values_supported": ["ES256", "HS256", "none"],
                });
                Some((200, document))
            }
            "/keys" => Some((200, json!({ "keys": [self.key.lock().unwrap().to_json()] }))),
            "/token" => self.token.lock().unwrap().clone(),
            _ => Some((404, json!({}))),
        };
        match response {
            Some((status, body)) => Response::builder()
                .status(status)
                .header("content-type", "application/json")
                .body(Body::from(body.to_string()))
                .unwrap(),
            None => std::future::pending().await,
        }
    }
}
