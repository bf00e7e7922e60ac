//! The core without a server: open a data directory, apply a type, create an object, list.
//!
//! `cargo run -p cms-core --example embed`

#![expect(clippy::print_stdout, reason = "an example shows what it did")]

use cms_core::{Caller, Cms, CoreConfig, wire::object::ListRequest};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let cms = Cms::open(CoreConfig::new(std::env::temp_dir().join("cms-embedded")))?;
    let me = Caller::local();
    cms.types().apply(&me, &serde_json::from_str(PROJECT)?)?;
    let quote = serde_json::from_str(r#"{"text": "Well begun is half done."}"#)?;
    cms.objects().create(&me, "quote", quote)?;
    let list = cms.objects().list(&me, "quote", &ListRequest::default())?;
    println!("{:#}", list.to_value());
    Ok(())
}

const PROJECT: &str = r##"{"contentTypes": [{
    "name": "quote",
    "label": "Quote",
    "schemaDefinition": {"required": ["text"], "allOf": [
        {"$ref": "#/components/schemas/AbstractContentTypeSchemaDefinition"},
        {"type": "object", "properties": {"text": {"type": "string", "minLength": 1}}}
    ]},
    "metaDefinition": {
        "order": ["text"],
        "propertiesConfig": {"text": {"label": "Text", "inputType": "textarea"}}
    }
}]}"##;
