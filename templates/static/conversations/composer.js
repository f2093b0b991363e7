// What is written in the inbox: drafts that survive, saved replies by /, the window's end, templates with a preview.

const inbox = document.querySelector("[data-inbox]");
const composer = () => document.querySelector(".composer[data-live]");
const MINUTE = 60000;
const KEPT_DAYS = 30;

// Drafts: kept in this browser for whoever has signed in ----------------------------------------------------

const draftPrefix = `inbox-draft:${inbox?.dataset.user}:`;

function draftKey() {
  const part = composer();
  return part ? `${draftPrefix}${part.dataset.conversation}:${part.dataset.modeNow}` : null;
}

function readDraft(key) {
  try { return JSON.parse(localStorage.getItem(key)); } catch { return null; }
}

function keepDraft(text) {
  const key = draftKey();
  if (!key) return;
  try {
    if (text.trim()) localStorage.setItem(key, JSON.stringify({ text, at: Date.now() }));
    else localStorage.removeItem(key);
  } catch { /* a browser that keeps nothing */ }
}

function restoreDraft() {
  const field = composer()?.querySelector("textarea");
  const draft = field && !field.value ? readDraft(draftKey()) : null;
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
  for (const row of document.querySelectorAll(".inbox-row")) {
    const has = row.dataset.conversation !== open && readDraft(`${draftPrefix}${row.dataset.conversation}:text`);
    const mark = row.querySelector(".inbox-draft");
    if (mark && !has) mark.remove();
    if (mark || !has) continue;
    const made = document.createElement("span");
    made.className = "inbox-draft";
    made.textContent = `${inbox.dataset.draft} · `;
    row.querySelector(".inbox-meta").prepend(made);
  }
}

// The window's end: counted down, and the page asked anew when it has come --------------------------------------

function countDown() {
  const shown = document.querySelector("[data-window-ends]");
  if (!shown) return;
  const left = Date.parse(shown.dataset.windowEnds) - Date.now();
  if (left <= 0) { document.dispatchEvent(new Event("inbox:stale")); return; }
  const minutes = Math.ceil(left / MINUTE);
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  shown.textContent = `${hours ? `${hours} h ` : ""}${rest} min ${inbox.dataset.left}`;
  shown.classList.toggle("soon", left < 60 * MINUTE);
}

// Answer, template or note: another form at the same place -------------------------------------------------------

async function changeMode(link) {
  const answer = await fetch(link.href, { headers: { Accept: "text/html" } });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const then = page.querySelector(".composer[data-live]");
  if (!answer.ok || !then) { location.assign(link.href); return; }
  composer().replaceWith(document.importNode(then, true));
  history.replaceState(null, "", link.href);
  prepare();
  composer().querySelector("textarea, .template-form input:not([type=hidden]), [data-template-filter], .templates a")?.focus();
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-mode]");
  if (!link || !composer()?.contains(link) || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  changeMode(link).catch(() => location.assign(link.href));
});

// Saved replies: by / and a part of the name, or from the list ---------------------------------------------------

const options = () => [...(composer()?.querySelectorAll("[data-saved] option[value]") || [])].filter((one) => one.value);

async function insert(id, from) {
  const field = composer().querySelector("textarea");
  const select = composer().querySelector("[data-saved]");
  const answer = await fetch(select.dataset.address.replace(/[0-]{36}$/, id));
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

function typed(field) {
  const before = field.value.slice(0, field.selectionStart);
  const found = /(?:^|\s)\/([^\s/]{0,40})$/u.exec(before);
  return found ? { words: found[1].toLowerCase(), from: field.selectionStart - found[1].length - 1 } : null;
}

function closeSuggestions() {
  suggestions()?.remove();
  composer()?.querySelector("textarea")?.removeAttribute("aria-activedescendant");
}

function suggest(field) {
  const asked = typed(field);
  const found = asked ? options().filter((one) => one.text.toLowerCase().includes(asked.words)).slice(0, 8) : [];
  closeSuggestions();
  if (!found.length) return;
  const list = document.createElement("ul");
  list.className = "suggestions";
  list.id = "saved-suggestions";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", composer().querySelector("[data-saved]").labels[0].textContent);
  found.forEach((one, number) => {
    const item = document.createElement("li");
    item.id = `saved-suggestion-${number}`;
    item.setAttribute("role", "option");
    item.dataset.id = one.value;
    item.textContent = one.text;
    list.append(item);
  });
  field.closest("form").append(list);
  choose(0);
}

function choose(number) {
  const items = [...suggestions().children];
  chosen = (number + items.length) % items.length;
  items.forEach((item, at) => item.setAttribute("aria-selected", String(at === chosen)));
  items[chosen].scrollIntoView({ block: "nearest" });
  composer().querySelector("textarea").setAttribute("aria-activedescendant", items[chosen].id);
}

function take(item) {
  const field = composer().querySelector("textarea");
  const from = typed(field)?.from;
  closeSuggestions();
  insert(item.dataset.id, from).catch(() => {});
}

document.addEventListener("keydown", (event) => {
  const list = suggestions();
  if (!list || !event.target.matches("[data-answer] textarea") || event.ctrlKey || event.metaKey) return;
  if (event.key === "ArrowDown") choose(chosen + 1);
  else if (event.key === "ArrowUp") choose(chosen - 1);
  else if (event.key === "Enter" || event.key === "Tab") take(list.children[chosen]);
  else if (event.key === "Escape") closeSuggestions();
  else return;
  event.preventDefault();
  event.stopImmediatePropagation();
}, { capture: true });

document.addEventListener("mousedown", (event) => {
  const item = event.target.closest(".suggestions li");
  if (item) { event.preventDefault(); take(item); }
});

document.addEventListener("change", (event) => {
  if (event.target.matches(".composer-file input")) composer().querySelector("[data-filename]").textContent = event.target.files[0]?.name || "";
  const select = event.target.closest("[data-saved]");
  if (!select || !select.value) return;
  insert(select.value).catch(() => {});
  select.value = "";
});

// Templates: found by a word, and shown as they will be read ------------------------------------------------------

function preview() {
  const shown = document.querySelector("[data-preview]");
  if (!shown) return;
  shown.dataset.text ??= shown.textContent;
  const values = Object.fromEntries([...document.querySelectorAll(".template-form input[id^=parameter-]")].map((field) => [
    (/\{\{(.+?)\}\}|^\S+ (\S+)$/u.exec(field.labels[0].textContent) || []).slice(1).find(Boolean), field.value]));
  shown.replaceChildren(...shown.dataset.text.split(/(\{\{[^}]+\}\})/u).map((piece) => {
    const name = /^\{\{(.+)\}\}$/u.exec(piece)?.[1].trim();
    if (!name) return document.createTextNode(piece);
    const mark = document.createElement("mark");
    mark.textContent = values[name] || piece;
    return mark;
  }));
}

document.addEventListener("input", (event) => {
  if (event.target.matches(".composer textarea")) keepDraft(event.target.value);
  if (event.target.matches("[data-answer] textarea")) suggest(event.target);
  if (event.target.matches(".template-form input")) preview();
  if (!event.target.matches("[data-template-filter]")) return;
  const words = event.target.value.toLowerCase();
  for (const item of event.target.closest("[data-templates]").querySelectorAll("li")) item.hidden = !item.textContent.toLowerCase().includes(words);
});

function prepare() {
  for (const button of document.querySelectorAll("[data-insert]")) button.hidden = true;
  for (const field of document.querySelectorAll("[data-template-filter]")) field.hidden = false;
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
