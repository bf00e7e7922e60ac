// One entry of the trash: the query of the deleted object, and why it is not restored.
import { dataOrThrow } from '../../api/client';
import { messageOf, type Problem } from '../../api/problem';
import { readTrashEntry, type TrashEntry } from '../../object/object-requests';
import { t } from '../../text';

export function entryQuery(entry: string) {
  return {
    queryKey: ['trash-entry', entry],
    // The original texts of values are kept for these very objects: structural sharing would replace them by copies.
    structuralSharing: false,
    queryFn: async ({ signal }: { signal: AbortSignal }): Promise<TrashEntry> =>
      dataOrThrow(await readTrashEntry(entry, signal)),
  };
}

export function restoreMessage(problem: Problem): string {
  return problem.status === 404 ? t.trash.gone : messageOf(problem);
}
