// Dragging rows into another order: sends the very form that the Up and Down buttons send.

/** @param {HTMLElement} list */
function rowsOf(list) {
  /** @type {NodeListOf<HTMLElement>} */
  const rows = list.querySelectorAll(":scope > [data-id]");
  return [...rows];
}

/** @param {HTMLElement} list */
function orderOf(list) {
  return rowsOf(list).map((row) => row.dataset.id).join(",");
}

/**
 * @param {HTMLFormElement} form
 * @param {HTMLElement} list
 * @param {HTMLElement} row the one that is moved
 * @param {HTMLElement} grip what it is held by
 * @param {PointerEvent} down
 */
function drag(form, list, row, grip, down) {
  const before = rowsOf(list);
  const field = /** @type {HTMLInputElement} */ (form.elements.namedItem("order"));
  grip.setPointerCapture(down.pointerId);
  row.classList.add("held-up");

  /**
   * The other rows move around the held one: taking that one out of the page would lose the pointer.
   * @param {PointerEvent} event
   */
  function move(event) {
    const rows = rowsOf(list);
    const from = rows.indexOf(row);
    const to = rows.findIndex((other) => {
      const box = other.getBoundingClientRect();
      return event.clientY >= box.top && event.clientY <= box.bottom;
    });
    if (to < 0 || to === from) return;
    const box = rows[to].getBoundingClientRect();
    const ahead = event.clientY < box.top + box.height / 2;
    if (to < from && ahead) row.after(...rows.slice(to, from));
    if (to > from && !ahead) row.before(...rows.slice(from + 1, to + 1));
  }

  function end() {
    row.classList.remove("held-up");
    grip.removeEventListener("pointermove", move);
    document.removeEventListener("keydown", escape);
  }

  function drop() {
    end();
    if (orderOf(list) === field.value) return;
    field.value = orderOf(list);
    form.submit();
  }

  function giveUp() {
    end();
    grip.removeEventListener("pointerup", drop);
    list.append(...before);
  }

  /** @param {KeyboardEvent} event */
  function escape(event) {
    if (event.key === "Escape") giveUp();
  }

  grip.addEventListener("pointermove", move);
  grip.addEventListener("pointerup", drop, { once: true });
  grip.addEventListener("pointercancel", giveUp, { once: true });
  document.addEventListener("keydown", escape);
}

/** @type {NodeListOf<HTMLFormElement>} */
const forms = document.querySelectorAll("form[data-sortable]");
for (const form of forms) {
  /** @type {HTMLElement | null} */
  const list = form.querySelector("[data-rows]");
  if (!list) continue;
  for (const row of rowsOf(list)) {
    /** @type {HTMLElement | null} */
    const grip = row.querySelector("[data-grip]");
    if (!grip) continue;
    grip.hidden = false;
    grip.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      event.preventDefault();
      drag(form, list, row, grip, event);
    });
  }
}
