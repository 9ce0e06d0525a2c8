// What happens inside: the units that answer, where each of them looks, and what speaks for a class.

class Inside {
  /** `units`: {kind, excitatory, shifts, inputs}: for each unit the places of its inputs, excitatory ones first;
   * `isTurned`: whether samples have time downwards, and are shown with time to the right. */
  constructor(model, units, shape, isTurned) {
    const seen = (at) => (isTurned ? turnedPlace(at, shape) : at);
    const inputs = units.inputs.map((places) => places.map(seen));
    Object.assign(this, { model, units: { ...units, inputs }, shape: isTurned ? [shape[1], shape[0]] : shape });
    this.seen = (sample) => (isTurned ? turned(sample, shape) : sample);
    byId("Units").height = Math.round((byId("Units").width * this.shape[0]) / this.shape[1]);
    this.places = inputs.map((places, u) => this.centre(places, u));
    this.chosen = -1; // the unit that is looked at
    this.activity = new Uint8Array(units.inputs.length);
    this.sample = new Uint8Array(shape[0] * shape[1]);
    this.watched = ""; // the class whose weights are shown
    this.listen();
  }

  /** Where a unit is drawn, in pixels of a sample. */
  centre(inputs, u) {
    const [height, width] = this.shape;
    const mean = (part) => inputs.reduce((sum, at) => sum + part(at), 0) / inputs.length;
    if (this.units.kind === "windows") {
      return [mean((at) => at % width) + 0.5, mean((at) => Math.floor(at / width)) + 0.5];
    }
    const columns = Math.ceil(Math.sqrt(this.units.inputs.length * (width / height)));
    const step = width / columns;
    return [(u % columns + 0.5) * step, (Math.floor(u / columns) + 0.5) * step];
  }

