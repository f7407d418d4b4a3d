/**
 * Takes what comes in the rhythm in which it can be drawn. Steps of a small policy come several times a second and each
 * draws every chart again: without a pace the page falls behind, and clicks wait for it. What comes in the meantime is kept and
 * handed over together, which draws once.
 */

/** Longest time that an update waits, in milliseconds. */
const LONGEST = 2000;
/** Rest after each drawing, as a multiple of its time: a page that is watched leaves two thirds of a core to others. */
const REST = 2;

export interface Paced<T> {
  add: (one: T) => void;
  /** Forgets what waits; nothing is handed over any more. */
  stop: () => void;
}

export interface Rhythm {
  now: () => number;
  /** Calls back when what was changed has been drawn; in a hidden tab, which draws nothing, soon. */
  drawn: (then: () => void) => void;
}

const browser: Rhythm = {
  now: () => performance.now(),
  drawn: then => {
    let told = false;
    const tell = () => {
      if (!told) then();
      told = true;
    };
    // The frame's callbacks run before it is painted; a task behind them runs after.
    window.requestAnimationFrame(() => window.setTimeout(tell, 0));
    // A window behind others may draw nothing, and is not called hidden.
    window.setTimeout(tell, document.hidden ? 0 : LONGEST);
  },
};

/** Hands over what is added, in order: at once if the page is at rest, else after the rest that the last one earned. */
export function paced<T>(handOver: (all: T[]) => void, rhythm: Rhythm = browser): Paced<T> {
  let waiting: T[] = [];
  let timer: number | undefined;
  let busy = false;
  let stopped = false;

  function flush(): void {
    busy = waiting.length > 0 && !stopped;
    if (!busy) return;
    const all = waiting;
    waiting = [];
    const begun = rhythm.now();
    handOver(all);
    const rest = () => {
      if (stopped) return;
      const cost = rhythm.now() - begun;
      timer = window.setTimeout(flush, Math.min(LONGEST, REST * cost));
    };
    rhythm.drawn(rest);
  }

  return {
    add: one => {
      waiting.push(one);
      if (!busy) flush();
    },
    stop: () => {
      stopped = true;
      waiting = [];
      window.clearTimeout(timer);
    },
  };
}
