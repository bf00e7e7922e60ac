/**
 * How content types are described: the shape of the map that `cms types typescript` writes, and the
 * types that requests and responses derive from it.
 */

/** One content type of the map. */
export interface ContentType {
  object: { id: string; internal: { contentType: string } };
  create: object;
  update: object;
  draftPublic: boolean;
}

/** The names of the content types of a map. */
export type TypeName<Types> = keyof Types & string;

/** The names of the Draft & Public types of a map. */
export type DraftPublicName<Types> = {
  [Name in TypeName<Types>]: Types[Name] extends { draftPublic: true } ? Name : never;
}[TypeName<Types>];

/** An object of a type, with links. */
export type ObjectOf<Types, Name extends TypeName<Types>> = Types[Name] extends { object: infer Content }
  ? Content
  : never;

/** The body that creates an object of a type. */
export type CreateOf<Types, Name extends TypeName<Types>> = Types[Name] extends { create: infer Body }
  ? Body
  : never;

/** The body that replaces an object of a type. */
export type UpdateOf<Types, Name extends TypeName<Types>> = Types[Name] extends { update: infer Body }
  ? Body
  : never;

/** The properties of an object that change; the others keep their values. */
export type PatchOf<Types, Name extends TypeName<Types>> = Partial<UpdateOf<Types, Name>>;

/** The number of levels of links that a response replaces by the linked objects. */
export type Depth = 0 | 1 | 2;

/** `LevelBelow[N]` is N - 1, at least 0. */
type LevelBelow = [0, 0, 1];

/** A link of any form. Objects of a response have an `id`, links have none. */
export type AnyLink = { type: "internal" | "external"; dataUrl: string };

/** An internal link to an object of a type: hydration replaces it by the object. */
type LinkTo<Name extends string> = { type: "internal"; dataUrl: `/api/v1/content/${Name}/${string}` };

/** The objects that a link leads to. A link to any type leads to an object of any type. */
type Linked<Types, Name extends string> = string extends Name
  ? ObjectOf<Types, TypeName<Types>>
  : Name extends TypeName<Types>
    ? ObjectOf<Types, Name>
    : never;

/**
 * A value with links down to a depth replaced by the linked objects. A link stays if its object is
 * deleted or hidden, so each element is an object or a link: `isObject` and `isLink` distinguish them.
 */
export type Hydrated<Types, Value, Level extends Depth> = Level extends 0
  ? Value
  : unknown extends Value
    ? Value
    : Value extends LinkTo<infer Name>
      ? Value | Hydrated<Types, Linked<Types, Name>, LevelBelow[Level]>
      : Value extends object
        ? { [Key in keyof Value]: Hydrated<Types, Value[Key], Level> }
        : Value;

/** The parts of a value that paths select. Objects always have their id, linked ones too. */
export type Selected<Value, Path extends string> = "*" extends Path
  ? Value
  : Value extends readonly unknown[]
    ? { [Index in keyof Value]: Selected<Value[Index], Path> }
    : Value extends AnyLink
      ? Value
      : Value extends object
        ? {
            [Key in keyof Value as Key extends AlwaysSelected<Value> | FirstSegment<Path> ? Key : never]: Key extends
              | AlwaysSelected<Value>
              | CompleteName<Path>
              ? Value[Key]
              : Selected<Value[Key], AfterSegment<Path, Key & string>>;
          } & Authors<Value, Path>
        : Value;

/** The members that every selection of an object has. */
type AlwaysSelected<Value> = Value extends { internal: unknown } ? "id" : never;

/** The first segments of paths. */
type FirstSegment<Path extends string> = Path extends `${infer First}.${string}` ? Name<First> : Name<Path>;

/** The names of values that paths select completely: paths of one segment. */
type CompleteName<Path extends string> = Path extends `${string}.${string}` ? never : Name<Path>;

/** A segment without brackets. */
type Name<Segment extends string> = Segment extends `${infer First}[${string}` ? First : Segment;

/** The parts of paths that follow a first segment. */
type AfterSegment<Path extends string, First extends string> = Path extends
  | `${First}.${infer Tail}`
  | `${First}[${string}].${infer Tail}`
  ? Tail
  : never;

/** The authors in `internal`, which a response has only if paths name them. */
type Authors<Value, Path extends string> = Value extends { internal: unknown }
  ? Extract<Path, AuthorPath> extends never
    ? unknown
    : {
        internal: {
          [Member in Extract<Path, AuthorPath> as AfterSegment<Member, "internal">]: Author;
        };
      }
  : unknown;

type AuthorPath = "internal.createdBy" | "internal.updatedBy";

/** Who made a change. */
export interface Author {
  kind: "user" | "key" | "local" | "system";
  id: string | null;
  name: string | null;
}
