//! The schemas and operations of one content type (contract 9.3, 9.5).

use serde_json::{Map, Value, json};

use super::{
    components::{
        self, BATCH_DONE, BATCH_REFUSED, LIST, OBJECT, SENT_OBJECT, VERSIONS_LIST, conditional,
        datable, denied_or_missing, invalid, known, paged, refused, repeatable, unreadable,
    },
    ir::{Composed, Kind, Object, Operation, Parameter, Response, Rest, Schema},
    names::Names,
    property::{self, DATA_SOURCE, Items, Stored},
};
use crate::{
    auth::scope::Access,
    content_type::model::{Definition, InputType, Property, SchemaType},
    limits,
    message::{ALREADY_USED, required, too_short, wrong_type},
    wire::publish::PublishAction,
};

/// A content type that is described.
pub(super) struct Subject<'a> {
    pub(super) definition: &'a Definition,
    pub(super) properties: &'a [Property],
    pub(super) names: Names,
    /// What the key may do with its objects.
    pub(super) access: Access,
}

impl Subject<'_> {
    pub(super) fn name(&self) -> &str {
        &self.definition.name
    }

    pub(super) fn tag(&self) -> String {
        format!("Content: {}", self.definition.label)
    }

    fn sent(&self) -> Schema {
        Schema::reference(format!("{}WithoutInternal", self.name()))
    }

    fn shown(&self) -> Schema {
        Schema::reference(self.name())
    }

    /// The five schemas of the type. `relations` says what relations hold that are read.
    pub(super) fn schemas(&self, relations: &Items<'_>) -> Vec<(String, Schema)> {
        let name = self.name();
        let links: &Items<'_> = &|_| Schema::reference(DATA_SOURCE);
        let required = property::required(self.properties);
        let sent = self.composed(SENT_OBJECT, links, required.clone(), &[]);
        let shown = self.composed(OBJECT, relations, required, &["id", "internal"]);
        let patch = self.composed(OBJECT, links, Vec::new(), &[]);
        let versions = vec![Schema::reference(LIST), Schema::reference(VERSIONS_LIST)];
        vec![
            (format!("{name}WithoutInternal"), sent.example(self.example(false))),
            (name.to_owned(), shown.example(self.example(true))),
            (format!("{name}WithoutRequired"), patch.example(self.example(false))),
            (self.names.list.clone(), paged(self.shown())),
            (format!("{name}VersionsList"), Schema::all(versions)),
        ]
    }

    /// The own properties besides those that every object has, of which some are `present`.
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
        let own = Schema::from(Kind::Object(Object {
            properties: property::properties(self.properties, stored, items),
            required: present.iter().map(|&name| name.to_owned()).collect(),
            rest: Rest::Anything,
        }));
        let parts = vec![Schema::reference(base), own];
        Kind::All(Composed { parts, required, closed: true }).into()
    }

    /// A whole object, for people.
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

    /// Faults that a body may have, for people.
    fn faults(&self) -> Value {
        let mut faults = Map::new();
        faults.insert("id".to_owned(), json!([ALREADY_USED]));
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
                messages.push("The value does not match possible options".to_owned());
            }
            if property.input_type == InputType::Datasource {
                messages.push("This value does not exist in database".to_owned());
            }
            if !messages.is_empty() {
                faults.insert(property.name.clone(), json!(messages));
            }
        }
        faults.into()
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
                .respond([done(self.shown()), invalid(self.faults())])
                .respond(denied_or_missing())
                .respond(unreadable())
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
            .respond([done(self.shown())])
            .respond(denied_or_missing());
        let delete = self
            .operation("delete", "/{id}", "delete", "Delete an object")
            .respond([
                Response::empty(204, "It is deleted"),
                refused("This content object is used in another content object."),
            ])
            .respond(denied_or_missing());
        let create = self.operation("post", "", "create", "Create an object");
        let update = self.operation("put", "/{id}", "update", "Replace an object");
        let patch = self.operation("patch", "/{id}", "patch", "Change properties of an object");
        vec![
            (Access::READ, known(list)),
            (Access::CREATE, datable(repeatable(write(create, self.sent())))),
            (Access::READ, known(get)),
            (Access::UPDATE, conditional(write(update, self.sent()))),
            (Access::UPDATE, conditional(write(patch, without_required))),
            (Access::DELETE, conditional(delete)),
        ]
    }

    fn batches(&self) -> Vec<(Access, Operation)> {
        let write = |operation: Operation| {
            let reference = Schema::reference;
            operation
                .body(Schema::list(self.sent()))
                .respond([
                    Response::json(200, "All were saved", reference(BATCH_DONE)),
                    Response::json(400, "Some were refused", reference(BATCH_REFUSED)),
                ])
                .respond(denied_or_missing())
                .respond(unreadable())
        };
        let create = self
            .operation("post", "/batch", "batchCreate", "Create many objects")
            .parameters([Parameter::query(
                "updateExisting",
                "Replace objects that exist already",
                Schema::boolean().unless_given(false),
            )]);
        let patch = self.operation("patch", "/batch", "batchPatch", "Change many objects");
        let deleted = Schema::object([("deletedCount", Schema::number())], &["deletedCount"]);
        let delete = self
            .operation("post", "/batch-delete", "batchDelete", "Delete many objects")
            .body(Schema::list(Schema::text()))
            .respond([
                Response::json(200, "How many were deleted", deleted),
                refused("Content object: \"a\" doesn't exist"),
            ])
            .respond(denied_or_missing())
            .respond(unreadable());
        vec![
            (Access::CREATE, datable(repeatable(write(create)))),
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
            .respond([Response::json(200, "The object as it was", self.shown())])
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
            (Access::READ, known(list)),
            (Access::READ, known(get)),
            (Access::READ_REMOVED, removed),
        ]
    }

    /// Single actions, then those on many objects.
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
                Response::empty(204, "It is done"),
                refused("Action \"archive\" is not allowed in status \"draft\""),
            ])
            .respond(denied_or_missing())
        };
        let many = |action: PublishAction| {
            let (verb, summary) = words(action);
            let id = format!("batch{summary}");
            let most = Some(limits::MAX_PUBLISH_BATCH_IDS as u64);
            self.operation(
                "post",
                &format!("/batch-{verb}"),
                &id,
                &format!("{summary} many objects"),
            )
            .body(Schema::list_between(Schema::text(), 0, most))
            .respond([Response::empty(204, "It is done"), too_many()])
            .respond(denied_or_missing())
            .respond(unreadable())
        };
        let single = PublishAction::ALL.map(one).map(conditional);
        single
            .into_iter()
            .chain(PublishAction::ALL.map(many))
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

