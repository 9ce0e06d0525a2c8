// The controls of the replay, and what is said when it is over.

const OFTEN = 400; // milliseconds between two looks at everything while a stream is replayed

class Player {
  constructor(page, digits) {
    Object.assign(this, { page, model: page.model, asked: digits.heldOutLabels.length, drawn: 0 });
    const failed = (error) => page.complain(error, byId("Progress"));
    this.replay = new Replay(page.model, digits, () => this.show(), failed);
    page.emptied = () => this.begin();
    byId("NetBytes").textContent = `${whole(this.replay.network.bytes)} bytes`;
    this.listen();
    this.showSpeed();
    this.show();
  }

  /** Samples a second. */
  get pace() {
    return SPEEDS[byId("Speed").valueAsNumber];
  }

  listen() {
    const { replay, page } = this;
    byId("Speed").addEventListener("input", () => this.showSpeed());
    byId("Play").addEventListener("click", () => {
      if (replay.playing) replay.pause();
      else replay.play(() => this.pace);
    });
    byId("Step").addEventListener("click", () => {
      page.pad.clear();
      replay.step();
    });
    byId("Again").addEventListener("click", () => {
      page.change("Everything is forgotten.", () => this.model.empty(), byId("ClassSays"));
      this.begin();
    });
    byId("ToPad").addEventListener("click", () => {
      page.choose("draw");
      page.pad.clear();
      byId("Teach").scrollIntoView();
      byId("Pad").focus({ preventScroll: true });
    });
    byId("Ask").addEventListener("click", () => {
      const classes = counted(this.model.labels.length, "class", "classes");
      byId("AskSays").textContent =
        `${percent(replay.accuracy())} of ${whole(this.asked)} held-out digits, with ${classes} to choose from.`;
    });
  }

  begin() {
    this.replay.reset();
    this.show();
  }

  showSpeed() {
    const text = this.pace === Infinity ? "as fast as it can" : `${counted(this.pace, "sample", "samples")} a second`;
    byId("SpeedSays").textContent = text;
    byId("Speed").setAttribute("aria-valuetext", text);
  }

  show() {
    const { replay, page } = this, isOver = replay.isDone && !replay.playing;
    const names = { begin: "Replay Split-MNIST", pause: "Pause", go: "Go on", done: "Done" };
    const state = replay.playing ? "pause" : isOver ? "done" : replay.at ? "go" : "begin";
    byId("Play").textContent = names[state];
    byId("Play").disabled = isOver;
    byId("Step").disabled = isOver || replay.playing;
    byId("Again").disabled = replay.at === 0;
    if (isOver && byId("Eleventh").hidden) this.sayTheEnd();
    byId("Eleventh").hidden = !isOver;
    const now = performance.now();
    if (replay.playing && now - this.drawn < OFTEN) return page.count();
    this.drawn = now;
    page.replayed = replay.last;
    if (replay.last) page.inside.watch(replay.last.label);
    page.refresh();
  }

  sayTheEnd() {
    const [own, network] = this.replay.charts.map((chart) => percent(chart.points.at(-1).all));
    document.querySelector("#Eleventh p").textContent =
      `After one pass Kenyon knows ${own} of all ten digits, the network ${network}: little more than the last two. ` +
      "Now draw something that is no digit and teach it as an eleventh class. The digits stay.";
  }
}
