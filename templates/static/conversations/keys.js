// The keys of the inbox. The page's help lists them all.

/** @param {Event} event */
const targetOf = (event) => /** @type {Element} */ (event.target);
const isSentByEnter = () => matchMedia("(any-pointer: fine)").matches && document.querySelector("[data-enter-sends]") !== null;

/** @param {string} selector */
function focusOn(selector) {
  /** @type {HTMLElement | null} */ (document.querySelector(selector))?.focus();
}

/** @param {number} by */
function step(by) {
  /** @type {NodeListOf<HTMLElement>} */
  const found = document.querySelectorAll(".inbox-row");
  const rows = [...found];
  const isOnOne = rows.some((row) => row === document.activeElement);
  const at = rows.findIndex((row) => row === document.activeElement || (row.ariaCurrent && !isOnOne));
  const next = rows[Math.min(rows.length - 1, Math.max(0, at + by))];
  if (next) next.focus();
}

let isNextWanted = false;

/** Opens the next unread conversation below the open one, else the first; what is being sent is waited for. */
function openNext() {
  isNextWanted = Boolean(document.querySelector("form[data-busy]"));
  if (isNextWanted) return;
  /** @type {NodeListOf<HTMLElement>} */
  const found = document.querySelectorAll(".inbox-row.unread:not([aria-current])");
  const [unread, open] = [[...found], document.querySelector(".inbox-row[aria-current]")];
  const isBelow = (/** @type {Node} */ row) => open && open.compareDocumentPosition(row) & Node.DOCUMENT_POSITION_FOLLOWING;
  const next = unread.find(isBelow) ?? unread[0];
  const none = document.querySelector("[data-inbox]")?.getAttribute("data-none-unread");
  if (next) next.click();
  else document.dispatchEvent(new CustomEvent("inbox:say", { detail: none }));
}

document.addEventListener("inbox:settled", (event) => {
  const isSent = /** @type {CustomEvent<boolean>} */ (event).detail;
  if (isNextWanted && isSent) openNext();
  isNextWanted = false;
});

function tick() {
  const row = document.activeElement?.closest(".inbox-rows li") || document.querySelector(".inbox-rows li.current");
  /** @type {HTMLInputElement | null | undefined} */ (row?.querySelector(".inbox-tick input"))?.click();
}

function openSnooze() {
  const drop = /** @type {HTMLDetailsElement | null} */ (document.querySelector("details[data-snooze]"));
  if (!drop) return;
  drop.open = true;
  drop.querySelector("button")?.focus();
}

function help() {
  const dialog = /** @type {HTMLDialogElement} */ (document.querySelector("dialog.keys"));
  if (dialog.open) dialog.close();
  else dialog.showModal();
}

/** @param {string} selector */
const press = (selector) => () => /** @type {HTMLElement | null} */ (document.querySelector(selector))?.click();
const write = press("a[data-mode=text], a[data-mode=template]");
/** @type {Record<string, () => void>} */
const KEYS = {
  j: () => step(1),
  k: () => step(-1),
  x: tick,
  o: openNext,
  r: write,
  e: press("form[data-status] button"),
  u: press("form[data-unread] button"),
  a: press("[data-assign]"),
  n: press("a[data-mode=note]"),
  s: openSnooze,
  "/": () => { focusOn("#inbox-search"); },
  "?": help,
};

/**
 * Enter alone sends where the person has chosen so and has a keyboard. It ends a word that an input method composes.
 * @param {KeyboardEvent} event
 * @param {Element} field
 */
function isSending(event, field) {
  if (event.key !== "Enter" || !field.closest("[data-composer]")) return false;
  if (event.ctrlKey || event.metaKey) return true;
  return isSentByEnter() && field.localName === "textarea" && !event.shiftKey && !event.altKey && !event.isComposing;
}

document.addEventListener("keydown", (event) => {
  const field = /** @type {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement | null} */ (
    targetOf(event).closest("input:not([type=checkbox]), textarea, select"));
  if (field && isSending(event, field)) {
    event.preventDefault();
    field.form?.requestSubmit(field.form.querySelector("[data-send]"));
  } else if (!field && !event.ctrlKey && !event.metaKey && !event.altKey && Object.hasOwn(KEYS, event.key)) {
    event.preventDefault();
    KEYS[event.key]();
  } else if (field && event.key === "Escape" && !event.defaultPrevented) {
    field.blur();
  }
});

document.addEventListener("click", (event) => {
  if (targetOf(event).closest("[data-keys]")) help();
});

function showKeys() {
  for (const button of document.querySelectorAll("[data-keys]")) button.removeAttribute("hidden");
  for (const button of document.querySelectorAll("[data-send]")) {
    button.setAttribute("aria-keyshortcuts", isSentByEnter() ? "Enter" : "Control+Enter");
  }
}
document.addEventListener("inbox:swapped", showKeys);

showKeys();
