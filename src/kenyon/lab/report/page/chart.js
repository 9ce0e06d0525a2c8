// A chart with two axes: frame, ticks, legend, readout. What it plots is a subclass's business.
const COLOURS = 10;
const DASHES = ["none", "6 3", "2 3", "8 3 2 3"];
let clips = 0;

class Chart {
  constructor(host, figure) {
    this.host = host;
    this.figure = figure;
    this.units = { x: unitOf(figure, "x"), y: unitOf(figure, "y") };
    this.hidden = new Set();
    this.raised = null;
    this.full = this.extents();
    this.view = { x: [...this.full.x], y: [...this.full.y] };
    this.clip = `clip.${clips++}`;
    this.readout = make("div", { class: "readout", role: "status", hidden: "" });
    this.surface = svg("svg", { class: "surface", role: "group", tabindex: 0, "aria-label": this.describe() });
    this.stage = make("div", { class: "stage" }, this.surface, this.readout);
    host.append(this.legend(), this.stage, zoomTools(this));
    this.surface.addEventListener("pointermove", (event) => this.hover(event));
    this.surface.addEventListener("pointerleave", () => this.unhover());
    makeZoomable(this);
    new ResizeObserver(() => this.draw()).observe(this.stage);
    this.draw();
  }

  describe() {
    const { title, x_label: x, y_label: y } = this.figure;
    return `${title}. ${y} against ${x}. Keys: plus and minus zoom, arrows move, 0 shows all.`;
  }

  /** Names that the legend lists, in order. */
  names() {
    return [];
  }

  legend() {
    const names = this.names();
    if (names.length < 2) return make("div", { class: "legend", hidden: "" });
    const entries = names.map((name) => {
      const toggle = () => {
        this.hidden.has(name) ? this.hidden.delete(name) : this.hidden.add(name);
        entry.setAttribute("aria-pressed", String(!this.hidden.has(name)));
        this.draw();
      };
      const raise = (raised) => () => { this.raised = raised; this.draw(); };
      const acts = { onclick: toggle, onpointerenter: raise(name), onpointerleave: raise(null), onfocus: raise(name), onblur: raise(null) };
      const entry = make("button", { type: "button", "aria-pressed": "true", ...acts }, this.swatch(name), name);
      return entry;
    });
    return make("div", { class: "legend", role: "group", "aria-label": "Series; press to hide or show" }, entries);
  }

  px(value) {
    const [low, high] = this.view.x;
    return this.box.left + ((inner(value, this.figure.x_log) - low) / (high - low)) * this.box.width;
  }

  py(value) {
    const [low, high] = this.view.y;
    return this.box.top + (1 - (inner(value, this.figure.y_log) - low) / (high - low)) * this.box.height;
  }

  draw() {
    const width = Math.round(this.stage.clientWidth);
    if (!width) return;
    const height = Math.round(clamp(width * this.ratio(), 280, 520));
    const yTicks = axisTicks(this.view.y, this.figure.y_log, this.units.y, height / 56);
    const longest = Math.max(...yTicks.map(([, text]) => text.length), 2);
    const left = 14 + 7.2 * longest;
    this.box = { left, top: 26, width: width - left - 14, height: height - 26 - 44 };
    this.size = { width, height };
    const xTicks = axisTicks(this.view.x, this.figure.x_log, this.units.x, this.box.width / 90);
    this.surface.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.surface.setAttribute("height", height);
    this.marks = svg("g", { class: "marks", "clip-path": `url(#${this.clip})` });
    this.above = svg("g", { class: "above" });
    this.pointer = svg("g", { class: "pointer" });
    this.surface.replaceChildren(this.clipPath(), this.frame(xTicks, yTicks), this.marks, this.above, this.pointer);
    this.plot();
    this.host.classList.toggle("zoomed", this.zoomed());
  }

  ratio() {
    return 0.5;
  }

  clipPath() {
    const { left, top, width, height } = this.box;
    const shape = svg("rect", { x: left - 1, y: top - 1, width: width + 2, height: height + 2 });
    return svg("defs", {}, svg("clipPath", { id: this.clip }, shape));
  }

  frame(xTicks, yTicks) {
    const { left, top, width, height } = this.box;
    const bottom = top + height;
    const [xs, ys] = [this.view.x, this.view.y];
    const group = svg("g", { class: "frame", "aria-hidden": "true" });
    for (const [at, text] of yTicks) {
      const y = top + (1 - (at - ys[0]) / (ys[1] - ys[0])) * height;
      group.append(svg("line", { class: "grid", x1: left, x2: left + width, y1: y, y2: y }));
      group.append(svg("text", { x: left - 8, y: y + 4, "text-anchor": "end" }, text));
    }
    for (const [at, text] of xTicks) {
      const x = left + ((at - xs[0]) / (xs[1] - xs[0])) * width;
      group.append(svg("line", { class: "tick", x1: x, x2: x, y1: bottom, y2: bottom + 5 }));
      group.append(svg("text", { x: clamp(x, left + 4, left + width - 8), y: bottom + 19, "text-anchor": "middle" }, text));
    }
    group.append(svg("line", { class: "axis", x1: left, x2: left + width, y1: bottom, y2: bottom }));
    group.append(svg("text", { class: "label", x: left + width, y: bottom + 38, "text-anchor": "end" }, this.figure.x_label));
    group.append(svg("text", { class: "label", x: 2, y: 14 }, this.figure.y_label));
    return group;
  }

  /** Where a pointer is in the drawing, which a narrow page or a printer may have scaled. */
  place(event) {
    const rectangle = this.surface.getBoundingClientRect();
    const scale = this.size.width / rectangle.width;
    return [(event.clientX - rectangle.left) * scale, (event.clientY - rectangle.top) * scale];
  }

  tell(x, y, ...lines) {
    this.readout.replaceChildren(...lines);
    this.readout.hidden = false;
    const scale = this.stage.clientWidth / this.size.width;
    const { offsetWidth: width, offsetHeight: height } = this.readout;
    const right = x * scale + 14 + width <= this.stage.clientWidth;
    this.readout.style.left = `${clamp(right ? x * scale + 14 : x * scale - 14 - width, 0, this.stage.clientWidth - width)}px`;
    this.readout.style.top = `${clamp(y * scale - height / 2, 0, Math.max(0, this.stage.clientHeight - height))}px`;
  }

  unhover() {
    this.readout.hidden = true;
    this.pointer.replaceChildren();
  }

  zoomed() {
    return ["x", "y"].some((axis) => this.view[axis].some((v, i) => Math.abs(v - this.full[axis][i]) > 1e-12));
  }
}
