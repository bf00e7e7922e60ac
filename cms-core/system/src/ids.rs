//! Identifiers from the random number generator of the operating system.

use cms_model::ids::IdSource;
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
}
