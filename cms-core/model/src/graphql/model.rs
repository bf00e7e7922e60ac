//! The types of a schema: what a query may ask for, and where the answer is found (contract 8.1 to
//! 8.3).
//!
//! Everything about names and types is decided here, once. [`super::schema`] describes the same
//! model to clients, [`super::validate`] judges queries by it, [`super::plan`] reads from it what is
//! to be done; so they cannot disagree. Nothing here knows a query or an object.

mod fixed;

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;

use self::fixed::{FILTER, INTERNAL, INTROSPECTION, SYSTEM};
use super::naming;
use crate::{
    content_type::model::{InputType, Property, SchemaType},
    query::path::InternalField,
    wire::graphql::GraphQlVersion,
};

/// Index of the type whose fields begin a query.
pub const QUERY: usize = 0;
/// A type of the content, as the model is made from it: one that the schema may show.
#[derive(Clone, Copy)]
pub struct Content<'a> {
    pub name: &'a str,
    pub properties: &'a [Property],
}

/// All types of a schema.
pub struct Model {
    pub version: GraphQlVersion,
    pub objects: Vec<Object>,
    pub inputs: Vec<Input>,
    by_name: HashMap<String, Named>,
}

/// A type that has fields.
pub struct Object {
    pub name: String,
    pub description: Option<String>,
    pub fields: IndexMap<String, Field>,
}

/// A type of arguments that has fields.
pub struct Input {
    pub name: String,
    pub fields: IndexMap<String, InputField>,
}

pub struct InputField {
    pub type_ref: TypeRef,
    /// Path of the content that the field filters on.
    pub path: String,
}

pub struct Field {
    pub type_ref: TypeRef,
    pub arguments: IndexMap<String, TypeRef>,
    pub source: Source,
}

/// A type as it is written at a field or argument, and what its name means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeRef {
    pub named: Named,
    /// With `!` and brackets.
    pub text: String,
}

impl TypeRef {
    pub fn is_required(&self) -> bool {
        self.text.ends_with('!')
    }
}

/// What the name of a type stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Named {
    Scalar(Scalar),
    Object(usize),
    Input(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scalar {
    String,
    Int,
    Float,
    Boolean,
    Id,
    Json,
    /// An enumeration of introspection.
    Meta,
}

/// Where the value of a field comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// One object of the content type.
    One(String),
    /// Objects of the content type, flat.
    List(String),
    /// Objects of the content type, in a connection.
    Connection(String),
    Edges,
    Node,
    PageInfo,
    HasNextPage,
    TotalCount,
    Id,
    Internal,
    InternalField(InternalField),
    /// What is stored under a name.
    Member {
        name: String,
        shape: Shape,
    },
    /// Links of an object to objects of the content type, replaced by those.
    Relation {
        name: String,
        target: String,
    },
    /// The schema itself.
    Introspection,
}

/// What stands at a field, where something does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Text,
    Number,
    Boolean,
    Texts,
    /// A number or a text, shown as a text.
    Time,
    /// Anything, shown as it is.
    Json,
    /// One object.
    Object,
    /// A list of objects.
    List,
}

