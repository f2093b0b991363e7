// Where focus stands, whether it can be seen there, and on which side of it something else lies.
(target) => {
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

  const sideOf = (element) => {
    if (element === target) return "here";
    return element.compareDocumentPosition(target) & Node.DOCUMENT_POSITION_FOLLOWING ? "after" : "before";
  };

  const element = document.activeElement ?? document.body;
  const isLost = element === document.body || element === document.documentElement;
  const hasMoved = element !== window.focusedBefore;
  window.focusedBefore = element;
  return {
    name: element.outerHTML.slice(0, 160).replace(/\s+/g, " "),
    isLost,
    isSeen: !isLost && isSeen(element),
    isInGroup: element.type === "radio" && target.type === "radio" && element.name === target.name,
    hasMoved,
    side: isLost ? "after" : sideOf(element),
  };
}
