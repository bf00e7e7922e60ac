//! `cms search`: full-text search over all content.

use cms_core::{
    Error, limits,
    paging::PageRequest,
    wire::search::{QueryMode, SearchRequest},
};
use serde_json::{Map, Value, json};

use super::{hints, open_to_read, progress::with_spinner, require_types};
use crate::{
    cli::{ModeChoice, OutputFormat, SearchArgs},
    failure::{Failure, Outcome, Result},
    printer::Printer,
    settings::Settings,
    target::Edition,
    text_output::{self, Column, column},
};

const COLUMNS: [Column; 4] = [
    column("SCORE", "/score"),
    column("TYPE", "/item/internal/contentType"),
    column("ID", "/item/id"),
    column("TITLE", "/item/internal/objectTitle"),
];

const FACET_COLUMNS: [Column; 3] =
    [column("FIELD", "/field"), column("VALUE", "/key"), column("COUNT", "/doc_count")];

/// The type of geo filters.
const GEO_DISTANCE: &str = "geo_distance";

/// The API names its parameters in errors, not the options of the command.
const NEAR_HINT: &str =
    "a distance needs --near PROPERTY=DISTANCE,LAT,LON, for example --near location=10km,52.5,13.4";

pub(super) fn run(args: SearchArgs, settings: &Settings, printer: &Printer) -> Result<Outcome> {
    let target = open_to_read(settings)?;
    // The API finds nothing in an unknown type; on the command line it is probably a typing error.
    require_types(&*target, &args.types)?;
    let pairs = args.filters.iter().chain(&args.post_filters).chain(&args.near);
    let lists = [&args.facets, &args.numeric_facets, &args.fields, &args.item_fields];
    let paths = pairs.map(|(path, _)| path).chain(lists.into_iter().flatten());
    let paths: Vec<_> = paths.chain(&args.order_by).map(String::as_str).collect();
    let hints = hints::unknown_search_properties(&*target, &args.types, &paths);
    let fields = text_output::field_columns(&args.item_fields, "/item");
    let columns = fields.as_ref().map_or(COLUMNS.to_vec(), |fields| {
        let named = fields.iter().map(|(header, pointer)| column(header, pointer));
        [COLUMNS[0], COLUMNS[2]].into_iter().chain(named).collect()
    });
    let edition = if args.preview { Edition::Current } else { Edition::Published };
    let uses_distance = !args.near.is_empty() || args.order_by.as_deref() == Some("_geo_distance");
    let request = request(args);
    // A data directory may have to index objects first.
    let response = with_spinner("search", printer, || target.search(&request, edition));
    let response = response.map_err(|error| {
        let needs_hint = uses_distance && matches!(error, Error::Invalid(_));
        Failure::from(error).hints(needs_hint.then_some(NEAR_HINT))
    })?;
    let hits = response["data"].as_array().map_or(&[][..], Vec::as_slice);
    match settings.format {
        OutputFormat::Json => printer.value(&response, String::new)?,
        OutputFormat::Table => {
            printer.rows(hits, &columns)?;
            let facets = facets(&response);
            if !facets.is_empty() {
                printer.text(&format!("\n{}", text_output::table(&facets, &FACET_COLUMNS)))?;
            }
        }
        // Objects of several types have no other common columns.
        OutputFormat::Csv => {
            let rows: Vec<Value> = hits.iter().map(|hit| row(hit, &columns)).collect();
            printer.rows(&rows, &columns)?;
        }
        OutputFormat::Ndjson | OutputFormat::Yaml => printer.rows(hits, &columns)?,
    }
    let (shown, total) = (hits.len() as u64, response["total_count"].as_u64().unwrap_or(0));
    printer.hints(hints)?;
    if response["summary"]["incomplete_results"] == true {
        printer
            .note("the search index does not include all changes yet: repeat the search later")?;
    }
    if shown < total {
        let more = if total < limits::MAX_SEARCH_RESULTS { "" } else { " or more" };
        printer.note(&format!("{shown} of {total}{more}; --page and --limit show more"))?;
    }
    Ok(Outcome::Done)
}

fn request(args: SearchArgs) -> SearchRequest {
    let some = |values: Vec<String>| (!values.is_empty()).then_some(values);
    let near =
        args.near.into_iter().map(|(path, circle)| (path, format!("{GEO_DISTANCE},{circle}")));
    SearchRequest {
        q: Some(args.query),
        page: PageRequest { number: args.page, limit: args.limit },
        content_types: some(args.types),
        fields: some(args.fields),
        filters: args.filters,
        post_filters: args.post_filters,
        geo_filters: near.collect(),
        order_by: args.order_by,
        descending: args.desc,
        missing_first: args.missing_first,
        random_seed: args.random,
        hydrate: args.hydrate,
        mode: match args.mode {
            ModeChoice::Default => QueryMode::Default,
            ModeChoice::Exact => QueryMode::Exact,
            ModeChoice::Fuzzy => QueryMode::Fuzzy,
        },
        decay_old: args.decay_old,
        aggregate_by: args.facets,
        aggregate_by_numeric: args.numeric_facets,
        boosts: args.boosts,
        item_fields: args.item_fields,
    }
}

/// A hit with the columns of the table only.
fn row(hit: &Value, columns: &[Column<'_>]) -> Value {
    let cells = columns.iter().map(|column| {
        let value = hit.pointer(column.pointer).cloned().unwrap_or_default();
        // Headers of `--item-field` are paths and keep their case; other headers are in capitals.
        let is_path = column.header.contains(|c: char| c.is_lowercase());
        let name = if is_path { column.header.to_owned() } else { column.header.to_lowercase() };
        (name, value)
    });
    Value::Object(cells.collect::<Map<_, _>>())
}

/// Returns the values of all facets as rows; the last row of a facet counts the other values.
fn facets(response: &Value) -> Vec<Value> {
    let aggregations = response["summary"]["aggregations"].as_array();
    let mut rows = Vec::new();
    for aggregation in aggregations.into_iter().flatten() {
        let field = &aggregation["field"];
        for bucket in aggregation["buckets"].as_array().into_iter().flatten() {
            let (key, count) = (&bucket["key"], &bucket["doc_count"]);
            rows.push(json!({ "field": field, "key": key, "doc_count": count }));
        }
        let others = &aggregation["sum_other_doc_count"];
        if others.as_u64().is_some_and(|others| others > 0) {
            rows.push(json!({ "field": field, "key": "(other values)", "doc_count": others }));
        }
    }
    rows
}
