// The fragment of the sign-in URL: the code of a link, or an error of single sign-on. It is removed from
// the address bar, so that it is neither copied nor kept in the history.

export interface Fragment {
  code: string | null;
  error: string | null;
}

/** Reads the fragment of the address, and removes it. */
export function takeFragment(): Fragment {
  const parameters = new URLSearchParams(location.hash.slice(1));
  const fragment = { code: parameters.get('code'), error: parameters.get('error') };
  if (fragment.code !== null || fragment.error !== null)
    history.replaceState(history.state, '', location.pathname + location.search);
  return fragment;
}
