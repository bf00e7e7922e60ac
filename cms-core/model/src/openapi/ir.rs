//! An API description in no version of OpenAPI: what all of them can say, in one form.
//!
//! [`super::content`] and [`super::system`] make it, the writers ([`super::v3`], [`super::v2`]) print
//! it. It knows neither content types nor JSON keywords.

use serde_json::{Number, Value};

/// A whole description.
pub(super) struct Document {
    /// Where the API is found: scheme, host, and path if there is one.
    pub(super) base_url: String,
    pub(super) tags: Vec<String>,
    /// Tags under a heading.
    pub(super) tag_groups: Vec<(&'static str, Vec<String>)>,
    /// Those of one path stand together.
    pub(super) operations: Vec<Operation>,
    pub(super) schemas: Vec<(String, Schema)>,
}

/// One method of one path.
pub(super) struct Operation {
    pub(super) method: &'static str,
    pub(super) path: String,
    pub(super) id: String,
    pub(super) summary: String,
    pub(super) tag: String,
    /// Asks for no key.
    pub(super) public: bool,
    pub(super) parameters: Vec<Parameter>,
    pub(super) body: Option<Body>,
    pub(super) responses: Vec<Response>,
}

impl Operation {
    pub(super) fn new(method: &'static str, path: &str, id: impl Into<String>) -> Self {
        Self {
            method,
            path: path.to_owned(),
            id: id.into(),
            summary: String::new(),
            tag: String::new(),
            public: false,
            parameters: Vec::new(),
            body: None,
            responses: Vec::new(),
        }
    }

    pub(super) fn summary(mut self, summary: impl Into<String>) -> Self {
        self.summary = summary.into();
        self
    }

    pub(super) fn tag(mut self, tag: &str) -> Self {
        tag.clone_into(&mut self.tag);
        self
    }

    pub(super) fn parameters(mut self, parameters: impl IntoIterator<Item = Parameter>) -> Self {
        self.parameters.extend(parameters);
        self
    }

    pub(super) fn body(mut self, schema: Schema) -> Self {
        self.body = Some(Body::Json(Box::new(schema)));
        self
    }

    pub(super) fn respond(mut self, responses: impl IntoIterator<Item = Response>) -> Self {
        self.responses.extend(responses);
        self
    }
}

/// What is given in the path, the query or a header.
pub(super) struct Parameter {
    pub(super) name: &'static str,
    pub(super) place: Place,
    pub(super) description: &'static str,
    pub(super) required: bool,
    pub(super) schema: Schema,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Path,
    Query,
    /// A map in the query: `name[key]=value`.
    QueryMap,
    Header,
}

impl Place {
    /// As every version spells it.
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
        Self { name, place: Place::Path, description, required: true, schema }
    }

    pub(super) fn query(name: &'static str, description: &'static str, schema: Schema) -> Self {
        Self { name, place: Place::Query, description, required: false, schema }
    }

    pub(super) fn map(name: &'static str, description: &'static str, schema: Schema) -> Self {
        Self { name, place: Place::QueryMap, description, required: false, schema }
    }

    /// A text in a header, which has a pattern.
    pub(super) fn header(name: &'static str, description: &'static str, pattern: &str) -> Self {
        let text = Text { pattern: Some(pattern.to_owned()), ..Text::default() };
        let schema = Kind::Text(text).into();
        Self { name, place: Place::Header, description, required: false, schema }
    }

    pub(super) fn required(self) -> Self {
        Self { required: true, ..self }
    }
}

/// What is sent.
pub(super) enum Body {
    Json(Box<Schema>),
    /// The fields of a form with a file, and whether each is required.
    Form(Vec<(&'static str, Schema, bool)>),
}

/// What comes back with one status.
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) description: &'static str,
    pub(super) content: Option<Content>,
    pub(super) example: Option<Value>,
}

pub(super) enum Content {
    Json(Box<Schema>),
    Text,
    /// Bytes of any media type.
    File,
}

impl Response {
    pub(super) fn json(status: u16, description: &'static str, schema: Schema) -> Self {
        Self { status, description, content: Some(Content::Json(Box::new(schema))), example: None }
    }

    /// Without a body.
    pub(super) fn empty(status: u16, description: &'static str) -> Self {
        Self { status, description, content: None, example: None }
    }

    pub(super) fn example(self, example: Value) -> Self {
        Self { example: Some(example), ..self }
    }
}

/// What a value looks like.
#[derive(Clone, Default)]
pub(super) struct Schema {
    pub(super) kind: Kind,
    pub(super) description: Option<String>,
    pub(super) default: Option<Value>,
    pub(super) example: Option<Value>,
    /// May be null as well.
    pub(super) nullable: bool,
}

