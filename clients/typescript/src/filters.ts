/** Conditions of lists, by the kind of property (see docs/reference/filters.md). */

import type { TypeName } from "./content.js";
import type { ValueAt } from "./paths.js";

/** Any condition. At a path whose values have a known type, only a `ConditionOn` of that type is allowed. */
export interface Condition {
  readonly type: FilterType;
  readonly filter?: Scalar | readonly Scalar[];
  readonly filter2?: Scalar;
}

type Scalar = string | number | boolean;

export type FilterType =
  | Presence["type"]
  | Equality<Scalar>["type"]
  | Range<Scalar>["type"]
  | TextMatch["type"]
  | Membership<Scalar>["type"]
  | "inRange";

interface Presence {
  readonly type: "empty" | "notEmpty";
  readonly filter?: undefined;
  readonly filter2?: undefined;
}

interface Equality<Value> {
  readonly type: "equals" | "notEqual";
  readonly filter: Value | readonly Value[];
  readonly filter2?: undefined;
}

interface TextMatch {
  readonly type: "contains" | "notContains" | "startsWith" | "endsWith";
  readonly filter: string | readonly string[];
  readonly filter2?: undefined;
}

type Range<Value> =
  | {
      readonly type: "lessThan" | "lessThanOrEqual" | "greaterThan" | "greaterThanOrEqual";
      readonly filter: Value;
      readonly filter2?: undefined;
    }
  | { readonly type: "inRange"; readonly filter: Value; readonly filter2: Value };

interface Membership<Value> {
  readonly type: "includes" | "overlaps";
  readonly filter: Value | readonly Value[];
  readonly filter2?: undefined;
}

/** The conditions on values of a kind. */
export type ConditionOn<Value> = unknown extends Value
  ? Condition
  : [Value] extends [readonly (infer Element)[]]
    ? [Element] extends [Scalar]
      ? ScalarCondition<Element> | Membership<Element>
      : Presence
    : [Value] extends [Scalar]
      ? ScalarCondition<Value>
      : Presence;

type ScalarCondition<Value> =
  | Presence
  | ([Value] extends [boolean]
      ? Equality<boolean>
      : [Value] extends [number]
        ? Equality<number> | Range<number>
        : [Value] extends [string]
          ? Equality<Value> | Range<string> | TextMatch
          : Equality<Value> | Range<string | number> | TextMatch);

/** The conditions at paths of a type. The type at an unknown path is a message, which the compiler prints. */
export type Filters<Types, Type extends TypeName<Types>, Path extends string> = {
  readonly [Key in Path]: string extends Key
    ? Condition
    : ValueAt<Types, Type, Key> extends [infer Value]
      ? ConditionOn<Value>
      : `The type ${Type} has no property ${Key}`;
};
