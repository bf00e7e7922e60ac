//! Searches from arbitrary text, for fuzz targets.

use crate::{
    limits,
    search::query::{Search, SearchQuery},
    wire::search::{QueryMode, SearchRequest},
};

/// Parses a search whose parameters all come from one text, and checks that its cost is limited.
///
/// # Panics
/// When the parsed search has more conditions than the limits allow.
pub fn read_search(text: &str) {
    for mode in [QueryMode::Default, QueryMode::Exact, QueryMode::Fuzzy] {
        let parts = || text.split('&').map(str::to_owned);
        let pairs = || text.split('&').filter_map(|pair| pair.split_once('=')).map(owned);
        let request = SearchRequest {
            q: Some(text.to_owned()),
            fields: Some(parts().collect()),
            filters: pairs().collect(),
            post_filters: pairs().collect(),
            geo_filters: pairs().collect(),
            order_by: parts().next_back(),
            aggregate_by: parts().collect(),
            mode,
            ..SearchRequest::default()
        };
        let lenient = SearchRequest { fields: None, geo_filters: Vec::new(), ..request.clone() };
        for request in [request, lenient] {
            if let Ok(search) = Search::read(&request) {
                let limit = limits::MAX_SEARCH_WORDS * 2;
                assert!(conditions(&search.query) <= limit, "{text:?}");
                assert!(
                    conditions(&search.filter) <= limit * limits::MAX_SEARCH_PARAMETERS,
                    "{text:?}"
                );
            }
        }
    }
}

fn owned((name, value): (&str, &str)) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

/// The number of conditions of a query.
fn conditions(query: &SearchQuery) -> usize {
    match query {
        SearchQuery::All | SearchQuery::None => 0,
        SearchQuery::Field { .. } => 1,
        SearchQuery::Boost(query, _) => conditions(query),
        SearchQuery::Boolean { must, should, must_not } => {
            must.iter().chain(should).chain(must_not).map(conditions).sum()
        }
    }
}
