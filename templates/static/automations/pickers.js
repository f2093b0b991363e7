// What a slot is chosen from is searched while one types; without this, the button beside it does the same.

const PATIENCE = 250;
let waiting = 0;

/**
 * The field in which somebody types what to look for.
 * @param {Event} event
 * @returns {HTMLInputElement | null}
 */
function searchField(event) {
  const field = event.target;
  return field instanceof HTMLInputElement && field.matches("[data-picker-search]") ? field : null;
}

/** @param {HTMLInputElement} field */
async function search(field) {
  const sent = new FormData(field.form ?? undefined, null);
  sent.set("search", field.name);
  const answer = await fetch(location.href, { method: "POST", body: sent, headers: { Accept: "text/html" } });
  if (!answer.ok || answer.redirected) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const select = field.closest(".picker")?.querySelector("select");
  const found = select && page.getElementById(select.id);
  if (found?.matches("select") && field.isConnected) select?.replaceChildren(...[...found.children].map((one) => document.importNode(one, true)));
}

document.addEventListener("input", (event) => {
  const field = searchField(event);
  if (!field) return;
  clearTimeout(waiting);
  waiting = setTimeout(() => search(field).catch(() => {}), PATIENCE);
});

// Enter in the search looks; it saves nothing.
document.addEventListener("keydown", (event) => {
  const field = event.key === "Enter" ? searchField(event) : null;
  if (!field) return;
  event.preventDefault();
  search(field).catch(() => {});
});

// The chat follows what is typed; without this, the button below the form does the same.
const preview = document.querySelector("[data-preview]");
/** @type {HTMLButtonElement | null} */
const button = document.querySelector("[data-preview-button]");
const form = button?.form;
let typing = 0;
let asked = 0;

async function refresh() {
  const sent = new FormData(form ?? undefined, null);
  const number = ++asked;
  sent.set("preview", "1");
  const answer = await fetch(location.href, { method: "POST", body: sent, headers: { Accept: "text/html" } });
  if (!answer.ok || answer.redirected) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.querySelector("[data-preview]");
  if (fresh && number === asked) preview?.replaceChildren(...[...fresh.childNodes].map((one) => document.importNode(one, true)));
}

if (preview && button && form) {
  button.hidden = true;
  form.addEventListener("input", (event) => {
    if (searchField(event)) return;
    clearTimeout(typing);
    typing = setTimeout(() => refresh().catch(() => {}), PATIENCE);
  });
}
