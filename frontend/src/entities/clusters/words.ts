import type { Cluster } from "@/api/model";
import { formatBytes } from "@/lib/format";

const count = (value: number) => value.toLocaleString("en-GB", { maximumFractionDigits: 1 });

/** A cluster's GPUs by kind, with how many are free: "16 × H100, 3 free". */
export function gpusText(cluster: Cluster): string {
  if (cluster.gpus.length === 0) return "none";
  return cluster.gpus.map(gpu => `${count(gpu.total)} × ${gpu.kind}, ${count(gpu.free)} free`).join("; ");
}

export function cpusText(cluster: Cluster): string {
  return `${count(cluster.cpus)}, ${count(cluster.cpus_free)} free`;
}

export function memoryText(cluster: Cluster): string {
  return `${formatBytes(cluster.memory_bytes)}, ${formatBytes(cluster.memory_free_bytes)} free`;
}

/** The size that autoscaling may reach; null without autoscaling. */
export function growthText(cluster: Cluster): string | null {
  const parts = [
    cluster.cpus_at_most === null ? null : `${count(cluster.cpus_at_most)} CPUs`,
    cluster.gpus_at_most === null ? null : `${count(cluster.gpus_at_most)} GPUs`,
  ].filter(part => part !== null);
  return parts.length === 0 ? null : `up to ${parts.join(" and ")}`;
}

/** The use of its slots, in a sentence. */
export function placesText(cluster: Cluster): string {
  const free = `${cluster.places_free} of ${cluster.places} free`;
  const others = cluster.others === 0 ? "" : `; other teams use ${cluster.others}`;
  return `${free}${others}`;
}

/** A cluster's size in a few words, next to its name in a list of choices. */
export function choiceText(cluster: Cluster): string {
  const gpus = cluster.gpus.reduce((sum, gpu) => sum + gpu.total, 0);
  const size = cluster.last_seen === null ? "size unknown" : `${count(cluster.cpus)} CPUs, ${count(gpus)} GPUs`;
  return `${cluster.name} (${size}; ${placesText(cluster)})`;
}

/** Default name of an installation's only cluster. It is not worth showing. */
const ONLY_CLUSTER = "default";

/** " · on far": where something runs, after other text; empty for the default cluster. */
export function onCluster(placed: string | null): string {
  return placed === null || placed === ONLY_CLUSTER ? "" : ` · on ${placed}`;
}
