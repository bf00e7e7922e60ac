// What a control may ask of the form around it, through the context: other values of the object, and to open
// another object. The screens provide it; controls work without it.
import { getContext, setContext } from 'svelte';
import type { Summary } from '../object/summary';
import type { ContentType } from '../type/definition';

/** The object whose form shows the control. */
export interface ObjectHost {
  readonly type: ContentType;
  /** Null before the object is created. */
  readonly id: string | null;
  /** Values as the user sees them. */
  readonly values: Record<string, unknown>;
  /** Values as they are stored; null before the object is created. */
  readonly stored: Record<string, unknown> | null;
  /** Readers see a version of the object. */
  readonly isPublic: boolean;
}

export interface SheetRequest {
  type: string;
  /** Null creates an object. */
  id: string | null;
  /** Values of a new object. */
  values?: Record<string, unknown>;
  /** Called after each save. */
  onsaved: (summary: Summary) => void;
}

/** Opens an object in a sheet beside the form. */
export type OpenSheet = (request: SheetRequest) => void;

const OBJECT = Symbol('object');
const SHEET = Symbol('sheet');

export const provideObject = (host: ObjectHost): void => void setContext(OBJECT, host);
export const provideSheet = (open: OpenSheet): void => void setContext(SHEET, open);
export const useObject = (): ObjectHost | undefined => getContext<ObjectHost | undefined>(OBJECT);
export const useSheet = (): OpenSheet | undefined => getContext<OpenSheet | undefined>(SHEET);
