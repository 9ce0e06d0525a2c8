// A matrix as coloured squares, its numbers written in where there is room.
class HeatMap {
  constructor(host, figure, range) {
    Object.assign(this, { host, figure, range });
    this.readout = make("div", { class: "readout", role: "status", hidden: "" });
    this.surface = svg("svg", { class: "surface heat", role: "img", "aria-label": this.describe() });
    this.stage = make("div", { class: "stage" }, this.surface, this.readout);
    host.append(this.stage);
    if (figure.runs?.length) {
      host.append(make("button", { type: "button", class: "to-runs", onclick: () => openRuns(figure.series || figure.title, figure.runs) },
        figure.runs.length === 1 ? "its run" : `its ${figure.runs.length} runs`));
    }
    this.surface.addEventListener("pointerleave", () => { this.readout.hidden = true; });
    new ResizeObserver(() => this.draw()).observe(this.stage);
    this.draw();
  }

  describe() {
    const { title, series, rows, columns } = this.figure;
    return `${title}${series ? `, ${series}` : ""}: ${rows.length} rows, ${columns.length} columns`;
  }

  draw() {
    const width = Math.round(this.stage.clientWidth);
    if (!width) return;
    const { rows, columns, values, unit, row_label: rowLabel, column_label: columnLabel } = this.figure;
    const longest = (names) => Math.max(...names.map((name) => name.length), 1);
    const left = Math.min(width * 0.4, 10 + 6.6 * longest(rows)) + (rowLabel ? 16 : 0);
    const widest = this.host.closest(".multiples").children.length > 1 ? 64 : 96;
    const numbered = columns.every((name) => /^\d+$/.test(name)); // of these, some are enough
    const slanted = !numbered && longest(columns) * 6.6 > Math.min((width - left) / columns.length, widest);
    const top = (columnLabel ? 18 : 0) + (slanted ? 10 + 5 * longest(columns) : 20);
    const right = slanted ? 5 * longest(columns) * 0.6 : 2;
    const side = Math.min((width - left - right) / columns.length, widest);
    const tall = Math.min(side, 40);
    const height = top + tall * rows.length + 4;
    this.surface.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.surface.setAttribute("height", height);
    const parts = [];
    if (columnLabel) parts.push(svg("text", { x: left, y: 11 }, columnLabel));
    if (rowLabel) parts.push(svg("text", { transform: `translate(11 ${height - 4}) rotate(-90)` }, rowLabel));
    const every = (room, wanted) => numbered ? [1, 2, 5, 10, 20, 50, 100].find((n) => n * room >= wanted) : 1;
    const [across, down] = [every(side, longest(columns) * 6.6 + 4), every(tall, 12)];
    columns.forEach((name, j) => {
      if ((j + 1) % across && j) return;
      const x = left + side * (j + 0.5);
      const at = slanted ? { transform: `translate(${x} ${top - 6}) rotate(-40)` } : { x, y: top - 6, "text-anchor": "middle" };
      parts.push(svg("text", at, name));
    });
    rows.forEach((name, i) => {
      if (!((i + 1) % down) || !i) parts.push(svg("text", { x: left - 7, y: top + tall * (i + 0.5) + 4, "text-anchor": "end" }, name));
      values[i].forEach((value, j) => parts.push(...this.cell(value, i, j, left + side * j, top + tall * i, side, tall, unit)));
    });
    this.surface.replaceChildren(...parts);
  }

  cell(value, i, j, x, y, side, tall, unit) {
    const place = { x: x + 0.75, y: y + 0.75, width: side - 1.5, height: tall - 1.5, rx: 1.5 };
    const { rows, columns } = this.figure;
    const tell = () => {
      const words = value === null ? "not tested" : show(value, unit);
      this.readout.replaceChildren(make("div", { class: "at" }, words), make("div", {}, `${rows[i]} → ${columns[j]}`));
      this.readout.hidden = false;
      this.readout.style.left = `${clamp(x + side / 2 - this.readout.offsetWidth / 2, 0, Math.max(0, this.stage.clientWidth - this.readout.offsetWidth))}px`;
      this.readout.style.top = `${y + tall + 6}px`;
    };
    if (value === null) return [svg("rect", { class: "cell none", ...place, onpointerenter: tell })];
    const [low, high] = this.range;
    const diverging = low < 0 && high > 0;
    const most = Math.max(-low, high);
    const share = diverging ? Math.abs(value) / most : high > low ? (value - low) / (high - low) : 1;
    const kind = diverging ? (value < 0 ? "negative" : "positive") : "sequential";
    const rect = svg("rect", { class: `cell ${kind}`, style: `--p:${(100 * share).toFixed(1)}%`, ...place, onpointerenter: tell });
    const text = compact(value, unit);
    if (side < 6.5 * text.length + 4 || tall < 16) return [rect];
    const label = { class: share > 0.55 ? "on-high" : "on-low", x: x + side / 2, y: y + tall / 2 + 4, "text-anchor": "middle" };
    return [rect, svg("text", label, text)];
  }
}

function compact(value, unit) {
  const text = unit === "%" ? value.toFixed(1) : String(Number(value.toPrecision(3)));
  return text.replace("-", MINUS);
}

/** Heat maps of one title share their colours: percentages from 0 to 100, others over what they hold. */
function rangeOf(figure) {
  const alike = data.figures.filter((f) => f.type === "heatmap" && f.title === figure.title && f.unit === figure.unit);
  const values = alike.flatMap((f) => f.values.flat()).filter((v) => v !== null);
  const [low, high] = values.length ? [Math.min(...values), Math.max(...values)] : [0, 1];
  return figure.unit === "%" && low >= 0 && high <= 100 ? [0, 100] : [low, high];
}
