//! The command line as clap reads it: names, flags and their help, and nothing else.
//!
//! Doc comments here are the help texts. What the raw values mean is worked out in
//! [`crate::settings`]; what a command does is in [`crate::commands`].

mod backup;
pub(crate) mod graphql;
mod media;
mod openapi;
mod search;
#[cfg(feature = "serve")]
mod serve;
#[cfg(feature = "serve")]
mod values;
mod webhook;

use std::{ffi::OsString, path::PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};

#[cfg(feature = "serve")]
pub(crate) use self::backup::ScheduleArgs;
pub(crate) use self::backup::{BackupArgs, CheckArgs, RestoreArgs};
pub(crate) use self::media::{MediaCommand, MediaKind, UploadArgs};
pub(crate) use self::openapi::{OpenapiArgs, VersionChoice};
pub(crate) use self::search::{ModeChoice, ReindexArgs, SearchArgs};
#[cfg(feature = "serve")]
pub(crate) use self::serve::{DurabilityChoice, LogFormat, MetricsChoice, ServeArgs};
pub(crate) use self::webhook::WebhookCommand;

const EXIT_CODES: &str = "\
Exit codes:
   0  done, or nothing to change
   1  unexpected error
   2  wrong usage
   3  key missing, unknown or not allowed
   4  not found
   5  conflict: stale plan, lock held
   6  refused by validation, or a plan with blockers
   7  partly done: some objects were refused
   8  would lose stored values: needs --allow-data-loss
   9  server unreachable, busy, or timed out: safe to repeat
  10  only with `ctd plan --exit-code`: there are changes";

/// A content server and its command line.
///
/// Commands work on a running server (--server, with the key in `CMS_KEY` or --key-file) or
/// on a data folder (--data); the same commands give the same results on both.
#[derive(Debug, Parser)]
#[command(name = "cms", version, after_help = EXIT_CODES, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every command understands.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Global {
    /// Work on the server at this URL.
    #[arg(long, global = true, value_name = "URL", env = "CMS_SERVER", hide_env_values = true)]
    pub(crate) server: Option<String>,
    /// Work on this data folder.
    #[arg(long, global = true, value_name = "DIR", env = "CMS_DATA", hide_env_values = true)]
    // No path here: clap refuses an empty one, and an empty variable is to count as none.
    pub(crate) data: Option<OsString>,
    /// Keep the files of a data folder in S3-compatible storage: `s3://BUCKET/PREFIX`.
    ///
    /// The access key comes from `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`, the rest from
    /// `AWS_REGION` and `AWS_ENDPOINT_URL`. With --server this says nothing: the server knows.
    #[arg(long, global = true, value_name = "URL", env = "CMS_MEDIA", hide_env_values = true)]
    pub(crate) media: Option<String>,
    /// Create an empty database although the data folder holds data of one that is missing or has
    /// 0 bytes: media files, a search index, an unfinished restore.
    ///
    /// Content of the missing database is not brought back, and its media files become orphaned files.
    #[arg(long, global = true)]
    pub(crate) new_database: bool,
    /// Read the server's key from this file instead of `CMS_KEY`.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,
    /// Form of the output: table, json, ndjson, yaml, csv.
    // Text here, because `ctd export -o FILE` gives the same letter another meaning.
    #[arg(short, long = "output", global = true, value_name = "FORMAT", hide_possible_values = true,
        value_parser = clap::builder::PossibleValuesParser::new(Format::NAMES))]
    pub(crate) o: Option<String>,
    /// Short for -o json; errors are printed as JSON too.
    #[arg(long, global = true, conflicts_with = "o")]
    pub(crate) json: bool,
    /// No progress and no remarks on standard error, only errors.
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Do not ask for confirmation.
    #[arg(short, long, global = true)]
    pub(crate) yes: bool,
}

/// How data is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Format {
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

impl Format {
    const NAMES: [&str; 5] = ["table", "json", "ndjson", "yaml", "csv"];

    /// Reads one of the names.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let all = [Self::Table, Self::Json, Self::Ndjson, Self::Yaml, Self::Csv];
        Self::NAMES.iter().zip(all).find_map(|(name, format)| (*name == text).then_some(format))
    }
}

