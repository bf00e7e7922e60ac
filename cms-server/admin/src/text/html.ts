// Turns HTML text into a document that is never shown: scripts in it do not run, images are not loaded.
// The one file with the Trusted Types policy `cms-parse`; it feeds DOMParser only.

interface Policy {
  createHTML: (html: string) => string;
}
interface PolicyFactory {
  createPolicy: (name: string, policy: Policy) => Policy;
}
declare global {
  /** Missing in browsers without Trusted Types. The trusted value passes as the text that it stands for. */
  var trustedTypes: PolicyFactory | undefined;
}

const policy = globalThis.trustedTypes?.createPolicy('cms-parse', { createHTML: (html) => html });

/** The inert document of a text; its body contains everything, also what belongs into the head. */
export function parseHtml(html: string): Document {
  const whole = `<!doctype html><body>${html}`;
  return new DOMParser().parseFromString(policy ? policy.createHTML(whole) : whole, 'text/html');
}

/** A text that has parts of a document around its contents, such as `<body class="a">`. */
export function isWholeDocument(html: string): boolean {
  return /<!doctype|<\/?(html|head|body|frameset)[\s/>]/i.test(html);
}

/** The source of a node. */
export function sourceOf(node: Node): string {
  // Only read: nothing is made of it here.
  // eslint-disable-next-line no-restricted-properties
  if (node instanceof Element) return node.outerHTML;
  const text = node.textContent ?? '';
  return node.nodeType === 8 ? `<!--${text}-->` : text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
