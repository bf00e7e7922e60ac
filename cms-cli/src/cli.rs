//! The arguments of the command line, declared for clap: names, flags and their help.
//!
//! Doc comments here are the help texts. [`crate::settings`] resolves the values;
//! [`crate::commands`] runs the commands.

mod activity;
mod backup;
#[cfg(feature = "cluster")]
mod cluster;
mod duration;
pub(crate) mod graphql;
mod init;
mod key;
mod login;
mod media;
mod openapi;
#[cfg(feature = "serve")]
mod openid;
mod preview;
mod publish;
mod schedule;
mod search;
mod selection;
#[cfg(feature = "serve")]
mod serve;
mod trash;
mod types;
mod user;
mod validate;
#[cfg(feature = "serve")]
mod values;
mod wait;
mod webhook;
mod workflow;

use std::{ffi::OsString, path::PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum, builder::PossibleValuesParser, value_parser};

pub(crate) use self::activity::ActivityArgs;
#[cfg(feature = "serve")]
pub(crate) use self::backup::BackupScheduleArgs;
pub(crate) use self::backup::{BackupArgs, CheckArgs, RestoreArgs};
#[cfg(feature = "cluster")]
pub(crate) use self::cluster::{ClusterCommand, DatabaseArgs, DatabaseTls, NodeArgs};
pub(crate) use self::init::{InitArgs, Template};
pub(crate) use self::key::KeyCommand;
pub(crate) use self::login::{LoginArgs, LogoutArgs, OpenArgs, PageChoice};
pub(crate) use self::media::{MediaCommand, UploadArgs};
pub(crate) use self::openapi::{OpenapiArgs, VersionChoice};
#[cfg(feature = "serve")]
pub(crate) use self::openid::SECRET_VARIABLE as OPENID_SECRET_VARIABLE;
pub(crate) use self::preview::PreviewArgs;
pub(crate) use self::publish::PublishArgs;
pub(crate) use self::schedule::ScheduleCommand;
pub(crate) use self::search::{ModeChoice, ReindexArgs, SearchArgs};
pub(crate) use self::selection::{JobCommand, SelectionArgs};
#[cfg(feature = "serve")]
pub(crate) use self::serve::{LogFormat, MetricsChoice, ServeArgs};
pub(crate) use self::trash::TrashCommand;
pub(crate) use self::types::{TypesCommand, TypescriptArgs};
pub(crate) use self::user::{CustomRights, UserCommand};
pub(crate) use self::validate::ValidateArgs;
pub(crate) use self::wait::WaitArgs;
pub(crate) use self::webhook::WebhookCommand;
pub(crate) use self::workflow::WorkflowCommand;

const EXIT_CODES: &str = "\
Exit codes:
   0  done, or nothing to change
   1  unexpected error, or a change whose response was lost: check the content before you
      repeat the command
   2  wrong usage
   3  key missing, unknown or not allowed
   4  not found
   5  conflict: a stale plan, another number of objects than --expect, a data directory of
      another version, without its database, or whose content has moved to a cluster
   6  refused by validation, a plan with blockers, or a check that found something wrong
   7  partly done: some objects or files were refused, or the command was interrupted after a
      part of its work
   8  would lose stored values: needs --allow-data-loss
   9  server unreachable, busy or timed out; a response that is not from cms; lock held;
      disk full: safe to repeat
  10  only with `ctd plan --exit-code`: there are changes";

