// The inbox without reloading: what changes is fetched as the very page it stands on, and its live parts are swapped.

const inbox = /** @type {HTMLElement} */ (document.querySelector("[data-inbox]"));
const announcer = /** @type {HTMLElement} */ (document.querySelector("[data-announcer]"));
const PATIENCE = { settle: 250, poll: 15000, retry: 30000 };
const MOST_SAID = 3;
const PARTS = ["list", "head", "thread", "about"];

// Live parts ------------------------------------------------------------------------------------------

/**
 * @param {string} part
 * @param {Document} root
 */
const live = (part, root = document) => root.querySelector(`[data-live="${part}"]`);

function tickedBoxes() {
  /** @type {NodeListOf<HTMLInputElement>} */
  const boxes = document.querySelectorAll(".inbox-tick input:checked");
  return [...boxes];
}

/** @param {Element} part */
function focusable(part) {
  /** @type {NodeListOf<HTMLElement>} */
  const found = part.querySelectorAll(FOCUSABLE);
  return [...found].filter((one) => one.checkVisibility({ visibilityProperty: true }));
}

/** @param {string} selector */
function focusOn(selector) {
  const found = /** @type {HTMLElement | null} */ (document.querySelector(selector));
  found?.focus();
  return found !== null;
}

const FOCUSABLE = "a[href], button, summary, select, textarea, input:not([type=hidden])";
/** @param {Element} element */
const identity = (element) => JSON.stringify([
  element.localName, element.id, element.getAttribute("href"), element.getAttribute("name"), element.getAttribute("value"),
  element.closest("form")?.getAttribute("action"),
]);
/** @param {Element} part */
const isInUse = (part) => Boolean(part.querySelector("details[open]"));

// What is being written: each form of the composer is a live part of its own, which stays while something stands in it.

/** @param {ParentNode | null | undefined} whole */
const partsOf = (whole) => [...(whole?.querySelectorAll("[data-live]") ?? [])].map((part) => part.getAttribute("data-live") ?? "");

/** @param {Element | null} part */
function isWritten(part) {
  /** @type {NodeListOf<HTMLInputElement | HTMLTextAreaElement> | undefined} */
  const fields = part?.querySelectorAll("[data-composer] :is(textarea, input:not([type=hidden]))");
  return [...(fields ?? [])].some((field) => field.value);
}

/**
 * Which parts of the composer to swap; all of it where other forms stand there now.
 * @param {Document} page
 * @param {Element | null} [sent] the form that was sent, whose own part is done with
 */
function composerParts(page, sent) {
  const own = partsOf(live("composer"));
  if (own.join() !== partsOf(live("composer", page)).join()) return ["composer"];
  return own.filter((part) => live(part)?.contains(sent ?? null) || !isWritten(live(part)));
}

/**
 * What somebody has chosen to write stays chosen while it can be written.
 * @param {HTMLElement} now
 * @param {HTMLElement} then
 */
function keepMode(now, then) {
  if (then.querySelector(`[data-part="${now.dataset.modeNow}"]`)) then.dataset.modeNow = now.dataset.modeNow;
}

/**
 * @param {string} part
 * @param {HTMLElement} now
 * @param {Element} then
 */
function replace(part, now, then) {
  const shown = /** @type {HTMLElement} */ (document.importNode(then, true));
  if (part === "composer") keepMode(now, shown);
  const isOpen = Boolean(now.popover) && now.matches(":popover-open");
  now.replaceWith(shown);
  if (isOpen) shown.showPopover();
  if (part.startsWith("composer")) document.dispatchEvent(new Event("inbox:part")); // before focus goes there
  return shown;
}

/**
 * The list keeps its nodes (list.js).
 * @param {HTMLElement} now
 * @param {Element} then
 * @param {boolean} keepsTicks
 */
function patch(now, then, keepsTicks) {
  document.dispatchEvent(new CustomEvent("inbox:patch", { detail: { now, then } }));
  if (!keepsTicks) for (const box of tickedBoxes()) box.checked = false;
  return now;
}

/**
 * @param {Document} page what has been fetched
 * @param {string[]} parts
 * @param {boolean} [keepsTicks] false where something was done with what was ticked
 */
