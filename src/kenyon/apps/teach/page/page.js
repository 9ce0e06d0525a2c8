// The page around the model: what is learned, asked, renamed and forgotten, and what is seen of it.

class Page {
  constructor(model, data, shape) {
    Object.assign(this, { model, data, shape, undone: null, replayed: null, emptied: () => {} });
    const changed = () => this.seen(), heard = (events) => this.heard(events);
    const { front } = data, { learner } = model;
    this.pad = front ? null : new Pad(byId("Pad"), shape, changed);
    if (!front) this.inputs = { draw: this.pad, camera: new Camera(shape, changed), motion: new Motion(shape, changed) };
    else this.inputs = { [front.kind]: new { sound: Ear, motion: Hand }[front.kind](learner, front, shape, heard) };
    this.input = Object.keys(this.inputs)[0];
    if (front) byId("Pad").setAttribute("aria-label", "What the sensor gives");
    this.bars = new Bars(byId("Bars"));
    this.inside = new Inside(model, data.units, shape, Boolean(front));
    this.listen();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.pad?.paint();
      this.refresh();
    });
  }

  get sample() {
    return this.inputs[this.input].sample;
  }

  get hasSample() {
    return !this.inputs[this.input].isEmpty;
  }

  listen() {
    byId("Naming").addEventListener("submit", (event) => {
      event.preventDefault();
      this.teach(byId("Name").value.trim());
    });
    addEventListener("keydown", (event) => this.key(event));
    byId("Clear").addEventListener("click", () => this.pad.clear());
    byId("Listen").addEventListener("click", () => this.sense());
    const choices = [...document.querySelectorAll("[data-input]")];
    for (const button of choices) {
      button.addEventListener("click", () => this.choose(button.dataset.input));
      button.addEventListener("keydown", (event) => {
        const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (!step) return;
        event.preventDefault();
        const next = choices[(choices.indexOf(button) + step + choices.length) % choices.length];
        next.focus();
        next.click();
      });
    }
    byId("Empty").addEventListener("click", () => {
      this.change("Everything is forgotten.", () => this.model.empty(), byId("ClassSays"));
      this.emptied();
    });
    byId("Undo").addEventListener("click", () => this.undo());
    byId("SaveModel").addEventListener("click", () => offerModel(this.model));
    byId("SaveC").addEventListener("click", () => offerSources(this.model, this.data.sources));
    listenForFiles((name, bytes) => {
      this.change(`${name} is loaded.`, () => this.model.fromFile(bytes), byId("FileSays"));
    }, (error) => this.complain(error, byId("FileSays")));
  }

  /** A key that is a letter or a digit teaches the drawing under that name, unless something is being typed. */
  key(event) {
    const typing = event.target.matches?.("input:not([type=range], [type=file]), select, textarea");
    if (typing || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (!/^[\p{L}\p{N}]$/u.test(event.key)) return;
    event.preventDefault();
    byId("Name").value = event.key;
    this.teach(event.key);
  }

  teach(label) {
    const said = byId("Said");
    if (!this.hasSample) {
      const how = this.data.front ? "let it hear or feel something" : "draw something";
      return void (said.textContent = `There is nothing to learn yet: ${how} first.`);
    }
    if (!label) {
      byId("Name").focus();
      return void (said.textContent = "It needs a name first.");
    }
    try {
      const guess = this.model.predict(this.sample), isNew = !this.model.labels.includes(label);
      this.model.teach(this.sample, label);
      this.inside.watch(label);
      const count = this.model.learner.trained()[this.model.labels.indexOf(label)];
      const before = isNew ? "A new class" : guess === label ? "As it thought" : `It had thought “${guess}”`;
      said.textContent = `${before}: learned as “${label}”, ${counted(count, "example", "examples")} so far.`;
      if (this.pad) this.pad.stale = true;
      this.refresh();
    } catch (error) {
      this.complain(error, said);
    }
  }

  /** Begin to listen to the sensor, or end it. */
  async sense() {
    const sensor = this.inputs[this.input], says = byId("InputSays");
    says.hidden = false;
    try {
      if (this.sensing) sensor.stop();
      else await sensor.start();
      this.sensing = !this.sensing;
      says.textContent = this.sensing ? "It is listening." : "It does not listen.";
    } catch (error) {
      this.complain(error, says);
    }
    byId("Listen").textContent = this.sensing ? "Stop" : "Listen";
  }

  /** Segments that ended just now, each with the place of the class that was recognised, or null. */
  heard(events) {
    for (const place of events) {
      const label = place === null ? null : this.model.labels[place];
      byId("Event").textContent = label === null ? "…" : label;
      const name = byId("Name").value.trim();
      if (byId("Every").checked && name) this.teach(name);
      dispatchEvent(new CustomEvent("kenyon-heard", { detail: label }));
    }
    if (events.length) this.seen();
    else this.paintSoon();
  }

  /** Draw what the sensor gives, once for each picture of the screen. */
  paintSoon() {
    if (this.painting) return;
    this.painting = requestAnimationFrame(() => {
      this.painting = 0;
      this.inputs[this.input].paint(byId("Pad"));
    });
  }

  async choose(name) {
    if (name === this.input) return;
    this.inputs[this.input].stop?.();
    const says = byId("InputSays");
    says.hidden = true;
    this.show("draw");
    if (name !== "draw") {
      try {
        await this.inputs[name].start();
        this.show(name);
        says.hidden = false;
        says.textContent = name === "camera"
          ? "The small picture is all it sees. Hold something up, press a key a few times, then something else."
          : "Three traces of the last second and a half. Move the device in one way, press a key; then in another.";
      } catch (error) {
        this.complain(error, says);
        says.hidden = false;
      }
    }
    this.seen();
  }

  show(name) {
    this.input = name;
    for (const button of document.querySelectorAll("[data-input]")) {
      const isChosen = button.dataset.input === name;
      button.setAttribute("aria-checked", isChosen);
      button.tabIndex = isChosen ? 0 : -1;
    }
    byId("PadHelp").hidden = byId("Clear").hidden = name !== "draw";
    if (name === "draw") this.pad.clear();
  }

  /** The sample is another one. */
  seen() {
    if (this.input !== "draw") this.inputs[this.input].paint(byId("Pad"));
    byId("PadHint").hidden = this.hasSample;
    const seen = byId("Seen");
    seen.hidden = !this.hasSample;
    const shown = this.inputs[this.input].picture?.() ?? [this.sample, this.shape];
    if (this.hasSample) paintSample(seen, ...shown);
    const { labels, listed: order } = this.model;
    const shares = this.hasSample && labels.length ? this.model.shares(this.sample) : labels.map(() => 0);
    this.bars.show(order.map((j) => labels[j]), order.map((j) => shares[j]));
    this.inside.show(this.hasSample ? this.sample : this.replayed?.sample ?? this.sample);
  }

  /** The model is another one. */
  refresh() {
    this.count();
    byId("Known").replaceChildren(...this.model.labels.map((label) => element("option", { value: label })));
    this.listClasses();
    this.seen();
  }

  count() {
    const { bytes, learned, microseconds } = this.model;
    byId("Bytes").textContent = whole(bytes);
    byId("Learned").textContent = whole(learned);
    byId("Microseconds").textContent = learned ? whole(microseconds) : "–";
    byId("OwnBytes").textContent = `${whole(bytes)} bytes`;
  }

  listClasses() {
    const trained = this.model.learner.trained();
    const rows = this.model.listed.map((j) => {
      const label = this.model.labels[j];
      const name = element("input", { value: label, "aria-label": `Name of ${label}`, maxlength: 40 });
      name.addEventListener("change", () => this.rename(label, name));
      const forget = element("button", { type: "button", "aria-label": `Forget ${label}` }, "forget");
      forget.addEventListener("click", () => {
        const done = `“${label}” is forgotten; the others are as they were.`;
        this.change(done, () => this.model.forget(label), byId("ClassSays"));
      });
      return element("tr", {}, element("td", {}, name), element("td", {}, whole(trained[j])), element("td", {}, forget));
    });
    document.querySelector("#Classes tbody").replaceChildren(...rows);
    byId("Empty").hidden = rows.length === 0;
    byId("Undo").hidden = this.undone === null;
  }

  rename(label, input) {
    try {
      const name = input.value.trim();
      this.model.rename(label, name);
      byId("ClassSays").textContent = `“${label}” is called “${name}” now.`;
      this.refresh();
    } catch (error) {
      input.value = label;
      this.complain(error, byId("ClassSays"));
    }
  }

  /** Do something that can be undone. */
  change(done, action, says) {
    const before = this.model.snapshot();
    try {
      action();
      this.undone = before;
      says.textContent = done;
    } catch (error) {
      this.complain(error, says);
    }
    this.refresh();
  }

  undo() {
    this.model.restore(this.undone);
    this.undone = null;
    byId("ClassSays").textContent = "It is as it was before.";
    this.refresh();
  }

  complain(error, says) {
    if (!(error instanceof Refused)) console.error(error);
    says.textContent = error instanceof Refused ? error.message : `That did not work: ${error.message}`;
  }
}
