//! Reads a request (contract 6.1) into a [`Search`].
//!
//! | module | what it reads |
//! |---|---|
//! | here | the parameters, each by its own rule |
//! | [`grammar`] | the query language: operators, groups, fields |
//! | [`term`] | what operators stand between: words, phrases, wildcards, ranges |
//! | [`cursor`] | the signs of the language |
//! | [`circle`] | filters by distance |
//!
//! Knows no types: whether a property exists, and what it holds, shows in the index. All faults of
//! a request are told at once.

mod circle;
mod cursor;
mod grammar;
mod term;
#[cfg(test)]
mod tests;

use grammar::Reading;
use term::{Terms, Typing};

use super::query::{By, Circle, Facet, Order, Query, Search, Test, Then, Weighted};
use crate::{
    error::{FieldErrors, Result},
    limits, message,
    query::path::InternalField,
    wire::search::{QueryMode, SearchRequest},
};

const BY_SCORE: &str = "_score";
const BY_DISTANCE: &str = "_geo_distance";

impl Search {
    /// Reads what does not depend on who asks: pages, types and their boosts are for the service.
    pub fn read(request: &SearchRequest) -> Result<Self> {
        let mut reader =
            Reader { errors: FieldErrors::default(), expansions: 0, fields_per_word: 1 };
        let fields = reader.fields(request.fields.as_deref());
        reader.fields_per_word = fields.as_ref().map_or(1, Vec::len).max(1);
        let mut query = reader.query(request.q.as_deref(), request.mode);
        if fields.as_ref().is_some_and(Vec::is_empty) {
            query = Query::None;
        }
        // From here on every condition has a field of its own.
        reader.fields_per_word = 1;
        let search = Self {
            query,
            fields,
            filter: reader.filters("filters", &request.filters),
            post_filter: reader.filters("post_filters", &request.post_filters),
            circles: reader.circles(&request.geo_filters),
            order: reader.order(request),
            decay_old: request.decay_old,
            facets: reader.facets(request),
        };
        reader.errors.into_result()?;
        Ok(search)
    }
}

/// Collects what is wrong, and what the parts of a request cost together.
struct Reader {
    errors: FieldErrors,
    expansions: usize,
    /// In how many fields a word is looked for.
    fields_per_word: usize,
}

impl Reader {
    fn query(&mut self, q: Option<&str>, mode: QueryMode) -> Query {
        let Some(q) = q else {
            self.errors.add("q", message::required("q"));
            return Query::All;
        };
        let text = q.trim();
        if text.is_empty() || text == "*" {
            return Query::All;
        }
        let typing = if mode == QueryMode::Fuzzy { Typing::ByLength } else { Typing::Exact };
        let terms = Terms { needs_all: false, typing };
        let reading = match mode {
            QueryMode::Exact => grammar::exact(text),
            QueryMode::Default | QueryMode::Fuzzy => grammar::read(text, None, terms),
        };
        self.account("q", reading)
    }

    /// What each of them asks, of its field only.
    fn filters(&mut self, name: &str, filters: &[(String, String)]) -> Query {
        if !self.is_within(name, "filters", filters.len(), limits::MAX_SEARCH_PARAMETERS) {
            return Query::All;
        }
        let terms = Terms { needs_all: true, typing: Typing::Exact };
        let mut all = Vec::new();
        for (path, text) in filters {
            let (path, text) = (path_of(path), text.trim());
            all.push(match text {
                _ if path.is_empty() => Query::None,
                "" => continue,
                "*" => Query::Field { path: Some(path), test: Test::Exists },
                _ => self.account(name, grammar::read(text, Some(&path), terms)),
            });
        }
        grammar::all_of(all, Vec::new()).unwrap_or(Query::All)
    }

    /// Words that have neither letters nor digits find nothing.
    fn account(&mut self, name: &str, reading: Reading) -> Query {
        if reading.words > limits::MAX_SEARCH_WORDS {
            self.errors.add(name, format!("Too many words, limit: {}", limits::MAX_SEARCH_WORDS));
        } else if reading.words * self.fields_per_word > limits::MAX_SEARCH_TERMS {
            let limit = limits::MAX_SEARCH_TERMS;
            self.errors.add(name, format!("Too many words for so many fields, limit: {limit}"));
        }
        let (before, limit) = (self.expansions, limits::MAX_SEARCH_EXPANSIONS);
        self.expansions += reading.expansions * self.fields_per_word;
        if before <= limit && self.expansions > limit {
            self.errors.add(name, format!("Too many wildcards and fuzzy words, limit: {limit}"));
        }
        reading.query.unwrap_or(Query::None)
    }

    fn fields(&mut self, fields: Option<&[String]>) -> Option<Vec<Weighted>> {
        let fields = fields?;
        self.is_within("fields", "fields", fields.len(), limits::MAX_SEARCH_PARAMETERS);
        let weighted = fields.iter().take(limits::MAX_SEARCH_PARAMETERS).map(|field| {
            let (path, weight) = field.rsplit_once('^').unwrap_or((field, ""));
            let weight = weight.trim().parse().ok().filter(|w: &f32| *w > 0.0 && w.is_finite());
            Weighted { path: path_of(path), weight: weight.unwrap_or(1.0) }
        });
        Some(weighted.filter(|field| !field.path.is_empty()).collect())
    }

    fn circles(&mut self, filters: &[(String, String)]) -> Vec<Circle> {
        if !self.is_within("geo_filters", "filters", filters.len(), limits::MAX_SEARCH_PARAMETERS) {
            return Vec::new();
        }
        let mut circles = Vec::new();
        for (path, text) in filters {
            match circle::read(path_of(path), text) {
                Some(circle) => circles.push(circle),
                None => self.errors.add("geo_filters", circle::FAULT),
            }
        }
        circles
    }

    fn order(&mut self, request: &SearchRequest) -> Order {
        if let Some(seed) = request.random_seed {
            return Order::Random(seed.to_bits());
        }
        let by = match request.order_by.as_deref().unwrap_or_default().trim() {
            "" => return Order::Score { then: None },
            BY_SCORE if request.descending => return Order::Score { then: None },
            BY_SCORE => return Order::WorstFirst,
            BY_DISTANCE => {
                if request.geo_filters.is_empty() {
                    self.errors.add("order_by", "_geo_distance requires geo_filters");
                }
                By::Distance
            }
            path => {
                let text = path.strip_suffix(".keyword");
                By::Path { path: path_of(text.unwrap_or(path)), as_text: text.is_some() }
            }
        };
        let then =
            Then { by, descending: request.descending, missing_first: request.missing_first };
        Order::Score { then: Some(then) }
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

/// Returns a path as the index has it: dotted, without indexes, and links at their property.
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
    // Obsolete spellings, as lists take them (contract 3.1).
    match path.strip_prefix("internal.").and_then(InternalField::parse) {
        Some(field) => format!("internal.{}", field.as_str()),
        None => path,
    }
}

fn is_index(text: &str) -> bool {
    text == "*" || !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
