// English texts, a file per area. The type of this object is what every other language must have.
import { bulk } from './bulk';
import { common } from './common';
import { control } from './control';
import { diff } from './diff';
import { field } from './field';
import { home } from './home';
import { list } from './list';
import { object } from './object';
import { shell } from './shell';
import { signIn } from './sign-in';

export const en = {
  bulk,
  common,
  control,
  diff,
  field,
  home,
  list,
  object,
  shell,
  signIn,
};
