/** The form of a new run next to its differences, faults and the buttons that create it. */
import { Tabs, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import * as api from "@/api/client";
import type { Json, JsonSchema, Mend, Spec } from "@/api/model";
import { type Objective, objectiveOf, wordsOf } from "@/entities/runs/objective";
import { ClusterSelect } from "@/features/pickers/ClusterSelect";
import { PICKERS } from "@/features/pickers/pickers";
import type { FoundField } from "@/features/schema-form/fieldIndex";
import { diff, fromPointer, setIn } from "@/features/schema-form/pointer";
import { SchemaForm } from "@/features/schema-form/SchemaForm";
import { useRequestKey } from "@/lib/useRequestKey";
import { useSubmit } from "@/lib/useSubmit";
import { LeaveGuard } from "@/ui/LeaveGuard";
import { CodeTab } from "./CodeTab";
import { CreatePanel } from "./CreatePanel";
import classes from "./create.module.css";
import { FieldSearch } from "./FieldSearch";
import { schemaFor, strayOf, withObjective, withoutSections } from "@/entities/runs/objectiveSpec";
import { SectionNav, SpecSections } from "./SpecSections";
import type { TextDraft } from "./textDraft";
import { TextTab } from "./TextTab";
import { showField } from "./showField";
import { UnreadText } from "./UnreadText";
import { useValidation } from "./useValidation";

interface Props {
  schema: JsonSchema;
  base: Spec;
  /** What the form starts with, where it is not the base itself. */
  initial?: Spec;
  baseLabel: string;
  name: string;
  fork?: { run: string; checkpoint: string | null };
  /** What the policy is to learn from, where this is not what the form starts with. */
  objective?: Objective;
  /** Called when the text names another objective. */
  onObjective?: (objective: Objective) => void;
}

const NO_ERRORS: { pointer: string; detail: string }[] = [];

export function NewRunForm(props: Props) {
  const { schema: whole, base: start, initial = start, baseLabel, name: firstName, fork, onObjective } = props;
  const asked = props.objective ?? objectiveOf(initial);
  const [spec, setSpec] = useState<Spec>(() => withObjective(whole, initial, asked));
  const [text, setText] = useState<TextDraft | null>(null);
  const [tab, setTab] = useState<string | null>("form");
  /** A preset's name says what it trains for. */
  const nameFor = (one: Objective) => (one === objectiveOf(start) ? firstName : wordsOf(one).run);
  const [name, setName] = useState(nameFor(asked));
  const [cluster, setCluster] = useState<string | null | undefined>(undefined);
  const keyFor = useRequestKey();
  const [open, setOpen] = useState<Set<string>>(
    () => new Set(["policy", "data", "objective", "reward", "rollout", "thinking", "schedule", "optimizer"]),
  );
  const objective = objectiveOf(spec);
  const [seen, setSeen] = useState(asked);
  /** The specs that were left for another objective. */
  const [kept, setKept] = useState<Partial<Record<Objective, Spec>>>({ [objectiveOf(initial)]: initial });
  if (asked !== seen) {
    setSeen(asked);
    if (asked !== objective) {
      setKept({ ...kept, [objective]: spec });
      setSpec(withObjective(whole, spec, asked, kept[asked]));
      setText(null); // written anew from the spec
      if (name === nameFor(objective)) setName(nameFor(asked));
    }
  }
  const stray = strayOf(whole, spec);
  const schema = useMemo(() => schemaFor(whole, objective), [whole, objective]);
  const base = useMemo(() => withObjective(whole, start, objective), [whole, start, objective]);
  const navigate = useNavigate();
  const checked = useValidation(spec);
  const errors = checked.validation?.errors ?? NO_ERRORS;
  const where = cluster === undefined ? {} : { cluster };
  const create = useSubmit({
    mutationFn: async (start: boolean) => {
      const made = { name, spec, start, ...where };
      if (!fork) return api.createRun(made, { "Idempotency-Key": keyFor(made) });
      const body = { name, spec, checkpoint: fork.checkpoint, ...where };
      const run = await api.forkRun(fork.run, body, { "Idempotency-Key": keyFor(body) });
      if (start) await api.startRun(run.id);
      return run;
    },
    onSuccess: run => void navigate({ to: "/runs/$runId", params: { runId: run.id }, ignoreBlocker: true }),
  });
  const unread = text?.fault ?? null;
  const submit = (start: boolean) => {
    // The spec at hand is not what the person sees in the text.
    if (unread === null) create.mutate(start);
  };
  const write = (next: TextDraft) => {
    setText(next);
    if (next.fault !== null) return;
    setSpec(next.spec);
    if (objectiveOf(next.spec) === objective) return;
    setKept({ ...kept, [objective]: spec });
    onObjective?.(objectiveOf(next.spec));
  };
  const mend = (changes: Mend["changes"]) => {
    setText(null); // written anew from the spec
    setSpec(
      before =>
        changes.reduce<Json>(
          (at, change) => setIn(at, fromPointer(change.pointer), change.value),
          before as Json,
        ) as Spec,
    );
  };
  // Sections and defaults that come with an objective are no changes of the person's.
  const compared =
    objective === objectiveOf(start) ? base : setIn(base as Json, ["objective", "type"], objectiveOf(start));
  const changes = diff(compared as Json, spec as Json);
  const toggle = (section: string, next: boolean) =>
    setOpen(previous => {
      const changed = new Set(previous);
      if (next) changed.add(section);
      else changed.delete(section);
      return changed;
    });
  const reveal = (section: string) => {
    toggle(section, true);
    document.getElementById(`section-${section}`)?.scrollIntoView({ block: "start" });
  };
  const find = (field: FoundField) => {
    toggle(String(field.path[0]), true);
    // Once the section has unfolded.
    requestAnimationFrame(() => showField(field.path));
  };
  const waits = unread !== null && (
    <UnreadText fault={unread} onBack={() => setTab("text")} onDrop={() => setText(null)} />
  );
  return (
    <div className={classes.newRun}>
      <LeaveGuard when={changes.length > 0 || name !== nameFor(objective) || unread !== null}>
        Your changes to {baseLabel} are lost unless you create the run, for example as a draft.
      </LeaveGuard>
      <SectionNav
        schema={schema}
        value={spec}
        base={base}
        errors={unread === null ? errors : NO_ERRORS}
        onReveal={reveal}
      />
      <div style={{ minWidth: 0 }}>
        <TextInput
          label="Name"
          value={name}
          onChange={event => setName(event.currentTarget.value)}
          maxLength={120}
          required
          mb="md"
          maw={480}
          error={name.trim() ? undefined : "Enter a name."}
        />
        <ClusterSelect value={cluster} fork={fork !== undefined} onChange={setCluster} />
        <Tabs value={tab} onChange={setTab} keepMounted={false}>
          <Tabs.List mb="md">
            <Tabs.Tab value="form">Form</Tabs.Tab>
            <Tabs.Tab value="text">YAML / JSON</Tabs.Tab>
            <Tabs.Tab value="code">As API</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="form">
            {!waits && (
              <div style={{ marginBottom: 12 }}>
                <FieldSearch schema={schema} value={spec} onChoose={find} />
              </div>
            )}
            {waits || (
              <SchemaForm
                schema={schema}
                value={spec}
                base={base}
                errors={errors}
                pickers={PICKERS}
                onChange={next => setSpec(next as Spec)}
              >
                <SpecSections schema={schema} value={spec} open={open} onToggle={toggle} onChange={setSpec} />
              </SchemaForm>
            )}
          </Tabs.Panel>
          <Tabs.Panel value="text">
            <TextTab spec={spec} draft={text} onChange={write} errors={errors} />
          </Tabs.Panel>
          <Tabs.Panel value="code">{waits || <CodeTab name={name} spec={spec} />}</Tabs.Panel>
        </Tabs>
      </div>
      <CreatePanel
        spec={spec}
        where={fork && cluster === undefined ? { run: fork.run } : where}
        changes={changes}
        baseLabel={baseLabel}
        checked={checked}
        unread={unread}
        named={name.trim() !== ""}
        pending={create.isPending ? (create.variables ? "start" : "draft") : null}
        error={create.error}
        onCreate={submit}
        onReveal={reveal}
        onMend={mend}
        stray={stray}
        onRemove={() => {
          setText(null); // written anew from the spec
          setSpec(withoutSections(spec, stray));
        }}
      />
    </div>
  );
}
