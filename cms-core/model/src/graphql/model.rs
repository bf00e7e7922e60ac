//! The types of a schema, and the source of each field (see docs/reference/graphql.md#types).
//!
//! Names and types are decided here, once: [`super::schema`] presents this model to clients,
//! [`super::validate`] validates queries against it, and [`super::plan`] compiles them with it. This
//! module knows neither queries nor objects.

mod fixed;

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;

use self::fixed::{FILTER_TYPE, INTERNAL_TYPE, INTROSPECTION_TYPES, VALUE_TYPES};
use super::naming::{self, valid_name};
use crate::{
    content_type::model::{InputType, Property, SchemaType},
    query::path::InternalField,
    wire::graphql::GraphQlVersion,
};

/// Index of the root type of queries.
pub const QUERY: usize = 0;

/// A content type that the schema contains.
#[derive(Clone, Copy)]
pub struct VisibleType<'a> {
    pub name: &'a str,
    pub properties: &'a [Property],
}

/// All types of a schema.
pub struct Model {
    pub version: GraphQlVersion,
    pub objects: Vec<ObjectType>,
    pub inputs: Vec<Input>,
    by_name: HashMap<String, NamedType>,
}

/// An object type.
pub struct ObjectType {
    pub name: String,
    pub description: Option<String>,
    pub fields: IndexMap<String, Field>,
}

/// An input object type.
pub struct Input {
    pub name: String,
    pub fields: IndexMap<String, InputField>,
}

pub struct InputField {
    pub type_ref: TypeRef,
    /// Path of the property that the field filters on.
    pub path: String,
}

pub struct Field {
    pub type_ref: TypeRef,
    pub arguments: IndexMap<String, TypeRef>,
    pub source: FieldSource,
}

/// The type of a field or argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeRef {
    pub named: NamedType,
    /// In the schema language, with `!` and brackets.
    pub text: String,
}

impl TypeRef {
    pub fn is_required(&self) -> bool {
        self.text.ends_with('!')
    }
}

/// The name in the text of a type.
pub(super) fn type_name(text: &str) -> &str {
    text.trim_matches(['[', ']', '!'])
}

/// A type that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NamedType {
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
    /// An enum of introspection.
    IntrospectionEnum,
}

/// Where the value of a field comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldSource {
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
    /// A member of the stored JSON object.
    Member {
        name: String,
        shape: ValueShape,
    },
    /// Linked objects of the content type.
    Relation {
        name: String,
        target: String,
    },
    /// A field of introspection.
    Introspection,
}

/// The expected form of a stored value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueShape {
    Text,
    Number,
    Boolean,
    Texts,
    /// A number or a text, returned as a text.
    Time,
    /// Any value, returned unchanged.
    Json,
    /// One object.
    Object,
    /// A list of objects.
    List,
}

