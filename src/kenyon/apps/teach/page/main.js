// Where the page begins: the learner first, so that it can be trained at once, then the digits.

async function main() {
  const data = JSON.parse(byId("Data").textContent), shape = data.shape;
  const learner = await Learner.open(fromBase64(data.module), data.learner);
  const model = new Model(learner, data.model);
  performance.mark("kenyon-first-prediction");
  if (data.state) model.fromFile(fromBase64(data.state));
  byId("Budget").textContent = `${whole(data.model.budget ?? data.most)} bytes`;
  const kind = data.front?.kind ?? "draw";
  for (const part of document.querySelectorAll("[data-for]")) {
    part.hidden ||= !part.dataset.for.split(" ").includes(kind);
  }
  const page = new Page(model, data, shape);
  page.refresh();
  performance.mark("kenyon-ready");
  if (!data.digits) return;
  const content = await inflate(fromBase64(data.digits.packed));
  new Player(page, unpackDigits(content, data.digits));
  performance.mark("kenyon-digits");
}

/** Images and labels, as `kenyon.apps.teach` packs them. */
function unpackDigits(content, { stream, heldOut, tasks, shape }) {
  const width = shape[0] * shape[1], images = content.subarray(stream + heldOut);
  return {
    labels: content.subarray(0, stream), heldOutLabels: content.subarray(stream, stream + heldOut),
    images: images.subarray(0, stream * width), heldOutImages: images.subarray(stream * width), tasks, shape,
  };
}

main().catch((error) => {
  const says = byId("Broken");
  says.textContent = error instanceof Refused ? error.message : `The page cannot start: ${error.message}`;
  says.hidden = false;
  if (!(error instanceof Refused)) console.error(error);
});
