/** Property paths: which of them exist, and to which values they lead. `null` stands for a path that does not exist. */

import type { AnyLink, Hydrated, ObjectOf, TypeName } from "./content.js";

/** Links from other objects, which only filters know. */
interface Incoming {
  incoming: { contentType: string; property: string; dataUrl: string }[];
}

/** The number of relations through which a path may still continue. */
type Relations = 0 | 1 | 2 | 3;
/** `OneLess[N]` is N - 1, at least 0. */
type OneLess = [0, 0, 1, 2];

/** The type of the values at a path of a filter, in a tuple of one element. */
export type ValueAt<Types, Type extends TypeName<Types>, Path extends string> = Path extends "*"
  ? [unknown]
  : Resolve<Types, FilterRoot<ObjectOf<Types, Type>>, Path, 3>;

type FilterRoot<Content> = Content extends { internal: infer Internal }
  ? Omit<Content, "internal"> & { internal: Internal & Incoming }
  : Content;

/** The type of the values at a path below a value. */
type Resolve<Types, Value, Path extends string, Left extends Relations> = Path extends `${infer First}.${infer Rest}`
  ? Member<Value, First> extends [infer Found]
    ? ResolveBelow<Types, Found, Rest, Left>
    : null
  : Member<Value, Path>;

/** Continues below a value: through a relation, or into its members. Elements of other lists need `[*]`. */
type ResolveBelow<Types, Value, Path extends string, Left extends Relations> = unknown extends Value
  ? [unknown]
  : [Value] extends [readonly (infer Element)[]]
    ? NonNullable<Element> extends AnyLink
      ? ResolveLink<Types, NonNullable<Element>, Path, Left>
      : null
    : [Value] extends [AnyLink]
      ? ResolveLink<Types, Value, Path, Left>
      : Resolve<Types, Value, Path, Left>;

/** Continues in the link itself, or in the linked object; for a relation to any type, in all types with the path. */
type ResolveLink<Types, Link, Path extends string, Left extends Relations> = Path extends "dataUrl" | "type"
  ? [string]
  : Left extends 0
    ? null
    : Found<ResolveEach<Types, Exclude<Hydrated<Types, Link, 1>, AnyLink>, Path, OneLess[Left]>>;

type ResolveEach<Types, Target, Path extends string, Left extends Relations> = Target extends object
  ? Resolve<Types, Target, Path, Left>
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

/** Paths that lead to values of an object without following its links, for `orderBy`. */
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
 * A path of `fields`; a path that does not exist in the object becomes a message. With hydration, paths
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

/** Below a hydrated relation, a path continues in the objects, or ends with `dataUrl` or `type` of a link. */
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
