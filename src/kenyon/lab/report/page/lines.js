// Lines over a common axis, each with an optional band. Among many, only the raised one shows its band.
const BANDS = 4;
const BOUNDARIES = 40;
const LINES = 12;

class LineChart extends Chart {
  constructor(host, figure) {
    super(host, figure);
    const later = this.names().slice(LINES);
    if (!later.length) return;
    const entries = [...host.querySelectorAll(".legend button")].slice(LINES);
    entries.forEach((entry) => entry.click()); // more can be shown by their names
    host.querySelector(".legend").append(make("span", { class: "note" }, `${LINES} of ${LINES + later.length} lines are drawn; press a name to show or hide one.`));
  }

  extents() {
    const { series, x_log: xLog, y_log: yLog } = this.figure;
    const ys = series.flatMap((s) => [...s.y, ...(s.band ? s.band.flat() : [])]).filter((v) => v !== null && (!yLog || v > 0));
    return {
      x: extent(series.flatMap((s) => s.x).map((v) => inner(v, xLog)), 0.01),
      y: extent(ys.map((v) => inner(v, yLog)), 0.05),
    };
  }

  names() {
    return this.figure.series.map((series) => series.name);
  }

  swatch(name) {
    const i = this.names().indexOf(name);
    const line = svg("line", { class: `line c${i % COLOURS}`, x1: 0, x2: 18, y1: 5, y2: 5, "stroke-dasharray": dash(i) });
    return svg("svg", { class: "swatch", width: 18, height: 10, "aria-hidden": "true" }, line);
  }

  zoomAxes() {
    return ["x"];
  }

  ratio() {
    return 0.44;
  }

  shown() {
    return this.figure.series.map((series, i) => [series, i]).filter(([series]) => !this.hidden.has(series.name));
  }

  plot() {
    const { top, height } = this.box;
    const marks = this.figure.marks ?? [];
    for (const mark of marks.length > BOUNDARIES ? [] : marks) {
      const x = this.px(mark);
      this.marks.append(svg("line", { class: "boundary", x1: x, x2: x, y1: top, y2: top + height }));
    }
    const drawn = this.shown();
    for (const [series, i] of drawn) {
      if (series.band && (drawn.length <= BANDS || series.name === this.raised)) this.marks.append(svg("path", { class: `band c${i % COLOURS}`, d: this.bandPath(series) }));
    }
    for (const [series, i] of drawn) {
      const faded = this.raised !== null && drawn.some(([s]) => s.name === this.raised) && series.name !== this.raised;
      const path = { class: `line c${i % COLOURS}${faded ? " faded" : ""}`, d: this.linePath(series), "stroke-dasharray": dash(i) };
      this.marks.append(svg("path", path));
    }
  }

  linePath({ x, y }) {
    let pen = "M";
    let path = "";
    x.forEach((value, i) => {
      if (y[i] === null) { pen = "M"; return; }
      path += `${pen}${this.px(value).toFixed(1)} ${this.py(y[i]).toFixed(1)}`;
      pen = "L";
    });
    return path;
  }

  bandPath({ x, band: [low, high] }) {
    const known = x.map((_, i) => i).filter((i) => low[i] !== null && high[i] !== null);
    const point = (edge) => (i) => `${this.px(x[i]).toFixed(1)} ${this.py(edge[i]).toFixed(1)}`;
    return known.length ? `M${[...known.map(point(high)), ...known.toReversed().map(point(low))].join("L")}Z` : "";
  }

  hover(event) {
    const [px, py] = this.place(event);
    const { left, top, width, height } = this.box;
    if (px < left || px > left + width || py < top || py > top + height) return this.unhover();
    const rows = [];
    let at = null;
    for (const [series, i] of this.shown()) {
      const k = nearest(series.x, outer(this.view.x[0] + ((px - left) / width) * (this.view.x[1] - this.view.x[0]), this.figure.x_log));
      if (k === null || series.y[k] === null) continue;
      if (at === null || Math.abs(this.px(series.x[k]) - px) < Math.abs(this.px(at) - px)) at = series.x[k];
      rows.push({ series, i, k });
    }
    if (at === null) return this.unhover();
    rows.sort((a, b) => b.series.y[b.k] - a.series.y[a.k]);
    const x = this.px(at);
    this.pointer.replaceChildren(
      svg("line", { class: "rule", x1: x, x2: x, y1: top, y2: top + height }),
      ...rows.map(({ series, i, k }) => svg("circle", { class: `dot c${i % COLOURS}`, cx: this.px(series.x[k]), cy: this.py(series.y[k]), r: 3 })));
    const lines = rows.slice(0, 14).map(({ series, k }) =>
      make("div", { class: "row" }, this.swatch(series.name), make("span", {}, series.name), make("b", {}, show(series.y[k], this.units.y))));
    if (rows.length > 14) lines.push(make("div", {}, `and ${rows.length - 14} more`));
    this.tell(x, py, make("div", { class: "at" }, `${this.figure.x_label} ${show(at, this.units.x)}`), ...lines);
  }
}

const dash = (i) => DASHES[Math.floor(i / COLOURS) % DASHES.length];

/** The place in sorted numbers of the one nearest to a value. */
function nearest(sorted, value) {
  if (!sorted.length) return null;
  let [low, high] = [0, sorted.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= value) low = middle;
    else high = middle;
  }
  return value - sorted[low] < sorted[high] - value ? low : high;
}
