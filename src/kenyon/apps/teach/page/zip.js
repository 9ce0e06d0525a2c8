// A zip archive whose files are stored as they are.

const ZIP_TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1;
  return rest;
});

function crc32(bytes) {
  let rest = -1;
  for (const byte of bytes) rest = ZIP_TABLE[(rest ^ byte) & 255] ^ (rest >>> 8);
  return ~rest >>> 0;
}

/** The archive of `files`, an object of names and bytes or texts; every file has the same date, the first of 1980. */
function zipOf(files) {
  const encoder = new TextEncoder(), parts = [], directory = [];
  let place = 0, listedBytes = 0;
  for (const [path, content] of Object.entries(files)) {
    const name = encoder.encode(path), bytes = typeof content === "string" ? encoder.encode(content) : content;
    // versions and flags (UTF-8 names), method, time, date, checksum, sizes, lengths of the name and of what follows it
    const sizes = [[bytes.length, 4], [bytes.length, 4]];
    const common = [[20, 2], [0x0800, 2], [0, 2], [0, 2], [33, 2], [crc32(bytes), 4], ...sizes];
    const local = zipRecord([0x04034b50, 4], ...common, [name.length, 2], [0, 2]);
    const entry = zipRecord(
      [0x02014b50, 4], [20, 2], ...common, [name.length, 2], [0, 2], [0, 2], [0, 2], [0, 2], [0, 4], [place, 4],
    );
    parts.push(local, name, bytes);
    directory.push(entry, name);
    place += local.length + name.length + bytes.length;
    listedBytes += entry.length + name.length;
  }
  const count = Object.keys(files).length;
  const end = zipRecord([0x06054b50, 4], [0, 2], [0, 2], [count, 2], [count, 2], [listedBytes, 4], [place, 4], [0, 2]);
  return new Blob([...parts, ...directory, end], { type: "application/zip" });
}

/** Numbers of 2 or 4 bytes, the lowest byte first. */
function zipRecord(...fields) {
  const bytes = new Uint8Array(fields.reduce((sum, [, size]) => sum + size, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const [value, size] of fields) {
    if (size === 2) view.setUint16(at, value, true);
    else view.setUint32(at, value, true);
    at += size;
  }
  return bytes;
}
