// A thread shows its newest messages, whatever grows late in it, until somebody scrolls up; and again once they are back.

const NEAR = 80;
const log = () => document.querySelector("[data-log]");
let isFollowed = true;
let top = 0;

function toEnd() {
  const shown = log();
  if (!shown || !isFollowed) return;
  shown.scrollTop = shown.scrollHeight;
  top = shown.scrollTop;
}

/** @param {Element} shown */
const isAtEnd = (shown) => shown.scrollHeight - shown.scrollTop - shown.clientHeight < NEAR;
// Where a picture has grown above the end, nobody has scrolled: only who goes up wants to stay where they are.
/** @param {Element} shown */
const hasGoneUp = (shown) => shown.scrollTop < top && !isAtEnd(shown);

// The browser tells of scrolling with its next frame. What comes before that asks where people are.
function toEndUnlessGoneUp() {
  const shown = log();
  if (shown && hasGoneUp(shown)) isFollowed = false;
  toEnd();
}

document.addEventListener("scroll", (event) => {
  const shown = log();
  if (!shown || event.target !== shown) return;
  if (isAtEnd(shown)) isFollowed = true;
  else if (hasGoneUp(shown)) isFollowed = false;
  top = shown.scrollTop;
}, { capture: true });

/** @param {Event} event */
function grown(event) {
  if (event.target instanceof Element && log()?.contains(event.target)) toEndUnlessGoneUp();
}
document.addEventListener("load", grown, { capture: true });
document.addEventListener("loadedmetadata", grown, { capture: true });

// A long answer makes the composer higher and the thread lower. A frame tells of scrolling before it tells of sizes.
const sizes = new ResizeObserver(toEnd);

function watch() {
  sizes.disconnect();
  const shown = log();
  if (!shown) return;
  sizes.observe(shown);
  toEndUnlessGoneUp();
  top = shown.scrollTop;
}

document.addEventListener("inbox:swapped", watch);
document.addEventListener("inbox:end", () => { isFollowed = true; toEnd(); });
watch();
