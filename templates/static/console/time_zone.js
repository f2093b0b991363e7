// Chooses the browser's own time zone where a page asks for one and nobody has chosen yet.
for (const select of document.querySelectorAll("select[data-guess-time-zone]")) {
  const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  const untouched = [...select.options].every((option) => option.selected === option.defaultSelected);
  if (untouched && [...select.options].some((option) => option.value === zone)) {
    select.value = zone;
  }
}
