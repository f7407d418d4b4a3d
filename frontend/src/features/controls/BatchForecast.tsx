/** Group size and filters, which are fixed during a run: a preview of the steps of a fork with other values. */
import { Accordion, Group, Stack, Switch, Text } from "@mantine/core";
import { useDebouncedValue, useSessionStorage } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import * as api from "@/api/client";
import type { Run, Spec } from "@/api/model";
import { isLive } from "@/entities/runs/states";
import { NumberField } from "@/features/schema-form/NumberField";
import { getIn } from "@/features/schema-form/pointer";
import { formatValue } from "@/lib/format";
import { type BatchDraft, batchChanges, draftOf, FILTERS, keptDraftOf, switched, withLimit } from "./batch";
import { BatchFigures } from "./BatchFigures";
import { BatchFork, blockOf } from "./BatchFork";

export function BatchForecast({ run }: { run: Run }) {
  const [kept, setKept, forget] = useSessionStorage<BatchDraft | null>({
    key: `dressage.draft/${run.id}/batch`,
    defaultValue: null,
    getInitialValueInEffect: false,
    deserialize: keptDraftOf,
  });
  // Anyone who left a draft finds it again.
  const [open, setOpen] = useState<string | null>(kept ? "batch" : null);
  return (
    <Accordion
      variant="default"
      chevronPosition="left"
      value={open}
      onChange={setOpen}
      styles={{ control: { paddingInline: 0 }, content: { padding: "4px 0 0" }, chevron: { marginInlineEnd: 8 } }}
    >
      <Accordion.Item value="batch" style={{ border: 0 }}>
        <Accordion.Control data-testid="batch-forecast">
          <Text size="sm" fw={550}>
            Group size and filters
          </Text>
        </Accordion.Control>
        {/* Nothing is fetched before it is shown. */}
        <Accordion.Panel>
          {open && <Drafted run={run} kept={kept} onChange={setKept} onDiscard={forget} />}
        </Accordion.Panel>
      </Accordion.Item>
    </Accordion>
  );
}

interface DraftedProps {
  run: Run;
  kept: BatchDraft | null;
  onChange: (draft: BatchDraft) => void;
  onDiscard: () => void;
}

function Drafted({ run, kept, onChange, onDiscard }: DraftedProps) {
  const spec = run.effective_spec ?? run.spec;
  const draft = kept ?? draftOf(spec);
  const changes = batchChanges(spec, draft);
  const drafted = JSON.stringify(changes);
  const [text] = useDebouncedValue(drafted, 150);
  const preview = useQuery({
    queryKey: ["run", run.id, "batch", "preview", text],
    queryFn: ({ signal }) => api.previewBatch(run.id, { changes: JSON.parse(text) as typeof changes }, { signal }),
    placeholderData: keepPreviousData,
    retry: false,
    // A run that continues stores more.
    refetchInterval: isLive(run.state) ? 30_000 : false,
  });
  return (
    <Stack gap={10}>
      <Text size="xs" c="dimmed">
        These are fixed during a run. Preview the steps of a fork with other values.
      </Text>
      <Fields spec={spec} draft={draft} onChange={onChange} />
      <BatchFigures query={preview} />
      {changes.length > 0 && (
        <BatchFork run={run} draft={draft} block={blockOf(draft, preview, text === drafted)} onDiscard={onDiscard} />
      )}
    </Stack>
  );
}

interface FieldsProps {
  spec: Spec | undefined;
  draft: BatchDraft;
  onChange: (draft: BatchDraft) => void;
}

function Fields({ spec, draft, onChange }: FieldsProps) {
  const now = draftOf(spec);
  const limits = draft.filters.filter(one => one.type === "overlong");
  const setFilters = (filters: BatchDraft["filters"]) => onChange({ ...draft, filters });
  return (
    <>
      <div>
        <Group justify="space-between" gap={8} wrap="nowrap" mb={2}>
          <Text size="sm" fw={550}>
            Group size
          </Text>
          <Text size="xs" c="dimmed" className="num">
            now {formatValue(now.size)}
          </Text>
        </Group>
        <NumberField
          value={draft.size}
          unit="samples"
          ariaLabel="Group size to preview"
          onChange={size => onChange({ ...draft, size })}
        />
      </div>
      <Stack gap={6} role="group" aria-label="Filters to preview">
        <Text size="sm" fw={550}>
          Excluded from the loss
        </Text>
        {FILTERS.map(({ type, title }) => (
          <Switch
            key={type}
            size="xs"
            label={title}
            checked={draft.filters.some(one => one.type === type)}
            onChange={() => setFilters(switched(draft.filters, now.filters, type, halfOf(spec)))}
          />
        ))}
        {limits.length === 1 && (
          <NumberField
            value={limits[0]?.max_tokens}
            unit="tokens"
            ariaLabel="Maximum completion length to train on"
            onChange={limit => setFilters(withLimit(draft.filters, limit))}
          />
        )}
      </Stack>
    </>
  );
}

/** Initial limit: half of the longest completion. */
function halfOf(spec: Spec | undefined): number {
  return Math.max(1, Math.floor(Number(getIn(spec, ["rollout", "max_tokens"]) ?? 256) / 2));
}
