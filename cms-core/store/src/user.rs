//! Rows of users. A user is an actor with a row in `user`; the actor stays after a removal, because
//! versions and the journal refer to it.

use cms_model::{
    clock::Timestamp,
    error::Result,
    user::profile::{Profile, email_key},
    wire::{session::LinkKind, user::Role},
};
use rusqlite::{Params, Row, params};

use super::{Reader, WriteTransaction, json, named, to_json};

/// A user that exists.
#[derive(Clone, Debug)]
pub struct UserRow {
    /// Primary key of the actor.
    pub pk: i64,
    pub uid: String,
    pub created_at: Timestamp,
    pub profile: Profile,
    /// Hash of the password, as a PHC string.
    pub password: Option<String>,
    pub has_openid: bool,
    pub last_seen_at: Option<Timestamp>,
    /// The unused link that was created last; it may have expired.
    pub link: Option<(LinkKind, Timestamp)>,
}

impl UserRow {
    /// Returns whether the user is an admin who can sign in.
    pub fn is_usable_admin(&self) -> bool {
        let Profile { role, disabled, .. } = self.profile;
        role == Role::Admin && !disabled && (self.password.is_some() || self.has_openid)
    }
}

const SELECT: &str = "
    SELECT u.actor, a.uid, a.created_at, u.email, a.name, u.role, a.rules, u.may_publish, u.disabled,
           u.password, u.openid_subject IS NOT NULL, u.last_seen_at, l.kind, l.expires_at
    FROM user u JOIN actor a ON a.pk = u.actor LEFT JOIN sign_in_link l ON l.user = u.actor";

fn read(row: &Row<'_>) -> rusqlite::Result<UserRow> {
    let kind: Option<String> = row.get(12)?;
    let kind = kind.and_then(|kind| LinkKind::parse(&kind));
    Ok(UserRow {
        pk: row.get(0)?,
        uid: row.get(1)?,
        created_at: Timestamp(row.get(2)?),
        profile: Profile {
            email: row.get(3)?,
            name: row.get(4)?,
            role: named(row, 5, Role::parse)?,
            rules: json(row, 6)?,
            may_publish: row.get(7)?,
            disabled: row.get(8)?,
        },
        password: row.get(9)?,
        has_openid: row.get(10)?,
        last_seen_at: row.get::<_, Option<i64>>(11)?.map(Timestamp),
        link: kind.zip(row.get::<_, Option<i64>>(13)?.map(Timestamp)),
    })
}

impl Reader<'_> {
    /// Returns all users, oldest first.
    pub fn users(&self) -> Result<Vec<UserRow>> {
        let sql = format!("{SELECT} ORDER BY u.actor");
        self.query_rows(&sql, [], read)
    }

    /// Returns the user by the primary key of its actor.
    pub fn user(&self, pk: i64) -> Result<Option<UserRow>> {
        self.find_user("u.actor = ?1", [pk])
    }

    /// Returns the user with this id.
    pub fn user_with_id(&self, uid: &str) -> Result<Option<UserRow>> {
        self.find_user("a.uid = ?1", [uid])
    }

    /// Returns the user with this e-mail address, in any letter case.
    pub fn user_with_email(&self, email: &str) -> Result<Option<UserRow>> {
        self.find_user("u.email_key = ?1", [email_key(email)])
    }

    /// Returns the user who is linked to a subject of an issuer.
    pub fn user_with_openid(&self, issuer: &str, subject: &str) -> Result<Option<UserRow>> {
        self.find_user("u.openid_issuer = ?1 AND u.openid_subject = ?2", [issuer, subject])
    }

    fn find_user(&self, condition: &str, values: impl Params) -> Result<Option<UserRow>> {
        self.query_optional(&format!("{SELECT} WHERE {condition}"), values, read)
    }

    pub fn user_count(&self) -> Result<u64> {
        self.query_value("SELECT count(*) FROM user", [])
    }

    /// Returns whether another user is an admin who can sign in.
    pub fn has_other_usable_admin(&self, pk: i64) -> Result<bool> {
        self.query_value("SELECT EXISTS (SELECT 1 FROM user WHERE actor <> ?1 AND role = 'admin' AND disabled = 0
                 AND (password IS NOT NULL OR openid_subject IS NOT NULL))", [pk])
    }
}

