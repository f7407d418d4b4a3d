/** What to do, with a button if this user can act on this run. */
import { Button, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Incident, Remedy, Run } from "@/api/model";
import { targetPhrase } from "@/features/controls/labels";
import { useRunAct } from "@/features/controls/Lifecycle";
import { targetsQuery } from "@/entities/runs/queries";
import { ONLY_GROUPS, type OnlyGroups, type RunSearch } from "@/entities/runs/search";
import { isLive, isStill } from "@/entities/runs/states";
import { useCan } from "@/features/session/session";
import classes from "./incidents.module.css";

interface Props {
  run: Run;
  incident: Incident;
  onShow: (selector: string) => void;
}

export function Remedies({ run, incident, onShow }: Props) {
  if (incident.advice.length === 0) return null;
  return (
    <ul className={classes.remedies} aria-label="What to do">
      {incident.advice.map(one => (
        <li key={one.text}>
          <Text size="sm">{one.text}</Text>
          <Act run={run} incident={incident} remedy={one} onShow={onShow} />
        </li>
      ))}
    </ul>
  );
}

const LOOK = { size: "compact-xs", variant: "default" } as const;

/** Renders nothing if no action is available. */
function Act({ run, incident, remedy, onShow }: Props & { remedy: Remedy }) {
  const editor = useCan("editor");
  switch (remedy.act) {
    case "control":
      return <OpenControl run={run} path={remedy.target ?? ""} onShow={onShow} />;
    case "roll_back":
      if (!incident.checkpoint) return <Note>No earlier checkpoint is left.</Note>;
      if (!editor) return <Note>Forking needs the editor role.</Note>;
      return (
        <Button {...LOOK} component={Link} to={`/runs/new?fork=${run.id}&checkpoint=${incident.checkpoint.id}`}>
          Fork from step {incident.checkpoint.step}
        </Button>
      );
    case "resume":
    case "measure_noise":
      return <RunAct run={run} act={remedy.act} />;
    case "samples":
      return <Rollouts run={run} search={{ ...stepsOf(incident), only: groups(remedy.target) }} text="Open samples" />;
    case "tokens":
      return <Rollouts run={run} search={{ step: incident.since, overlay: "gap" }} text="Open tokens" />;
    default:
      return null;
  }
}

function stepsOf({ since, until }: Incident): Pick<RunSearch, "first" | "last"> {
  return { first: since, last: until ?? undefined };
}

function groups(target: string | null): OnlyGroups | undefined {
  return ONLY_GROUPS.find(one => one === target);
}

function Rollouts({ run, search, text }: { run: Run; search: RunSearch; text: string }) {
  return (
    <Button
      {...LOOK}
      renderRoot={(props: object) => (
        <Link {...props} to="/runs/$runId" params={{ runId: run.id }} search={{ tab: "rollouts", ...search }} />
      )}
    >
      {text}
    </Button>
  );
}

/** For fields that this run can be steered by now. */
function OpenControl({ run, path, onShow }: { run: Run; path: string; onShow: Props["onShow"] }) {
  const live = isLive(run.state);
  const targets = useQuery({ ...targetsQuery(run.id, run.revision), enabled: live });
  if (!live || !targets.data?.some(target => target.path === path)) return null;
  return (
    <Button {...LOOK} onClick={() => onShow(`[data-targets~="${CSS.escape(path)}"]`)}>
      Edit {targetPhrase(path)}
    </Button>
  );
}

function RunAct({ run, act }: { run: Run; act: "resume" | "measure_noise" }) {
  const operator = useCan("operator");
  const does = useRunAct(run);
  if (!isStill(run.state) && run.state !== "failed") return null;
  const name = act === "resume" ? "resume" : "measureNoise";
  return (
    <Button {...LOOK} disabled={!operator} loading={does.isPending} onClick={() => does.mutate(name)}>
      {act === "resume" ? "Resume" : "Recalibrate numerics noise"}
    </Button>
  );
}

function Note({ children }: { children: string }) {
  return (
    <Text size="xs" c="dimmed">
      {children}
    </Text>
  );
}
