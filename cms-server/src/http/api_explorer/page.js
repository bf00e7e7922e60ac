// Shows the OpenAPI document for the API key that the user enters. The key stays in this page.
'use strict';

const form = document.querySelector('form');
const note = form.querySelector('output');
const server = new URL('..', document.currentScript.src).href.replace(/\/$/, '');

async function loadDocument(key) {
  const headers = { 'X-AUTH-TOKEN': key };
  const response = await fetch(`${server}/api/v1/open-api-schema.json`, { headers });
  if (response.ok) return response.json();
  const reason = response.status === 401 ? 'The key is not valid.' : `Unexpected status ${response.status}.`;
  throw new Error(reason);
}

function show(openApi, key) {
  // "Try it out" sends requests to the server of this page, even if the document names another public URL.
  openApi.servers = [{ url: server }];
  const explorer = SwaggerUIBundle({
    spec: openApi,
    dom_id: '#description',
    deepLinking: true,
    docExpansion: 'none',
    defaultModelsExpandDepth: 0,
    filter: true,
    validatorUrl: null,
    onComplete: () => explorer.preauthorizeApiKey('HeaderApiKeyAuth', key),
  });
}

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const key = form.elements.key.value.trim();
  note.value = '';
  try {
    show(await loadDocument(key), key);
  } catch (error) {
    note.value = error.message;
  }
});
