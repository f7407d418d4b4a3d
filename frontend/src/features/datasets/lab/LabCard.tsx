/** One operation: what it does, what it will cost, the job, and what it found. */
import { Alert, Button, Group, Paper, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Dataset, DatasetVersion, LabJob, LabOperation, LabReport, RowQueryNoteCondition } from "@/api/model";
import { restError } from "@/api/problems";
import { useCan } from "@/features/session/session";
import { formatAgo, formatDuration } from "@/lib/format";
import { ErrorState } from "@/ui/ErrorState";
import { Loaded } from "@/ui/Loaded";
import { Nothing } from "@/ui/Nothing";
import { JobState } from "./JobState";
import { costText, isOpen } from "./lab-text";
import { labJobQuery } from "./queries";
import { useLab } from "./useLab";

export interface CardProps {
  dataset: Dataset;
  version: DatasetVersion;
  /** Jobs of this kind, newest first. */
  jobs: LabJob[];
}

/** A version that is made of what was found. */
export interface MadeVersion {
  label: string;
  /** What the row notes say of its rows. */
  condition: Omit<RowQueryNoteCondition, "notes">;
  disabled: boolean;
}

interface Props extends CardProps {
  title: string;
  description: string;
  /** null if a choice is missing, without which it cannot be carried out. */
  operation: LabOperation | null;
  /** Its options, with the reasons why the last request was rejected. */
  options?: ReactNode | ((error: unknown) => ReactNode);
  /** Matches pointers of refusals that the choices show at their fields. */
  shown?: RegExp;
  startLabel: string;
  /** Text before the first job. */
  never: string;
  /** Label of the button that undoes the job's results. */
  undoLabel?: string;
  made?: (report: LabReport) => MadeVersion | null;
  children: (report: LabReport, job: LabJob) => ReactNode;
}

const NOWHERE = /^$/;

export function LabCard({ dataset, version, jobs, title, operation, options, made, children, ...words }: Props) {
  const editor = useCan("editor");
  const lab = useLab(dataset, version);
  const latest = jobs[0];
  const kind = title.toLowerCase();
  const done = jobs.find(job => job.state === "done" && job.notes.length > 0);
  const busy = latest !== undefined && isOpen(latest);
  // A cost holds for what was asked, and not for other choices made since.
  const isOf = (variables: LabOperation | undefined) =>
    operation !== null && JSON.stringify(variables) === JSON.stringify(operation);
  const asked = isOf(lab.cost.variables);
  const refused = (asked ? lab.cost.error : null) ?? (isOf(lab.start.variables) ? lab.start.error : null);
  const elsewhere = restError(refused, words.shown ?? NOWHERE);
  return (
    <Paper p="md" component="article" aria-labelledby={`lab-${kind}-title`} data-testid={`lab-${kind}`}>
      <Title order={2} id={`lab-${kind}-title`}>
        {title}
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        {words.description}
      </Text>
      {editor && !busy && (
        <Stack gap="sm" mb="md" align="flex-start">
          {typeof options === "function" ? options(refused) : options}
          {!(asked && lab.cost.data) && (
            <Button
              variant="default"
              disabled={operation === null}
              loading={lab.cost.isPending}
              onClick={() => operation && lab.cost.mutate(operation)}
            >
              {done ? "Run again" : "Estimate cost"}
            </Button>
          )}
          {elsewhere !== null && <ErrorState error={elsewhere} />}
          {asked && lab.cost.data && (
            <Alert color="petrol" role="status" w="100%" data-testid="lab-cost">
              <Text size="sm">{costText(lab.cost.data.cost)}</Text>
              <Button
                mt="sm"
                size="xs"
                loading={lab.start.isPending}
                onClick={() => operation && lab.start.mutate(operation)}
              >
                {words.startLabel}
              </Button>
            </Alert>
          )}
        </Stack>
      )}
      {latest && (
        <JobState
          job={latest}
          editor={editor}
          resuming={lab.resume.isPending}
          onResume={() => lab.resume.mutate(latest.id)}
          onCancel={() => lab.cancel.mutate(latest.id)}
        />
      )}
      {done ? (
        <Found job={done} notes={kind} undoLabel={words.undoLabel} {...{ editor, lab, made }}>
          {children}
        </Found>
      ) : (
        !busy && <Nothing>{latest ? "The last job produced no notes." : words.never}</Nothing>
      )}
    </Paper>
  );
}

interface FoundProps extends Pick<Props, "made" | "children" | "undoLabel"> {
  job: LabJob;
  notes: string;
  editor: boolean;
  lab: ReturnType<typeof useLab>;
}

function Found({ job, notes, editor, lab, made, children, undoLabel = "Undo: remove notes" }: FoundProps) {
  const query = useQuery(labJobQuery(job.id));
  return (
    <Loaded query={query}>
      {({ report }) => {
        if (!report) return null;
        const version = made?.(report);
        return (
          <Stack gap="sm" data-testid="lab-found">
            {children(report, job)}
            <Group gap="sm" justify="space-between">
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
                    {undoLabel}
                  </Button>
                  {version && (
                    <Button
                      size="xs"
                      disabled={version.disabled}
                      loading={lab.make.isPending}
                      onClick={() =>
                        lab.make.mutate({
                          name: "filter",
                          query: { notes: [{ notes, ...version.condition }] },
                        })
                      }
                    >
                      {version.label}
                    </Button>
                  )}
                </Group>
              )}
            </Group>
          </Stack>
        );
      }}
    </Loaded>
  );
}
