// Horizontal bars from one origin with their names and numbers, the first on top. Names that are too long for a narrow
// page stand above their bars.
function drawBars(host, figure) {
  const { names, values, errors, unit, x_label: label, runs } = figure;
  const surface = svg("svg", { class: "surface heat", role: "img", "aria-label": `${figure.title}: ${names.length} bars` });
  const stage = make("div", { class: "stage" }, surface);
  host.append(stage);
  if (runs.length) {
    host.append(make("button", { type: "button", class: "to-runs", onclick: () => openRuns(figure.title, runs) },
      runs.length === 1 ? "its run" : `its ${runs.length} runs`));
  }
  const draw = () => {
    const width = Math.round(stage.clientWidth);
    if (!width) return;
    const wanted = 10 + 6.6 * Math.max(...names.map((name) => name.length), 1);
    const above = wanted > width * 0.4;
    const [tall, down] = above ? [38, 16] : [22, 0];
    const left = above ? 2 : wanted;
    const low = Math.min(0, ...values);
    const high = Math.max(0, ...values);
    const place = (value) => left + ((value - low) / (high - low || 1)) * Math.max(width - left - 110, 20);
    const parts = [svg("text", { x: left, y: 11 }, label)];
    values.forEach((value, i) => {
      const y = 18 + tall * i;
      const [from, to] = [place(Math.min(0, value)), place(Math.max(0, value))];
      const said = show(value, unit) + (errors[i] ? ` \u00b1 ${show(errors[i], unit)}` : "");
      const name = above ? { x: left, y: y + 13 } : { x: left - 7, y: y + 14, "text-anchor": "end" };
      parts.push(svg("text", name, names[i]));
      parts.push(svg("rect", { class: "column c0", x: from, y: y + 3 + down, width: Math.max(to - from, 1), height: 16, rx: 1.5 }));
      parts.push(svg("text", { class: "label", x: to + 6, y: y + 14 + down }, said));
    });
    const height = 22 + tall * names.length;
    surface.setAttribute("viewBox", `0 0 ${width} ${height}`);
    surface.setAttribute("height", height);
    surface.replaceChildren(...parts);
  };
  new ResizeObserver(draw).observe(stage);
  draw();
}
