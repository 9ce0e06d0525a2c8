// Small things that every part of the page uses.

const byId = (id) => document.getElementById(id);
const whole = (number) => Math.round(number).toLocaleString("en-US");
const percent = (share) => `${(100 * share).toFixed(share > 0.9995 ? 0 : 1)} %`;

function counted(number, one, many) {
  return `${whole(number)} ${number === 1 ? one : many}`;
}

function listed(words) {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

function fromBase64(text) {
  return Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
}

/** Bytes of zlib's format, unpacked. */
async function inflate(packed) {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

/** The colour that a name of the style sheet stands for now, as [red, green, blue]. */
function colourOf(name) {
  const probe = element("span", { style: `color: var(${name})` });
  document.body.append(probe);
  const seen = getComputedStyle(probe).color;
  probe.remove();
  return seen.match(/[\d.]+/g).slice(0, 3).map(Number);
}

/** A colour on the way from one to another. */
function mixed(from, to, share) {
  return from.map((part, k) => part + share * (to[k] - part));
}

/** An image of bytes on a canvas of as many pixels, dark ink on the page's ground. */
function paintSample(canvas, sample, [height, width]) {
  if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  const [ground, ink] = [colourOf("--sunk"), colourOf("--ink")];
  for (let at = 0; at < sample.length; at++) {
    image.data.set([...mixed(ground, ink, sample[at] / 255), 255], 4 * at);
  }
  context.putImageData(image, 0, 0);
}

/** An error whose text is written for the person in front of the page. */
class Refused extends Error {}
