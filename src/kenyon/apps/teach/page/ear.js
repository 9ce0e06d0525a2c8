// Sensors through the model's own front end: the microphone as a spectrogram, and the motion of the device.

const PIECE = 128; // samples that are fed at once: no two sounds end in them

/** Where an entry of (frames, bands) is shown: time to the right, low tones below. */
function turnedPlace(at, [frames, bands]) {
  return (bands - 1 - (at % bands)) * frames + Math.floor(at / bands);
}

function turned(sample, shape) {
  const shown = new Uint8Array(sample.length);
  sample.forEach((value, at) => (shown[turnedPlace(at, shape)] = value));
  return shown;
}

/** What both sensors share: samples go to the learner, and what it makes of them is drawn and said. */
class Sensor {
  constructor(learner, shape, changed) {
    Object.assign(this, { learner, shape, changed, heard: null, columns: [], drawn: 0 });
    this.sample = new Uint8Array(shape[0] * shape[1]);
  }

  /** Whether there is something to learn. */
  get isEmpty() {
    return this.heard === null;
  }

  /** Int16 samples as they come. */
  take(samples) {
    const found = [];
    for (let at = 0; at < samples.length; at += PIECE) {
      const { segment, event, frames } = this.learner.feed(samples.subarray(at, at + PIECE));
      this.columns.push(...frames);
      if (segment !== null && segment !== this.heard) {
        this.heard = segment;
        this.sample = this.learner.heardSample();
        found.push(event);
      } else if (event !== null) {
        found.push(event);
      }
    }
    this.columns = this.columns.slice(-WIDE);
    this.changed(found);
  }

  /** The sample as it is shown, and its shape: time to the right, low tones below. */
  picture() {
    return [turned(this.sample, this.shape), [this.shape[1], this.shape[0]]];
  }

  /** The latest frames, the newest on the right, low tones below. */
  paint(canvas) {
    const bands = this.columns[0]?.length ?? 1, small = document.createElement("canvas");
    const frames = new Uint8Array(WIDE * bands), first = WIDE - this.columns.length;
    const most = Math.max(1, ...this.columns.map((column) => Math.max(...column)));
    this.columns.forEach((column, t) => frames.set(column.map((value) => this.shade(value, most)), (first + t) * bands));
    paintSample(small, turned(frames, [WIDE, bands]), [bands, WIDE]);
    const context = canvas.getContext("2d");
    context.imageSmoothingEnabled = false;
    context.drawImage(small, 0, 0, canvas.width, canvas.height);
  }
}

const WIDE = 120; // frames that are shown

class Ear extends Sensor {
  constructor(learner, front, shape, changed) {
    super(learner, shape, changed);
    this.front = front;
  }

  async start() {
    if (!navigator.mediaDevices?.getUserMedia) {
      const way = "kenyon teach --sense sound --serve";
      throw new Refused(`The browser gives the microphone to pages of a local server or over HTTPS: ${way}.`);
    }
    const plain = { echoCancellation: false, noiseSuppression: false, autoGainControl: false, channelCount: 1 };
    try {
      this.stream = await navigator.mediaDevices.getUserMedia({ audio: plain });
    } catch (error) {
      const reasons = { NotAllowedError: "was not allowed", NotFoundError: "was not found" };
      throw new Refused(`The microphone ${reasons[error.name] ?? "cannot be used"}.`);
    }
    this.context = new AudioContext({ sampleRate: this.front.rate });
    if (this.context.sampleRate !== this.front.rate) {
      const { sampleRate } = this.context;
      this.stop();
      throw new Refused(`The browser hears at ${sampleRate} Hz: expected ${this.front.rate}, which the model is for.`);
    }
    this.learner.gap();
    const source = this.context.createMediaStreamSource(this.stream);
    this.node = this.context.createScriptProcessor(512, 1, 1);
    this.node.onaudioprocess = ({ inputBuffer }) => {
      const limit = (value) => Math.max(-32768, Math.min(32767, Math.round(32768 * value)));
      this.take(Int16Array.from(inputBuffer.getChannelData(0), limit));
    };
    source.connect(this.node).connect(this.context.destination);
  }

  stop() {
    for (const track of this.stream?.getTracks() ?? []) track.stop();
    if (this.node) this.node.onaudioprocess = null;
    this.context?.close();
    this.stream = this.context = this.node = null;
  }

  /** A level of a band: 60 dB below the loudest is nothing. */
  shade(value, most) {
    return Math.max(0, Math.round(255 * (1 - (most - value) / 160)));
  }
}

class Hand extends Sensor {
  constructor(learner, front, shape, changed) {
    super(learner, shape, changed);
    this.front = front;
    this.moved = (event) => this.read(event);
  }

  async start() {
    if (typeof DeviceMotionEvent === "undefined") {
      throw new Refused("This browser tells nothing of motion; a phone does, where a page comes over HTTPS.");
    }
    if (DeviceMotionEvent.requestPermission && (await DeviceMotionEvent.requestPermission()) !== "granted") {
      throw new Refused("The motion of this device was not allowed.");
    }
    this.learner.gap();
    addEventListener("devicemotion", this.moved);
  }

  stop() {
    removeEventListener("devicemotion", this.moved);
  }

  /** 8192 units for 1 g, and for 1 radian a second. */
  read(event) {
    const { x, y, z } = event.accelerationIncludingGravity ?? {};
    if (x === null || x === undefined) return;
    const { alpha, beta, gamma } = event.rotationRate ?? {};
    const turns = [beta ?? 0, gamma ?? 0, alpha ?? 0].map((degrees) => (degrees * Math.PI) / 180);
    const all = [x / GRAVITY, y / GRAVITY, z / GRAVITY, ...turns].slice(0, this.front.inputs);
    this.take(Int16Array.from(all, (value) => Math.max(-32768, Math.min(32767, Math.round(8192 * value)))));
  }

  shade(value) {
    return value;
  }
}
