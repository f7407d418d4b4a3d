import { expect, it } from "vitest";
import { turnsOf } from "./turns";

it("takes a completion without turns as the policy's", () => {
  expect(turnsOf({ completion: "a b", turns: [] })).toEqual([{ author: "policy", text: "a b" }]);
});

it("splits a completion by characters, not by code units", () => {
  const turns = [
    { author: "policy", characters: 3 },
    { author: "tool", characters: 2 },
    { author: "policy", characters: 1 },
  ] as const;
  expect(turnsOf({ completion: "a😀b😀cd", turns: [...turns] })).toEqual([
    { author: "policy", text: "a😀b" },
    { author: "tool", text: "😀c" },
    { author: "policy", text: "d" },
  ]);
});

it("shows what is there of a completion that was cut", () => {
  const turns = [
    { author: "policy", characters: 2 },
    { author: "user", characters: 9 },
    { author: "policy", characters: 4 },
  ] as const;
  expect(turnsOf({ completion: "abc", turns: [...turns] }).map(one => one.text)).toEqual(["ab", "c", ""]);
});