impl WriteTransaction<'_> {
    /// Inserts a user; returns the primary key. `unused_token_hash` is random: the column `hash` is unique and
    /// not null, and users have no token.
    pub fn insert_user(
        &self,
        uid: &str,
        profile: &Profile,
        password: Option<&str>,
        unused_token_hash: [u8; 32],
        at: Timestamp,
    ) -> Result<i64> {
        let pk = self.query_value(
            "INSERT INTO actor (uid, name, kind, rules, hash, created_at)
                 VALUES (?1, ?2, 'user', ?3, ?4, ?5) RETURNING pk",
            params![uid, profile.name, to_json(&profile.rules)?, unused_token_hash, at.0],
        )?;
        self.execute(
            "INSERT INTO user (actor, email, email_key, role, may_publish, disabled, password)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![
                pk,
                profile.email,
                email_key(&profile.email),
                profile.role.as_str(),
                profile.may_publish,
                profile.disabled,
                password,
            ],
        )?;
        Ok(pk)
    }

    /// Replaces the profile of a user.
    pub fn set_profile(&self, pk: i64, profile: &Profile) -> Result<()> {
        self.execute(
            "UPDATE actor SET name = ?2, rules = ?3 WHERE pk = ?1",
            params![pk, profile.name, to_json(&profile.rules)?],
        )?;
        self.execute(
            "UPDATE user SET email = ?2, email_key = ?3, role = ?4, may_publish = ?5, disabled = ?6
             WHERE actor = ?1",
            params![
                pk,
                profile.email,
                email_key(&profile.email),
                profile.role.as_str(),
                profile.may_publish,
                profile.disabled,
            ],
        )
    }

    /// Replaces the password of a user, a PHC string.
    pub fn set_password(&self, pk: i64, password: &str) -> Result<()> {
        self.execute("UPDATE user SET password = ?2 WHERE actor = ?1", params![pk, password])
    }

    /// Links a user to a subject of an issuer, in place of an earlier one.
    pub fn set_openid(&self, pk: i64, issuer: &str, subject: &str) -> Result<()> {
        self.execute(
            "UPDATE user SET openid_issuer = ?2, openid_subject = ?3 WHERE actor = ?1",
            params![pk, issuer, subject],
        )
    }

    /// Removes a user, and its sessions, links, settings, working copies and preview tokens. The
    /// name remains for versions and the journal.
    pub fn remove_user(&self, pk: i64, at: Timestamp) -> Result<()> {
        self.remove_working_copies_of(pk)?;
        self.remove_preview_tokens_of(pk)?;
        // Cascades to the other tables of a user.
        self.execute("DELETE FROM user WHERE actor = ?1", [pk])?;
        self.execute(
            "UPDATE actor SET revoked_at = ?2, rules = '[]' WHERE pk = ?1",
            params![pk, at.0],
        )
    }

    /// Revokes everything that authenticates a user except the password: sessions, links and preview
    /// tokens.
    pub fn revoke_access(&self, pk: i64) -> Result<()> {
        self.execute("DELETE FROM session WHERE user = ?1", [pk])?;
        self.execute("DELETE FROM sign_in_link WHERE user = ?1", [pk])?;
        self.remove_preview_tokens_of(pk)
    }

    /// Revokes the access of all users: in a restored copy, sessions and links of the time of the backup
    /// must not be valid.
    pub fn revoke_all_access(&self) -> Result<()> {
        for table in ["session", "sign_in_link", "openid_sign_in", "preview_token"] {
            // Without a condition, SQLite's update hook would not report the removed rows.
            self.execute(&format!("DELETE FROM {table} WHERE true"), [])?;
        }
        self.bump_auth()
    }
}
