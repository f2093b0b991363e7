// The inbox without reloading: what changes is fetched as the very page it stands on, and its live parts are swapped.

const inbox = document.querySelector("[data-inbox]");
const announcer = document.querySelector("[data-announcer]");
const PATIENCE = { settle: 250, poll: 15000, retry: 30000 };

// Live parts ------------------------------------------------------------------------------------------

function isAtEnd(log) {
  return log.scrollHeight - log.scrollTop - log.clientHeight < 80;
}

function toEnd() {
  const log = document.querySelector("[data-log]");
  if (log) log.scrollTop = log.scrollHeight;
}

function swap(page, parts) {
  for (const part of parts) {
    const now = document.querySelector(`[data-live="${part}"]`);
    const then = page.querySelector(`[data-live="${part}"]`);
    if (!now || !then || now.innerHTML === then.innerHTML) continue;
    const log = now.querySelector("[data-log]");
    const stays = log && !isAtEnd(log) ? log.scrollTop : null;
    const held = document.activeElement;
    const address = now.contains(held) ? held.getAttribute("href") : null;
    now.replaceWith(document.importNode(then, true));
    if (address) document.querySelector(`[data-live="${part}"] a[href="${CSS.escape(address)}"]`)?.focus();
    if (part !== "thread") continue;
    if (stays === null) toEnd();
    else document.querySelector("[data-log]").scrollTop = stays;
  }
}

function parse(text) {
  return new DOMParser().parseFromString(text, "text/html");
}

function newestIn() {
  const incoming = document.querySelectorAll("[data-log] .bubble.in");
  return incoming.length ? incoming[incoming.length - 1].id : "";
}

async function refresh() {
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (answer.redirected) { location.reload(); return; }
  if (!answer.ok) return;
  const before = newestIn();
  const page = parse(await answer.text());
  const parts = ["list", "thread", "head"];
  if (!document.querySelector("[data-composer] textarea")?.value) parts.push("composer");
  swap(page, parts);
  if (newestIn() !== before) {
    announcer.textContent = inbox.dataset.newMessage;
    markRead();
  }
}

let settling = 0;
let isBusy = false;
function refreshSoon() {
  clearTimeout(settling);
  settling = setTimeout(async () => {
    if (isBusy) { refreshSoon(); return; }
    isBusy = true;
    try { await refresh(); } catch { /* the next event, or the next poll, tries again */ } finally { isBusy = false; }
  }, PATIENCE.settle);
}

// Reading ---------------------------------------------------------------------------------------------

async function markRead() {
  const form = document.querySelector("form[data-read]");
  if (!form || document.visibilityState !== "visible") return;
  try {
    const answer = await fetch(form.action, { method: "POST", body: new FormData(form) });
    if (answer.ok) refreshSoon();
  } catch { /* it stays unread */ }
}

// Being told: one stream for all tabs of a browser, where it can tell tabs from each other ------------------

const tabs = "BroadcastChannel" in window ? new BroadcastChannel(`inbox:${inbox.dataset.stream.split("?")[0]}`) : null;

function changed(event) {
  if (tabs) tabs.postMessage(event);
  refreshSoon();
}

let polling = 0;
function poll() {
  if (!polling) polling = setInterval(refreshSoon, PATIENCE.poll);
}

function listen() {
  const source = new EventSource(inbox.dataset.stream);
  source.onopen = () => { clearInterval(polling); polling = 0; };
  source.onmessage = () => changed("changed");
  source.addEventListener("refetch", () => changed("refetch"));
  source.onerror = () => {
    poll();
    if (source.readyState === EventSource.CLOSED) setTimeout(listen, PATIENCE.retry);
  };
}

if (tabs) tabs.onmessage = refreshSoon;
if (!("EventSource" in window)) poll();
else if (tabs && navigator.locks) navigator.locks.request("inbox-stream", () => { listen(); return new Promise(() => {}); });
else listen();

// Writing: a draft survives, and a message that could not be sent stays where it was typed ----------------------

const draftKey = () => `draft:${location.pathname}`;

function restoreDraft() {
  const field = document.querySelector("[data-composer] textarea");
  if (field && !field.value) field.value = sessionStorage.getItem(draftKey()) || "";
}

document.addEventListener("input", (event) => {
  if (event.target.matches("[data-composer] textarea")) sessionStorage.setItem(draftKey(), event.target.value);
});

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.matches("[data-inline]")) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  if (form.dataset.busy) return;
  form.dataset.busy = "yes";
  try {
    const answer = await fetch(form.action, { method: "POST", body: new FormData(form), headers: { Accept: "text/html" } });
    const page = parse(await answer.text());
    if (!page.querySelector("[data-inbox]")) { location.reload(); return; }
    if (answer.ok && form.matches("[data-composer]")) sessionStorage.removeItem(draftKey());
    swap(page, ["list", "head", "thread", "composer"]);
    const flashes = document.querySelector(".flashes");
    flashes.innerHTML = page.querySelector(".flashes").innerHTML;
    if (form.matches("[data-composer]")) document.querySelector("[data-composer] textarea")?.focus();
    toEnd();
  } catch {
    announcer.textContent = inbox.dataset.notSent;
    form.querySelector("[data-trouble]")?.removeAttribute("hidden");
  } finally {
    delete form.dataset.busy;
  }
}, { capture: true });

// Keys --------------------------------------------------------------------------------------------------

function step(by) {
  const rows = [...document.querySelectorAll(".inbox-row")];
  const at = rows.findIndex((row) => row === document.activeElement || (row.ariaCurrent && !rows.includes(document.activeElement)));
  const next = rows[Math.min(rows.length - 1, Math.max(0, at + by))];
  if (next) next.focus();
}

const KEYS = {
  j: () => step(1),
  k: () => step(-1),
  r: () => document.querySelector("[data-composer] textarea")?.focus(),
  e: () => document.querySelector("form[data-status] button")?.click(),
  u: () => document.querySelector("form[data-unread] button")?.click(),
  n: () => { const notes = document.querySelector("details[data-notes]"); if (notes) { notes.open = true; notes.querySelector("textarea").focus(); } },
  "/": () => document.querySelector(".inbox-list input[type=search]")?.focus(),
  "?": () => { const help = document.querySelector("details.keys"); if (help) help.open = !help.open; },
};

document.addEventListener("keydown", (event) => {
  const field = event.target.closest("input, textarea, select");
  if (field && field.closest("[data-composer]") && event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    field.closest("form").requestSubmit();
  } else if (!field && !event.ctrlKey && !event.metaKey && !event.altKey && KEYS[event.key]) {
    event.preventDefault();
    KEYS[event.key]();
  } else if (field && event.key === "Escape") {
    field.blur();
  }
});

toEnd();
restoreDraft();
markRead();
