// The exported C learner, compiled to WebAssembly: its memory, and its functions in the language of the page.

class Learner {
  /** `facts`: {inputs, units, room, unlabelled, tensors}: sizes, a label that means none, the arrays of a file. */
  static async open(code, facts) {
    if (typeof WebAssembly !== "object") {
      throw new Refused("This browser has no WebAssembly, which the learner inside this page is compiled to.");
    }
    let instance;
    try {
      ({ instance } = await WebAssembly.instantiate(code, {}));
    } catch (error) {
      throw new Refused(`The learner inside this page cannot be started: ${error.message}`);
    }
    return new Learner(instance.exports, facts);
  }

  constructor(code, facts) {
    const { inputs, units, room, unlabelled } = facts;
    Object.assign(this, { code, facts, inputs, units, room, unlabelled });
    this.ids = []; // labels of the C model, by place
    this.nextId = 0;
    this.model = code.kenyon_the_model();
    this.sampleAt = code.kenyon_the_sample();
    this.numbersAt = code.kenyon_the_numbers();
    this.bufferAt = code.kenyon_the_buffer();
    this.bufferSize = code.kenyon_size(4);
    code.kenyon_init(this.model);
    this.clear();
    this.blank = this.save().buffer;
  }

  view(type, address, length) {
    return new type(this.code.memory.buffer, address, length);
  }

  put(sample) {
    if (sample.length !== this.inputs) throw new Error(`a sample of ${sample.length} bytes: expected ${this.inputs}`);
    this.view(Uint8Array, this.sampleAt, this.inputs).set(sample);
  }

  /** What a function of C gave, unless it is an error. */
  check(result) {
    if (result < 0) throw new Error(`the learner gave error ${result}`);
    return result;
  }

  clear() {
    this.check(this.code.kenyon_clear(this.model));
    this.ids = [];
  }

  newId() {
    if (this.nextId === this.unlabelled) this.nextId++;
    return this.nextId++;
  }

  addClass() {
    const id = this.newId();
    this.check(this.code.kenyon_add_class(this.model, id));
    this.ids.push(id);
  }

  forgetClass(place) {
    this.check(this.code.kenyon_forget_class(this.model, this.ids[place]));
    this.ids.splice(place, 1);
  }

  /** Learn and predict before anything counts, so that no drawing waits for the compiler; milliseconds of learning. */
  rehearse(times) {
    const sample = Uint8Array.from({ length: this.inputs }, (_, k) => (37 * k) % 256);
    this.addClass();
    const start = performance.now();
    for (let k = 0; k < times; k++) this.learn(sample, 0);
    const spent = performance.now() - start;
    this.predict(sample);
    this.clear();
    this.nextId = 0;
    return spent;
  }

  learn(sample, place) {
    this.put(sample);
    this.check(this.code.kenyon_learn(this.model, this.sampleAt, this.ids[place]));
  }

  /** The place of the class with the highest score. */
  predict(sample) {
    this.put(sample);
    this.check(this.code.kenyon_predict(this.model, this.sampleAt, this.numbersAt));
    return this.ids.indexOf(this.view(Int32Array, this.numbersAt, 1)[0]);
  }

  scores(sample) {
    this.put(sample);
    const count = this.check(this.code.kenyon_scores(this.model, this.sampleAt, this.numbersAt));
    return [...this.view(Int32Array, this.numbersAt, count)];
  }

  /** Samples of the sensor: when a segment was known (null before the first), the place of the class that was
   * recognised (null for none), and the frames that were made, to be drawn. */
  feed(samples) {
    const at = this.code.kenyon_the_samples();
    this.view(Int16Array, at, samples.length).set(samples);
    const before = this.heardAt(6);
    const found = this.check(this.code.kenyon_feed(this.model, at, samples.length));
    const frames = [];
    for (let ago = this.heardAt(6) - before - 1; ago >= 0; ago--) {
      const frame = this.code.kenyon_frame_of(this.model, ago);
      if (frame) frames.push([...this.view(Uint8Array, frame, this.facts.front.drawn)]);
    }
    const segment = this.heardAt(4) || this.heardAt(5) ? this.heardAt(5) : null;
    return { segment, event: found ? this.ids.indexOf(this.heardAt(0)) : null, frames };
  }

