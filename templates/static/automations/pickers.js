// What a slot is chosen from is searched while one types; without this, the button beside it does the same.

const PATIENCE = 250;
let waiting = 0;

async function search(field) {
  const form = field.form;
  const sent = new FormData(form, null);
  sent.set("search", field.name);
  const answer = await fetch(location.href, { method: "POST", body: sent, headers: { Accept: "text/html" } });
  if (!answer.ok || answer.redirected) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const select = field.closest(".picker").querySelector("select");
  const found = page.getElementById(select.id);
  if (found && field.isConnected) select.replaceChildren(...[...found.options].map((one) => document.importNode(one, true)));
}

document.addEventListener("input", (event) => {
  if (!event.target.matches("[data-picker-search]")) return;
  clearTimeout(waiting);
  waiting = setTimeout(() => search(event.target).catch(() => {}), PATIENCE);
});

// Enter in the search looks; it saves nothing.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !event.target.matches("[data-picker-search]")) return;
  event.preventDefault();
  search(event.target).catch(() => {});
});

// The chat follows what is typed; without this, the button below the form does the same.
const preview = document.querySelector("[data-preview]");
const form = document.querySelector("[data-preview-button]")?.form;
let typing = 0;
let asked = 0;

async function refresh() {
  const sent = new FormData(form, null);
  const number = ++asked;
  sent.set("preview", "1");
  const answer = await fetch(location.href, { method: "POST", body: sent, headers: { Accept: "text/html" } });
  if (!answer.ok || answer.redirected) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.querySelector("[data-preview]");
  if (fresh && number === asked) preview.replaceChildren(...[...fresh.childNodes].map((one) => document.importNode(one, true)));
}

if (preview && form) {
  form.querySelector("[data-preview-button]").hidden = true;
  form.addEventListener("input", (event) => {
    if (event.target.matches("[data-picker-search]")) return;
    clearTimeout(typing);
    typing = setTimeout(() => refresh().catch(() => {}), PATIENCE);
  });
}
