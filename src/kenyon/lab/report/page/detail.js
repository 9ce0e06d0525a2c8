// What is behind a number: its runs, their configurations, and the command that repeats it.
const detail = byId("Detail");

function openDetail(over, title, ...parts) {
  const close = make("button", { type: "button", class: "close", "aria-label": "Close", onclick: () => detail.close() }, "×");
  detail.replaceChildren(make("header", {}, make("div", {}, make("p", { class: "over" }, over), make("h2", { id: "Detail.h" }, title)), close), ...parts.flat().filter(Boolean));
  detail.showModal();
  detail.scrollTop = 0;
}

function openRuns(title, names) {
  openDetail(names.length === 1 ? "One run" : `${names.length} runs`, title, runList(names, ""));
}

function openCell(place, cell) {
  const [id, i, j] = place.split("/");
  const table = tables.get(id);
  const row = table.rows[Number(i)];
  const content = row.cells[Number(j)];
  const shown = cell.cloneNode(true);
  const over = byId(`${id}.h`).textContent + (row.group ? ` \u00b7 ${row.group}` : "");
  const title = `${row.label}, ${table.columns[Number(j)]}`;
  if (content.kind === "missing") {
    openDetail(over, title, make("p", {}, `Not run here: ${content.reason}.`.replace(/\.\.$/, ".")), againstPaper(shown),
      content.command ? [make("p", { class: "label" }, "This would run it"), copyable(content.command)] : null);
    return;
  }
  const number = make("p", { class: "figure" }, ...shown.querySelector(".num").childNodes);
  const repeats = content.n > 1 ? `mean of ${content.n} seeds${content.std === null ? "" : ", with the standard deviation"}` : "one seed";
  openDetail(over, title, number, make("p", { class: "note" }, repeats), againstPaper(shown),
    content.stand_in ? make("p", {}, `Stand-in: ${content.stand_in}`) : null,
    content.command ? [make("p", { class: "label" }, "This repeats it"), copyable(content.command)] : null,
    runList(content.runs ?? []));
}

function againstPaper(shown) {
  const line = shown.querySelector(".against");
  return line ? make("p", { class: shown.className }, make("span", { class: "against" }, ...line.childNodes)) : null;
}

/** The runs as the page lists them, opened where there is one only. */
function runList(names, heading = names.length === 1 ? "The run behind it" : `The ${names.length} runs behind it`) {
  const found = names.map((name) => byId(`Run-${name}`)).filter(Boolean).map((run) => run.cloneNode(true));
  for (const run of found) {
    run.removeAttribute("id");
    run.hidden = false;
    run.open = found.length === 1;
    makeCopyable(run);
  }
  return found.length ? [make("p", { class: "label" }, heading), ...found] : [];
}

/** A command in pieces of an option and its value, which are not broken where there is another place. */
function pieces(text) {
  return text.split(/ (?=--)/).flatMap((piece, i) => [i ? " " : "", make("span", {}, piece)]);
}

function copyable(text) {
  const block = make("div", { class: "copyable" }, make("pre", { tabindex: 0 }, make("code", {}, ...pieces(text))), make("button", { type: "button", class: "copy" }, "Copy"));
  makeCopyable(block);
  return block;
}

function makeCopyable(root) {
  const blocks = root.matches?.(".copyable") ? [root] : root.querySelectorAll(".copyable");
  for (const block of blocks) {
    const button = block.querySelector(".copy");
    button.addEventListener("click", async () => {
      button.textContent = (await copyText(block.querySelector("code"))) ? "Copied" : "Press Ctrl+C";
      setTimeout(() => { button.textContent = "Copy"; }, 1600);
    });
  }
}

/** To the clipboard; where a page from a file may not write there, select the text for the reader to copy. */
async function copyText(element) {
  try {
    await navigator.clipboard.writeText(element.textContent);
    return true;
  } catch {
    getSelection().selectAllChildren(element);
    try { return document.execCommand("copy"); } catch { return false; }
  }
}

detail.addEventListener("click", (event) => { if (event.target === detail) detail.close(); });
