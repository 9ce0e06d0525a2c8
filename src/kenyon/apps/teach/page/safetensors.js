// Model files as Python writes and reads them: safetensors, with the model's JSON and a SHA-256 in the metadata.

const FORMAT_VERSION = "1";
const TYPES = {
  U8: [Uint8Array, "|u1"], I8: [Int8Array, "|i1"], U16: [Uint16Array, "<u2"], I16: [Int16Array, "<i2"],
  U32: [Uint32Array, "<u4"], I32: [Int32Array, "<i4"], I64: [BigInt64Array, "<i8"], U64: [BigUint64Array, "<u8"],
};
const LARGEST_HEADER = 1 << 20;

const bytesOf = (array) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
const ascending = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

/** The checksum that Python takes: over the JSON, then every tensor with its name, type and shape. */
function modelDigest(model, tensors) {
  const encoder = new TextEncoder(), pieces = [encoder.encode(model)];
  for (const name of Object.keys(tensors).sort(ascending)) {
    const { type, shape, values } = tensors[name];
    const shown = shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(", ")})`;
    pieces.push(encoder.encode(`|${name}|${TYPES[type][1]}|${shown}|`), bytesOf(values));
  }
  return sha256(...pieces);
}

/** The bytes of a file. Tensors: {name: {type, shape, values}}. */
function writeModelFile(model, tensors) {
  const encoder = new TextEncoder();
  const header = {
    __metadata__: {
      "kenyon.format": FORMAT_VERSION, "kenyon.model": model, "kenyon.sha256": modelDigest(model, tensors),
    },
  };
  // wide elements first, as the format wants them aligned
  const width = (name) => tensors[name].values.BYTES_PER_ELEMENT;
  const names = Object.keys(tensors).sort((a, b) => width(b) - width(a) || ascending(a, b));
  let end = 0;
  for (const name of names) {
    const { type, shape, values } = tensors[name];
    header[name] = { dtype: type, shape, data_offsets: [end, end + values.byteLength] };
    end += values.byteLength;
  }
  let text = encoder.encode(JSON.stringify(header));
  text = encoder.encode(JSON.stringify(header) + " ".repeat((8 - (text.length % 8)) % 8));
  const file = new Uint8Array(8 + text.length + end);
  new DataView(file.buffer).setBigUint64(0, BigInt(text.length), true);
  file.set(text, 8);
  for (const name of names) file.set(bytesOf(tensors[name].values), 8 + text.length + header[name].data_offsets[0]);
  return file;
}

/** The model's JSON, parsed, and its tensors; refuses in a sentence whatever is not a whole model file. */
function readModelFile(file) {
  const damaged = (what) => new Refused(`The file is damaged or is no safetensors file: ${what}.`);
  if (file.length < 8) throw damaged(`it has ${counted(file.length, "byte", "bytes")}`);
  const length = new DataView(file.buffer, file.byteOffset).getBigUint64(0, true);
  if (length > LARGEST_HEADER || 8 + Number(length) > file.length) throw damaged("its header is longer than the file");
  const start = 8 + Number(length);
  let header, model;
  try {
    header = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(file.subarray(8, start)));
  } catch {
    throw damaged("its header cannot be read");
  }
  const metadata = header?.__metadata__ ?? {};
  const version = metadata["kenyon.format"];
  if (typeof version !== "string") throw new Refused("This is a safetensors file, but not one that Kenyon wrote.");
  if (version !== FORMAT_VERSION) {
    throw new Refused(`The file has format version ${version} and this page reads version ${FORMAT_VERSION}.`);
  }
  const tensors = {};
  for (const [name, entry] of Object.entries(header)) {
    if (name === "__metadata__") continue;
    const [type] = TYPES[entry?.dtype] ?? [];
    if (!type) throw new Refused(`The file holds ${entry?.dtype} numbers, and this page learns in integers.`);
    const [from, to] = entry.data_offsets ?? [];
    const size = (entry.shape ?? [NaN]).reduce((product, n) => product * n, 1);
    const fits = Number.isInteger(from) && Number.isInteger(to) && 0 <= from && start + to <= file.length;
    if (!fits || to - from !== size * type.BYTES_PER_ELEMENT) throw damaged(`the tensor ${name} lies outside it`);
    const values = new type(file.slice(start + from, start + to).buffer);
    tensors[name] = { type: entry.dtype, shape: entry.shape, values };
  }
  const text = metadata["kenyon.model"] ?? "";
  if (modelDigest(text, tensors) !== metadata["kenyon.sha256"]) throw damaged("its checksum does not match");
  try {
    model = JSON.parse(text);
  } catch {
    throw damaged("its description cannot be read");
  }
  return { model, tensors };
}
