// What must be true of every page, asked in the page itself.

const BOXES = "main, .panel, .sheet, .top, .side, .contents, .drop-panel, td, th, dd, li, .actions, .crumbs, .field";
const CONTROLS = "button, input:not([type=hidden]), select, textarea, summary, .menu a, .button";
const SMALLEST_TARGET = 24;

const start = (element) => element.outerHTML.slice(0, 100);
const shown = (selector) => [...document.querySelectorAll(selector)]
  .filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.closest(".unseen"));

// Whether the page runs sideways, and what runs out of the box in which it stands.
globalThis.outside = () => {
  const { scrollWidth } = document.documentElement;
  const wide = scrollWidth > innerWidth ? [`the page is ${scrollWidth} wide`] : [];
  const overfull = [...document.querySelectorAll(BOXES)].filter((box) => box.scrollWidth > box.clientWidth + 1);
  const boxes = overfull.filter((box) => {
    const { display, overflowX } = getComputedStyle(box);
    return display !== "inline" && overflowX === "visible" && box.checkVisibility() && !box.closest(".unseen");
  });
  return [...wide, ...boxes.map((box) => `${box.scrollWidth} in ${box.clientWidth}: ${start(box)}`)];
};

// What has no name or is too small to be hit.
globalThis.unusable = () => {
  const nameless = shown(`${CONTROLS}, a`)
    .filter((one) => !(one.labels?.length || one.ariaLabel || one.textContent.trim()));
  const small = shown(CONTROLS).filter((one) => {
    const { width, height } = one.getBoundingClientRect();
    return !one.closest("label") && !one.labels?.length && width && Math.min(width, height) < SMALLEST_TARGET;
  });
  const headings = document.querySelectorAll("h1").length;
  return [
    ...nameless.map((one) => `without a name: ${start(one)}`),
    ...small.map((one) => `too small: ${start(one)}`),
    ...(headings === 1 ? [] : [`${headings} first headings`]),
  ];
};

// What axe finds serious or critical, in the whole page or in a part of it.
globalThis.findings = async (options = {}, part = document) => {
  const { violations } = await axe.run(part, { resultTypes: ["violations"], ...options });
  return violations.filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id} (${nodes.length}): ${start(nodes[0].element ?? { outerHTML: nodes[0].html })}`);
};

globalThis.openMenus = () => {
  for (const menu of document.querySelectorAll("details.drop")) menu.open = true;
};
