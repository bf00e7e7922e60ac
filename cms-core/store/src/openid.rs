//! Rows of sign-ins by OpenID Connect that are not finished. Only hashes of the state and of the
//! cookie are stored.

use cms_model::{clock::Timestamp, error::Result, user::openid::OpenIdSignIn};
use rusqlite::params;

use super::WriteTransaction;

impl WriteTransaction<'_> {
    /// Inserts a sign-in of a browser, and removes the oldest ones beyond `maximum`.
    pub fn insert_openid_sign_in(
        &self,
        state: [u8; 32],
        browser: [u8; 32],
        sign_in: &OpenIdSignIn,
        maximum: u64,
    ) -> Result<()> {
        let OpenIdSignIn { nonce, verifier, return_to, expires_at } = sign_in;
        self.execute(
            "INSERT INTO openid_sign_in
                 (state_hash, browser_hash, nonce, verifier, return_to, expires_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![state, browser, nonce, verifier, return_to, expires_at.0],
        )?;
        self.execute(
            "DELETE FROM openid_sign_in WHERE state_hash IN (SELECT state_hash FROM openid_sign_in
                 ORDER BY expires_at DESC LIMIT -1 OFFSET ?1)",
            [maximum],
        )
    }

    /// Removes a sign-in of a browser and returns it, expired or not: each is used once.
    pub fn take_openid_sign_in(
        &self,
        state: [u8; 32],
        browser: [u8; 32],
    ) -> Result<Option<OpenIdSignIn>> {
        self.query_optional(
            "DELETE FROM openid_sign_in WHERE state_hash = ?1 AND browser_hash = ?2
             RETURNING nonce, verifier, return_to, expires_at",
            [state, browser],
            |row| {
                Ok(OpenIdSignIn {
                    nonce: row.get(0)?,
                    verifier: row.get(1)?,
                    return_to: row.get(2)?,
                    expires_at: Timestamp(row.get(3)?),
                })
            },
        )
    }
}