#[derive(Clone, Default)]
pub(super) enum Kind {
    /// Anything.
    #[default]
    Any,
    /// A schema of the document, by name.
    Reference(String),
    Null,
    Boolean,
    Number(Range),
    Text(Text),
    /// The bytes of a file in a form.
    File,
    List(Box<List>),
    Object(Object),
    /// All of the parts at once, and these properties.
    All(Composed),
    /// At least one of the alternatives. Where a version cannot say that: anything.
    AnyOf(Vec<Schema>),
}

#[derive(Clone, Default)]
pub(super) struct Range {
    pub(super) integer: bool,
    pub(super) minimum: Option<Number>,
    pub(super) maximum: Option<Number>,
}

#[derive(Clone, Default)]
pub(super) struct Text {
    pub(super) min_length: u64,
    pub(super) max_length: Option<u64>,
    pub(super) pattern: Option<String>,
    /// The allowed values; all when empty.
    pub(super) options: Vec<String>,
}

#[derive(Clone, Default)]
pub(super) struct List {
    pub(super) items: Schema,
    pub(super) min: u64,
    pub(super) max: Option<u64>,
}

#[derive(Clone, Default)]
pub(super) struct Object {
    pub(super) properties: Vec<(String, Schema)>,
    pub(super) required: Vec<String>,
    pub(super) rest: Rest,
}

/// What an object may hold besides its properties.
#[derive(Clone, Default)]
pub(super) enum Rest {
    #[default]
    Anything,
    Nothing,
    Of(Box<Schema>),
}

#[derive(Clone, Default)]
pub(super) struct Composed {
    pub(super) parts: Vec<Schema>,
    pub(super) required: Vec<String>,
    /// Nothing besides the properties of the parts. Where a version cannot say that: anything.
    pub(super) closed: bool,
}

impl From<Kind> for Schema {
    fn from(kind: Kind) -> Self {
        Self { kind, ..Self::default() }
    }
}

impl Schema {
    pub(super) fn reference(name: impl Into<String>) -> Self {
        Kind::Reference(name.into()).into()
    }

    pub(super) fn anything() -> Self {
        Kind::Any.into()
    }

    pub(super) fn text() -> Self {
        Kind::Text(Text::default()).into()
    }

    pub(super) fn one_of_words(words: &[&str]) -> Self {
        let options = words.iter().map(|&word| word.to_owned()).collect();
        Kind::Text(Text { options, ..Text::default() }).into()
    }

    pub(super) fn number() -> Self {
        Kind::Number(Range::default()).into()
    }

    pub(super) fn integer() -> Self {
        Kind::Number(Range { integer: true, ..Range::default() }).into()
    }

    /// A number within bounds.
    pub(super) fn between(least: u64, most: Option<u64>) -> Self {
        let (minimum, maximum) = (Some(least.into()), most.map(Number::from));
        Kind::Number(Range { integer: false, minimum, maximum }).into()
    }

    pub(super) fn boolean() -> Self {
        Kind::Boolean.into()
    }

    pub(super) fn list(items: Self) -> Self {
        Self::list_between(items, 0, None)
    }

    pub(super) fn list_between(items: Self, min: u64, max: Option<u64>) -> Self {
        Kind::List(Box::new(List { items, min, max })).into()
    }

    /// An object with these properties, and perhaps others.
    pub(super) fn object<N: Into<String>>(
        properties: impl IntoIterator<Item = (N, Self)>,
        required: &[&str],
    ) -> Self {
        let properties = properties.into_iter().map(|(name, schema)| (name.into(), schema));
        let required = required.iter().map(|&name| name.to_owned());
        Kind::Object(Object {
            properties: properties.collect(),
            required: required.collect(),
            rest: Rest::Anything,
        })
        .into()
    }

    /// An object in which every value is like this.
    pub(super) fn map(values: Self) -> Self {
        let rest = Rest::Of(Box::new(values));
        Kind::Object(Object { rest, ..Object::default() }).into()
    }

    pub(super) fn all(parts: Vec<Self>) -> Self {
        Kind::All(Composed { parts, ..Composed::default() }).into()
    }

    pub(super) fn any_of(alternatives: Vec<Self>) -> Self {
        Kind::AnyOf(alternatives).into()
    }

    pub(super) fn described(self, description: impl Into<String>) -> Self {
        Self { description: Some(description.into()), ..self }
    }

    /// What counts when the value is not given.
    pub(super) fn unless_given(self, default: impl Into<Value>) -> Self {
        Self { default: Some(default.into()), ..self }
    }

    pub(super) fn example(self, example: impl Into<Value>) -> Self {
        Self { example: Some(example.into()), ..self }
    }

    pub(super) fn or_null(self) -> Self {
        Self { nullable: true, ..self }
    }

    /// An object that holds nothing but its properties.
    pub(super) fn closed(mut self) -> Self {
        match &mut self.kind {
            Kind::Object(object) => object.rest = Rest::Nothing,
            Kind::All(composed) => composed.closed = true,
            _ => {}
        }
        self
    }
}
