//! Sign-in and sessions in the API, see docs/reference/sessions.md

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::context::AuthContext;
use crate::{
    error::FieldErrors,
    read::{refuse_others, required, required_text},
};

crate::named_enum! {
    /// The purpose of a sign-in link, on the wire and in the database.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum LinkKind {
        /// Creates the first user.
        Setup => "setup",
        /// Sets the first password of a user.
        Invitation => "invitation",
        /// Replaces the password of a user.
        Reset => "reset",
    }
}

impl LinkKind {
    /// The kinds of links that admins create.
    pub const OF_USERS: [Self; 2] = [Self::Invitation, Self::Reset];
}

/// The ways to sign in.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SignInMethods {
    pub password: bool,
    pub open_id: Option<OpenIdMethod>,
    /// There is no user yet.
    pub setup: bool,
}

/// Sign-in by OpenID Connect.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OpenIdMethod {
    pub label: String,
    pub url: String,
}

/// The body of a sign-in.
#[derive(Debug)]
pub enum SignIn {
    Password {
        email: String,
        password: String,
    },
    /// With the code of a link. The kind of the link decides which other members are allowed.
    Code {
        code: String,
        members: Map<String, Value>,
    },
}

impl SignIn {
    /// Parses a payload.
    ///
    /// # Errors
    /// [`crate::error::Error::Invalid`]; the members that belong to a code are not checked.
    pub fn from_payload(payload: Map<String, Value>) -> crate::error::Result<Self> {
        let mut errors = FieldErrors::default();
        if payload.contains_key("code") {
            let code = required_text(&payload, "code", &mut errors);
            errors.into_result()?;
            return Ok(Self::Code { code, members: payload });
        }
        let mut text = |key| required_text(&payload, key, &mut errors);
        let (email, password) = (text("email"), text("password"));
        refuse_others(&payload, &["email", "password"], "", &mut errors);
        errors.into_result()?;
        Ok(Self::Password { email, password })
    }
}

/// Reads the new password, the only member that an invitation or a reset link needs besides its code.
pub fn new_password(members: &Map<String, Value>, errors: &mut FieldErrors) -> Option<String> {
    refuse_others(members, &["code", "password"], "", errors);
    required::<&str>(members, "password", "", errors).map(str::to_owned)
}

/// Reads the code in the body of `POST /api/v1/session/code`.
pub fn code_of(payload: &Map<String, Value>) -> crate::error::Result<String> {
    let mut errors = FieldErrors::default();
    let code = required_text(payload, "code", &mut errors);
    refuse_others(payload, &["code"], "", &mut errors);
    errors.into_result()?;
    Ok(code)
}

/// A change of the caller's own password.
#[derive(Debug)]
pub struct PasswordChange {
    pub current: String,
    pub new: String,
}

impl PasswordChange {
    /// Parses a payload; the service validates the passwords.
    pub fn from_payload(payload: &Map<String, Value>) -> crate::error::Result<Self> {
        let mut errors = FieldErrors::default();
        let mut text = |key| required_text(payload, key, &mut errors);
        let (current, new) = (text("currentPassword"), text("newPassword"));
        refuse_others(payload, &["currentPassword", "newPassword"], "", &mut errors);
        errors.into_result()?;
        Ok(Self { current, new })
    }
}

/// The link that a code belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CodeInfo {
    pub kind: LinkKind,
    /// E-mail address of the user; empty for a set-up link, as is `name`.
    pub email: String,
    pub name: String,
    pub expires_at: String,
}

/// The session of the caller: `GET /api/auth-context` with the times of the session.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CurrentSession {
    #[serde(flatten)]
    pub context: AuthContext,
    pub session: SessionTimes,
}

/// A session, and when it ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionTimes {
    pub id: String,
    pub created_at: String,
    pub last_seen_at: String,
    /// When it ends without further requests.
    pub expires_at: String,
    /// Latest end, regardless of further requests.
    pub ends_at: String,
}

/// A session in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionItem {
    pub id: String,
    /// The session of the caller.
    pub current: bool,
    pub created_at: String,
    pub last_seen_at: String,
    pub expires_at: String,
    pub ends_at: String,
    /// Address of the client that signed in.
    pub address: String,
    pub user_agent: String,
}
