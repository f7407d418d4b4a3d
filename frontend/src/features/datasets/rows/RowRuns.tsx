/** A row's results in runs: its pass rate by step, and the stored completions. */
import { Anchor, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { RowHistory, RowRun } from "@/api/model";
import { rowHistoryQuery } from "@/entities/datasets/queries";
import { formatNumber, formatPercent } from "@/lib/format";
import { Loaded } from "@/ui/Loaded";
import { Placeholder } from "@/ui/Placeholder";
import ui from "@/ui/ui.module.css";
import { tryTitle, tries } from "./row-tries";

const [WIDTH, HEIGHT] = [160, 30];

interface Props {
  datasetId: string;
  version: number;
  index: number;
}

export function RowRuns({ datasetId, version, index }: Props) {
  const history = useQuery(rowHistoryQuery(datasetId, version, index));
  return (
    <section aria-label="In runs" data-testid="row-runs">
      <div className={ui.caption}>In runs</div>
      <Loaded query={history} skeleton={<Placeholder height={HEIGHT} />}>
        {data => <Runs history={data} />}
      </Loaded>
    </section>
  );
}

function Runs({ history: { runs, has_more, unsearched } }: { history: RowHistory }) {
  return (
    <Stack gap={8}>
      {runs.length === 0 && (
        <Text size="sm" c="dimmed">
          No run of this team has sampled this row.
        </Text>
      )}
      {runs.map(run => (
        <OneRun key={`${run.run_id} ${run.prompt_id}`} run={run} />
      ))}
      {has_more && (
        <Text size="xs" c="dimmed">
          Older runs sampled it too; the newest {runs.length} are shown.
        </Text>
      )}
      {unsearched.length > 0 && (
        <Text size="xs" c="dimmed">
          Not searched in {unsearched.join(", ")}: too many versions, or too large.
        </Text>
      )}
    </Stack>
  );
}

function OneRun({ run }: { run: RowRun }) {
  const rate = run.graded > 0 ? run.right / run.graded : null;
  return (
    <Group gap="sm" wrap="nowrap" justify="space-between" data-run={run.run_id}>
      <div style={{ minWidth: 0 }}>
        <Anchor size="sm" renderRoot={props => <Link {...props} to="/runs/$runId" params={{ runId: run.run_id }} />}>
          {run.name}
        </Anchor>
        <Text size="xs" c="dimmed" className="num">
          {run.ref} · {run.groups === 1 ? "1 group" : `${formatNumber(run.groups)} groups`} ·{" "}
          {rate === null ? "none graded" : `${formatPercent(rate)} correct`}
          {run.rollouts > 0 && (
            <>
              {" · "}
              <Anchor
                size="xs"
                renderRoot={props => (
                  <Link
                    {...props}
                    to="/runs/$runId"
                    params={{ runId: run.run_id }}
                    search={{ tab: "rollouts", prompt: run.prompt_id }}
                  />
                )}
              >
                {run.rollouts === 1 ? "1 completion" : `${formatNumber(run.rollouts)} completions`}
              </Anchor>
            </>
          )}
        </Text>
      </div>
      <Tries run={run} />
    </Group>
  );
}

/** A dot for each group: how many of its samples were right, by step. */
function Tries({ run }: { run: RowRun }) {
  const [first, last] = [run.tries[0]?.step, run.tries.at(-1)?.step];
  return (
    <svg
      width={WIDTH}
      height={HEIGHT}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={`Pass rate from step ${first} to ${last}`}
      style={{ flex: "none" }}
    >
      {[0, 1].map(rate => (
        <line
          key={rate}
          x1={0}
          x2={WIDTH}
          y1={4 + rate * (HEIGHT - 8)}
          y2={4 + rate * (HEIGHT - 8)}
          stroke="var(--c-border)"
        />
      ))}
      {tries(run.tries, WIDTH, HEIGHT).map(({ key, x, y, one }) => (
        <circle key={key} cx={x} cy={y} r={2.5} fill={one.graded > 0 ? "var(--c-s0)" : "var(--c-bad)"}>
          <title>{tryTitle(one)}</title>
        </circle>
      ))}
    </svg>
  );
}
