// What is unread shows in the menu, in the tab's title, on its icon or the app's, and by a sound if somebody wants one.
// One tab of a browser asks now and then; the others hear what it was told.

/** @typedef {{ notifications: number, messages: number, newest: string }} Unread */

const bell = /** @type {HTMLElement} */ (document.querySelector("[data-unread]"));
const address = bell?.dataset.unread ?? "";
// In milliseconds: to the first question of a page, between questions, and after something has changed.
const WAIT = { first: 3000, visible: 20000, hidden: 60000, changed: 500 };
const MOST = 99;
const SIDE = 64;

/** @param {number} number */
const shown = (number) => (number > MOST ? `${MOST}+` : String(number));

/** @param {number} number */
function showInTitle(number) {
  const plain = document.title.replace(/^\(\d+\+?\) /, "");
  document.title = number ? `(${shown(number)}) ${plain}` : plain;
}

/** @param {Element} place @param {number} number */
function showBeside(place, number) {
  const count = place.querySelector(".count");
  if (!number) { count?.remove(); return; }
  const [text, said] = [shown(number), document.createElement("span")];
  if (count?.firstChild?.nodeValue === text) return;
  const next = document.createElement("span");
  next.className = "count";
  said.className = "unseen";
  said.textContent = ` ${bell.dataset.said}`;
  next.append(text, said);
  if (count) count.replaceWith(next);
  else place.append(next);
}

// The icon ---------------------------------------------------------------------------------------------

/** @type {HTMLLinkElement | null} */
const icon = document.querySelector('link[rel="icon"]');
const [plainIcon, plainType] = [icon?.href ?? "", icon?.type ?? ""];
const isApp = "setAppBadge" in navigator && matchMedia("(display-mode: standalone)").matches;

/** @returns {Promise<HTMLImageElement | null>} */
function loadedIcon() {
  const picture = new Image(SIDE, SIDE);
  return new Promise((done) => {
    picture.onload = () => done(picture);
    picture.onerror = () => done(null);
    picture.src = plainIcon;
  });
}

/** The icon with a dot in the colour of marks that something is wrong, which is seen best on small icons. */
async function dottedIcon() {
  const canvas = document.createElement("canvas");
  const paper = canvas.getContext("2d");
  if (!paper) return plainIcon;
  canvas.width = SIDE;
  canvas.height = SIDE;
  const picture = plainIcon === "data:," ? null : await loadedIcon();
  if (picture) paper.drawImage(picture, 0, 0, SIDE, SIDE);
  const mark = document.createElement("span");
  mark.className = "unread-mark";
  bell.append(mark);
  const { color, backgroundColor } = getComputedStyle(mark);
  mark.remove();
  for (const [colour, radius] of /** @type {[string, number][]} */ ([[backgroundColor, 20], [color, 16]])) {
    paper.fillStyle = colour;
    paper.beginPath();
    paper.arc(SIDE - 20, SIDE - 20, radius, 0, 2 * Math.PI);
    paper.fill();
  }
  return canvas.toDataURL("image/png");
}

/** @param {number} number */
async function showOnIcon(number) {
  if (isApp) {
    try { await (number ? navigator.setAppBadge(number) : navigator.clearAppBadge()); } catch { /* the system shows none */ }
  } else if (icon && Boolean(number) !== ("dotted" in icon.dataset)) {
    if (number) icon.dataset.dotted = "";
    else delete icon.dataset.dotted;
    const next = number ? await dottedIcon() : plainIcon;
    if (Boolean(number) === ("dotted" in icon.dataset)) {
      icon.type = number ? "image/png" : plainType;
      icon.href = next;
    }
  }
}

// The sound ---------------------------------------------------------------------------------------------

const HEARD = "unread:heard";

/** @param {string} newest when the newest unread message came in */
function isNews(newest) {
  const before = sessionStorage.getItem(HEARD);
  if (before === null || newest > before) sessionStorage.setItem(HEARD, newest);
  return before !== null && newest > before;
}

/** @param {string} newest */
async function play(newest) {
  if (!bell.dataset.sound || (localStorage.getItem(HEARD) ?? "") >= newest) return; // another tab has played it
  localStorage.setItem(HEARD, newest);
  try { await new Audio(bell.dataset.sound).play(); } catch { /* before a first click the browser allows none */ }
}

// Asking ----------------------------------------------------------------------------------------------

const tabs = "BroadcastChannel" in window ? new BroadcastChannel(`unread:${address}`) : null;
let isLeader = false;
let isSignedOut = false;
let waiting = 0;

/**
 * @param {Unread} unread
 * @param {boolean} asked whether this tab has asked, and not another one
 */
function show(unread, asked) {
  const number = unread.notifications + unread.messages;
  showInTitle(number);
  showBeside(bell, unread.notifications);
  for (const entry of document.querySelectorAll('[data-counts="app:inbox"]')) showBeside(entry, unread.messages);
  showOnIcon(number);
  if (isNews(unread.newest) && asked) play(unread.newest);
}

/** Whether the inbox is before the person in this tab. Their phone then shows no alerts about messages. */
const looksAtInbox = () => document.visibilityState === "visible" && document.querySelector("[data-inbox]") !== null;

async function ask() {
  try {
    const answer = await fetch(looksAtInbox() ? `${address}?looks` : address, { headers: { Accept: "application/json" } });
    isSignedOut = answer.redirected;
    if (answer.redirected || !answer.ok) return;
    /** @type {Unread} */
    const unread = await answer.json();
    show(unread, true);
    tabs?.postMessage(unread);
  } catch { /* the next question tries again */ }
}

/** @param {number} [wait] */
function askLater(wait) {
  clearTimeout(waiting);
  waiting = setTimeout(async () => {
    await ask();
    if ((isLeader || looksAtInbox()) && !isSignedOut) askLater();
  }, wait ?? (document.visibilityState === "visible" ? WAIT.visible : WAIT.hidden));
}

if (address) {
  if (tabs) tabs.onmessage = (event) => show(event.data, false);
  document.addEventListener("inbox:swapped", () => askLater(WAIT.changed));
  document.addEventListener("visibilitychange", () => { if (document.visibilityState === "visible") askLater(WAIT.changed); });
  const lead = () => { isLeader = true; askLater(WAIT.first); };
  askLater(WAIT.first);
  if (navigator.locks) navigator.locks.request("unread", () => { lead(); return new Promise(() => {}); });
  else lead();
}
