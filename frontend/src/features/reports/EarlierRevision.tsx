/** A report as it was once saved, with the way to bring it back. */
import { Alert, Button, Group } from "@mantine/core";
import { IconHistory } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import * as api from "@/api/client";
import type { Report } from "@/api/model";
import { textOf } from "@/entities/reports/blocks";
import { revisionQuery } from "@/entities/reports/queries";
import { useSubmit } from "@/lib/useSubmit";
import { Loaded } from "@/ui/Loaded";
import { PageHeader } from "@/ui/PageHeader";
import { toast, toastError } from "@/ui/toast";
import { BlockView } from "./BlockView";
import { formatInstant } from "./instant";
import classes from "./reports.module.css";

interface Props {
  report: Report;
  revision: number;
  editor: boolean;
  onClose: () => void;
}

export function EarlierRevision({ report, revision, editor, onClose }: Props) {
  const client = useQueryClient();
  const old = useQuery(revisionQuery(report.id, revision));
  const restore = useSubmit({
    mutationFn: ({ title, content }: Pick<Report, "title" | "content">) =>
      api.updateReport(report.id, { title, content }, { "If-Match": `"${report.revision}"` }),
    onSuccess: async saved => {
      client.setQueryData(["report", report.id], saved);
      await client.invalidateQueries({ queryKey: ["report", report.id, "revisions"] });
      toast(`Revision ${revision} restored as revision ${saved.revision}.`);
      onClose();
    },
    onError: async error => {
      await client.invalidateQueries({ queryKey: ["report", report.id], exact: true });
      toastError("The revision was not restored", error);
    },
  });
  return (
    <Loaded query={old} page>
      {found => (
        <article className={classes.report}>
          <PageHeader title={found.title} />
          <Alert
            color="yellow"
            variant="light"
            icon={<IconHistory size={18} />}
            title={`Revision ${revision} of ${report.revision}, saved by ${found.created_by}, ${formatInstant(found.created_at)}`}
            mb="md"
          >
            Live charts show current data; frozen ones are unchanged.
            <Group gap="xs" mt="xs">
              {editor && (
                <Button size="xs" loading={restore.isPending} onClick={() => restore.mutate(found)}>
                  Restore this revision
                </Button>
              )}
              <Button size="xs" variant="default" onClick={onClose}>
                Back to the current report
              </Button>
            </Group>
          </Alert>
          <div className={classes.blocks} data-testid="report">
            {textOf(found).blocks.map(block => (
              <div key={block.id} className={classes.block} data-block={block.type}>
                <BlockView block={block} />
              </div>
            ))}
          </div>
        </article>
      )}
    </Loaded>
  );
}
