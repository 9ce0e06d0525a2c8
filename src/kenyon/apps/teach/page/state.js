// What was learned as the flat buffer of kenyon_save, and as the tensors of a model file. save.c says what lies where:
// in a buffer the arrays of a class are side by side, in a file a class is a column of each array.

const HEADER_BYTES = 32;

/** The arrays of a class and those of all classes, in the order of a buffer. */
function layoutOf({ units, tensors }) {
  if ("pairs.0" in tensors) {
    const pairs = (units * (units + 1)) / 2, isNarrow = tensors["pairs.0"] === "I16";
    return {
      first: [["halvings.0", "U8", 1], ["doublings.0", "U8", 1]],
      each: [["class_counts.0", "U64", 1], ["means.0", "U16", units]],
      last: [["pairs.0", isNarrow ? "I16" : "U8", isNarrow ? pairs : 3 * pairs]],
    };
  }
  const column = tensors["weights.0"];
  return { first: [], each: [["counts.0", "U32", 1], ["exponents.0", "U8", 1], ["weights.0", "U8", column]], last: [] };
}

/** {name: {type, shape, values}} of a buffer. */
function tensorsOf(buffer, facts) {
  const view = new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength), classes = view.getUint16(6, true);
  const { first, each, last } = layoutOf(facts), tensors = {};
  let at = 16;
  const take = (type, count) => {
    const kind = TYPES[type][0], bytes = buffer.slice(at, (at += count * kind.BYTES_PER_ELEMENT));
    return new kind(bytes.buffer);
  };
  tensors.counters = { type: "I64", shape: [2], values: take("I64", 2) };
  at = HEADER_BYTES + 4 * classes;
  for (const [name, type, count] of first) tensors[name] = { type, shape: [count], values: take(type, count) };
  for (const [name, type, count] of each) {
    const shape = ["class_counts.0", "counts.0", "exponents.0"].includes(name) ? [classes] : [count, classes];
    tensors[name] = { type, shape, values: new TYPES[type][0](count * classes) };
  }
  for (let j = 0; j < classes; j++) {
    for (const [name, type, count] of each) {
      const { values } = tensors[name];
      take(type, count).forEach((value, k) => (values[k * classes + j] = value));
    }
  }
  for (const [name, type, count] of last) tensors[name] = { type, shape: [count], values: take(type, count) };
  const trained = tensors["class_counts.0"];
  if (trained?.values.every((count) => count <= 0xffffffffn)) { // as in Python: 32 bits where they suffice
    tensors["class_counts.0"] = { ...trained, type: "U32", values: Uint32Array.from(trained.values, Number) };
  }
  if (!("exponents.0" in facts.tensors)) delete tensors["exponents.0"];
  return tensors;
}

/** The buffer of a model with these tensors; `empty` is that of one without classes, `ids` are the labels in C. */
function bufferOf(tensors, ids, empty, facts) {
  const classes = ids.length, { first, each, last } = layoutOf(facts);
  const known = ["counters", ...[...first, ...each, ...last].map(([name]) => name)];
  const extra = Object.keys(tensors).find((name) => !known.includes(name));
  if (extra) throw new Refused(`The file does not fit together: it holds ${extra}, which this model does not have.`);
  const pieces = [bytesOf(Int32Array.from(ids))];
  const given = (name, type, shape) => {
    if (name === "exponents.0" && !("exponents.0" in facts.tensors)) return new Uint8Array(classes);
    const found = tensors[name], types = name === "class_counts.0" ? ["U32", "U64"] : [type];
    if (!found || !types.includes(found.type) || found.shape.join() !== shape.join()) {
      const seen = found ? `${found.type} (${found.shape})` : "missing";
      throw new Refused(`The file does not fit together: ${name} is ${seen}.`);
    }
    return found.type === type ? found.values : BigUint64Array.from(found.values, BigInt);
  };
  const counters = given("counters", "I64", [2]);
  for (const [name, type, count] of first) pieces.push(bytesOf(given(name, type, [count])));
  const columns = each.map(([name, type, count]) => {
    const shape = ["class_counts.0", "counts.0", "exponents.0"].includes(name) ? [classes] : [count, classes];
    return [given(name, type, shape), count];
  });
  for (let j = 0; j < classes; j++) {
    for (const [values, count] of columns) {
      pieces.push(bytesOf(values.constructor.from({ length: count }, (_, k) => values[k * classes + j])));
    }
  }
  for (const [name, type, count] of last) pieces.push(bytesOf(given(name, type, [count])));
  const length = HEADER_BYTES + pieces.reduce((sum, piece) => sum + piece.length, 0) + 4;
  const buffer = new Uint8Array(length), view = new DataView(buffer.buffer);
  buffer.set(empty.subarray(0, 16));
  view.setUint16(6, classes, true);
  view.setUint32(12, length, true);
  buffer.set(bytesOf(counters), 16);
  let at = HEADER_BYTES;
  for (const piece of pieces) {
    buffer.set(piece, at);
    at += piece.length;
  }
  view.setUint32(length - 4, crc32(buffer.subarray(0, length - 4)), true);
  return buffer;
}
