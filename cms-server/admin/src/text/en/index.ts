// English texts, a file per area. The type of this object is what every other language must have.
import { account } from './account';
import { common } from './common';
import { control } from './control';
import { diff } from './diff';
import { field } from './field';
import { home } from './home';
import { list } from './list';
import { media } from './media';
import { object } from './object';
import { relation } from './relation';
import { shell } from './shell';
import { writing } from './writing';
import { signIn } from './sign-in';
import { users } from './users';

export const en = {
  account,
  common,
  control,
  diff,
  field,
  home,
  list,
  media,
  object,
  relation,
  shell,
  signIn,
  writing,
  users,
};