impl Model {
    /// Builds the types of a schema.
    pub fn new(version: GraphQlVersion, contents: &[VisibleType<'_>]) -> Self {
        let mut builder = Builder::new(version);
        builder.add_system();
        builder.add_contents(contents);
        builder.add_introspection();
        builder.model.remove_unreachable();
        builder.model
    }

    /// Removes types that are not reachable from `Query`: the schema does not contain them, and no
    /// query may name them.
    fn remove_unreachable(&mut self) {
        let mut open = ["Query", "__Schema", "__Type"].map(|name| self.expect(name)).to_vec();
        let mut reachable = HashSet::new();
        while let Some(named) = open.pop() {
            if !reachable.insert(named) {
                continue;
            }
            match named {
                NamedType::Scalar(_) => {}
                NamedType::Input(index) => {
                    open.extend(self.inputs[index].fields.values().map(|f| f.type_ref.named));
                }
                NamedType::Object(index) => {
                    for field in self.objects[index].fields.values() {
                        open.push(field.type_ref.named);
                        open.extend(field.arguments.values().map(|argument| argument.named));
                    }
                }
            }
        }
        let is_built_in =
            |named| matches!(named, NamedType::Scalar(scalar) if scalar != Scalar::Json);
        self.by_name.retain(|_, named| is_built_in(*named) || reachable.contains(named));
    }

    pub fn find(&self, name: &str) -> Option<NamedType> {
        self.by_name.get(name).copied()
    }

    /// The type of a name that this module has assigned.
    fn expect(&self, name: &str) -> NamedType {
        self.find(name).expect("types are named before they are referenced")
    }

    pub fn object(&self, index: usize) -> &ObjectType {
        &self.objects[index]
    }
}

/// Adds types to a model: first the names of a group, then the fields that refer to them.
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
            ("__TypeKind", Scalar::IntrospectionEnum),
            ("__DirectiveLocation", Scalar::IntrospectionEnum),
        ];
        let by_name: HashMap<String, NamedType> =
            scalars.map(|(name, scalar)| (name.to_owned(), NamedType::Scalar(scalar))).into();
        let taken = by_name.keys().cloned().collect();
        let model = Model { version, objects: Vec::new(), inputs: Vec::new(), by_name };
        let mut builder = Self { model, taken };
        builder.name_object("Query".to_owned());
        builder
    }

    fn is_legacy(&self) -> bool {
        self.model.version == GraphQlVersion::Legacy
    }

    /// Adds an object type without fields.
    fn name_object(&mut self, name: String) -> usize {
        let index = self.model.objects.len();
        self.taken.insert(name.clone());
        self.model.by_name.insert(name.clone(), NamedType::Object(index));
        self.model.objects.push(ObjectType { name, description: None, fields: IndexMap::new() });
        index
    }

    fn add_field(
        &mut self,
        object: usize,
        name: &str,
        text: &str,
        source: FieldSource,
    ) -> &mut Field {
        let field = Field { type_ref: self.type_ref(text), arguments: IndexMap::new(), source };
        let fields = &mut self.model.objects[object].fields;
        fields.entry(name.to_owned()).or_insert(field)
    }

    fn type_ref(&self, text: &str) -> TypeRef {
        TypeRef { named: self.model.expect(type_name(text)), text: text.to_owned() }
    }

    fn arguments(&self, list: &[(&str, &str)]) -> IndexMap<String, TypeRef> {
        list.iter().map(|(name, text)| ((*name).to_owned(), self.type_ref(text))).collect()
    }

    fn add_system(&mut self) {
        let objects = VALUE_TYPES.map(|(name, fields)| (self.name_object(name.to_owned()), fields));
        for (object, fields) in objects {
            for (name, text, shape) in fields {
                let source = FieldSource::Member { name: (*name).to_owned(), shape: *shape };
                self.add_field(object, name, text, source);
            }
        }
        let internal = self.name_object(INTERNAL_TYPE.to_owned());
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
            self.add_field(internal, field.as_str(), text, FieldSource::InternalField(field));
        }
        if !self.is_legacy() {
            let fields = [("type", "String!"), ("filter", "String!"), ("filter2", "String")];
            self.add_input(
                FILTER_TYPE.to_owned(),
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
        self.model.by_name.insert(name.clone(), NamedType::Input(self.model.inputs.len()));
        self.model.inputs.push(Input { name, fields });
    }

    fn add_contents(&mut self, contents: &[VisibleType<'_>]) {
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
            self.add_field(object, "id", id, FieldSource::Id);
            self.add_field(object, "internal", INTERNAL_TYPE, FieldSource::Internal);
            self.add_properties(object, content.properties, &targets);
            if self.is_legacy() {
                self.add_legacy_roots(content, name);
            } else {
                self.add_connection(content, name);
            }
        }
    }

    /// Reserves the names derived from a content type, so that no nested type gets them.
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
                let source = FieldSource::Relation {
                    name: property.name.clone(),
                    target: (*target).to_owned(),
                };
                self.add_field(object, field, &format!("[{name}]"), source);
                continue;
            }
            let (name, shape) = match property_type(property) {
                PropertyType::Scalar(name, shape) if property.required && !self.is_legacy() => {
                    (format!("{name}!"), shape)
                }
                PropertyType::Scalar(name, shape) | PropertyType::Other(name, shape) => {
                    (name.to_owned(), shape)
                }
                PropertyType::Nested(shape) => {
                    let name = format!("{}_{field}", self.model.objects[object].name);
                    let name = naming::unique(valid_name(&name), &mut self.taken);
                    let nested = self.name_object(name.clone());
                    self.add_properties(nested, &property.nested, targets);
                    let list = format!("[{name}]");
                    (if shape == ValueShape::List { list } else { name }, shape)
                }
            };
            let source = FieldSource::Member { name: property.name.clone(), shape };
            self.add_field(object, field, &name, source);
        }
    }

    fn add_legacy_roots(&mut self, content: &VisibleType<'_>, name: &str) {
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
        let content_type = content.name.to_owned();
        self.add_field(QUERY, name, name, FieldSource::One(content_type.clone())).arguments = one;
        let (field, text) = (format!("{name}List"), format!("[{name}]"));
        self.add_field(QUERY, &field, &text, FieldSource::List(content_type)).arguments = list;
    }

    fn add_connection(&mut self, content: &VisibleType<'_>, name: &str) {
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
            let fields =
                fields.into_iter().zip(paths).map(|(field, path)| (field, FILTER_TYPE, path));
            self.add_input(filter.clone(), fields);
        }

        let page_info = self.name_object(format!("{name}PageInfo"));
        self.add_field(page_info, "hasNextPage", "Boolean", FieldSource::HasNextPage);
        let edge = self.name_object(format!("{name}Edge"));
        self.add_field(edge, "node", name, FieldSource::Node);
        let connection = format!("{name}Connection");
        let object = self.name_object(connection.clone());
        self.add_field(object, "edges", &format!("[{name}Edge]"), FieldSource::Edges);
        self.add_field(object, "pageInfo", &format!("{name}PageInfo"), FieldSource::PageInfo);
        self.add_field(object, "totalCount", "Int", FieldSource::TotalCount);

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
        let source = FieldSource::Connection(content.name.to_owned());
        self.add_field(QUERY, name, &connection, source).arguments = arguments;
    }

    fn add_introspection(&mut self) {
        let objects =
            INTROSPECTION_TYPES.map(|(name, fields)| (self.name_object(name.to_owned()), fields));
        for (object, fields) in objects {
            for (name, text) in fields.split_whitespace().filter_map(|field| field.split_once(':'))
            {
                let plain = name.trim_matches(['(', ')']);
                let arguments = if plain == name {
                    IndexMap::new()
                } else {
                    self.arguments(&[("includeDeprecated", "Boolean")])
                };
                let field = self.add_field(object, plain, text, FieldSource::Introspection);
                field.arguments = arguments;
            }
        }
    }
}

