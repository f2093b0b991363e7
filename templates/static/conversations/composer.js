// What is written in the inbox: drafts that survive, saved replies by /, the window's end, templates with a preview.

/** @typedef {{ text: string, at: number }} Draft */

const inbox = /** @type {HTMLElement | null} */ (document.querySelector("[data-inbox]"));
const composer = () => /** @type {HTMLElement | null} */ (document.querySelector(".composer[data-live]"));
const writing = () => /** @type {HTMLTextAreaElement | null} */ (composer()?.querySelector("textarea") ?? null);
const savedReplies = () => /** @type {HTMLSelectElement | null} */ (composer()?.querySelector("[data-saved]") ?? null);
/** @param {Event} event */
const targetOf = (event) => /** @type {Element} */ (event.target);
const MINUTE = 60000;
const KEPT_DAYS = 30;

// Drafts: kept in this browser for whoever has signed in ----------------------------------------------------

const draftPrefix = `inbox-draft:${inbox?.dataset.user}:`;

function draftKey() {
  const part = composer();
  return part ? `${draftPrefix}${part.dataset.conversation}:${part.dataset.modeNow}` : null;
}

/**
 * @param {string | null} key
 * @returns {Draft | null}
 */
function readDraft(key) {
  try { return JSON.parse((key && localStorage.getItem(key)) || "null"); } catch { return null; }
}

/** @param {string} text */
function keepDraft(text) {
  const key = draftKey();
  if (!key) return;
  try {
    if (text.trim()) localStorage.setItem(key, JSON.stringify({ text, at: Date.now() }));
    else localStorage.removeItem(key);
  } catch { /* a browser that keeps nothing */ }
}

function restoreDraft() {
  const field = writing();
  if (!field || field.value) return;
  const draft = readDraft(draftKey());
  if (draft) field.value = draft.text;
}

function forgetOldDrafts() {
  for (const key of Object.keys(localStorage).filter((one) => one.startsWith("inbox-draft:"))) {
    const draft = readDraft(key);
    if (!draft || Date.now() - draft.at > KEPT_DAYS * 24 * 60 * MINUTE) localStorage.removeItem(key);
  }
}

function markDrafts() {
  const open = composer()?.dataset.conversation;
  /** @type {NodeListOf<HTMLElement>} */
  const rows = document.querySelectorAll(".inbox-row");
  for (const row of rows) {
    const has = row.dataset.conversation !== open && readDraft(`${draftPrefix}${row.dataset.conversation}:text`);
    const mark = row.querySelector(".inbox-draft");
    if (mark && !has) mark.remove();
    if (mark || !has) continue;
    const made = document.createElement("span");
    made.className = "inbox-draft";
    made.textContent = `${inbox?.dataset.draft} · `;
    row.querySelector(".inbox-meta")?.prepend(made);
  }
}

// The window's end: counted down, and the page asked anew when it has come --------------------------------------

function countDown() {
  const shown = /** @type {HTMLElement | null} */ (document.querySelector("[data-window-ends]"));
  if (!shown) return;
  const left = Date.parse(shown.dataset.windowEnds ?? "") - Date.now();
  if (left <= 0) { document.dispatchEvent(new Event("inbox:stale")); return; }
  const minutes = Math.ceil(left / MINUTE);
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  shown.textContent = `${hours ? `${hours} h ` : ""}${rest} min ${inbox?.dataset.left}`;
  shown.classList.toggle("soon", left < 60 * MINUTE);
}

// Answer, template or note: another form at the same place -------------------------------------------------------

/** @param {HTMLAnchorElement} link */
async function changeMode(link) {
  const answer = await fetch(link.href, { headers: { Accept: "text/html" } });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const then = page.querySelector(".composer[data-live]");
  if (!answer.ok || !then) { location.assign(link.href); return; }
  composer()?.replaceWith(document.importNode(then, true));
  history.replaceState(null, "", link.href);
  prepare();
  const first = "textarea, .template-form input:not([type=hidden]), [data-template-filter], .templates a";
  /** @type {HTMLElement | null | undefined} */ (composer()?.querySelector(first))?.focus();
}

