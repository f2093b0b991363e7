// The composer: who gets the broadcast is counted while it is typed, and fallbacks show for the variables in use.
// What comes with the count also brings the fields of another channel's or template's message, and newer segments.

const composer = /** @type {HTMLFormElement | null} */ (document.querySelector("[data-broadcast]"));
const PAUSE = 500;
const AGAIN = 2_000;
const VARIABLE_NAME = /\{\{\s*([a-z]+\.[A-Za-z0-9_ -]{1,64}?)\s*\}\}/g;
const DECIDING = /^(channel|template|audience.*|source_broadcast_id|retarget_engagement|time|scheduled_.*)$/;
/** @type {number | undefined} */
let timer;
let counted = "";
/** @type {AbortController | null} */
let asking = null;

/** @param {HTMLFormElement} form */
function variablesOf(form) {
  /** @type {NodeListOf<HTMLInputElement | HTMLTextAreaElement>} */
  const fields = form.querySelectorAll("[data-gap], textarea[name=message_text]");
  const names = [...fields].flatMap((field) => [...field.value.matchAll(VARIABLE_NAME)].map((found) => found[1]));
  return new Set(names);
}

/** Everything that decides who gets it, as one text. @param {HTMLFormElement} form */
function questionOf(form) {
  const chosen = [...new FormData(form)].filter(([name]) => DECIDING.test(name)).map(([name, value]) => `${name}=${value}`);
  /** @type {NodeListOf<HTMLInputElement>} */
  const fallbacks = form.querySelectorAll("[data-fallback] input");
  const filled = [...fallbacks].filter((field) => field.value.trim()).map((field) => field.name);
  return [...chosen, ...[...variablesOf(form)].sort(), ...filled].join("\n");
}

/** @param {HTMLFormElement} form */
function showFallbacks(form) {
  const used = variablesOf(form);
  const list = /** @type {HTMLDetailsElement | null} */ (form.querySelector("[data-fallbacks]"));
  if (!list) return;
  /** @type {NodeListOf<HTMLElement>} */
  const fields = list.querySelectorAll("[data-fallback]");
  for (const field of fields) field.hidden = !used.has(field.dataset.fallback ?? "");
  const isEmpty = [...fields].every((field) => field.hidden);
  // It opens when the first fallback shows, and stays as its reader leaves it.
  if (!isEmpty && !list.dataset.shown) list.open = true;
  list.dataset.shown = isEmpty ? "" : "yes";
  list.hidden = isEmpty;
}

/**
 * A part of the form as it is and as it comes, if it is in both.
 * @param {HTMLFormElement} form
 * @param {Document} page
 * @param {string} selector
 * @returns {[HTMLElement, HTMLElement] | null}
 */
function bothOf(form, page, selector) {
  const [old, next] = [form, page].map((one) => /** @type {HTMLElement | null} */ (one.querySelector(selector)));
  return old && next && [old, document.importNode(next, true)];
}

/**
 * Put a part for another choice into its place. Who is in it goes on in the same field, or in its first.
 * @param {HTMLFormElement} form
 * @param {Document} page
 * @param {string} part the attribute that says which choice it is for
 */
function swap(form, page, part) {
  const [old, next] = bothOf(form, page, `[${part}]`) ?? [];
  if (!old || !next || old.getAttribute(part) === next.getAttribute(part)) return false;
  const focused = old.contains(document.activeElement) && document.activeElement?.getAttribute("name");
  old.replaceWith(next);
  /** @type {NodeListOf<HTMLInputElement>} */
  const fields = next.querySelectorAll("input, textarea, select");
  if (focused) ([...fields].find((field) => field.name === focused) ?? fields[0])?.focus();
  return true;
}

/** @param {HTMLFormElement} form @param {Document} page */
function takeMessage(form, page) {
  if (swap(form, page, "data-messages")) plan(form, 0, true);
  if (!swap(form, page, "data-message")) return;
  const [phone, nextPhone] = bothOf(form, page, "[data-phone]") ?? [];
  if (phone && nextPhone) phone.replaceWith(nextPhone);
  const [variables, nextVariables] = bothOf(form, page, ".variables") ?? [];
  if (variables && nextVariables) variables.hidden = Boolean(nextVariables.hidden);
  form.dispatchEvent(new Event("composer:swapped"));
}

/** @param {HTMLFormElement} form @param {Document} page */
function take(form, page) {
  takeMessage(form, page);
  /** @type {NodeListOf<HTMLElement>} */
  const fallbacks = page.querySelectorAll("[data-fallback]");
  for (const one of fallbacks) {
    const there = form.querySelector(`[data-fallback="${CSS.escape(one.dataset.fallback ?? "")}"]`);
    if (!there) form.querySelector("[data-fallbacks]")?.append(document.importNode(one, true));
  }
  /** @type {NodeListOf<HTMLElement>} */
  const parts = form.querySelectorAll("[data-counted]");
  for (const part of parts) {
    const then = page.querySelector(`[data-counted="${CSS.escape(part.dataset.counted ?? "")}"]`);
    const isNew = then && then.textContent !== part.textContent;
    if (isNew && !part.contains(document.activeElement)) part.replaceChildren(...document.importNode(then, true).childNodes);
  }
  showFallbacks(form);
}

/** @param {HTMLFormElement} form @param {string} question */
async function count(form, question) {
  asking?.abort();
  asking = new AbortController();
  const body = new FormData(form);
  body.set("choose", "count");
  const answer = await fetch(location.href, { method: "POST", body, headers: { Accept: "text/html" }, signal: asking.signal });
  if (answer.redirected || !answer.ok) throw new Error(String(answer.status));
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (!page.querySelector("[data-broadcast]")) throw new Error("The answer is not the composer.");
  if (question !== questionOf(form)) return;
  take(form, page);
  if (page.querySelector("[data-count-again]")) plan(form, AGAIN, true);
}

/** @param {HTMLFormElement} form @param {number} wait @param {boolean} anew */
function plan(form, wait, anew = false) {
  clearTimeout(timer);
  timer = setTimeout(() => {
    const question = questionOf(form);
    if (question === counted && !anew) return;
    counted = question;
    // The next change counts again. Until then a button shows the fields of what was chosen.
    count(form, question).catch((reason) => { if (reason.name !== "AbortError") form.dispatchEvent(new Event("composer:failed")); });
  }, wait);
}

if (composer) {
  composer.addEventListener("input", () => {
    showFallbacks(composer);
    plan(composer, PAUSE);
  });
  // A button has inserted a variable.
  composer.addEventListener("click", () => {
    showFallbacks(composer);
    plan(composer, PAUSE);
  });
  // Back to this page, the browser fills in what was typed only now; and there may be newer segments.
  addEventListener("pageshow", () => {
    showFallbacks(composer);
    plan(composer, 0, true);
  });
}
