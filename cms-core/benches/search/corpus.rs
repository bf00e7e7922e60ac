//! Posts of 2 KB with a vocabulary like that of a language: few words are frequent, many are rare.

use serde_json::{Value, json};

/// Number of different words.
const VOCABULARY: usize = 40_000;
const SYLLABLES: [&str; 24] = [
    "ka", "lo", "mi", "ren", "sta", "vu", "tor", "bel", "qui", "fen", "gra", "hol", "jas", "nur",
    "pex", "wid", "yor", "zet", "dam", "cip", "bru", "eld", "ost", "umi",
];

/// A small generator of numbers, so that every run has the same corpus.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Between 0 and 1.
    #[expect(clippy::cast_precision_loss, reason = "32 bits fit")]
    fn share(&mut self) -> f64 {
        (self.next() >> 32) as f64 / f64::from(u32::MAX)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// A word; the first of the vocabulary are the most frequent.
    pub(crate) fn word(&mut self) -> String {
        let rank = self.share().powi(4) * f64::from(u32::try_from(VOCABULARY).unwrap_or_default());
        word(rank)
    }

    /// A word of medium frequency.
    pub(crate) fn medium_frequency_word(&mut self) -> String {
        word(100.0 + self.share() * 4_000.0)
    }

    fn text(&mut self, words: usize) -> String {
        (0..words).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small number")]
fn word(rank: f64) -> String {
    let (mut number, mut word) = (rank as usize + 24, String::new());
    while number > 0 {
        word.push_str(SYLLABLES[number % 24]);
        number /= 24;
    }
    word
}

pub(crate) struct Post {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) body: String,
    pub(crate) category: String,
    pub(crate) tags: [String; 2],
    pub(crate) rank: u64,
    pub(crate) lat: f64,
    pub(crate) lon: f64,
}

pub(crate) fn post(number: usize) -> Post {
    let mut numbers =
        Numbers(0x2545_F491_4F6C_DD1D ^ (number as u64 + 1).wrapping_mul(0x9E37_79B9));
    Post {
        id: format!("post-{number}"),
        title: numbers.text(6),
        body: format!("<p>{}</p><p>{}</p>", numbers.text(120), numbers.text(120)),
        category: format!("category-{}", numbers.below(20)),
        tags: [format!("tag-{}", numbers.below(200)), format!("tag-{}", numbers.below(200))],
        rank: numbers.below(1000),
        lat: numbers.share() * 20.0 + 40.0,
        lon: numbers.share() * 20.0,
    }
}

impl Post {
    pub(crate) fn to_json(&self) -> Value {
        json!({
            "id": self.id, "title": self.title, "body": self.body, "category": self.category,
            "tags": self.tags, "rank": self.rank, "place": { "lat": self.lat, "lon": self.lon },
        })
    }
}

/// The type of the posts, as the body of a request.
pub(crate) fn content_type() -> Value {
    let text = json!({ "type": "string" });
    let properties = json!({
        "title": text, "body": text, "category": text,
        "tags": { "type": "array", "items": { "type": "string" } },
        "rank": { "type": "number" },
        "place": { "type": "object", "additionalProperties": false, "properties": {
            "lat": { "type": "number" }, "lon": { "type": "number" },
        } },
    });
    let input = |kind: &str| json!({ "label": kind, "inputType": kind });
    let mut tags = input("select");
    tags["multiple"] = json!(true);
    tags["options"] = (0..200).map(|n| json!(format!("tag-{n}"))).collect();
    json!({
        "name": "post", "label": "Post",
        "schemaDefinition": {
            "type": "object",
            "allOf": [
                { "$ref": "#/components/schemas/AbstractContentTypeSchemaDefinition" },
                { "type": "object", "properties": properties },
            ],
            "required": [], "additionalProperties": false,
        },
        "metaDefinition": {
            "order": ["title", "body", "category", "tags", "rank", "place"],
            "propertiesConfig": {
                "title": input("text"), "body": input("richtext"), "category": input("text"),
                "tags": tags, "rank": input("number"), "place": input("geo"),
            },
        },
    })
}