function swap(page, parts, keepsTicks = true) {
  for (const part of parts) {
    const now = /** @type {HTMLElement | null} */ (live(part));
    const then = live(part, page);
    if (!now || !then || now.innerHTML === then.innerHTML) continue;
    const top = now.querySelector("[data-log]")?.scrollTop ?? 0;
    const scrolled = now.scrollTop;
    const held = now.contains(document.activeElement) ? document.activeElement : null;
    const place = held ? focusable(now).findIndex((one) => one === held) : -1;
    const shown = part === "list" ? patch(now, then, keepsTicks) : replace(part, now, then);
    shown.scrollTop = scrolled;
    if (held && place >= 0) {
      const targets = focusable(shown);
      if (held === document.activeElement && targets.some((one) => one === held)) continue;
      // What has gone leaves focus to what stands in its place now.
      const action = held.closest("form:not(.inbox-bulk)")?.getAttribute("action");
      const same = targets.find((one) => identity(one) === identity(held))
        ?? targets.find((one) => action && one.closest("form")?.getAttribute("action") === action);
      (same ?? targets[Math.min(place, targets.length - 1)])?.focus();
    }
    shown.querySelector("[data-log]")?.scrollTo(0, top);
  }
  document.dispatchEvent(new Event("inbox:swapped"));
}

/**
 * A refused text stands where the server says that it was begun.
 * @param {Document} page
 */
function showBegun(page) {
  const [now, then] = [live("composer"), live("composer", page)];
  const mode = then?.getAttribute("data-mode-now");
  if (mode && live(`composer-${mode}`)) now?.setAttribute("data-mode-now", mode);
}

/** @param {string} text */
function parse(text) {
  return new DOMParser().parseFromString(text, "text/html");
}

// What is heard ------------------------------------------------------------------------------------------

/**
 * Read aloud by screen readers, also where the same was said before.
 * @param {string} text
 */
function say(text) {
  announcer.textContent = "";
  if (text) setTimeout(() => { announcer.textContent = text; }, 50);
}

/** @typedef {{ id: string, name: string, unread: number, at: number }} Row */

/** @returns {Row[]} */
function listedRows() {
  /** @type {NodeListOf<HTMLElement>} */
  const rows = document.querySelectorAll(".inbox-row[data-conversation]");
  return [...rows].map((row) => ({
    id: row.dataset.conversation ?? "",
    name: row.querySelector(".inbox-who")?.textContent ?? "",
    unread: Number(/\d+\s*$/.exec(row.querySelector(".inbox-count")?.textContent ?? "")?.[0] ?? 0),
    at: Date.parse(row.querySelector("time")?.dateTime ?? ""),
  }));
}

/**
 * Who has written since: in a row that has more unread messages, or in one that has come on top of the list.
 * @param {Row[]} before
 */
function writers(before) {
  const known = new Map(before.map((row) => [row.id, row.unread]));
  const newest = Math.max(0, ...before.map((row) => row.at));
  const found = listedRows().filter((row) => row.unread > (known.get(row.id) ?? (row.at > newest ? 0 : Infinity)));
  return found.map((row) => row.name);
}

/** @param {string[]} names */
function sayNews(names) {
  const text = inbox.dataset.newMessage ?? "";
  if (names.length) say([...new Set(names)].slice(0, MOST_SAID).map((name) => text.replace("{name}", name)).join(" "));
}

function newestIn() {
  const incoming = document.querySelectorAll("[data-log] .bubble.in");
  return incoming.length ? incoming[incoming.length - 1].id : "";
}

/**
 * Somebody who has been signed out signs in beside what they are writing; without anything written, here.
 * @param {string} address where the server has led
 */
function leadElsewhere(address) {
  const note = document.querySelector("[data-signed-out]");
  const parts = [...document.querySelectorAll('[data-live^="composer-"]')];
  if (!address.includes("/account/sign-in") || !note || !parts.some(isWritten)) { location.reload(); return; }
  if (note.hasAttribute("hidden")) say(note.textContent ?? "");
  note.removeAttribute("hidden");
}

