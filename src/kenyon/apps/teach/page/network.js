// The other learner: a network with one hidden layer, trained by backpropagation, one sample at a time.

class Network {
  constructor(inputs, hidden, outputs, rate) {
    Object.assign(this, { inputs, hidden, outputs, rate });
    this.first = new Float32Array(inputs * hidden);
    this.firstBias = new Float32Array(hidden);
    this.second = new Float32Array(hidden * outputs);
    this.secondBias = new Float32Array(outputs);
    const chance = Network.chance(1);
    for (const [weights, fan] of [[this.first, inputs], [this.second, hidden]]) {
      const most = Math.sqrt(6 / fan); // uniform, of a variance of 2 / fan
      for (let i = 0; i < weights.length; i++) weights[i] = most * (2 * chance() - 1);
    }
    this.active = new Float32Array(hidden);
    this.out = new Float32Array(outputs);
    this.back = new Float32Array(hidden);
  }

  /** Numbers from 0 to 1, the same for the same seed (xorshift). */
  static chance(seed) {
    let x = seed * 0x9e3779b9;
    return () => {
      x ^= x << 13;
      x ^= x >>> 17;
      x ^= x << 5;
      return (x >>> 0) / 2 ** 32;
    };
  }

  get bytes() {
    return 4 * (this.first.length + this.firstBias.length + this.second.length + this.secondBias.length);
  }

  /** Outputs before the softmax. */
  forward(sample) {
    const { inputs, hidden, outputs, active, out } = this;
    active.set(this.firstBias);
    for (let i = 0; i < inputs; i++) {
      if (!sample[i]) continue;
      const x = sample[i] / 255, row = i * hidden;
      for (let h = 0; h < hidden; h++) active[h] += x * this.first[row + h];
    }
    for (let h = 0; h < hidden; h++) active[h] = Math.max(0, active[h]);
    out.set(this.secondBias);
    for (let h = 0; h < hidden; h++) {
      if (!active[h]) continue;
      for (let o = 0; o < outputs; o++) out[o] += active[h] * this.second[h * outputs + o];
    }
    return out;
  }

  predict(sample) {
    const out = this.forward(sample);
    return out.indexOf(Math.max(...out));
  }

  /** One step down the gradient of the cross-entropy. */
  learn(sample, label) {
    const { inputs, hidden, outputs, active, back, rate } = this;
    const out = this.forward(sample), most = Math.max(...out);
    let total = 0;
    for (let o = 0; o < outputs; o++) total += out[o] = Math.exp(out[o] - most);
    for (let o = 0; o < outputs; o++) out[o] = out[o] / total - (o === label ? 1 : 0);
    back.fill(0);
    for (let h = 0; h < hidden; h++) {
      if (!active[h]) continue;
      for (let o = 0; o < outputs; o++) {
        back[h] += out[o] * this.second[h * outputs + o];
        this.second[h * outputs + o] -= rate * out[o] * active[h];
      }
    }
    for (let o = 0; o < outputs; o++) this.secondBias[o] -= rate * out[o];
    for (let h = 0; h < hidden; h++) this.firstBias[h] -= rate * back[h];
    for (let i = 0; i < inputs; i++) {
      if (!sample[i]) continue;
      const step = (rate * sample[i]) / 255, row = i * hidden;
      for (let h = 0; h < hidden; h++) this.first[row + h] -= step * back[h];
    }
  }
}
