// A list whose rows can be selected: the bar with the actions comes with the selection and says how many rows it holds.

const bar = /** @type {HTMLFormElement} */ (document.querySelector("[data-selection]"));
const count = /** @type {HTMLElement} */ (bar.querySelector("[data-selected]"));
const everything = /** @type {HTMLInputElement} */ (bar.querySelector("[name=all]"));
/** @type {NodeListOf<HTMLInputElement>} */
const rows = document.querySelectorAll(`input[name=item][form=${bar.id}]`);
// One stands in the table's head, one above the rows that are cards.
/** @type {NodeListOf<HTMLInputElement>} */
const pageBoxes = document.querySelectorAll("[data-select-page] input");

// Who has filtered a list of several pages may want all of it: the box is in sight before anything is selected.
const results = /** @type {HTMLElement | null} */ (document.querySelector("[data-select-results]"));
const ofAll = everything.closest(".check");

function show() {
  const selected = [...rows].filter((row) => row.checked).length;
  const text = everything.checked ? count.dataset.all : selected === 1 ? count.dataset.one : count.dataset.several;
  bar.hidden = !selected && !everything.checked;
  count.textContent = bar.hidden ? "" : (text ?? "").replace("{}", String(selected));
  for (const box of pageBoxes) {
    box.checked = selected === rows.length;
    box.indeterminate = selected > 0 && selected < rows.length;
  }
}

/** @param {boolean} checked */
function setRows(checked) {
  for (const row of rows) row.checked = checked;
}

document.addEventListener("change", (event) => {
  const box = event.target;
  if (!(box instanceof HTMLInputElement)) return;
  if ([...pageBoxes].includes(box) || (box === everything && box.checked)) setRows(box.checked);
  else if (box !== everything && ![...rows].includes(box)) return;
  if (everything.checked && [...rows].some((row) => !row.checked)) everything.checked = false;
  show();
});

bar.addEventListener("reset", () => {
  everything.checked = false;
  setRows(false);
  show();
  [...pageBoxes].find((box) => box.checkVisibility())?.focus();
});

// On the way back a browser may bring the boxes as they were left.
addEventListener("pageshow", show);

for (const box of pageBoxes) {
  const label = box.closest("label");
  if (label) label.hidden = false;
}
if (results && ofAll) {
  results.append(ofAll);
  results.hidden = false;
}
const counted = count.closest("p");
if (counted) counted.hidden = false;
show();
