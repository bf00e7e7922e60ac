/** Compiled only: the calls that the types of the client allow, and those that they refuse. */

import { createClient, hasType, isLink, isObject, link, type List } from "cms-client";

import type { Author, AuthorCreate, ContentTypes, Media, Place, Post, Product } from "../example/cms.js";
import type { BlockData, ContentTypes as Hostile } from "../generated/hostile.js";
import type { ContentTypes as News } from "../generated/news.js";

const cms = createClient<ContentTypes>({ url: "http://localhost", key: "key" });
const news = createClient<News>({ url: "http://localhost" });
const hostile = createClient<Hostile>({ url: "http://localhost" });

/** Fails to compile if the types differ. */
function same<Left, Right>(..._equal: Equal<Left, Right> extends true ? [] : ["the types differ"]): void {}
type Equal<Left, Right> =
  (<T>() => T extends Left ? 1 : 2) extends <T>() => T extends Right ? 1 : 2 ? true : false;

export async function depths(): Promise<void> {
  const plain = await cms.get("post", "a");
  same<typeof plain, Post>();
  same<(typeof plain)["author"], Post["author"]>();
  // @ts-expect-error a link has no name
  plain.author[0].name;

  const once = await cms.get("post", "a", { hydrate: 1 });
  const [author] = once.author;
  if (isObject(author)) {
    const name: string = author.name;
    same<typeof author, Author>();
    // @ts-expect-error the second level is not hydrated
    author.favourite?.[0]?.price;
    void name;
  }
  if (isLink(author)) {
    const dataUrl: string = author.dataUrl;
    // @ts-expect-error a link has no id
    author.id;
    void dataUrl;
  }

  const twice = await cms.get("post", "a", { hydrate: 2 });
  const [writer] = twice.author;
  const favourite = isObject(writer) ? writer.favourite?.[0] : undefined;
  if (isObject(favourite)) {
    const price: number = favourite.price;
    // @ts-expect-error the third level is not hydrated
    isObject(favourite.maker?.[0]) && favourite.maker[0].name;
    void price;
  }
  const image = twice.header?.[0];
  if (isObject(image)) same<(typeof image)["url"], string>();

  // A relation to one object has one element, which may be missing if it is not required.
  // @ts-expect-error there is no second author
  once.author[1];
  // @ts-expect-error the header may be missing
  plain.header[0].type;

  // @ts-expect-error only 0, 1 and 2
  await cms.get("post", "a", { hydrate: 3 });
  // @ts-expect-error no such type
  await cms.get("posts", "a");

  // Inside lists of objects, and with any type.
  const item = await news.get("news", "a", { hydrate: 1 });
  const place = item.parts?.[0]?.place?.[0];
  if (isObject(place)) same<typeof place, Place>();
  const any = item.anything?.[0];
  if (isObject(any) && hasType(any, "product")) same<typeof any, Product>();
}

export async function fields(): Promise<void> {
  const { data } = await cms.list("product", { fields: ["name", "price", "internal.objectTitle"] });
  const [product] = data;
  if (!product) return;
  const name: string = product.name;
  const title: string = product.internal.objectTitle;
  const id: string = product.id;
  // @ts-expect-error not selected
  product.kind;
  // @ts-expect-error not selected
  product.internal.status;

  const linked = await cms.get("product", "a", { fields: ["maker.name", "brewing.grams", "roast"], hydrate: 1 });
  const maker = linked.maker?.[0];
  if (isObject(maker)) {
    const nameAndId: string = `${maker.name} ${maker.id}`;
    // @ts-expect-error not selected
    maker.role;
    void nameAndId;
  }
  const grams: number | undefined = linked.brewing?.[0]?.grams;
  // @ts-expect-error not selected
  linked.brewing?.[0]?.water;
  const roast: "light" | "medium" | "dark" | undefined = linked.roast;

  const complete = await cms.get("place", "a", { fields: ["*"] });
  same<typeof complete, Place>();
  const author = await cms.get("place", "a", { fields: ["internal.createdBy"] });
  const by: string | null = author.internal.createdBy.name;

  // @ts-expect-error no such property
  await cms.list("product", { fields: ["nmae"] });
  // @ts-expect-error no such member
  await cms.list("place", { fields: ["location.height"] });
  // @ts-expect-error the linked author has no such property
  await cms.list("product", { fields: ["maker.price"], hydrate: 1 });
  void [name, title, id, grams, roast, by];
}

