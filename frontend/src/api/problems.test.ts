import { expect, it } from "vitest";
import { Problem } from "./http";
import { faultsWithin, fieldError, restError } from "./problems";

const refused = (...pointers: string[]) =>
  new Problem(422, {
    detail: "Invalid request",
    errors: pointers.map(pointer => ({ pointer, detail: `at ${pointer}` })),
  });

it("keeps an error that no field shows", () => {
  expect(restError(null, ["/name"])).toBeNull();
  expect(restError(refused("/name"), ["/name"])).toBeNull();
  const both = refused("/name", "/role");
  expect(restError(both, ["/name"])).toBe(both);
  expect(restError(both, /^\/(name|role)$/)).toBeNull();
  const whole = refused();
  expect(restError(whole, ["/name"])).toBe(whole);
  const lost = new TypeError("no connection");
  expect(restError(lost, /./)).toBe(lost);
});

it("says all that stands at one field", () => {
  expect(fieldError(refused("/name", "/name"), "/name")).toBe("at /name at /name");
  expect(fieldError(refused("/name"), "/nam")).toBeUndefined();
});

it("reads pointers within a part of the request", () => {
  const pointers = ["/definition", "/definition/components/0", "/definitions/1", "/note"];
  const found = faultsWithin("/definition", refused(...pointers).errors);
  expect(found.map(one => one.pointer)).toEqual(["", "/components/0", "/definitions/1", "/note"]);
});
