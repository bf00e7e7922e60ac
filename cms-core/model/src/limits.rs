//! Limits and defaults, see docs/reference/limits.md. The schedule of webhook retries is in
//! [`crate::webhook::schedule`].

use std::time::Duration;

/// Default number of entries on a page.
pub const DEFAULT_PAGE_SIZE: u32 = 20;
/// Maximum number of objects or versions on a page.
pub const MAX_PAGE_SIZE: u32 = 1000;
/// Maximum number of content types on a page.
pub const MAX_TYPE_PAGE_SIZE: u32 = 10_000;
pub const MAX_HYDRATION_DEPTH: u8 = 2;
/// Maximum size of an object as compact JSON without `internal`.
pub const MAX_OBJECT_BYTES: usize = 1_048_576;
/// Maximum size of the text of an object in a request, which may have white space and escapes.
/// Longer texts are not parsed.
pub const MAX_OBJECT_TEXT_BYTES: usize = 16 * MAX_OBJECT_BYTES;
/// Maximum number of JSON values in the text of an object: more values exceed [`MAX_OBJECT_BYTES`]. Other bodies that are
/// parsed as a whole have the same limit.
pub const MAX_JSON_VALUES: usize = MAX_OBJECT_BYTES / 2;
/// Default limit of the elements of one batch.
pub const DEFAULT_BATCH_LIMIT: usize = 1000;
/// Maximum number of paths in one `fields[]` or `item_fields[]` parameter.
pub const MAX_FIELDS: usize = 100;
/// Maximum number of paths that a list of incoming links returns for each linking object.
pub const MAX_INCOMING_PATHS: usize = 20;
/// Maximum number of conditions in one `filters` parameter.
pub const MAX_FILTER_CONDITIONS: usize = 100;
/// Maximum number of relations in the path of one condition.
pub const MAX_FILTER_RELATIONS: usize = 3;
/// Maximum number of content types that the relations in the paths of all conditions lead to.
pub const MAX_FILTER_TARGETS: usize = 100;
/// Maximum number of different values of `includes` for `internal.incoming`: each is a subquery.
pub const MAX_FILTER_INCOMING_VALUES: usize = 100;
/// Maximum number of values in the array of one condition.
pub const MAX_FILTER_VALUES: usize = 10_000;
/// Maximum number of indexed properties per content type, unique ones not counted.
pub const MAX_INDEXED_PROPERTIES: usize = 16;
/// Index entries that a fast read may scan: well below a millisecond. Fast reads run on the threads
/// that serve connections.
pub const FAST_READ_INDEX_ENTRIES: u64 = 10_000;
/// Objects that a fast read may return.
pub const FAST_READ_OBJECTS: u32 = 100;
/// Bytes of objects that a fast read may return: a thread renders hundreds of such responses before
/// it delays a health check by 100 ms.
pub const FAST_READ_BYTES: usize = 128 * 1024;
/// Bytes of objects that a fast read may scan for selected fields, which is several times as fast
/// as returning them.
pub const FAST_READ_SCANNED_BYTES: usize = 1024 * 1024;
/// Distinct link targets of a fast read; each is a lookup by id.
pub const FAST_READ_LINK_TARGETS: usize = 300;
/// Maximum size of the body of a fast write, and of the object that it changes: both are parsed and
/// validated on the thread that serves the connection.
pub const FAST_WRITE_BYTES: usize = 16 * 1024;
/// Maximum size of a response with objects.
pub const MAX_RESPONSE_BYTES: usize = 256 * 1024 * 1024;
/// Maximum time of one read of the database.
pub const READ_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum number of paths in an error map; also the maximum number of messages per path. A small
/// payload cannot cause a large response.
pub const MAX_ERROR_PATHS: usize = 1000;
/// Maximum number of unique properties and unique combinations of a type: each costs an index and a
/// lookup per write.
pub const MAX_UNIQUE_PROPERTIES: usize = 64;
/// Maximum number of properties of a unique combination.
pub const MAX_COMBINED_PROPERTIES: usize = 8;
/// Maximum length of names and labels of types and of names of keys.
pub const MAX_NAME_CHARS: usize = 255;
/// Maximum number of users.
pub const MAX_USERS: u64 = 10_000;
/// Maximum length of the e-mail address of a user.
pub const MAX_EMAIL_CHARS: usize = 254;
pub const MIN_PASSWORD_CHARS: usize = 12;
pub const MAX_PASSWORD_CHARS: usize = 256;
/// Maximum number of sessions of one user; one more ends the session that was used least recently.
pub const MAX_SESSIONS_PER_USER: u64 = 1000;
/// How long a sign-in by OpenID Connect may take.
pub const OPENID_SIGN_IN_SECONDS: i64 = 10 * 60;
/// Maximum number of unfinished sign-ins by OpenID Connect; one more removes the oldest.
pub const MAX_OPENID_SIGN_INS: u64 = 10_000;
/// Maximum length of the page to return to after a sign-in by OpenID Connect.
pub const MAX_RETURN_PATH_BYTES: usize = 2048;
/// Maximum length of the identifier of a person at an issuer.
pub const MAX_SUBJECT_BYTES: usize = 255;
/// Maximum size of the body of a sign-in and of other requests about sessions.
pub const MAX_SESSION_BODY_BYTES: usize = 16 * 1024;
/// Characters of the header `User-Agent` that a session stores.
pub const MAX_USER_AGENT_CHARS: usize = 255;
/// Days until the clean-up removes a deleted object permanently.
pub const TRASH_RETENTION_DAYS: i64 = 60;
/// Maximum number of entries that one request removes from the trash.
pub const MAX_TRASH_REMOVALS: u32 = 10_000;
/// Maximum number of expired entries that the clean-up removes from the trash in one transaction.
pub const MAX_EXPIRED_TRASH_REMOVALS: u32 = 1000;
/// Maximum number of former definitions of a type that are kept for objects in the trash.
pub const MAX_FORMER_DEFINITIONS: usize = 1000;
/// Days after its last change until the clean-up removes a working copy.
pub const WORKING_COPY_RETENTION_DAYS: i64 = 30;
/// Maximum number of working copies of one key or user.
pub const MAX_WORKING_COPIES: u64 = 1000;
/// Maximum length of a title in lists of working copies, activity, deletions, schedules and incoming links; longer ones
/// are cut.
pub const MAX_LISTED_TITLE_CHARS: usize = 1000;
/// Maximum length of the `ETag` that a working copy names.
pub const MAX_ENTITY_TAG_CHARS: usize = 128;
/// Maximum number of expired working copies that one transaction removes.
pub const MAX_WORKING_COPIES_EXPIRED_PER_TRANSACTION: usize = 500;
/// Maximum number of shared views of a content type.
pub const MAX_SHARED_VIEWS: u64 = 200;
/// Maximum size of the definition of a shared view, as compact JSON.
pub const MAX_SHARED_VIEW_BYTES: usize = 8192;
/// Maximum number of valid preview tokens of one key or user.
pub const MAX_PREVIEW_TOKENS: u32 = 100;
/// Minutes for which a preview token is valid.
pub const PREVIEW_TOKEN_MINUTES: i64 = 60;
/// Maximum length of the preview URL of a content type.
pub const MAX_PREVIEW_URL_CHARS: usize = 2048;
/// Maximum size of the settings of a user.
pub const MAX_SETTINGS_BYTES: usize = 64 * 1024;
/// Seconds after which the presence of a tab expires, unless the tab reports it again.
pub const PRESENCE_LIFETIME_SECONDS: i64 = 45;
/// Maximum number of tabs with presence of one key or user.
pub const MAX_PRESENCE_TABS_PER_CALLER: usize = 20;
/// Maximum number of tabs with presence of one process.
pub const MAX_PRESENCE_TABS: usize = 10_000;
/// Maximum number of ended deliveries in the log of a webhook; pending ones are not counted.
pub const MAX_WEBHOOK_LOG_ENTRIES: u32 = 300;
/// Bytes of a request body, and of a response body, in the log of a webhook.
pub const MAX_WEBHOOK_LOG_BODY_BYTES: usize = 16 * 1024;
/// Maximum number of headers of a request, and of a response, in the log of a webhook.
pub const MAX_WEBHOOK_LOG_HEADERS: usize = 64;
/// Maximum total size of the logged headers of a request, and of a response.
pub const MAX_WEBHOOK_LOG_HEADER_BYTES: usize = 8 * 1024;
/// Maximum number of deliveries in one replay request.
pub const MAX_WEBHOOK_REPLAYS: usize = 1000;
/// Maximum total time of the synchronous webhooks of one request.
pub const SYNC_WEBHOOKS_TIMEOUT_SECONDS: i64 = 60;
/// Days for which the journal keeps changes, by default.
pub const DEFAULT_ACTIVITY_DAYS: i64 = 365;
/// The smallest and the largest number of days that can be set.
pub const MIN_ACTIVITY_DAYS: i64 = 7;
pub const MAX_ACTIVITY_DAYS: i64 = 3650;
/// Maximum number of hours for which a token stays valid after the rotation of its key.
pub const MAX_GRACE_HOURS: i64 = 168;
/// Maximum number of properties in an entry of the activity log.
pub const MAX_ACTIVITY_PROPERTIES: usize = 100;
/// Steps for matching the patterns of one object; beyond them, a value counts as not matching. A
/// step is an instruction of the matcher or one examined character: a few nanoseconds.
pub const PATTERN_STEPS_PER_OBJECT: u64 = 200_000;
/// Additional steps per byte of the object.
pub const PATTERN_STEPS_PER_BYTE: u64 = 12;
/// Steps of one write inside its transaction. Objects are validated before; the write validates
/// again only what has changed since.
pub const PATTERN_STEPS_PER_WRITE: u64 = 250_000;
/// Steps for matching the patterns of an object on a thread that serves connections.
pub const FAST_PATTERN_STEPS: u64 = 20_000;
/// Maximum depth of JSON in the schema of one property: about ten nested lists.
pub const MAX_SCHEMA_DEPTH: usize = 40;
/// Maximum number of ids in one batch publish, unpublish or archive.
pub const MAX_PUBLISH_BATCH_IDS: usize = 1001;
/// Maximum number of states, and of transitions, of one workflow.
pub const MAX_WORKFLOW_ELEMENTS: usize = 1000;
/// Maximum number of workflows, with the built-in ones.
pub const MAX_WORKFLOWS: usize = 1000;
/// Maximum number of scheduled publications in one transaction.
pub const MAX_SCHEDULED_PER_TRANSACTION: usize = 500;
/// Maximum number of words in one search text.
pub const MAX_SEARCH_WORDS: usize = 1000;
/// Maximum number of words in one search text, times the fields that are searched for each.
pub const MAX_SEARCH_TERMS: usize = 10_000;
/// Maximum number of wildcard and fuzzy words in one search, times the fields that are searched for
/// each: each scans the index for similar words.
pub const MAX_SEARCH_EXPANSIONS: usize = 128;
/// Maximum depth of parentheses in a search text; a text with deeper ones is searched as plain
/// words.
pub const MAX_SEARCH_DEPTH: usize = 20;
/// Maximum number of fields, and of filters of each kind, of one search.
pub const MAX_SEARCH_PARAMETERS: usize = 100;
/// Maximum number of aggregations of one search: each may hold every value of a property in memory.
pub const MAX_SEARCH_AGGREGATIONS: usize = 20;
/// Words of this length or longer match only without typing errors.
pub const MIN_EXACT_WORD_CHARS: usize = 64;
/// Maximum length of a word with wildcards; in longer words they are ignored.
pub const MAX_WILDCARD_WORD_CHARS: usize = 100;
/// Default time for which a search waits for the index.
pub const DEFAULT_SEARCH_WAIT: Duration = Duration::from_secs(1);
/// Maximum number of hits of one search on all pages.
pub const MAX_SEARCH_RESULTS: u64 = 10_000;
/// Maximum width and height in an image URL.
pub const MAX_IMAGE_EDGE_PIXELS: u32 = 10_000;
/// Maximum of each number of a `trim`: pixels to cut off an edge of an image, width and height to keep.
pub const MAX_TRIM_PIXELS: u32 = 9_999_999;
/// Default maximum size of an uploaded file (`media-file-limit`).
pub const DEFAULT_MEDIA_FILE_LIMIT_BYTES: u64 = 10 * 1024 * 1024;
/// Bytes of an uploaded file that are read to detect its type.
pub const MAX_INSPECTED_BYTES: u64 = 16 * 1024 * 1024;
/// Hours from the first clean-up that records an orphaned file until its removal.
pub const ORPHAN_RETENTION_HOURS: i64 = 24;
/// Default memory for rendered link targets.
pub const DEFAULT_LINKED_OBJECT_CACHE_BYTES: usize = 4 * 1024 * 1024;
/// Default disk space for rendered images.
pub const DEFAULT_RENDER_CACHE_BYTES: u64 = 1024 * 1024 * 1024;
/// Maximum number of pixels of an image for which `format=auto` may choose AVIF.
pub const MAX_AUTO_AVIF_PIXELS: u64 = 2_000_000;
/// Maximum size of a chunk of a stored file or rendered image that a response sends. Larger rendered
/// images are not kept in memory.
pub const RESPONSE_CHUNK_BYTES: u64 = 256 * 1024;
/// Memory for recently rendered images of at most [`RESPONSE_CHUNK_BYTES`] each.
pub const RENDER_MEMORY_CACHE_BYTES: u64 = 32 * 1024 * 1024;
/// Maximum length of a GraphQL query.
pub const MAX_GRAPHQL_QUERY_BYTES: usize = 64 * 1024;
/// Maximum depth of the selections of a GraphQL query; `edges` and `node` do not count.
pub const MAX_GRAPHQL_DEPTH: usize = 15;
/// Maximum number of nested relations in a GraphQL query.
pub const MAX_GRAPHQL_RELATION_DEPTH: usize = 10;
/// Maximum number of objects in the response to a GraphQL query.
pub const MAX_GRAPHQL_OBJECTS: usize = 10_000;
/// Maximum number of links that the relations of a GraphQL query follow. A link counts again for
/// each alias of its relation.
pub const MAX_GRAPHQL_LINKS: usize = 100_000;
/// Maximum size of the response to a GraphQL query, and of the objects that it holds in memory.
pub const MAX_GRAPHQL_RESPONSE_BYTES: usize = 64 * 1024 * 1024;
/// Maximum depth of brackets of any kind in a GraphQL query.
pub const MAX_GRAPHQL_BRACKET_DEPTH: usize = 40;
/// Maximum number of selections, arguments, values and directives of a GraphQL query with expanded
/// fragments, in all its operations and fragments together.
pub const MAX_GRAPHQL_SELECTIONS: usize = 10_000;
/// Maximum number of root fields of a GraphQL query: each reads a list.
pub const MAX_GRAPHQL_ROOT_FIELDS: usize = 100;
/// Maximum size of the body of a GraphQL request.
pub const MAX_GRAPHQL_BODY_BYTES: usize = 1024 * 1024;
/// Maximum total size of the texts in the arguments of a GraphQL query, variables included.
pub const MAX_GRAPHQL_ARGUMENT_BYTES: usize = 1024 * 1024;
/// Maximum number of list fields of the schema in an introspection query.
pub const MAX_INTROSPECTION_LISTS: usize = 12;
/// Maximum number of nested list fields of the schema in an introspection query.
pub const MAX_INTROSPECTION_LIST_DEPTH: usize = 2;
/// Maximum number of errors that are reported for a GraphQL query.
pub const MAX_GRAPHQL_ERRORS: usize = 100;
/// Default number of objects on a page of a GraphQL connection.
pub const DEFAULT_CONNECTION_SIZE: u32 = 10;
/// Size of the cache of validated GraphQL queries, per schema.
pub const VALIDATED_QUERY_CACHE_BYTES: u64 = 256 * 1024;
/// Size of the cache of persisted GraphQL queries, which clients name by their hashes.
pub const PERSISTED_QUERY_CACHE_BYTES: u64 = 4 * 1024 * 1024;
/// Maximum number of cached GraphQL schemas: one per version and set of readable types.
pub const MAX_CACHED_GRAPHQL_SCHEMAS: usize = 64;
/// Maximum length of an `Idempotency-Key`.
pub const MAX_IDEMPOTENCY_KEY_BYTES: usize = 255;
/// Maximum number of objects of a bulk job.
pub const MAX_BULK_OBJECTS: usize = 1_000_000;
/// Objects that a dry run of a bulk job shows.
pub const BULK_SAMPLE_OBJECTS: usize = 20;
/// Maximum number of objects that a bulk job takes from its list for one transaction. Deletions add objects
/// that link to them, see [`MAX_LINKED_BULK_DELETIONS`].
pub const BULK_TRANSACTION_OBJECTS: usize = 500;
/// Number of objects in one transaction at which a bulk job stops adding objects that link to them.
pub const MAX_LINKED_BULK_DELETIONS: usize = 5000;
/// Maximum number of bytes that a bulk job holds in memory for one transaction.
pub const MAX_BULK_TRANSACTION_BYTES: usize = 16 * 1024 * 1024;
/// Maximum number of refused objects that a bulk job shows.
pub const MAX_JOB_REFUSALS: u64 = 1000;
/// Maximum number of bulk jobs that have not ended.
pub const MAX_OPEN_JOBS: u64 = 100;
/// Maximum number of rebuilds of the search index in their list.
pub const MAX_LISTED_REINDEX_JOBS: usize = 100;
/// Days for which bulk jobs are kept after their end.
pub const JOB_RETENTION_DAYS: i64 = 7;
/// Hours for which the response to a request with an `Idempotency-Key` is stored.
pub const IDEMPOTENCY_RETENTION_HOURS: i64 = 24;
/// Maximum number of stored responses; the oldest are removed first.
pub const MAX_IDEMPOTENCY_RESPONSES: i64 = 100_000;
/// Maximum size of a stored response; a request with a larger one is rejected.
pub const MAX_IDEMPOTENCY_RESPONSE_BYTES: usize = 4 * 1024 * 1024;
/// Rows of the journal that one page of changes may scan, rows hidden from the caller included.
pub const MAX_CHANGES_SCANNED: usize = 10_000;
/// Hours by which the clock may be ahead of the last clean-up. More is a jump, after which the
/// retention clock stands still for [`CLOCK_SETTLING_HOURS`].
pub const CLOCK_JUMP_HOURS: i64 = 24;
/// Hours that a server has to run after a jump of the clock before clean-ups trust the clock again.
pub const CLOCK_SETTLING_HOURS: i64 = 24;
/// The automatic clean-up removes orphaned files only if there are at least this many stored files for each file to
/// remove. Otherwise it removes none.
pub const MIN_STORED_FILES_PER_REMOVED_ORPHAN: u64 = 10;
/// Free disk space below which the server reports a data directory as not ready for writes.
pub const DISK_RESERVE_BYTES: u64 = 16 * 1024 * 1024;
