// What is written in the inbox: an answer, a template or a note, each with a field and a draft of its own; saved replies
// by /, the window's end, templates with a preview.

/** @typedef {{ text: string, at: number }} Draft */

const inbox = /** @type {HTMLElement | null} */ (document.querySelector("[data-inbox]"));
const composer = () => /** @type {HTMLElement | null} */ (document.querySelector(".composer[data-live]"));
const answering = () => /** @type {HTMLTextAreaElement | null} */ (composer()?.querySelector("[data-answer] textarea") ?? null);
const savedReplies = () => /** @type {HTMLSelectElement | null} */ (composer()?.querySelector("[data-saved]") ?? null);
/** @param {Event} event */
const targetOf = (event) => /** @type {Element} */ (event.target);
const MINUTE = 60000;
const KEPT_DAYS = 30;

// Drafts: kept in this browser for the signed-in person -----------------------------------------------------

const draftPrefix = `inbox-draft:${inbox?.dataset.user}:`;

/**
 * A draft belongs to the form in which it was begun: a note's never stands in an answer's field.
 * @param {Element} field
 */
function draftKey(field) {
  const part = /** @type {HTMLElement | null} */ (field.closest("[data-part]"));
  return part ? `${draftPrefix}${composer()?.dataset.conversation}:${part.dataset.part}` : null;
}

/**
 * @param {string | null} key
 * @returns {Draft | null}
 */
function readDraft(key) {
  try { return JSON.parse((key && localStorage.getItem(key)) || "null"); } catch { return null; }
}

/** @param {HTMLTextAreaElement} field */
function keepDraft(field) {
  const key = draftKey(field);
  if (!key) return;
  try {
    if (field.value.trim()) localStorage.setItem(key, JSON.stringify({ text: field.value, at: Date.now() }));
    else localStorage.removeItem(key);
  } catch { /* a browser that keeps nothing */ }
}

function restoreDrafts() {
  for (const field of composer()?.querySelectorAll("textarea") ?? []) {
    const draft = field.value ? null : readDraft(draftKey(field));
    if (draft) field.value = draft.text;
  }
}

/** @param {HTMLFormElement} form */
function forgetDraft(form) {
  const key = draftKey(form);
  if (key) localStorage.removeItem(key);
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
    const key = `${draftPrefix}${row.dataset.conversation}`;
    const has = row.dataset.conversation !== open && (readDraft(`${key}:text`) || readDraft(`${key}:note`));
    const mark = row.querySelector(".inbox-draft");
    if (mark && !has) mark.remove();
    if (mark || !has) continue;
    const made = document.createElement("span");
    made.className = "inbox-draft";
    made.textContent = `${inbox?.dataset.draft} · `;
    row.querySelector(".inbox-preview")?.prepend(made);
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

// Answer, template or note: every form stands on the page, and one of them is shown ---------------------------------

const FIRST = "textarea, .template-form input:not([type=hidden]), [data-template-filter]:not([hidden]), .templates a";
/** @param {string | undefined} mode */
const partOf = (mode) => /** @type {HTMLElement | null} */ (composer()?.querySelector(`[data-part="${mode}"]`) ?? null);

/** Shows the form that was chosen last, whatever the server thinks; it knows of the choice only by the address. */
function showPart() {
  const whole = composer();
  if (!whole) return;
  for (const part of whole.querySelectorAll("[data-part]")) part.toggleAttribute("hidden", part !== partOf(whole.dataset.modeNow));
  for (const tab of whole.querySelectorAll("a[data-mode]")) {
    if (tab.getAttribute("data-mode") === whole.dataset.modeNow) tab.setAttribute("aria-current", "true");
    else tab.removeAttribute("aria-current");
  }
}

/** @param {string} mode */
function changeMode(mode) {
  const whole = composer();
  if (!whole) return;
  whole.dataset.modeNow = mode;
  showPart();
  const address = new URL(location.href);
  address.searchParams.set("mode", mode);
  history.replaceState(null, "", address);
  /** @type {HTMLElement | null | undefined} */ (partOf(mode)?.querySelector(FIRST))?.focus();
}

/**
 * Another template, or none: only the form of templates is asked for anew.
 * @param {HTMLAnchorElement} link
 */
async function chooseTemplate(link) {
  const answer = await fetch(link.href, { headers: { Accept: "text/html" } });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const [now, then] = [partOf("template"), page.querySelector("[data-part=template]")];
  if (!answer.ok || !now || !then) { location.assign(link.href); return; }
  const shown = /** @type {HTMLElement} */ (document.importNode(then, true));
  now.replaceWith(shown);
  prepare();
  if (shown.hidden) return; // somebody has begun to write something else meanwhile
  history.replaceState(null, "", link.href);
  /** @type {HTMLElement | null} */ (shown.querySelector(FIRST))?.focus();
}

document.addEventListener("click", (event) => {
  const link = /** @type {HTMLAnchorElement | null} */ (targetOf(event).closest("a[data-mode], a[data-choose]"));
  if (!link || !composer()?.contains(link) || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  if (link.dataset.mode) changeMode(link.dataset.mode);
  else chooseTemplate(link).catch(() => location.assign(link.href));
});

// Saved replies: by / and a part of the name, or from the list ---------------------------------------------------

const options = () => [...(savedReplies()?.options ?? [])].filter((one) => one.value);

// The page says then if somebody was signed out.
const lookAgain = () => { document.dispatchEvent(new Event("inbox:stale")); };

/**
 * @param {string} id
 * @param {number} [from] where it begins; where the cursor stands unless it is said
 */
async function insert(id, from) {
  const [field, select] = [answering(), savedReplies()];
  if (!field || !select) return;
  const answer = await fetch((select.dataset.address ?? "").replace(/[0-]{36}$/, id));
  if (!answer.ok) return;
  const { text } = await answer.json();
  const end = field.selectionStart;
  field.setRangeText(text, from ?? end, end, "end");
  field.focus();
  keepDraft(field);
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
  answering()?.removeAttribute("aria-activedescendant");
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
  answering()?.setAttribute("aria-activedescendant", items[chosen].id);
}

/** @param {Element} item */
function take(item) {
  const field = answering();
  const from = field ? typed(field)?.from : undefined;
  closeSuggestions();
  insert(item.getAttribute("data-id") ?? "", from).catch(lookAgain);
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
  insert(select.value).catch(lookAgain);
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
  if (field.matches(".composer textarea")) keepDraft(/** @type {HTMLTextAreaElement} */ (field));
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
  showPart();
  restoreDrafts();
  markDrafts();
  countDown();
}

document.addEventListener("inbox:swapped", prepare);
document.addEventListener("inbox:part", showPart);
document.addEventListener("inbox:sent", (event) => forgetDraft(/** @type {CustomEvent<HTMLFormElement>} */ (event).detail));
if (inbox) {
  forgetOldDrafts();
  setInterval(countDown, MINUTE / 4);
}
prepare();
