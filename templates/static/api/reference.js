// The reference is there without a script; this adds the search, the place in the contents, and trying requests out.

/** @typedef {{ name: string, where: string, input: HTMLInputElement }} Parameter */

const contents = /** @type {HTMLElement} */ (document.querySelector(".contents"));
const search = /** @type {HTMLInputElement & { form: HTMLFormElement }} */ (document.getElementById("search"));
const found = /** @type {HTMLElement} */ (contents.querySelector("[data-found]"));
/** @type {NodeListOf<HTMLAnchorElement>} */
const entries = contents.querySelectorAll("li a");
const links = [...entries];
const described = new Map(links.map((link) => [link, /** @type {HTMLElement} */ (document.getElementById(link.hash.slice(1)))]));

/** @param {HTMLAnchorElement} link */
const entryOf = (link) => /** @type {HTMLElement} */ (link.parentElement);

// Contents lie open where there is room for them.
const folded = /** @type {HTMLDetailsElement} */ (contents.querySelector("details"));
const wide = matchMedia("(min-width: 60rem)");
const unfold = () => { folded.open = wide.matches; };
wide.addEventListener("change", unfold);
unfold();

// The language is kept from one visit to the next, where the browser lets us.
function storage() {
  try {
    return localStorage;
  } catch {
    return null;
  }
}

/** @type {NodeListOf<HTMLInputElement>} */
const languages = document.querySelectorAll("[name=language]");
for (const radio of languages) {
  if (storage()?.getItem("language") === radio.value) radio.checked = true;
  radio.addEventListener("change", () => storage()?.setItem("language", radio.value));
}

// Search: names, paths, fields and what is said of them.
/** @type {Map<HTMLAnchorElement, string>} */
const texts = new Map();

/** @param {HTMLAnchorElement} link */
function textOf(link) {
  const known = texts.get(link);
  if (known !== undefined) return known;
  const article = /** @type {HTMLElement} */ (described.get(link));
  const part = article.querySelector(".text") || article;
  const text = `${article.id} ${link.textContent} ${part.textContent}`.toLowerCase();
  texts.set(link, text);
  return text;
}

function show() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const link of links) {
    const hit = words.every((word) => textOf(link).includes(word));
    entryOf(link).hidden = !hit;
    if (hit) count += 1;
  }
  for (const section of contents.querySelectorAll("section")) {
    section.hidden = !section.querySelector("li:not([hidden])");
  }
  folded.open = wide.matches || words.length > 0;
  found.textContent = words.length ? `${count} found` : "";
}

search.form.hidden = false;
search.addEventListener("input", show);
search.form.addEventListener("submit", (event) => {
  event.preventDefault();
  const first = links.find((link) => !entryOf(link).hidden);
  if (first) first.click();
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || /** @type {Element} */ (event.target).closest("input, textarea, select")) return;
  event.preventDefault();
  search.focus();
});

// A link into the conventions opens them; a link to an operation takes the keyboard there.
function follow() {
  const target = document.getElementById(location.hash.slice(1));
  if (!target) return;
  const closed = /** @type {HTMLDetailsElement | null} */ (target.closest("details:not([open])"));
  if (closed) closed.open = true;
  target.tabIndex = -1;
  target.focus({ preventScroll: true });
  target.scrollIntoView();
}

addEventListener("hashchange", follow);
follow();

// The contents say where the reader is.
/** @type {Map<Element, HTMLAnchorElement>} */
const linkOf = new Map([...described].map(([link, article]) => [article, link]));
/** @type {Set<Element>} */
const visible = new Set();
const watch = new IntersectionObserver((changes) => {
  for (const { target, isIntersecting } of changes) visible[isIntersecting ? "add" : "delete"](target);
  const first = [...linkOf.keys()].find((article) => visible.has(article));
  for (const [article, link] of linkOf) {
    if (article === first) link.setAttribute("aria-current", "location");
    else link.removeAttribute("aria-current");
  }
}, { rootMargin: "-100px 0px -60% 0px" });
for (const article of linkOf.keys()) watch.observe(article);

// Trying a request out: the key stays in this page.
let key = "";

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, unknown>} properties
 * @param {(Node | string)[]} children
 */
