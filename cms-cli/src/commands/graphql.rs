//! `cms graphql`: the schema of the content, and queries by it.

use cms_core::wire::graphql::{GraphQlRequest, GraphQlVersion};
use serde_json::Value;

use super::open_to_read;
use crate::{
    cli::{
        Format,
        graphql::{GraphqlCommand, QueryArgs, VersionArgs},
    },
    failure::{Diagnostic, Failure, FailureKind, Outcome, Result},
    printer::Printer,
    project, report,
    settings::Settings,
    target::Edition,
};

pub(super) fn run(
    command: GraphqlCommand,
    settings: &Settings,
    printer: &mut Printer,
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

fn query(args: QueryArgs, settings: &Settings, printer: &mut Printer) -> Result<Outcome> {
    let (file, query) = project::read_text(&args.file)?;
    let target = open_to_read(settings)?;
    let edition = if args.preview { Edition::Current } else { Edition::Published };
    let request = GraphQlRequest {
        query,
        variables: args.variables.unwrap_or_default(),
        operation_name: args.operation,
        hash: None,
    };
    let answer = target.graphql(version(args.version), &request, edition)?;
    if answer.get("data").is_none() {
        let failure = Failure::from(FailureKind::InvalidInput(diagnostics(&answer, &file)));
        if settings.format != Format::Json {
            return Err(failure);
        }
        // Programs get what the API says of it.
        printer.value(&answer, String::new)?;
        return Ok(Outcome::Refused(failure.exit_code()));
    }
    printer.value(&answer, || format!("{answer:#}\n"))?;
    // Objects that are asked for by name are all that can fail in a good query.
    Ok(if answer.get("errors").is_some() { Outcome::NotFound } else { Outcome::Done })
}

/// What is wrong with a query, each at its location in the file.
fn diagnostics(answer: &Value, file: &str) -> Vec<Diagnostic> {
    let errors = answer["errors"].as_array().into_iter().flatten();
    let diagnostic = |error: &Value| {
        let location = &error["locations"][0];
        let location = match (location["line"].as_u64(), location["column"].as_u64()) {
            (Some(line), Some(column)) => format!("{file}:{line}:{column}"),
            _ => file.to_owned(),
        };
        Diagnostic { location, message: report::cell(&error["message"]) }
    };
    errors.map(diagnostic).collect()
}