/// The type of a property that is not a relation to a type of the schema.
enum PropertyType {
    Scalar(&'static str, ValueShape),
    Other(&'static str, ValueShape),
    /// An object, or a list of objects, of a nested type.
    Nested(ValueShape),
}

fn property_type(property: &Property) -> PropertyType {
    let has_fields = !property.nested.is_empty();
    match property.input_type {
        InputType::Number => PropertyType::Scalar("Float", ValueShape::Number),
        InputType::Checkbox => PropertyType::Scalar("Boolean", ValueShape::Boolean),
        InputType::SimpleList => PropertyType::Other("[String]", ValueShape::Texts),
        InputType::Select if property.schema_type == SchemaType::Array => {
            PropertyType::Other("[String]", ValueShape::Texts)
        }
        InputType::Text
        | InputType::RichText
        | InputType::Textarea
        | InputType::TextMarkdown
        | InputType::Markdown
        | InputType::Email
        | InputType::Radio
        | InputType::Select
        | InputType::DateTime => PropertyType::Scalar("String", ValueShape::Text),
        InputType::Datasource => PropertyType::Other("[DataSource]", ValueShape::List),
        InputType::Object if has_fields => PropertyType::Nested(ValueShape::List),
        InputType::Custom if property.is_nested_object() => {
            PropertyType::Nested(ValueShape::Object)
        }
        // The definition describes no fields.
        InputType::Object | InputType::Custom => PropertyType::Other("JSON", ValueShape::Json),
        InputType::Geo => PropertyType::Other("cms___geo", ValueShape::Object),
        InputType::Block => PropertyType::Other("cms___block", ValueShape::Object),
    }
}
