// The form of webhooks: types and actions are chosen from lists, values of headers are hidden, new webhooks are
// enabled. Knows no session: the caller names the types.
import type { Field, Form, Option } from './form';

/** Properties whose items hold one value of a list. */
const CHOICE_FIELDS = ['content_type_definitions', 'actions'];

/** Changes the form of `_webhooks`; `types` are the types that a webhook may name. */
export function webhookForm(form: Form, types: Option[]): Form {
  return { ...form, fields: form.fields.map((field) => webhookField(field, types)) };
}

function webhookField(field: Field, types: Option[]): Field {
  // A webhook that is not enabled is never called: few people want that of a new one.
  if (field.name === 'enabled') return { ...field, default: true };
  if (field.name === 'headers') {
    const fields = field.fields.map((nested) => ({ ...nested, password: nested.name === 'header_value' }));
    return { ...field, fields };
  }
  const [item] = field.fields;
  if (!item || !CHOICE_FIELDS.includes(field.name)) return field;
  const options = item.options.length > 0 ? item.options : types;
  return { ...field, itemChoice: true, fields: [{ ...item, options }] };
}
