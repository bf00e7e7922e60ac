//! Named bounds (contract 1.9, 1.12). Numbers stand here and nowhere else.

use std::time::Duration;

/// Default number of entries on a page.
pub const DEFAULT_PAGE_SIZE: u32 = 20;
/// Most objects or versions on a page.
pub const MAX_PAGE_SIZE: u32 = 1000;
/// Most content types on a page.
pub const MAX_TYPE_PAGE_SIZE: u32 = 10_000;
/// Deepest hydration of reads.
pub const MAX_HYDRATION_DEPTH: u8 = 2;
/// Largest object, as compact JSON without `internal`, in bytes.
pub const MAX_OBJECT_BYTES: usize = 1_048_576;
/// Longest text of one object in a request: an object of [`MAX_OBJECT_BYTES`] may be written with spaces
/// and escapes. Longer ones are not read at all.
pub const MAX_OBJECT_TEXT_BYTES: usize = 16 * MAX_OBJECT_BYTES;
/// Elements of one batch call, unless the operator says otherwise.
pub const DEFAULT_BATCH_LIMIT: usize = 1000;
/// Most conditions in one `filters` parameter, and most values in one condition.
pub const MAX_FILTER_CONDITIONS: usize = 100;
/// Most values in the array of one condition.
pub const MAX_FILTER_VALUES: usize = 10_000;
/// Property indexes per content type, unique properties not counted.
pub const MAX_INDEXED_PROPERTIES: usize = 16;
/// Entries of an index that a list may read and still count as quick: well below a millisecond.
pub const FAST_READ_INDEX_ENTRIES: u64 = 10_000;
/// Objects that a list may show and still count as quick.
pub const FAST_READ_OBJECTS: u32 = 100;
/// Bytes of objects in a list that still counts as quick: a thread that serves connections renders
/// hundreds of such responses before a health check waits for 100 ms.
pub const FAST_READ_BYTES: usize = 128 * 1024;
/// Different objects that the links of a quick read may point to; each is a look-up by id.
pub const FAST_READ_LINK_TARGETS: usize = 300;
/// Largest response with objects, in bytes; larger ones are an error that names the limit.
pub const MAX_RESPONSE_BYTES: usize = 256 * 1024 * 1024;
/// Longest time that one read of the database may take.
pub const READ_TIMEOUT: Duration = Duration::from_secs(5);
/// Paths of one map of faults; a payload cannot make an answer many times its size.
pub const MAX_ERROR_PATHS: usize = 1000;
/// Unique properties of one type: each costs an index and a look-up with every write.
pub const MAX_UNIQUE_PROPERTIES: usize = 64;
/// Longest name and label of a type, and longest name of a key, in characters.
pub const MAX_NAME_CHARS: usize = 255;
/// Days that a deleted object is kept.
pub const TRASH_RETENTION_DAYS: i64 = 60;
/// Entries that the log of a webhook keeps (contract 11.2).
pub const MAX_WEBHOOK_LOG_ENTRIES: u32 = 300;
/// Bytes that the log of webhooks keeps of a request, and of an answer.
pub const MAX_WEBHOOK_LOG_BODY_BYTES: usize = 16 * 1024;
/// Deliveries that one request asks to be sent again.
pub const MAX_WEBHOOK_REPLAYS: usize = 1000;
/// Seconds that one call asks blocking webhooks.
pub const SYNC_WEBHOOKS_TIMEOUT_SECONDS: i64 = 60;
/// Days that the journal of changes goes back at least.
pub const JOURNAL_RETENTION_DAYS: i64 = 7;
/// Steps that matching the patterns of one object takes at most before a value counts as not
/// matching: so many, and more by the size of the object. A step is an instruction of the matcher or
/// one examined character, a few nanoseconds.
pub const PATTERN_STEPS_PER_OBJECT: u64 = 200_000;
/// Steps that are added for each byte of the object.
pub const PATTERN_STEPS_PER_BYTE: u64 = 12;
/// Steps that one job takes at most while it holds the writer: objects are checked before, and only
/// what changed meanwhile is checked again.
pub const PATTERN_STEPS_PER_WRITE_JOB: u64 = 250_000;
/// Deepest nesting of JSON in the schema of one property: about ten lists within each other.
pub const MAX_SCHEMA_DEPTH: usize = 40;
/// Ids in one batch publish, unpublish or archive (contract 1.12).
pub const MAX_PUBLISH_BATCH_IDS: usize = 1001;
/// Most states, and most transitions, of one workflow.
pub const MAX_WORKFLOW_ELEMENTS: usize = 1000;
/// Most workflows of an operator.
pub const MAX_WORKFLOWS: usize = 1000;
/// Scheduled publications that one transaction carries out; others are done by the next.
pub const MAX_SCHEDULED_PER_TRANSACTION: usize = 500;
/// Most words in one text of a search.
pub const MAX_SEARCH_WORDS: usize = 1000;
/// Most words of a text of a search, times the fields in which each is looked for.
pub const MAX_SEARCH_TERMS: usize = 10_000;
/// Most wildcards and fuzzy words in one search, times the fields in which each is looked for: each
/// reads the index for every word like it.
pub const MAX_SEARCH_EXPANSIONS: usize = 128;
/// Deepest parentheses in a text of a search; deeper ones mean nothing.
pub const MAX_SEARCH_DEPTH: usize = 20;
/// Most fields, and most filters of one kind, of one search.
pub const MAX_SEARCH_PARAMETERS: usize = 100;
/// Most aggregations of one search: each may hold every value of a property in memory.
pub const MAX_SEARCH_AGGREGATIONS: usize = 20;
/// Longest word that may have typing errors, in characters.
pub const MAX_FUZZY_WORD_CHARS: usize = 64;
/// Longest word with wildcards, in characters; in longer ones they mean nothing.
pub const MAX_WILDCARD_WORD_CHARS: usize = 100;
/// How long a search waits for the index, unless the operator says otherwise.
pub const DEFAULT_SEARCH_WAIT: Duration = Duration::from_secs(1);
/// Most hits of one search, on all its pages (contract 1.12).
pub const MAX_SEARCH_RESULTS: u64 = 10_000;
/// Largest width and height in the path of an image.
pub const MAX_IMAGE_EDGE_PIXELS: u32 = 10_000;
/// Largest number in a trim.
pub const MAX_TRIM_PIXELS: u32 = 9_999_999;
/// Largest file that may be uploaded, unless the operator says otherwise (contract 1.12).
pub const DEFAULT_MAX_UPLOAD_BYTES: u64 = 10 * 1024 * 1024;
/// Bytes of an uploaded file that are looked at to tell what it is.
pub const MAX_INSPECTED_BYTES: u64 = 16 * 1024 * 1024;
/// Hours that an uploaded file waits for its media object (contract 7.1).
pub const UNSAVED_UPLOAD_HOURS: i64 = 24;
/// Disk space for rendered pictures, unless the operator says otherwise.
pub const DEFAULT_RENDER_CACHE_BYTES: u64 = 1024 * 1024 * 1024;
/// Pixels of a picture up to which `format=auto` may choose AVIF.
pub const MAX_AUTO_AVIF_PIXELS: u64 = 2_000_000;
/// Bytes of a file or picture that are in memory while it is sent.
pub const CHUNK_BYTES: u64 = 256 * 1024;
/// Bytes of renderings, of at most [`CHUNK_BYTES`] each, that stay in memory to be sent again.
pub const RENDER_MEMORY_CACHE_BYTES: u64 = 32 * 1024 * 1024;
/// Longest text of a GraphQL query, in bytes (contract 8.5).
pub const MAX_GRAPHQL_QUERY_BYTES: usize = 64 * 1024;
/// Deepest selection of a GraphQL query; `edges` and `node` do not count (contract 14).
pub const MAX_GRAPHQL_DEPTH: usize = 15;
/// Most relations within each other in a GraphQL query (contract 8.4).
pub const MAX_GRAPHQL_RELATION_DEPTH: usize = 10;
/// Most objects in the answer to a GraphQL query (contract 8.5).
pub const MAX_GRAPHQL_OBJECTS: usize = 10_000;
/// Largest response to a GraphQL query, and most text of objects that it holds in memory, in bytes.
pub const MAX_GRAPHQL_RESPONSE_BYTES: usize = 64 * 1024 * 1024;
/// Deepest brackets in the text of a GraphQL query, of any kind.
pub const MAX_GRAPHQL_BRACKET_DEPTH: usize = 40;
/// Most selections, arguments, values and directives of a GraphQL query with its fragments put in
/// their places, added up over all operations and fragments.
pub const MAX_GRAPHQL_SELECTIONS: usize = 10_000;
/// Most fields at the root of a GraphQL query: each reads a list.
pub const MAX_GRAPHQL_ROOT_FIELDS: usize = 100;
/// Longest body of a request to GraphQL, in bytes.
pub const MAX_GRAPHQL_BODY_BYTES: usize = 1024 * 1024;
/// Most bytes of all texts in the arguments of a GraphQL query, with its variables in their places.
pub const MAX_GRAPHQL_ARGUMENT_BYTES: usize = 1024 * 1024;
/// Most lists of the schema that a GraphQL query asks for, and that stand within each other.
pub const MAX_INTROSPECTION_LISTS: usize = 12;
pub const MAX_INTROSPECTION_LIST_DEPTH: usize = 2;
/// Faults of a GraphQL query that are told.
pub const MAX_GRAPHQL_ERRORS: usize = 100;
/// Most objects of one page of a GraphQL connection when the query does not say.
pub const DEFAULT_CONNECTION_SIZE: u32 = 10;
/// Text of the GraphQL queries that need not be judged again, for each schema, in bytes.
pub const VALIDATED_QUERY_CACHE_BYTES: u64 = 256 * 1024;
/// Text of the GraphQL queries that clients may name by their hashes, in bytes.
pub const PERSISTED_QUERY_CACHE_BYTES: u64 = 4 * 1024 * 1024;
/// GraphQL schemas that are kept: each for a version and the types that a key may read.
pub const MAX_CACHED_GRAPHQL_SCHEMAS: usize = 64;
/// Longest `Idempotency-Key`.
pub const MAX_IDEMPOTENCY_KEY_BYTES: usize = 255;
/// Hours that the answer to a request with such a key is kept.
pub const IDEMPOTENCY_RETENTION_HOURS: i64 = 24;
/// Most answers that are kept; the oldest go first.
pub const MAX_IDEMPOTENCY_RESPONSES: i64 = 100_000;
/// Largest answer that is kept: a call that would have a larger one is refused.
pub const MAX_IDEMPOTENCY_RESPONSE_BYTES: usize = 4 * 1024 * 1024;
/// Rows of the journal that one page looks at: others may be hidden from the caller.
pub const MAX_CHANGES_SCANNED: usize = 10_000;
/// Hours by which the clock may be ahead of the last clean-up; more is a jump, after which nothing is
/// removed for good at first.
pub const CLOCK_JUMP_HOURS: i64 = 24;
/// Hours that a server has to run after such a jump before clean-ups go by the clock again.
pub const CLOCK_SETTLING_HOURS: i64 = 24;
/// Of so many stored files a clean-up removes at most one by itself.
pub const MIN_FILES_PER_ORPHAN_REMOVED: u64 = 10;
/// Free disk space below which a data folder is not ready to be written to.
pub const DISK_RESERVE_BYTES: u64 = 16 * 1024 * 1024;