function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  Object.assign(element, properties);
  element.append(...children);
  return element;
}

/**
 * @param {string} id
 * @param {string} label
 * @param {HTMLInputElement | HTMLTextAreaElement} control
 */
function field(id, label, control) {
  control.id = id;
  return make("div", { className: "field" }, make("label", { htmlFor: id }, label), control);
}

/**
 * @param {Element} article
 * @param {string} selector
 */
const wordsOf = (article, selector) => article.querySelector(selector)?.textContent ?? "";

/**
 * @param {Element} article
 * @param {HTMLElement} place
 */
function build(article, place) {
  /** @type {NodeListOf<HTMLElement>} */
  const terms = article.querySelectorAll("[data-parameter]");
  const parameters = [...terms].map((term) => {
    const { parameter: name = "", place: where = "" } = term.dataset;
    return { name, where, input: make("input", { autocomplete: "off", required: where === "path" }) };
  });
  const secret = make("input", { type: "password", autocomplete: "off", value: key, required: true });
  const example = place.querySelector("template")?.content.textContent;
  const body = example ? make("textarea", { value: example, spellcheck: false }) : null;
  const output = make("output");
  const form = make("form", {}, field(`${article.id}-key`, "API key (kept in this page only)", secret));
  for (const { name, input } of parameters) form.append(field(`${article.id}-${name}`, name, input));
  if (body) form.append(field(`${article.id}-body`, "Body", body));
  form.append(make("p", { className: "hint" }, "This is a real request, on your real data."));
  form.append(make("button", { className: "button primary" }, "Send"), output);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    key = secret.value;
    output.replaceChildren(await send(article, parameters, body));
  });
  place.append(form);
}

/**
 * @param {Element} article
 * @param {Parameter[]} parameters
 * @param {HTMLTextAreaElement | null} body
 * @returns {[string, RequestInit]}
 */
function requestOf(article, parameters, body) {
  let path = wordsOf(article, ".address code");
  /** @type {Record<string, string>} */
  const headers = { "x-api-key": key };
  const query = new URLSearchParams();
  for (const { name, where, input } of parameters) {
    if (where === "path") path = path.replace(`{${name}}`, encodeURIComponent(input.value));
    else if (input.value && where === "query") query.set(name, input.value);
    else if (input.value) headers[name] = input.value;
  }
  if (body?.value) headers["Content-Type"] = "application/json";
  const address = query.size ? `${path}?${query}` : path;
  return [address, { method: wordsOf(article, ".method"), headers, body: body?.value || undefined, credentials: "omit" }];
}

/**
 * @param {Element} article
 * @param {Parameter[]} parameters
 * @param {HTMLTextAreaElement | null} body
 */
async function send(article, parameters, body) {
  const began = performance.now();
  try {
    const answer = await fetch(...requestOf(article, parameters, body));
    const text = await answer.text();
    const said = `${answer.status} in ${Math.round(performance.now() - began)} ms · ${answer.headers.get("X-Request-Id") ?? ""}`;
    const shown = text.startsWith("{") ? JSON.stringify(JSON.parse(text), null, 2) : text;
    return make("div", {}, make("p", { className: "small muted" }, said), make("pre", {}, shown));
  } catch (error) {
    return make("p", { className: "wrong" }, String(error));
  }
}

// A button to copy beside each sample.
if (navigator.clipboard) {
  for (const sample of document.querySelectorAll(".curl, .python, .node")) {
    const title = sample.closest("article")?.querySelector("h3")?.textContent;
    const block = make("div", { className: `code-block ${sample.className}` });
    const button = make("button", { className: "button tiny", type: "button", ariaLabel: `Copy the sample: ${title}` }, "Copy");
    Object.assign(button.dataset, { copy: "", said: "Copied" });
    sample.className = "";
    sample.replaceWith(block);
    block.append(sample, button);
  }
}

/** @type {NodeListOf<HTMLElement>} */
const places = document.querySelectorAll(".try");
for (const place of places) {
  const article = place.closest("article");
  if (!article) continue;
  place.hidden = false;
  place.addEventListener("toggle", () => build(article, place), { once: true });
}
