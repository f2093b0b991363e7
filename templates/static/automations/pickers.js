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
