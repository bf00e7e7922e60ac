// Kinds of keys, rules of the presets, and rules in words. Sends no requests.
import type { Schema } from '../../api/client';
import { typeLabel } from '../../session/session.svelte';
import { t } from '../../text';
import { RIGHTS, type Rule } from '../../ui/RuleGrid.svelte';

export type Key = Schema['ApiKey'];
export type Kind = Key['kind'];
export const KINDS: Kind[] = ['scoped', 'read_only', 'read_write', 'admin'];
/** Maximum number of rules that are described; the rest is only counted. */
const MAX_RULES = 5;
export const GRACE_HOURS = [0, 1, 24, 72, 168] as const;

const READ_ALL = { ctd: '*', read: true, create: false, update: false, delete: false };
export const PRESETS: Record<keyof typeof t.keys.preset, Rule[]> = {
  viewer: [READ_ALL],
  allButDelete: [{ ...READ_ALL, create: true, update: true }],
  allRights: [{ ...READ_ALL, create: true, update: true, delete: true }],
  none: [],
};
export const PRESET_NAMES = ['viewer', 'allButDelete', 'allRights', 'none'] as const;

/** The rules of a key; a right that the API leaves out is false. */
export function rulesOf(key: Key): Rule[] {
  return key.rules.map((rule) => ({
    ctd: rule.ctd,
    read: rule.read ?? false,
    create: rule.create ?? false,
    update: rule.update ?? false,
    delete: rule.delete ?? false,
  }));
}

/** `All types: Read; Posts: Create, Update`. */
export function describeRules(key: Key): string {
  if (key.kind !== 'scoped') return t.keys.may[key.kind];
  const inOrder = rulesOf(key).toSorted((a, b) => +(b.ctd === '*') - +(a.ctd === '*'));
  const parts = inOrder.map((rule) => {
    const type = rule.ctd === '*' ? t.users.allTypes : typeLabel(rule.ctd);
    const rights = RIGHTS.filter((right) => rule[right]).map((right) => t.users.rights[right]);
    return `${type}: ${rights.join(', ')}`;
  });
  const more = parts.length - MAX_RULES;
  if (more > 0) parts.splice(MAX_RULES, more, t.keys.moreRules(more));
  return parts.join('; ') || t.keys.noRules;
}
