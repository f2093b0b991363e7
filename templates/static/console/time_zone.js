// Chooses the browser's own time zone where a page asks for one and nobody has chosen yet.

/** @type {NodeListOf<HTMLSelectElement>} */
const selects = document.querySelectorAll("select[data-guess-time-zone]");
for (const select of selects) {
  const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  const untouched = [...select.options].every((option) => option.selected === option.defaultSelected);
  if (untouched && [...select.options].some((option) => option.value === zone)) {
    select.value = zone;
  }
}