  listen() {
    const canvas = byId("Units");
    canvas.addEventListener("pointermove", (event) => {
      const box = canvas.getBoundingClientRect(), [height, width] = this.shape;
      const x = ((event.clientX - box.left) / box.width) * width, y = ((event.clientY - box.top) / box.height) * height;
      const far = this.places.map(([px, py]) => (px - x) ** 2 + (py - y) ** 2);
      this.choose(far.indexOf(Math.min(...far)));
    });
    canvas.addEventListener("pointerleave", () => this.choose(-1));
    canvas.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const order = [...this.places.keys()].sort((a, b) => this.activity[b] - this.activity[a]);
      const next = order.indexOf(this.chosen) + step;
      this.choose(order[(next + order.length) % order.length]);
    });
    canvas.addEventListener("blur", () => this.choose(-1));
    byId("Class").addEventListener("change", (event) => {
      this.watched = event.target.value;
      this.paintWeights();
    });
  }

  choose(unit) {
    if (unit === this.chosen) return;
    this.chosen = unit;
    this.paintUnits();
  }

  /** Another sample, or another state. */
  show(sample) {
    this.sample = this.seen(sample);
    this.activity = this.model.learner.activity(sample);
    this.paintUnits();
    this.listClasses();
    this.paintWeights();
  }

  paintUnits() {
    const canvas = byId("Units"), context = canvas.getContext("2d"), [height, width] = this.shape;
    const scale = canvas.width / width, [ink, accent, other] = ["--ink", "--accent", "--other"].map(colourOf);
    context.clearRect(0, 0, canvas.width, canvas.height);
    for (let at = 0; at < this.sample.length; at++) {
      if (!this.sample[at]) continue;
      context.fillStyle = `rgba(${ink}, ${(0.16 * this.sample[at]) / 255})`;
      context.fillRect((at % width) * scale, Math.floor(at / width) * scale, scale + 0.5, scale + 0.5);
    }
    const most = Math.max(1, ...this.activity), isSmall = this.places.length > 400;
    this.places.forEach(([x, y], u) => {
      const share = this.activity[u] / most, isChosen = u === this.chosen;
      context.beginPath();
      context.arc(x * scale, y * scale, (isSmall ? 2 : 3) + (isSmall ? 5 : 13) * share, 0, 2 * Math.PI);
      const strength = this.chosen < 0 || isChosen ? 0.12 + 0.6 * share : 0.06 + 0.1 * share;
      context.fillStyle = `rgba(${accent}, ${strength})`;
      context.fill();
    });
    if (this.chosen >= 0) this.paintWindow(context, scale, accent, other);
    byId("UnitSays").textContent = this.described();
    canvas.setAttribute("aria-label", `Map of ${this.places.length} units, drawn where they look`);
  }

  /** The inputs of the chosen unit: those that excite it, those that inhibit it, and how far its window may shift. */
  paintWindow(context, scale, accent, other) {
    const inputs = this.units.inputs[this.chosen], width = this.shape[1];
    const columns = inputs.map((at) => at % width), rows = inputs.map((at) => Math.floor(at / width));
    inputs.forEach((_, k) => {
      context.fillStyle = `rgba(${k < this.units.excitatory ? accent : other}, 0.85)`;
      context.fillRect(columns[k] * scale + 1, rows[k] * scale + 1, scale - 2, scale - 2);
    });
    if (this.units.kind !== "windows") return;
    const r = this.units.shifts, low = [Math.min(...columns), Math.min(...rows)];
    const high = [Math.max(...columns), Math.max(...rows)];
    context.strokeStyle = `rgba(${accent}, 0.9)`;
    context.lineWidth = 2;
    context.setLineDash([6, 5]);
    const size = high.map((most, axis) => (most - low[axis] + 1 + 2 * r) * scale);
    context.strokeRect((low[0] - r) * scale, (low[1] - r) * scale, ...size);
    context.setLineDash([]);
  }

  described() {
    const { kind, excitatory, shifts, inputs } = this.units, busy = this.activity.filter(Boolean).length;
    if (this.chosen < 0) {
      return `${busy} of ${inputs.length} units answer to this sample; a larger dot is a stronger answer. ` +
        "Point at one, or use the arrow keys, to see where it looks.";
    }
    const n = inputs[this.chosen].length, strength = this.activity[this.chosen];
    const looks = kind === "windows" && shifts ? `, wherever its window fits within the dashed frame` : "";
    return `Unit ${this.chosen + 1} answers ${strength} of 255. It adds ${excitatory} inputs (blue) and subtracts ` +
      `${n - excitatory} (orange)${looks}.`;
  }

  listClasses() {
    const labels = this.model.listed.map((j) => this.model.labels[j]), select = byId("Class");
    if (!labels.includes(this.watched)) this.watched = this.model.labels.at(-1) ?? "";
    const shown = [...select.options].map((option) => option.value);
    if (shown.join("\n") !== labels.join("\n")) {
      select.replaceChildren(...labels.map((label) => element("option", { value: label }, label)));
    }
    select.value = this.watched;
    select.disabled = labels.length === 0;
  }

  /** Follow a class that was just trained. */
  watch(label) {
    this.watched = label;
  }

  paintWeights() {
    const { model, watched } = this, before = model.before ?? model.moment();
    const [now, old] = [this.picture(model.moment()), this.picture(before)];
    const most = Math.max(1e-12, ...[now, old].filter(Boolean).flatMap((picture) => [...picture].map(Math.abs)));
    this.paintPicture(byId("After"), now, most);
    this.paintPicture(byId("Before"), old, most);
    byId("WeightSays").textContent = now === null
      ? "Once a class was trained, its weights are shown here as a picture."
      : `The ${this.units.inputs.length} weights that “${watched}” keeps, each painted where its unit looks: blue where ` +
        "its samples have higher values than those of other classes, orange where they have lower ones.";
  }

  /** The weights of the watched class against the mean of the others, each spread over what excites its unit. */
  picture({ labels, weights }) {
    const j = labels.indexOf(this.watched), others = weights.filter((_, k) => k !== j);
    if (j < 0) return null;
    const [ink, cover] = [0, 1].map(() => new Float32Array(this.sample.length));
    this.units.inputs.forEach((inputs, u) => {
      const usual = others.length ? others.reduce((sum, other) => sum + other[u], 0) / others.length : 0;
      for (const at of inputs.slice(0, this.units.excitatory)) {
        ink[at] += weights[j][u] - usual;
        cover[at] += 1;
      }
    });
    const seen = blurred(cover, this.shape);
    return blurred(ink, this.shape).map((value, at) => value / (seen[at] + 0.02));
  }

  paintPicture(canvas, picture, most) {
    const [height, width] = this.shape;
    if (canvas.width !== width) [canvas.width, canvas.height] = [width, height];
    const context = canvas.getContext("2d"), image = context.createImageData(width, height);
    const [ground, accent, other] = ["--raised", "--accent", "--other"].map(colourOf);
    for (let at = 0; at < width * height; at++) {
      const value = picture ? picture[at] / most : 0, towards = value < 0 ? other : accent;
      image.data.set([...mixed(ground, towards, Math.sqrt(Math.abs(value))), 255], 4 * at);
    }
    context.putImageData(image, 0, 0);
  }
}

/** The mean over a square of five by five pixels, nothing being outside. */
function blurred(picture, [height, width]) {
  const out = new Float32Array(picture.length), reach = 2;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      let total = 0;
      for (let dy = Math.max(-reach, -y); dy <= Math.min(reach, height - 1 - y); dy++) {
        const row = (y + dy) * width;
        for (let dx = Math.max(-reach, -x); dx <= Math.min(reach, width - 1 - x); dx++) total += picture[row + x + dx];
      }
      out[y * width + x] = total / (2 * reach + 1) ** 2;
    }
  }
  return out;
}
