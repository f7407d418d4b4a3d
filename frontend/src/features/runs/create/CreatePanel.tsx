import { Alert, Anchor, Button, Loader, Paper, Stack, Text, Title } from "@mantine/core";
import { IconCheck, IconPlayerPlay } from "@tabler/icons-react";
import type { CreateRehearsalRequest, Mend, Spec } from "@/api/model";
import { objectiveOf } from "@/entities/runs/objective";
import { RehearsePanel } from "@/features/rehearsals/RehearsePanel";
import { ClusterPanel } from "@/features/runs/forecast/ClusterPanel";
import { ExplainPanel } from "@/features/runs/forecast/ExplainPanel";
import { MemoryPanel } from "@/features/runs/forecast/MemoryPanel";
import { PlanPanel } from "@/features/runs/forecast/PlanPanel";
import { ChangeList } from "@/features/schema-form/ChangeList";
import type { Change } from "@/features/schema-form/pointer";
import { useCan } from "@/features/session/session";
import { ErrorState } from "@/ui/ErrorState";
import classes from "./create.module.css";
import type { Checked } from "./useValidation";

interface Props {
  spec: Spec;
  /** Where the run is to go, and so its rehearsal. */
  where: Pick<CreateRehearsalRequest, "cluster" | "run">;
  changes: Change[];
  baseLabel: string;
  checked: Checked;
  /** Why the text that is typed cannot be read: then `spec` is not what the person means. */
  unread: string | null;
  named: boolean;
  pending: "start" | "draft" | null;
  error: unknown;
  onCreate: (start: boolean) => void;
  onReveal: (section: string) => void;
  /** Makes the changes that clear a fault. */
  onMend: (changes: Mend["changes"]) => void;
  /** Sections that the objective has no use for. */
  stray: string[];
  onRemove: () => void;
}

const NOTE = "create-note";
/** A label may take several lines. */
const MEND = { root: { height: "auto", minHeight: 24 }, label: { whiteSpace: "normal" } } as const;

/** Faults, prediction, differences, and the two ways to create the run. */
export function CreatePanel(props: Props) {
  const {
    spec,
    where,
    changes,
    baseLabel,
    checked,
    unread,
    named,
    pending,
    error,
    onCreate,
    onReveal,
    onMend,
    stray,
    onRemove,
  } = props;
  const operator = useCan("operator");
  const editor = useCan("editor");
  const accepted = unread === null && checked.validation?.valid === true && !checked.checking;
  const ready = named && accepted;
  const objective = objectiveOf(spec);
  return (
    <div className={classes.side}>
      <Stack gap="sm">
        <Paper p="sm">
          <Stack gap={8}>
            <Button
              leftSection={<IconPlayerPlay size={15} />}
              disabled={!ready || !operator || pending !== null}
              loading={pending === "start"}
              onClick={() => onCreate(true)}
              aria-describedby={NOTE}
              data-testid="create-and-start"
            >
              Create and start
            </Button>
            <Button
              variant="default"
              disabled={!ready || !editor || pending !== null}
              loading={pending === "draft"}
              onClick={() => onCreate(false)}
              aria-describedby={NOTE}
              data-testid="create-draft"
            >
              Create as draft
            </Button>
            <div id={NOTE}>
              {unread === null ? (
                <ValidationNote {...{ checked, onReveal, onMend, stray, onRemove }} />
              ) : (
                <UnreadNote fault={unread} />
              )}
            </div>
            {!operator && (
              <Text size="xs" c="dimmed">
                {editor ? "Starting runs needs the operator role." : "Creating runs needs the editor role."}
              </Text>
            )}
          </Stack>
        </Paper>
        {error !== null && <ErrorState error={error} />}
        <PlanPanel spec={spec} valid={accepted} />
        {objective === "rl" && <ClusterPanel spec={spec} valid={accepted} />}
        {objective === "rl" && <RehearsePanel spec={spec} ready={accepted} where={where} />}
        <ExplainPanel explanation={checked.validation?.explanation} objective={objective} />
        <MemoryPanel memory={checked.validation?.explanation?.memory} engines={objective === "rl"} />
        <Paper p="sm" component="section" aria-label={`Changed from ${baseLabel}`}>
          <Title order={3} mb={6}>
            Changed from {baseLabel}
          </Title>
          <ChangeList changes={changes} empty="No changes." />
        </Paper>
      </Stack>
    </div>
  );
}

function UnreadNote({ fault }: { fault: string }) {
  return (
    <Alert color="red" p="xs" role="status" title="Invalid text" data-testid="spec-unread">
      <Text size="xs" lineClamp={2}>
        {fault}
      </Text>
      <Text size="xs" mt={4}>
        Fix it to create a run. Below is the last valid version.
      </Text>
    </Alert>
  );
}

type NoteProps = Pick<Props, "checked" | "onReveal" | "onMend" | "stray" | "onRemove">;

function ValidationNote({ checked, onReveal, onMend, stray, onRemove }: NoteProps) {
  if (checked.error) return <ErrorState error={checked.error} />;
  const errors = checked.validation?.errors ?? [];
  if (errors.length > 0) {
    return (
      <Alert
        color="red"
        p="xs"
        role="alert"
        title={errors.length === 1 ? "One error" : `${errors.length} errors`}
        data-testid="spec-errors"
      >
        {errors.slice(0, 8).map(fault => {
          const section = fault.pointer.split("/")[1] ?? "";
          return (
            <div key={fault.pointer + fault.detail} style={{ fontSize: 12.5, marginTop: 4 }}>
              <Anchor component="button" type="button" size="xs" className="mono" onClick={() => onReveal(section)}>
                {fault.pointer.slice(1).replaceAll("/", ".") || "spec"}
              </Anchor>
              <br />
              {fault.detail}
              {fault.mend && (
                <Button
                  variant="light"
                  size="compact-xs"
                  mt={4}
                  styles={MEND}
                  disabled={checked.checking}
                  onClick={() => onMend(fault.mend?.changes ?? [])}
                >
                  {fault.mend.label}
                </Button>
              )}
            </div>
          );
        })}
        {stray.length > 0 && (
          <Button variant="light" size="compact-xs" mt={6} styles={MEND} onClick={onRemove}>
            Remove {stray.join(", ")}
          </Button>
        )}
      </Alert>
    );
  }
  return (
    <Text size="xs" c="dimmed" role="status" style={{ display: "flex", alignItems: "center", gap: 6, minHeight: 20 }}>
      {checked.checking ? <Loader size={12} /> : <IconCheck size={14} color="var(--c-good)" />}
      {checked.checking ? "Checking" : "Valid spec"}
    </Text>
  );
}
