"use strict";
// What the scripts of all pages share.
const page = (() => {
  const make = (name, attributes = {}, ...children) => {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
      else if (value === true) node.setAttribute(key, "");
      else if (value !== false && value !== null) node.setAttribute(key, value);
    }
    node.append(...children);
    return node;
  };
  const draw = (name, attributes = {}, ...children) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
      else node.setAttribute(key, value);
    }
    node.append(...children);
    return node;
  };
  const count = (number) => number.toLocaleString("en");
  const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
  const plural = (number, word) => `${count(number)} ${word}${number === 1 ? "" : "s"}`;
  return { make, draw, count, clamp, plural };
})();
