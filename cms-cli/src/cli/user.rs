//! Arguments of `cms user`.

use std::path::PathBuf;

use clap::{
    Args, Subcommand,
    builder::{BoolishValueParser, PossibleValuesParser, TypedValueParser},
};
use cms_core::wire::{session::LinkKind, user::Role};

use super::{DryRun, openapi::base_url};

#[derive(Debug, Subcommand)]
pub(crate) enum UserCommand {
    /// List users, ordered by name.
    List {
        /// List the users with this role only.
        #[arg(long, value_parser = role())]
        role: Option<Role>,
    },
    /// Show a user.
    Get {
        /// Show the user with this e-mail address or id.
        user: String,
    },
    /// Create a user and print a link with which the user sets a password.
    ///
    /// With --password-file the user can sign in immediately, and there is no link.
    Create {
        email: String,
        /// Set the name that versions and activity show.
        #[arg(long)]
        name: String,
        /// Set the role.
        #[arg(long, value_parser = role())]
        role: Role,
        #[command(flatten)]
        custom: CustomRights,
        /// Set the password to the first line of this file.
        #[arg(long, value_name = "FILE")]
        password_file: Option<PathBuf>,
        #[command(flatten)]
        link: LinkArgs,
        #[command(flatten)]
        dry_run: DryRun,
    },
    /// Change a user. Settings without a flag stay unchanged.
    Update {
        /// Change the user with this e-mail address or id.
        user: String,
        /// Set the e-mail address.
        #[arg(long)]
        email: Option<String>,
        /// Set the name.
        #[arg(long)]
        name: Option<String>,
        /// Set the role.
        #[arg(long, value_parser = role())]
        role: Option<Role>,
        #[command(flatten)]
        custom: CustomRights,
        /// End all sessions of the user and refuse further sign-ins.
        #[arg(long, conflicts_with = "enable")]
        disable: bool,
        /// Allow the user to sign in again.
        #[arg(long)]
        enable: bool,
        #[command(flatten)]
        dry_run: DryRun,
    },
    /// Delete users. Versions and activity keep their names.
    Delete {
        /// Delete the users with these e-mail addresses or ids.
        #[arg(required = true, value_name = "USER")]
        users: Vec<String>,
        #[command(flatten)]
        dry_run: DryRun,
    },
    /// Create a link with which a user sets a new password, and print it.
    Link {
        /// Create a link for the user with this e-mail address or id.
        user: String,
        /// Set the kind of the link. Default: `reset` for a user with a password.
        #[arg(long, value_parser = link_kind())]
        kind: Option<LinkKind>,
        #[command(flatten)]
        link: LinkArgs,
        #[command(flatten)]
        dry_run: DryRun,
    },
    /// End all sessions of a user.
    SignOut {
        /// Sign out the user with this e-mail address or id.
        user: String,
        #[command(flatten)]
        dry_run: DryRun,
    },
}

/// The rights of users with role custom.
#[derive(Debug, Args)]
pub(crate) struct CustomRights {
    /// Give a user with role custom rights on a type (or `*`): letters of create, read, update,
    /// delete.
    #[arg(long = "rule", value_name = "TYPE:CRUD")]
    pub(crate) rules: Vec<String>,
    /// Let a user with role custom publish; `--may-publish=false` withdraws the right.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true",
        value_parser = BoolishValueParser::new())]
    pub(crate) may_publish: Option<bool>,
}

#[derive(Debug, Args)]
pub(crate) struct LinkArgs {
    /// Use this public URL of the server in the link, with --data; a server uses its own.
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8080",
        value_parser = base_url)]
    pub(crate) public_url: String,
}

fn role() -> impl TypedValueParser<Value = Role> {
    PossibleValuesParser::new(Role::ALL.map(Role::as_str))
        .try_map(|text| Role::parse(&text).ok_or("unknown role"))
}

fn link_kind() -> impl TypedValueParser<Value = LinkKind> {
    PossibleValuesParser::new(LinkKind::OF_USERS.map(LinkKind::as_str))
        .try_map(|text| LinkKind::parse(&text).ok_or("unknown kind of link"))
}
