import { expect, it } from 'vitest';
import { leadsBack, type Transition } from './workflows';

const transition = (from: string, to: string): Transition => ({ name: `_${from}_${to}`, from, to });

it.each([
  ['directly', ['review>draft'], true],
  ['over other states', ['review>legal', 'legal>draft', 'legal>review'], true],
  ['not from another state', ['legal>draft'], false],
  ['not in the same direction', ['draft>review', 'review>public'], false],
])('transition has a way back %s', (_name, others, expected) => {
  const transitions = others.map((text) => {
    const [from = '', to = ''] = text.split('>');
    return transition(from, to);
  });
  expect(leadsBack(transition('draft', 'review'), transitions)).toBe(expected);
});
