//! The OpenAPI document independent of a version.
//!
//! [`super::content`] and [`super::system`] create it, [`super::v3`] and [`super::v2`] print it. It
//! knows neither content types nor JSON keywords.

use serde_json::{Number, Value};

/// A complete document.
pub(super) struct Document {
    /// The public URL of the API: scheme, host, and an optional path.
    pub(super) base_url: String,
    pub(super) tags: Vec<String>,
    /// Groups of tags by heading.
    pub(super) tag_groups: Vec<(&'static str, Vec<String>)>,
    /// Operations of one path are adjacent.
    pub(super) operations: Vec<Operation>,
    pub(super) schemas: Vec<(String, Schema)>,
    /// Requests may be authenticated by the cookie of a session instead of a key.
    pub(super) sessions: bool,
}

/// One method of one path.
#[derive(Default)]
pub(super) struct Operation {
    pub(super) method: &'static str,
    pub(super) path: String,
    pub(super) id: String,
    pub(super) summary: String,
    pub(super) tag: String,
    pub(super) security: Security,
    pub(super) parameters: Vec<Parameter>,
    pub(super) body: Option<Content>,
    /// A request may have no body.
    pub(super) body_is_optional: bool,
    pub(super) responses: Vec<ApiResponse>,
}

impl Operation {
    pub(super) fn new(method: &'static str, path: &str, id: &str, summary: &str) -> Self {
        let [path, id, summary] = [path, id, summary].map(str::to_owned);
        Self { method, path, id, summary, ..Self::default() }
    }

    pub(super) fn get(path: &str, id: &str, summary: &str) -> Self {
        Self::new("get", path, id, summary)
    }

    pub(super) fn post(path: &str, id: &str, summary: &str) -> Self {
        Self::new("post", path, id, summary)
    }

    pub(super) fn put(path: &str, id: &str, summary: &str) -> Self {
        Self::new("put", path, id, summary)
    }

    pub(super) fn delete(path: &str, id: &str, summary: &str) -> Self {
        Self::new("delete", path, id, summary)
    }

    pub(super) fn tag(mut self, tag: &str) -> Self {
        tag.clone_into(&mut self.tag);
        self
    }

    pub(super) fn security(self, security: Security) -> Self {
        Self { security, ..self }
    }

    pub(super) fn parameters(mut self, parameters: impl IntoIterator<Item = Parameter>) -> Self {
        self.parameters.extend(parameters);
        self
    }

    pub(super) fn body(mut self, schema: Schema) -> Self {
        self.body = Some(Content { media_type: JSON, schema });
        self
    }

    /// A body with the properties of an object as fields of a form.
    pub(super) fn form(mut self, schema: Schema) -> Self {
        self.body = Some(Content { media_type: FORM, schema });
        self
    }

    pub(super) fn respond(mut self, responses: impl IntoIterator<Item = ApiResponse>) -> Self {
        self.responses.extend(responses);
        self
    }
}

/// What an operation requires of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Security {
    /// What the document requires: a key, or a session.
    #[default]
    Default,
    /// Nothing.
    Public,
    Session,
}

/// A parameter in the path, the query or a header.
pub(super) struct Parameter {
    pub(super) name: &'static str,
    pub(super) location: ParameterLocation,
    pub(super) description: &'static str,
    pub(super) required: bool,
    pub(super) schema: Schema,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ParameterLocation {
    Path,
    Query,
    /// A map in the query: `name[key]=value`.
    QueryMap,
    Header,
}

impl ParameterLocation {
    /// The value of `in`, the same in all versions.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Query | Self::QueryMap => "query",
            Self::Header => "header",
        }
    }
}

impl Parameter {
    pub(super) fn path(name: &'static str, description: &'static str, schema: Schema) -> Self {
        Self { name, location: ParameterLocation::Path, description, required: true, schema }
    }

    pub(super) fn query(name: &'static str, description: &'static str, schema: Schema) -> Self {
        Self { name, location: ParameterLocation::Query, description, required: false, schema }
    }

    pub(super) fn map(name: &'static str, description: &'static str, schema: Schema) -> Self {
        Self { name, location: ParameterLocation::QueryMap, description, required: false, schema }
    }

    /// A text in the query.
    pub(super) fn text(name: &'static str, description: &'static str) -> Self {
        Self::query(name, description, Schema::text())
    }

    /// A boolean in the query.
    pub(super) fn flag(name: &'static str, description: &'static str) -> Self {
        Self::query(name, description, Schema::boolean())
    }

