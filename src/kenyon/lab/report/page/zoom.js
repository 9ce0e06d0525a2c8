// Zooming a chart: drag a box, wheel or pinch around the pointer, keys, buttons; double-click shows all.
const DEEPEST = 1e-4; // of the whole range
const DRAG = 8; // pixels before a press is a drag

/** Shrink (factor < 1) or widen the view around a share of each axis, never beyond the whole. */
function zoom(chart, factor, [sx, sy], axes = chart.zoomAxes()) {
  for (const [axis, share] of [["x", sx], ["y", sy]]) {
    if (!axes.includes(axis)) continue;
    const [low, high] = chart.view[axis];
    const whole = chart.full[axis][1] - chart.full[axis][0];
    const span = clamp((high - low) * factor, whole * DEEPEST, whole);
    const start = low + share * (high - low) - share * span;
    chart.view[axis] = inside(chart.full[axis], start, span);
  }
  chart.unhover();
  chart.draw();
}

function inside([low, high], start, span) {
  const from = clamp(start, low, high - span);
  return [from, from + span];
}

function pan(chart, dx, dy) {
  for (const [axis, share] of [["x", dx], ["y", dy]]) {
    const span = chart.view[axis][1] - chart.view[axis][0];
    chart.view[axis] = inside(chart.full[axis], chart.view[axis][0] + share * span, span);
  }
  chart.draw();
}

function showAll(chart) {
  chart.view = { x: [...chart.full.x], y: [...chart.full.y] };
  chart.unhover();
  chart.draw();
}

/** A place in the drawing as shares of the axes, from the lower left corner. */
function shares(chart, [x, y]) {
  const { left, top, width, height } = chart.box;
  return [clamp((x - left) / width, 0, 1), clamp(1 - (y - top) / height, 0, 1)];
}

function makeZoomable(chart) {
  const surface = chart.surface;
  // A wheel over a chart scrolls the page, unless the chart was clicked first or Ctrl is held (as pinching a pad does).
  surface.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey && document.activeElement !== surface) return;
    event.preventDefault();
    zoom(chart, Math.exp(clamp(event.deltaY, -100, 100) * (event.ctrlKey ? 0.01 : 0.003)), shares(chart, chart.place(event)));
  }, { passive: false });
  surface.addEventListener("dblclick", () => showAll(chart));
  surface.addEventListener("keydown", (event) => {
    const moves = { ArrowLeft: [-0.15, 0], ArrowRight: [0.15, 0], ArrowUp: [0, 0.15], ArrowDown: [0, -0.15] };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in moves && chart.zoomed()) pan(chart, ...moves[event.key]);
    else if (event.key === "+" || event.key === "=") zoom(chart, 0.7, [0.5, 0.5]);
    else if (event.key === "-") zoom(chart, 1 / 0.7, [0.5, 0.5]);
    else if (event.key === "0" || event.key === "Escape") showAll(chart);
    else return;
    event.preventDefault();
  });
  makeDraggable(chart, surface);
  makePinchable(chart, surface);
}

function makeDraggable(chart, surface) {
  let start = null;
  let box = null;
  surface.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.pointerType === "touch") return;
    surface.focus({ preventScroll: true });
    start = chart.place(event);
  });
  surface.addEventListener("pointermove", (event) => {
    if (!start) return;
    const end = chart.place(event);
    if (!box && Math.hypot(end[0] - start[0], end[1] - start[1]) < DRAG) return;
    if (!box) {
      surface.setPointerCapture(event.pointerId);
      box = svg("rect", { class: "selection" });
      surface.append(box);
    }
    chart.unhover();
    const { left, top, right, bottom } = selection(chart, start, end);
    fill(box, { x: left, y: top, width: right - left, height: bottom - top }, []);
  });
  const finish = (event) => {
    if (box && event.type === "pointerup") {
      const { left, top, right, bottom } = selection(chart, start, chart.place(event));
      const [[x0, y1], [x1, y0]] = [shares(chart, [left, top]), shares(chart, [right, bottom])];
      for (const [axis, a, b] of [["x", x0, x1], ["y", y0, y1]]) {
        const [low, high] = chart.view[axis];
        const whole = chart.full[axis][1] - chart.full[axis][0];
        chart.view[axis] = inside(chart.full[axis], low + a * (high - low), Math.max((b - a) * (high - low), whole * DEEPEST));
      }
      chart.dragged = true; // the click that ends a drag opens nothing
      setTimeout(() => { chart.dragged = false; });
      chart.draw();
    }
    box?.remove();
    [start, box] = [null, null];
  };
  for (const type of ["pointerup", "pointercancel"]) surface.addEventListener(type, finish);
}

/** The dragged box; along one axis only where the other way was hardly moved. */
function selection(chart, [x0, y0], [x1, y1]) {
  const box = chart.box;
  const across = Math.abs(y1 - y0) < 2 * DRAG;
  const along = Math.abs(x1 - x0) < 2 * DRAG && !across;
  const [left, right] = along ? [box.left, box.left + box.width] : [Math.min(x0, x1), Math.max(x0, x1)];
  const [top, bottom] = across ? [box.top, box.top + box.height] : [Math.min(y0, y1), Math.max(y0, y1)];
  const bound = (v, low, size) => clamp(v, low, low + size);
  return {
    left: bound(left, box.left, box.width), right: bound(right, box.left, box.width),
    top: bound(top, box.top, box.height), bottom: bound(bottom, box.top, box.height),
  };
}

function makePinchable(chart, surface) {
  let last = null;
  const spread = ([a, b]) => Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
  surface.addEventListener("touchmove", (event) => {
    if (event.touches.length !== 2) return;
    event.preventDefault();
    const [a, b] = event.touches;
    const now = spread(event.touches);
    const middle = { clientX: (a.clientX + b.clientX) / 2, clientY: (a.clientY + b.clientY) / 2 };
    if (last) zoom(chart, last / now, shares(chart, chart.place(middle)));
    last = now;
  }, { passive: false });
  surface.addEventListener("touchend", () => { last = null; });
}

function zoomTools(chart) {
  const button = (text, label, act) => make("button", { type: "button", "aria-label": label, title: label, onclick: act }, text);
  return make("div", { class: "tools" },
    make("span", { class: "hint" }, "Drag to zoom; click, then wheel; double-click shows all"),
    button("+", "Zoom in", () => zoom(chart, 0.6, [0.5, 0.5])),
    button(MINUS, "Zoom out", () => zoom(chart, 1 / 0.6, [0.5, 0.5])),
    button("Show all", "Show all", () => showAll(chart)));
}