/// Run a content server and manage its content.
///
/// Commands work on a running server (--server, with the key in `CMS_KEY` or --key-file; or a profile
/// of `cms login`) or on a data directory (--data), with the same results.
#[derive(Debug, Parser)]
#[command(name = "cms", version, after_help = EXIT_CODES, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The options of all commands.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Global {
    /// Use the server at this URL.
    #[arg(long, global = true, value_name = "URL", env = "CMS_SERVER", hide_env_values = true)]
    pub(crate) server: Option<String>,
    /// Use this data directory.
    #[arg(long, global = true, value_name = "DIR", env = "CMS_DATA", hide_env_values = true)]
    // Not a `PathBuf`: clap refuses an empty path, but an empty variable counts as unset.
    pub(crate) data: Option<OsString>,
    /// Use the server and the key of this profile, see `cms login`.
    #[arg(long, global = true, value_name = "NAME", env = "CMS_PROFILE")]
    pub(crate) profile: Option<String>,
    /// Store the media files of a data directory in S3-compatible storage: `s3://BUCKET/PREFIX`.
    ///
    /// Set the access key in `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`, region and endpoint
    /// in `AWS_REGION` and `AWS_ENDPOINT_URL`. Ignored with --server.
    #[arg(long, global = true, value_name = "URL", env = "CMS_MEDIA", hide_env_values = true)]
    pub(crate) media: Option<String>,
    /// Create an empty database in a data directory whose database is missing or has 0 bytes,
    /// although it contains media files, a search index or an unfinished restore.
    ///
    /// The content of the missing database is not restored, and its media files become orphaned
    /// files.
    #[arg(long, global = true)]
    pub(crate) new_database: bool,
    /// Read the key of the server from this file instead of `CMS_KEY`.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,
    /// Set the output format: table, json, ndjson, yaml, csv.
    // A string, because `-o` of `ctd export` is a file instead of a format.
    #[arg(short, long = "output", global = true, value_name = "FORMAT", hide_possible_values = true,
        value_parser = PossibleValuesParser::new(["table", "json", "ndjson", "yaml", "csv"]))]
    pub(crate) o: Option<String>,
    /// Short for -o json; errors are JSON, too.
    #[arg(long, global = true, conflicts_with = "o")]
    pub(crate) json: bool,
    /// Print to standard error only errors and, for commands that change something, the line `target:`.
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Do not ask for confirmation.
    #[arg(short, long, global = true)]
    pub(crate) yes: bool,
}

/// The output format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// Columns that fit the terminal.
    #[default]
    Table,
    /// One JSON document.
    Json,
    /// One JSON value per line.
    Ndjson,
    Yaml,
    /// A header line and one line per row; lists and objects as JSON.
    Csv,
}

// A command without a comment has the comment of its arguments.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Init(InitArgs),
    Login(LoginArgs),
    Logout(LogoutArgs),
    Open(OpenArgs),
    #[cfg(feature = "serve")]
    Serve(Box<ServeArgs>),
    /// Manage content types.
    #[command(subcommand)]
    Ctd(CtdCommand),
    /// Manage content objects.
    #[command(subcommand)]
    Object(ObjectCommand),
    Import(ImportArgs),
    /// Export types, objects and media files into a folder for `cms import`.
    Export(ExportArgs),
    /// Publish the current version of objects of a Draft & Public type.
    Publish(PublishArgs),
    /// Unpublish objects of a Draft & Public type: they become drafts.
    Unpublish(PublishArgs),
    /// Archive objects of a Draft & Public type: readers do not see them any more.
    Archive(PublishArgs),
    /// Manage scheduled publications.
    #[command(subcommand)]
    Schedule(ScheduleCommand),
    /// Manage workflows and the workflow states of objects.
    #[command(subcommand)]
    Workflow(WorkflowCommand),
    /// Manage media files.
    #[command(subcommand)]
    Media(MediaCommand),
    /// List deleted objects, restore them, or remove them permanently.
    #[command(subcommand)]
    Trash(TrashCommand),
    Search(Box<SearchArgs>),
    Reindex(ReindexArgs),
    Backup(BackupArgs),
    Restore(RestoreArgs),
    Check(CheckArgs),
    #[cfg(feature = "cluster")]
    #[command(subcommand)]
    Cluster(ClusterCommand),
    /// Run GraphQL queries, or print the schema.
    #[command(subcommand)]
    Graphql(graphql::GraphqlCommand),
    Openapi(OpenapiArgs),
    /// Write the content types for a programming language.
    #[command(subcommand)]
    Types(TypesCommand),
    Preview(PreviewArgs),
    /// Manage API keys.
    #[command(subcommand)]
    Key(KeyCommand),
    Activity(ActivityArgs),
    /// Show and stop bulk jobs, which commands with --filters, --q or --all start.
    #[command(subcommand)]
    Job(JobCommand),
    /// Manage users: the people who sign in.
    #[command(subcommand)]
    User(Box<UserCommand>),
    /// Inspect and replay webhook deliveries. Webhooks themselves are objects of the type
    /// `_webhooks`.
    #[command(subcommand)]
    Webhook(WebhookCommand),
    Validate(ValidateArgs),
    Wait(WaitArgs),
    /// Show the key or user of this command and its rights.
    Whoami,
    /// Show version, readiness and numbers of objects of a server or a data directory.
    ///
    /// Exits with 9 when a part of `/readyz`, such as the database, is not ready.
    Status,
    /// Print a shell completion script.
    Completions {
        shell: clap_complete::Shell,
    },
    /// Write manual pages into a directory.
    Man {
        dir: PathBuf,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum CtdCommand {
    /// List all content types.
    List,
    /// Show one content type.
    Get { name: String },
    /// Show the changes that applying project files would make.
    Plan(PlanArgs),
    /// Apply project files, completely or not at all.
    Apply(ApplyArgs),
    /// Export the content types as a project file.
    Export {
        /// Write to this file instead of standard output.
        #[arg(id = "o", short, long = "output", value_name = "FILE")]
        file: Option<String>,
    },
    /// Delete a content type that has no objects.
    Delete {
        name: String,
        #[command(flatten)]
        dry_run: DryRun,
    },
    /// Print the JSON Schema of project files.
    Schema,
}

#[derive(Debug, Args)]
pub(crate) struct DryRun {
    /// Show what the command would do, and change nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ProjectArgs {
    /// Read these project files, directories of them, or `-` for standard input.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Delete types that the files do not contain, except built-in ones.
    #[arg(long)]
    pub(crate) prune: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
    /// Exit with code 10 when there are changes.
    #[arg(long)]
    pub(crate) exit_code: bool,
    /// Save the plan for `cms ctd apply PLAN`.
    #[arg(long, value_name = "PLAN")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ApplyArgs {
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
    /// Allow the loss of stored values, of this property or of all.
    #[arg(
        long,
        value_name = "TYPE.PROPERTY",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = ALL_VALUES
    )]
    pub(crate) allow_data_loss: Vec<String>,
    #[command(flatten)]
    pub(crate) dry_run: DryRun,
}

