/** Reports that another user has saved the report since the draft was started. Neither text is lost. */
import { Alert, Button, Collapse, Group } from "@mantine/core";
import { IconUsers } from "@tabler/icons-react";
import { useState } from "react";
import type { Report } from "@/api/model";
import { textOf } from "@/entities/reports/blocks";
import { formatAgo } from "@/lib/format";
import { BlockView } from "./BlockView";
import type { ReportDraft } from "./useReportDraft";
import classes from "./reports.module.css";

export function Conflict({ report, draft }: { report: Report; draft: ReportDraft }) {
  const [shown, setShown] = useState(false);
  if (!draft.isChanged || report.revision <= draft.revision) return null;
  return (
    <Alert
      color="yellow"
      variant="light"
      mb="md"
      icon={<IconUsers size={18} />}
      title={`${report.updated_by} has saved revision ${report.revision}, ${formatAgo(report.updated_at)}`}
      data-testid="conflict"
    >
      You started from revision {draft.revision}. Your draft replaces theirs only if you choose so. Replaced text stays
      in the revisions.
      <Group gap="xs" mt="xs">
        <Button size="xs" variant="default" onClick={() => setShown(!shown)} aria-expanded={shown}>
          {shown ? "Hide theirs" : "Show theirs"}
        </Button>
        <Button size="xs" variant="default" onClick={draft.discard}>
          Use theirs, discard mine
        </Button>
        <Button size="xs" variant="default" onClick={() => draft.rebase(report.revision)}>
          Continue with mine
        </Button>
      </Group>
      <Collapse expanded={shown}>
        {shown && (
          <div className={classes.blocks} style={{ marginTop: 12 }}>
            <strong>{report.title}</strong>
            {textOf(report).blocks.map(block => (
              <BlockView key={block.id} block={block} />
            ))}
          </div>
        )}
      </Collapse>
    </Alert>
  );
}
