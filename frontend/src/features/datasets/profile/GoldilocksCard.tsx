/** Goldilocks in two stages as one step of the lab: the form, how far it has come, and what it kept. */
import { Alert, Button, Group, Paper, Progress, Text, Title } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import * as api from "@/api/client";
import type { Dataset, DatasetVersion, Goldilocks } from "@/api/model";
import { useCan } from "@/features/session/session";
import { percentOf } from "@/lib/format";
import { Loaded } from "@/ui/Loaded";
import { Nothing } from "@/ui/Nothing";
import { Placeholder } from "@/ui/Placeholder";
import { toastError } from "@/ui/toast";
import { GoldilocksForm } from "./GoldilocksForm";
import { GoldilocksFound } from "./GoldilocksFound";
import { NO_GOLDILOCKS, STAGE_WORDS, stageTwoOf } from "./goldilocks";
import { phaseOf } from "./ProfileView";
import { goldilocksQuery, isTrying, profileQuery } from "./queries";

interface Props {
  dataset: Dataset;
  version: DatasetVersion;
}

export function GoldilocksCard({ dataset, version }: Props) {
  const found = useQuery(goldilocksQuery(dataset.id, version.number));
  return (
    <Paper p="md" component="article" aria-labelledby="goldilocks-title" data-testid="goldilocks">
      <Title order={2} id="goldilocks-title">
        Goldilocks in two stages
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        One policy, then a stronger one, tries every row several times. Rows that are always or never solved are left
        out, as are rows whose samples agree on an answer other than the gold answer.
      </Text>
      <Loaded query={found} skeleton={<Placeholder height={160} />}>
        {({ data }) => <Jobs dataset={dataset} version={version} jobs={data} />}
      </Loaded>
    </Paper>
  );
}

function Jobs({ dataset, version, jobs }: Props & { jobs: Goldilocks[] }) {
  const client = useQueryClient();
  const editor = useCan("editor");
  const [fields, setFields] = useState(NO_GOLDILOCKS);
  const [asking, setAsking] = useState(false);
  const [latest] = jobs;
  const done = jobs.find(job => job.state === "done" && job.made !== null);
  const busy = latest !== undefined && isTrying(latest);
  const made = latest?.made?.ref;
  useEffect(() => {
    if (made) void client.invalidateQueries({ queryKey: ["datasets", dataset.id], exact: true });
  }, [client, dataset.id, made]);
  const open = editor && !busy && (asking || latest === undefined);
  return (
    <>
      {latest?.state === "failed" && (
        <Alert color="red" role="alert" mb="sm" title="The last job failed">
          {latest.error ?? "The platform gave no reason."}
        </Alert>
      )}
      {latest && busy && <Working job={latest} editor={editor} onCancelled={() => setAsking(true)} />}
      {open && (
        <GoldilocksForm {...{ dataset, version, fields }} onChange={setFields} onStarted={() => setAsking(false)} />
      )}
      {editor && !busy && !open && (
        <Button variant="default" mb="md" onClick={() => setAsking(true)}>
          Retry
        </Button>
      )}
      {done ? (
        <GoldilocksFound
          key={done.id}
          job={done}
          dataset={dataset}
          editor={editor}
          onStageTwo={
            busy
              ? null
              : () => {
                  setFields(stageTwoOf(done, version));
                  setAsking(true);
                }
          }
        />
      ) : (
        !busy && <Nothing>{latest ? "The last job created no version." : "Not run yet."}</Nothing>
      )}
    </>
  );
}

function Working({ job, editor, onCancelled }: { job: Goldilocks; editor: boolean; onCancelled: () => void }) {
  const client = useQueryClient();
  const stage = job.stages.find(one => one.stage === job.state);
  const id = stage?.profile ?? null;
  const profile = useQuery({ ...profileQuery(id ?? ""), enabled: id !== null }).data;
  const cancel = useMutation({
    mutationFn: () => api.cancelGoldilocks(job.id),
    onSuccess: onCancelled,
    onError: error => toastError("The job was not cancelled", error),
    onSettled: () => client.invalidateQueries({ queryKey: ["datasets"] }),
  });
  const total = profile?.progress?.total ?? 0;
  const share = profile?.progress && total > 0 ? percentOf(profile.progress.done, total) : null;
  const phase = profile === undefined ? "is starting" : profile.report ? "is done; storing results" : phaseOf(profile);
  return (
    <Group mb="sm" gap="sm" wrap="nowrap" align="center" data-testid="goldilocks-progress">
      <div style={{ flex: 1, minWidth: 0 }}>
        <Progress value={share ?? 100} animated={share === null} aria-label="Progress of the stage" />
        <Text size="sm" mt={6} className="num" role="status">
          {STAGE_WORDS[job.state as "first" | "second"]} of {job.stages.length}, {stage?.policy}: {phase}
        </Text>
      </div>
      {editor && (
        <Button size="compact-sm" variant="default" loading={cancel.isPending} onClick={() => cancel.mutate()}>
          Cancel
        </Button>
      )}
    </Group>
  );
}
