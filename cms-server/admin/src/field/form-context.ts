// The context that a form gives its controls: the values of the object, and a function that opens another object. The
// screens provide it; controls work without it.
import { getContext, onMount, setContext } from 'svelte';
import type { Summary } from '../object/summary';
import type { RunningUploads, UploadGroup } from '../object/upload-group';
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
  /** The uploads of its fields; absent in forms that are never saved. */
  readonly uploads?: UploadGroup;
  /** Marks that a date is incomplete, until the returned function is called. Absent in forms that are never saved. */
  readonly markIncomplete?: () => () => void;
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

const FORM_KEY = Symbol('object');
const SHEET_KEY = Symbol('sheet');

export const provideObject = (host: ObjectHost): void => void setContext(FORM_KEY, host);
export const provideSheet = (open: OpenSheet): void => void setContext(SHEET_KEY, open);
export const useObject = (): ObjectHost | undefined => getContext<ObjectHost | undefined>(FORM_KEY);
export const useSheet = (): OpenSheet | undefined => getContext<OpenSheet | undefined>(SHEET_KEY);

const SETTLED_POLL_MS = 500;

/** Makes the form wait for the uploads of a control, also after the control was unmounted, in a collapsed item. */
export function registerUploads(uploads: RunningUploads): void {
  const group = useObject()?.uploads;
  onMount(() => {
    const remove = group?.add(uploads);
    const removeWhenSettled = () => {
      if (uploads.running > 0) setTimeout(removeWhenSettled, SETTLED_POLL_MS);
      else remove?.();
    };
    return removeWhenSettled;
  });
}
