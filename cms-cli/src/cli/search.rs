//! Arguments of `cms search` and `cms reindex`.

use clap::{Args, ValueEnum, value_parser};

use super::DryRun;

/// Search all content.
///
/// QUERY contains words, any of which may match, or `*` for everything. It supports "phrases", a
/// AND b, a OR b, NOT a, +required, -excluded, (groups), property:word, wild*cards, property:[1 TO
/// 5], word^2 and word~1. After `--` it may start with a dash.
///
/// On a data directory, the command updates the index first.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct SearchArgs {
    /// Search for these words, or `*` for everything.
    pub(crate) query: String,
    /// Search only objects of this type; may be repeated.
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) types: Vec<String>,
    /// Filter by a property, for example 'price=>10'; may be repeated, and all filters must match.
    #[arg(long = "filter", visible_alias = "filters", value_name = "PROPERTY=QUERY", value_parser = pair)]
    pub(crate) filters: Vec<(String, String)>,
    /// Filter hits but not facets; otherwise like --filter.
    #[arg(long = "post-filter", value_name = "PROPERTY=QUERY", value_parser = pair)]
    pub(crate) post_filters: Vec<(String, String)>,
    /// Filter by the distance from a point, for example location=10km,52.5,13.4.
    #[arg(long, value_name = "PROPERTY=DISTANCE,LAT,LON", value_parser = pair)]
    pub(crate) near: Vec<(String, String)>,
    /// Count the objects for each value of a property.
    #[arg(long = "facet", value_name = "PROPERTY")]
    pub(crate) facets: Vec<String>,
    /// Count the objects for each value of a numeric property.
    #[arg(long = "numeric-facet", value_name = "PROPERTY")]
    pub(crate) numeric_facets: Vec<String>,
    /// Search only this property, optionally weighted: title^5; may be repeated.
    #[arg(long = "field", value_name = "PROPERTY[^WEIGHT]")]
    pub(crate) fields: Vec<String>,
    /// Set how words match.
    #[arg(long, default_value = "default")]
    pub(crate) mode: ModeChoice,
    /// Order hits of the same score by this property, or by `_geo_distance`; the suffix `.keyword`
    /// compares as text.
    #[arg(long, value_name = "PROPERTY")]
    pub(crate) order_by: Option<String>,
    /// Sort in descending order.
    #[arg(long, requires = "order_by")]
    pub(crate) desc: bool,
    /// Put objects without the order property first.
    #[arg(long, requires = "order_by")]
    pub(crate) missing_first: bool,
    /// Sort randomly; the same seed gives the same order.
    #[arg(long, value_name = "SEED", conflicts_with = "order_by", allow_negative_numbers = true,
        value_parser = number)]
    pub(crate) random: Option<f64>,
    /// Lower the scores of older objects.
    #[arg(long)]
    pub(crate) decay_old: bool,
    /// Multiply the scores of a type, for example post=2.
    #[arg(long = "boost", value_name = "TYPE=FACTOR", value_parser = boost)]
    pub(crate) boosts: Vec<(String, f32)>,
    /// Show this page; only the first 10,000 hits are available.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u32).range(1..))]
    pub(crate) page: u32,
    /// Set the number of hits per page.
    #[arg(long, value_name = "N", default_value_t = 20,
        value_parser = value_parser!(u32).range(1..=1000))]
    pub(crate) limit: u32,
    /// Search current versions in every status instead of published versions.
    #[arg(long)]
    pub(crate) preview: bool,
    /// Show only this property of the hits, or a path such as internal.objectTitle; may be
    /// repeated.
    #[arg(long = "item-field", value_name = "PATH")]
    pub(crate) item_fields: Vec<String>,
    /// Replace links by the linked objects, down to this many levels.
    #[arg(long, value_name = "LEVELS", default_value_t = 0,
        value_parser = value_parser!(u8).range(0..=2))]
    pub(crate) hydrate: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeChoice {
    /// Match any complete word.
    Default,
    /// Match all words in sequence, without operators.
    Exact,
    /// Match any word, with a few typing errors.
    Fuzzy,
}

/// Rebuild the search index.
///
/// Not needed in normal operation: the index follows the content. Searches use the old index until
/// the new one is complete. A server rebuilds it in the background; on a data directory without a
/// server, this command does.
#[derive(Debug, Args)]
pub(crate) struct ReindexArgs {
    /// Rebuild only these types.
    #[arg(value_name = "TYPE")]
    pub(crate) types: Vec<String>,
    /// Start the rebuild, print the job, and do not wait.
    #[arg(long)]
    pub(crate) no_wait: bool,
    #[command(flatten)]
    pub(crate) dry_run: DryRun,
}

/// Parses `name=value`.
fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("use NAME=VALUE".to_owned()),
    }
}

/// Parses `type=factor`.
fn boost(text: &str) -> Result<(String, f32), String> {
    let (name, factor) = pair(text)?;
    match factor.parse::<f32>() {
        Ok(factor) if factor.is_finite() && factor > 0.0 => Ok((name, factor)),
        _ => Err("use a factor greater than 0".to_owned()),
    }
}

fn number(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
    number.ok_or_else(|| "use a number".to_owned())
}
