// The palette of Ctrl-K: asks the server as somebody types, and is used with the keyboard alone. Without it, its link
// leads to the page on which the same is found.

const PAUSE = 150;
const dialog = /** @type {HTMLDialogElement} */ (document.querySelector("dialog[data-find]"));
const input = /** @type {HTMLInputElement} */ (dialog.querySelector("input"));
const list = /** @type {HTMLElement} */ (dialog.querySelector("[role=listbox]"));
const status = /** @type {HTMLElement} */ (dialog.querySelector("[data-find-status]"));
const opener = /** @type {HTMLAnchorElement} */ (document.querySelector("[data-find-open]"));
const shortcut = /** @type {HTMLElement} */ (opener.querySelector("kbd"));
const closer = /** @type {HTMLButtonElement} */ (dialog.querySelector("[data-find-close]"));
/** @type {AbortController | null} */
let asked = null;
let waiting = 0;

/** @returns {NodeListOf<HTMLElement>} */
const optionElements = () => list.querySelectorAll("[role=option]");
const options = () => [...optionElements()];
/** @returns {HTMLElement | null} */
const chosen = () => list.querySelector("[aria-selected=true]");

/** @param {HTMLElement | null | undefined} option */
function choose(option) {
  chosen()?.setAttribute("aria-selected", "false");
  if (!option) {
    input.removeAttribute("aria-activedescendant");
    return;
  }
  option.setAttribute("aria-selected", "true");
  input.setAttribute("aria-activedescendant", option.id);
  option.scrollIntoView({ block: "nearest" });
}

/** @param {string} html */
function show(html) {
  list.innerHTML = html;
  const found = options();
  input.setAttribute("aria-expanded", String(found.length > 0));
  choose(input.value.trim() ? found[0] : null);
  status.textContent = list.firstElementChild?.getAttribute("data-number") ?? "";
}

async function ask() {
  asked?.abort();
  asked = new AbortController();
  const address = new URL(dialog.dataset.from ?? "", location.href);
  address.searchParams.set("q", input.value);
  let answer;
  try {
    answer = await fetch(address, { signal: asked.signal, redirect: "manual" });
    // The page of results tells people who are signed out, or may not look.
    if (!answer.ok) return input.form?.requestSubmit();
    show(await answer.text());
  } catch (error) {
    if (!(error instanceof DOMException && error.name === "AbortError")) choose(null);
  }
}

function open() {
  if (dialog.open) return;
  input.value = "";
  list.replaceChildren();
  dialog.showModal();
  input.focus();
  ask();
}

// The page names the key only now that it works: what is pressed before this script is here does nothing.
shortcut.hidden = false;
opener.setAttribute("aria-keyshortcuts", "Control+K Meta+K");
opener.setAttribute("aria-haspopup", "dialog");

opener.addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  open();
});

document.addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
  event.preventDefault();
  open();
});

input.addEventListener("input", () => {
  // What is shown answers what was typed before: Enter must not open it.
  choose(null);
  asked?.abort();
  clearTimeout(waiting);
  waiting = setTimeout(ask, PAUSE);
});

input.addEventListener("keydown", (event) => {
  if (event.isComposing) return;
  const found = options();
  const at = found.findIndex((option) => option === chosen());
  if (event.key === "ArrowDown") choose(found[(at + 1) % found.length]);
  else if (event.key === "ArrowUp") choose(found[at <= 0 ? found.length - 1 : at - 1]);
  else if (event.key === "Enter" && at >= 0) found[at].click();
  else return;
  event.preventDefault();
});

dialog.addEventListener("close", () => {
  // It is told of later than it happens: the palette may be open again, and asking.
  if (dialog.open) return;
  clearTimeout(waiting);
  asked?.abort();
});

closer.addEventListener("click", () => dialog.close());

// A click beside the palette closes it.
dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close();
});
