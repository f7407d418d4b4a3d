import { expect, it } from "vitest";
import { targetLabel, targetPhrase, weightSource } from "./labels";

it.each([
  ["data.sources.gsm8k.weight", "Weight of gsm8k"],
  ["data.stages.easy.sources.gsm8k.weight", "Weight of gsm8k in stage easy"],
  ["data.stages.easy.band.min_pass_rate", "Minimum pass rate in stage easy"],
  ["data.stages.easy.gate.threshold", "Gate threshold in stage easy"],
  ["data.transition.sources.gsm8k.weight", "Gsm8k weight"],
])("names %s", (path, label) => {
  expect(targetLabel(path)).toBe(label);
});

it.each([
  ["curriculum.min_pass_rate", "minimum pass rate"],
  ["kl.coefficient", "KL coefficient"],
])("writes %s inside a sentence", (path, phrase) => {
  expect(targetPhrase(path)).toBe(phrase);
});

it("takes the weight of a stage for no weight of the whole run", () => {
  expect(weightSource("data.sources.gsm8k.weight")).toBe("gsm8k");
  expect(weightSource("data.stages.easy.sources.gsm8k.weight")).toBeNull();
});
