// Deutsche Texte.
import type { Texts } from '..';
import { account } from './account';
import { bulk } from './bulk';
import { common } from './common';
import { apiConsole } from './console';
import { control } from './control';
import { diff } from './diff';
import { field } from './field';
import { home } from './home';
import { keys } from './keys';
import { list } from './list';
import { media } from './media';
import { object } from './object';
import { publishing } from './publishing';
import { relation } from './relation';
import { palette, search } from './search';
import { shell } from './shell';
import { signIn } from './sign-in';
import { system } from './system';
import { texts } from './texts';
import { translation } from './translation';
import { activity, schedule, trash } from './trash';
import { types } from './types';
import { users } from './users';
import { webhooks } from './webhooks';
import { workflows } from './workflows';
import { writing } from './writing';

export const de: Texts = {
  account,
  activity,
  apiConsole,
  bulk,
  common,
  control,
  diff,
  field,
  home,
  keys,
  list,
  media,
  object,
  palette,
  publishing,
  relation,
  schedule,
  search,
  shell,
  signIn,
  system,
  texts,
  translation,
  trash,
  types,
  users,
  webhooks,
  workflows,
  writing,
};
