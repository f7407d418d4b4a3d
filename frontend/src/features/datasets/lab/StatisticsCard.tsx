/** Statistics: how the rows are spread over lengths, languages, scripts and kinds of answers. */
import { Alert, Button, Group, Paper, Progress, SimpleGrid, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Dataset, DatasetVersion, LabJob, StatisticsReport } from "@/api/model";
import { useCan } from "@/features/session/session";
import { formatAgo, formatDuration, formatPercent } from "@/lib/format";
import { ErrorState } from "@/ui/ErrorState";
import { Loaded } from "@/ui/Loaded";
import { Nothing } from "@/ui/Nothing";
import { JobState } from "./JobState";
import { costText, isOpen } from "./lab-text";
import { labJobQuery } from "./queries";
import { useLab } from "./useLab";

const OPERATION = { kind: "statistics" } as const;

interface Props {
  dataset: Dataset;
  version: DatasetVersion;
  /** Jobs of this kind, newest first. */
  jobs: LabJob[];
}

export function StatisticsCard({ dataset, version, jobs }: Props) {
  const editor = useCan("editor");
  const lab = useLab(dataset, version);
  const latest = jobs[0];
  const done = jobs.find(job => job.state === "done" && job.notes.length > 0);
  const busy = latest !== undefined && isOpen(latest);
  return (
    <Paper p="md" component="article" aria-labelledby="lab-statistics" data-testid="lab-statistics">
      <Title order={2} id="lab-statistics">
        Statistics
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        Length, language and script of each question, and the kind of its gold answer.
      </Text>
      {editor && !busy && (
        <Stack gap="sm" mb="md" align="flex-start">
          {!lab.cost.data && (
            <Button variant="default" loading={lab.cost.isPending} onClick={() => lab.cost.mutate(OPERATION)}>
              {done ? "Look again" : "What will it cost?"}
            </Button>
          )}
          {lab.cost.error && <ErrorState error={lab.cost.error} />}
          {lab.start.error && <ErrorState error={lab.start.error} />}
          {lab.cost.data && (
            <Alert color="petrol" role="status" w="100%">
              <Text size="sm">{costText(lab.cost.data.cost)}</Text>
              <Button mt="sm" size="xs" loading={lab.start.isPending} onClick={() => lab.start.mutate(OPERATION)}>
                Count
              </Button>
            </Alert>
          )}
        </Stack>
      )}
      {latest && <JobState job={latest} editor={editor} onCancel={() => lab.cancel.mutate(latest.id)} />}
      {done ? (
        <Found job={done} editor={editor} lab={lab} />
      ) : (
        !busy && (
          <Nothing>
            {latest ? "The last job left no notes." : "Nobody has counted the rows of this version yet."}
          </Nothing>
        )
      )}
    </Paper>
  );
}

function Found({ job, editor, lab }: { job: LabJob; editor: boolean; lab: ReturnType<typeof useLab> }) {
  const query = useQuery(labJobQuery(job.id));
  return (
    <Loaded query={query}>
      {({ report }) =>
        report?.statistics ? (
          <Stack gap="sm" data-testid="lab-counted">
            <Spread report={report.statistics} />
            <Group gap="sm" justify="space-between">
              <Text size="xs" c="dimmed">
                Counted {formatAgo(job.finished_at)} by {job.created_by} in {formatDuration(job.seconds)}.
              </Text>
              {editor && (
                <Button
                  size="xs"
                  variant="default"
                  loading={lab.undo.isPending}
                  onClick={() => lab.undo.mutate(job.id)}
                >
                  Undo: remove the notes
                </Button>
              )}
            </Group>
          </Stack>
        ) : null
      }
    </Loaded>
  );
}

export function Spread({ report }: { report: StatisticsReport }) {
  const range = ({ least, most }: { least: number; most: number }) =>
    least === most ? least.toLocaleString("en-GB") : `${least.toLocaleString("en-GB")}–${most.toLocaleString("en-GB")}`;
  const bins = (of: StatisticsReport["words"]) => of.map(bin => ({ name: range(bin), rows: bin.rows }));
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="lg">
      <Bars title="Words" total={report.rows} bars={bins(report.words)} />
      <Bars title="Characters" total={report.rows} bars={bins(report.characters)} />
      <Bars title="Kind of answer" total={report.rows} bars={report.answer_types} />
      <Bars title="Language" total={report.rows} bars={report.languages} />
      <Bars title="Script" total={report.rows} bars={report.scripts} />
    </SimpleGrid>
  );
}

function Bars({ title, total, bars }: { title: string; total: number; bars: { name: string; rows: number }[] }) {
  const most = Math.max(1, ...bars.map(bar => bar.rows));
  return (
    <section aria-label={title}>
      <Title order={3} size="h5" mb={4}>
        {title}
      </Title>
      <Stack gap={3} component="ul" p={0} m={0} style={{ listStyle: "none" }}>
        {bars.map(({ name, rows }) => (
          <Group key={name} component="li" gap="xs" wrap="nowrap">
            <Text size="xs" className="num" w={110} ta="right" style={{ flexShrink: 0 }}>
              {name}
            </Text>
            <Progress value={(rows / most) * 100} style={{ flex: 1 }} aria-hidden="true" />
            <Text size="xs" c="dimmed" className="num" w={92} style={{ flexShrink: 0 }}>
              {rows.toLocaleString("en-GB")} · {formatPercent(rows / Math.max(1, total))}
            </Text>
          </Group>
        ))}
      </Stack>
    </section>
  );
}
