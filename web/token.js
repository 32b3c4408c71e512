// SPDX-License-Identifier: Apache-2.0
// The token of a server that wants one. It is asked for once, and kept for this tab alone: another site
// cannot read it, and it is gone when the tab is.
import { element } from './dom.js';

const KEY = 'ttmem-token';
let dialog = null; // while it is open

export function authorization() {
  const token = sessionStorage.getItem(KEY);
  return token ? { Authorization: `Bearer ${token}` } : {};
}

// Asks the user, unless it does already. Whoever needs the token tries again by himself.
export function askForToken() {
  if (dialog) return;
  const wrong = sessionStorage.getItem(KEY) !== null;
  const input = element('input', {
    type: 'password',
    name: 'token',
    'aria-label': 'Token',
    autocomplete: 'off',
    required: true,
  });
  const use = (event) => {
    event.preventDefault();
    sessionStorage.setItem(KEY, input.value.trim());
    dialog.close();
  };
  dialog = element(
    'dialog',
    { id: 'token' },
    element('h2', {}, wrong ? 'The server does not take this token' : 'The server wants a token'),
    element('p', { class: 'note' }, 'It is in the file that `ttmem serve --token-file` names.'),
    element('form', { onsubmit: use }, input, ' ', element('button', {}, 'Use it')),
  );
  dialog.addEventListener('close', () => {
    dialog.remove();
    dialog = null;
  });
  document.body.append(dialog);
  dialog.showModal();
}
