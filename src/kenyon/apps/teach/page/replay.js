// Split-MNIST, task after task, for the learner and for a network beside it.

const SPEEDS = [1, 10, 100, 1000, Infinity];
const ASKED_EVERY = 100; // samples between two points of the curves
const HIDDEN = 32, RATE = 0.05; // of the network
const FRAME = 12; // milliseconds of work before the page may draw

class Replay {
  /**
   * `digits`: {images, labels, heldOutImages, heldOutLabels, tasks, shape}; `changed` is called after every frame of
   * work, `failed` with an error.
   */
  constructor(model, digits, changed, failed) {
    Object.assign(this, { model, digits, changed, failed });
    this.width = digits.images.length / digits.labels.length;
    const each = digits.labels.length / digits.tasks.length;
    const task = (classes, k) => ({ classes, name: classes.join(" "), from: k * each, to: (k + 1) * each });
    this.tasks = digits.tasks.map(task);
    this.charts = [
      new Chart(byId("OwnChart"), "Kenyon", this.tasks, digits.labels.length),
      new Chart(byId("NetChart"), "Backpropagation", this.tasks, digits.labels.length),
    ];
    this.playing = false;
    this.reset();
  }

  reset() {
    this.playing = false;
    this.at = 0;
    this.network = new Network(this.width, HIDDEN, this.digits.tasks.flat().length, RATE);
    this.work = this.steps();
    for (const chart of this.charts) chart.clear();
    this.say();
  }

  get isDone() {
    return this.at === this.digits.labels.length;
  }

  sample(k) {
    return this.digits.images.subarray(k * this.width, (k + 1) * this.width);
  }

  /** The whole stream in small pieces; gives true whenever one more sample was learned. */
  *steps() {
    const { labels } = this.digits;
    while (this.at < labels.length) {
      const sample = this.sample(this.at), label = labels[this.at];
      this.model.learn(sample, String(label));
      this.network.learn(sample, label);
      this.at++;
      if (this.at % ASKED_EVERY === 0 || this.at === 20) yield* this.askAll();
      yield true;
    }
  }

  /** Ask both about the held-out digits of every task that was begun. */
  *askAll() {
    const begun = this.tasks.filter(({ from }) => from < this.at);
    const right = [begun.map(() => 0), begun.map(() => 0)], asked = begun.map(() => 0);
    const { heldOutImages, heldOutLabels } = this.digits;
    for (let k = 0; k < heldOutLabels.length; k++) {
      const label = heldOutLabels[k], task = begun.findIndex(({ classes }) => classes.includes(label));
      if (task < 0) continue;
      const sample = heldOutImages.subarray(k * this.width, (k + 1) * this.width);
      right[0][task] += this.model.predict(sample) === String(label);
      right[1][task] += this.network.predict(sample) === label;
      asked[task]++;
      if (k % 8 === 7) yield false;
    }
    const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
    this.charts.forEach((chart, which) => {
      const tasks = this.tasks.map((_, k) => (k < begun.length ? right[which][k] / asked[k] : null));
      chart.add({ at: this.at, all: sum(right[which]) / sum(asked), tasks });
    });
  }

  /** One piece of work; where it fails, the stream can be gone on with from here. */
  advance() {
    try {
      return this.work.next();
    } catch (error) {
      this.playing = false;
      this.work = this.steps();
      throw error;
    }
  }

  /** Work until one more sample was learned and both were asked, where it is time for that. */
  step() {
    const before = this.model.moment();
    try {
      let step = this.advance();
      while (!step.done && !step.value) step = this.advance();
      this.model.before = before;
      this.say();
    } catch (error) {
      this.failed(error);
    }
    this.changed();
  }

  /** The sample that was learned last, with its label; null before the first. */
  get last() {
    return this.at ? { sample: this.sample(this.at - 1), label: String(this.digits.labels[this.at - 1]) } : null;
  }

  play(speed) {
    this.playing = true;
    this.model.before = null;
    let begun = performance.now(), learned = 0, pace = speed();
    const frame = (now) => {
      if (!this.playing) return;
      if (speed() !== pace) [begun, learned, pace] = [now, 0, speed()];
      const owed = Math.max(1, ((now - begun) * pace) / 1000), end = performance.now() + FRAME;
      let finished = false;
      try {
        while (!finished && learned < owed && performance.now() < end) {
          const { value, done } = this.advance();
          finished = done;
          learned += value === true;
        }
        this.say();
      } catch (error) {
        this.failed(error);
      }
      if (finished) this.playing = false;
      this.changed();
      if (this.playing) requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  pause() {
    this.playing = false;
    this.changed();
  }

  /** Accuracy of the learner on all held-out digits now. */
  accuracy() {
    const { heldOutImages, heldOutLabels } = this.digits;
    let right = 0;
    for (let k = 0; k < heldOutLabels.length; k++) {
      const sample = heldOutImages.subarray(k * this.width, (k + 1) * this.width);
      right += this.model.predict(sample) === String(heldOutLabels[k]);
    }
    return right / heldOutLabels.length;
  }

  say() {
    const { labels } = this.digits, task = this.tasks.findIndex(({ from, to }) => from < this.at && this.at <= to);
    const now = byId("Now");
    now.hidden = this.at === 0;
    if (this.at === 0) {
      byId("Progress").textContent = `${whole(labels.length)} digits wait; each is shown once.`;
      return;
    }
    paintSample(now, this.sample(this.at - 1), this.digits.shape);
    const where = `Task ${task + 1} of ${this.tasks.length}: ${listed(this.tasks[task].classes.map(String))}`;
    byId("Progress").textContent = `${where} · ${whole(this.at)} of ${whole(labels.length)} samples`;
  }
}
