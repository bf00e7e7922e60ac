// Deutsche Texte.
import type { Texts } from '..';
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

export const de: Texts = {
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
