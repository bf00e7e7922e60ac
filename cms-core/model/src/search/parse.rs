//! Reads a request (see docs/reference/search.md#parameters) into a [`Search`].
//!
//! | module | reads |
//! |---|---|
//! | this one | the parameters |
//! | `grammar` | the query language: operators, groups, fields |
//! | `term` | operands: words, phrases, wildcards, ranges |
//! | `cursor` | tokens of the query language |
//! | `geo_filter` | filters by distance |
//!
//! This module knows no content types: the index decides whether a property exists. All errors of a
//! request are reported together.

mod cursor;
mod geo_filter;
mod grammar;
mod term;
#[cfg(test)]
mod tests;

use grammar::ParsedText;
use term::{Fuzziness, TermOptions};

use super::query::{
    Circle, Facet, FieldCondition, HitOrder, PropertyOrder, Search, SearchQuery, SortBy,
    WeightedField,
};
use crate::{
    error::{FieldErrors, Result},
    limits, message,
    query::path::InternalField,
    wire::search::{QueryMode, SearchRequest},
};

const BY_SCORE: &str = "_score";
const BY_DISTANCE: &str = "_geo_distance";

impl Search {
    /// Reads the parameters that do not depend on the caller; the service reads pages, types and
    /// boosts.
    pub fn read(request: &SearchRequest) -> Result<Self> {
        let mut parser =
            RequestParser { errors: FieldErrors::default(), expansions: 0, fields_per_word: 1 };
        let fields = parser.fields(request.fields.as_deref());
        parser.fields_per_word = fields.as_ref().map_or(1, Vec::len).max(1);
        let mut query = parser.query(request.q.as_deref(), request.mode);
        if fields.as_ref().is_some_and(Vec::is_empty) {
            query = SearchQuery::None;
        }
        // Filters name their own field.
        parser.fields_per_word = 1;
        let search = Self {
            query,
            fields,
            filter: parser.filters("filters", &request.filters),
            post_filter: parser.filters("post_filters", &request.post_filters),
            circles: parser.circles(&request.geo_filters),
            order: parser.order(request),
            decay_old: request.decay_old,
            facets: parser.facets(request),
        };
        parser.errors.into_result()?;
        Ok(search)
    }
}

/// Collects the errors and the total cost of a request.
struct RequestParser {
    errors: FieldErrors,
    expansions: usize,
    /// Number of fields searched for each word.
    fields_per_word: usize,
}

impl RequestParser {
    fn query(&mut self, q: Option<&str>, mode: QueryMode) -> SearchQuery {
        let Some(q) = q else {
            self.errors.add("q", message::required("q"));
            return SearchQuery::All;
        };
        let text = q.trim();
        if text.is_empty() || text == "*" {
            return SearchQuery::All;
        }
        let fuzziness = if mode == QueryMode::Fuzzy { Fuzziness::Auto } else { Fuzziness::Exact };
        let terms = TermOptions { all_required: false, fuzziness };
        let parsed = match mode {
            QueryMode::Exact => grammar::parse_phrase(text),
            QueryMode::Default | QueryMode::Fuzzy => grammar::parse(text, None, terms),
        };
        self.check_cost("q", parsed)
    }

    /// Combines the conditions of all filters.
    fn filters(&mut self, name: &str, filters: &[(String, String)]) -> SearchQuery {
        if !self.is_within(name, "filters", filters.len(), limits::MAX_SEARCH_PARAMETERS) {
            return SearchQuery::All;
        }
        let terms = TermOptions { all_required: true, fuzziness: Fuzziness::Exact };
        let mut all = Vec::new();
        for (path, text) in filters {
            let (path, text) = (path_of(path), text.trim());
            all.push(match text {
                _ if path.is_empty() => SearchQuery::None,
                "" => continue,
                "*" => SearchQuery::Field { path: Some(path), condition: FieldCondition::Exists },
                _ => self.check_cost(name, grammar::parse(text, Some(&path), terms)),
            });
        }
        grammar::all_of(all, Vec::new()).unwrap_or(SearchQuery::All)
    }

