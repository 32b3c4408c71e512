// SPDX-License-Identifier: Apache-2.0
// The token of a server that requires one. The page asks once and keeps the token for this tab
// only: other sites cannot read it, and it is gone when the tab is closed.
import { element, setText, show } from './dom.js';

const KEY = 'ttmem-token';
const NOT_A_TOKEN =
  'This is no token: it has a space or a non-ASCII character. Copy it from the file again.';
let dialog = null; // the dialog while it is open

// A header may contain only these characters. With others, the browser would refuse the request.
const canBeSent = (token) => /^[\x21-\x7e]+$/.test(token);

export function authorization() {
  const token = sessionStorage.getItem(KEY);
  return token && canBeSent(token) ? { Authorization: `Bearer ${token}` } : {};
}

// Asks the user for the token, unless a dialog is already open. The caller's next request uses the
// token.
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
  const why = element('p', { class: 'bad', role: 'alert', hidden: true });
  const use = (event) => {
    event.preventDefault();
    const token = input.value.trim();
    show(why, !canBeSent(token));
    setText(why, canBeSent(token) ? '' : NOT_A_TOKEN);
    if (!canBeSent(token)) return;
    sessionStorage.setItem(KEY, token);
    dialog.close();
  };
  dialog = element(
    'dialog',
    { id: 'token' },
    element('h2', {}, wrong ? 'The server does not take this token' : 'The server wants a token'),
    element('p', { class: 'note' }, 'It is in the file that `ttmem serve --token-file` names.'),
    element('form', { onsubmit: use }, input, ' ', element('button', {}, 'Use it')),
    why,
  );
  dialog.addEventListener('close', () => {
    dialog.remove();
    dialog = null;
  });
  document.body.append(dialog);
  dialog.showModal();
}