export async function filters(): Promise<void> {
  await cms.list("product", {
    filters: {
      kind: { type: "equals", filter: ["coffee", "tea"] },
      price: { type: "inRange", filter: 5, filter2: 10 },
      inSeason: { type: "equals", filter: true },
      sizes: { type: "overlaps", filter: ["250"] },
      notes: { type: "contains", filter: "lemon" },
      "brewing[*].grams": { type: "greaterThan", filter: 10 },
      maker: { type: "notEmpty" },
      "maker.name": { type: "startsWith", filter: "Y" },
      "maker.favourite.maker.name": { type: "notEmpty" },
      "tags[*].dataUrl": { type: "equals", filter: "/api/v1/content/_tag/a" },
      "origin[0].location.lat": { type: "lessThan", filter: 50 },
      id: { type: "startsWith", filter: "a" },
      "internal.createdAt": { type: "greaterThan", filter: "2026-01-01" },
      "internal.incoming": { type: "empty" },
      "internal.incoming[*].contentType": { type: "equals", filter: "post" },
      "*": { type: "contains", filter: "x" },
    },
    orderBy: "internal.updatedAt",
    orderDirection: "desc",
  });
  // @ts-expect-error no such property
  await cms.list("product", { filters: { prise: { type: "equals", filter: 1 } } });
  // @ts-expect-error a number is compared with numbers
  await cms.list("product", { filters: { price: { type: "lessThan", filter: "10" } } });
  // @ts-expect-error no text match on numbers
  await cms.list("product", { filters: { price: { type: "contains", filter: "1" } } });
  // @ts-expect-error no such option
  await cms.list("product", { filters: { kind: { type: "equals", filter: "cocoa" } } });
  // @ts-expect-error booleans are not ordered
  await cms.list("product", { filters: { inSeason: { type: "lessThan", filter: true } } });
  // @ts-expect-error a range needs its upper end
  await cms.list("product", { filters: { price: { type: "inRange", filter: 1 } } });
  // @ts-expect-error a comparison needs a value
  await cms.list("product", { filters: { price: { type: "equals" } } });
  // @ts-expect-error no such filter type
  await cms.list("product", { filters: { price: { type: "under", filter: 1 } } });
  // @ts-expect-error elements of a list need [*]
  await cms.list("product", { filters: { "brewing.grams": { type: "equals", filter: 1 } } });
  // @ts-expect-error an author has no price
  await cms.list("product", { filters: { "maker.price": { type: "equals", filter: 1 } } });
  // @ts-expect-error four relations are too many
  await cms.list("product", { filters: { "maker.favourite.maker.favourite.name": { type: "empty" } } });
  // @ts-expect-error a point on earth is no scalar
  await cms.list("place", { filters: { location: { type: "equals", filter: 1 } } });
  await cms.list("place", { filters: { "location.lat": { type: "greaterThan", filter: 3 } }, orderBy: "location.lat" });
  // @ts-expect-error no such order
  await cms.list("place", { orderBy: "latitude" });

  for await (const product of cms.all("product", {
    filters: { price: { type: "lessThan", filter: 10 } },
    fields: ["name"],
  })) {
    const name: string = product.name;
    // @ts-expect-error not selected
    product.price;
    void name;
  }
}

