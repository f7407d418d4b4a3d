/** Numbers, times and sizes as people read them. Unknown values are an en dash, never a zero. */

export const DASH = "–";

/** A metric's value with four significant digits: 0.6123, 12.35, 1.2e-5. */
export function formatNumber(value: number | null | undefined, digits = 4): string {
  if (value === null || value === undefined) return DASH;
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6) return formatCount(value);
  if (size < 1e-3) return minus(value.toExponential(Math.min(2, digits - 1)).replace(/\.?0+e/, "e"));
  if (Number.isInteger(value)) return minus(value.toLocaleString("en-GB"));
  const decimals = Math.max(0, Math.min(4, digits - 1 - Math.floor(Math.log10(size))));
  const text = value.toFixed(decimals);
  return minus(text.includes(".") ? text.replace(/\.?0+$/, "") : Number(text).toLocaleString("en-GB"));
}

/** 950, 12.4k, 3.1M, 2B, 1.7e308. */
export function formatCount(value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return DASH;
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  if (size >= 1e15) return minus(String(Number(value.toPrecision(2))).replace("e+", "e"));
  for (const [limit, suffix] of [
    [1e12, "T"],
    [1e9, "B"],
    [1e6, "M"],
    [1e4, "k"],
  ] as const) {
    if (size >= limit) {
      const unit = suffix === "k" ? 1e3 : limit;
      const scaled = value / unit;
      return minus(`${Number(scaled.toFixed(Math.abs(scaled) >= 100 ? 0 : 1))}${suffix}`);
    }
  }
  return minus(Number.isInteger(value) ? value.toLocaleString("en-GB") : String(Number(value.toFixed(1))));
}

export function formatPercent(share: number | null | undefined, digits = 0): string {
  if (share === null || share === undefined || !Number.isFinite(share)) return DASH;
  return `${minus((share * 100).toFixed(digits))} %`;
}

/** 42 s, 3 min 05 s, 2 h 14 min, 3 d 4 h. */
export function formatDuration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds) || seconds < 0) return DASH;
  if (seconds < 10 && !Number.isInteger(seconds)) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const pad = (value: number) => String(value).padStart(2, "0");
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${pad(whole % 60)} s`;
  if (whole < 86_400) return `${Math.floor(whole / 3600)} h ${pad(Math.floor((whole % 3600) / 60))} min`;
  return `${Math.floor(whole / 86_400)} d ${Math.floor((whole % 86_400) / 3600)} h`;
}

/** "just now", "4 min ago", "3 h ago", then the date. */
export function formatAgo(iso: string | null | undefined, now: number = Date.now()): string {
  if (!iso) return DASH;
  const seconds = (now - Date.parse(iso)) / 1000;
  if (Number.isNaN(seconds)) return DASH;
  if (seconds < 10) return "just now";
  if (seconds < 60) return `${Math.floor(seconds)} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`;
  if (seconds < 7 * 86_400) return `${Math.floor(seconds / 86_400)} d ago`;
  return new Date(iso).toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric" });
}

export function formatTime(iso: string | null | undefined): string {
  if (!iso) return DASH;
  return new Date(iso).toLocaleString("en-GB", {
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  });
}

export function formatBytes(bytes: number | null | undefined): string {
  if (bytes === null || bytes === undefined) return DASH;
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value >= 100 || unit === 0 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

/** Any value of a spec, short: numbers as numbers, empty as "none", lists of words with commas, all else as JSON. */
export function formatValue(value: unknown): string {
  if (value === null || value === undefined) return "none";
  if (typeof value === "number") return formatNumber(value, 6);
  if (typeof value === "boolean") return value ? "on" : "off";
  if (typeof value === "string") return value;
  if (Array.isArray(value) && value.every(one => typeof one === "string")) return value.join(", ") || "none";
  if (Array.isArray(value) && value.every(isNamed))
    return value.map(one => one.name || one.metric).join(", ") || "none";
  return JSON.stringify(value);
}

/** A guard, which people know by its name or its metric's. */
function isNamed(value: unknown): value is { name: string; metric: string } {
  return typeof value === "object" && value !== null && "name" in value && "metric" in value;
}

/** Words that a name ends with if its value has a unit. */
const UNITS: Record<string, string> = { s: "s", ms: "ms", mb: "MB", gb: "GB", mib: "MiB", gib: "GiB" };
const ACRONYMS: Record<string, string> = {
  cpu: "CPU",
  cpus: "CPUs",
  gpu: "GPU",
  gpus: "GPUs",
  id: "ID",
  kl: "KL",
  kv: "KV",
  lora: "LoRA",
  rl: "RL",
  sft: "SFT",
  url: "URL",
};

/** "thinking_budget" → "Thinking budget", "kv_cache_gib" → "KV cache (GiB)". */
export function humanize(name: string): string {
  const words = name.replace(/[_-]+/g, " ").trim().split(" ");
  const unit = words.length > 1 ? UNITS[words.at(-1) ?? ""] : undefined;
  const text = (unit ? words.slice(0, -1) : words).map(word => ACRONYMS[word] ?? word).join(" ");
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${unit ? ` (${unit})` : ""}`;
}

function minus(text: string): string {
  return text.replace(/^-/, "−").replace("e-", "e−");
}

/** Percent of the whole to one digit, as bars show and readers of a screen hear it; 0 of nothing. */
export function percentOf(part: number, whole: number | null | undefined): number {
  return whole ? Math.round((1000 * part) / whole) / 10 : 0;
}
