//! The schemas and operations of one content type (see docs/reference/openapi.md#paths-of-a-type).

use serde_json::{Map, Value, json};

use super::{
    components::{
        self, BATCH_ERROR, BATCH_SUCCESS, INPUT_OBJECT, LIST, OBJECT, VERSIONS_LIST, body_errors,
        cacheable, conditional, denied_or_missing, idempotent, invalid, paged, rejected,
        with_keep_dates,
    },
    ir::{
        AdditionalProperties, Composed, Object, Operation, Parameter, Response, Schema, SchemaKind,
    },
    names::Names,
    property::{self, DATA_SOURCE, Items, Stored},
};
use crate::{
    auth::scope::Access,
    content_type::model::{Definition, InputType, Property, SchemaType},
    limits,
    message::{ALREADY_USED, NOT_AN_OPTION, NOT_IN_DATABASE, required, too_short, wrong_type},
    wire::publish::PublishAction,
};

/// A content type of the document.
pub(super) struct DocumentedType<'a> {
    pub(super) definition: &'a Definition,
    pub(super) properties: &'a [Property],
    pub(super) names: Names,
    /// The access of the key to its objects.
    pub(super) access: Access,
}

impl DocumentedType<'_> {
    pub(super) fn name(&self) -> &str {
        &self.definition.name
    }

    pub(super) fn tag(&self) -> String {
        format!("Content: {}", self.definition.label)
    }

    fn input_schema(&self) -> Schema {
        Schema::reference(format!("{}WithoutInternal", self.name()))
    }

    fn output_schema(&self) -> Schema {
        Schema::reference(self.name())
    }

    /// The five schemas of the type. `relations` returns the items of relations in responses.
    pub(super) fn schemas(&self, relations: &Items<'_>) -> Vec<(String, Schema)> {
        let name = self.name();
        let links: &Items<'_> = &|_| Schema::reference(DATA_SOURCE);
        let required = property::required(self.properties);
        let input_schema = self.composed(INPUT_OBJECT, links, required.clone(), &[]);
        let output_schema = self.composed(OBJECT, relations, required, &["id", "internal"]);
        let patch = self.composed(OBJECT, links, Vec::new(), &[]);
        let versions = vec![Schema::reference(LIST), Schema::reference(VERSIONS_LIST)];
        vec![
            (format!("{name}WithoutInternal"), input_schema.example(self.example(false))),
            (name.to_owned(), output_schema.example(self.example(true))),
            (format!("{name}WithoutRequired"), patch.example(self.example(false))),
            (self.names.list.clone(), paged(self.output_schema())),
            (format!("{name}VersionsList"), Schema::all(versions)),
        ]
    }

    /// The properties of the type combined with the common ones, of which some are `present`.
    fn composed(
        &self,
        base: &str,
        items: &Items<'_>,
        required: Vec<String>,
        present: &[&str],
    ) -> Schema {
        let stored = Stored {
            schemas: &self.definition.schema_definition["allOf"][1]["properties"],
            configs: &self.definition.meta_definition["propertiesConfig"],
        };
        let own = Schema::from(SchemaKind::Object(Object {
            properties: property::properties(self.properties, stored, items),
            required: present.iter().map(|&name| name.to_owned()).collect(),
            additional_properties: AdditionalProperties::Allowed,
        }));
        let parts = vec![Schema::reference(base), own];
        SchemaKind::All(Composed { parts, required, closed: true }).into()
    }

    /// An example object.
    fn example(&self, with_internal: bool) -> Value {
        let mut example = Map::new();
        example.insert("id".to_owned(), format!("{}-1", self.name()).into());
        if with_internal {
            let created = "2020-01-22T14:34:36+00:00";
            let internal = json!({
                "contentType": self.name(),
                "createdAt": created,
                "updatedAt": created,
                "deletedAt": "",
                "workflowState": "saved",
                "objectTitle": "",
                "latestVersion": 1,
            });
            example.insert("internal".to_owned(), internal);
        }
        example.extend(property::examples(self.properties));
        example.into()
    }

    /// An example of validation errors.
    fn example_errors(&self) -> Value {
        let mut errors = Map::new();
        errors.insert("id".to_owned(), json!([ALREADY_USED]));
        for property in self.properties {
            let mut messages = Vec::new();
            if property.required {
                messages.push(required(&property.name));
                if property.schema_type == SchemaType::String {
                    messages.push(too_short(1));
                }
            }
            match property.schema_type {
                SchemaType::Number | SchemaType::Integer | SchemaType::Boolean => {
                    messages.push(wrong_type(&json!(""), property.schema_type.as_str()));
                }
                _ => {}
            }
            if !property.options.is_empty() {
                messages.push(NOT_AN_OPTION.to_owned());
            }
            if property.input_type == InputType::Datasource {
                messages.push(NOT_IN_DATABASE.to_owned());
            }
            if !messages.is_empty() {
                errors.insert(property.name.clone(), json!(messages));
            }
        }
        errors.into()
    }

    /// The operations that the key allows, those of one path together.
    pub(super) fn operations(&self) -> Vec<Operation> {
        let mut all = self.objects();
        all.extend(self.batches());
        all.extend(self.versions());
        if self.definition.draft_public {
            all.extend(self.publishing());
        }
        let tag = self.tag();
        let allowed = all.into_iter().filter(|(needs, _)| self.access.contains(*needs));
        allowed.map(|(_, operation)| operation.tag(&tag)).collect()
    }

    fn operation(&self, method: &'static str, rest: &str, verb: &str, summary: &str) -> Operation {
        let path = format!("/api/v1/content/{}{rest}", self.name());
        let id = format!("{}_{verb}", self.names.operation);
        let of_one = rest.starts_with("/{id}").then(object_id);
        Operation::new(method, &path, id)
            .summary(format!("{summary} ({})", self.definition.label))
            .parameters(of_one)
    }

    fn objects(&self) -> Vec<(Access, Operation)> {
        let done = |schema| Response::json(200, "The object", schema);
        let write = |operation: Operation, body: Schema| {
            operation
                .body(body)
                .respond([done(self.output_schema()), invalid(self.example_errors())])
                .respond(denied_or_missing())
                .respond(body_errors())
        };
        let without_required = Schema::reference(format!("{}WithoutRequired", self.name()));
        let list = Schema::reference(self.names.list.clone());
        let list = self
            .operation("get", "", "list", "List objects")
            .parameters(list_parameters())
            .respond([Response::json(200, "A page of objects", list), bad_filters()])
            .respond(denied_or_missing());
        let get = self
            .operation("get", "/{id}", "get", "Get an object")
            .parameters([hydrate()])
            .respond([done(self.output_schema())])
            .respond(denied_or_missing());
        let delete = self
            .operation("delete", "/{id}", "delete", "Delete an object")
            .respond([
                Response::empty(204, "Deleted"),
                rejected("This content object is used in another content object."),
            ])
            .respond(denied_or_missing());
        let create = self.operation("post", "", "create", "Create an object");
        let update = self.operation("put", "/{id}", "update", "Replace an object");
        let patch = self.operation("patch", "/{id}", "patch", "Change properties of an object");
        vec![
            (Access::READ, cacheable(list)),
            (Access::CREATE, with_keep_dates(idempotent(write(create, self.input_schema())))),
            (Access::READ, cacheable(get)),
            (Access::UPDATE, conditional(write(update, self.input_schema()))),
            (Access::UPDATE, conditional(write(patch, without_required))),
            (Access::DELETE, conditional(delete)),
        ]
    }

    fn batches(&self) -> Vec<(Access, Operation)> {
        let write = |operation: Operation| {
            let reference = Schema::reference;
            operation
                .body(Schema::list(self.input_schema()))
                .respond([
                    Response::json(200, "All objects were saved", reference(BATCH_SUCCESS)),
                    Response::json(400, "Some objects were rejected", reference(BATCH_ERROR)),
                ])
                .respond(denied_or_missing())
                .respond(body_errors())
        };
        let create = self
            .operation("post", "/batch", "batchCreate", "Create many objects")
            .parameters([Parameter::query(
                "updateExisting",
                "Replace objects that exist already",
                Schema::boolean().with_default(false),
            )]);
        let patch = self.operation("patch", "/batch", "batchPatch", "Change many objects");
        let deleted = Schema::object([("deletedCount", Schema::number())], &["deletedCount"]);
        let delete = self
            .operation("post", "/batch-delete", "batchDelete", "Delete many objects")
            .body(Schema::list(Schema::text()))
            .respond([
                Response::json(200, "Number of deleted objects", deleted),
                rejected("Content object: \"a\" doesn't exist"),
            ])
            .respond(denied_or_missing())
            .respond(body_errors());
        vec![
            (Access::CREATE, with_keep_dates(idempotent(write(create)))),
            (Access::UPDATE, write(patch)),
            (Access::DELETE, delete),
        ]
    }

    fn versions(&self) -> Vec<(Access, Operation)> {
        let list = Schema::reference(format!("{}VersionsList", self.name()));
        let [page, limit, _, direction] = paging();
        let list = self
            .operation("get", "/{id}/version", "listVersion", "List versions of an object")
            .parameters([page, limit, direction])
            .respond([Response::json(200, "A page of versions", list)])
            .respond(denied_or_missing());
        let number = Parameter::path("versionId", "Number of the version", Schema::text());
        let get = self
            .operation("get", "/{id}/version/{versionId}", "getVersions", "Get an old version")
            .parameters([number])
            .respond([Response::json(200, "The object as it was", self.output_schema())])
            .respond(denied_or_missing());
        let after = "Only deletions after this time";
        let removed = self
            .operation("get", "/removed", "getRemoved", "List ids of deleted objects")
            .parameters([Parameter::query("deletedAfter", after, Schema::text())])
            .respond([
                Response::json(200, "Ids, the oldest deletion first", Schema::list(Schema::text())),
                invalid(json!({ "deletedAfter": ["Wrong date format"] })),
            ])
            .respond(denied_or_missing());
        vec![
            (Access::READ, cacheable(list)),
            (Access::READ, cacheable(get)),
            (Access::READ_REMOVED, removed),
        ]
    }

    /// Actions on one object, then batch actions.
    fn publishing(&self) -> Vec<(Access, Operation)> {
        let depth = "With 1, do the same to objects that this one links to";
        let one = |action: PublishAction| {
            let (verb, summary) = words(action);
            self.operation(
                "post",
                &format!("/{{id}}/{verb}"),
                verb,
                &format!("{summary} an object"),
            )
            .parameters([Parameter::query("hydrate", depth, levels(1))])
            .respond([
                Response::empty(204, "Done"),
                rejected("Action \"archive\" is not allowed in status \"draft\""),
            ])
            .respond(denied_or_missing())
        };
        let batch = |action: PublishAction| {
            let (verb, summary) = words(action);
            let id = format!("batch{summary}");
            let limit = Some(limits::MAX_PUBLISH_BATCH_IDS as u64);
            self.operation(
                "post",
                &format!("/batch-{verb}"),
                &id,
                &format!("{summary} many objects"),
            )
            .body(Schema::list_between(Schema::text(), 0, limit))
            .respond([Response::empty(204, "Done"), too_many()])
            .respond(denied_or_missing())
            .respond(body_errors())
        };
        let single = PublishAction::ALL.map(one).map(conditional);
        single
            .into_iter()
            .chain(PublishAction::ALL.map(batch))
            .map(|o| (Access::UPDATE, o))
            .collect()
    }
}

