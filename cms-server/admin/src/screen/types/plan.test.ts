import { describe, expect, it } from 'vitest';
import { newProperty } from '../../type/property-draft';
import { blockersOf, kindOfPair, listedBlockers, mayParse, unconfirmed, type PlanType } from './plan';

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

  it('parses text only into numbers and booleans', () => {
    expect(mayParse({ from: 'string/text', to: 'integer/number' })).toBe(true);
    expect(mayParse({ from: 'string/select', to: 'boolean/checkbox' })).toBe(true);
    expect(mayParse({ from: 'number/number', to: 'string/text' })).toBe(false);
    expect(mayParse({ from: 'string/text', to: 'array/object' })).toBe(false);
  });

  it('finds the property and the setting of a blocker', () => {
    const sku = newProperty('text', 'sku');
    const how = newProperty('text', 'how');
    const brewing = { ...newProperty('object', 'brewing'), items: [how] };
    const name = newProperty('text', 'name');
    const placed = (path: string, properties = [sku, brewing, name]) =>
      blockersOf(type({ blockers: { [path]: ['Wrong'] } }), properties).map((blocker) => [
        ...blocker.property,
        blocker.setting,
        blocker.ofObjects,
      ])[0];
    expect(placed('sku')).toEqual(['sku', '', true]);
    expect(placed('name')).toEqual(['name', '', true]);
    expect(placed('name', [sku])).toEqual(['name', false]);
    expect(placed('brewing[3].how')).toEqual(['brewing', 'how', '', true]);
    expect(placed('schemaDefinition.allOf[1].properties.sku.pattern')).toEqual(['sku', 'pattern', false]);
    expect(placed('metaDefinition.propertiesConfig.sku.backfill')).toEqual(['sku', 'backfill', false]);
    expect(placed('metaDefinition.propertiesConfig.brewing.items.propertiesConfig.how.label')).toEqual([
      'brewing',
      'how',
      'label',
      false,
    ]);
    expect(placed('schemaDefinition.required')).toEqual(['schemaDefinition.required', false]);
    expect(placed('slugs[0].source')).toEqual(['slugs[0].source', false]);
  });

  it('lists every blocker that no row shows, and the general one only if there is no other', () => {
    const sku = newProperty('text', 'sku');
    const failing = { sku: ['The property sku is required'], ctd: ['General'] };
    const listed = (changes: Partial<PlanType>) =>
      listedBlockers(type(changes), [sku]).map(({ message }) => message);
    expect(listed({ blockers: failing })).toEqual(['The property sku is required']);
    const inRow = { ...row, name: 'sku', emptied: 0, failed: 3 };
    expect(listed({ blockers: failing, properties: [inRow] })).toEqual([]);
    expect(listed({ blockers: { ctd: ['General'] } })).toEqual(['General']);
    expect(listed({ blockers: { label: ['Empty'] } })).toEqual(['Empty']);
  });
});
