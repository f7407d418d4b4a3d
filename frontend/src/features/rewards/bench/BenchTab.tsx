/** The bench: scores samples with one or two definitions before a run spends anything. */
import { Button, Group, Paper, Stack, Switch, Text, Title, Tooltip } from "@mantine/core";
import { IconFlask } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import * as api from "@/api/client";
import type { Reward, RewardVersion } from "@/api/model";
import { restError } from "@/api/problems";
import { curl } from "@/api/snippets";
import { ClusterSelect } from "@/features/pickers/ClusterSelect";
import type { Draft } from "@/features/rewards/definition/useDraft";
import { isObjectText, type Pasted } from "@/features/rewards/samples/samples";
import { useCan } from "@/features/session/session";
import { useSubmit } from "@/lib/useSubmit";
import { CopyIcon } from "@/ui/CopyText";
import { ErrorState } from "@/ui/ErrorState";
import { benchBody, DRAFT, sampleCount, type Samples } from "./bench";
import classes from "./bench.module.css";
import { BenchJobView } from "./BenchJobView";
import { DefinitionPick } from "./DefinitionPick";
import { EarlierJobs } from "./EarlierJobs";
import { readFilter } from "./rescored";
import { SamplePick } from "./SamplePick";

/** Faults that are at fields of the set-up. */
const AT_FIELDS =
  /^\/(definitions\/\d+(\/ref)?|samples(\/(dataset|rows|run|rollouts|step|matching|\d+\/(output_text|item|completion_tokens)))?)$/;

interface Props {
  reward: Reward;
  versions: RewardVersion[];
  version: RewardVersion;
  draft: Draft;
  samples: Pasted[];
  onSamples: (next: Pasted[]) => void;
}

export function BenchTab({ reward, versions, version, draft, samples, onSamples }: Props) {
  const search = useSearch({ from: "/app/rewards/$rewardId" });
  const navigate = useNavigate({ from: "/rewards/$rewardId" });
  const client = useQueryClient();
  const editor = useCan("editor");
  const [kind, setKind] = useState<Samples["kind"]>(search.run ? "run" : "pasted");
  const [dataset, setDataset] = useState<Extract<Samples, { kind: "dataset" }>>({
    kind: "dataset",
    ref: null,
    rows: [],
  });
  const [run, setRun] = useState<Extract<Samples, { kind: "run" }>>({
    kind: "run",
    run: search.run ?? null,
    rollouts: search.rollouts?.split(",") ?? [],
    matching: readFilter(search.matching),
  });
  // Until a person chooses: the version shown, against the draft once there is one.
  const [first, setFirst] = useState<string | null>(null);
  const [second, setSecond] = useState<string | null | undefined>(undefined);
  const [probes, setProbes] = useState(true);
  const [cluster, setCluster] = useState<string | null>(null);
  const against = second === undefined ? (draft.changed ? DRAFT : null) : second;
  const definitions = [first ?? version.ref, ...(against === null ? [] : [against])];
  const chosen: Samples = kind === "pasted" ? { kind, samples } : kind === "dataset" ? dataset : run;
  const count = sampleCount(chosen);
  const readable = kind !== "pasted" || samples.every(sample => isObjectText(sample.item));
  const body = () => benchBody(definitions, draft.definition, chosen, probes, cluster);
  const start = useSubmit({
    mutationFn: () => api.createRewardBench(body()),
    onSuccess: job => {
      client.setQueryData(["benches", job.id], job);
      void client.invalidateQueries({ queryKey: ["benches"], exact: true });
      void navigate({
        search: previous => ({ ...previous, job: job.id, show: undefined }),
        replace: true,
        resetScroll: false,
      });
    },
  });
  return (
    <Stack gap="md" data-testid="bench">
      <Paper p="md" component="section" aria-label="Set up the bench">
        <div className={classes.setup}>
          <Stack gap="sm">
            <Title order={2} className={classes.title}>
              Definitions
            </Title>
            <DefinitionPick
              reward={reward}
              versions={versions}
              draft={draft}
              first={definitions[0] ?? version.ref}
              second={against}
              onFirst={setFirst}
              onSecond={setSecond}
              error={start.error}
            />
            <Switch
              label="Adversarial probes"
              description="Also scores empty, very long, echoed, repeated and hollow answers, and flags those that are rewarded."
              checked={probes}
              onChange={event => setProbes(event.currentTarget.checked)}
              data-testid="bench-probes"
            />
            <ClusterSelect
              value={cluster}
              fork={false}
              onChange={next => setCluster(next ?? null)}
              description="Where samples are scored."
              anyLabel="Any: the one with the most free capacity"
            />
          </Stack>
          <SamplePick
            kind={kind}
            onKind={setKind}
            samples={samples}
            onSamples={onSamples}
            dataset={dataset}
            onDataset={setDataset}
            run={run}
            onRun={setRun}
            error={start.error}
          />
        </div>
        {restError(start.error, AT_FIELDS) !== null && <ErrorState error={start.error} />}
        <Group justify="flex-end" gap="xs" mt="sm">
          <Text size="xs" c="dimmed" flex={1}>
            {editor ? "Scored on the cluster, which has a jail and judges." : "Scoring needs the editor role."}
          </Text>
          {readable && <CopyIcon value={curl("POST", "/rewards/bench", body())} label="Copy as curl" />}
          <Tooltip label="Choose samples first" disabled={count !== 0}>
            <Button
              leftSection={<IconFlask size={15} />}
              loading={start.isPending}
              disabled={!editor || count === 0 || !readable}
              onClick={() => start.mutate()}
              data-testid="start-bench"
            >
              Score {count === null ? "all matching" : count === 1 ? "1 sample" : `${count} samples`}
            </Button>
          </Tooltip>
        </Group>
      </Paper>
      <EarlierJobs
        reward={reward}
        current={search.job}
        onPick={job => void navigate({ search: previous => ({ ...previous, job }), replace: true, resetScroll: false })}
      />
      {search.job && <BenchJobView key={search.job} id={search.job} />}
    </Stack>
  );
}
