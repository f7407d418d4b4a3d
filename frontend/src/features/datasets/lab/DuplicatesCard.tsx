/** Duplicates: what to compare, the job, and what it found. */
import { Alert, Badge, Button, Checkbox, Group, NumberInput, Paper, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Dataset, DatasetVersion, DuplicateCluster, DuplicatesReport, LabJob } from "@/api/model";
import { useCan } from "@/features/session/session";
import { formatAgo, formatDuration, formatPercent } from "@/lib/format";
import { ErrorState } from "@/ui/ErrorState";
import { Facts } from "@/ui/Facts";
import { Loaded } from "@/ui/Loaded";
import { Nothing } from "@/ui/Nothing";
import { TextLink } from "@/ui/TextLink";
import { JobState } from "./JobState";
import { costText, isOpen } from "./lab-text";
import { labJobQuery } from "./queries";
import { useLab } from "./useLab";

interface Props {
  dataset: Dataset;
  version: DatasetVersion;
  /** Jobs of this kind, newest first. */
  jobs: LabJob[];
}

export function DuplicatesCard({ dataset, version, jobs }: Props) {
  const editor = useCan("editor");
  const [threshold, setThreshold] = useState(80);
  const [sameFigures, setSameFigures] = useState(true);
  const lab = useLab(dataset, version);
  const operation = {
    kind: "duplicates",
    threshold: threshold / 100,
    same_figures: sameFigures,
  } as const;
  const latest = jobs[0];
  const done = jobs.find(job => job.state === "done" && job.notes.length > 0);
  const busy = latest !== undefined && isOpen(latest);
  return (
    <Paper p="md" component="article" aria-labelledby="lab-duplicates" data-testid="lab-duplicates">
      <Title order={2} id="lab-duplicates">
        Duplicates
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        Rows that say the same: but for case, spaces and the punctuation of sentences, or nearly. Each near pair is
        compared shingle by shingle before it is told.
      </Text>
      {editor && !busy && (
        <Stack gap="sm" mb="md">
          <Group align="flex-end" gap="sm">
            <NumberInput
              label="Likeness from"
              description="Percent of three-word runs in common"
              suffix=" %"
              min={50}
              max={100}
              allowDecimal={false}
              clampBehavior="strict"
              w={220}
              value={threshold}
              onChange={value => {
                setThreshold(Number(value) || 80);
                lab.cost.reset();
              }}
            />
            <Button
              variant="default"
              disabled={threshold < 50}
              loading={lab.cost.isPending}
              onClick={() => lab.cost.mutate(operation)}
            >
              {done ? "Look again" : "What will it cost?"}
            </Button>
          </Group>
          <Checkbox
            label="Questions with other numbers are other questions"
            checked={sameFigures}
            onChange={event => {
              setSameFigures(event.currentTarget.checked);
              lab.cost.reset();
            }}
          />
          {lab.cost.error && <ErrorState error={lab.cost.error} />}
          {lab.start.error && <ErrorState error={lab.start.error} />}
          {lab.cost.data && (
            <Alert color="petrol" role="status" data-testid="lab-cost">
              <Text size="sm">{costText(lab.cost.data.cost)}</Text>
              <Button mt="sm" size="xs" loading={lab.start.isPending} onClick={() => lab.start.mutate(operation)}>
                Find duplicates
              </Button>
            </Alert>
          )}
        </Stack>
      )}
      {latest && <JobState job={latest} editor={editor} onCancel={() => lab.cancel.mutate(latest.id)} />}
      {done ? (
        <Found dataset={dataset} version={version} job={done} editor={editor} lab={lab} />
      ) : (
        !busy && (
          <Nothing>
            {latest ? "The last job left no notes." : "Nobody has looked for duplicates in this version yet."}
          </Nothing>
        )
      )}
    </Paper>
  );
}

interface FoundProps extends Omit<Props, "jobs"> {
  job: LabJob;
  editor: boolean;
  lab: ReturnType<typeof useLab>;
}

