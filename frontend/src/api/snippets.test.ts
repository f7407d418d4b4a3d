// @vitest-environment happy-dom
import { expect, it } from "vitest";
import { createRunCurl, createRunPython } from "./snippets";

const NAME = "it's '''done''' \\ 🐎";

it("quotes what a shell would read", () => {
  expect(createRunCurl(NAME, {}, false)).toContain("it'\\''s");
});

it("writes Python that reads back the name, whatever quotes are in it", () => {
  const document = /r'''\n(.*?)\n'''/s.exec(createRunPython(NAME, {}, true))?.[1] ?? "";
  expect(JSON.parse(document)).toEqual({ name: NAME, spec: {}, start: true });
});
