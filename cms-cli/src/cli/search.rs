//! `cms search` and `cms reindex` as clap reads them.

use clap::{Args, ValueEnum, value_parser};

use super::DryRun;

/// Search all content.
///
/// QUERY is words, any of which may match, or `*` for everything. It may hold "phrases", a AND b, a OR
/// b, NOT a, +needed, -unwanted, (groups), property:word, wild*cards, property:[1 TO 5], word^2 and
/// word~1. After `--` it may begin with a dash.
///
/// On a data folder, the index is brought up to date first.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct SearchArgs {
    /// Words, or `*` for everything.
    pub(crate) query: String,
    /// Only objects of this type; may be repeated.
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) types: Vec<String>,
    /// Only objects whose property matches, 'price=>10' for example; all that are given must match.
    #[arg(long = "filter", value_name = "PROPERTY=QUERY", value_parser = pair)]
    pub(crate) filters: Vec<(String, String)>,
    /// Like --filter, but facets count the others as well.
    #[arg(long = "post-filter", value_name = "PROPERTY=QUERY", value_parser = pair)]
    pub(crate) post_filters: Vec<(String, String)>,
    /// Only objects within a distance of a place, for example location=10km,52.5,13.4.
    #[arg(long, value_name = "PROPERTY=DISTANCE,LAT,LON", value_parser = pair)]
    pub(crate) near: Vec<(String, String)>,
    /// Count the objects for each value of a property.
    #[arg(long = "facet", value_name = "PROPERTY")]
    pub(crate) facets: Vec<String>,
    /// The same for a property that holds numbers.
    #[arg(long = "numeric-facet", value_name = "PROPERTY")]
    pub(crate) numeric_facets: Vec<String>,
    /// Search this property only, or weighted: title^5; may be repeated.
    #[arg(long = "field", value_name = "PROPERTY[^WEIGHT]")]
    pub(crate) fields: Vec<String>,
    /// How the words of the query match.
    #[arg(long, default_value = "default")]
    pub(crate) mode: ModeChoice,
    /// Property to order hits of the same score by, or `_geo_distance`; `.keyword` behind it
    /// compares as text.
    #[arg(long, value_name = "PROPERTY")]
    pub(crate) order_by: Option<String>,
    /// Largest or newest first.
    #[arg(long, requires = "order_by")]
    pub(crate) desc: bool,
    /// Objects without the order property first.
    #[arg(long, requires = "order_by")]
    pub(crate) missing_first: bool,
    /// In a random order, which is the same for the same seed.
    #[arg(long, value_name = "SEED", conflicts_with = "order_by", allow_negative_numbers = true,
        value_parser = number)]
    pub(crate) random: Option<f64>,
    /// Lower the scores of older objects.
    #[arg(long)]
    pub(crate) decay_old: bool,
    /// Multiply the scores of a type, for example post=2.
    #[arg(long = "boost", value_name = "TYPE=FACTOR", value_parser = boost)]
    pub(crate) boosts: Vec<(String, f32)>,
    /// Page of the hits, of which no more than the first 10,000 can be seen.
    #[arg(long, default_value_t = 1, value_parser = value_parser!(u32).range(1..))]
    pub(crate) page: u32,
    /// Hits per page.
    #[arg(long, default_value_t = 20, value_parser = value_parser!(u32).range(1..=1000))]
    pub(crate) limit: u32,
    /// Current versions in every status, instead of the published ones that readers get.
    #[arg(long)]
    pub(crate) preview: bool,
    /// Replace links by the objects they point to, down to this many levels.
    #[arg(long, default_value_t = 0, value_parser = value_parser!(u8).range(0..=2))]
    pub(crate) hydrate: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeChoice {
    /// Any word, as a whole.
    Default,
    /// All words in a row, and no operators.
    Exact,
    /// Any word, with a few typing errors.
    Fuzzy,
}

/// Make the search index anew.
///
/// Nothing needs this in normal operation: the index follows the content. Searches use the old index
/// until the new one is complete. A server does the work itself; on a folder that no server uses,
/// this command does it.
#[derive(Debug, Args)]
pub(crate) struct ReindexArgs {
    /// Only these types.
    #[arg(value_name = "TYPE")]
    pub(crate) types: Vec<String>,
    /// Only ask for it, and print the job.
    #[arg(long)]
    pub(crate) no_wait: bool,
    #[command(flatten)]
    pub(crate) dry_run: DryRun,
}

/// Reads `name=value`.
fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("name=value is expected".to_owned()),
    }
}

/// Reads `type=factor`.
fn boost(text: &str) -> Result<(String, f32), String> {
    let (name, factor) = pair(text)?;
    match factor.parse::<f32>() {
        Ok(factor) if factor.is_finite() && factor > 0.0 => Ok((name, factor)),
        _ => Err("the factor has to be a number above 0".to_owned()),
    }
}

fn number(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
    number.ok_or_else(|| "it is no number".to_owned())
}