    /// A header parameter with a pattern.
    pub(super) fn header(name: &'static str, description: &'static str, pattern: &str) -> Self {
        let schema = Schema::pattern(pattern);
        Self { name, location: ParameterLocation::Header, description, required: false, schema }
    }

    pub(super) fn required(self) -> Self {
        Self { required: true, ..self }
    }
}

pub(super) const JSON: &str = "application/json";
pub(super) const FORM: &str = "multipart/form-data";
/// Any media type.
pub(super) const ANY: &str = "*/*";

/// The body of a request or response.
pub(super) struct Content {
    pub(super) media_type: &'static str,
    pub(super) schema: Schema,
}

/// The response of one status.
pub(super) struct ApiResponse {
    pub(super) status: u16,
    pub(super) description: &'static str,
    pub(super) content: Option<Content>,
    pub(super) example: Option<Value>,
}

impl ApiResponse {
    pub(super) fn json(status: u16, description: &'static str, schema: Schema) -> Self {
        Self::new(status, description, Content { media_type: JSON, schema })
    }

    /// With a file of any media type.
    pub(super) fn file(status: u16, description: &'static str) -> Self {
        let schema = SchemaKind::File.into();
        Self::new(status, description, Content { media_type: ANY, schema })
    }

    pub(super) fn new(status: u16, description: &'static str, content: Content) -> Self {
        Self { status, description, content: Some(content), example: None }
    }

    /// Without a body.
    pub(super) fn empty(status: u16, description: &'static str) -> Self {
        Self { status, description, content: None, example: None }
    }

    pub(super) fn example(self, example: Value) -> Self {
        Self { example: Some(example), ..self }
    }
}

/// The schema of a value.
#[derive(Clone, Default)]
pub(super) struct Schema {
    pub(super) kind: SchemaKind,
    pub(super) description: Option<String>,
    pub(super) default: Option<Value>,
    pub(super) example: Option<Value>,
    /// Null is also valid.
    pub(super) nullable: bool,
}

#[derive(Clone, Default)]
pub(super) enum SchemaKind {
    /// Any value.
    #[default]
    Any,
    /// A schema of the document, by name.
    Reference(String),
    Null,
    Boolean,
    Number(Range),
    Text(TextSchema),
    /// The bytes of a file.
    File,
    List(Box<ListSchema>),
    Object(ObjectSchema),
    /// All of the parts.
    All(Composed),
    /// At least one of the alternatives; any value in versions without `anyOf`.
    AnyOf(Vec<Schema>),
}

#[derive(Clone, Default)]
pub(super) struct Range {
    pub(super) integer: bool,
    pub(super) minimum: Option<Number>,
    pub(super) maximum: Option<Number>,
}

#[derive(Clone, Default)]
pub(super) struct TextSchema {
    pub(super) min_length: u64,
    pub(super) max_length: Option<u64>,
    pub(super) pattern: Option<String>,
    /// The allowed values; any when empty.
    pub(super) options: Vec<String>,
}

#[derive(Clone, Default)]
pub(super) struct ListSchema {
    pub(super) items: Schema,
    pub(super) min: u64,
    pub(super) max: Option<u64>,
}

#[derive(Clone, Default)]
pub(super) struct ObjectSchema {
    pub(super) properties: Vec<(String, Schema)>,
    pub(super) required: Vec<String>,
    pub(super) additional_properties: AdditionalProperties,
}

/// The values that an object may have besides its properties.
#[derive(Clone, Default)]
pub(super) enum AdditionalProperties {
    #[default]
    Allowed,
    Forbidden,
    Of(Box<Schema>),
}

#[derive(Clone, Default)]
pub(super) struct Composed {
    pub(super) parts: Vec<Schema>,
    pub(super) required: Vec<String>,
    /// No properties besides those of the parts; ignored in versions that cannot express it.
    pub(super) closed: bool,
}

impl From<SchemaKind> for Schema {
    fn from(kind: SchemaKind) -> Self {
        Self { kind, ..Self::default() }
    }
}

impl Schema {
    pub(super) fn reference(name: impl Into<String>) -> Self {
        SchemaKind::Reference(name.into()).into()
    }

    pub(super) fn anything() -> Self {
        SchemaKind::Any.into()
    }

    pub(super) fn text() -> Self {
        SchemaKind::Text(TextSchema::default()).into()
    }