// A command without a comment has that of its arguments, which is longer.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    #[cfg(feature = "serve")]
    Serve(Box<ServeArgs>),
    /// Content type definitions.
    #[command(subcommand)]
    Ctd(CtdCommand),
    /// Content objects.
    #[command(subcommand)]
    Object(ObjectCommand),
    Import(ImportArgs),
    /// Write types, objects and media files into a folder that `cms import` reads.
    Export(ExportArgs),
    /// Publish objects of a Draft & Public type: readers see the current version.
    Publish(PublishArgs),
    /// Make objects of a Draft & Public type drafts again: readers no longer see them.
    Unpublish(PublishArgs),
    /// Archive objects of a Draft & Public type: readers no longer see them.
    Archive(PublishArgs),
    /// Workflows, and where objects stand in them.
    #[command(subcommand)]
    Workflow(WorkflowCommand),
    /// Files and pictures.
    #[command(subcommand)]
    Media(MediaCommand),
    Search(Box<SearchArgs>),
    Reindex(ReindexArgs),
    Backup(BackupArgs),
    Restore(RestoreArgs),
    Check(CheckArgs),
    /// Queries in the language GraphQL.
    #[command(subcommand)]
    Graphql(graphql::GraphqlCommand),
    Openapi(OpenapiArgs),
    /// API keys.
    #[command(subcommand)]
    Key(KeyCommand),
    /// What webhooks were told. Webhooks themselves are objects of the type `_webhooks`.
    #[command(subcommand)]
    Webhook(WebhookCommand),
    /// Print a completion script.
    Completions {
        shell: clap_complete::Shell,
    },
    /// Write manual pages into a folder.
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
    /// Show what applying project files would do, and do nothing.
    Plan(PlanArgs),
    /// Make the content types be what project files say; all or nothing.
    Apply(ApplyArgs),
    /// Write the content types as a project file.
    Export {
        /// Write into this file instead of standard output.
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
    /// Tell what would be done, and do nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ProjectArgs {
    /// Project files, folders of them, or `-` for standard input.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Also delete types that the files do not name; built-in ones never.
    #[arg(long)]
    pub(crate) prune: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
    /// End with 10 when there are changes.
    #[arg(long)]
    pub(crate) exit_code: bool,
    /// Save the plan, for `cms ctd apply PLAN`.
    #[arg(long, value_name = "PLAN")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ApplyArgs {
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
    /// Agree to losing stored values: of the named properties, or of all.
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

/// What `--allow-data-loss` without a name means.
pub(crate) const ALL_VALUES: &str = "*";

#[derive(Debug, Subcommand)]
pub(crate) enum ObjectCommand {
    /// List objects of a type.
    List(ObjectListArgs),
    /// Show one object.
    Get {
        r#type: String,
        id: String,
        /// Replace links by the objects they point to, down to this many levels.
        #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=2))]
        hydrate: u8,
        /// Show the object as it was in this version.
        #[arg(long, value_name = "N", conflicts_with = "hydrate")]
        version: Option<u64>,
    },
    /// Create an object from a JSON or YAML file.
    Create {
        r#type: String,
        /// The file, or `-` for standard input.
        file: PathBuf,
        #[command(flatten)]
        dry_run: DryRun,
    },
    /// Replace an object by what a JSON or YAML file holds.
    Update {
        r#type: String,
        id: String,
        /// The file, or `-` for standard input.
        file: PathBuf,
        /// Change only the properties that the file holds.
        #[arg(long)]
        patch: bool,
        #[command(flatten)]
        dry_run: DryRun,
    },
    /// Delete objects.
    Delete {
        r#type: String,
        /// Ids, or `-` to read them from standard input, one per line.
        #[arg(required = true)]
        ids: Vec<String>,
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
    /// Current versions in every status, instead of the published ones that readers get.
    #[arg(long)]
    pub(crate) preview: bool,
}

/// Which objects a list shows, and in which order.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Conditions as the API takes them, for example '{"title":{"type":"contains","filter":"a"}}'.
    #[arg(long, value_name = "JSON")]
    pub(crate) filters: Option<String>,
    /// Property to order by; otherwise the time of creation.
    #[arg(long, value_name = "PROPERTY")]
    pub(crate) order_by: Option<String>,
    /// Largest or newest first.
    #[arg(long)]
    pub(crate) desc: bool,
    /// Objects without the order property first.
    #[arg(long)]
    pub(crate) empty_first: bool,
    /// Only objects with these ids.
    #[arg(long = "id", value_name = "ID")]
    pub(crate) ids: Vec<String>,
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) page: u32,
    /// Objects per page.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) limit: u32,
    /// All pages.
    #[arg(long, conflicts_with_all = ["page", "limit"])]
    pub(crate) all: bool,
    /// Replace links by the objects they point to, down to this many levels.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=2))]
    pub(crate) hydrate: u8,
}

