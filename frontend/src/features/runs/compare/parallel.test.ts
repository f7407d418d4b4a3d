import { expect, it } from "vitest";
import { keyAxes, numberAxis } from "./parallel";

it("lays numbers out between their least and their most", () => {
  const axis = numberAxis("beta", [0, 0.5, 1, undefined]);
  expect(axis.places).toEqual([0, 0.5, 1, null]);
  expect(axis.ticks).toEqual([
    { at: 0, label: "0" },
    { at: 1, label: "1" },
  ]);
});

it("lays numbers of several orders out by their logarithm", () => {
  const { places } = numberAxis("lr", [1e-6, 1e-5, 1e-4]);
  expect(places.map(place => place?.toFixed(3))).toEqual(["0.000", "0.500", "1.000"]);
  expect(numberAxis("lr", [0, 50, 100]).places).toEqual([0, 0.5, 1]);
});

it("puts the one value of all in the middle, and has no ticks without values", () => {
  expect(numberAxis("reward", [0.5, 0.5])).toMatchObject({ places: [0.5, 0.5], ticks: [{ at: 0.5, label: "0.5" }] });
  expect(numberAxis("reward", [null, NaN])).toMatchObject({ places: [null, null], ticks: [] });
});

it("lays words out in their order, also where a run has none", () => {
  const [axis] = keyAxes([{ path: ["loss", "kind"], values: ["gspo", "cispo", undefined] }]);
  expect(axis).toEqual({
    id: "loss.kind",
    title: "loss.kind",
    places: [1, 0.5, 0],
    ticks: [
      { at: 0, label: "absent" },
      { at: 0.5, label: "cispo" },
      { at: 1, label: "gspo" },
    ],
  });
});

it("has no axis for lists and parts, nor for more words than can be told apart", () => {
  expect(keyAxes([{ path: ["sources"], values: [[{ id: 1 }], [{ id: 2 }]] }])).toEqual([]);
  const many = Array.from({ length: 13 }, (_, place) => `word ${place}`);
  expect(keyAxes([{ path: ["name"], values: many }])).toEqual([]);
});
