// SPDX-License-Identifier: Apache-2.0
// Creates elements without parsing HTML. Labels and commands of programs are then always shown as
// plain text.

// Example: element('div', {class: 'bar', onclick: f}, 'text', child)
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? '' : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

// Sets the text only if it differs, to save work for the browser.
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

export function show(node, visible) {
  if (node.hidden === visible) node.hidden = !visible;
}

// Sizes a canvas in CSS pixels, sharp on every screen. The returned context counts in CSS pixels.
export function fit(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext('2d');
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

// Mixes two colours "#rrggbb"; `share` 0 is the first, 1 the second colour.
export function mix(from, to, share) {
  const part = (text, at) => parseInt(text.slice(at, at + 2), 16);
  const at = (i) => Math.round(part(from, i) + (part(to, i) - part(from, i)) * share);
  return `rgb(${at(1)} ${at(3)} ${at(5)})`;
}

// Returns the colour of a CSS variable, for a canvas.
export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
