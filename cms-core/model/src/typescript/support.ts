/**
 * A link to an object of a content type. An external link leads to any other address.
 *
 * With hydration, a response has the object in place of the link, unless the object is deleted or
 * hidden from the caller: an object has `id`, a link has `dataUrl`.
 */
export type Link<Type extends string = string> =
  | { type: "internal"; dataUrl: `/api/v1/content/${Type}/${string}` }
  | { type: "external"; dataUrl: string };

/** Metadata of an object, which only the server writes. */
export interface Internal<Type extends string = string> {
  contentType: Type;
  createdAt: string;
  updatedAt: string;
  /** Empty unless the object is deleted. */
  deletedAt: string;
  workflowState: string;
  objectTitle: string;
  latestVersion: number;
  /** Empty when nothing is approved. */
  workflowPublicVersion: number | "";
  /** -1 when nothing is approved. */
  workflowPublishedAt: string | number;
  status: "draft" | "public" | "modified" | "archived";
  /** -1 when nothing is published. */
  publicVersion: number;
  /** Empty when nothing is published. */
  publishedAt: string;
  /** Only while a publication is scheduled. */
  scheduledAt?: string;
  scheduledAtTimeZone?: string;
}

/** A point on earth, in degrees. */
export interface GeoPoint {
  lat: number;
  lon: number;
}

/** Content in blocks: paragraphs, and blocks of the other types that the property allows. */
export interface Blocks<Type extends string = string> {
  time?: number | string;
  version?: string;
  blocks?: Block<Type | "paragraph">[];
}

/** A block. The server checks its type, and leaves its data to editors. */
export type Block<Type extends string = string> = Type extends string
  ? {
      id?: string;
      type: Type;
      data?: Type extends keyof BlockData ? BlockData[Type] : { [name: string]: unknown };
      tunes?: { [name: string]: unknown };
    }
  : never;

/** The data of blocks, as editors write it. */
export interface BlockData {
  paragraph: { text?: string };
  header: { text?: string; level?: number; anchor?: string };
  list: { items?: ListItem[]; style?: string };
  image: {
    url?: string;
    width?: number;
    height?: number;
    fileName?: string;
    extension?: string;
    caption?: string;
    stretched?: boolean;
    withBorder?: boolean;
    withBackground?: boolean;
  };
  youtubeEmbed: { url?: string };
  quote: { text?: string; caption?: string; alignment?: string };
  warning: { title?: string; message?: string };
  delimiter: { [name: string]: unknown };
  code: { code?: string };
  table: { content?: string[][]; withHeadings?: boolean };
}

/** An item of a list in a block. */
export interface ListItem {
  content?: string;
  items?: ListItem[];
}

/** The request body that creates or replaces an object. Properties that the server fills in may be left out. */
export type Input<Type, Optional extends keyof Type = never> = { id?: string } & {
  [Name in keyof Type as Exclude<Name, "id" | "internal" | Optional>]: Type[Name];
} & { [Name in Optional]?: Type[Name] };
