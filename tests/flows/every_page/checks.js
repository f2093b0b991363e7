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
const MARKED = "[data-new-colours]";
globalThis.findings = async ([options, part]) => {
  // A page that refreshes itself may have replaced all that was marked.
  if (part === MARKED && !document.querySelector(MARKED)) return [];
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
  for (const one of document.querySelectorAll(MARKED)) one.removeAttribute("data-new-colours");
};

const setMenus = (open) => {
  for (const menu of document.querySelectorAll("details.drop")) menu.open = open;
};
globalThis.openMenus = () => setMenus(true);
globalThis.closeMenus = () => setMenus(false);

// Forced colours: people's own colours take the place of all backgrounds, and shadows go. What is told by them alone is lost.
const PIECES = ["", "::before", "::after"];
const DRAWN = "svg, svg *, img, input, select, textarea, progress, meter, video, audio, canvas, iframe, br, hr, option";
const SIDES = ["Top", "Right", "Bottom", "Left"];
const ON = ":is([aria-current]:not([aria-current=false]), [aria-selected=true], [aria-pressed=true], [aria-checked=true])";
const COMPARED = ["color", "backgroundColor", "textDecorationLine", "fontWeight", "outlineStyle",
  ...SIDES.flatMap((side) => ["Width", "Style", "Color"].map((what) => `border${side}${what}`))];
const isSeen = (colour) => !/^rgba\(.*, 0\)$/.test(colour);
const hasLine = (style, line) => parseFloat(style[`${line}Width`]) > 0 && style[`${line}Style`] !== "none" && isSeen(style[`${line}Color`]);
const hasEdge = (style) => [...SIDES.map((side) => `border${side}`), "outline"].some((line) => hasLine(style, line));
const groundOf = (element) => {
  const { backgroundColor } = getComputedStyle(element);
  return isSeen(backgroundColor) || !element.parentElement ? backgroundColor : groundOf(element.parentElement);
};
const isFilled = (element, piece, style) => {
  const ground = piece || !element.parentElement ? element : element.parentElement;
  return isSeen(style.backgroundColor) && style.backgroundColor !== groundOf(ground);
};
const isEmpty = (element, piece, style) => (piece
  ? style.content === '""'
  : !element.textContent.trim() && !element.matches(DRAWN) && !element.querySelector(DRAWN));
const hasSize = (element, piece, style) => (piece
  ? parseFloat(style.width) > 0 && parseFloat(style.height) > 0
  : element.offsetWidth > 0 && element.offsetHeight > 0);

const look = (element) => { const style = getComputedStyle(element); return COMPARED.map((name) => style[name]).join(); };
const otherThan = (one) => [...document.querySelectorAll(one.localName)].find((other) => !other.matches(ON)
  && other.className === one.className && other.parentElement.className === one.parentElement.className
  && other.parentElement.localName === one.parentElement.localName && other.checkVisibility());

// Keep what a background alone draws or bounds, with its new kinds, and what looks different while it is current or selected.
let painted = [], different = [];
globalThis.keepPainted = ([part, seen]) => {
  const before = new Set(seen);
  const within = part ? document.querySelectorAll(`:is(${part}), :is(${part}) *`) : document.body.querySelectorAll("*");
  painted = [];
  for (const element of within) {
    if (!element.checkVisibility({ visibilityProperty: true }) || element.closest(".unseen")) continue;
    for (const piece of PIECES) {
      const style = getComputedStyle(element, piece);
      if (piece && style.content !== '""') continue;
      const isControl = !piece && element.matches(CONTROLS);
      if (hasEdge(style) || !(isControl || isEmpty(element, piece, style)) || !hasSize(element, piece, style)) continue;
      const isBounded = isFilled(element, piece, style) || (isControl && style.boxShadow !== "none");
      const kind = `${place(element)}${piece}`;
      if (!isBounded || before.has(kind)) continue;
      before.add(kind);
      painted.push([element, piece, kind]);
    }
  }
  different = shown(ON).map((one) => [one, otherThan(one)]).filter(([one, other]) => other && look(one) !== look(other));
  return painted.map(([, , kind]) => kind);
};

// Asked with forced colours: what of that is no longer seen, or looks like the others.
globalThis.lostInForcedColours = () => {
  const lost = painted.filter(([element, piece]) => {
    const style = getComputedStyle(element, piece);
    return !hasEdge(style) && !isFilled(element, piece, style);
  });
  // A page that refreshes itself may have replaced one of them meanwhile.
  const alike = different.filter(([one, other]) => one.isConnected && other.isConnected && look(one) === look(other));
  return [
    ...lost.map(([element, piece]) => `lost ${piece}: ${start(element)}`),
    ...alike.map(([one]) => `looks like others: ${start(one)}`),
  ];
};

// Asked with forced colours: leave marked only what has a pair of text and ground that no element had before, and give them.
globalThis.keepNewPairs = (seen) => {
  const before = new Set(seen);
  const pairs = [];
  for (const element of document.querySelectorAll(MARKED)) {
    const { color, opacity } = getComputedStyle(element);
    const pair = [color, groundOf(element), opacity].join();
    if (before.has(pair)) element.removeAttribute("data-new-colours");
    else pairs.push(pair);
    before.add(pair);
  }
  return pairs;
};

// What does not show that it has the focus, of one control of each kind that was not focused on any page before.
globalThis.unfocused = (seen) => {
  const before = new Set(seen);
  const kinds = [], found = [];
  const focused = document.activeElement;
  for (const one of shown(`${CONTROLS}, a[href]`)) {
    const kind = styledBy(one);
    if (before.has(kind) || one.disabled || one.tabIndex < 0) continue;
    before.add(kind);
    kinds.push(kind);
    one.blur();
    const unlit = look(one);
    one.focus({ preventScroll: true, focusVisible: true });
    if (document.activeElement === one && look(one) === unlit) found.push(`focus unseen: ${start(one)}`);
    one.blur();
  }
  focused.focus({ preventScroll: true });
  return [kinds, found];
};
