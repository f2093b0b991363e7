// What must be true of every page, asked in the page itself.

const BOXES = "main, .panel, .sheet, .top, .side, .contents, .drop-panel, td, th, dd, li, .actions, .crumbs, .field";
const CONTROLS = "button, input:not([type=hidden]), select, textarea, summary, .menu a, .button";
const SMALLEST_TARGET = 24;
const SCRIPTS = /<script[^>]*><\/script>/g;

const start = (element) => element.outerHTML.slice(0, 100);
const shown = (selector) => [...document.querySelectorAll(selector)]
  .filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.closest(".unseen"));

// Whether a page runs sideways, and what runs out of the box in which it stands.
function outside(view) {
  const { scrollWidth, clientWidth } = view.document.documentElement;
  const wide = scrollWidth > clientWidth ? [`the page is ${scrollWidth} wide`] : [];
  const overfull = [...view.document.querySelectorAll(BOXES)].filter((box) => box.scrollWidth > box.clientWidth + 1);
  const boxes = overfull.filter((box) => {
    const { display, overflowX } = view.getComputedStyle(box);
    const head = box.closest("thead");
    const unseen = box.closest(".unseen") || (head && view.getComputedStyle(head).position === "absolute");
    return display !== "inline" && overflowX === "visible" && box.checkVisibility() && !unseen;
  });
  return [...wide, ...boxes.map((box) => `${box.scrollWidth} in ${box.clientWidth}: ${start(box)}`)];
}

// The page as it stands, in a frame that takes every width in turn: layout alone, without drawing any of them.
globalThis.outsideAt = async (widths) => {
  const frame = document.createElement("iframe");
  Object.assign(frame.style, { position: "fixed", top: 0, left: 0, height: "900px", border: 0 });
  frame.srcdoc = document.documentElement.outerHTML.replace(SCRIPTS, "");
  const loaded = new Promise((resolve) => { frame.onload = resolve; });
  document.body.append(frame);
  await loaded;
  const found = widths.map((width) => {
    frame.style.width = `${width}px`;
    const view = frame.contentWindow;
    return view.innerWidth === width ? outside(view).map((one) => `at ${width}: ${one}`) : [`no window of ${width}`];
  });
  frame.remove();
  return found.flat();
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

// What a page weighs with all that it has loaded, where that is too much.
const HEAVIEST = 300 * 1024;
globalThis.heavy = () => {
  const loaded = ["navigation", "resource"].flatMap((type) => performance.getEntriesByType(type));
  const weight = loaded.reduce((sum, one) => sum + one.encodedBodySize, 0);
  return weight > HEAVIEST ? [`it weighs ${Math.round(weight / 1024)} KB`] : [];
};

// What axe finds serious or critical, in the whole page or in a part of it.
globalThis.findings = async ([options, part]) => {
  const { violations } = await axe.run(part || document, { resultTypes: ["violations"], ...options });
  return violations.filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id} (${nodes.length}): ${nodes[0].html.slice(0, 100)}`);
};

// What an element's colours come from: its place among its ancestors, by what styles can ask of them.
const STATES = ["aria-current", "aria-invalid", "aria-selected", "aria-pressed", "disabled", "type", "open"];
const styledBy = (element) => {
  const states = STATES.filter((name) => element.hasAttribute(name)).map((name) => `${name}=${element.getAttribute(name)}`);
  return [element.localName, ...element.classList, ...states].join(".");
};
const place = (element) => (element ? `${place(element.parentElement)}>${styledBy(element)}` : "");
const hasWords = (element) => element.matches("input, select, textarea")
  || [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());

// Mark one element with words of each kind that was not looked at on any page before, and give their kinds.
globalThis.markNewColours = ([part, seen]) => {
  const before = new Set(seen);
  const sheets = [...document.styleSheets].map((sheet) => sheet.href).join();
  const within = part ? document.querySelectorAll(`:is(${part}), :is(${part}) *`) : document.body.querySelectorAll("*");
  const kinds = [];
  for (const element of within) {
    if (!hasWords(element) || !element.checkVisibility({ visibilityProperty: true })) continue;
    const kind = `${sheets}${place(element)}`;
    if (before.has(kind)) continue;
    before.add(kind);
    kinds.push(kind);
    element.toggleAttribute("data-new-colours", true);
  }
  return kinds;
};
globalThis.unmarkColours = () => {
  for (const one of document.querySelectorAll("[data-new-colours]")) one.removeAttribute("data-new-colours");
};

const setMenus = (open) => {
  for (const menu of document.querySelectorAll("details.drop")) menu.open = open;
};
globalThis.openMenus = () => setMenus(true);
globalThis.closeMenus = () => setMenus(false);
