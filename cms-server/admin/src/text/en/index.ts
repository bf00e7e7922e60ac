// English texts, a file per area. The type of this object is what every other language must have.
import { common } from './common';
import { control } from './control';
import { diff } from './diff';
import { field } from './field';
import { home } from './home';
import { list } from './list';
import { object } from './object';
import { shell } from './shell';
import { signIn } from './sign-in';
import { texts } from './texts';

export const en = {
  common,
  control,
  diff,
  field,
  home,
  list,
  object,
  shell,
  signIn,
  texts,
};
