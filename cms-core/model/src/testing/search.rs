//! Searches made of any text, for fuzzers.

use crate::{
    limits,
    search::query::{Query, Search},
    wire::search::{QueryMode, SearchRequest},
};

/// Reads a search whose parameters are all made of one text, and checks that what it may cost is
/// bounded.
///
/// # Panics
/// When there are more conditions than the limits allow; never because of what the text says.
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
                let most = limits::MAX_SEARCH_WORDS * 2;
                assert!(conditions(&search.query) <= most, "{text:?}");
                assert!(
                    conditions(&search.filter) <= most * limits::MAX_SEARCH_PARAMETERS,
                    "{text:?}"
                );
            }
        }
    }
}

fn owned((name, value): (&str, &str)) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

/// How many conditions a query has. Its depth is bounded, so this ends.
fn conditions(query: &Query) -> usize {
    match query {
        Query::All | Query::None => 0,
        Query::Field { .. } => 1,
        Query::Boost(query, _) => conditions(query),
        Query::Boolean { must, should, must_not } => {
            must.iter().chain(should).chain(must_not).map(conditions).sum()
        }
    }
}
