// SPDX-License-Identifier: Apache-2.0
// The token of a server that wants one. It is asked for once, and kept for this tab alone: another site
// cannot read it, and it is gone when the tab is.
import { element, setText, show } from './dom.js';

const KEY = 'ttmem-token';
const NOT_A_TOKEN =
  'This is no token: it has a space, or a character that is not ASCII. Copy it from the file again.';
let dialog = null; // while it is open

// Others cannot stand in a header: the browser would refuse to ask at all.
const canBeSent = (token) => /^[\x21-\x7e]+$/.test(token);

export function authorization() {
  const token = sessionStorage.getItem(KEY);
  return token && canBeSent(token) ? { Authorization: `Bearer ${token}` } : {};
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
