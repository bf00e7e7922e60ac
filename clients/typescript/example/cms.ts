// Written by `cms types typescript`. Changes are overwritten.

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

/** The content types by name. */
export interface ContentTypes {
  _media: { object: Media; create: MediaCreate; update: MediaUpdate; draftPublic: false };
  _tag: { object: Tag; create: TagCreate; update: TagUpdate; draftPublic: false };
  about: { object: About; create: AboutCreate; update: AboutUpdate; draftPublic: false };
  author: { object: Author; create: AuthorCreate; update: AuthorUpdate; draftPublic: false };
  contact: { object: Contact; create: ContactCreate; update: ContactUpdate; draftPublic: false };
  contact_form: { object: ContactForm; create: ContactFormCreate; update: ContactFormUpdate; draftPublic: false };
  event: { object: Event; create: EventCreate; update: EventUpdate; draftPublic: false };
  place: { object: Place; create: PlaceCreate; update: PlaceUpdate; draftPublic: false };
  post: { object: Post; create: PostCreate; update: PostUpdate; draftPublic: false };
  product: { object: Product; create: ProductCreate; update: ProductUpdate; draftPublic: false };
  project: { object: Project; create: ProjectCreate; update: ProjectUpdate; draftPublic: false };
}

/** Media (internal) */
export interface Media {
  id: string;
  internal: Internal<"_media">;
  fileName: string;
  mimeType: string;
  size: number;
  width?: number;
  height?: number;
  url: string;
  externalId?: string;
  source: "disk" | "unsplash";
  extension: string;
  type: "image" | "file";
  tags?: Link<"_tag">[];
  alt?: string;
  title?: string;
  variants?: {
    name: string;
    trim?: {
      top: number;
      right?: number;
      bottom?: number;
      left: number;
      width?: number;
      height?: number;
    };
  }[];
  focalPoint?: {
    x: number;
    y: number;
  };
}

export type MediaCreate = Input<Media>;
export type MediaUpdate = Input<Media>;

/** Tag (internal) */
export interface Tag {
  id: string;
  internal: Internal<"_tag">;
  name: string;
}

export type TagCreate = Input<Tag>;
export type TagUpdate = Input<Tag>;

export interface About {
  id: string;
  internal: Internal<"about">;
  name?: string;
  description?: string;
  story_title?: string;
  story?: string;
  story_image?: [Link<"_media">?];
  mission_title?: string;
  mission_description?: string;
  mission_item?: {
    title?: string;
    description?: string;
  }[];
  team_title?: string;
  team_description?: string;
  team?: {
    name?: string;
    position?: string;
    image?: [Link<"_media">?];
  }[];
  journey_title?: string;
  journey?: {
    year?: number;
    title?: string;
    description?: string;
  }[];
  __translations?: {
    name?: string;
    description?: string;
    story_title?: string;
    story?: string;
    story_image?: [Link<"_media">?];
    mission_title?: string;
    mission_description?: string;
    mission_item?: {
      title?: string;
      description?: string;
    }[];
    team_title?: string;
    team_description?: string;
    team?: {
      name?: string;
      position?: string;
      image?: [Link<"_media">?];
    }[];
    journey_title?: string;
    journey?: {
      year?: number;
      title?: string;
      description?: string;
    }[];
    __language: string;
  }[];
}

export type AboutCreate = Input<About>;
export type AboutUpdate = Input<About>;

export interface Author {
  id: string;
  internal: Internal<"author">;
  name: string;
  /** Filled in from the name when it is left out */
  slug?: string;
  role: "roaster" | "buyer" | "writer" | "barista" | "keeper";
  email?: string;
  joined?: string;
  bio?: string;
  languages?: string[];
  portrait?: [Link<"_media">?];
  favourite?: [Link<"product">?];
}

export type AuthorCreate = Input<Author, "slug">;
export type AuthorUpdate = Input<Author, "slug">;

