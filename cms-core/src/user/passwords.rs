//! Hashes of passwords: argon2id, see docs/reference/sessions.md#passwords
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

/// The prefix of hashes with these parameters.
const CURRENT_PREFIX: &str = "$argon2id$v=19$m=19456,t=2,p=1$";

/// A hash that matches no password. Verifying a password against it takes as long as against any other hash.
pub(super) const DUMMY_HASH: &str = "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// Returns the hash of a password as a PHC string. The salt is the end of a random secret.
pub(super) fn hash(password: &str, secret: [u8; 32]) -> Result<String> {
    let salt = &secret[32 - SALT_BYTES..];
    let hash = argon2()?.hash_password_with_salt(normalized(password).as_bytes(), salt);
    hash.map(|hash| hash.to_string()).map_err(Error::internal)
}

/// Returns whether a password has this hash.
pub(super) fn verify(password: &str, password_hash: &str) -> Result<bool> {
    let hash = PasswordHash::new(password_hash).map_err(Error::internal)?;
    match argon2()?.verify_password(normalized(password).as_bytes(), &hash) {
        Ok(()) => Ok(true),
        Err(HashError::PasswordInvalid) => Ok(false),
        Err(error) => Err(Error::internal(error)),
    }
}

/// Returns whether a hash has other parameters than new hashes.
pub(super) fn is_outdated(password_hash: &str) -> bool {
    !password_hash.starts_with(CURRENT_PREFIX)
}

fn argon2() -> Result<Argon2<'static>> {
    let params = Params::new(MEMORY_KIB, ITERATIONS, LANES, None).map_err(Error::internal)?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn password_is_verified_in_any_normal_form() {
        let password_hash = hash("z\u{fc}rich am see", [7; 32]).unwrap();
        assert!(password_hash.starts_with(CURRENT_PREFIX), "{password_hash}");
        assert!(verify("zu\u{308}rich am see", &password_hash).unwrap());
        assert!(!verify("zurich am see", &password_hash).unwrap());
        assert!(!is_outdated(&password_hash));
        assert_ne!(password_hash, hash("z\u{fc}rich am see", [8; 32]).unwrap());
        assert!(verify("", "nonsense").is_err());
    }

    #[test]
    fn dummy_hash_matches_no_password() {
        for password in ["", "a password"] {
            assert!(!verify(password, DUMMY_HASH).unwrap());
        }
        assert!(DUMMY_HASH.starts_with(CURRENT_PREFIX));
    }

    #[test]
    fn older_parameters_are_outdated() {
        let params = Params::new(8, 1, 1, None).unwrap();
        let old = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        let password_hash =
            old.hash_password_with_salt(b"a password", &[1; 16]).unwrap().to_string();
        assert!(verify("a password", &password_hash).unwrap());
        assert!(is_outdated(&password_hash));
    }
}
