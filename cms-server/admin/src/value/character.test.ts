// Characters as people count them.
import { expect, test } from 'vitest';
import { firstCharacter } from './character';

test('the first character may consist of several code points', () => {
  expect(firstCharacter('')).toBe('');
  expect(firstCharacter(' tea')).toBe('t');
  expect(firstCharacter('☕️ tea')).toBe('☕️');
  expect(firstCharacter('👩‍🌾🌱')).toBe('👩‍🌾');
  expect(firstCharacter('🇵🇱🇩🇪')).toBe('🇵🇱');
});
