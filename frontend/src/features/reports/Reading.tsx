/** A report as readers see it, with what can be done with it. */
import { ActionIcon, Button, Group, Menu, Text } from "@mantine/core";
import { modals } from "@mantine/modals";
import { IconDots, IconDownload, IconHistory, IconLink, IconPencil, IconPrinter, IconTrash } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import * as api from "@/api/client";
import type { Report } from "@/api/model";
import { WholePage } from "@/features/charts/wholePage";
import { textOf } from "@/entities/reports/blocks";
import { useSubmit } from "@/lib/useSubmit";
import { PageHeader } from "@/ui/PageHeader";
import { toast, toastError } from "@/ui/toast";
import { BlockView } from "./BlockView";
import { ByLine } from "./ByLine";
import { formatInstant } from "./instant";
import { HistoryDrawer } from "./HistoryDrawer";
import { useExport } from "./useExport";
import { usePrint } from "./usePrint";
import { hasReportDraft } from "./useReportDraft";
import classes from "./reports.module.css";

interface Props {
  report: Report;
  editor: boolean;
  onEdit: () => void;
}

export function Reading({ report, editor, onEdit }: Props) {
  const { isPrinting, isWhole, print } = usePrint();
  const [history, setHistory] = useState(false);
  const isDrafted = editor && hasReportDraft(report);
  const { blocks } = textOf(report);
  return (
    <article className={classes.report}>
      <PageHeader
        title={report.title}
        description={<ByLine report={report} />}
        actions={
          <Group gap={6} wrap="nowrap" className="no-print">
            {editor && (
              <Button size="xs" leftSection={<IconPencil size={14} />} onClick={onEdit}>
                {isDrafted ? "Continue editing" : "Edit"}
              </Button>
            )}
            <Button
              size="xs"
              variant="default"
              leftSection={<IconPrinter size={14} />}
              loading={isPrinting}
              onClick={print}
            >
              Print
            </Button>
            <More report={report} editor={editor} onHistory={() => setHistory(true)} />
          </Group>
        }
      />
      <p className="print-only" style={{ fontSize: 12 }}>
        Printed {formatInstant(new Date().toISOString())} from {window.location.origin}/reports/{report.id}. Live charts
        show the data of that time.
      </p>
      <WholePage value={isWhole}>
        <div className={classes.blocks} data-testid="report">
          {blocks.map(block => (
            <div key={block.id} className={classes.block} data-block={block.type}>
              <BlockView block={block} />
            </div>
          ))}
        </div>
      </WholePage>
      {blocks.length === 0 && <Text c="dimmed">This report is empty.</Text>}
      <HistoryDrawer report={report} opened={history} onClose={() => setHistory(false)} />
    </article>
  );
}

function More({ report, editor, onHistory }: { report: Report; editor: boolean; onHistory: () => void }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const download = useExport(report);
  const remove = useSubmit({
    mutationFn: () => api.deleteReport(report.id),
    onSuccess: async () => {
      await navigate({ to: "/reports" });
      client.removeQueries({ queryKey: ["report", report.id] });
      await client.invalidateQueries({ queryKey: ["reports"] });
    },
    onError: error => toastError("The report was not deleted", error),
  });
  const copy = () =>
    void navigator.clipboard.writeText(window.location.origin + window.location.pathname).then(
      () => toast("Address copied. Everyone in the team can open it."),
      error => toastError("Nothing was copied", error),
    );
  const ask = () =>
    modals.openConfirmModal({
      title: `Delete ${report.title}?`,
      children: <Text size="sm">It is deleted for the whole team, with all its revisions.</Text>,
      labels: { confirm: "Delete", cancel: "Cancel" },
      confirmProps: { color: "red" },
      onConfirm: () => remove.mutate(),
    });
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="default" size={30} aria-label="More actions" loading={download.isPending}>
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconHistory size={15} />} onClick={onHistory}>
          Revisions
        </Menu.Item>
        <Menu.Item leftSection={<IconLink size={15} />} onClick={copy}>
          Copy address
        </Menu.Item>
        <Menu.Item leftSection={<IconDownload size={15} />} onClick={() => download.mutate()}>
          Export as Markdown
        </Menu.Item>
        {editor && (
          <>
            <Menu.Divider />
            <Menu.Item color="red" leftSection={<IconTrash size={15} />} onClick={ask}>
              Delete
            </Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
