// Places and labels of settings in the builder. Knows texts only.
import { t } from '../../text';

/** Settings of a property that its editor shows with their errors. */
export const PROPERTY_SETTINGS: Record<string, () => string> = {
  label: () => t.types.label,
  name: () => t.types.propertyName,
  inputType: () => t.types.kind,
  default: () => t.types.defaultValue,
  options: () => t.types.options,
  minimum: () => t.types.minimum,
  maximum: () => t.types.maximum,
  minLength: () => t.types.minLength,
  maxLength: () => t.typeEdits.maxLength,
  minItems: () => t.types.minItems,
  pattern: () => t.types.pattern,
  rows: () => t.types.rows,
  relationContenttype: () => t.types.target,
  inputSubtype: () => t.types.subtype,
};

/** Further settings that lists of differences name. */
const NAMED_SETTINGS: Record<string, () => string> = {
  required: () => t.types.required,
  helpText: () => t.types.helpText,
  unique: () => t.types.marks.unique,
  isTitlePart: () => t.types.titlePart,
  readonly: () => t.types.readonly,
  hidden: () => t.types.hidden,
  isPassword: () => t.types.password,
  showTime: () => t.types.showTime,
  relationMultiple: () => t.types.many,
  blockEditorTypes: () => t.types.blocks,
  placeholder: () => t.types.placeholder,
  width: () => t.types.half,
  showIf: () => t.types.showIf,
};

const TYPE_SETTINGS: Record<string, () => string> = {
  draftPublic: () => t.types.draftPublic,
  label: () => t.types.label,
  name: () => t.types.name,
  workflowId: () => t.types.workflow,
  slugs: () => t.types.slugs,
  applyDefaults: () => t.typeEdits.applyDefaults,
  uniqueTogether: () => t.typeEdits.uniqueTogether,
  single: () => t.types.single,
  group: () => t.types.group,
  icon: () => t.types.icon,
  previewUrl: () => t.types.previewUrl,
  columns: () => t.types.columns,
  order: () => t.types.order,
  tabs: () => t.types.tabs,
};

/** The setting that a path ends at: `validation.relationContenttype`, `slugs[0].source`. */
export function settingName(path: string): string {
  const parts = path.replaceAll(/\[\d+\]/g, '').split('.');
  if (parts[0] === 'metaDefinition' && parts[1] === 'uniqueTogether') return parts[1];
  if (parts[0] === 'metaDefinition' && parts[1] === 'admin') return parts[2] ?? path;
  return (parts[0] === 'slugs' ? parts[0] : parts.at(-1)) ?? path;
}

export const isTypeSetting = (path: string): boolean =>
  !path.startsWith('schemaDefinition') && settingName(path) in TYPE_SETTINGS;

/** The part of the builder with a setting of the type. */
export function viewOf(path: string): 'properties' | 'settings' | 'json' {
  if (path === 'properties') return 'properties';
  return isTypeSetting(path) ? 'settings' : 'json';
}

/** The label of a setting; its path if the form does not have the setting. */
export function settingLabel(path: string, ofProperty: boolean): string {
  if (path === 'json') return t.types.views.json;
  if (path === 'properties') return t.types.properties;
  if (ofProperty) {
    if (path === 'backfill') return t.types.backfillSetting;
    const name = settingName(path);
    return (PROPERTY_SETTINGS[name] ?? NAMED_SETTINGS[name])?.() ?? path;
  }
  return isTypeSetting(path) ? (TYPE_SETTINGS[settingName(path)]?.() ?? path) : path;
}
