// The query and the variables that were typed: leaving the console loses nothing.
export const typed = $state<{ query: string | undefined; variables: string; loads: number }>({
  query: undefined,
  variables: '{}',
  /** Counts the texts that come from elsewhere than the editor. */
  loads: 0,
});
