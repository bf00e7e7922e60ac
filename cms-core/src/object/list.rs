//! What a list request asks for: conditions, order and slice as a query, and the conditions that
//! mean nothing. [`super::service`] runs it.

use cms_model::{
    content_type::catalog::CompiledType,
    error::{Error, Result},
    object::view::View,
    paging::ListRange,
    query::{ListQuery, filter},
    wire::object::ListRequest,
};

use super::service::Objects;

impl Objects<'_> {
    /// Returns the paths of the `filters` of a list that its type does not declare: they behave as
    /// missing values.
    pub fn unknown_filters(&self, name: &str, filters: &str) -> Vec<String> {
        let catalog = self.cms.catalog.held();
        let properties = catalog.find(name).map_or(&[][..], |known| &known.properties);
        filter::unknown_paths(filters, properties)
    }
}

/// Reads what a list request asks for.
pub(super) fn query(
    request: &ListRequest,
    slice: ListRange,
    content_type: &CompiledType,
    view: View,
) -> Result<ListQuery> {
    let properties = &content_type.properties;
    let filters = request.filters.as_deref().unwrap_or_default();
    let mut conditions = filter::parse(filters, properties).map_err(Error::Invalid)?;
    for condition in &mut conditions {
        condition.path = view.mask_path(condition.path.clone());
    }
    Ok(ListQuery {
        conditions,
        order: view.mask_path(ListQuery::order(request.order_by.as_deref(), properties)),
        descending: request.descending,
        empty_first: request.empty_first,
        ids: request.ids.clone(),
        edition: view.edition,
        only_approved: view.only_approved,
        slice,
    })
}