document.addEventListener("click", (event) => {
  const link = /** @type {HTMLAnchorElement | null} */ (targetOf(event).closest("a[data-mode]"));
  if (!link || !composer()?.contains(link) || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  changeMode(link).catch(() => location.assign(link.href));
});

// Saved replies: by / and a part of the name, or from the list ---------------------------------------------------

const options = () => [...(savedReplies()?.options ?? [])].filter((one) => one.value);

/**
 * @param {string} id
 * @param {number} [from] where it begins; where the cursor stands unless it is said
 */
async function insert(id, from) {
  const [field, select] = [writing(), savedReplies()];
  if (!field || !select) return;
  const answer = await fetch((select.dataset.address ?? "").replace(/[0-]{36}$/, id));
  if (!answer.ok) return;
  const { text } = await answer.json();
  const end = field.selectionStart;
  field.setRangeText(text, from ?? end, end, "end");
  field.focus();
  keepDraft(field.value);
}

let chosen = 0;
function suggestions() {
  return composer()?.querySelector(".suggestions");
}

/** @param {HTMLTextAreaElement} field */
function typed(field) {
  const before = field.value.slice(0, field.selectionStart);
  const found = /(?:^|\s)\/([^\s/]{0,40})$/u.exec(before);
  return found ? { words: found[1].toLowerCase(), from: field.selectionStart - found[1].length - 1 } : null;
}

function closeSuggestions() {
  suggestions()?.remove();
  writing()?.removeAttribute("aria-activedescendant");
}

/** @param {HTMLTextAreaElement} field */
function suggest(field) {
  const asked = typed(field);
  const found = asked ? options().filter((one) => one.text.toLowerCase().includes(asked.words)).slice(0, 8) : [];
  closeSuggestions();
  if (!found.length) return;
  const list = document.createElement("ul");
  list.className = "suggestions";
  list.id = "saved-suggestions";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", savedReplies()?.labels[0]?.textContent ?? "");
  found.forEach((one, number) => {
    const item = document.createElement("li");
    item.id = `saved-suggestion-${number}`;
    item.setAttribute("role", "option");
    item.dataset.id = one.value;
    item.textContent = one.text;
    list.append(item);
  });
  field.form?.append(list);
  choose(0);
}

/** @param {number} number */
function choose(number) {
  const items = [...(suggestions()?.children ?? [])];
  chosen = (number + items.length) % items.length;
  items.forEach((item, at) => item.setAttribute("aria-selected", String(at === chosen)));
  items[chosen].scrollIntoView({ block: "nearest" });
  writing()?.setAttribute("aria-activedescendant", items[chosen].id);
}

/** @param {Element} item */
function take(item) {
  const field = writing();
  const from = field ? typed(field)?.from : undefined;
  closeSuggestions();
  insert(item.getAttribute("data-id") ?? "", from).catch(() => {});
}

document.addEventListener("keydown", (event) => {
  const list = suggestions();
  if (!list || !targetOf(event).matches("[data-answer] textarea") || event.ctrlKey || event.metaKey) return;
  if (event.key === "ArrowDown") choose(chosen + 1);
  else if (event.key === "ArrowUp") choose(chosen - 1);
  else if (event.key === "Enter" || event.key === "Tab") take(list.children[chosen]);
  else if (event.key === "Escape") closeSuggestions();
  else return;
  event.preventDefault();
  event.stopImmediatePropagation();
}, { capture: true });

document.addEventListener("mousedown", (event) => {
  const item = targetOf(event).closest(".suggestions li");
  if (item) { event.preventDefault(); take(item); }
});

document.addEventListener("change", (event) => {
  const changed = targetOf(event);
  const shown = composer()?.querySelector("[data-filename]");
  if (changed.matches(".composer-file input") && shown) {
    shown.textContent = /** @type {HTMLInputElement} */ (changed).files?.[0]?.name || "";
  }
  const select = /** @type {HTMLSelectElement | null} */ (changed.closest("[data-saved]"));
  if (!select || !select.value) return;
  insert(select.value).catch(() => {});
  select.value = "";
});

// Templates: found by a word, and shown as they will be read ------------------------------------------------------

function preview() {
  const shown = /** @type {HTMLElement | null} */ (document.querySelector("[data-preview]"));
  if (!shown) return;
  const text = shown.dataset.text ??= shown.textContent ?? "";
  /** @type {NodeListOf<HTMLInputElement>} */
  const fields = document.querySelectorAll(".template-form input[id^=parameter-]");
  const values = Object.fromEntries([...fields].map((field) => [
    (/\{\{(.+?)\}\}|^\S+ (\S+)$/u.exec(field.labels?.[0]?.textContent ?? "") || []).slice(1).find(Boolean), field.value]));
  shown.replaceChildren(...text.split(/(\{\{[^}]+\}\})/u).map((piece) => {
    const name = /^\{\{(.+)\}\}$/u.exec(piece)?.[1].trim();
    if (!name) return document.createTextNode(piece);
    const mark = document.createElement("mark");
    mark.textContent = values[name] || piece;
    return mark;
  }));
}

document.addEventListener("input", (event) => {
  const field = targetOf(event);
  if (field.matches(".composer textarea")) keepDraft(/** @type {HTMLTextAreaElement} */ (field).value);
  if (field.matches("[data-answer] textarea")) suggest(/** @type {HTMLTextAreaElement} */ (field));
  if (field.matches(".template-form input")) preview();
  if (!field.matches("[data-template-filter]")) return;
  const words = /** @type {HTMLInputElement} */ (field).value.toLowerCase();
  const items = field.closest("[data-templates]")?.querySelectorAll("li") ?? [];
  for (const item of items) item.hidden = !item.textContent?.toLowerCase().includes(words);
});

function prepare() {
  for (const button of document.querySelectorAll("[data-insert]")) button.setAttribute("hidden", "");
  for (const field of document.querySelectorAll("[data-template-filter]")) field.removeAttribute("hidden");
  preview();
  if (!inbox) return;
  restoreDraft();
  markDrafts();
  countDown();
}

document.addEventListener("inbox:swapped", prepare);
document.addEventListener("inbox:sent", () => { const key = draftKey(); if (key) localStorage.removeItem(key); });
if (inbox) {
  forgetOldDrafts();
  setInterval(countDown, MINUTE / 4);
}
prepare();
