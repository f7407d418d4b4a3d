/**
 * The result of a Goldilocks job: kept and dropped rows, version, suspects, and stage two if only stage one was run.
 */
import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import * as api from "@/api/client";
import type { Dataset, Goldilocks } from "@/api/model";
import { formatAgo, formatCount } from "@/lib/format";
import { Facts } from "@/ui/Facts";
import { Loaded } from "@/ui/Loaded";
import { TextLink } from "@/ui/TextLink";
import { toastError } from "@/ui/toast";
import { STAGE_WORDS, stageText } from "./goldilocks";
import { profileQuery } from "./queries";
import { Suspects } from "./Suspects";

interface Props {
  job: Goldilocks;
  dataset: Dataset;
  editor: boolean;
  /** null while one is in progress. */
  onStageTwo: (() => void) | null;
}

export function GoldilocksFound({ job, dataset, editor, onStageTwo }: Props) {
  const client = useQueryClient();
  const undo = useMutation({
    mutationFn: () => api.undoGoldilocks(job.id),
    onError: error => toastError("The version was not deleted", error),
    onSettled: () => client.invalidateQueries({ queryKey: ["datasets"] }),
  });
  const { report, made, stages } = job;
  if (!report || !made) return null;
  const last = stages.at(-1)?.profile;
  return (
    <Stack gap="sm" data-testid="goldilocks-found">
      <Facts
        facts={[
          ["Kept", `${formatCount(report.kept)} of ${formatCount(report.rows)} rows`],
          ...report.stages.map((stage): [string, string] => [
            `${STAGE_WORDS[stage.stage]}, ${stage.policy}${stage.reused ? " (stored profile)" : ""}`,
            stageText(stage),
          ]),
          ...(report.returned > 0 ? [["Returned in stage two", formatCount(report.returned)] as [string, string]] : []),
          [
            "Suspect gold answers inside the band",
            `${formatCount(report.suspects)}, ${formatCount(report.suspects_left_out)} left out`,
          ],
        ]}
      />
      <TextLink
        size="sm"
        to="/datasets/$datasetId"
        params={{ datasetId: made.dataset_id }}
        search={{ version: made.number }}
      >
        Open {made.ref} with {formatCount(made.rows)} rows
      </TextLink>
      {stages.length === 1 && (
        <Alert color="petrol" data-testid="goldilocks-next">
          <Text size="sm">
            Stage one kept {formatCount(made.rows)} rows. Train a stronger policy on {made.ref}, register a checkpoint
            of it as a policy, and continue. Stage two reuses the measurements of stage one at no cost.
          </Text>
          {editor && (
            <Button mt="sm" size="xs" disabled={onStageTwo === null} onClick={() => onStageTwo?.()}>
              Continue with stage two
            </Button>
          )}
        </Alert>
      )}
      {last && <SuspectsOf id={last} dataset={dataset} />}
      <Group gap="sm" justify="space-between">
        <Text size="xs" c="dimmed">
          Created {formatAgo(job.finished_at)} by {job.created_by}.
        </Text>
        {editor && (
          <Button size="xs" variant="default" loading={undo.isPending} onClick={() => undo.mutate()}>
            Undo: delete version and notes
          </Button>
        )}
      </Group>
    </Stack>
  );
}

function SuspectsOf({ id, dataset }: { id: string; dataset: Dataset }) {
  return (
    <Loaded query={useQuery(profileQuery(id))}>
      {profile => profile.report && <Suspects profile={profile} report={profile.report} dataset={dataset} />}
    </Loaded>
  );
}
