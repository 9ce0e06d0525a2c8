// SHA-256 (FIPS 180-4), since the browser's own is not there on every page that was opened from a file.

const { primes: SHA_PRIMES, roots: SHA_START } = (() => {
  const found = [];
  for (let n = 2; found.length < 64; n++) if (found.every((prime) => n % prime)) found.push(n);
  const fraction = (value) => ((value - Math.floor(value)) * 2 ** 32) | 0;
  const cubic = found.map((prime) => fraction(Math.cbrt(prime)));
  return { primes: cubic, roots: found.slice(0, 8).map((prime) => fraction(Math.sqrt(prime))) };
})();

/** The digest of several pieces of bytes, one behind the other, in hexadecimal digits. */
function sha256(...pieces) {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const message = new Uint8Array((length + 72) & ~63);
  let at = 0;
  for (const piece of pieces) {
    message.set(piece, at);
    at += piece.length;
  }
  message[length] = 0x80;
  const view = new DataView(message.buffer);
  view.setUint32(message.length - 8, Math.floor(length / 2 ** 29));
  view.setUint32(message.length - 4, (length * 8) >>> 0);
  const state = Int32Array.from(SHA_START), words = new Int32Array(64);
  for (let block = 0; block < message.length; block += 64) shaBlock(view, block, words, state);
  return [...state].map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}

function shaBlock(view, block, words, state) {
  const turned = (x, n) => (x >>> n) | (x << (32 - n));
  for (let t = 0; t < 16; t++) words[t] = view.getInt32(block + 4 * t);
  for (let t = 16; t < 64; t++) {
    const early = words[t - 15], late = words[t - 2];
    const small0 = turned(early, 7) ^ turned(early, 18) ^ (early >>> 3);
    const small1 = turned(late, 17) ^ turned(late, 19) ^ (late >>> 10);
    words[t] = words[t - 16] + small0 + words[t - 7] + small1;
  }
  let [a, b, c, d, e, f, g, h] = state;
  for (let t = 0; t < 64; t++) {
    const large1 = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25);
    const one = (h + large1 + ((e & f) ^ (~e & g)) + SHA_PRIMES[t] + words[t]) | 0;
    const large0 = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22);
    const two = (large0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((value, i) => (state[i] += value));
}
