/** Batches simultaneous requests about several things into one. */

interface Ways<P, T> {
  /** How one is asked about. */
  one: (id: string, params: P, signal: AbortSignal) => Promise<T>;
  /** How several are asked about; what is not there is left out of the answer. */
  several: (ids: string[], params: P, signal: AbortSignal) => Promise<Map<string, T>>;
  /** Most of them in a request. */
  most: (params: P) => number;
}

interface Call<T> {
  id: string;
  signal: AbortSignal | undefined;
  resolve: (found: T) => void;
  reject: (why: unknown) => void;
}

/**
 * A way to ask about `id` together with all that is requested by the same `params` before the event loop continues.
 *
 * What the answer is, how it fails and that it is given up reaches each asker as if it had asked alone.
 */
export function gathering<P, T>(ways: Ways<P, T>) {
  const waiting = new Map<string, Call<T>[]>();
  return (id: string, params: P, signal?: AbortSignal): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      signal?.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
      const key = JSON.stringify(params);
      const calls = waiting.get(key) ?? [];
      calls.push({ id, signal, resolve, reject });
      if (calls.length > 1) return;
      waiting.set(key, calls);
      queueMicrotask(() => {
        waiting.delete(key);
        for (const part of parts(calls, Math.max(1, ways.most(params)))) void send(part, params, ways);
      });
    });
}

/** Calls in parts of at most `most` different ids. */
function parts<T>(calls: Call<T>[], most: number): Call<T>[][] {
  const ids = [...new Set(calls.map(call => call.id))];
  return Array.from({ length: Math.ceil(ids.length / most) }, (_, part) => {
    const asked = new Set(ids.slice(part * most, (part + 1) * most));
    return calls.filter(call => asked.has(call.id));
  });
}

async function send<P, T>(calls: Call<T>[], params: P, { one, several }: Ways<P, T>): Promise<void> {
  const ids = [...new Set(calls.map(call => call.id))];
  const given = jointly(calls.map(call => call.signal));
  try {
    const found = ids.length > 1 ? await several(ids, params, given) : new Map<string, T>();
    await Promise.all(
      ids.map(async id => {
        const own = calls.filter(call => call.id === id);
        try {
          // Who is not among the found is requested alone, which tells why.
          const answer = found.get(id) ?? (await one(id, params, given));
          own.forEach(call => call.resolve(answer));
        } catch (why) {
          own.forEach(call => call.reject(why));
        }
      }),
    );
  } catch (why) {
    calls.forEach(call => call.reject(why));
  }
}

/** A signal that is given when all of them are. */
function jointly(signals: (AbortSignal | undefined)[]): AbortSignal {
  const all = new AbortController();
  const look = () => {
    if (signals.every(one => one?.aborted)) all.abort();
  };
  signals.forEach(one => one?.addEventListener("abort", look, { once: true }));
  look();
  return all.signal;
}