export interface Contact {
  id: string;
  internal: Internal<"contact">;
  contact_title?: string;
  description?: string;
  get_in_touch_title?: string;
  get_in_touch_description?: string;
  address?: string;
  phone?: string;
  email?: string;
  business_hours_title?: string;
  business_hours?: {
    day?: string;
    hours?: string;
  }[];
  send_a_message_title?: string;
  send_a_message_description?: string;
  __translations?: {
    contact_title?: string;
    description?: string;
    get_in_touch_title?: string;
    get_in_touch_description?: string;
    address?: string;
    phone?: string;
    email?: string;
    business_hours_title?: string;
    business_hours?: {
      day?: string;
      hours?: string;
    }[];
    send_a_message_title?: string;
    send_a_message_description?: string;
    __language: string;
  }[];
}

export type ContactCreate = Input<Contact>;
export type ContactUpdate = Input<Contact>;

export interface ContactForm {
  id: string;
  internal: Internal<"contact_form">;
  name: string;
  email: string;
  question?: string;
}

export type ContactFormCreate = Input<ContactForm>;
export type ContactFormUpdate = Input<ContactForm>;

export interface Event {
  id: string;
  internal: Internal<"event">;
  name: string;
  slug?: string;
  date: string;
  place: [Link<"place">];
  hosts?: Link<"author">[];
  /** In euros; 0 is free */
  price?: number;
  seats?: number;
  tags?: Link<"_tag">[];
  description?: string;
}

export type EventCreate = Input<Event, "slug">;
export type EventUpdate = Input<Event, "slug">;

export interface Place {
  id: string;
  internal: Internal<"place">;
  name: string;
  kind: "roastery" | "market" | "port" | "cafe" | "hut" | "farm" | "workshop";
  location: GeoPoint;
  address?: string;
  seasons?: ("spring" | "summer" | "autumn" | "winter")[];
  /** Opening hours */
  opening?: {
    day: string;
    hours: string;
  }[];
  picture?: [Link<"_media">?];
  story?: string;
}

export type PlaceCreate = Input<Place>;
export type PlaceUpdate = Input<Place>;

export interface Post {
  id: string;
  internal: Internal<"post">;
  title: string;
  slug: string;
  published: string;
  author: [Link<"author">];
  excerpt: string;
  content: Blocks<"header" | "list" | "image" | "quote" | "delimiter">;
  /** Header image */
  header?: [Link<"_media">?];
  /** Minutes to read */
  minutes?: number;
  featured?: boolean;
  tags?: Link<"_tag">[];
  places?: Link<"place">[];
  products?: Link<"product">[];
  /** Related posts */
  related?: Link<"post">[];
}

export type PostCreate = Input<Post, "slug">;
export type PostUpdate = Input<Post, "slug">;

export interface Product {
  id: string;
  internal: Internal<"product">;
  name: string;
  slug?: string;
  kind: "coffee" | "tea" | "tool";
  /** In euros */
  price: number;
  sizes?: ("125" | "250" | "1000")[];
  roast?: "light" | "medium" | "dark";
  inSeason?: boolean;
  /** Tasting notes */
  notes?: string[];
  brewing?: {
    method: string;
    grams: number;
    /** Water in millilitres */
    water: number;
    seconds?: number;
  }[];
  origin?: [Link<"place">?];
  maker?: [Link<"author">?];
  pictures?: Link<"_media">[];
  tags?: Link<"_tag">[];
  description?: string;
}

export type ProductCreate = Input<Product, "slug">;
export type ProductUpdate = Input<Product, "slug">;

export interface Project {
  id: string;
  internal: Internal<"project">;
  name: string;
  slug: string;
  tags?: Link<"_tag">[];
  short_description?: string;
  description?: string;
  headerImage?: [Link<"_media">?];
  gallery_name?: string;
  gallery_description?: string;
  gallery?: Link<"_media">[];
  __translations?: {
    name?: string;
    slug: string;
    tags?: Link<"_tag">[];
    short_description?: string;
    description?: string;
    headerImage?: [Link<"_media">?];
    gallery?: Link<"_media">[];
    __language: string;
  }[];
}

export type ProjectCreate = Input<Project>;
export type ProjectUpdate = Input<Project>;