/// Bring objects in from files, or types, objects and media files from a folder.
///
/// `cms import TYPE FILE...` reads .json (an array, or one object per line), .ndjson, .csv (a
/// header line of property paths) and .yaml. `cms import DIR` reads a folder as `cms export`
/// writes it: types first, then media files, then objects in an order in which links find their
/// targets, then the statuses that the folder says. Objects of files arrive as the API creates them: unpublished, where
/// the type has Draft & Public.
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// A content type, or a folder.
    #[arg(value_name = "TYPE|DIR")]
    pub(crate) what: String,
    /// Files of that type's objects, or `-` for JSON lines on standard input.
    pub(crate) files: Vec<PathBuf>,
    /// Bring existing objects and types up to date; what is equal is not touched.
    #[arg(long)]
    pub(crate) update_existing: bool,
    /// Keep the dates of creation, change and deletion that the files say in `internal`; on a server
    /// this takes an admin key.
    #[arg(long)]
    pub(crate) keep_dates: bool,
    /// Stop at the first object that is refused.
    #[arg(long)]
    pub(crate) stop_on_error: bool,
    /// Write refused objects with the reasons into this file, one JSON object per line.
    #[arg(long, value_name = "FILE")]
    pub(crate) rejects: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) dry_run: DryRun,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// A new or empty folder, or one with an earlier export, which is replaced.
    pub(crate) dir: PathBuf,
    /// Only these types.
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) types: Vec<String>,
    /// Write into a folder that holds other files; those of the same names are replaced.
    #[arg(long)]
    pub(crate) force: bool,
    /// Write deleted objects too, into files of their own, which `cms import --keep-dates` reads. Only
    /// on a data directory.
    #[arg(long)]
    pub(crate) trash: bool,
    #[command(flatten)]
    pub(crate) dry_run: DryRun,
}

/// Many ids are sent in batches, whatever the statuses of the objects. With --hydrate the objects
/// are sent one by one, and only what is allowed in the status of each is done.
#[derive(Debug, Args)]
pub(crate) struct PublishArgs {
    pub(crate) r#type: String,
    /// Ids, or `-` to read them from standard input, one per line.
    #[arg(required = true)]
    pub(crate) ids: Vec<String>,
    /// With 1, do the same to the Draft & Public objects that these link to.
    #[arg(long, value_name = "LEVELS", value_parser = clap::value_parser!(u8).range(0..=1))]
    pub(crate) hydrate: Option<u8>,
    #[command(flatten)]
    pub(crate) dry_run: DryRun,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WorkflowCommand {
    /// List all workflows.
    List,
    /// Show where an object stands, and where it can go from there.
    State { r#type: String, id: String },
    /// Carry out a transition, for example `_draft_review`.
    Run {
        r#type: String,
        /// Ids, or `-` to read them from standard input, one per line.
        #[arg(required = true)]
        ids: Vec<String>,
        /// The name of the transition.
        action: String,
        #[command(flatten)]
        dry_run: DryRun,
    },
    /// Create or replace the workflow that a JSON or YAML file describes.
    Define {
        /// The file, or `-` for standard input.
        file: PathBuf,
        #[command(flatten)]
        dry_run: DryRun,
    },
    /// Delete a workflow that no content type uses.
    Delete {
        id: String,
        #[command(flatten)]
        dry_run: DryRun,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// List keys; the keys themselves are never shown again.
    List,
    /// Make a key and print it, this once.
    Create {
        name: String,
        #[arg(long)]
        kind: KindChoice,
        /// Rights of a scoped key on a type (or `*`): letters of create, read, update, delete.
        #[arg(long = "rule", value_name = "TYPE:CRUD")]
        rules: Vec<String>,
        #[command(flatten)]
        dry_run: DryRun,
    },
    /// Refuse a key from now on.
    Revoke {
        /// The id of the key, from `cms key list`.
        id: String,
        #[command(flatten)]
        dry_run: DryRun,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KindChoice {
    ReadOnly,
    ReadWrite,
    Scoped,
    Admin,
}
