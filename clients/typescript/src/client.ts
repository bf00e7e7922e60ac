/** The client: requests on content, with the types of a map that `cms types typescript` writes. */

import { follow, type Change, type ChangeOptions } from "./changes.js";
import type {
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
import type { Filters } from "./filters.js";
import { imageUrl, type ImageOptions } from "./links.js";
import type { KnownField, OrderPath } from "./paths.js";
import { Transport, type Request, type TransportOptions, type View } from "./transport.js";

/** A page of a list. */
export interface List<Item> {
  total_count: number;
  total_pages: number;
  current_page: number;
  count: number;
  data: Item[];
}

/** A page of search results. */
export interface SearchResult<Item> extends List<Hit<Item>> {
  summary: {
    aggregations: Aggregation[];
    /** Present and true while the index of the server does not include all earlier writes. */
    incomplete_results?: boolean;
  };
}

export interface Hit<Item> {
  item: Item;
  score: number;
}

/** Number of results by the values of a property. */
export interface Aggregation {
  field: string;
  buckets: { key: string | number; doc_count: number }[];
  sum_other_doc_count: number;
}

/** The type of an object in a response, by depth and fields. */
export type Item<Types, Type extends TypeName<Types>, Level extends Depth, Field extends string> =
  Type extends TypeName<Types>
    ? string extends Field
      ? Hydrated<Types, ObjectOf<Types, Type>, Level>
      : Selected<Hydrated<Types, ObjectOf<Types, Type>, Level>, Field>
    : never;

interface RequestOptions {
  view?: View;
  signal?: AbortSignal;
}

interface ReadOptions<
  Types,
  Type extends TypeName<Types>,
  Level extends Depth,
  Field extends string,
> extends RequestOptions {
  /** Levels of links to replace by the linked objects. */
  hydrate?: Level;
  /** Only these parts of the object: property paths. `id` is always returned. */
  fields?: readonly KnownField<Hydrated<Types, ObjectOf<Types, Type>, Level>, Field>[];
}

interface Cacheable {
  /** The result of an earlier call with the same options: the call returns it again if nothing changed. */
  ifNoneMatch?: object;
}

export interface GetOptions<
  Types,
  Type extends TypeName<Types>,
  Level extends Depth = Depth,
  Field extends string = string,
> extends ReadOptions<Types, Type, Level, Field>,
    Cacheable {}

export interface AllOptions<
  Types,
  Type extends TypeName<Types>,
  Level extends Depth = Depth,
  Field extends string = string,
  Path extends string = string,
> extends ReadOptions<Types, Type, Level, Field> {
  /** Conditions by property path; all of them must match. */
  filters?: Filters<Types, Type, Path>;
  /** Only objects with these ids. */
  ids?: readonly string[];
  orderBy?: OrderPath<Types, Type>;
  orderDirection?: "asc" | "desc";
  /** Put objects without a value first instead of last. */
  emptyFirst?: boolean;
  /** Objects per page, at most 1000. */
  limit?: number;
}

export interface ListOptions<
  Types,
  Type extends TypeName<Types>,
  Level extends Depth = Depth,
  Field extends string = string,
  Path extends string = string,
> extends AllOptions<Types, Type, Level, Field, Path>,
    Cacheable {
  page?: number;
}

export interface SearchOptions<Types, Type extends TypeName<Types>, Level extends Depth = Depth>
  extends RequestOptions {
  /** Only these types; all that the key may read by default. */
  types?: readonly Type[];
  /** Only these properties, with a weight after `^`: `title^5`. */
  fields?: readonly string[];
  /** Queries on single properties, all of which must match. */
  filters?: Readonly<Record<string, string>>;
  /** The same, without effect on aggregations. */
  postFilters?: Readonly<Record<string, string>>;
  mode?: "default" | "exact" | "fuzzy";
  orderBy?: string;
  orderDirection?: "asc" | "desc";
  /** Count results by the values of these text properties, and of these numbers. */
  aggregateBy?: readonly string[];
  aggregateByNumeric?: readonly string[];
  hydrate?: Level;
  page?: number;
  limit?: number;
}

export interface WriteOptions extends RequestOptions {
  /** A result of `get` or a write, or its ETag: if the object has changed, the request fails with `ConflictError`. */
  ifMatch?: object | string;
}

export interface CreateOptions extends RequestOptions {
  /** A new text for each object: a repeated request with the same text has no further effect. */
  idempotencyKey?: string;
}

export interface PublishOptions extends WriteOptions {
  /** Also change the objects that the object links to. */
  linked?: boolean;
}

export type ClientOptions = TransportOptions;

/** Creates a client. Content types come from the file that `cms types typescript` writes. */
export function createClient<Types>(options: ClientOptions): Client<Types> {
  return new Client<Types>(options);
}

type Query = (readonly [string, string])[];

export class Client<Types> {
  readonly #transport: Transport;
  /** The entity tags of results that this client returned. */
  readonly #tags = new WeakMap<object, string>();

  constructor(options: ClientOptions) {
    this.#transport = new Transport(options);
  }

  /** Reads a page of objects. */
  async list<
    Type extends TypeName<Types>,
    Level extends Depth = 0,
    Field extends string = string,
    Path extends string = string,
  >(
    type: Type,
    options: ListOptions<Types, Type, Level, Field, Path> = {},
  ): Promise<List<Item<Types, Type, Level, Field>>> {
    const { filters, ids, orderBy, orderDirection, emptyFirst, page, limit } = options;
    const query: Query = readQuery(options);
    if (filters) query.push(["filters", JSON.stringify(filters)]);
    for (const id of ids ?? []) query.push(["ids[]", id]);
    add(query, { order_by: orderBy, order_direction: orderDirection, empty_first: emptyFirst, page, limit });
    return this.#read(contentPath(type), query, options);
  }

  /**
   * Reads the objects of all pages, one after the other. If the number of matching objects changes
   * meanwhile, an object can be missing or occur twice.
   */
  async *all<
    Type extends TypeName<Types>,
    Level extends Depth = 0,
    Field extends string = string,
    Path extends string = string,
  >(
    type: Type,
    options: AllOptions<Types, Type, Level, Field, Path> = {},
  ): AsyncGenerator<Item<Types, Type, Level, Field>, void, undefined> {
    for (let page = 1; ; page++) {
      const list = await this.list<Type, Level, Field, Path>(type, { limit: 100, ...options, page });
      const { total_pages, data } = list;
      yield* data;
      if (page >= total_pages) return;
    }
  }

  /** Reads one object. */
  async get<
    Type extends TypeName<Types>,
    Level extends Depth = 0,
    Field extends string = string,
  >(
    type: Type,
    id: string,
    options: GetOptions<Types, Type, Level, Field> = {},
  ): Promise<Item<Types, Type, Level, Field>> {
    return this.#read(objectPath(type, id), readQuery(options), options);
  }

  /** Creates an object. */
  async create<Type extends TypeName<Types>>(
    type: Type,
    body: CreateOf<Types, Type>,
    { idempotencyKey, ...options }: CreateOptions = {},
  ): Promise<ObjectOf<Types, Type>> {
    const headers = { "idempotency-key": idempotencyKey };
    return this.#write({ method: "POST", path: contentPath(type), body, headers, ...options });
  }

  /** Replaces all properties of an object; those that are left out are removed. */
  async update<Type extends TypeName<Types>>(
    type: Type,
    id: string,
    body: UpdateOf<Types, Type>,
    options: WriteOptions = {},
  ): Promise<ObjectOf<Types, Type>> {
    return this.#write({ method: "PUT", path: objectPath(type, id), body, ...this.#conditional(options) });
  }

  /** Replaces some properties of an object. */
  async patch<Type extends TypeName<Types>>(
    type: Type,
    id: string,
    body: PatchOf<Types, Type>,
    options: WriteOptions = {},
  ): Promise<ObjectOf<Types, Type>> {
    return this.#write({ method: "PATCH", path: objectPath(type, id), body, ...this.#conditional(options) });
  }

  /** Moves an object to the trash. */
  async delete(type: TypeName<Types>, id: string, options: WriteOptions = {}): Promise<void> {
    const request = { path: objectPath(type, id), hasNoValues: true, ...this.#conditional(options) };
    await this.#transport.send({ method: "DELETE", ...request });
  }

  /** Publishes the current version of an object of a Draft & Public type. */
  async publish(type: DraftPublicName<Types>, id: string, options: PublishOptions = {}): Promise<void> {
    await this.#setStatus("publish", type, id, options);
  }

  /** Makes an object a draft: readers do not see it any more. */
  async unpublish(type: DraftPublicName<Types>, id: string, options: PublishOptions = {}): Promise<void> {
    await this.#setStatus("unpublish", type, id, options);
  }

  /** Archives an object: readers do not see it any more. */
  async archive(type: DraftPublicName<Types>, id: string, options: PublishOptions = {}): Promise<void> {
    await this.#setStatus("archive", type, id, options);
  }

  /** Searches all content; an empty query finds everything. */
  async search<Type extends TypeName<Types> = TypeName<Types>, Level extends Depth = 0>(
    q: string,
    options: SearchOptions<Types, Type, Level> = {},
  ): Promise<SearchResult<Item<Types, Type, Level, string>>> {
    const { types, fields, filters, postFilters, mode, aggregateBy, aggregateByNumeric } = options;
    const query: Query = [["q", q]];
    const lists = { content_type: types, fields, aggregate_by: aggregateBy, aggregate_by_numeric: aggregateByNumeric };
    for (const [name, values] of Object.entries(lists)) {
      for (const value of values ?? []) query.push([`${name}[]`, value]);
    }
    for (const [name, map] of Object.entries({ filters, post_filters: postFilters })) {
      for (const [path, text] of Object.entries(map ?? {})) query.push([`${name}[${path}]`, text]);
    }
    const { orderBy, orderDirection, hydrate, page, limit } = options;
    add(query, { query_mode: mode, order_by: orderBy, order_direction: orderDirection, hydrate, page, limit });
    return this.#read("/api/v1/search", query, options);
  }

  /** Follows changes of objects and content types until the loop or the signal ends. */
  changes<Type extends TypeName<Types>>(
    options: ChangeOptions<Type> = {},
  ): AsyncGenerator<Change<Type>, void, undefined> {
    return follow(this.#transport, options);
  }

  /** The URL of the image of a media object, or of the `url` in a block. */
  imageUrl(media: string | { url: string }, options: ImageOptions = {}): string {
    return imageUrl(this.#transport.url, media, options);
  }

  /** Returns the entity tag of a result of this client. */
  etag(returned: object): string | undefined {
    return this.#tags.get(returned);
  }

  /** Sends any other request, for example to `/api/v1/content/post/batch`, and returns its JSON. */
  async request(request: Request): Promise<unknown> {
    const response = await this.#transport.send(request);
    return response.status === 204 ? undefined : this.#transport.json(response, request);
  }

  async #setStatus(action: string, type: string, id: string, { linked, ...options }: PublishOptions): Promise<void> {
    const query: Query = linked ? [["hydrate", "1"]] : [];
    const path = `${objectPath(type, id)}/${action}`;
    await this.#transport.send({ method: "POST", path, query, hasNoValues: true, ...this.#conditional(options) });
  }

  async #read<Body>(
    path: string,
    query: Query,
    { ifNoneMatch, view, signal }: { ifNoneMatch?: object; view?: View; signal?: AbortSignal },
  ): Promise<Body> {
    const headers = { "if-none-match": ifNoneMatch && this.#tags.get(ifNoneMatch) };
    const request: Request = { method: "GET", path, query, headers, view, signal };
    const response = await this.#transport.send(request);
    if (response.status === 304 && ifNoneMatch) return ifNoneMatch as Body;
    return this.#tagged(response, request);
  }

  async #write<Body>(request: Request): Promise<Body> {
    return this.#tagged(await this.#transport.send(request), request);
  }

  /** The headers of a write that depends on the state of the object. */
  #conditional({ ifMatch, view, signal }: WriteOptions): Pick<Request, "headers" | "view" | "signal"> {
    const tag = typeof ifMatch === "object" ? this.#tags.get(ifMatch) : ifMatch;
    if (ifMatch !== undefined && tag === undefined) {
      throw new TypeError("ifMatch needs an object that get, create, update or patch of this client returned");
    }
    return { headers: { "if-match": tag }, view, signal };
  }

  async #tagged<Body>(response: Response, request: Request): Promise<Body> {
    const body = await this.#transport.json<Body>(response, request);
    const tag = response.headers.get("etag");
    if (tag && typeof body === "object" && body) this.#tags.set(body, tag);
    return body;
  }
}

function contentPath(type: string): string {
  return `/api/v1/content/${encodeURIComponent(type)}`;
}

function objectPath(type: string, id: string): string {
  if (id === "") throw new TypeError("the id of an object is empty");
  return `${contentPath(type)}/${encodeURIComponent(id)}`;
}

function readQuery({ hydrate, fields }: { hydrate?: number; fields?: readonly string[] }): Query {
  const query: Query = (fields ?? []).map((path) => ["fields[]", path]);
  add(query, { hydrate });
  return query;
}

function add(query: Query, parameters: Record<string, string | number | boolean | undefined>): void {
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) query.push([name, String(value)]);
  }
}