    /// Adds the cost of a text to that of the request. A text without words matches nothing.
    fn check_cost(&mut self, name: &str, parsed: ParsedText) -> SearchQuery {
        if parsed.words > limits::MAX_SEARCH_WORDS {
            self.errors.add(name, format!("Too many words, limit: {}", limits::MAX_SEARCH_WORDS));
        } else if parsed.words * self.fields_per_word > limits::MAX_SEARCH_TERMS {
            let limit = limits::MAX_SEARCH_TERMS;
            self.errors.add(name, format!("Too many words for so many fields, limit: {limit}"));
        }
        let (before, limit) = (self.expansions, limits::MAX_SEARCH_EXPANSIONS);
        self.expansions += parsed.expansions * self.fields_per_word;
        if before <= limit && self.expansions > limit {
            self.errors.add(name, format!("Too many wildcards and fuzzy words, limit: {limit}"));
        }
        parsed.query.unwrap_or(SearchQuery::None)
    }

    fn fields(&mut self, fields: Option<&[String]>) -> Option<Vec<WeightedField>> {
        let fields = fields?;
        self.is_within("fields", "fields", fields.len(), limits::MAX_SEARCH_PARAMETERS);
        let weighted = fields.iter().take(limits::MAX_SEARCH_PARAMETERS).map(|field| {
            let (path, weight) = field.rsplit_once('^').unwrap_or((field, ""));
            let weight = weight.trim().parse().ok().filter(|w: &f32| *w > 0.0 && w.is_finite());
            WeightedField { path: path_of(path), weight: weight.unwrap_or(1.0) }
        });
        Some(weighted.filter(|field| !field.path.is_empty()).collect())
    }

    fn circles(&mut self, filters: &[(String, String)]) -> Vec<Circle> {
        if !self.is_within("geo_filters", "filters", filters.len(), limits::MAX_SEARCH_PARAMETERS) {
            return Vec::new();
        }
        let mut circles = Vec::new();
        for (path, text) in filters {
            match geo_filter::parse(path_of(path), text) {
                Some(circle) => circles.push(circle),
                None => self.errors.add("geo_filters", geo_filter::INVALID),
            }
        }
        circles
    }

    fn order(&mut self, request: &SearchRequest) -> HitOrder {
        if let Some(seed) = request.random_seed {
            return HitOrder::Random(seed.to_bits());
        }
        let by = match request.order_by.as_deref().unwrap_or_default().trim() {
            "" => return HitOrder::Score { then: None },
            BY_SCORE if request.descending => return HitOrder::Score { then: None },
            BY_SCORE => return HitOrder::ScoreAscending,
            BY_DISTANCE => {
                if request.geo_filters.is_empty() {
                    self.errors.add("order_by", "_geo_distance requires geo_filters");
                }
                SortBy::Distance
            }
            path => {
                let text = path.strip_suffix(".keyword");
                SortBy::Path { path: path_of(text.unwrap_or(path)), as_text: text.is_some() }
            }
        };
        let then = PropertyOrder {
            by,
            descending: request.descending,
            missing_first: request.missing_first,
        };
        HitOrder::Score { then: Some(then) }
    }

    fn facets(&mut self, request: &SearchRequest) -> Vec<Facet> {
        let (texts, numbers) = (&request.aggregate_by, &request.aggregate_by_numeric);
        let (count, limit) = (texts.len() + numbers.len(), limits::MAX_SEARCH_AGGREGATIONS);
        if !self.is_within("aggregate_by", "aggregations", count, limit) {
            return Vec::new();
        }
        let facet =
            |field: &String, numeric| Facet { field: field.clone(), path: path_of(field), numeric };
        let texts = texts.iter().map(|field| facet(field, false));
        texts.chain(numbers.iter().map(|field| facet(field, true))).collect()
    }

    fn is_within(&mut self, name: &str, what: &str, count: usize, limit: usize) -> bool {
        if count > limit {
            self.errors.add(name, format!("Too many {what}, limit: {limit}"));
        }
        count <= limit
    }
}

/// Returns a path as in the index: dotted, without array indexes, and without `.dataUrl` of links.
fn path_of(text: &str) -> String {
    let text = text.trim();
    let text = text.strip_prefix("$.").unwrap_or(text);
    let mut path = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('[') {
        path.push_str(before);
        rest = match after.split_once(']') {
            Some((index, after)) if is_index(index) => after,
            _ => {
                path.push('[');
                after
            }
        };
    }
    path.push_str(rest);
    if path.ends_with(".dataUrl") {
        path.truncate(path.len() - ".dataUrl".len());
    }
    // Deprecated names, as in lists: docs/reference/objects.md#object-format.
    match path.strip_prefix("internal.").and_then(InternalField::from_parameter) {
        Some(field) => format!("internal.{}", field.as_str()),
        None => path,
    }
}

fn is_index(text: &str) -> bool {
    text == "*" || !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
