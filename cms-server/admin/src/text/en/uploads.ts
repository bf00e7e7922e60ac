// Files that are being uploaded.
import { plural } from '../format';

export const uploads = {
  uploads: 'Uploads',
  uploading: (done: number, count: number) => `Uploading: ${String(done)} of ${String(count)} done`,
  uploaded: (count: number) =>
    plural(count, { one: '1 file uploaded.', other: `${String(count)} files uploaded.` }),
  refused: (count: number) =>
    plural(count, { one: '1 file was refused.', other: `${String(count)} files were refused.` }),
  pause: 'Pause',
  resume: 'Continue',
  cancelAll: 'Cancel uploads',
  cancelFile: (name: string) => `Cancel ${name}`,
  retry: 'Send again',
  states: {
    waiting: 'waiting',
    sending: 'sending',
    done: 'done',
    refused: 'refused',
    cancelled: 'cancelled',
  },
  tooLarge: (size: string, limit: string) => `${size} is over the limit of ${limit}.`,
  wrongType: (type: string) => `Files of the type ${type} are not accepted.`,
  emptyFile: 'The file is empty.',
};
