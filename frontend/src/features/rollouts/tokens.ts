/** The tokens of one sample, as the platform sends them: a typed array for each thing that is known of them. */
import type { RolloutTokens } from "@/api/model";

export interface Tokens {
  prompt: string;
  length: number;
  /** Text of each token. */
  texts: string[];
  ids: Int32Array;
  engine: Float32Array | null;
  learner: Float32Array | null;
  /** |log p of the learner − log p of the engine|; NaN if the token was forced. */
  gap: Float32Array | null;
  entropy: Float32Array | null;
  /** Null if every token has the advantage of its sample. */
  advantages: Float32Array | null;
  versions: Int32Array | null;
  sampled: Uint8Array | null;
  inLoss: Uint8Array | null;
}

export function readTokens(document: RolloutTokens): Tokens {
  const bytes = (name: string) => {
    const text = document.columns[name];
    return text === null || text === undefined ? null : decode(text);
  };
  const floats = (name: string) => {
    const found = bytes(name);
    return found && new Float32Array(found.buffer);
  };
  const whole = (name: string) => {
    const found = bytes(name);
    return found && new Int32Array(found.buffer);
  };
  const ids = whole("token_ids") ?? new Int32Array();
  const engine = floats("engine_logprobs");
  const learner = floats("learner_logprobs");
  const sampled = bytes("sampled");
  return {
    prompt: document.prompt,
    length: ids.length,
    texts: Array.from(ids, id => document.vocabulary[id] ?? ""),
    ids,
    engine,
    learner,
    gap: gaps(engine, learner, sampled),
    entropy: floats("entropy"),
    advantages: floats("advantages"),
    versions: whole("versions"),
    sampled,
    inLoss: bytes("loss_mask"),
  };
}

function gaps(engine: Float32Array | null, learner: Float32Array | null, sampled: Uint8Array | null) {
  if (!engine || !learner) return null;
  return learner.map((value, place) => (sampled && !sampled[place] ? NaN : Math.abs(value - (engine[place] ?? NaN))));
}

/** Base64 as bytes, in a buffer of their own. */
function decode(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let place = 0; place < binary.length; place += 1) bytes[place] = binary.charCodeAt(place);
  return bytes;
}

/** Tokens with a gap, the widest first; what is no number comes first of all. */
export function widestGaps(tokens: Tokens, most = 50): number[] {
  const { gap, learner, sampled } = tokens;
  if (!gap || !learner) return [];
  const size = (place: number) => {
    const value = gap[place] ?? NaN;
    return Number.isNaN(value) ? Infinity : value;
  };
  return Array.from(gap.keys())
    .filter(place => (!sampled || sampled[place]) && size(place) > 0)
    .sort((a, b) => size(b) - size(a) || a - b)
    .slice(0, most);
}
