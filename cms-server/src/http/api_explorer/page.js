// Shows what the API says of itself to the key that is given. The key stays in this page.
'use strict';

const form = document.querySelector('form');
const note = form.querySelector('output');
const server = new URL('..', document.currentScript.src).href.replace(/\/$/, '');

async function describe(key) {
  const headers = { 'X-AUTH-TOKEN': key };
  const answer = await fetch(`${server}/api/v1/open-api-schema.json`, { headers });
  if (answer.ok) return answer.json();
  throw new Error(answer.status === 401 ? 'There is no such key.' : `The server says ${answer.status}.`);
}

function show(description, key) {
  // "Try it out" sends requests to the server of this page, even if the document names another public URL.
  description.servers = [{ url: server }];
  const shown = SwaggerUIBundle({
    spec: description,
    dom_id: '#description',
    deepLinking: true,
    docExpansion: 'none',
    defaultModelsExpandDepth: 0,
    filter: true,
    validatorUrl: null,
    onComplete: () => shown.preauthorizeApiKey('HeaderApiKeyAuth', key),
  });
}

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const key = form.elements.key.value.trim();
  note.value = '';
  try {
    show(await describe(key), key);
  } catch (error) {
    note.value = error.message;
  }
});
