// The drawing pad: strokes by mouse, finger, pen or keyboard, and the picture that the learner sees of them.

const INK = 0.075; // width of a line, as a share of the pad
const FINE = 4; // pixels along a side for each one that the learner sees

class Pad {
  /** `changed` is called whenever the drawing is another one. */
  constructor(canvas, shape, changed) {
    Object.assign(this, { canvas, shape, changed });
    this.strokes = []; // each a list of [x, y], as shares of the pad
    this.stale = false; // whether the next stroke begins a new drawing
    this.pen = null; // the keyboard's: {at: [x, y], down}
    this.sample = new Uint8Array(shape[0] * shape[1]);
    this.listen();
  }

  get isEmpty() {
    return this.strokes.length === 0;
  }

  listen() {
    const place = (event) => {
      const box = this.canvas.getBoundingClientRect();
      return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
    };
    let drawing = null;
    this.canvas.addEventListener("pointerdown", (event) => {
      if (event.button > 0 || drawing !== null) return;
      event.preventDefault();
      this.canvas.focus({ preventScroll: true });
      try {
        this.canvas.setPointerCapture(event.pointerId);
      } catch {
        // a pointer that is gone already
      }
      drawing = event.pointerId;
      this.pen = null;
      this.begin(place(event));
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (event.pointerId !== drawing) return;
      const passed = event.getCoalescedEvents?.() ?? [];
      for (const one of passed.length ? passed : [event]) this.strokes.at(-1).push(place(one));
      this.draw();
    });
    const end = (event) => {
      if (event.pointerId === drawing) drawing = null;
    };
    this.canvas.addEventListener("pointerup", end);
    this.canvas.addEventListener("pointercancel", end);
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    this.canvas.addEventListener("blur", () => {
      this.pen = null;
      this.paint();
    });
  }

  key(event) {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (event.key === "Escape") this.clear();
    else if (event.key === " ") {
      this.pen ??= { at: [0.5, 0.5], down: false };
      this.pen.down = !this.pen.down;
      if (this.pen.down) this.begin([...this.pen.at]);
    } else if (way) {
      this.pen ??= { at: [0.5, 0.5], down: false };
      const step = (event.shiftKey ? 4 : 1) / 28;
      this.pen.at = this.pen.at.map((at, axis) => Math.min(0.96, Math.max(0.04, at + step * way[axis])));
      if (this.pen.down) this.strokes.at(-1).push([...this.pen.at]);
      this.pen.down ? this.draw() : this.paint();
    } else return;
    event.preventDefault();
  }

  begin(place) {
    if (this.stale) this.strokes = [];
    this.stale = false;
    this.strokes.push([place]);
    this.draw();
  }

  clear() {
    this.strokes = [];
    this.stale = false;
    if (this.pen) this.pen.down = false;
    this.draw();
  }

  draw() {
    this.sample = rasterised(this.strokes, this.shape);
    this.paint();
    this.changed();
  }

  paint() {
    const context = this.canvas.getContext("2d"), side = this.canvas.width;
    context.clearRect(0, 0, side, side);
    context.strokeStyle = `rgb(${colourOf("--ink")})`;
    trace(context, this.strokes, INK * side, ([x, y]) => [x * side, y * side]);
    if (!this.pen) return;
    const [x, y] = this.pen.at;
    context.beginPath();
    context.arc(x * side, y * side, 0.035 * side, 0, 2 * Math.PI);
    context.lineWidth = 4;
    context.strokeStyle = `rgb(${colourOf("--accent")})`;
    if (this.pen.down) {
      context.fillStyle = context.strokeStyle;
      context.fill();
    }
    context.stroke();
  }
}

/** Draw strokes as round lines. */
function trace(context, strokes, width, where) {
  Object.assign(context, { lineWidth: width, lineCap: "round", lineJoin: "round" });
  for (const points of strokes) {
    context.beginPath();
    context.moveTo(...where(points[0]));
    for (const point of points.length > 1 ? points.slice(1) : points) context.lineTo(...where(point));
    context.stroke();
  }
}

/**
 * The strokes as bytes. As in MNIST, the drawing fills five sevenths of the picture, whatever its size on the pad, and
 * its centre of mass lies in the middle.
 */
function rasterised(strokes, [height, width]) {
  const sample = new Uint8Array(height * width);
  const points = strokes.flat();
  if (!points.length) return sample;
  const [lowX, highX, lowY, highY] = [0, 1].flatMap((axis) => {
    const places = points.map((point) => point[axis]);
    return [Math.min(...places), Math.max(...places)];
  });
  const size = Math.max(highX - lowX, highY - lowY, 0.2);
  const side = Math.min(height, width), line = INK * side, scale = ((5 / 7) * side - line) / size;
  const fine = document.createElement("canvas");
  [fine.width, fine.height] = [width * FINE, height * FINE];
  const context = fine.getContext("2d", { willReadFrequently: true });
  const [middleX, middleY] = [(lowX + highX) / 2, (lowY + highY) / 2];
  const place = (shiftX, shiftY) => ([x, y]) => [
    FINE * ((x - middleX) * scale + width / 2 + shiftX), FINE * ((y - middleY) * scale + height / 2 + shiftY),
  ];
  trace(context, strokes, FINE * line, place(0, 0));
  const ink = context.getImageData(0, 0, fine.width, fine.height).data;
  let mass = 0, massX = 0, massY = 0;
  for (let y = 0; y < fine.height; y++) {
    for (let x = 0; x < fine.width; x++) {
      const here = ink[4 * (y * fine.width + x) + 3];
      mass += here;
      massX += here * x;
      massY += here * y;
    }
  }
  context.clearRect(0, 0, fine.width, fine.height);
  const inside = (shift) => Math.max(-side / 7, Math.min(side / 7, shift));
  const shift = [fine.width, fine.height].map((n, axis) => inside((n / 2 - 0.5 - [massX, massY][axis] / mass) / FINE));
  trace(context, strokes, FINE * line, place(...shift));
  return averaged(context.getImageData(0, 0, fine.width, fine.height).data, sample, [height, width]);
}

/** Means over squares of FINE by FINE opaque pixels. */
function averaged(pixels, sample, [height, width]) {
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      let total = 0;
      for (let dy = 0; dy < FINE; dy++) {
        for (let dx = 0; dx < FINE; dx++) total += pixels[4 * ((y * FINE + dy) * width * FINE + x * FINE + dx) + 3];
      }
      sample[y * width + x] = Math.round(total / FINE ** 2);
    }
  }
  return sample;
}
