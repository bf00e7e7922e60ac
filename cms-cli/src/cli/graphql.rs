//! Arguments of `cms graphql`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::{Map, Value};

#[derive(Debug, Subcommand)]
pub(crate) enum GraphqlCommand {
    /// Print the schema in the GraphQL schema definition language.
    Schema {
        #[command(flatten)]
        version: VersionArgs,
    },
    Query(QueryArgs),
}

/// The version of the schema.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct VersionArgs {
    /// Use connections and filter inputs, as at /api/v2/graphql, instead of the flat lists of
    /// /api/graphql.
    #[arg(long)]
    pub(crate) v2: bool,
}

/// Run a query and print the response.
///
/// The response is JSON with `data`. If objects were not found, it also has `errors`, and the exit code
/// is 4. A query that is not valid is not run.
#[derive(Debug, Args)]
pub(crate) struct QueryArgs {
    /// Read the query from this file, or from standard input with `-`.
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) version: VersionArgs,
    /// Set the values of variables, for example '{"id":"kettle"}'.
    #[arg(long, value_name = "JSON", value_parser = object)]
    pub(crate) variables: Option<Map<String, Value>>,
    /// Run this operation of a file with several operations.
    #[arg(long, value_name = "NAME")]
    pub(crate) operation: Option<String>,
    /// Return current versions in every status instead of published versions.
    #[arg(long)]
    pub(crate) preview: bool,
}

fn object(text: &str) -> Result<Map<String, Value>, String> {
    serde_json::from_str(text).map_err(|error| format!("not a JSON object: {error}"))
}