/// 400 of an action on many objects: too many, a body of another shape, or no Draft & Public.
fn too_many() -> Response {
    let most = limits::MAX_PUBLISH_BATCH_IDS;
    let example =
        json!({ "batch_limit": most, "data": [format!("Batch limit exceeded, limit: {most}")] });
    Response::json(400, "Why nothing was done", Schema::map(Schema::anything())).example(example)
}

fn object_id() -> Parameter {
    Parameter::path("id", "Id of the object", components::id())
}

fn bad_filters() -> Response {
    invalid(json!({ "filters": ["Malformed filters json - Syntax error"] }))
}

fn levels(most: u64) -> Schema {
    Schema::between(0, Some(most)).unless_given(0)
}

/// How deep links are replaced by objects.
pub(super) fn hydrate() -> Parameter {
    let most = u64::from(limits::MAX_HYDRATION_DEPTH);
    Parameter::query("hydrate", "How deep links are replaced by objects", levels(most))
}

/// Page, its size, order and direction.
pub(super) fn paging() -> [Parameter; 4] {
    let order = Schema::text().unless_given("internal.createdAt");
    let direction = Schema::one_of_words(&["asc", "desc"]).unless_given("asc");
    [
        Parameter::query("page", "Number of the page", Schema::between(1, None).unless_given(1)),
        Parameter::query(
            "limit",
            "Entries of a page",
            Schema::between(1, None).unless_given(limits::DEFAULT_PAGE_SIZE),
        ),
        Parameter::query("order_by", "Property to order by", order),
        Parameter::query("order_direction", "Direction of the order", direction),
    ]
}

fn list_parameters() -> Vec<Parameter> {
    let mut parameters = Vec::from(paging());
    let filters = "Conditions by property, as JSON";
    parameters.push(hydrate());
    parameters.push(Parameter::query("filters", filters, Schema::text().unless_given("{}")));
    parameters.push(Parameter::query(
        "ids[]",
        "Only objects with these ids",
        Schema::list(Schema::text()),
    ));
    parameters
}
