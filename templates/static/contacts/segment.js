// The form of a segment: rows come and go without a new page, and the number of contacts follows what is typed.

const PAUSE = 500;
const form = /** @type {HTMLFormElement | null} */ (document.querySelector("[data-segment]"));
/** @type {AbortController | undefined} */
let asking;
/** @type {number | undefined} */
let waiting;

/**
 * Asks for the form again as a button would show it. A later question replaces an earlier one.
 * @param {HTMLFormElement} segment
 * @param {string} button
 */
async function ask(segment, button) {
  clearTimeout(waiting);
  asking?.abort();
  asking = new AbortController();
  const typed = new FormData(segment);
  typed.set("do", button);
  const answer = await fetch(location.href, { method: "POST", body: typed, redirect: "error", signal: asking.signal });
  if (!answer.ok) throw new Error(String(answer.status));
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}

/**
 * @param {Document} page
 * @param {string} part
 */
function swap(page, part) {
  const now = document.querySelector(part), then = page.querySelector(part);
  if (now && then) now.replaceWith(document.importNode(then, true));
}

/** @param {Document} page */
function showCount(page) {
  const now = document.querySelector("[data-count]"), then = page.querySelector("[data-count]");
  if (now && then && now.innerHTML !== then.innerHTML) now.replaceChildren(...document.importNode(then, true).childNodes);
}

/** @param {HTMLFormElement} segment */
async function count(segment) {
  try {
    const page = await ask(segment, "count");
    showCount(page);
    for (const values of page.querySelectorAll("datalist[id^=values-]")) {
      const now = document.getElementById(values.id);
      if (now && now.innerHTML !== values.innerHTML) now.replaceWith(document.importNode(values, true));
    }
  } catch { /* the number is counted again after the next change, and when the segment is saved */ }
}

/**
 * @param {HTMLFormElement} segment
 * @param {HTMLButtonElement} button
 */
async function change(segment, button) {
  try {
    const page = await ask(segment, button.value);
    swap(page, "[data-rows]");
    showCount(page);
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") return;
    button.dataset.asIs = "";
    button.click();
    return;
  }
  const last = button.value.startsWith("add-") ? ".condition:nth-last-child(1 of .condition) .condition-fields :is(select, input)" : ".add-condition button";
  /** @type {HTMLElement | null} */ (document.querySelector(last))?.focus();
}

/** After a comma, the known tags are suggested as the next one. @param {HTMLInputElement} input */
function suggestNext(input) {
  const before = input.value.slice(0, input.value.lastIndexOf(",") + 1);
  const taken = new Set(before.split(",").map((tag) => tag.trim().toLowerCase()));
  for (const option of input.list?.options ?? []) {
    option.dataset.tag ??= option.value;
    option.disabled = taken.has(option.dataset.tag.toLowerCase());
    option.value = before ? `${before} ${option.dataset.tag}` : option.dataset.tag;
  }
}

if (form) {
  form.classList.add("has-script");
  form.addEventListener("click", (event) => {
    const button = event.target instanceof Element && event.target.closest("button[name=do]");
    if (!(button instanceof HTMLButtonElement) || "asIs" in button.dataset) return;
    event.preventDefault();
    change(form, button);
  });
  form.addEventListener("focusin", ({ target }) => {
    if (target instanceof HTMLInputElement && "tags" in target.dataset) suggestNext(target);
  });
  form.addEventListener("input", ({ target }) => {
    if (!(target instanceof HTMLElement) || !target.closest("[data-rows]")) return;
    if (target instanceof HTMLInputElement && "tags" in target.dataset) suggestNext(target);
    clearTimeout(waiting);
    waiting = setTimeout(() => count(form), PAUSE);
  });
}
