import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { expect, it, vi } from "vitest";
import { deferred, type Deferred } from "@/test/deferred";
import { fetchInOrder, outdate, recordUpdate, type Topic } from "./updates";

const NUMBERS: Topic<number> = { name: "numbers" };
const WORDS: Topic<string> = { name: "words" };

/** A request that the test answers, and what its answer is merged with. */
function ask() {
  const { promise, resolve, reject } = deferred<number[]>();
  const merged = fetchInOrder(
    () => promise,
    (answer, since) => [...answer, ...since(NUMBERS)],
  );
  return { merged, resolve, reject };
}

it("merges an answer with the updates of its topic since it was asked for, in order", async () => {
  recordUpdate(NUMBERS, 1);
  const { merged, resolve } = ask();
  recordUpdate(NUMBERS, 2);
  recordUpdate(WORDS, "two");
  recordUpdate(NUMBERS, 3);
  resolve([0]);
  expect(await merged).toEqual([0, 2, 3]);
});

it("gives each of several requests the updates since its own beginning", async () => {
  const first = ask();
  recordUpdate(NUMBERS, 1);
  const second = ask();
  recordUpdate(NUMBERS, 2);
  first.resolve([]);
  expect(await first.merged).toEqual([1, 2]);
  recordUpdate(NUMBERS, 3);
  second.resolve([]);
  expect(await second.merged).toEqual([2, 3]);
  const third = ask();
  third.resolve([]);
  expect(await third.merged).toEqual([]);
});

it("hands a failure on, and keeps nothing for a request that is over", async () => {
  const failed = ask();
  recordUpdate(NUMBERS, 1);
  failed.reject(new Error("gone"));
  await expect(failed.merged).rejects.toThrow("gone");
  const next = ask();
  next.resolve([]);
  expect(await next.merged).toEqual([]);
});

/** A query that is shown, whose answers the test gives. */
function shown() {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const answers: Deferred<string>[] = [];
  const observer = new QueryObserver(client, {
    queryKey: ["part", 1],
    queryFn: () => {
      answers.push(deferred<string>());
      return (answers.at(-1) as Deferred<string>).promise;
    },
  });
  const leave = observer.subscribe(() => {});
  const asked = (count: number) => vi.waitFor(() => expect(answers).toHaveLength(count));
  const data = (expected: unknown) => vi.waitFor(() => expect(client.getQueryData(["part", 1])).toBe(expected));
  return { client, answers, asked, data, leave };
}

it("asks again after a first answer that was under way when it was outdated", async () => {
  const { client, answers, asked, data, leave } = shown();
  await asked(1);
  outdate(client, { queryKey: ["part"] });
  answers[0]?.resolve("old");
  await asked(2);
  await data("old");
  answers[1]?.resolve("new");
  await data("new");
  expect(answers).toHaveLength(2);
  leave();
});

it("asks at once where there is an answer already, and drops the one that is under way", async () => {
  const { client, answers, asked, data, leave } = shown();
  await asked(1);
  answers[0]?.resolve("first");
  await data("first");
  outdate(client, { queryKey: ["part"] });
  await asked(2);
  outdate(client, { queryKey: ["part"] });
  await asked(3);
  answers[2]?.resolve("third");
  await data("third");
  answers[1]?.resolve("second");
  await data("third");
  leave();
});

it("does not repeat a first request that fails", async () => {
  const { client, answers, asked, leave } = shown();
  await asked(1);
  outdate(client, { queryKey: ["part"] });
  answers[0]?.reject(new Error("gone"));
  await vi.waitFor(() => expect(client.getQueryState(["part", 1])?.status).toBe("error"));
  expect(answers).toHaveLength(1);
  leave();
});