fn words(action: PublishAction) -> (&'static str, &'static str) {
    let capital = match action {
        PublishAction::Publish => "Publish",
        PublishAction::Unpublish => "Unpublish",
        PublishAction::Archive => "Archive",
    };
    (action.as_str(), capital)
}

/// Status 400 of a batch action: too many objects, an invalid body, or no Draft & Public.
fn too_many() -> Response {
    let limit = limits::MAX_PUBLISH_BATCH_IDS;
    let example =
        json!({ "batch_limit": limit, "data": [format!("Batch limit exceeded, limit: {limit}")] });
    Response::json(400, "Validation errors; nothing was changed", Schema::map(Schema::anything()))
        .example(example)
}

fn object_id() -> Parameter {
    Parameter::path("id", "Id of the object", components::id())
}

fn bad_filters() -> Response {
    invalid(json!({ "filters": ["Malformed filters json - Syntax error"] }))
}

fn levels(limit: u64) -> Schema {
    Schema::between(0, Some(limit)).with_default(0)
}

/// The parameter `hydrate`.
pub(super) fn hydrate() -> Parameter {
    let limit = u64::from(limits::MAX_HYDRATION_DEPTH);
    Parameter::query("hydrate", "How deep links are replaced by objects", levels(limit))
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

fn list_parameters() -> Vec<Parameter> {
    let mut parameters = Vec::from(paging());
    let filters = "Conditions by property, as JSON";
    parameters.push(hydrate());
    parameters.push(Parameter::query("filters", filters, Schema::text().with_default("{}")));
    parameters.push(Parameter::query(
        "ids[]",
        "Only objects with these ids",
        Schema::list(Schema::text()),
    ));
    parameters
}
