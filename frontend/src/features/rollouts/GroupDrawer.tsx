/** A group: its prompt, its samples side by side, or every token of one of them. */
import { Drawer, Group, Skeleton, SegmentedControl, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Rollout, Run } from "@/api/model";
import type { RunSearch } from "@/entities/runs/search";
import { DASH, formatNumber, formatValue } from "@/lib/format";
import { oneOf } from "@/lib/search";
import { ErrorState } from "@/ui/ErrorState";
import ui from "@/ui/ui.module.css";
import { Written } from "@/ui/Written";
import { OVERLAYS } from "./overlays";
import { siblingsQuery } from "./queries";
import classes from "./rollouts.module.css";
import { SampleTokens, type TokensShown } from "./SampleTokens";
import { Sibling } from "./Sibling";
import { thinkingTags } from "./thinking";

interface Props {
  run: Run;
  search: RunSearch;
  onChange: (change: Partial<RunSearch>) => void;
}

const CLOSED = { group: undefined, overlay: undefined, token: undefined, thinking: undefined };

export function GroupDrawer({ run, search, onChange }: Props) {
  const [group = "", sample = ""] = search.group?.split(":") ?? [];
  const opened = search.group !== undefined;
  const siblings = useQuery({ ...siblingsQuery(run.id, group), enabled: opened });
  // A step that was done again has the same groups twice: the newest step's count.
  const rows = (siblings.data ?? []).filter(row => row.step === siblings.data?.[0]?.step);
  const first = rows[0];
  return (
    <Drawer
      opened={opened}
      onClose={() => onChange(CLOSED)}
      position="right"
      size="min(1240px, 100%)"
      title={first ? `Group ${first.group_id} · step ${first.step} · ${first.source}` : "Group"}
    >
      {siblings.isPending && opened && <Skeleton height={300} />}
      {siblings.isError && <ErrorState error={siblings.error} retry={() => void siblings.refetch()} />}
      {siblings.isSuccess && !first && <Text c="dimmed">This group is no longer stored.</Text>}
      {first && (
        <>
          <div className={ui.caption}>Prompt</div>
          <Written label="Prompt">{first.prompt}</Written>
          <Group gap="lg" mt="xs" mb="sm">
            <Fact label="Reference answer" value={first.answer === null ? DASH : formatValue(first.answer)} />
            <Fact label="Prompt id" value={first.prompt_id} />
            <Fact label="Control revision" value={String(first.control_revision)} />
            <Fact label="Weight versions" value={[...new Set(first.policy_versions)].join(" to ")} />
          </Group>
          <Samples run={run} rows={rows} chosen={Number(sample)} search={search} onChange={onChange} />
        </>
      )}
    </Drawer>
  );
}

interface SamplesProps extends Props {
  rows: Rollout[];
  chosen: number;
}

function Samples({ run, rows, chosen, search, onChange }: SamplesProps) {
  const tags = thinkingTags(run.spec);
  const row = rows.find(one => one.sample === chosen) ?? rows[0];
  const overlay = oneOf(search.overlay, OVERLAYS);
  const shown: TokensShown = {
    overlay: overlay ?? "gap",
    token: search.token ?? null,
    thinkingOpen: search.thinking === "open",
  };
  const show = (change: Partial<TokensShown>) =>
    onChange({
      overlay: change.overlay ?? shown.overlay,
      ...("token" in change && { token: change.token ?? undefined }),
      ...(change.thinkingOpen !== undefined && { thinking: change.thinkingOpen ? "open" : undefined }),
    });
  return (
    <>
      <Group gap="sm" mb="xs">
        <SegmentedControl
          size="xs"
          aria-label="Sample view"
          data={[
            { value: "text", label: "Side by side" },
            { value: "tokens", label: "Tokens" },
          ]}
          value={overlay ? "tokens" : "text"}
          onChange={view => onChange({ overlay: view === "tokens" ? "gap" : undefined, token: undefined })}
        />
        {overlay && (
          <div className={classes.cells} style={{ maxWidth: "none" }} role="group" aria-label="Samples">
            {rows.map(one => (
              <button
                key={one.sample}
                type="button"
                className={classes.chip}
                aria-pressed={one === row}
                onClick={() => onChange({ group: `${one.group_id}:${one.sample}`, token: undefined })}
              >
                {one.sample + 1}: {one.reward_error ? "error" : formatNumber(one.reward, 3)}
              </button>
            ))}
          </div>
        )}
      </Group>
      {overlay && row ? (
        <SampleTokens key={row.id} runId={run.id} row={row} tags={tags} shown={shown} onShow={show} />
      ) : (
        <div className={classes.siblings}>
          {rows.map(one => (
            <Sibling
              key={one.sample}
              row={one}
              tags={tags}
              current={one === row}
              onTokens={() => onChange({ group: `${one.group_id}:${one.sample}`, overlay: "gap" })}
            />
          ))}
        </div>
      )}
    </>
  );
}

function Fact({ label, value }: { label: string; value: string }) {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Text size="sm" className="mono">
        {value}
      </Text>
    </div>
  );
}
