// Small comforts on top of pages that work without any script.

// Times are shown by the viewer's clock: the server learns its zone from this cookie.
const secure = location.protocol === "https:";
const zoneCookie = `${secure ? "__Host-" : ""}browser-time-zone=${new Intl.DateTimeFormat().resolvedOptions().timeZone}`;
if (!document.cookie.split("; ").includes(zoneCookie)) {
  document.cookie = `${zoneCookie}; path=/; max-age=31536000; samesite=lax${secure ? "; secure" : ""}`;
}

const announcer = /** @type {HTMLElement} */ (document.querySelector("[data-announcer]"));

/** @param {string} text */
function say(text) {
  announcer.textContent = "";
  requestAnimationFrame(() => { announcer.textContent = text; });
}

/** @param {HTMLElement} button */
async function copy(button) {
  // Without a text of its own, a button copies what it stands beside.
  await navigator.clipboard.writeText(button.dataset.copy || button.parentElement?.querySelector("pre")?.textContent || "");
  const label = button.textContent;
  const said = button.dataset.said ?? "";
  button.textContent = said;
  say(said);
  setTimeout(() => { button.textContent = label; }, 2000);
}

if (navigator.clipboard) {
  /** @type {NodeListOf<HTMLElement>} */
  const buttons = document.querySelectorAll("[data-copy]");
  for (const button of buttons) {
    button.hidden = false;
  }
  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element && event.target.closest("[data-copy]");
    if (button instanceof HTMLElement) copy(button);
  });
}

/** @type {NodeListOf<HTMLElement>} */
const printers = document.querySelectorAll("[data-print]");
for (const button of printers) {
  button.hidden = false;
  button.addEventListener("click", () => print());
}

/** @returns {NodeListOf<HTMLDetailsElement>} */
const openDrops = () => document.querySelectorAll("details.drop[open]");

/**
 * An open drop-down closes on Escape, on a click elsewhere, and when the focus has gone on from it.
 * @param {HTMLDetailsElement} drop
 * @param {boolean} focus whether focus goes to what opens it
 */
function close(drop, focus) {
  if (drop.open && focus) drop.querySelector("summary")?.focus();
  drop.open = false;
}

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const drop of openDrops()) close(drop, true);
});

for (const kind of ["click", "focusin"]) {
  document.addEventListener(kind, ({ target }) => {
    for (const drop of openDrops()) {
      const isInside = target instanceof Node && drop.contains(target);
      // What is around a drop-down takes the focus when somebody presses on a text in it.
      const isAround = kind === "focusin" && target instanceof Node && target.contains(drop);
      if (!isInside && !isAround) close(drop, false);
    }
  });
}

// A double click sends a form once. Coming back to a page, it may be sent again.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!(form instanceof HTMLFormElement) || event.defaultPrevented || form.method !== "post") return;
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = "yes";
});

addEventListener("pageshow", () => {
  /** @type {NodeListOf<HTMLFormElement>} */
  const sent = document.querySelectorAll("form[data-sent]");
  for (const form of sent) delete form.dataset.sent;
});
