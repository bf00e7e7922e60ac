/** A typed client of a cms server. */

export type { Change, ChangeOptions } from "./changes.js";
export {
  Client,
  createClient,
  type Aggregation,
  type AllOptions,
  type ClientOptions,
  type CreateOptions,
  type GetOptions,
  type Hit,
  type Item,
  type List,
  type ListOptions,
  type PublishOptions,
  type SearchOptions,
  type SearchResult,
  type WriteOptions,
} from "./client.js";
export type {
  Author,
  CreateOf,
  Depth,
  DraftPublicName,
  Hydrated,
  ObjectOf,
  PatchOf,
  Selected,
  TypeName,
  UpdateOf,
} from "./content.js";
export {
  AccessError,
  CmsError,
  ConflictError,
  ExpiredPositionError,
  NotFoundError,
  RefusedError,
  UnavailableError,
  UnexpectedResponseError,
  ValidationError,
} from "./errors.js";
export type { Condition, FilterType } from "./filters.js";
export { hasType, isLink, isObject, link, target, type ImageOptions } from "./links.js";
export type { OrderPath } from "./paths.js";
export type { Fetch, Request, View } from "./transport.js";
