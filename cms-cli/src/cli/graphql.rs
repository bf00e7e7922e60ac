//! `cms graphql` as clap reads it.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::{Map, Value};

#[derive(Debug, Subcommand)]
pub(crate) enum GraphqlCommand {
    /// Print the schema in the schema language of GraphQL.
    Schema {
        #[command(flatten)]
        version: VersionArgs,
    },
    Query(QueryArgs),
}

/// Which of the two schemas is meant.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct VersionArgs {
    /// Connections and filter inputs, as at /api/v2/graphql, instead of the flat lists of
    /// /api/graphql.
    #[arg(long)]
    pub(crate) v2: bool,
}

/// Ask a query and print the answer.
///
/// The answer is JSON with `data` and, if something was not found, `errors`; then the command ends
/// with 4. A query with mistakes is not carried out.
#[derive(Debug, Args)]
pub(crate) struct QueryArgs {
    /// The file with the query, or `-` for standard input.
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) version: VersionArgs,
    /// Values of the variables, for example '{"id":"kettle"}'.
    #[arg(long, value_name = "JSON", value_parser = object)]
    pub(crate) variables: Option<Map<String, Value>>,
    /// Which operation to carry out, if the file has several.
    #[arg(long, value_name = "NAME")]
    pub(crate) operation: Option<String>,
    /// Current versions in every status, instead of the published ones that readers get.
    #[arg(long)]
    pub(crate) preview: bool,
}

fn object(text: &str) -> Result<Map<String, Value>, String> {
    serde_json::from_str(text).map_err(|error| format!("not a JSON object: {error}"))
}
