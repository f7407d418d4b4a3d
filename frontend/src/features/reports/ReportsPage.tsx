/** The team's reports. */
import { Button, Table, Text } from "@mantine/core";
import { IconFileText, IconPlus } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import type { ReportEntry } from "@/api/model";
import { useCan } from "@/features/session/session";
import { formatAgo, formatTime } from "@/lib/format";
import { EmptyState } from "@/ui/EmptyState";
import { Loaded } from "@/ui/Loaded";
import { PageHeader } from "@/ui/PageHeader";
import { ShowMore } from "@/ui/ShowMore";
import { TableFrame } from "@/ui/TableFrame";
import { TextLink } from "@/ui/TextLink";
import { textBlock, UNTITLED } from "@/entities/reports/blocks";
import { reportsQuery } from "@/entities/reports/queries";
import { useMakeReport } from "@/entities/reports/useMakeReport";

export function ReportsPage() {
  const reports = useInfiniteQuery(reportsQuery);
  const editor = useCan("editor");
  const make = useMakeReport();
  const button = editor && (
    <Button
      leftSection={<IconPlus size={15} />}
      loading={make.isPending}
      onClick={() => make.mutate({ title: UNTITLED, blocks: [textBlock()] })}
      data-testid="new-report"
    >
      New report
    </Button>
  );
  return (
    <>
      <PageHeader
        title="Reports"
        description="Results of runs, in text and charts. Visible to everyone in the team."
        actions={button}
      />
      <Loaded query={reports}>
        {({ pages }) => {
          const found = pages.flatMap(page => page.data);
          if (found.length === 0)
            return (
              <EmptyState
                icon={<IconFileText size={40} stroke={1.3} />}
                title="No reports yet"
                action={button || undefined}
              >
                A report combines text, charts and results of runs. Start with an empty one, or choose “Create report”
                on a run’s page or in Compare.
              </EmptyState>
            );
          return <ReportsTable reports={found} />;
        }}
      </Loaded>
      <ShowMore query={reports} />
    </>
  );
}

function ReportsTable({ reports }: { reports: ReportEntry[] }) {
  const newest = reports.toSorted((a, b) => Date.parse(b.updated_at) - Date.parse(a.updated_at));
  return (
    <TableFrame label="Reports">
      <Table highlightOnHover data-testid="reports" style={{ minWidth: 0 }}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Report</Table.Th>
            <Table.Th visibleFrom="sm">Author</Table.Th>
            <Table.Th visibleFrom="sm">Last edited</Table.Th>
            <Table.Th visibleFrom="sm" ta="right">
              Revision
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {newest.map(report => (
            <Table.Tr key={report.id}>
              <Table.Td>
                <TextLink to="/reports/$reportId" params={{ reportId: report.id }}>
                  {report.title}
                </TextLink>
                <Text size="xs" c="dimmed" hiddenFrom="sm">
                  By {report.created_by}, edited {formatAgo(report.updated_at)}
                </Text>
              </Table.Td>
              <Table.Td visibleFrom="sm">{report.created_by}</Table.Td>
              <Table.Td visibleFrom="sm" title={formatTime(report.updated_at)}>
                {formatAgo(report.updated_at)}
                {report.updated_by !== report.created_by && (
                  <Text component="span" size="sm" c="dimmed">
                    {" "}
                    by {report.updated_by}
                  </Text>
                )}
              </Table.Td>
              <Table.Td visibleFrom="sm" ta="right" className="num">
                {report.revision}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </TableFrame>
  );
}