impl Model {
    /// Makes the schema of some types.
    pub fn new(version: GraphQlVersion, contents: &[Content<'_>]) -> Self {
        let mut builder = Builder::new(version);
        builder.add_system();
        builder.add_contents(contents);
        builder.add_introspection();
        builder.model.remove_unreachable();
        builder.model
    }

    /// Takes the names of types that no field and no argument leads to from `Query`: they are in no
    /// description of the schema, and no query may name them.
    fn remove_unreachable(&mut self) {
        let mut open = ["Query", "__Schema", "__Type"].map(|name| self.known(name)).to_vec();
        let mut reachable = HashSet::new();
        while let Some(named) = open.pop() {
            if !reachable.insert(named) {
                continue;
            }
            match named {
                Named::Scalar(_) => {}
                Named::Input(index) => {
                    open.extend(self.inputs[index].fields.values().map(|f| f.type_ref.named));
                }
                Named::Object(index) => {
                    for field in self.objects[index].fields.values() {
                        open.push(field.type_ref.named);
                        open.extend(field.arguments.values().map(|wanted| wanted.named));
                    }
                }
            }
        }
        let is_built_in = |named| matches!(named, Named::Scalar(scalar) if scalar != Scalar::Json);
        self.by_name.retain(|_, named| is_built_in(*named) || reachable.contains(named));
    }

    pub fn find(&self, name: &str) -> Option<Named> {
        self.by_name.get(name).copied()
    }

    /// The type of a name that the model itself has given out.
    fn known(&self, name: &str) -> Named {
        self.find(name).expect("types are named before they are referred to")
    }

    pub fn object(&self, index: usize) -> &Object {
        &self.objects[index]
    }
}

/// Adds types to a model, all names of a group before anything refers to them.
struct Builder {
    model: Model,
    taken: HashSet<String>,
}

impl Builder {
    fn new(version: GraphQlVersion) -> Self {
        let scalars = [
            ("String", Scalar::String),
            ("Int", Scalar::Int),
            ("Float", Scalar::Float),
            ("Boolean", Scalar::Boolean),
            ("ID", Scalar::Id),
            ("JSON", Scalar::Json),
            ("__TypeKind", Scalar::Meta),
            ("__DirectiveLocation", Scalar::Meta),
        ];
        let by_name: HashMap<String, Named> =
            scalars.map(|(name, scalar)| (name.to_owned(), Named::Scalar(scalar))).into();
        let taken = by_name.keys().cloned().collect();
        let model = Model { version, objects: Vec::new(), inputs: Vec::new(), by_name };
        let mut builder = Self { model, taken };
        builder.name_object("Query".to_owned());
        builder
    }

    fn is_legacy(&self) -> bool {
        self.model.version == GraphQlVersion::Legacy
    }

    /// Gives an object type its name; its fields come later.
    fn name_object(&mut self, name: String) -> usize {
        let index = self.model.objects.len();
        self.taken.insert(name.clone());
        self.model.by_name.insert(name.clone(), Named::Object(index));
        self.model.objects.push(Object { name, description: None, fields: IndexMap::new() });
        index
    }

    fn add_field(&mut self, object: usize, name: &str, text: &str, source: Source) -> &mut Field {
        let field = Field { type_ref: self.type_ref(text), arguments: IndexMap::new(), source };
        let fields = &mut self.model.objects[object].fields;
        fields.entry(name.to_owned()).or_insert(field)
    }

    fn type_ref(&self, text: &str) -> TypeRef {
        let name = text.trim_matches(['[', ']', '!']);
        TypeRef { named: self.model.known(name), text: text.to_owned() }
    }

    fn arguments(&self, list: &[(&str, &str)]) -> IndexMap<String, TypeRef> {
        list.iter().map(|(name, text)| ((*name).to_owned(), self.type_ref(text))).collect()
    }

    fn add_system(&mut self) {
        let objects = SYSTEM.map(|(name, fields)| (self.name_object(name.to_owned()), fields));
        for (object, fields) in objects {
            for (name, text, shape) in fields {
                let source = Source::Member { name: (*name).to_owned(), shape: *shape };
                self.add_field(object, name, text, source);
            }
        }
        let internal = self.name_object(INTERNAL.to_owned());
        for (field, text) in [
            (InternalField::Status, "String"),
            (InternalField::CreatedAt, "String"),
            (InternalField::DeletedAt, "String"),
            (InternalField::UpdatedAt, "String"),
            (InternalField::ContentType, "String"),
            (InternalField::ObjectTitle, "String"),
            (InternalField::LatestVersion, "Int"),
            (InternalField::WorkflowState, "String"),
            (InternalField::PublishedAt, "String"),
            (InternalField::PublicVersion, "Int"),
        ] {
            self.add_field(internal, field.as_str(), text, Source::InternalField(field));
        }
        if !self.is_legacy() {
            let fields = [("type", "String!"), ("filter", "String!"), ("filter2", "String")];
            self.add_input(
                FILTER.to_owned(),
                fields.map(|(name, text)| (name.to_owned(), text, "")),
            );
        }
    }

