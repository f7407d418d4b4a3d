/** One dataset: versions and their rows. */
import { Anchor, Breadcrumbs, Button, Group, Modal, Paper, Select, Skeleton, Table, Text, Title } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconUpload } from "@tabler/icons-react";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import type { DatasetVersion, Json } from "@/api/model";
import { useCan } from "@/features/session/session";
import { formatAgo, formatBytes } from "@/lib/format";
import { CopyText } from "@/ui/CopyText";
import { ErrorState } from "@/ui/ErrorState";
import { Facts } from "@/ui/Facts";
import { PageHeader } from "@/ui/PageHeader";
import { TableSkeleton } from "@/ui/TableSkeleton";
import ui from "@/ui/ui.module.css";
import { datasetQuery, rowsQuery } from "./queries";
import { UploadForm } from "./UploadForm";

export function DatasetPage() {
  const { datasetId } = useParams({ from: "/app/datasets/$datasetId" });
  const { version: wanted } = useSearch({ from: "/app/datasets/$datasetId" });
  const navigate = useNavigate({ from: "/datasets/$datasetId" });
  const query = useQuery(datasetQuery(datasetId));
  const editor = useCan("editor");
  const [opened, { open, close }] = useDisclosure(false);
  if (query.isPending) return <Skeleton height={400} aria-label="Loading" />;
  if (query.isError) return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  const dataset = query.data;
  const versions = [...(dataset.versions ?? [])].sort((a, b) => b.number - a.number);
  const version = versions.find(one => one.number === wanted) ?? versions[0];
  return (
    <>
      <Breadcrumbs mb={4} fz="xs" separatorMargin={6}>
        <Anchor component={Link} to="/datasets" size="xs">
          Datasets
        </Anchor>
        <span className="mono">{dataset.slug}</span>
      </Breadcrumbs>
      <PageHeader
        title={dataset.name}
        description={dataset.description}
        actions={
          editor && (
            <Button variant="default" leftSection={<IconUpload size={15} />} onClick={open}>
              Upload a new version
            </Button>
          )
        }
      />
      {version && (
        <>
          <Paper p="md" mb="md">
            <Group justify="space-between" mb="sm">
              <Select
                aria-label="Version"
                data={versions.map(one => ({ value: String(one.number), label: `Version ${one.number}` }))}
                value={String(version.number)}
                onChange={next =>
                  void navigate({ search: { version: next ? Number(next) : undefined }, replace: true })
                }
                allowDeselect={false}
                w={150}
              />
              <CopyText value={version.ref} label="Copy the name for specs" />
            </Group>
            <VersionFacts version={version} />
          </Paper>
          <Rows key={version.number} datasetId={dataset.id} version={version} />
        </>
      )}
      <Modal opened={opened} onClose={close} title={`New version of ${dataset.name}`} size="lg">
        <UploadForm
          dataset={dataset}
          onDone={() => {
            close();
            void navigate({ search: {} });
          }}
        />
      </Modal>
    </>
  );
}

function VersionFacts({ version }: { version: DatasetVersion }) {
  return (
    <Facts
      facts={[
        ["Rows", version.rows.toLocaleString("en-GB")],
        ["Size", formatBytes(version.bytes)],
        ["Uploaded", formatAgo(version.created_at)],
        ["By", version.created_by],
        [
          "SHA-256",
          <span key="hash" className="mono" title={version.sha256}>
            {version.sha256.slice(0, 16)}…
          </span>,
        ],
        [
          "Columns",
          <span key="columns" className="mono">
            {version.columns.map(column => `${column.name}: ${column.type}`).join(", ")}
          </span>,
        ],
      ]}
    />
  );
}

function Rows({ datasetId, version }: { datasetId: string; version: DatasetVersion }) {
  const rows = useInfiniteQuery(rowsQuery(datasetId, version.number));
  if (rows.isPending) return <TableSkeleton rows={10} />;
  if (rows.isError) return <ErrorState error={rows.error} retry={() => void rows.refetch()} />;
  const columns = version.columns.map(column => column.name);
  const found = rows.data.pages.flatMap(page => page.data);
  return (
    <section aria-label="Rows">
      <Group justify="space-between" mb="xs">
        <Title order={2}>Rows</Title>
        <Text size="xs" c="dimmed" className="num">
          {found.length.toLocaleString("en-GB")} of {version.rows.toLocaleString("en-GB")}
        </Text>
      </Group>
      <Paper className={ui.tableFrame}>
        <Table verticalSpacing={4}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th ta="right" w={60}>
                Row
              </Table.Th>
              {columns.map(column => (
                <Table.Th key={column} className="mono">
                  {column}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {found.map(({ index, row }) => (
              <Table.Tr key={index}>
                <Table.Td ta="right" c="dimmed">
                  {index + 1}
                </Table.Td>
                {columns.map(column => (
                  <Table.Td key={column}>
                    <div className={ui.cell}>{cell(row[column])}</div>
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Paper>
      {rows.hasNextPage && (
        <Group justify="center" mt="sm">
          <Button
            size="xs"
            variant="default"
            loading={rows.isFetchingNextPage}
            onClick={() => void rows.fetchNextPage()}
          >
            Show 50 more
          </Button>
        </Group>
      )}
    </section>
  );
}

function cell(value: Json | undefined): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
