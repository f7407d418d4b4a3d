/** One incident: what, since when, its cause, the evidence and what to do. */
import { Badge, Group, Paper, Text, Title } from "@mantine/core";
import type { Incident, Run } from "@/api/model";
import { targetLabel } from "@/features/controls/labels";
import { formatValue } from "@/lib/format";
import { TextLink } from "@/ui/TextLink";
import { ExceptionPart } from "./ExceptionPart";
import classes from "./incidents.module.css";
import { Remedies } from "./Remedies";
import { against, chartsAt, lasted, SURE, valueText } from "./words";

interface Props {
  run: Run;
  incident: Incident;
  onShow: (selector: string) => void;
}

export function IncidentCard({ run, incident, onShow }: Props) {
  const { title, state, severity, cause, confidence } = incident;
  return (
    <Paper
      p="sm"
      component="section"
      aria-label={title}
      className={classes.card}
      data-testid="incident"
      data-kind={incident.kind}
      data-state={state}
      data-severity={state === "open" ? severity : undefined}
    >
      <Group gap={8} align="baseline">
        <Title order={2} size="h5">
          {title}
        </Title>
        <Badge color={state === "over" ? "gray" : severity === "error" ? "red" : "yellow"}>
          {state === "over" ? "resolved" : state}
        </Badge>
        <TextLink to="/runs/$runId" params={{ runId: run.id }} search={chartsAt(incident, run)} size="xs">
          {lasted(incident)}
        </TextLink>
      </Group>
      <Text size="xs" c="dimmed" mt={8} fw={550}>
        {SURE[confidence]}
      </Text>
      <Text size="sm" className={classes.cause} data-testid="incident-cause" data-confidence={confidence}>
        {cause}
      </Text>
      {incident.exception && <ExceptionPart run={run} exception={incident.exception} />}
      <Figures run={run} incident={incident} />
      <Signs incident={incident} onShow={onShow} />
      <Changes incident={incident} />
      <Remedies run={run} incident={incident} onShow={onShow} />
    </Paper>
  );
}

/** Each metric with its value and its usual value. A click opens its chart at that time. */
function Figures({ run, incident }: { run: Run; incident: Incident }) {
  if (incident.evidence.length === 0) return null;
  return (
    <ul className={classes.figures} aria-label="Evidence">
      {incident.evidence.map(one => (
        <li key={one.metric} data-testid="incident-figure" data-metric={one.metric}>
          <TextLink
            to="/runs/$runId"
            params={{ runId: run.id }}
            search={chartsAt(incident, run, one.metric)}
            size="xs"
            title={one.metric}
          >
            {one.title}
          </TextLink>
          <span className={`${classes.value} num`}>{valueText(one)}</span>
          <small className="num">{against(one)}</small>
        </li>
      ))}
    </ul>
  );
}

/** The guards and alerts that reported it. */
function Signs({ incident, onShow }: { incident: Incident; onShow: Props["onShow"] }) {
  const told = incident.signs.filter(one => one.source === "guard" || one.source === "alert");
  if (told.length === 0) return null;
  return (
    <details className={classes.more}>
      <summary>
        {told.length} {told.length === 1 ? "guard or alert" : "guards and alerts"}
      </summary>
      <ul>
        {told.map((one, index) => (
          <li key={index}>
            {one.source === "guard" ? (
              <button
                type="button"
                className={classes.guard}
                onClick={() => onShow(`[data-guard="${CSS.escape(one.name)}"]`)}
              >
                Guard {one.name}
              </button>
            ) : (
              "Alert"
            )}
            , {lasted(one)}: {one.message}
          </li>
        ))}
      </ul>
    </details>
  );
}

function Changes({ incident }: { incident: Incident }) {
  if (incident.changes.length === 0) return null;
  return (
    <details className={classes.more}>
      <summary>
        {incident.changes.length} {incident.changes.length === 1 ? "change" : "changes"} in the 20 steps before
      </summary>
      <ul>
        {incident.changes.map((one, index) => (
          <li key={index}>
            Step {one.step}: {targetLabel(one.target)} {formatValue(one.before)} → {formatValue(one.value)} by{" "}
            {one.actor}
          </li>
        ))}
      </ul>
    </details>
  );
}
