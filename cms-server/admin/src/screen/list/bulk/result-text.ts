// What an action on several objects reports at its end. Knows no API, no component.
import { t } from '../../../text';
import { number } from '../../../text/format';
import type { BulkRun } from './bulk-run.svelte';

export function resultText({ state, succeeded, refusedCount }: BulkRun): string {
  const text = [
    t.bulk.result(number(succeeded), number(refusedCount)),
    state === 'unknown' ? t.bulk.outcomeUnknown : '',
    state === 'stopped' ? t.bulk.wasStopped : '',
  ];
  return text.filter(Boolean).join(' ');
}
