// Other inputs than the pen: the camera as a thumbnail, and the accelerometer as three traces.

const TRACE = 1.5; // seconds of motion in a sample
const GRAVITY = 9.81;

class Camera {
  isEmpty = false;

  constructor(shape, changed) {
    Object.assign(this, { shape, changed, video: null, stream: null });
    this.sample = new Uint8Array(shape[0] * shape[1]);
  }

  /** Ask for the camera; refuses in a sentence where there is none or it may not be used. */
  async start() {
    if (!navigator.mediaDevices?.getUserMedia) {
      throw new Refused("The browser gives the camera to pages of a local server or over HTTPS: kenyon teach --serve.");
    }
    try {
      const video = { width: 320, height: 320, facingMode: "environment" };
      this.stream = await navigator.mediaDevices.getUserMedia({ video });
    } catch (error) {
      const reasons = { NotAllowedError: "was not allowed", NotFoundError: "was not found" };
      const isFile = location.protocol === "file:";
      const more = isFile ? " Some browsers give it to local servers only: kenyon teach --serve." : "";
      throw new Refused(`The camera ${reasons[error.name] ?? "cannot be used"}.${more}`);
    }
    this.video = element("video", { playsinline: true, muted: true });
    this.video.muted = true;
    this.video.srcObject = this.stream;
    await this.video.play();
    const frame = () => {
      if (!this.stream) return;
      this.look();
      this.changed();
      setTimeout(frame, 80);
    };
    frame();
  }

  stop() {
    for (const track of this.stream?.getTracks() ?? []) track.stop();
    this.stream = this.video = null;
  }

  /** The middle square in grey, stretched to the full range so that light and shade of the room matter less. */
  look() {
    const [height, width] = this.shape, { videoWidth: w, videoHeight: h } = this.video;
    if (!w) return;
    const side = Math.min(w, h), canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [width, height];
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.imageSmoothingQuality = "high";
    context.drawImage(this.video, (w - side) / 2, (h - side) / 2, side, side, 0, 0, width, height);
    const pixels = context.getImageData(0, 0, width, height).data;
    const light = (k) => 0.3 * pixels[k] + 0.59 * pixels[k + 1] + 0.11 * pixels[k + 2];
    const grey = Array.from(this.sample, (_, k) => light(4 * k));
    const low = Math.min(...grey), range = Math.max(32, Math.max(...grey) - low);
    this.sample = Uint8Array.from(grey, (value) => (255 * (value - low)) / range);
  }

  paint(canvas) {
    const context = canvas.getContext("2d"), side = canvas.width;
    if (!this.video?.videoWidth) return;
    const { videoWidth: w, videoHeight: h } = this.video, part = Math.min(w, h);
    context.drawImage(this.video, (w - part) / 2, (h - part) / 2, part, part, 0, 0, side, side);
  }
}

class Motion {
  isEmpty = false;

  constructor(shape, changed) {
    Object.assign(this, { shape, changed });
    this.sample = new Uint8Array(shape[0] * shape[1]);
    this.readings = []; // [seconds, x, y, z]
    this.heard = (event) => this.read(event);
  }

  async start() {
    if (typeof DeviceMotionEvent === "undefined") {
      throw new Refused("This browser tells nothing of motion; a phone does, where a page comes over HTTPS.");
    }
    if (DeviceMotionEvent.requestPermission && (await DeviceMotionEvent.requestPermission()) !== "granted") {
      throw new Refused("The motion of this device was not allowed.");
    }
    this.readings = [];
    addEventListener("devicemotion", this.heard);
  }

  stop() {
    removeEventListener("devicemotion", this.heard);
  }

  read(event) {
    const { x, y, z } = event.accelerationIncludingGravity ?? {};
    if (x === null || x === undefined) return;
    const now = performance.now() / 1000;
    this.readings.push([now, x, y, z]);
    this.readings = this.readings.filter(([then]) => now - then < TRACE);
    this.sample = this.traces(this.shape, 2);
    this.changed();
  }

  /** Three traces below each other, time to the right, as bytes of an image. */
  traces([height, width], thickness) {
    const sample = new Uint8Array(height * width), band = height / 3, end = this.readings.at(-1)?.[0] ?? 0;
    for (const [then, ...axes] of this.readings) {
      const column = Math.min(width - 1, Math.floor((1 - (end - then) / TRACE) * width));
      axes.forEach((value, axis) => {
        const share = Math.max(-1, Math.min(1, value / (2 * GRAVITY)));
        const row = Math.floor(band * (axis + 0.5) - share * (band / 2 - 1));
        for (let dy = 0; dy < thickness; dy++) if (row + dy < height) sample[(row + dy) * width + column] = 255;
      });
    }
    return sample;
  }

  paint(canvas) {
    const small = document.createElement("canvas"), context = canvas.getContext("2d");
    paintSample(small, this.sample, this.shape);
    context.imageSmoothingEnabled = false;
    context.drawImage(small, 0, 0, canvas.width, canvas.height);
  }
}
