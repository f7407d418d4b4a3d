import { expect, it } from "vitest";
import { number, text } from "./search";

it("leaves out of a text what no text of the platform has", () => {
  expect(text("\0")).toBeUndefined();
  expect(text("re\0ward")).toBe("reward");
  expect(text("")).toBeUndefined();
  expect(text(7)).toBe("7");
});

it("takes nothing for a number that is none", () => {
  expect(number("\0")).toBeUndefined();
  expect(number("12")).toBe(12);
  expect(number(Infinity)).toBeUndefined();
});
