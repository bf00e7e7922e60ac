//! Types that every schema has, whatever the content: how values of some kinds look, and what
//! introspection answers with.

use super::Shape;

/// Name, type and value of a field.
pub(super) type SystemField = (&'static str, &'static str, Shape);
/// Types that are described besides the content.
pub(super) const SYSTEM: [(&str, &[SystemField]); 4] = [
    ("DataSource", &[("dataUrl", "String", Shape::Text), ("type", "String", Shape::Text)]),
    ("cms___geo", &[("lat", "Float", Shape::Number), ("lon", "Float", Shape::Number)]),
    (
        "cms___block",
        &[
            ("time", "String", Shape::Time),
            ("version", "String", Shape::Text),
            ("blocks", "[cms___block_item]", Shape::List),
        ],
    ),
    (
        "cms___block_item",
        &[
            ("id", "String", Shape::Text),
            ("type", "String", Shape::Text),
            ("data", "JSON", Shape::Json),
            ("tunes", "JSON", Shape::Json),
        ],
    ),
];
pub(super) const INTERNAL: &str = "cms___internal";
pub(super) const FILTER: &str = "FieldFilterInput";
/// What introspection answers with. Fields in parentheses take `includeDeprecated`.
pub(super) const INTROSPECTION: [(&str, &str); 6] = [
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
