/** Markdown next to what comes of it. */
import { Textarea } from "@mantine/core";
import { useDeferredValue } from "react";
import type { ReportBlock } from "@/api/model";
import { type BlockOf, MOST_TEXT } from "@/entities/reports/blocks";
import { Markdown } from "@/ui/Markdown";
import classes from "./reports.module.css";

interface Props {
  block: BlockOf<"text">;
  isNew: boolean;
  onChange: (next: ReportBlock) => void;
}

export function TextSettings({ block, isNew, onChange }: Props) {
  const shown = useDeferredValue(block.markdown);
  return (
    <div className={classes.writing}>
      <Textarea
        aria-label="Text in Markdown"
        placeholder={"# Heading, **bold**, lists, tables, `code`, $\\LaTeX$"}
        value={block.markdown}
        maxLength={MOST_TEXT}
        minRows={4}
        maxRows={24}
        autosize
        data-autofocus={isNew || undefined}
        ref={isNew ? focus : undefined}
        styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)", fontSize: 12.5 } }}
        onChange={event => onChange({ ...block, markdown: event.currentTarget.value })}
      />
      <div aria-label="Preview" role="group">
        <Markdown>{shown}</Markdown>
      </div>
    </div>
  );
}

/** Once, when it comes. */
function focus(area: HTMLTextAreaElement | null): void {
  area?.focus({ preventScroll: false });
}
