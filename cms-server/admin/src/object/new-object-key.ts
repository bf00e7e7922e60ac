// The key of an object that does not exist yet. A file of its own, because the first screen does not load the rest
// of `open-object.ts`.
import { uuid } from '../value/uuid';

export function newObjectKey(): string {
  return `~${uuid()}`;
}
