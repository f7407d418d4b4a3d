/** Texts of events. */
import { controlOf } from "@/api/events";
import type { RunEvent } from "@/api/model";
import { targetLabel } from "@/features/controls/labels";
import { progressText } from "@/features/controls/model";
import { formatBytes, formatNumber, formatValue } from "@/lib/format";

export type Level = "info" | "good" | "warn" | "error" | "control";

export interface Description {
  level: Level;
  text: string;
  detail?: string;
}

/** What a user requests by the state that a run is to reach. */
const REQUESTS: Record<string, string> = { running: "a start", paused: "a pause", cancelled: "cancellation" };

export function describe(event: RunEvent): Description {
  const data = event.data;
  const word = (name: string) => (typeof data[name] === "string" ? (data[name] as string) : "");
  switch (event.kind) {
    case "state": {
      const to = word("to") || word("state");
      const from = word("from");
      const level: Level =
        to === "failed"
          ? "error"
          : to === "succeeded"
            ? "good"
            : to === "paused" || to === "suspended"
              ? "warn"
              : "info";
      const actor = word("actor");
      return {
        level,
        text: `${from ? `${from} → ${to}` : to}${actor ? ` by ${actor}` : ""}`,
        detail: [word("reason"), word("detail")].filter(Boolean).join(" · ") || undefined,
      };
    }
    case "desired":
      return { level: "info", text: `${word("actor")} requested ${REQUESTS[word("to")] ?? word("to")}` };
    case "run":
      return {
        level: "info",
        text: `${word("actor")} changed ${(data.changed as string[] | undefined)?.join(" and ") ?? "it"}`,
      };
    case "control": {
      const control = controlOf(event);
      if (!control) return { level: "control", text: word("message") || JSON.stringify(data) };
      return {
        level: control.state === "rejected" ? "error" : "control",
        text: `${targetLabel(control.target)} ${formatValue(control.before)} → ${formatValue(control.value)}: ${progressText(control)}`,
        detail: `${control.actor}${control.reason ? ` – “${control.reason}”` : ""}`,
      };
    }
    case "alert":
      return {
        level: data.level === "error" ? "error" : data.level === "warn" ? "warn" : "info",
        text: word("title"),
        detail: word("message") || undefined,
      };
    case "checkpoint":
      return {
        level: "good",
        text: `Saved ${formatBytes(data.bytes as number | undefined)}`,
        detail: [word("reason").replaceAll("_", " "), word("path")].filter(Boolean).join(" · "),
      };
    case "eval":
    case "step": {
      const metrics = Object.entries((data.metrics ?? {}) as Record<string, number>);
      const shown = metrics.filter(([name]) => /score\/mean$|pass_rate$/.test(name));
      return {
        level: "info",
        text: (shown.length > 0 ? shown : metrics.slice(0, 3))
          .map(([name, value]) => `${name} ${formatNumber(value)}`)
          .join(" · "),
      };
    }
    case "rubric_proposals": {
      const names = (data.names ?? []) as string[];
      return {
        level: "info",
        text: `${names.length} ${names.length === 1 ? "item" : "items"} proposed for the rubric of ${word("component")}`,
        detail: `${names.join(", ")} · decide under Proposals of ${word("reward_version")}`,
      };
    }
    case "log":
      return {
        level: data.level === "error" ? "error" : data.level === "warn" ? "warn" : "info",
        text: word("message"),
      };
    default:
      return { level: "info", text: word("message") || JSON.stringify(data) };
  }
}
