//! The content of the benchmarks: authors, and posts of about 2 KB that link to them, always the
//! same.

use std::{
    fs::File,
    io::{BufWriter, Result, Write},
    path::{Path, PathBuf},
};

use cms_core::testing::images;
use serde_json::{Value, json};

pub(crate) const AUTHORS: usize = 100;
pub(crate) const CATEGORIES: usize = 20;
/// `rank` is below this number.
pub(crate) const RANKS: u64 = 1_000_000;

const WORDS: [&str; 32] = [
    "river", "granite", "lantern", "winter", "harbour", "meadow", "copper", "signal", "orchard",
    "compass", "thunder", "pepper", "violin", "canvas", "marble", "cedar", "island", "velvet",
    "anchor", "kettle", "saffron", "timber", "ribbon", "garden", "falcon", "mirror", "barley",
    "quarry", "summit", "pigeon", "walnut", "beacon",
];

/// A small random number generator, so that every run has the same content.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).unwrap_or_default()
    }

    fn text(&mut self, words: usize) -> String {
        (0..words).map(|_| WORDS[self.below(WORDS.len())]).collect::<Vec<_>>().join(" ")
    }
}

pub(crate) fn author(number: usize) -> Value {
    let mut numbers = Numbers(0x9E37_79B9 + number as u64);
    json!({
        "id": format!("author-{number}"),
        "name": format!("Author {number}"),
        "bio": numbers.text(30),
    })
}

pub(crate) fn post(number: usize) -> Value {
    let mut numbers = Numbers(0x2545_F491_4F6C_DD1D ^ (number as u64 + 1));
    let author = numbers.below(AUTHORS);
    json!({
        "id": format!("post-{number}"),
        "title": format!("{} {number}", numbers.text(4)),
        "slug": format!("post-{number}"),
        "category": format!("category-{}", numbers.below(CATEGORIES)),
        "rank": numbers.next() % RANKS,
        "date": format!("20{:02}-{:02}-{:02}", 10 + numbers.below(16), 1 + numbers.below(12), 1 + numbers.below(28)),
        "featured": numbers.below(10) == 0,
        "excerpt": numbers.text(20),
        "body": format!("<p>{}</p><p>{}</p>", numbers.text(110), numbers.text(110)),
        "author": [{ "type": "internal", "dataUrl": format!("/api/v1/content/author/author-{author}") }],
    })
}

/// Some words of the posts, the same for the same number.
pub(crate) fn words(number: u64, count: usize) -> String {
    Numbers(0x2545_F491_4F6C_DD1D ^ (number + 1)).text(count)
}

/// The parameters of one of a few thousand searches.
pub(crate) fn query(number: u64) -> String {
    let mut numbers = Numbers(0x2545_F491_4F6C_DD1D ^ (number + 1));
    let words = numbers.text(2).replace(' ', "+");
    match numbers.below(4) {
        0 => format!("q={words}&aggregate_by[]=category&aggregate_by_numeric[]=rank"),
        1 => format!("q={words}&query_mode=fuzzy"),
        2 => format!("q=%22{words}%22&filters[category]=category-{}", numbers.below(CATEGORIES)),
        _ => format!("q={words}&order_by=date&order_direction=desc"),
    }
}

/// The payloads of the two types.
pub(crate) fn types() -> [Value; 2] {
    let text = |required: bool| {
        if required { json!({"type": "string", "minLength": 1}) } else { json!({"type": "string"}) }
    };
    let field =
        |label: &str, input: &str| json!({"label": label, "inputType": input, "unique": false});
    let author = content_type(
        "author",
        &[
            ("name", text(true), field("Name", "text")),
            ("bio", text(false), field("Bio", "textarea")),
        ],
        &["name"],
    );
    let mut slug = field("Slug", "text");
    slug["unique"] = json!(true);
    let mut category = field("Category", "select");
    category["options"] = (0..CATEGORIES).map(|n| json!(format!("category-{n}"))).collect();
    let mut link = field("Author", "datasource");
    link["validation"] = json!({"relationContenttype": "author", "relationMultiple": false});
    let post = content_type(
        "post",
        &[
            ("title", text(true), field("Title", "text")),
            ("slug", text(true), slug),
            ("category", text(false), category),
            ("rank", json!({"type": "number"}), field("Rank", "number")),
            ("date", text(false), field("Date", "dateTime")),
            ("featured", json!({"type": "boolean"}), field("Featured", "checkbox")),
            ("excerpt", text(false), field("Excerpt", "textarea")),
            ("body", text(false), field("Body", "richtext")),
            (
                "author",
                json!({"type": "array", "items": {"$ref": "#/components/schemas/DataSource"}}),
                link,
            ),
        ],
        &["title", "slug"],
    );
    [author, post]
}

fn content_type(name: &str, properties: &[(&str, Value, Value)], required: &[&str]) -> Value {
    let map = |pick: fn(&(&str, Value, Value)) -> Value| -> Value {
        Value::Object(properties.iter().map(|p| (p.0.to_owned(), pick(p))).collect())
    };
    json!({
        "name": name,
        "label": name,
        "schemaDefinition": {
            "type": "object",
            "allOf": [
                {"$ref": "#/components/schemas/AbstractContentTypeSchemaDefinition"},
                {"type": "object", "properties": map(|p| p.1.clone())},
            ],
            "required": required,
            "additionalProperties": false,
        },
        "metaDefinition": {
            "order": properties.iter().map(|p| p.0).collect::<Vec<_>>(),
            "propertiesConfig": map(|p| p.2.clone()),
        },
    })
}

/// Files of the types and the authors, to import before posts.
pub(crate) struct Corpus {
    types: [PathBuf; 2],
    pub(crate) authors: PathBuf,
}

impl Corpus {
    pub(crate) fn write(folder: &Path) -> Self {
        let authors = folder.join("authors.ndjson");
        write(&authors, (0..AUTHORS).map(author)).expect("the folder is writable");
        Self { types: types().map(|content_type| write_type(folder, &content_type)), authors }
    }

    pub(crate) fn types(&self) -> [&Path; 2] {
        self.types.each_ref().map(PathBuf::as_path)
    }
}

/// Writes a content type as JSON; returns the path.
pub(crate) fn write_type(folder: &Path, content_type: &Value) -> PathBuf {
    let name = content_type["name"].as_str().expect("types have a name");
    let path = folder.join(format!("{name}.json"));
    std::fs::write(&path, content_type.to_string()).expect("the folder is writable");
    path
}

/// Writes a photo; returns the path.
pub(crate) fn write_photo(folder: &Path) -> PathBuf {
    let path = folder.join("photo.jpg");
    std::fs::write(&path, images::photo(2000, 1500)).expect("the folder is writable");
    path
}

/// Writes objects as JSON lines.
pub(crate) fn write(path: &Path, objects: impl Iterator<Item = Value>) -> Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    for object in objects {
        writeln!(file, "{object}")?;
    }
    file.flush()
}