    /// A text that matches a pattern.
    pub(super) fn pattern(pattern: &str) -> Self {
        let pattern = Some(pattern.to_owned());
        SchemaKind::Text(TextSchema { pattern, ..TextSchema::default() }).into()
    }

    pub(super) fn one_of(words: &[&str]) -> Self {
        let options = words.iter().map(|&word| word.to_owned()).collect();
        SchemaKind::Text(TextSchema { options, ..TextSchema::default() }).into()
    }

    pub(super) fn number() -> Self {
        SchemaKind::Number(Range::default()).into()
    }

    pub(super) fn integer() -> Self {
        SchemaKind::Number(Range { integer: true, ..Range::default() }).into()
    }

    /// A number in a range.
    pub(super) fn between(minimum: u64, maximum: Option<u64>) -> Self {
        let (minimum, maximum) = (Some(minimum.into()), maximum.map(Number::from));
        SchemaKind::Number(Range { integer: false, minimum, maximum }).into()
    }

    pub(super) fn integer_between(minimum: i64, maximum: i64) -> Self {
        let (minimum, maximum) = (Some(minimum.into()), Some(maximum.into()));
        SchemaKind::Number(Range { integer: true, minimum, maximum }).into()
    }

    pub(super) fn boolean() -> Self {
        SchemaKind::Boolean.into()
    }

    pub(super) fn list(items: Self) -> Self {
        Self::list_between(items, 0, None)
    }

    pub(super) fn list_between(items: Self, min: u64, max: Option<u64>) -> Self {
        SchemaKind::List(Box::new(ListSchema { items, min, max })).into()
    }

    /// An object with these and optionally other properties.
    pub(super) fn object(
        properties: impl IntoIterator<Item = (&'static str, Self)>,
        required: &[&str],
    ) -> Self {
        let properties = properties.into_iter().map(|(name, schema)| (name.to_owned(), schema));
        let required = required.iter().map(|&name| name.to_owned());
        SchemaKind::Object(ObjectSchema {
            properties: properties.collect(),
            required: required.collect(),
            additional_properties: AdditionalProperties::Allowed,
        })
        .into()
    }

    /// An object whose properties are all present.
    pub(super) fn record(properties: impl IntoIterator<Item = (&'static str, Self)>) -> Self {
        let properties = Vec::from_iter(properties);
        let required: Vec<&str> = properties.iter().map(|(name, _)| *name).collect();
        Self::object(properties, &required)
    }

    /// Makes some properties of a record optional.
    pub(super) fn optional(mut self, names: &[&str]) -> Self {
        if let SchemaKind::Object(object) = &mut self.kind {
            object.required.retain(|name| !names.contains(&name.as_str()));
        }
        self
    }

    /// An object whose values all have this schema.
    pub(super) fn map(values: Self) -> Self {
        let additional_properties = AdditionalProperties::Of(Box::new(values));
        SchemaKind::Object(ObjectSchema { additional_properties, ..ObjectSchema::default() }).into()
    }

    pub(super) fn all(parts: Vec<Self>) -> Self {
        SchemaKind::All(Composed { parts, ..Composed::default() }).into()
    }

    pub(super) fn any_of(alternatives: Vec<Self>) -> Self {
        SchemaKind::AnyOf(alternatives).into()
    }

    pub(super) fn described(self, description: impl Into<String>) -> Self {
        Self { description: Some(description.into()), ..self }
    }

    /// Sets the default.
    pub(super) fn with_default(self, default: impl Into<Value>) -> Self {
        Self { default: Some(default.into()), ..self }
    }

    pub(super) fn example(self, example: impl Into<Value>) -> Self {
        Self { example: Some(example.into()), ..self }
    }

    pub(super) fn or_null(self) -> Self {
        Self { nullable: true, ..self }
    }

    /// Allows other properties explicitly; most schemas do not mention other properties.
    pub(super) fn open(mut self) -> Self {
        if let SchemaKind::Object(object) = &mut self.kind {
            object.additional_properties = AdditionalProperties::Of(Box::new(Self::anything()));
        }
        self
    }

    /// Forbids properties besides the declared ones.
    pub(super) fn closed(mut self) -> Self {
        match &mut self.kind {
            SchemaKind::Object(object) => {
                object.additional_properties = AdditionalProperties::Forbidden;
            }
            SchemaKind::All(composed) => composed.closed = true,
            _ => {}
        }
        self
    }
}
