/** Property paths: which exist, and what values they lead to. `null` stands for a missing path. */

import type { AnyLink, Hydrated, ObjectOf, TypeName } from "./content.js";

/** Links from other objects, which only filters know. */
interface Incoming {
  incoming: { contentType: string; property: string; dataUrl: string }[];
}

/** How often a path may still continue through a relation. */
type Hops = 0 | 1 | 2 | 3;
/** `FewerHops[N]` is N - 1, at least 0. */
type FewerHops = [0, 0, 1, 2];

/** The type of the values at a path of a filter, in a tuple of one element. */
export type ValueAt<Types, Type extends TypeName<Types>, Path extends string> = Path extends "*"
  ? [unknown]
  : Walk<Types, FilterRoot<ObjectOf<Types, Type>>, Path, 3>;

type FilterRoot<Content> = Content extends { internal: infer Internal }
  ? Omit<Content, "internal"> & { internal: Internal & Incoming }
  : Content;

type Walk<Types, Value, Path extends string, Left extends Hops> = Path extends `${infer First}.${infer Rest}`
  ? Member<Value, First> extends [infer Found]
    ? Into<Types, Found, Rest, Left>
    : null
  : Member<Value, Path>;

/** Continues below a value: through a relation, or into its members. Elements of other lists need `[*]`. */
type Into<Types, Value, Path extends string, Left extends Hops> = unknown extends Value
  ? [unknown]
  : [Value] extends [readonly (infer Element)[]]
    ? NonNullable<Element> extends AnyLink
      ? Through<Types, NonNullable<Element>, Path, Left>
      : null
    : [Value] extends [AnyLink]
      ? Through<Types, Value, Path, Left>
      : Walk<Types, Value, Path, Left>;

/** Continues in the link itself, or in the linked object: with a relation to any type, in all types with the path. */
type Through<Types, Link, Path extends string, Left extends Hops> = Path extends "dataUrl" | "type"
  ? [string]
  : Left extends 0
    ? null
    : Found<WalkEach<Types, Exclude<Hydrated<Types, Link, 1>, AnyLink>, Path, FewerHops[Left]>>;

type WalkEach<Types, Target, Path extends string, Left extends Hops> = Target extends object
  ? Walk<Types, Target, Path, Left>
  : null;

type Found<Values> = [Exclude<Values, null>] extends [never] ? null : Exclude<Values, null>;

/** The value of one segment, as `[value]`. `[*]` and `[n]` lead to the elements of a list. */
type Member<Value, Segment extends string> = Segment extends `${infer Name}[${string}]`
  ? Field<Value, Name> extends [infer List]
    ? unknown extends List
      ? [unknown]
      : List extends readonly (infer Element)[]
        ? [NonNullable<Element>]
        : null
    : null
  : Field<Value, Segment>;

type Field<Value, Name extends string> = string extends keyof Value
  ? [unknown]
  : Name extends keyof Value
    ? [NonNullable<Value[Name]>]
    : null;

/** Paths that lead to values of an object without following its links, for orders. */
export type OrderPath<Types, Type extends TypeName<Types>> = PathsOf<ObjectOf<Types, Type>>;

type PathsOf<Value> = {
  [Key in keyof Value & string]: string extends Key ? never : Key | Below<Key, NonNullable<Value[Key]>>;
}[keyof Value & string];

type Below<Key extends string, Value> = Value extends readonly (infer Element)[]
  ? BelowElement<Key, NonNullable<Element>>
  : Value extends { blocks?: unknown[] }
    ? never
    : Value extends object
      ? `${Key}.${PathsOf<Value>}`
      : never;

type BelowElement<Key extends string, Element> = Element extends AnyLink
  ? `${Key}[*].dataUrl`
  : Element extends object
    ? `${Key}[*].${PathsOf<Element>}`
    : never;

/**
 * A path of `fields`; one that does not exist in the object becomes a message. With hydration they
 * continue through links.
 */
export type KnownField<Value, Path extends string> = Path extends string
  ? true extends IsField<Value, Path>
    ? Path
    : `There is no property ${Path}`
  : never;

type IsField<Value, Path extends string> = Path extends "*" | "internal.createdBy" | "internal.updatedBy"
  ? true
  : Path extends `${infer First}.${infer Rest}`
    ? Part<Value, First> extends [infer Found]
      ? IsFieldOfEach<Found, Rest>
      : false
    : Part<Value, Path> extends [unknown]
      ? true
      : false;

/** Of hydrated relations, paths continue in the objects. */
type IsFieldOfEach<Value, Path extends string> = unknown extends Value
  ? true
  : Value extends AnyLink
    ? Path extends "dataUrl" | "type"
      ? true
      : false
    : Value extends object
      ? IsField<Value, Path>
      : false;

/** The value of one segment, as `[value]`; of each element if it is a list. */
type Part<Value, Segment extends string> =
  Field<Value, Segment extends `${infer Name}[${string}]` ? Name : Segment> extends [infer Found]
    ? [Found extends readonly (infer Element)[] ? NonNullable<Element> : Found]
    : null;
