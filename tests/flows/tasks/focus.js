// Where focus stands and where it has stopped since this was last asked, whether it could be seen there, on which side
// of it something else lies, and about how many stops away that is.
(target) => {
  const MOVING = ["Tab", "ArrowDown", "ArrowUp"];
  const MAY_BE_STOPS = "a[href], button, input, select, textarea, summary, [tabindex]";

  const shows = (element) => {
    const style = getComputedStyle(element);
    return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
  };

  const isInView = (element) => {
    const box = element.getBoundingClientRect();
    return box.bottom > 0 && box.right > 0 && box.top < innerHeight && box.left < innerWidth;
  };

  // A field that lies invisible over its button or behind its label is seen by what stands for it.
  const standIns = (element) => [...(element.labels ?? []), element.parentElement?.querySelector("[aria-hidden=true]")];
  const isSeen = (element) => {
    const seen = Number(getComputedStyle(element).opacity) ? [element] : standIns(element).filter(Boolean);
    return isInView(element) && seen.some(shows);
  };

  // Day, month, year and the calendar of a date are stops of one element.
  const STOPS_IN_PARTS = "input[type=date], input[type=datetime-local], input[type=time]";
  const MOST_PARTS = 8;

  const stands = () => {
    const element = document.activeElement ?? document.body;
    const isLost = element === document.body || element === document.documentElement;
    const isAnother = element !== window.focusedBefore;
    window.partsPassed = isAnother ? 0 : window.partsPassed + 1;
    const hasMoved = isAnother || (element.matches(STOPS_IN_PARTS) && window.partsPassed <= MOST_PARTS);
    window.focusedBefore = element;
    const name = element.outerHTML.slice(0, 160).replace(/\s+/g, " ");
    // The browser itself shows which part of a date has focus.
    const isPart = element.matches(STOPS_IN_PARTS) && window.partsPassed > 0;
    return { name, isLost, isSeen: !isLost && (isPart ? isInView(element) : isSeen(element)), hasMoved };
  };

  // A key that moves focus has done so when it is let go.
  const watch = () => {
    window.stopsOfFocus = [];
    const note = (event) => MOVING.includes(event.key) && window.stopsOfFocus.push(stands());
    addEventListener("keyup", note, { capture: true });
  };

  const liesAfter = (one, other) => Boolean(other.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING);
  const isOfGroup = (one, other) => one.type === "radio" && other.type === "radio" && one.name === other.name;
  const isStop = (one) =>
    one.tabIndex >= 0 && !one.matches(":disabled, [inert] *") && one.checkVisibility({ visibilityProperty: true });
  // Of several possibilities Tab stops at the chosen one.
  const isPassed = (one) => one.type === "radio" && !one.checked;

  const stopsTo = (element, isAhead) => {
    const stops = [...document.querySelectorAll(MAY_BE_STOPS)].filter((one) => isStop(one) && !isPassed(one));
    const end = isPassed(target) ? stops.find((one) => isOfGroup(one, target)) : target;
    const isOnTheWay = (one) => (isAhead ? liesAfter(one, element) && liesAfter(end, one) : liesAfter(element, one) && liesAfter(one, end));
    return end ? stops.filter(isOnTheWay).length + 1 : 1;
  };

  if (!window.stopsOfFocus) watch();
  const element = document.activeElement ?? document.body;
  const isInGroup = isOfGroup(element, target);
  const scripts = [...document.querySelectorAll("script[src]")].map((one) => one.src.split("/").pop().split(".")[0]);
  const isRevealed = (one) => window.revealed?.has(one) || Boolean(one.parentElement && isRevealed(one.parentElement));
  const { isLost, ...now } = stands();
  const side = element === target ? "here" : isLost || liesAfter(target, element) ? "after" : "before";
  return {
    ...now,
    isLost,
    // The browser moves focus to what has `autofocus`, such as a message, a moment after the page is seen.
    isToCome: element === document.body && Boolean(document.querySelector("[autofocus]")),
    // Pages without a menu have nothing to be skipped.
    isBehindMenu: Boolean(target.closest("main") && document.querySelector("a.skip")),
    scripts,
    isRevealed: isRevealed(target),
    target: target.outerHTML.slice(0, 160),
    isInGroup,
    side,
    stops: window.stopsOfFocus.splice(0),
    distance: isInGroup ? 1 : stopsTo(element, side === "after"),
  };
}
