//! Settings of users, which the server does not interpret.

use cms_model::error::Result;
use rusqlite::params;

use super::{Reader, WriteTransaction};

impl Reader<'_> {
    /// Returns the settings of a user as compact JSON, if there are any.
    pub fn user_settings(&self, user: i64) -> Result<Option<String>> {
        let sql = "SELECT data FROM user_settings WHERE user = ?1";
        self.query_optional(sql, [user], |row| row.get(0))
    }
}

impl WriteTransaction<'_> {
    /// Replaces the settings of a user.
    pub fn set_user_settings(&self, user: i64, data: &str) -> Result<()> {
        self.execute(
            "INSERT INTO user_settings (user, data) VALUES (?1, ?2)
             ON CONFLICT (user) DO UPDATE SET data = excluded.data",
            params![user, data],
        )
    }
}
