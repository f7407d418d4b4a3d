/** Writes a report: its title and its blocks, which can be moved, copied and taken out. */
import { Button, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import type { Report, ReportBlock } from "@/api/model";
import {
  duplicated,
  emptyBlock,
  inserted,
  type Kind,
  mention,
  missing,
  moved,
  MOST_BLOCKS,
  removed,
  replaced,
  spokenOf,
} from "@/entities/reports/blocks";
import { runsQuery } from "@/entities/runs/queries";
import { PageHeader } from "@/ui/PageHeader";
import { AddBlock } from "./AddBlock";
import { Conflict } from "./Conflict";
import { EditableBlock } from "./EditableBlock";
import { useReportDraft } from "./useReportDraft";
import { useSaveReport } from "./useSaveReport";
import classes from "./reports.module.css";

interface Props {
  report: Report;
  onDone: () => void;
}

interface Taken {
  block: ReportBlock;
  at: number;
}

export function Editor({ report, onDone }: Props) {
  const draft = useReportDraft(report);
  const [taken, setTaken] = useState<Taken | null>(null);
  /** The block that was just added: it takes the focus. */
  const [added, setAdded] = useState<string | null>(null);
  const newest = useQuery(runsQuery()).data?.data[0];
  const save = useSaveReport(report, draft);
  const { title, blocks } = draft.text;
  const fault = useMemo(() => missing(draft.text), [draft.text]);
  const setBlocks = (next: ReportBlock[]) => draft.set({ blocks: next });
  const add = (kind: Kind, at: number) => {
    const spoken = spokenOf(blocks);
    const block = emptyBlock(kind, spoken.length > 0 || !newest ? spoken : [mention(newest)]);
    setAdded(block.id);
    setBlocks(inserted(blocks, at, block));
  };
  const take = (id: string) => {
    const at = blocks.findIndex(block => block.id === id);
    const block = blocks[at];
    if (!block) return;
    setTaken({ block, at });
    setBlocks(removed(blocks, id));
  };
  const isFull = blocks.length >= MOST_BLOCKS;
  return (
    <article className={classes.report}>
      <PageHeader
        title={`Editing ${report.title}`}
        heading={
          <TextInput
            aria-label="Report title"
            size="md"
            w="min(640px, 86vw)"
            value={title}
            maxLength={200}
            error={title.trim() ? undefined : "Enter a title for the report."}
            onChange={event => draft.set({ title: event.currentTarget.value })}
          />
        }
      />
      <Conflict {...{ report, draft }} />
      <div className={classes.blocks} data-testid="editor">
        {blocks.map((block, place) => (
          <EditableBlock
            key={block.id}
            {...{ block, place, isFull }}
            count={blocks.length}
            isNew={block.id === added}
            onChange={next => setBlocks(replaced(blocks, next))}
            onMove={(id, to) => setBlocks(moved(blocks, id, to))}
            onCopy={() => setBlocks(duplicated(blocks, block.id))}
            onDelete={() => take(block.id)}
          />
        ))}
      </div>
      <AddBlock isFull={isFull} onAdd={kind => add(kind, blocks.length)} />
      <div className={classes.save} role="region" aria-label="Save">
        <Button
          size="sm"
          disabled={!draft.isChanged || fault !== null}
          loading={save.isPending}
          onClick={() => save.mutate()}
        >
          Save
        </Button>
        <Button size="sm" variant="default" onClick={onDone}>
          {draft.isChanged ? "View saved version" : "Done"}
        </Button>
        {draft.isChanged && (
          <Button size="sm" variant="subtle" color="red" onClick={draft.discard}>
            Discard draft
          </Button>
        )}
        {taken && (
          <Button
            size="sm"
            variant="light"
            onClick={() => {
              setBlocks(inserted(blocks, Math.min(taken.at, blocks.length), taken.block));
              setTaken(null);
            }}
          >
            Undo deletion
          </Button>
        )}
        <span className={classes.about} role="status" style={{ marginTop: 0 }}>
          {fault ?? (draft.isChanged ? "Draft in this tab, visible only to you until saved." : "All changes saved.")}
        </span>
      </div>
    </article>
  );
}
