import { expect, it } from 'vitest';
import { stateEtag } from './object-requests';

it('derives the same state tag from the tags of all responses about one state', () => {
  for (const tag of ['"587bbf41"', '"587bbf41-br"', '"587bbf41.16e046fd"', 'W/"587bbf41.16e046fd-gzip"'])
    expect(stateEtag(tag)).toBe('"587bbf41"');
});
