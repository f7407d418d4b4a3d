import { expect, it } from "vitest";
import type { JudgeEndpoint } from "@/api/model";
import { modelOptions } from "./models";

const endpoint = (fields: Partial<JudgeEndpoint>) => ({ slug: "s", name: "N", model: "m", policy: null, ...fields });

it("names models with an address and policies of the cluster", () => {
  const options = modelOptions([
    endpoint({ slug: "far", name: "Far", model: "large" }),
    endpoint({ slug: "own", name: "Own", model: "own", policy: "small" }),
  ] as JudgeEndpoint[]);
  expect(options).toEqual([
    { value: "far", label: "Far (large)" },
    { value: "own", label: "Own (policy small, on the cluster)" },
  ]);
});

it("offers nothing before the endpoints have come", () => {
  expect(modelOptions(undefined)).toEqual([]);
});
