//! Identifiers from the random number generator of the operating system.

use cms_model::ids::IdSource;
use ring::rand::{SecureRandom, SystemRandom};
use uuid::Uuid;

/// Identifiers from the random number generator of the operating system.
#[derive(Debug, Default)]
pub struct RandomIds;

#[expect(clippy::disallowed_methods, reason = "the one place that draws random ids")]
impl IdSource for RandomIds {
    fn uuid(&self) -> String {
        Uuid::new_v4().hyphenated().to_string()
    }

    fn token(&self) -> String {
        let mut token = Uuid::new_v4().simple().to_string();
        token.push_str(&Uuid::new_v4().simple().to_string()[..8]);
        token
    }

    fn secret(&self) -> [u8; 32] {
        let mut secret = [0; 32];
        SystemRandom::new().fill(&mut secret).expect("the operating system has random numbers");
        secret
    }
}
