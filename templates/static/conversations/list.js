// The inbox's list keeps its nodes when it is renewed, so that focus, selection and a click that has begun stay.

// A press is over after this time, even if the browser has not told of its end.
const LONGEST_PRESS = 5000;
let pressedAt = -Infinity;
let isStale = false;

const isPressed = () => performance.now() - pressedAt < LONGEST_PRESS;
/** @param {Node} node */
const keyOf = (node) => (node instanceof HTMLElement ? node.dataset.key || node.id : "");
/**
 * @param {Node} one
 * @param {Node} other
 */
const isSame = (one, other) => one.nodeName === other.nodeName && keyOf(one) === keyOf(other);

/**
 * @param {Element} now
 * @param {Element} then
 */
function patchAttributes(now, then) {
  for (const name of now.getAttributeNames()) if (!then.hasAttribute(name)) now.removeAttribute(name);
  for (const { name, value } of then.attributes) if (now.getAttribute(name) !== value) now.setAttribute(name, value);
}

/**
 * Put nodes in this order. The one that has focus is not moved: the others are moved around it.
 * @param {Element} parent
 * @param {Node[]} wanted
 */
function order(parent, wanted) {
  const fixed = Math.max(0, wanted.findIndex((node) => node.parentNode === parent && node.contains(document.activeElement)));
  if (wanted.length && wanted[fixed].parentNode !== parent) parent.prepend(wanted[fixed]);
  for (let at = fixed - 1; at >= 0; at -= 1) {
    if (wanted[at].nextSibling !== wanted[at + 1]) parent.insertBefore(wanted[at], wanted[at + 1]);
  }
  for (let at = fixed + 1; at < wanted.length; at += 1) {
    if (wanted[at].previousSibling !== wanted[at - 1]) parent.insertBefore(wanted[at], wanted[at - 1].nextSibling);
  }
}

/**
 * Make a node equal to another one, with its own children where they are the same by key, else by place.
 * @param {Node} now
 * @param {Node} then
 */
function patch(now, then) {
  if (!(now instanceof Element) || !(then instanceof Element)) {
    if (now.nodeValue !== then.nodeValue) now.nodeValue = then.nodeValue;
    return;
  }
  patchAttributes(now, then);
  const spare = [...now.childNodes];
  const wanted = [...then.childNodes].map((child) => {
    const found = spare.findIndex((one) => isSame(one, child));
    if (found < 0) return document.importNode(child, true);
    const [kept] = spare.splice(found, 1);
    patch(kept, child);
    return kept;
  });
  for (const gone of spare) gone.remove();
  order(now, wanted);
}

document.addEventListener("inbox:patch", (event) => {
  const { now, then } = /** @type {CustomEvent<{ now: Element, then: Element }>} */ (event).detail;
  // Under a press no row is moved: the click would fall on another one.
  isStale = isPressed();
  if (!isStale) patch(now, then);
});

document.addEventListener("pointerdown", (event) => {
  const isInList = event.target instanceof Element && event.target.closest('[data-live="list"]');
  if (isInList && event.isPrimary && event.button === 0) pressedAt = performance.now();
});

function release() {
  pressedAt = -Infinity;
  if (!isStale) return;
  isStale = false;
  document.dispatchEvent(new Event("inbox:stale"));
}
for (const end of ["pointerup", "pointercancel", "blur"]) window.addEventListener(end, release);
