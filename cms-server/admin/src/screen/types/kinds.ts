// Kinds of properties as a list to choose from: in groups, described, found by words.
import { t } from '../../text';
import { PROPERTY_KINDS, type PropertyKind } from '../../type/property-draft';

/** The first kind of each group. */
const GROUPS: Partial<Record<PropertyKind, () => string>> = {
  text: () => t.types.kindGroups.text,
  number: () => t.types.kindGroups.value,
  select: () => t.types.kindGroups.choice,
  media: () => t.types.kindGroups.link,
  object: () => t.types.kindGroups.structure,
};

export interface KindGroup {
  label: string;
  kinds: PropertyKind[];
}

/** All kinds that have each of the typed words in their name, description or further words. */
export function kindGroups(typed = ''): KindGroup[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const groups: KindGroup[] = [];
  for (const choice of PROPERTY_KINDS) {
    const label = GROUPS[choice]?.();
    if (label !== undefined) groups.push({ label, kinds: [] });
    const all = [t.types.kinds[choice], t.typeEdits.kindAbout[choice], t.typeEdits.kindWords[choice]]
      .join(' ')
      .toLowerCase();
    if (words.every((word) => all.includes(word))) groups.at(-1)?.kinds.push(choice);
  }
  const found = groups.filter(({ kinds }) => kinds.length > 0);
  // A kind with the typed name comes before those that only describe it.
  const named = (kind: PropertyKind) => t.types.kinds[kind].toLowerCase().startsWith(words.join(' '));
  if (words.length > 0) found.sort((a, b) => Number(b.kinds.some(named)) - Number(a.kinds.some(named)));
  return found.map(({ label, kinds }) => ({
    label,
    kinds: words.length > 0 ? kinds.toSorted((a, b) => Number(named(b)) - Number(named(a))) : kinds,
  }));
}
