// Actions on several objects: which a user may run on a type, and why not the others. Plain values.
import { may, session } from '../../../session/session.svelte';
import { t } from '../../../text';
import { hasWorkflow, type ContentType } from '../../../type/definition';

export type BulkAction = 'publish' | 'unpublish' | 'archive' | 'delete' | 'patch' | 'transition';

export interface Offer {
  action: BulkAction;
  label: string;
  /** Why the action is not offered; null when it is. */
  reason: string | null;
}

export function actionsFor(type: ContentType): Offer[] {
  const update = may('u', type.name) ? null : t.bulk.needs(t.bulk.rights.update);
  const publish = update ?? (session.mayPublish ? null : t.bulk.needs(t.bulk.rights.publish));
  const remove = may('d', type.name) ? null : t.bulk.needs(t.bulk.rights.delete);
  const offer = (action: BulkAction, reason: string | null): Offer => ({
    action,
    label: t.bulk.actions[action],
    reason,
  });
  return [
    ...(type.draftPublic ? [offer('publish', publish), offer('unpublish', publish)] : []),
    ...(hasWorkflow(type) ? [offer('transition', update)] : []),
    offer('patch', update),
    offer('delete', remove),
    ...(type.draftPublic ? [offer('archive', publish)] : []),
  ];
}
