// What the undo of an action on several objects reports. Knows no API, no component.
import { isRetryable, messageOf } from '../../../api/problem';
import { t } from '../../../text';
import { number } from '../../../text/format';
import type { UndoResult } from './undo';
import { displayTitle } from '../../../value/title';

const MAX_REASONS = 3;

export function undoText(result: UndoResult): string {
  const { undone, skipped, modified = 0, inTrash = [], gone = 0, problem } = result;
  const reasons = inTrash
    .slice(0, MAX_REASONS)
    .map((item) => t.bulk.undoReason(displayTitle(item.objectTitle, item.id), messageOf(item.problem)));
  const more = inTrash.length - reasons.length;
  const complete = skipped + inTrash.length + gone === 0 && !problem;
  const unknown = problem !== null && isRetryable(problem);
  const text = [
    complete ? t.bulk.undone : t.bulk.undoneOf(undone, number(undone)),
    skipped > 0 ? t.bulk.undoLeft(skipped, number(skipped)) : '',
    modified > 0 ? t.bulk.undoModified(modified, number(modified)) : '',
    gone > 0 ? t.bulk.undoGone(gone, number(gone)) : '',
    inTrash.length > 0 ? t.bulk.undoInTrash(inTrash.length, number(inTrash.length)) : '',
    ...reasons,
    more > 0 ? t.bulk.andMore(number(more)) : '',
    unknown ? t.bulk.undoUnknown : '',
    problem ? messageOf(problem) : '',
  ];
  return text.filter(Boolean).join(' ');
}