/// The value of `--allow-data-loss` without a name.
pub(crate) const ALL_VALUES: &str = "*";

#[derive(Debug, Subcommand)]
pub(crate) enum ObjectCommand {
    /// List objects of a type.
    List(ObjectListArgs),
    /// Show one object.
    Get {
        r#type: String,
        id: String,
        /// Replace links by the linked objects, down to this many levels.
        #[arg(long, value_name = "LEVELS", default_value_t = 0,
            value_parser = value_parser!(u8).range(0..=2))]
        hydrate: u8,
        /// Show this version of the object.
        #[arg(long, value_name = "N", conflicts_with_all = ["hydrate", "fields"])]
        version: Option<u64>,
        /// Show only this property, or a path such as maker.internal.objectTitle; may be repeated.
        #[arg(long = "field", value_name = "PATH")]
        fields: Vec<String>,
    },
    /// Create an object from a JSON or YAML file.
    Create {
        r#type: String,
        /// Read this file, or `-` for standard input.
        file: PathBuf,
        #[command(flatten)]
        dry_run: DryRun,
    },
    /// Replace an object by the one in a JSON or YAML file.
    // Written out: clap prints `...` after every argument that may have several values.
    #[command(override_usage = "cms object update [OPTIONS] <TYPE> [ID] <FILE>")]
    Update {
        r#type: String,
        /// Update the object with this id from this file, or from standard input with `-`. With
        /// --filters, --q or --all, give only FILE.
        #[arg(required = true, num_args = 1..=2, value_name = "ID|FILE")]
        id_and_file: Vec<String>,
        /// Change only the properties in the file.
        #[arg(long)]
        patch: bool,
        #[command(flatten)]
        selection: SelectionArgs,
        #[command(flatten)]
        dry_run: DryRun,
    },
    /// Validate an object from a JSON or YAML file with the rules of a create, without creating it.
    Validate {
        r#type: String,
        /// Read this file, or `-` for standard input.
        file: PathBuf,
        /// Validate with the rules of a replacement of the object with this id.
        #[arg(long, value_name = "ID")]
        id: Option<String>,
        /// Validate with the rules of a change of only the properties in the file; needs --id.
        #[arg(long)]
        patch: bool,
    },
    /// List the objects that link to an object.
    Incoming { r#type: String, id: String },
    /// Delete objects.
    Delete {
        r#type: String,
        /// Use these ids, or `-` to read them from standard input, one per line.
        #[arg(required_unless_present_any = ["filters", "q", "all"],
            conflicts_with_all = ["filters", "q", "all"])]
        ids: Vec<String>,
        #[command(flatten)]
        selection: SelectionArgs,
        #[command(flatten)]
        dry_run: DryRun,
    },
    /// List the versions of an object.
    Versions { r#type: String, id: String },
}

