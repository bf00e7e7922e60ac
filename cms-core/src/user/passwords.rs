//! Digests of passwords: argon2id, see docs/reference/sessions.md#passwords
//!
//! A computation takes tens of milliseconds and 19 MiB. The server limits how many run at the same
//! time.

use argon2::{
    Algorithm, Argon2, Params, PasswordHasher, PasswordVerifier, Version,
    password_hash::{Error as HashError, phc::PasswordHash},
};
use cms_model::{
    error::{Error, Result},
    user::password::normalized,
};

const MEMORY_KIB: u32 = 19 * 1024;
const ITERATIONS: u32 = 2;
const LANES: u32 = 1;
const SALT_BYTES: usize = 16;

/// How digests of these parameters begin.
const CURRENT: &str = "$argon2id$v=19$m=19456,t=2,p=1$";

/// The digest of no password, which costs the same to compare with.
pub(super) const NO_PASSWORD: &str = "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// Returns the digest of a password as a PHC string. The salt is the end of a random secret.
pub(super) fn hash(password: &str, secret: [u8; 32]) -> Result<String> {
    let salt = &secret[32 - SALT_BYTES..];
    let hash = argon2()?.hash_password_with_salt(normalized(password).as_bytes(), salt);
    hash.map(|hash| hash.to_string()).map_err(failed)
}

/// Tells whether a password has a digest.
pub(super) fn verify(password: &str, phc: &str) -> Result<bool> {
    let hash = PasswordHash::new(phc).map_err(failed)?;
    match argon2()?.verify_password(normalized(password).as_bytes(), &hash) {
        Ok(()) => Ok(true),
        Err(HashError::PasswordInvalid) => Ok(false),
        Err(error) => Err(failed(error)),
    }
}

/// Tells whether a digest was computed with other parameters than new ones.
pub(super) fn is_outdated(phc: &str) -> bool {
    !phc.starts_with(CURRENT)
}

fn argon2() -> Result<Argon2<'static>> {
    let params = Params::new(MEMORY_KIB, ITERATIONS, LANES, None).map_err(failed)?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

fn failed(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::Internal(Box::new(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn password_is_verified_in_any_normal_form() {
        let phc = hash("z\u{fc}rich am see", [7; 32]).unwrap();
        assert!(phc.starts_with(CURRENT), "{phc}");
        assert!(verify("zu\u{308}rich am see", &phc).unwrap());
        assert!(!verify("zurich am see", &phc).unwrap());
        assert!(!is_outdated(&phc));
        assert_ne!(phc, hash("z\u{fc}rich am see", [8; 32]).unwrap());
        assert!(verify("", "nonsense").is_err());
    }

    #[test]
    fn no_password_matches_nothing() {
        for password in ["", "a password"] {
            assert!(!verify(password, NO_PASSWORD).unwrap());
        }
        assert!(NO_PASSWORD.starts_with(CURRENT));
    }

    #[test]
    fn older_parameters_are_outdated() {
        let params = Params::new(8, 1, 1, None).unwrap();
        let old = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        let phc = old.hash_password_with_salt(b"a password", &[1; 16]).unwrap().to_string();
        assert!(verify("a password", &phc).unwrap());
        assert!(is_outdated(&phc));
    }
}
