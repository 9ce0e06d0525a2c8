// Accuracy over the stream: a thin line for each task, a thick one for everything met so far.

const CHART = { height: 270, left: 38, right: 46, top: 12, bottom: 28 };

class Chart {
  constructor(holder, name, tasks, length) {
    Object.assign(this, { holder, name, tasks, length });
    this.clear();
    new ResizeObserver(() => this.draw()).observe(holder);
  }

  clear() {
    this.points = []; // {at, all, tasks: [accuracy, or null where a task was not begun]}
    this.draw();
  }

  add(point) {
    this.points.push(point);
    this.draw();
  }

  draw() {
    const { height, left, right, top, bottom } = CHART, width = Math.max(280, this.holder.clientWidth);
    const x = (at) => left + (at / this.length) * (width - left - right);
    const y = (share) => height - bottom - share * (height - top - bottom);
    const svg = svgElement("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": this.described() });
    this.tasks.forEach(({ name, from, to }, k) => {
      if (k % 2 === 0) {
        const size = { width: x(to) - x(from), height: y(0) - top };
        svg.append(svgElement("rect", { class: "band", x: x(from), y: top, ...size }));
      }
      svg.append(svgText(name, { x: (x(from) + x(to)) / 2, y: height - bottom + 16, "text-anchor": "middle" }));
    });
    for (const share of [0, 0.5, 1]) {
      svg.append(svgElement("line", { class: "grid", x1: left, x2: width - right, y1: y(share), y2: y(share) }));
      svg.append(svgText(`${100 * share}%`, { x: left - 6, y: y(share) + 4, "text-anchor": "end" }));
    }
    const line = (value) => {
      const known = this.points.filter((point) => value(point) !== null);
      const place = (point) => `${x(point.at).toFixed(1)} ${y(value(point)).toFixed(1)}`;
      return known.map((point, k) => `${k ? "L" : "M"}${place(point)}`).join("");
    };
    this.tasks.forEach((_, k) => svg.append(svgElement("path", { class: "task", d: line((point) => point.tasks[k]) })));
    svg.append(svgElement("path", { class: "all", d: line((point) => point.all) }));
    const last = this.points.at(-1);
    if (last) {
      svg.append(svgText(`${Math.round(100 * last.all)}%`, { class: "end", x: x(last.at) + 6, y: y(last.all) + 5 }));
    }
    this.holder.replaceChildren(svg);
  }

  described() {
    const last = this.points.at(-1);
    if (!last) return `${this.name}: accuracy over the stream, not begun`;
    const begun = this.tasks.filter((_, k) => last.tasks[k] !== null);
    const each = begun.map(({ name }, k) => `${name}: ${percent(last.tasks[k])}`).join(", ");
    return `${this.name} after ${whole(last.at)} samples: ${percent(last.all)} of all; ${each}`;
  }
}

function svgElement(name, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function svgText(text, attributes) {
  const made = svgElement("text", attributes);
  made.textContent = text;
  return made;
}
