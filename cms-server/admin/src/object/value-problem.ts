// Validation errors of the values in a form. Some values are not sent because they are of the wrong type: a text where a
// number belongs. Sends requests; imports no component.
import { networkProblem, type FieldErrors, type Problem } from '../api/problem';
import { formFor } from '../session/session.svelte';
import type { ContentType } from '../type/definition';
import { valueErrors } from '../type/value-errors';
import type { FormState } from './form-state.svelte';
import { validate } from './object-requests';

/** Why the values are not sent, with all other errors that the server finds; null when they may be sent. */
export async function valueProblem(
  type: ContentType,
  id: string | null,
  formState: FormState,
): Promise<Problem | null> {
  const wrong = valueErrors(formFor(type).fields, formState.mine);
  if (Object.keys(wrong).length === 0) return null;
  const refused = await validate(type.name, id, formState.mine, formState.sources);
  return { ...networkProblem(), status: 400, fields: { ...refused?.fields, ...wrong } };
}

/** The validation errors of the values, by path; null when the server could not tell. */
export async function fieldErrors(
  type: ContentType,
  id: string | null,
  { mine, sources }: FormState,
): Promise<FieldErrors | null> {
  const problem = await validate(type.name, id, mine, sources);
  if (problem && problem.status !== 400) return null;
  return { ...problem?.fields, ...valueErrors(formFor(type).fields, mine) };
}