  heardAt(what) {
    return this.code.kenyon_event_of(this.model, what);
  }

  /** The sample of the last segment. */
  heardSample() {
    return this.view(Uint8Array, this.code.kenyon_window_of(this.model), this.inputs).slice();
  }

  /** What comes next does not follow what came before. */
  gap() {
    this.code.kenyon_gap(this.model);
  }

  /** What each unit answers to a sample, in bytes. */
  activity(sample) {
    this.put(sample);
    return this.view(Uint8Array, this.code.kenyon_activity(this.model, this.sampleAt), this.units).slice();
  }

  /** What each unit counts for in the score of a class, in parts of `weightUnit`. */
  weights(place) {
    return Float64Array.from({ length: this.units }, (_, unit) => this.code.kenyon_weight(this.model, place, unit));
  }

  /** What each class keeps for each unit: its mean activity, or its weights where it keeps those. */
  kept() {
    const means = this.tensors()["means.0"], classes = this.ids.length;
    if (!means) return this.ids.map((_, j) => this.weights(j));
    const column = (j) => Float64Array.from({ length: this.units }, (_, u) => means.values[u * classes + j] / 256);
    return this.ids.map((_, j) => column(j));
  }

  /** Samples learned. */
  get time() {
    return this.code.kenyon_samples(this.model) >>> 0;
  }

  /** Bytes of the state without names: what a file holds in tensors. */
  get stateBytes() {
    return Object.values(this.tensors()).reduce((sum, { values }) => sum + values.byteLength, 0);
  }

  /** What one more class adds to them. */
  get classBytes() {
    const kept = layoutOf(this.facts).each.filter(([name]) => name in this.facts.tensors);
    const width = (name, type) => (name === "class_counts.0" ? 4 : TYPES[type][0].BYTES_PER_ELEMENT);
    return kept.reduce((sum, [name, type, count]) => sum + count * width(name, type), 0);
  }

  /** Samples learned of each class. */
  trained() {
    return this.ids.map((_, j) => this.code.kenyon_trained(this.model, j) >>> 0);
  }

  /** The state as the tensors of a model file. */
  tensors() {
    return tensorsOf(this.save().buffer, this.facts);
  }

  /** Take the state of a file, or refuse it and stay as it was. */
  setTensors(tensors, classes) {
    const ids = Array.from({ length: classes }, () => this.newId());
    const buffer = bufferOf(tensors, ids, this.blank, this.facts);
    try {
      this.load({ buffer, ids });
    } catch {
      throw new Refused("The file holds numbers that no model can have learned.");
    }
  }

  /** Everything learned, as a buffer that a device takes too. */
  save() {
    const length = this.check(this.code.kenyon_save(this.model, this.bufferAt, this.bufferSize));
    return { buffer: this.view(Uint8Array, this.bufferAt, length).slice(), ids: [...this.ids] };
  }

  load({ buffer, ids }) {
    this.view(Uint8Array, this.bufferAt, buffer.length).set(buffer);
    this.check(this.code.kenyon_load(this.model, this.bufferAt, buffer.length));
    this.ids = [...ids];
  }

  /** How far the score of a class's mean lies above the next one, on average; null where no means are kept. */
  typicalMargin() {
    if (!("means.0" in this.facts.tensors)) return null;
    const classes = this.ids.length, centres = this.kept(), weights = this.ids.map((_, j) => this.weights(j));
    const all = new Float64Array(this.units);
    for (const centre of centres) centre.forEach((value, unit) => (all[unit] += value / classes));
    let total = 0;
    centres.forEach((at, k) => {
      const scores = weights.map((own, j) => {
        const beyond = (unit) => at[unit] - (centres[j][unit] + all[unit]) / 2; // the middle between the class and all
        return own.reduce((score, weight, unit) => score + weight * beyond(unit), 0);
      });
      total += scores[k] - Math.max(...scores.filter((_, j) => j !== k));
    });
    return total / classes / this.facts.weightUnit;
  }
}
