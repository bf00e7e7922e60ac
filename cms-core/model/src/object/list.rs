//! A requested list of objects; its filters are not parsed yet.

use super::{model::Columns, view::View};
use crate::{
    content_type::catalog::CompiledType,
    error::{Error, Result},
    paging::ListRange,
    query::{
        ListQuery, filter,
        linked::{self, LinkScope},
    },
    wire::object::ListRequest,
};

/// A range of the objects of one type. Equal values describe equal lists, so caches use it as a
/// key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ObjectList {
    pub matching: Matching,
    order_by: Option<String>,
    descending: bool,
    empty_first: bool,
    range: ListRange,
    pub columns: Columns,
}

/// Selects the objects of a list, on all pages.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Matching {
    pub view: View,
    filters: Option<String>,
    ids: Option<Vec<String>>,
}

impl ObjectList {
    /// Uses `range` instead of the page in the request.
    pub fn new(request: &ListRequest, range: ListRange, view: View) -> Self {
        let (filters, ids) = (request.filters.clone(), request.ids.clone());
        Self {
            matching: Matching { view, filters, ids },
            order_by: request.order_by.clone(),
            descending: request.descending,
            empty_first: request.empty_first,
            range,
            columns: Columns::All,
        }
    }

    /// Total length of the texts in this value, in bytes.
    pub fn text_bytes(&self) -> usize {
        let Matching { filters, ids, .. } = &self.matching;
        let texts = [filters, &self.order_by].into_iter().flatten();
        texts.chain(ids.iter().flatten()).map(String::len).sum()
    }

    /// Parses filters and order. Links lead to objects in `scope`.
    ///
    /// # Errors
    /// [`Error::Invalid`] for filters that are not valid.
    pub fn query(&self, content_type: &CompiledType, scope: LinkScope<'_>) -> Result<ListQuery> {
        let properties = &content_type.properties;
        let Matching { view, filters, ids } = &self.matching;
        let filters = filters.as_deref().unwrap_or_default();
        let conditions = filter::parse(filters, properties).map_err(Error::Invalid)?;
        let mut query = ListQuery {
            order: view.mask_path(ListQuery::order(self.order_by.as_deref(), properties)),
            descending: self.descending,
            empty_first: self.empty_first,
            ids: ids.clone(),
            edition: view.edition,
            only_approved: view.only_approved,
            range: self.range,
            ..ListQuery::default()
        };
        linked::add_conditions(&mut query, conditions, (properties, *view), scope)
            .map_err(Error::Invalid)?;
        Ok(query)
    }
}
