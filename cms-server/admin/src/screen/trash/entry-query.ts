// The query of one entry of the trash, with the deleted object.
import { ProblemError } from '../../api/problem';
import { readTrashEntry, type TrashEntry } from '../../object/object-requests';

export function entryQuery(entry: string) {
  return {
    queryKey: ['trash-entry', entry],
    // The original texts of values are kept for these very objects: structural sharing would replace them by copies.
    structuralSharing: false,
    queryFn: async ({ signal }: { signal: AbortSignal }): Promise<TrashEntry> => {
      const result = await readTrashEntry(entry, signal);
      if ('problem' in result) throw new ProblemError(result.problem);
      return result.data;
    },
  };
}
