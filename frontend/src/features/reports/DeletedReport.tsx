/** A report that a user has deleted while it was being written here: what was written is not lost with it. */
import { Alert, Button, Group } from "@mantine/core";
import { IconTrash } from "@tabler/icons-react";
import { type ReportText, savable } from "@/entities/reports/blocks";
import { useMakeReport } from "@/entities/reports/useMakeReport";
import { PageHeader } from "@/ui/PageHeader";
import { BlockView } from "./BlockView";
import classes from "./reports.module.css";

interface Props {
  text: ReportText;
  /** What is written is kept elsewhere now, or is not wanted. */
  onDrop: () => void;
}

export function DeletedReport({ text, onDrop }: Props) {
  const make = useMakeReport(onDrop);
  const { title, blocks } = savable(text);
  const left = text.blocks.length - blocks.length;
  return (
    <article className={classes.report}>
      <PageHeader title={title} />
      <Alert
        color="yellow"
        variant="light"
        mb="md"
        icon={<IconTrash size={18} />}
        title="This report was deleted"
        data-testid="deleted"
      >
        Your draft exists only in this tab.
        {left > 0 && ` Incomplete blocks cannot be saved and are left out: ${left}.`}
        <Group gap="xs" mt="xs">
          <Button size="xs" loading={make.isPending} onClick={() => make.mutate({ title, blocks })}>
            Save as new report
          </Button>
          <Button size="xs" variant="default" onClick={onDrop}>
            Discard
          </Button>
        </Group>
      </Alert>
      <div className={classes.blocks}>
        {blocks.map(block => (
          <BlockView key={block.id} block={block} />
        ))}
      </div>
    </article>
  );
}
