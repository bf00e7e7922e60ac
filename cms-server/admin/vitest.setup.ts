// Unit tests import modules directly: this loads all texts before.
import { t } from './src/text';
import { en } from './src/text/en';

for (const load of Object.values(en)) Object.assign(t, await load());
