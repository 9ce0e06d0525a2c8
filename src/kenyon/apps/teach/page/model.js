// A learner with names for its classes: what the person teaches, asks, renames, forgets, saves and loads.

const REHEARSED = 64; // samples learned at the beginning to see how long it takes
const SURE = 4; // the odds shown for a sample that is exactly the mean of its class: e to this power

class Model {
  /** `facts`: what Python says of the model: its description for files, its tensors, its budget. */
  constructor(learner, facts) {
    Object.assign(this, { learner, facts });
    this.labels = []; // by neuron
    this.numbers = false; // whether labels are numbers in a file
    this.spent = { milliseconds: learner.rehearse(REHEARSED), samples: REHEARSED };
    this.before = null; // the weights before the last sample that was learned one by one
    this.judged = null; // what shares are worked out with, until something is learned
  }

  get bytes() {
    return this.learner.stateBytes + new TextEncoder().encode(this.description()).length;
  }

  /** The neurons in the order in which their labels are listed. */
  get listed() {
    const order = (a, b) => this.labels[a].localeCompare(this.labels[b], "en", { numeric: true });
    return [...this.labels.keys()].sort(order);
  }

  get learned() {
    return this.learner.time;
  }

  /** Microseconds to learn one sample, over the last few hundred. */
  get microseconds() {
    return (1000 * this.spent.milliseconds) / this.spent.samples;
  }

  /** The neuron of a label, a new one where the label is new. */
  neuronOf(label) {
    const known = this.labels.indexOf(label);
    if (known >= 0) return known;
    const room = this.learner.room;
    if (this.labels.length === room) {
      throw new Refused(`All ${room} places for classes are taken: forget one to make room for “${label}”.`);
    }
    const needed = this.bytes + this.learner.classBytes + JSON.stringify(label).length + 4;
    if (this.facts.budget && needed > this.facts.budget) {
      const most = whole(this.facts.budget);
      throw new Refused(`Another class would pass the budget of ${most} bytes: forget one to make room for “${label}”.`);
    }
    if (this.numbers && !isWhole(label)) this.numbers = false;
    this.learner.addClass();
    this.labels.push(label);
    return this.labels.length - 1;
  }

  learn(sample, label) {
    const neuron = this.neuronOf(label), start = performance.now();
    this.learner.learn(sample, neuron);
    this.spent.milliseconds += performance.now() - start;
    if (++this.spent.samples > 512) { // the past counts half
      this.spent = { milliseconds: this.spent.milliseconds / 2, samples: this.spent.samples / 2 };
    }
    this.judged = null;
  }

  /** As `learn`, and keeps the weights as they were before. */
  teach(sample, label) {
    this.before = this.moment();
    this.learn(sample, label);
  }

  /** What every class keeps now, to be looked at. */
  moment() {
    return { labels: [...this.labels], weights: this.learner.kept() };
  }

  predict(sample) {
    return this.labels.length ? this.labels[this.learner.predict(sample)] : null;
  }

  /** How much speaks for each class; 1 in all. */
  shares(sample) {
    const scores = this.learner.scores(sample);
    if (scores.length < 2) return scores.map(() => 1);
    this.judged ??= this.learner.typicalMargin();
    const most = Math.max(...scores), typical = this.judged ?? (most - Math.min(...scores)) / 2;
    const unit = SURE / Math.max(typical, 1e-9);
    const odds = scores.map((score) => Math.exp(unit * (score - most)));
    const total = odds.reduce((sum, one) => sum + one, 0);
    return odds.map((one) => one / total);
  }

  forget(label) {
    const neuron = this.labels.indexOf(label);
    this.learner.forgetClass(neuron);
    this.labels.splice(neuron, 1);
    this.before = this.judged = null;
  }

  rename(label, name) {
    if (!name) throw new Refused("A class needs a name.");
    if (name === label) return;
    if (this.labels.includes(name)) throw new Refused(`There is a class “${name}” already.`);
    this.labels[this.labels.indexOf(label)] = name;
    if (!isWhole(name)) this.numbers = false;
  }

  empty() {
    this.learner.clear();
    this.labels = [];
    this.numbers = false;
    this.before = this.judged = null;
  }

  /** All that `restore` needs to come back to this moment. */
  snapshot() {
    return { state: this.learner.save(), labels: [...this.labels], numbers: this.numbers };
  }

  restore({ state, labels, numbers }) {
    this.learner.load(state);
    Object.assign(this, { labels: [...labels], numbers, before: null, judged: null });
  }

  /** The JSON of a model file. */
  description() {
    const labels = this.numbers ? this.labels.map(Number) : this.labels;
    const heads = labels.length ? [{ task: null, labels, neurons: labels.map((_, j) => j) }] : [];
    return JSON.stringify({ ...this.facts.description, heads, ...this.facts.after });
  }

  toFile() {
    return writeModelFile(this.description(), this.learner.tensors());
  }

  /** Take the state of a file, all of it or nothing. */
  fromFile(bytes) {
    const { model, tensors } = readModelFile(bytes);
    const wanted = { ...this.facts.description, ...this.facts.after };
    for (const key of Object.keys(wanted)) {
      if (JSON.stringify(sorted(model[key])) === JSON.stringify(sorted(wanted[key]))) continue;
      throw new Refused(
        "The file holds another kind of model than this page was made for. " +
          "Make a page for it: kenyon teach FILE",
      );
    }
    const heads = Array.isArray(model.heads) ? model.heads : [];
    if (heads.length > 1) throw new Refused("The model has several tasks, and this page has one.");
    const { labels = [], neurons = [] } = heads[0] ?? {};
    if (labels.length > this.learner.room) {
      throw new Refused(`The model has ${labels.length} classes, and this page has room for ${this.learner.room}.`);
    }
    const inOrder = labels.map((_, j) => String(labels[neurons.indexOf(j)]));
    this.learner.setTensors(tensors, labels.length);
    const numbers = labels.length > 0 && labels.every((label) => Number.isSafeInteger(label));
    Object.assign(this, { labels: inOrder, numbers, before: null, judged: null });
  }
}

const isWhole = (text) => /^-?\d{1,15}$/.test(text) && String(Number(text)) === text;

/** A value of JSON with the keys of its objects in order. */
function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.keys(value).sort(ascending).map((key) => [key, sorted(value[key])]));
}
