/**
 * Puts the answers of queries and the updates of the stream into one order.
 *
 * An answer shows the platform at some moment between the request and its arrival, so an update that comes in between
 * may be the newer of the two, and an answer that simply replaced it would lead back. The rule:
 *
 * 1. Where numbers that only grow tell which is newer, they decide; see `runs/data/merge.ts`.
 * 2. Else an update received since the request was sent stands; one received before is older than the answer.
 *
 * The rank of a state decides nothing, as states go back: a new attempt stages an applied control again, a paused run
 * continues. Where rule 2 prefers an update although the answer was newer, the stream brings what the answer has seen
 * shortly after, because it leaves out nothing.
 */
import type { InvalidateQueryFilters, QueryClient } from "@tanstack/react-query";

/** Updates of one kind, about one thing. `T` is what an update holds. */
export interface Topic<T> {
  name: string;
  /** Never set: it carries the type. */
  update?: T;
}

interface Update {
  moment: number;
  topic: string;
  value: unknown;
}

/** Counts what happens; a clock could tell the same time twice. */
let moment = 0;
/** Requests that are under way, by the moments at which they were sent. */
const open = new Set<number>();
let updates: Update[] = [];

/** Keeps an update for the requests that are under way; without any, no answer can be older than it. */
export function recordUpdate<T>(topic: Topic<T>, value: T): void {
  moment += 1;
  if (open.size > 0) updates.push({ moment, topic: topic.name, value });
}

/** The updates of a topic since a request was sent, oldest first. */
export type Since = <T>(topic: Topic<T>) => T[];

/** Sends a request, and lets `merge` bring its answer up to what was received while it was under way. */
export async function fetchInOrder<T>(request: () => Promise<T>, merge: (answer: T, since: Since) => T): Promise<T> {
  moment += 1;
  const sent = moment;
  open.add(sent);
  try {
    const answer = await request();
    return merge(answer, <U>({ name }: Topic<U>) =>
      updates.filter(one => one.topic === name && one.moment > sent).map(one => one.value as U),
    );
  } finally {
    open.delete(sent);
    const oldest = Math.min(...open);
    updates = updates.filter(one => one.moment > oldest);
  }
}

/**
 * Has what matches `filters` read again. The query client does not repeat a first request that is still under way,
 * though its answer may have been made before the update: it is repeated here, once it is answered.
 */
export function outdate(client: QueryClient, filters: InvalidateQueryFilters): void {
  const first = client
    .getQueryCache()
    .findAll({ ...filters, fetchStatus: "fetching" })
    .filter(query => query.state.data === undefined);
  void client.invalidateQueries(filters);
  for (const query of first) {
    const again = () => client.invalidateQueries({ queryKey: query.queryKey, exact: true });
    // A request that fails is shown as failed by those who wait for it.
    void query.fetch().then(again, () => undefined);
  }
}
