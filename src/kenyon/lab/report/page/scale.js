// Scales and ticks. Inside a chart every coordinate is linear: a logarithmic axis holds powers of ten.
const inner = (value, log) => (log ? Math.log10(value) : value);
const outer = (value, log) => (log ? 10 ** value : value);

/** Round steps of 1, 2 or 5 times a power of ten, about `count` of them between low and high. */
function linearTicks(low, high, count) {
  const rough = (high - low) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.999);
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) ticks.push(i * step);
  return { ticks, step };
}

/** Ticks of an axis, as pairs of inner coordinate and text. */
function axisTicks([low, high], log, unit, count) {
  if (!log) {
    const { ticks, step } = linearTicks(low, high, count);
    const decimals = clamp(-Math.floor(Math.log10(step) + 1e-9), 0, 8);
    return ticks.map((v) => [v, unit === "B" ? bytesText(v, step) : tickText(v, decimals)]);
  }
  const decades = high - low;
  if (decades < 0.5) {
    const { ticks, step } = linearTicks(outer(low, true), outer(high, true), count);
    return ticks.filter((v) => v > 0).map((v) => [Math.log10(v), unit === "B" ? bytesText(v, step) : show(v)]);
  }
  const factors = decades * 3 <= count + 1 ? [1, 2, 5] : [1];
  const every = Math.max(1, Math.ceil(decades / count));
  const ticks = [];
  for (let e = Math.floor(low); e <= Math.ceil(high); e++) {
    if (e % every) continue;
    for (const factor of factors) {
      const at = e + Math.log10(factor);
      if (at >= low - 1e-9 && at <= high + 1e-9) {
        const value = factor * 10 ** e;
        ticks.push([at, unit === "B" ? showBytes(value) : powerText(value, e)]);
      }
    }
  }
  return ticks;
}

function tickText(value, decimals) {
  const text = value.toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  return text.replace("-", MINUS).replace(/^\u22120(\.0*)?$/, "0");
}

/** Bytes with as many digits as tell neighbouring ticks apart. */
function bytesText(value, step) {
  return showBytes(value, clamp(Math.ceil(Math.log10(Math.abs(value) / step || 1)) + 1, 3, 12));
}

function powerText(value, exponent) {
  return exponent >= -3 && exponent <= 5 ? show(value) : value.toExponential(0).replace("e+", "e").replace("-", MINUS);
}

/** Low and high of numbers, widened by a share of their distance on both sides, and to `least` at least. */
function extent(values, share, least = 0) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value === null || !Number.isFinite(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (low > high) return [0, 1];
  if (high - low < least) return [(low + high - least) / 2, (low + high + least) / 2];
  if (low === high) return [low - Math.max(0.5, Math.abs(low) * 0.05), high + Math.max(0.5, Math.abs(high) * 0.05)];
  return [low - share * (high - low), high + share * (high - low)];
}
