// Points with names; the frontier joins those that no other beats with less x and more y.
const SHAPES = [
  (r) => `M${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`,
  (r) => `M${-r * 0.9} ${-r * 0.9}H${r * 0.9}V${r * 0.9}H${-r * 0.9}Z`,
  (r) => `M0 ${-r * 1.2}L${r * 1.1} ${r * 0.8}H${-r * 1.1}Z`,
  (r) => `M0 ${-r * 1.3}L${r * 1.3} 0L0 ${r * 1.3}L${-r * 1.3} 0Z`,
  (r) => `M0 ${r * 1.2}L${r * 1.1} ${-r * 0.8}H${-r * 1.1}Z`,
];
/** Of group i; where there are more groups than colours, the first colour stays ours. */
const colour = (i) => (i ? 1 + ((i - 1) % (COLOURS - 1)) : 0);
/** Groups of several plots, ours first. */
const groupsOf = (plots) => [...new Set(plots.flatMap((plot) => plot.points.map((point) => point.group)))]
  .sort((a, b) => /^kenyon/i.test(b) - /^kenyon/i.test(a));
/** A group has the same colour and shape in every plot of accuracy against bytes. */
const HEADLINE = groupsOf(data.figures.filter((figure) => figure.frontier));
const REACH = 28; // pixels from which a point is under the pointer

class ScatterChart extends Chart {
  extents() {
    const { points, x_log: xLog, y_log: yLog } = this.figure;
    const ends = points.flatMap((p) => [p.y, p.y + (p.error ?? 0), p.y - (p.error ?? 0)]);
    return {
      x: extent(points.map((p) => inner(p.x, xLog)), 0.12, xLog ? 1 : 0), // a decade, lest equal sizes look different
      y: extent(ends.filter((v) => !yLog || v > 0).map((v) => inner(v, yLog)), 0.08),
    };
  }

  names() {
    return this.groups().filter((group) => this.figure.points.some((point) => point.group === group));
  }

  groups() {
    return this.figure.frontier ? HEADLINE : groupsOf([this.figure]);
  }

  swatch(name) {
    const i = this.groups().indexOf(name);
    const shape = svg("path", { class: `point c${colour(i)}`, d: SHAPES[i % SHAPES.length](4.5), transform: "translate(6 6)" });
    return svg("svg", { class: "swatch", width: 12, height: 12, "aria-hidden": "true" }, shape);
  }

  zoomAxes() {
    return ["x", "y"];
  }

  shown() {
    return this.figure.points.filter((point) => !this.hidden.has(point.group));
  }

  frontier() {
    const sorted = this.shown().toSorted((a, b) => a.x - b.x || b.y - a.y);
    const kept = [];
    for (const point of sorted) if (!kept.length || point.y > kept.at(-1).y) kept.push(point);
    return kept;
  }

  plot() {
    const groups = this.groups();
    const best = new Set(this.figure.frontier ? this.frontier() : []);
    if (best.size) this.drawFrontier([...best]);
    for (const point of this.shown()) {
      const [x, y, i] = [this.px(point.x), this.py(point.y), groups.indexOf(point.group)];
      if (point.error) {
        const bar = { class: `error c${colour(i)}`, x1: x, x2: x, y1: this.py(point.y - point.error), y2: this.py(point.y + point.error) };
        this.marks.append(svg("line", bar));
      }
      const shape = { class: `point c${colour(i)}${best.has(point) ? " best" : ""}${this.raised !== null && this.raised !== point.group ? " faded" : ""}`, d: SHAPES[i % SHAPES.length](best.has(point) ? 6.5 : 5) };
      const open = () => { if (point.run && !this.dragged) openRuns(point.name, [point.run]); };
      const key = (event) => { if (event.key === "Enter") open(); };
      this.marks.append(svg("path", {
        ...shape, transform: `translate(${x} ${y})`, role: point.run ? "button" : "img", tabindex: point.run ? 0 : null,
        "aria-label": `${point.name}: ${this.words(point)}`, onclick: open, onkeydown: key, onfocus: () => this.describePoint(point), onblur: () => this.unhover(),
      }));
    }
    this.drawNames(best);
  }

  drawFrontier(points) {
    const { left, top, width, height } = this.box;
    let path = `M${this.px(points[0].x)} ${top + height + 4}`;
    for (const point of points) path += `H${this.px(point.x)}V${this.py(point.y)}`;
    path += `H${left + width + 4}`;
    this.marks.append(svg("path", { class: "reached", d: `${path}V${top + height + 4}Z` }), svg("path", { class: "frontier", d: path }));
  }

  /** Names beside their points, those of the frontier first; where all places are taken the readout must do. */
  drawNames(best) {
    const { left, top, width, height } = this.box;
    const inView = (x, y) => x >= left && x <= left + width && y >= top && y <= top + height;
    const spots = this.shown().map((p) => ({ p, x: this.px(p.x), y: this.py(p.y) })).filter(({ x, y }) => inView(x, y));
    const taken = spots.map(({ x, y }) => [x - 7, y - 7, x + 7, y + 7]);
    spots.sort((a, b) => best.has(b.p) - best.has(a.p) || b.p.y - a.p.y);
    for (const { p, x, y } of spots) {
      const text = svg("text", { class: best.has(p) ? "name best" : "name" }, p.name);
      this.above.append(text);
      const size = text.getComputedTextLength() || p.name.length * 6.5;
      const over = best.has(p) ? [[x - 4, y - 11]] : []; // clear of the frontier's line
      const place = [...over, [x + 11, y + 4], [x - 11 - size, y + 4], [x - size / 2, y - 12], [x - size / 2, y + 20], [x + 9, y - 10], [x + 9, y + 17]]
        .map(([a, b]) => [a, b - 10, a + size, b + 3])
        .find((r) => r[0] >= left - 4 && r[2] <= left + width + 10 && r[1] >= top - 12 && r[3] <= top + height && !taken.some((t) => overlap(r, t)));
      if (!place) { text.remove(); continue; }
      taken.push(place);
      fill(text, { x: place[0], y: place[1] + 10 }, []);
    }
  }

  words(point) {
    const error = point.error ? ` ± ${show(point.error, "")}` : "";
    return `${this.figure.y_label} ${show(point.y, "")}${error}, ${this.figure.x_label} ${show(point.x, this.units.x)}`;
  }

  hover(event) {
    const [px, py] = this.place(event);
    let [found, reach] = [null, REACH];
    for (const point of this.shown()) {
      const distance = Math.hypot(this.px(point.x) - px, this.py(point.y) - py);
      if (distance < reach) [found, reach] = [point, distance];
    }
    found ? this.describePoint(found) : this.unhover();
  }

  describePoint(point) {
    const [x, y] = [this.px(point.x), this.py(point.y)];
    this.pointer.replaceChildren(svg("circle", { class: "halo", cx: x, cy: y, r: 11 }));
    const value = show(point.y, this.units.y) + (point.error ? ` ± ${show(point.error, this.units.y)}` : "");
    this.tell(x, y, make("div", { class: "at" }, point.name),
      make("div", { class: "row" }, make("span", {}, this.figure.y_label), make("b", {}, value)),
      make("div", { class: "row" }, make("span", {}, this.figure.x_label), make("b", {}, show(point.x, this.units.x))),
      point.group ? make("div", {}, point.group) : null, point.text ? make("div", {}, point.text) : null,
      point.run ? make("div", { class: "hint" }, "click for its runs") : null);
  }
}

const overlap = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
