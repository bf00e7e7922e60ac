//! Parameters that several operations have.

use super::{
    components::texts,
    ir::{Parameter, Schema},
};
use crate::limits;

/// The schema of a number of levels.
pub(super) fn levels(limit: u64) -> Schema {
    Schema::between(0, Some(limit)).with_default(0)
}

/// The parameter `hydrate`.
pub(super) fn hydrate() -> Parameter {
    let limit = u64::from(limits::MAX_HYDRATION_DEPTH);
    Parameter::query(
        "hydrate",
        "Number of levels on which links are replaced with objects",
        levels(limit),
    )
}

/// The parameter `limit` of a list whose pages are limited.
pub(super) fn limit(description: &'static str) -> Parameter {
    let limit = Schema::between(1, Some(u64::from(limits::MAX_PAGE_SIZE)));
    Parameter::query("limit", description, limit.with_default(limits::DEFAULT_PAGE_SIZE))
}

/// The parameters of a page: number, size, order and direction.
pub(super) fn paging() -> [Parameter; 4] {
    let order = Schema::text().with_default("internal.createdAt");
    let direction = Schema::one_of(&["asc", "desc"]).with_default("asc");
    [
        Parameter::query("page", "Number of the page", Schema::between(1, None).with_default(1)),
        Parameter::query(
            "limit",
            "Entries of a page",
            Schema::between(1, None).with_default(limits::DEFAULT_PAGE_SIZE),
        ),
        Parameter::query("order_by", "Property to order by", order),
        Parameter::query("order_direction", "Direction of the order", direction),
    ]
}

pub(super) fn list_parameters() -> Vec<Parameter> {
    let filters = "Conditions by property path, as a JSON object: {\"price\":{\"type\":\"lessThan\",\"filter\":10}}. \
                   See Filters in the description of the API";
    let others = [
        hydrate(),
        Parameter::query("filters", filters, Schema::text().with_default("{}")),
        Parameter::query("ids[]", "Only objects with these ids", texts()),
        fields("fields[]"),
        Parameter::flag("empty_first", "Objects without a value of `order_by` come first"),
    ];
    paging().into_iter().chain(others).collect()
}

/// A parameter that selects members of objects.
pub(super) fn fields(name: &'static str) -> Parameter {
    let what = "Only these paths of each object, dotted: title, internal.updatedAt, author.name; id is \
                always returned, and * is everything";
    let limit = Some(limits::MAX_FIELDS as u64);
    Parameter::query(name, what, Schema::list_between(Schema::text(), 0, limit))
}

/// `content_type[]`, which restricts a list to types.
pub(super) fn content_types() -> Parameter {
    Parameter::query("content_type[]", "Only of these types", texts())
}

/// `presence` of a stream of changes.
pub(super) fn presence() -> Parameter {
    Parameter::query("presence", "With 1, a stream has presence events too", Schema::one_of(&["1"]))
}

/// `page` and `limit` of a list.
pub(super) fn pages() -> [Parameter; 2] {
    let [page, limit, ..] = paging();
    [page, limit]
}