export async function writes(): Promise<void> {
  const author: AuthorCreate = { name: "Ada", role: "writer" };
  const created = await cms.create("author", author, { idempotencyKey: "1" });
  same<typeof created, Author>();
  // The slug is filled in; a read object may be sent back.
  await cms.update("author", created.id, created, { ifMatch: created });
  await cms.patch("author", created.id, { bio: "Writes" });
  await cms.patch("author", created.id, { favourite: [link("product", "neap")], portrait: [] });

  // @ts-expect-error the role is required
  await cms.create("author", { name: "Ada" });
  // @ts-expect-error no such role
  await cms.create("author", { name: "Ada", role: "captain" });
  // @ts-expect-error no such property
  await cms.create("author", { name: "Ada", role: "writer", age: 3 });
  // @ts-expect-error a number is no text
  await cms.patch("product", "neap", { price: "9" });
  // @ts-expect-error a link to another type
  await cms.patch("author", "a", { favourite: [link("place", "kronan")] });
  // @ts-expect-error one product, not two
  await cms.patch("author", "a", { favourite: [link("product", "a"), link("product", "b")] });
  // @ts-expect-error null is never a value
  await cms.patch("author", "a", { bio: null });

  await news.create("news", { title: "Flood", code: "1" });
  // A read-only property keeps its value.
  await news.update("news", "a", { title: "Flood" });
  // @ts-expect-error it is required on creation
  await news.create("news", { title: "Flood" });
  await news.publish("news", "a", { linked: true });
  // @ts-expect-error authors have no drafts
  await news.publish("author", "a");
  // @ts-expect-error no type of the example site has drafts
  await cms.publish("author", "a");
}

export async function searches(): Promise<void> {
  const { data } = await cms.search("kettle", { types: ["product", "post"], hydrate: 1 });
  for (const { item, score } of data) {
    if (hasType(item, "product")) {
      const price: number = item.price;
      void price;
    } else {
      same<(typeof item)["internal"]["contentType"], "post">();
    }
    void score;
  }
  // @ts-expect-error no such type
  await cms.search("kettle", { types: ["produkt"] });
  cms.imageUrl({ url: "/image/0x0/a.png" } as Media, { width: 100, format: "webp" });
  // @ts-expect-error no such format
  cms.imageUrl("/image/0x0/a.png", { format: "gif" });
  for await (const change of cms.changes({ types: ["post"] })) {
    same<typeof change.contentType, "post">();
  }
}

/** A function over any type of a map. */
export async function titles(type: "post" | "product"): Promise<List<Post | Product>> {
  return await cms.list(type);
}

export async function hostileTypes(): Promise<void> {
  const object = await hostile.get("hostile", "a");
  same<(typeof object)["1st"], string>();
  same<typeof object.class, string | undefined>();
  await hostile.create("hostile", { "1st": "a", default: "`tick` ${1}", constructor: "b", __proto__: "c" });
  // The required property has a default, which the server applies to new objects. Every object literal
  // has a `constructor` of another type, so that property has to be given.
  await hostile.create("hostile", { constructor: "b" });
  // @ts-expect-error a replacement has no defaults
  await hostile.update("hostile", "a", { constructor: "b" });
  const every = await hostile.get("every_kind", "a", { hydrate: 2 });
  same<typeof every.custom, { [name: string]: unknown } | undefined>();
  same<typeof every.customNull, null | undefined>();
  const point: number = every.geo.lat;
  // @ts-expect-error it may be missing
  const loose: number = every.looseGeo?.lon;
  const blocks = every.someBlocks?.blocks ?? [];
  for (const block of blocks) {
    if (block.type === "header") same<typeof block.data, BlockData["header"] | undefined>();
  }
  await hostile.list("every_kind", {
    filters: {
      "custom.anything.below": { type: "equals", filter: 1 },
      "customNested.1st": { type: "equals", filter: 1 },
      "object[*].deep[*].link.string": { type: "equals", filter: "x" },
      "nowhere": { type: "notEmpty" },
      "any.string": { type: "equals", filter: "x" },
    },
    orderBy: "number",
  });
  await hostile.create("every_kind", { present: [link("author", "a")], radio: "light", geo: { lat: 1, lon: 2 } });
  // @ts-expect-error a required relation is not empty
  await hostile.create("every_kind", { present: [], radio: "light", geo: { lat: 1, lon: 2 } });
  void [point, loose];
}
