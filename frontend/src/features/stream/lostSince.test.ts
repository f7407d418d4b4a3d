import { expect, it } from "vitest";
import { lostSince } from "./lostSince";

it("is not lost while it is heard, nor while the page connects for the first time", () => {
  expect(lostSince({ status: "live", heardAt: 50 }, true, 10)).toBeNull();
  expect(lostSince({ status: "connecting", heardAt: null }, true, 10)).toBeNull();
});

it("is lost since the last word, whether the stream or the network tells first", () => {
  expect(lostSince({ status: "lost", heardAt: 50 }, true, 10)).toBe(50);
  expect(lostSince({ status: "live", heardAt: 50 }, false, 10)).toBe(50);
});

it("is lost since what is shown was answered, where no stream was ever heard", () => {
  expect(lostSince({ status: "lost", heardAt: null }, true, 10)).toBe(10);
  expect(lostSince({ status: "connecting", heardAt: null }, false, 10)).toBe(10);
});
