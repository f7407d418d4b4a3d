import { screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { renderWith } from "@/test/render";
import { MarkedText, markedParts } from "./MarkedText";

describe("MarkedText", () => {
  it("shows the code of a character that would turn the text round, in its place", () => {
    const { container } = renderWith(<MarkedText>{"Pay \u202eme\u202c now"}</MarkedText>);
    expect(container.textContent).toContain("Pay U+202Eme");
    expect(container.textContent).not.toContain("\u202e");
    expect(screen.getAllByTestId("hidden-sign").map(one => [one.textContent, one.title])).toEqual([
      ["U+202E", "right-to-left override"],
      ["U+202C", "end of direction"],
    ]);
  });

  it.each([
    ["\u0000", "U+0000"],
    ["\u001b", "U+001B"],
    ["\u0085", "U+0085"],
    ["\u00ad", "U+00AD"],
    ["\u200b", "U+200B"],
    ["\u2066", "U+2066"],
    ["\u2028", "U+2028"],
    ["\ufeff", "U+FEFF"],
    ["\u{e0041}", "U+E0041"],
    ["\r", "U+000D"],
  ])("marks %j", (sign, told) => {
    const { container } = renderWith(<MarkedText>{`a${sign}b`}</MarkedText>);
    expect(container.textContent).toContain(`a${told}b`);
  });

  it.each([
    "plain",
    "two\nlines\tand a tab",
    "lines of Windows\r\nare lines",
    "नमस्ते, क्‍ष", // a joiner between letters of Devanagari
    "می‌خواهم", // a non-joiner in Persian
    "👩‍🚀", // a joiner in an emoji
    "שלום عالم",
    "e\u0301",
    "",
  ])("leaves %j alone", text => {
    expect(markedParts(text)).toEqual([{ text, hidden: false }]);
  });

  it("marks a joiner in Latin text, where it joins nothing", () => {
    expect(markedParts("pass\u200dword").map(part => part.hidden)).toEqual([false, true, false]);
  });
});