    fn add_input<'t>(
        &mut self,
        name: String,
        fields: impl IntoIterator<Item = (String, &'t str, impl Into<String>)>,
    ) {
        let fields = fields.into_iter().map(|(name, text, path)| {
            (name, InputField { type_ref: self.type_ref(text), path: path.into() })
        });
        let fields = fields.collect();
        self.taken.insert(name.clone());
        self.model.by_name.insert(name.clone(), Named::Input(self.model.inputs.len()));
        self.model.inputs.push(Input { name, fields });
    }

    fn add_contents(&mut self, contents: &[Content<'_>]) {
        let names = contents.iter().map(|content| content.name);
        let names = naming::distinct(names, &mut self.taken);
        let objects: Vec<usize> = names.iter().map(|name| self.name_object(name.clone())).collect();
        for name in &names {
            self.reserve(name);
        }
        let targets: HashMap<&str, &str> = contents
            .iter()
            .zip(&names)
            .map(|(content, name)| (content.name, name.as_str()))
            .collect();
        for ((content, name), object) in contents.iter().zip(&names).zip(objects) {
            let sentence = format!("Auto generated Headless CMS type: {}", content.name);
            self.model.objects[object].description = Some(sentence);
            let id = if self.is_legacy() { "String" } else { "String!" };
            self.add_field(object, "id", id, Source::Id);
            self.add_field(object, "internal", INTERNAL, Source::Internal);
            self.add_properties(object, content.properties, &targets);
            if self.is_legacy() {
                self.add_legacy_roots(content, name);
            } else {
                self.add_connection(content, name);
            }
        }
    }

    /// Keeps the names that are derived from a content type's, so that no nested type gets them.
    fn reserve(&mut self, name: &str) {
        if !self.is_legacy() {
            for ending in ["Connection", "Edge", "PageInfo", "FilterInput"] {
                self.taken.insert(format!("{name}{ending}"));
            }
        }
    }

    /// Adds the properties of a content type, of list items, or of a nested object.
    fn add_properties(
        &mut self,
        object: usize,
        properties: &[Property],
        targets: &HashMap<&str, &str>,
    ) {
        let mut taken = self.model.objects[object].fields.keys().cloned().collect();
        let names = properties.iter().map(|property| property.name.as_str());
        let names = naming::distinct(names, &mut taken);
        for (property, field) in properties.iter().zip(&names) {
            let target = property.relation.as_ref().and_then(|link| link.target.as_deref());
            if let Some((target, name)) = target.and_then(|target| targets.get_key_value(target)) {
                let source =
                    Source::Relation { name: property.name.clone(), target: (*target).to_owned() };
                self.add_field(object, field, &format!("[{name}]"), source);
                continue;
            }
            let (name, shape) = match type_of(property) {
                Kind::Scalar(name, shape) if property.required && !self.is_legacy() => {
                    (format!("{name}!"), shape)
                }
                Kind::Scalar(name, shape) | Kind::Other(name, shape) => (name.to_owned(), shape),
                Kind::Nested(shape) => {
                    let name = format!("{}_{field}", self.model.objects[object].name);
                    let name = naming::free(name, &mut self.taken);
                    let nested = self.name_object(name.clone());
                    self.add_properties(nested, &property.nested, targets);
                    let list = format!("[{name}]");
                    (if shape == Shape::List { list } else { name }, shape)
                }
            };
            let source = Source::Member { name: property.name.clone(), shape };
            self.add_field(object, field, &name, source);
        }
    }

    fn add_legacy_roots(&mut self, content: &Content<'_>, name: &str) {
        let one = [("id", "String"), ("field", "String"), ("value", "String")];
        let one = self.arguments(&one);
        let list = [
            ("page", "Int"),
            ("limit", "Int"),
            ("order_by", "String"),
            ("order_direction", "String"),
            ("filter", "String"),
        ];
        let list = self.arguments(&list);
        let ctd = content.name.to_owned();
        self.add_field(QUERY, name, name, Source::One(ctd.clone())).arguments = one;
        let (field, text) = (format!("{name}List"), format!("[{name}]"));
        self.add_field(QUERY, &field, &text, Source::List(ctd)).arguments = list;
    }

    fn add_connection(&mut self, content: &Content<'_>, name: &str) {
        let filter = format!("{name}FilterInput");
        let mut taken = HashSet::new();
        let fields = content.properties.iter().map(|property| property.name.as_str());
        let fields = naming::distinct(fields, &mut taken);
        let paths = content.properties.iter().map(|property| match property.input_type {
            InputType::Datasource => format!("{}[*].dataUrl", property.name),
            _ => property.name.clone(),
        });
        let has_filter = !content.properties.is_empty();
        if has_filter {
            let fields = fields.into_iter().zip(paths).map(|(field, path)| (field, FILTER, path));
            self.add_input(filter.clone(), fields);
        }

        let page_info = self.name_object(format!("{name}PageInfo"));
        self.add_field(page_info, "hasNextPage", "Boolean", Source::HasNextPage);
        let edge = self.name_object(format!("{name}Edge"));
        self.add_field(edge, "node", name, Source::Node);
        let connection = format!("{name}Connection");
        let object = self.name_object(connection.clone());
        self.add_field(object, "edges", &format!("[{name}Edge]"), Source::Edges);
        self.add_field(object, "pageInfo", &format!("{name}PageInfo"), Source::PageInfo);
        self.add_field(object, "totalCount", "Int", Source::TotalCount);

        let mut arguments = self.arguments(&[
            ("id", "String"),
            ("field", "String"),
            ("value", "String"),
            ("first", "Int"),
            ("offset", "Int"),
            ("order_by", "String"),
            ("order_direction", "String"),
        ]);
        if has_filter {
            arguments.insert("filter".to_owned(), self.type_ref(&filter));
        }
        let source = Source::Connection(content.name.to_owned());
        self.add_field(QUERY, name, &connection, source).arguments = arguments;
    }

    fn add_introspection(&mut self) {
        let objects =
            INTROSPECTION.map(|(name, fields)| (self.name_object(name.to_owned()), fields));
        for (object, fields) in objects {
            for (name, text) in fields.split_whitespace().filter_map(|field| field.split_once(':'))
            {
                let plain = name.trim_matches(['(', ')']);
                let arguments = if plain == name {
                    IndexMap::new()
                } else {
                    self.arguments(&[("includeDeprecated", "Boolean")])
                };
                let field = self.add_field(object, plain, text, Source::Introspection);
                field.arguments = arguments;
            }
        }
    }
}

/// What a property is, where it is not a relation to a type that is known.
enum Kind {
    Scalar(&'static str, Shape),
    Other(&'static str, Shape),
    /// An object, or a list of objects, with fields of its own.
    Nested(Shape),
}

fn type_of(property: &Property) -> Kind {
    let has_fields = !property.nested.is_empty();
    match property.input_type {
        InputType::Number => Kind::Scalar("Float", Shape::Number),
        InputType::Checkbox => Kind::Scalar("Boolean", Shape::Boolean),
        InputType::SimpleList => Kind::Other("[String]", Shape::Texts),
        InputType::Select if property.schema_type == SchemaType::Array => {
            Kind::Other("[String]", Shape::Texts)
        }
        InputType::Text
        | InputType::RichText
        | InputType::Textarea
        | InputType::TextMarkdown
        | InputType::Markdown
        | InputType::Email
        | InputType::Radio
        | InputType::Select
        | InputType::DateTime => Kind::Scalar("String", Shape::Text),
        InputType::Datasource => Kind::Other("[DataSource]", Shape::List),
        InputType::Object if has_fields => Kind::Nested(Shape::List),
        InputType::Custom if property.is_nested_object() => Kind::Nested(Shape::Object),
        // Nothing is said about what is inside.
        InputType::Object | InputType::Custom => Kind::Other("JSON", Shape::Json),
        InputType::Geo => Kind::Other("cms___geo", Shape::Object),
        InputType::Block => Kind::Other("cms___block", Shape::Object),
    }
}
