// Uploads continue after their screen is left, but then no field receives their files and nobody sees refusals: the
// page asks before the user leaves.
import { UploadGroup, type RunningUploads } from '../object/upload-group';
import { t } from '../text';
import { guardLeaving } from './guard-leaving';

/** The uploads of all open screens and sheets. */
const guarded = new UploadGroup();

/** Asks `question` if uploads are running; false when the user wants to wait for them. */
export function mayLeaveUploads(uploads: RunningUploads, question: string): boolean {
  return uploads.running === 0 || confirm(question);
}

/** For `onMount`: asks `question` before the user leaves the screen while uploads are running. */
export function guardUploads(uploads: RunningUploads, question: () => string): () => void {
  const stops = [
    guarded.add(uploads),
    guardLeaving(
      () => uploads.running > 0,
      () => confirm(question()),
    ),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

export const maySignOut = (): boolean => mayLeaveUploads(guarded, t.shell.signOutUploads);

/** Cancels all uploads: after sign-out the server refuses them. */
export const cancelGuardedUploads = (): void => guarded.cancelAll();
