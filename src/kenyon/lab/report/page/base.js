// Small helpers that everything else stands on.
const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("Data").textContent);
const figures = new Map(data.figures.map((figure) => [figure.id, figure]));
const tables = new Map(data.tables.map((table) => [table.id, table]));

/** An element with attributes and children; text children are text, never markup. */
function make(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
const MINUS = "\u2212";

/** A number as the tables write it: two decimals for percentages, bytes in KB and MB, else three or four digits. */
function show(value, unit = "") {
  if (value === null || value === undefined) return "none";
  if (unit === "B") return showBytes(value);
  const size = Math.abs(value);
  let text;
  if (unit === "%") text = value.toFixed(2);
  else if (size >= 1000 || Number.isInteger(value)) text = value.toLocaleString("en", { maximumFractionDigits: 0 });
  else text = String(Number(value.toPrecision(4)));
  return text.replace("-", MINUS) + (unit ? "\u202f" + unit : "");
}

function showBytes(value, digits = 3) {
  for (const [divisor, word] of [[1e9, "GB"], [1e6, "MB"], [1e3, "KB"]]) {
    if (Math.abs(value) >= divisor * 0.9995) return `${Number((value / divisor).toPrecision(digits))} ${word}`;
  }
  return `${Number(value.toPrecision(digits))} B`;
}

/** The unit of a figure's axis: what it says, or bytes or percent where its label does. */
function unitOf(figure, axis) {
  const label = figure[`${axis}_label`];
  return figure[`${axis}_unit`] || (/\bbytes\b/i.test(label) ? "B" : /%/.test(label) ? "%" : "");
}
