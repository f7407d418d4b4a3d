import { expect, it } from "vitest";
import type { Cluster } from "@/api/model";
import { choiceText, cpusText, gpusText, growthText, placesText } from "./words";

const CLUSTER: Cluster = {
  name: "big",
  state: "up",
  fault: null,
  last_seen: "2026-11-22T12:00:00.000Z",
  ray_version: "2.60.0",
  nodes: 3,
  cpus: 1024,
  cpus_free: 12.5,
  gpus: [
    { kind: "A100", total: 4, free: 4 },
    { kind: "H100", total: 16, free: 2.5 },
  ],
  memory_bytes: 2 ** 40,
  memory_free_bytes: 2 ** 39,
  cpus_at_most: null,
  gpus_at_most: null,
  places: 4,
  places_free: 1,
  own: [],
  others: 2,
  waiting: 0,
};

it("tells what a cluster has and what of it is free", () => {
  expect(gpusText(CLUSTER)).toBe("4 × A100, 4 free; 16 × H100, 2.5 free");
  expect(gpusText({ ...CLUSTER, gpus: [] })).toBe("none");
  expect(cpusText(CLUSTER)).toBe("1,024, 12.5 free");
  expect(placesText(CLUSTER)).toBe("1 of 4 free; other teams use 2");
  expect(choiceText(CLUSTER)).toBe("big (1,024 CPUs, 20 GPUs; 1 of 4 free; other teams use 2)");
  expect(choiceText({ ...CLUSTER, last_seen: null, others: 0 })).toBe("big (size unknown; 1 of 4 free)");
});

it("tells up to what size a cluster grows", () => {
  expect(growthText(CLUSTER)).toBeNull();
  expect(growthText({ ...CLUSTER, gpus_at_most: 64 })).toBe("up to 64 GPUs");
  expect(growthText({ ...CLUSTER, cpus_at_most: 2048, gpus_at_most: 64 })).toBe("up to 2,048 CPUs and 64 GPUs");
});
