import { describe, expect, it } from 'vitest';
import {
  blockersAt,
  generalBlockers,
  kindOfPair,
  mayParse,
  propertyNamesOf,
  unconfirmed,
  type PlanType,
} from './plan';

const row = {
  change: 'type' as const,
  from: 'string/text',
  to: 'number/number',
  kept: 0,
  converted: 0,
  failed: 0,
  samples: [],
};
const type = (changes: Partial<PlanType>): PlanType => ({
  name: 'post',
  action: 'update',
  breaking: true,
  blockers: {},
  properties: [],
  ...changes,
});
const summary = { create: 0, update: 1, delete: 0, objectsRewritten: 0, valuesLost: 0, blockers: 0 };

describe('plan', () => {
  it('asks again when more values would be lost than were confirmed', () => {
    const plan = {
      token: 'x',
      summary,
      contentTypes: [type({ properties: [{ ...row, name: 'votes', emptied: 9 }] })],
      workflows: [],
      keys: [],
    };
    expect(unconfirmed(plan, {})).toEqual([{ name: 'post.votes', count: 9 }]);
    expect(unconfirmed(plan, { 'post.votes': 9 })).toEqual([]);
    expect(unconfirmed(plan, { 'post.votes': 8 })).toHaveLength(1);
  });

  it('names kinds', () => {
    expect(kindOfPair('integer/number')).toBe('integer');
    expect(kindOfPair('array/select')).toBe('selectMany');
    expect(kindOfPair('string/markdown')).toBe('textMarkdown');
    expect(kindOfPair(null)).toBeNull();
  });

  it('reads text only as numbers and as yes or no', () => {
    expect(mayParse({ from: 'string/text', to: 'integer/number' })).toBe(true);
    expect(mayParse({ from: 'string/select', to: 'boolean/checkbox' })).toBe(true);
    expect(mayParse({ from: 'number/number', to: 'string/text' })).toBe(false);
    expect(mayParse({ from: 'string/text', to: 'array/object' })).toBe(false);
  });

  it('finds the property of an error', () => {
    const names = new Set(['sku', 'brewing', 'name']);
    expect(propertyNamesOf('sku', names)).toEqual(['sku']);
    expect(propertyNamesOf('name', names)).toEqual(['name']);
    expect(propertyNamesOf('name', new Set(['sku']))).toBeNull();
    expect(propertyNamesOf('brewing[3].how', names)).toEqual(['brewing', 'how']);
    expect(propertyNamesOf('schemaDefinition.allOf[1].properties.sku.pattern', names)).toEqual([
      'sku',
      'pattern',
    ]);
    expect(
      propertyNamesOf('metaDefinition.propertiesConfig.brewing.items.propertiesConfig.how.label', names),
    ).toEqual(['brewing', 'how', 'label']);
    expect(propertyNamesOf('schemaDefinition.required', names)).toBeNull();
  });

  it('shows the general sentence only when nothing else says what is wrong', () => {
    const names = new Set(['sku']);
    const failing = type({ blockers: { sku: ['The property sku is required'], ctd: ['General'] } });
    expect(generalBlockers(failing, names)).toEqual([]);
    expect(blockersAt(failing, 'sku', names)).toEqual([[['sku'], ['The property sku is required']]]);
    expect(generalBlockers(type({ blockers: { ctd: ['General'] } }), names)).toEqual([['ctd', ['General']]]);
    expect(generalBlockers(type({ blockers: { label: ['Empty'] } }), names)).toEqual([['label', ['Empty']]]);
  });
});