async function refresh() {
  const asked = location.href;
  const answer = await fetch(asked, { headers: { Accept: "text/html" } });
  if (answer.redirected) { leadElsewhere(answer.url); return; }
  if (!answer.ok) return;
  document.querySelector("[data-signed-out]")?.setAttribute("hidden", "");
  const page = parse(await answer.text());
  if (location.href !== asked) { refreshSoon(); return; } // somebody has begun to write something else meanwhile
  const [before, rows] = [newestIn(), listedRows()];
  const parts = PARTS.filter((part) => part !== "head" || !isInUse(live("head") || document.createElement("p")));
  parts.push(...composerParts(page));
  swap(page, parts);
  const names = writers(rows);
  if (newestIn() !== before) {
    names.unshift(document.querySelector(".thread-who h2")?.textContent?.trim() ?? "");
    markRead();
  }
  sayNews(names);
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
document.addEventListener("inbox:stale", refreshSoon);

// Reading ---------------------------------------------------------------------------------------------

async function markRead() {
  const form = /** @type {HTMLFormElement | null} */ (document.querySelector("form[data-read]"));
  if (!form || document.visibilityState !== "visible") return;
  try {
    const answer = await fetch(form.action, { method: "POST", body: new FormData(form) });
    if (answer.ok) refreshSoon();
  } catch { /* it stays unread */ }
}

// Being told: one stream for all tabs of a browser, where it can tell tabs from each other ------------------

const stream = inbox.dataset.stream ?? "";
const tabs = "BroadcastChannel" in window ? new BroadcastChannel(`inbox:${stream.split("?")[0]}`) : null;

/** @param {string} event */
function changed(event) {
  if (tabs) tabs.postMessage(event);
  refreshSoon();
}

let polling = 0;
function poll() {
  if (!polling) polling = setInterval(refreshSoon, PATIENCE.poll);
}

function listen() {
  const source = new EventSource(stream);
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

// Forms are sent without leaving the page; one that could not be sent stays as it was typed ---------------------

document.addEventListener("submit", async (event) => {
  const form = /** @type {HTMLFormElement} */ (event.target);
  if (!form.matches("[data-inline]")) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  if (form.dataset.busy) return;
  form.dataset.busy = "yes";
  const hadFocus = form.contains(document.activeElement);
  let isDone = false;
  try {
    const button = event.submitter?.getAttribute("name") ? event.submitter : null;
    const action = event.submitter?.getAttribute("formaction") || form.getAttribute("action") || "";
    const answer = await fetch(action, { method: "POST", body: new FormData(form, button), headers: { Accept: "text/html" } });
    const page = parse(await answer.text());
    if (answer.status >= 500) throw new Error("not sent");
    // The sign-in page leads back, and what was sent stands here again then.
    if (!page.querySelector("[data-inbox]")) { location.assign(answer.redirected ? answer.url : location.href); return; }
    const isWriting = form.matches("[data-composer]");
    const isSent = answer.ok && !page.querySelector("[data-kept]");
    isDone = isSent;
    if (isSent && isWriting) document.dispatchEvent(new CustomEvent("inbox:sent", { detail: form }));
    const isShown = form.isConnected && !form.closest("[data-part][hidden]");
    const isLeft = hadFocus && !form.contains(document.activeElement); // by Escape, while the message was being sent
    if (isWriting && !isSent && isShown) showBegun(page);
    swap(page, [...PARTS, ...composerParts(page, isWriting ? form : null)], !form.matches(".inbox-bulk"));
    const [flashes, news] = [document.querySelector(".flashes"), page.querySelector(".flashes")];
    if (flashes && news) flashes.innerHTML = news.innerHTML;
    if (isWriting && isShown) {
      if (!isLeft || !isSent) focusOn("[data-part]:not([hidden]) textarea");
      document.dispatchEvent(new Event("inbox:end"));
    }
    else if (isWriting) say(page.querySelector("[data-composer] .wrong:not([hidden])")?.textContent ?? "");
    else if (!answer.ok) focusOn(".thread-note");
    else say(event.submitter?.dataset.said || document.querySelector(".thread-states")?.textContent || "");
  } catch {
    say(inbox.dataset.notSent ?? "");
    form.querySelector("[data-trouble]")?.removeAttribute("hidden");
    refreshSoon(); // which says why, if it is that somebody was signed out
  } finally {
    delete form.dataset.busy;
    document.dispatchEvent(new CustomEvent("inbox:settled", { detail: isDone }));
  }
}, { capture: true });

document.addEventListener("inbox:say", (event) => say(/** @type {CustomEvent<string>} */ (event).detail));

markRead();
