// Taking the model along: files to save, and files that are loaded or dropped.

const LARGEST_FILE = 1 << 26;

function offer(name, content, type = "application/octet-stream") {
  const blob = content instanceof Blob ? content : new Blob([content], { type });
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function offerModel(model) {
  const bytes = model.toFile();
  offer("kenyon.safetensors", bytes);
  byId("FileSays").textContent = `kenyon.safetensors: ${whole(bytes.length)} bytes, with everything it knows.`;
}

/** The C sources with the present state, and the names of the classes beside them. */
function offerSources(model, sources) {
  const { buffer, ids } = model.learner.save();
  const names = Object.fromEntries(ids.map((id, j) => [id, model.labels[j]]));
  const files = { ...sources, "kenyon_state.h": stateHeader(buffer), "labels.json": JSON.stringify(names, null, 1) };
  const placed = Object.entries(files).map(([name, text]) => [`kenyon/${name}`, text]);
  offer("kenyon-c.zip", zipOf(Object.fromEntries(placed)));
  byId("FileSays").textContent = "kenyon-c.zip: the learner in C99, and its state as kenyon_state.h for kenyon_load.";
}

/** The state as an array in C. */
function stateHeader(buffer) {
  const rows = [];
  for (let at = 0; at < buffer.length; at += 16) rows.push(`    ${[...buffer.subarray(at, at + 16)].join(", ")},`);
  return "/* What the page had learned: kenyon_load(&model, kenyon_state, sizeof kenyon_state) goes on from it. */\n" +
    `static const unsigned char kenyon_state[${buffer.length}] = {\n${rows.join("\n")}\n};\n`;
}

/** Call `taken(name, bytes)` with a file that was chosen or dropped, and `refused(error)` where it cannot be read. */
function listenForFiles(taken, refused) {
  const take = async (file) => {
    if (!file) return;
    try {
      if (file.size > LARGEST_FILE) {
        throw new Refused(`${file.name} has ${whole(file.size)} bytes: no model is so large.`);
      }
      taken(file.name, new Uint8Array(await file.arrayBuffer()));
    } catch (error) {
      refused(error);
    }
  };
  byId("File").addEventListener("change", async (event) => {
    await take(event.target.files[0]);
    event.target.value = "";
  });
  let inside = 0;
  const isFile = (event) => event.dataTransfer?.types.includes("Files");
  addEventListener("dragenter", (event) => {
    if (isFile(event)) document.body.classList.toggle("dropping", ++inside > 0);
  });
  addEventListener("dragleave", (event) => {
    if (isFile(event)) document.body.classList.toggle("dropping", --inside > 0);
  });
  addEventListener("dragover", (event) => {
    if (isFile(event)) event.preventDefault();
  });
  addEventListener("drop", (event) => {
    if (!isFile(event)) return;
    event.preventDefault();
    inside = 0;
    document.body.classList.remove("dropping");
    take(event.dataTransfer.files[0]);
  });
}
