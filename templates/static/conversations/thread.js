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

// Where a picture has grown above the end, nobody has scrolled: only who goes up wants to stay where they are.
document.addEventListener("scroll", (event) => {
  const shown = log();
  if (!shown || event.target !== shown) return;
  if (shown.scrollHeight - shown.scrollTop - shown.clientHeight < NEAR) isFollowed = true;
  else if (shown.scrollTop < top) isFollowed = false;
  top = shown.scrollTop;
}, { capture: true });

/** @param {Event} event */
function grown(event) {
  if (event.target instanceof Element && log()?.contains(event.target)) toEnd();
}
document.addEventListener("load", grown, { capture: true });
document.addEventListener("loadedmetadata", grown, { capture: true });

// A long answer makes the composer higher and the thread lower.
const sizes = new ResizeObserver(toEnd);

function watch() {
  sizes.disconnect();
  const shown = log();
  if (!shown) return;
  sizes.observe(shown);
  top = shown.scrollTop;
  toEnd();
}

document.addEventListener("inbox:swapped", watch);
document.addEventListener("inbox:end", () => { isFollowed = true; toEnd(); });
watch();