function Found({ dataset, version, job, editor, lab }: FoundProps) {
  const query = useQuery(labJobQuery(job.id));
  return (
    <Loaded query={query}>
      {({ report }) =>
        report?.duplicates ? (
          <Stack gap="sm" data-testid="lab-found">
            <Report report={report.duplicates} />
            <Group gap="sm" justify="space-between">
              {report.duplicates.clusters > 0 && (
                <TextLink
                  size="sm"
                  to="/datasets/$datasetId"
                  params={{ datasetId: dataset.id }}
                  search={{ version: version.number, tab: "rows", notes: "duplicates.size:2.." }}
                >
                  Show these rows
                </TextLink>
              )}
              <Text size="xs" c="dimmed">
                Found {formatAgo(job.finished_at)} by {job.created_by} in {formatDuration(job.seconds)}.
              </Text>
              {editor && (
                <Group gap="xs">
                  <Button
                    size="xs"
                    variant="default"
                    loading={lab.undo.isPending}
                    onClick={() => lab.undo.mutate(job.id)}
                  >
                    Undo: remove the notes
                  </Button>
                  <Button
                    size="xs"
                    disabled={report.duplicates.kept === report.duplicates.rows || report.duplicates.kept === 0}
                    loading={lab.make.isPending}
                    onClick={() =>
                      lab.make.mutate({
                        name: "filter",
                        query: { notes: [{ notes: "duplicates", column: "keep", equals: true }] },
                      })
                    }
                  >
                    Make a version with one of each
                  </Button>
                </Group>
              )}
            </Group>
          </Stack>
        ) : null
      }
    </Loaded>
  );
}

export function Report({ report }: { report: DuplicatesReport }) {
  const count = (value: number) => value.toLocaleString("en-GB");
  if (report.clusters === 0) return <Nothing>All {count(report.rows)} rows are different.</Nothing>;
  return (
    <>
      <Facts
        facts={[
          ["Rows", count(report.rows)],
          ["Left with one of each", count(report.kept)],
          ["Equal to another", count(report.equal_rows)],
          ["Nearly another", count(report.near_rows)],
          ["Clusters", count(report.clusters)],
          ["With different answers", count(report.conflicts)],
        ]}
      />
      {report.conflicts > 0 && (
        <Alert color="yellow" role="status">
          {report.conflicts === 1 ? "One cluster has" : `${count(report.conflicts)} clusters have`} different gold
          answers to the same question: look at them first.
        </Alert>
      )}
      <Stack gap="xs" component="ul" p={0} m={0} style={{ listStyle: "none" }} aria-label="Largest clusters">
        {report.largest.map(cluster => (
          <Cluster key={cluster.cluster} cluster={cluster} />
        ))}
      </Stack>
    </>
  );
}

function Cluster({ cluster }: { cluster: DuplicateCluster }) {
  return (
    <Paper withBorder p="xs" component="li">
      <Group gap="xs" mb={4}>
        <Badge variant="light" color={cluster.kind === "equal" ? "petrol" : "gray"}>
          {cluster.kind === "equal" ? "equal" : `${formatPercent(cluster.similarity)} alike`}
        </Badge>
        <Text size="sm">{cluster.size.toLocaleString("en-GB")} rows</Text>
        {cluster.answers_differ && (
          <Badge color="yellow" variant="light">
            answers differ
          </Badge>
        )}
      </Group>
      {cluster.rows.map(row => (
        <Text key={`${row.ref} ${row.index}`} size="sm" style={{ overflowWrap: "anywhere" }} mt={2}>
          <Text span size="xs" c="dimmed" className="mono">
            {row.ref} · {row.index + 1}
          </Text>{" "}
          {row.text}
          {row.answer !== null && (
            <Text span size="sm" c="dimmed">
              {" "}
              → {row.answer}
            </Text>
          )}
        </Text>
      ))}
    </Paper>
  );
}