#[derive(Debug, Args)]
pub(crate) struct ObjectListArgs {
    pub(crate) r#type: String,
    #[command(flatten)]
    pub(crate) list: ListArgs,
    /// Show current versions in every status instead of published versions.
    #[arg(long)]
    pub(crate) preview: bool,
    /// Show only this property, or a path such as internal.updatedAt; may be repeated.
    #[arg(long = "field", value_name = "PATH")]
    pub(crate) fields: Vec<String>,
}

/// The filters, order and page of a list.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Filter as in the API, for example '{"title":{"type":"contains","filter":"a"}}'.
    #[arg(long, value_name = "JSON")]
    pub(crate) filters: Option<String>,
    /// Order by this property instead of the time of creation.
    #[arg(long, value_name = "PROPERTY")]
    pub(crate) order_by: Option<String>,
    /// Sort in descending order.
    #[arg(long)]
    pub(crate) desc: bool,
    /// Put objects without the order property first.
    #[arg(long)]
    pub(crate) empty_first: bool,
    /// List only the object with this id; may be repeated.
    #[arg(long = "id", value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// List this page.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u32).range(1..))]
    pub(crate) page: u32,
    /// Set the number of objects per page.
    #[arg(long, value_name = "N", default_value_t = 20,
        value_parser = value_parser!(u32).range(1..=1000))]
    pub(crate) limit: u32,
    /// List all pages.
    #[arg(long, conflicts_with_all = ["page", "limit"])]
    pub(crate) all: bool,
    /// Replace links by the linked objects, down to this many levels.
    #[arg(long, value_name = "LEVELS", default_value_t = 0,
        value_parser = value_parser!(u8).range(0..=2))]
    pub(crate) hydrate: u8,
}

/// Import objects from files, or types, objects and media files from an exported folder.
///
/// `cms import TYPE FILE...` reads .json (an array, or one object per line), .ndjson, .csv (a
/// header line of property paths) and .yaml, and creates objects like the API does: unpublished, if
/// the type has Draft & Public. `cms import DIR` reads a folder that `cms export` wrote: types,
/// then media files, then objects, whose links may point in any direction, then their statuses.
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Import into this content type, or from this folder.
    #[arg(value_name = "TYPE|DIR")]
    pub(crate) source: String,
    /// Read these files of objects, or `-` for JSON on standard input.
    pub(crate) files: Vec<PathBuf>,
    /// Replace existing objects and types, unless they are equal.
    #[arg(long)]
    pub(crate) update_existing: bool,
    /// Keep the dates of creation, change and deletion in `internal`; on a server, this needs an
    /// admin key.
    #[arg(long)]
    pub(crate) keep_dates: bool,
    /// Stop after the first batch (500 objects) in which an object is refused.
    #[arg(long)]
    pub(crate) stop_on_error: bool,
    /// Write refused objects and the reasons to this file, one JSON object per line.
    #[arg(long, value_name = "FILE")]
    pub(crate) rejects: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) dry_run: DryRun,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Write to this folder: a new or empty one, or one with an earlier export, which is replaced.
    pub(crate) dir: PathBuf,
    /// Export only this type; may be repeated.
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) types: Vec<String>,
    /// Write to a folder that contains other files, and replace those with the same names.
    #[arg(long)]
    pub(crate) force: bool,
    /// Export deleted objects too, into files that `cms import --keep-dates` reads.
    #[arg(long)]
    pub(crate) trash: bool,
    #[command(flatten)]
    pub(crate) dry_run: DryRun,
}
