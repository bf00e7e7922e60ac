//! `cms graphql`: prints the schema and runs queries.

use cms_core::wire::graphql::{GraphQlRequest, GraphQlVersion};
use serde_json::Value;

use super::open_to_read;
use crate::{
    cli::{
        OutputFormat,
        graphql::{GraphqlCommand, QueryArgs, VersionArgs},
    },
    failure::{Diagnostic, Failure, FailureKind, Outcome, Result},
    printer::Printer,
    project,
    settings::Settings,
    target::Edition,
    text_output,
};

pub(super) fn run(
    command: GraphqlCommand,
    settings: &Settings,
    printer: &Printer,
) -> Result<Outcome> {
    match command {
        GraphqlCommand::Schema { version: wanted } => {
            printer.text(&open_to_read(settings)?.graphql_schema(version(wanted))?)?;
            Ok(Outcome::Done)
        }
        GraphqlCommand::Query(args) => query(args, settings, printer),
    }
}

fn version(args: VersionArgs) -> GraphQlVersion {
    if args.v2 { GraphQlVersion::V2 } else { GraphQlVersion::Legacy }
}

fn query(args: QueryArgs, settings: &Settings, printer: &Printer) -> Result<Outcome> {
    let (file, query) = project::read_text(&args.file)?;
    let target = open_to_read(settings)?;
    let edition = if args.preview { Edition::Current } else { Edition::Published };
    let request = GraphQlRequest {
        query,
        variables: args.variables.unwrap_or_default(),
        operation_name: args.operation,
        hash: None,
    };
    let response = target.graphql(version(args.version), &request, edition)?;
    if response.get("data").is_none() {
        let failure = Failure::from(FailureKind::InvalidInput(diagnostics(&response, &file)));
        if settings.format != OutputFormat::Json {
            return Err(failure);
        }
        // JSON output has the response of the API.
        printer.value(&response, String::new)?;
        return Ok(Outcome::Refused(failure.exit_code()));
    }
    printer.value(&response, || format!("{response:#}\n"))?;
    // The only errors of a valid query are missing objects.
    Ok(if response.get("errors").is_some() { Outcome::NotFound } else { Outcome::Done })
}

/// The errors of a query with their locations in the file.
fn diagnostics(response: &Value, file: &str) -> Vec<Diagnostic> {
    let errors = response["errors"].as_array().into_iter().flatten();
    let diagnostic = |error: &Value| {
        let at = &error["locations"][0];
        let location = match (at["line"].as_u64(), at["column"].as_u64()) {
            (Some(line), Some(column)) => format!("{file}:{line}:{column}"),
            _ => file.to_owned(),
        };
        Diagnostic { location, message: text_output::cell(&error["message"]) }
    };
    errors.map(diagnostic).collect()
}
