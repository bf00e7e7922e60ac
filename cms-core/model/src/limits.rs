//! Named bounds (contract 1.9, 1.12). Numbers stand here and nowhere else.

use std::time::Duration;

/// Default number of entries on a page.
pub const PAGE_DEFAULT: u32 = 20;
/// Most objects or versions on a page.
pub const PAGE_MAX: u32 = 1000;
/// Most content types on a page.
pub const TYPE_PAGE_MAX: u32 = 10_000;
/// Deepest hydration of reads.
pub const HYDRATE_MAX: u8 = 2;
/// Largest object, as compact JSON without `internal`, in bytes.
pub const OBJECT_BYTES: usize = 1_048_576;
/// Longest text of one object in a request: an object of [`OBJECT_BYTES`] may be written with spaces
/// and escapes. Longer ones are not read at all.
pub const OBJECT_TEXT: usize = 16 * OBJECT_BYTES;
/// Elements of one batch call, unless the operator says otherwise.
pub const BATCH_DEFAULT: usize = 1000;
/// Most conditions in one `filters` parameter, and most values in one condition.
pub const FILTER_CONDITIONS: usize = 100;
/// Most values in the array of one condition.
pub const FILTER_VALUES: usize = 10_000;
/// Property indexes per content type, unique properties not counted.
pub const INDEXED_PROPERTIES: usize = 16;
/// Entries of an index that a list may read and still count as quick: well below a millisecond.
pub const QUICK_ENTRIES: u64 = 10_000;
/// Objects that a list may show and still count as quick.
pub const QUICK_OBJECTS: u32 = 100;
/// Bytes of objects in a list that still counts as quick: a thread that serves connections renders
/// hundreds of such responses before a health check waits for 100 ms.
pub const QUICK_BYTES: usize = 128 * 1024;
/// Different objects that the links of a quick read may point to; each is a look-up by id.
pub const QUICK_TARGETS: usize = 300;
/// Largest response with objects, in bytes; larger ones are an error that names the limit.
pub const ANSWER_BYTES: usize = 256 * 1024 * 1024;
/// Longest time that one read of the database may take.
pub const READ_TIME: Duration = Duration::from_secs(5);
/// Paths of one map of faults; a payload cannot make an answer many times its size.
pub const FAULTY_PATHS: usize = 1000;
/// Unique properties of one type: each costs an index and a look-up with every write.
pub const UNIQUE_PROPERTIES: usize = 64;
/// Longest name and label of a type, and longest name of a key, in characters.
pub const NAME_CHARS: usize = 255;
/// Days that a deleted object is kept.
pub const TRASH_DAYS: i64 = 60;
/// Entries that the log of a webhook keeps (contract 11.2).
pub const WEBHOOK_LOG: u32 = 300;
/// Bytes that the log of webhooks keeps of a request, and of an answer.
pub const WEBHOOK_LOGGED: usize = 16 * 1024;
/// Deliveries that one request asks to be sent again.
pub const WEBHOOK_REPLAYS: usize = 1000;
/// Seconds that one call asks blocking webhooks.
pub const CONSULTATION_SECONDS: i64 = 60;
/// Days that the journal of changes goes back at least.
pub const JOURNAL_DAYS: i64 = 7;
/// Steps that matching the patterns of one object takes at most before a value counts as not
/// matching: so many, and more by the size of the object. A step is an instruction of the matcher or
/// one examined character, a few nanoseconds.
pub const PATTERN_STEPS: u64 = 200_000;
/// Steps that are added for each byte of the object.
pub const PATTERN_STEPS_PER_BYTE: u64 = 12;
/// Steps that one job takes at most while it holds the writer: objects are checked before, and only
/// what changed meanwhile is checked again.
pub const PATTERN_STEPS_OF_WRITE: u64 = 250_000;
/// Deepest nesting of JSON in the schema of one property: about ten lists within each other.
pub const SCHEMA_DEPTH: usize = 40;
/// Ids in one batch publish, unpublish or archive (contract 1.12).
pub const BATCH_PUBLISH: usize = 1001;
/// Most states, and most transitions, of one workflow.
pub const WORKFLOW_PARTS: usize = 1000;
/// Most workflows of an operator.
pub const WORKFLOWS: usize = 1000;
/// Scheduled publications that one transaction carries out; others are done by the next.
pub const DUE_AT_ONCE: usize = 500;
/// Most words in one text of a search.
pub const SEARCH_WORDS: usize = 1000;
/// Most words of a text of a search, times the fields in which each is looked for.
pub const SEARCH_TERMS: usize = 10_000;
/// Most wildcards and fuzzy words in one search, times the fields in which each is looked for: each
/// reads the index for every word like it.
pub const SEARCH_EXPANSIONS: usize = 128;
/// Deepest parentheses in a text of a search; deeper ones mean nothing.
pub const SEARCH_DEPTH: usize = 20;
/// Most fields, and most filters of one kind, of one search.
pub const SEARCH_PARTS: usize = 100;
/// Most aggregations of one search: each may hold every value of a property in memory.
pub const SEARCH_AGGREGATIONS: usize = 20;
/// Longest word that may have typing errors, in characters.
pub const FUZZY_CHARS: usize = 64;
/// Longest word with wildcards, in characters; in longer ones they mean nothing.
pub const WILDCARD_CHARS: usize = 100;
/// How long a search waits for the index, unless the operator says otherwise.
pub const SEARCH_WAIT: Duration = Duration::from_secs(1);
/// Most hits of one search, on all its pages (contract 1.12).
pub const SEARCH_RESULTS: u64 = 10_000;
/// Largest width and height in the path of an image.
pub const IMAGE_EDGE: u32 = 10_000;
/// Largest number in a trim.
pub const TRIM_EDGE: u32 = 9_999_999;
/// Largest file that may be uploaded, unless the operator says otherwise (contract 1.12).
pub const FILE_BYTES: u64 = 10 * 1024 * 1024;
/// Bytes of an uploaded file that are looked at to tell what it is.
pub const INSPECTED_BYTES: u64 = 16 * 1024 * 1024;
/// Hours that an uploaded file waits for its media object (contract 7.1).
pub const UNSAVED_HOURS: i64 = 24;
/// Disk space for rendered pictures, unless the operator says otherwise.
pub const RENDER_CACHE: u64 = 1024 * 1024 * 1024;
/// Pixels of a picture up to which `format=auto` may choose AVIF.
pub const AUTOMATIC_AVIF: u64 = 2_000_000;
/// Bytes of a file or picture that are in memory while it is sent.
pub const PIECE_BYTES: u64 = 256 * 1024;
/// Bytes of renderings, of at most [`PIECE_BYTES`] each, that stay in memory to be sent again.
pub const RECENT_RENDERS: u64 = 32 * 1024 * 1024;
/// Longest text of a GraphQL query, in bytes (contract 8.5).
pub const GRAPHQL_BYTES: usize = 64 * 1024;
/// Deepest selection of a GraphQL query; `edges` and `node` do not count (contract 14).
pub const GRAPHQL_DEPTH: usize = 15;
/// Most relations within each other in a GraphQL query (contract 8.4).
pub const GRAPHQL_RELATIONS: usize = 10;
/// Most objects in the answer to a GraphQL query (contract 8.5).
pub const GRAPHQL_OBJECTS: usize = 10_000;
/// Largest response to a GraphQL query, and most text of objects that it holds in memory, in bytes.
pub const GRAPHQL_RESPONSE_BYTES: usize = 64 * 1024 * 1024;
/// Deepest brackets in the text of a GraphQL query, of any kind.
pub const GRAPHQL_NESTING: usize = 40;
/// Most selections, arguments, values and directives of a GraphQL query with its fragments put in
/// their places, added up over all operations and fragments.
pub const GRAPHQL_SELECTIONS: usize = 10_000;
/// Most fields at the root of a GraphQL query: each reads a list.
pub const GRAPHQL_ROOTS: usize = 100;
/// Longest body of a request to GraphQL, in bytes.
pub const GRAPHQL_BODY: usize = 1024 * 1024;
/// Most bytes of all texts in the arguments of a GraphQL query, with its variables in their places.
pub const GRAPHQL_ARGUMENTS: usize = 1024 * 1024;
/// Most lists of the schema that a GraphQL query asks for, and that stand within each other.
pub const INTROSPECTION_LISTS: usize = 12;
pub const INTROSPECTION_DEPTH: usize = 2;
/// Faults of a GraphQL query that are told.
pub const GRAPHQL_FAULTS: usize = 100;
/// Most objects of one page of a GraphQL connection when the query does not say.
pub const CONNECTION_DEFAULT: u32 = 10;
/// Text of the GraphQL queries that need not be judged again, for each schema, in bytes.
pub const JUDGED_QUERIES: u64 = 256 * 1024;
/// Text of the GraphQL queries that clients may name by their hashes, in bytes.
pub const NAMED_QUERIES: u64 = 4 * 1024 * 1024;
/// GraphQL schemas that are kept: each for a version and the types that a key may read.
pub const KNOWN_SCHEMAS: usize = 64;
/// Longest `Idempotency-Key`.
pub const IDEMPOTENCY_KEY_BYTES: usize = 255;
/// Hours that the answer to a request with such a key is kept.
pub const IDEMPOTENCY_HOURS: i64 = 24;
/// Most answers that are kept; the oldest go first.
pub const IDEMPOTENCY_ANSWERS: i64 = 100_000;
/// Largest answer that is kept: a call that would have a larger one is refused.
pub const IDEMPOTENCY_BYTES: usize = 4 * 1024 * 1024;
/// Rows of the journal that one page looks at: others may be hidden from the caller.
pub const CHANGES_SCANNED: usize = 10_000;
/// Hours by which the clock may be ahead of the last clean-up; more is a jump, after which nothing is
/// removed for good at first.
pub const CLOCK_JUMP_HOURS: i64 = 24;
/// Hours that a server has to run after such a jump before clean-ups go by the clock again.
pub const CLOCK_SETTLING_HOURS: i64 = 24;
/// Of so many stored files a clean-up removes at most one by itself.
pub const ORPHANED_SHARE: u64 = 10;
/// Free disk space below which a data folder is not ready to be written to.
pub const DISK_RESERVE: u64 = 16 * 1024 * 1024;
