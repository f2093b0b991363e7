// Small helps for the forms of automations. Each form works without them.

// A variable is put where the cursor stood last.
/** @type {HTMLInputElement | HTMLTextAreaElement | null} */
let latest = null;

document.addEventListener("focusin", (event) => {
  const field = event.target;
  const isText = field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement;
  if (isText && field.matches("[data-variables]")) latest = field;
});

/** @param {string} text */
function insert(text) {
  const field = latest ?? /** @type {HTMLTextAreaElement | null} */ (document.querySelector("[data-variables]"));
  if (!field) return;
  field.setRangeText(text, field.selectionStart ?? field.value.length, field.selectionEnd ?? field.value.length, "end");
  field.dispatchEvent(new Event("input", { bubbles: true }));
  field.focus();
}

for (const code of document.querySelectorAll("[data-variable-list] code")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button tiny";
  button.textContent = code.textContent;
  button.addEventListener("click", () => insert(code.textContent ?? ""));
  code.replaceWith(button);
}

// More rows of a list come without loading the page.
document.addEventListener("click", (event) => {
  const button = event.target instanceof Element ? event.target.closest("button[name=more]") : null;
  if (!(button instanceof HTMLButtonElement) || !button.form) return;
  event.preventDefault();
  grow(button).catch(() => button.form?.requestSubmit(button));
});

/** @param {HTMLButtonElement} button */
async function grow(button) {
  const rows = button.closest("[data-rows]");
  const sent = new FormData(button.form ?? undefined, null);
  sent.set("more", button.value);
  const answer = await fetch(location.href, { method: "POST", body: sent, headers: { Accept: "text/html" } });
  if (!answer.ok || answer.redirected) throw new Error(String(answer.status));
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const before = rows?.querySelectorAll(".step-row").length ?? 0;
  const name = rows?.querySelector("input[name$='-rows']")?.getAttribute("name");
  const fresh = page.querySelector(`input[name="${name}"]`)?.closest("[data-rows]");
  if (!rows || !fresh) throw new Error("no rows");
  rows.replaceChildren(...[...fresh.childNodes].map((one) => document.importNode(one, true)));
  const added = rows.querySelectorAll(".step-row")[before]?.querySelector("input:not([type=hidden]), textarea, select");
  if (added instanceof HTMLElement) added.focus();
}

// Only the starts that the chosen channel has are offered.
const triggers = document.querySelector("select[data-triggers]");
const platform = document.querySelector("select[name=platform]");

function narrow() {
  if (!(triggers instanceof HTMLSelectElement) || !(platform instanceof HTMLSelectElement)) return;
  const pairs = (triggers.dataset.triggers ?? "").split(" ").map((pair) => pair.split(":"));
  const channels = new Map(pairs.map(([name, list]) => [name, (list ?? "").split(",")]));
  for (const option of triggers.options) {
    const fits = channels.get(option.value)?.includes(platform.value) ?? true;
    option.hidden = option.disabled = !fits;
  }
  if (triggers.selectedOptions[0]?.disabled) triggers.selectedIndex = [...triggers.options].findIndex((one) => !one.disabled);
}

platform?.addEventListener("change", narrow);
narrow();
