// Bring the page to life.
const root = document.documentElement;

function startTheme() {
  const button = byId("Theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const stored = () => { try { return localStorage.getItem("kenyon-theme"); } catch { return null; } };
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const name = () => { button.textContent = isDark() ? "Light" : "Dark"; button.setAttribute("aria-label", `${button.textContent} theme`); };
  if (["dark", "light"].includes(stored())) root.dataset.theme = stored();
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("kenyon-theme", root.dataset.theme); } catch { /* a page from a file may have no storage */ }
    name();
  });
  system.addEventListener("change", name);
  name();
  button.hidden = false;
}

function startFigures() {
  for (const host of document.querySelectorAll("[data-figure]")) {
    const figure = figures.get(host.dataset.figure);
    if (figure.type === "heatmap") new HeatMap(host, figure, rangeOf(figure));
    else if (figure.type === "bars") drawBars(host, figure);
    else new { lines: LineChart, scatter: ScatterChart }[figure.type](host, figure);
    if (!["heatmap", "bars"].includes(figure.type) && figure.runs?.length) addRunsButton(host, figure);
  }
  for (const list of document.querySelectorAll("[role=tablist]")) makeTabs(list);
}

function addRunsButton(host, figure) {
  const open = () => openRuns(figure.title, figure.runs);
  host.querySelector(".tools").prepend(make("button", { type: "button", onclick: open }, figure.runs.length === 1 ? "Its run" : `Its ${figure.runs.length} runs`));
}

function startFilter() {
  const field = byId("Filter");
  if (!field) return;
  const runs = [...document.querySelectorAll("details.run")];
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let n = 0;
    for (const run of runs) {
      run.hidden = !words.every((word) => run.id.toLowerCase().includes(word));
      n += !run.hidden;
    }
    field.nextElementSibling.textContent = words.length ? `${n} of ${runs.length}` : "";
  });
}

/** A link to a folded run or table unfolds it. */
function openTarget() {
  const target = byId(decodeURIComponent(location.hash.slice(1)));
  const folded = target?.matches("details") ? target : target?.querySelector(":scope > details");
  if (!folded || folded.open) return;
  folded.open = true;
  target.scrollIntoView();
}

/** The entry of the contents whose part is on the screen. */
function startContents() {
  const links = new Map([...document.querySelectorAll("nav a")].map((link) => [byId(link.hash.slice(1)), link]));
  const watch = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) links.get(target)?.toggleAttribute("data-here", isIntersecting);
  }, { rootMargin: "-10% 0px -70% 0px" });
  for (const part of links.keys()) if (part) watch.observe(part);
  if (matchMedia("(max-width: 68rem)").matches) document.querySelector("nav details").open = false;
}

startTheme();
makeCopyable(document);
startFigures();
startFilter();
startContents();
openTarget();
window.addEventListener("hashchange", openTarget);
byId("Main").previousElementSibling.addEventListener("click", () => setTimeout(openTarget)); // the same link again
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("[data-cell]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  openCell(link.dataset.cell, link.closest("td"));
});
