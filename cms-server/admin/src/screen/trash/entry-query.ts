// The query of one entry of the trash, with the deleted object.
import { ProblemError } from '../../api/problem';
import { readTrashEntry, type TrashEntry } from '../../object/object-requests';

export function entryQuery(entry: string) {
  return {
    queryKey: ['trash-entry', entry],
    // Its values keep their original texts: copies of them would not.
    structuralSharing: false,
    queryFn: async ({ signal }: { signal: AbortSignal }): Promise<TrashEntry> => {
      const result = await readTrashEntry(entry, signal);
      if ('problem' in result) throw new ProblemError(result.problem);
      return result.data;
    },
  };
}
