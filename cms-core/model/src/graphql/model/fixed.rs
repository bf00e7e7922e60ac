//! Types that every schema has: values of some properties, and introspection.

use super::ValueShape;

/// Name and type of a field, and the shape of its value.
pub(super) type FixedField = (&'static str, &'static str, ValueShape);
/// Types of values that are the same in every schema.
pub(super) const VALUE_TYPES: [(&str, &[FixedField]); 4] = [
    (
        "DataSource",
        &[("dataUrl", "String", ValueShape::Text), ("type", "String", ValueShape::Text)],
    ),
    ("cms___geo", &[("lat", "Float", ValueShape::Number), ("lon", "Float", ValueShape::Number)]),
    (
        "cms___block",
        &[
            ("time", "String", ValueShape::Time),
            ("version", "String", ValueShape::Text),
            ("blocks", "[cms___block_item]", ValueShape::List),
        ],
    ),
    (
        "cms___block_item",
        &[
            ("id", "String", ValueShape::Text),
            ("type", "String", ValueShape::Text),
            ("data", "JSON", ValueShape::Json),
            ("tunes", "JSON", ValueShape::Json),
        ],
    ),
];
pub(super) const INTERNAL_TYPE: &str = "cms___internal";
pub(super) const FILTER_TYPE: &str = "FieldFilterInput";
/// Types of introspection. Fields in parentheses take `includeDeprecated`.
pub(super) const INTROSPECTION_TYPES: [(&str, &str); 6] = [
    (
        "__Schema",
        "description:String types:[__Type!]! queryType:__Type! mutationType:__Type \
         subscriptionType:__Type directives:[__Directive!]!",
    ),
    (
        "__Type",
        "kind:__TypeKind! name:String description:String (fields):[__Field!] \
         interfaces:[__Type!] possibleTypes:[__Type!] (enumValues):[__EnumValue!] \
         (inputFields):[__InputValue!] ofType:__Type specifiedByURL:String isOneOf:Boolean",
    ),
    (
        "__Field",
        "name:String! description:String (args):[__InputValue!]! type:__Type! \
         isDeprecated:Boolean! deprecationReason:String",
    ),
    (
        "__InputValue",
        "name:String! description:String type:__Type! defaultValue:String isDeprecated:Boolean! \
         deprecationReason:String",
    ),
    (
        "__EnumValue",
        "name:String! description:String isDeprecated:Boolean! deprecationReason:String",
    ),
    (
        "__Directive",
        "name:String! description:String locations:[__DirectiveLocation!]! \
         (args):[__InputValue!]! isRepeatable:Boolean!",
    ),
];
