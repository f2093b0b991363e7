// The composer: the picture follows what is typed, buttons insert variables, and only the chosen way's fields show.

/** @typedef {HTMLInputElement | HTMLTextAreaElement} TextField */

const form = /** @type {HTMLFormElement | null} */ (document.querySelector("[data-broadcast]"));
/** @type {NodeListOf<HTMLElement>} */
const variables = document.querySelectorAll("[data-variable]");
const labels = Object.fromEntries([...variables].map((one) => [one.dataset.variable, one.textContent]));
// As broadcasts/pages/message_preview.py has them too.
const MARKS = [["```", "code"], ["*", "strong"], ["_", "em"], ["~", "s"]];
const PLACEHOLDER = /\{\{\s*([A-Za-z0-9_]+)\s*\}\}/g;
const VARIABLE = /\{\{\s*([a-z]+\.[A-Za-z0-9_ -]{1,64})\s*\}\}/g;

/** @param {string} text */
function escape(text) {
  const holder = document.createElement("div");
  holder.textContent = text;
  return holder.innerHTML;
}

/** @param {string} text */
function marked(text) {
  return MARKS.reduce((safe, [mark, element]) => {
    const sign = mark.replace(/[*]/g, "\\$&");
    const last = mark.at(-1) === "*" ? "*" : mark.at(-1);
    const wanted = new RegExp(`(?<![\\w${last}])${sign}(?=\\S)([^\\n]*?\\S)${sign}(?![\\w${last}])`, "g");
    return safe.replace(wanted, `<${element}>$1</${element}>`);
  }, escape(text));
}

/** @param {HTMLFormElement} composer */
function redraw(composer) {
  /** @type {NodeListOf<HTMLElement>} */
  const parts = document.querySelectorAll("[data-phone] [data-raw]");
  for (const part of parts) {
    const text = (part.dataset.raw ?? "").replace(PLACEHOLDER, (whole, name) => {
      const field = /** @type {TextField | null} */ (composer.elements.namedItem(name));
      return field ? field.value || field.dataset.example || (name === "message_text" ? "" : whole) : whole;
    });
    const labelled = marked(text).replace(VARIABLE, (_, name) => `<mark>${escape(labels[name] || name.split(".")[1])}</mark>`);
    part.innerHTML = labelled.replace(PLACEHOLDER, (whole, name) => {
      const field = /** @type {TextField | null} */ (composer.elements.namedItem(name));
      return field?.dataset.short ? `<mark>${escape(field.dataset.short)}</mark>` : whole;
    });
  }
}

/** @type {TextField | null} */
let last = null;

/**
 * @param {HTMLFormElement} composer
 * @param {string | undefined} name
 */
function insert(composer, name) {
  const first = composer.querySelector("[data-gap]") || composer.elements.namedItem("message_text");
  const field = (last?.isConnected ? last : null) || /** @type {TextField | null} */ (first);
  if (!field) return;
  const end = field.value.length;
  field.setRangeText(`{{${name}}}`, field.selectionStart ?? end, field.selectionEnd ?? end, "end");
  field.focus();
  redraw(composer);
}

function showChosen() {
  for (const section of document.querySelectorAll("[data-choices]")) {
    const chosen = /** @type {HTMLInputElement | null} */ (section.querySelector("input[type=radio]:checked"))?.value;
    /** @type {NodeListOf<HTMLElement>} */
    const parts = section.querySelectorAll("[data-for]");
    for (const part of parts) part.hidden = part.dataset.for !== chosen;
  }
}

// Who goes through a list by its arrow keys has chosen each entry on the way: the page stays, and counting.js brings the fields.
let usesKeys = false;

/**
 * @param {HTMLFormElement} composer
 * @param {string} changed
 */
function askFor(composer, changed) {
  const asking = /** @type {HTMLButtonElement} */ (composer.querySelector("[data-choose]"));
  asking.value = changed;
  if (!usesKeys) asking.click();
}

/** Offer to load the chosen message's fields while the page still has another one's. @param {HTMLFormElement} composer */
function showAsking(composer) {
  const isBehind = [["channel", "messages"], ["template", "message"]].some(([name, part]) => {
    const chosen = /** @type {HTMLSelectElement | null} */ (composer.elements.namedItem(name));
    return chosen?.value !== composer.querySelector(`[data-${part}]`)?.getAttribute(`data-${part}`);
  });
  composer.querySelector(".choose")?.classList.toggle("is-needed", isBehind);
}

/** @param {HTMLFormElement} composer */
function prepare(composer) {
  composer.classList.add("has-script");
  composer.querySelector("[data-variables]")?.removeAttribute("hidden");
  composer.addEventListener("input", () => redraw(composer));
  composer.addEventListener("focusin", (event) => {
    const field = /** @type {Element} */ (event.target);
    if (field.matches("[data-gap], textarea[name=message_text]")) last = /** @type {TextField} */ (field);
  });
  composer.addEventListener("click", (event) => {
    const clicked = /** @type {Element} */ (event.target);
    const button = /** @type {HTMLElement | null} */ (clicked.closest("[data-variable]"));
    if (button) insert(composer, button.dataset.variable);
  });
  composer.addEventListener("change", (event) => {
    showChosen();
    const changed = /** @type {Element} */ (event.target);
    if (changed.matches("select[name=channel], select[name=template]")) askFor(composer, changed.getAttribute("name") ?? "");
  });
  composer.addEventListener("keydown", () => { usesKeys = true; });
  composer.addEventListener("pointerdown", () => { usesKeys = false; });
  composer.addEventListener("composer:failed", () => showAsking(composer));
  composer.addEventListener("composer:swapped", () => {
    showAsking(composer);
    redraw(composer);
  });
  const show = () => {
    showChosen();
    redraw(composer);
  };
  show();
  // Only then has the browser filled in what was typed before somebody came back.
  addEventListener("pageshow", show);
}

if (form) prepare(form);
