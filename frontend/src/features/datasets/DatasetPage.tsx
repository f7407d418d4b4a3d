/** One dataset: versions and their rows. */
import { Button, Group, Modal, Paper, Select, Skeleton, Table, Text, Title } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconGitBranch, IconUpload } from "@tabler/icons-react";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import type { Dataset, DatasetVersion, Row } from "@/api/model";
import { datasetQuery, rowsQuery } from "@/features/datasets/data/queries";
import { useCan } from "@/features/session/session";
import { formatAgo, formatBytes } from "@/lib/format";
import { CopyText } from "@/ui/CopyText";
import { Crumbs } from "@/ui/Crumbs";
import { Facts } from "@/ui/Facts";
import { Loaded } from "@/ui/Loaded";
import { PageHeader } from "@/ui/PageHeader";
import { ScrollCell } from "@/ui/ScrollCell";
import { ShowMore } from "@/ui/ShowMore";
import { TableFrame } from "@/ui/TableFrame";
import { TableSkeleton } from "@/ui/TableSkeleton";
import { DeriveForm } from "./DeriveForm";
import { UploadForm } from "./UploadForm";
import { VersionDiff } from "./VersionDiff";
import { VersionLineage } from "./VersionLineage";
import { VersionMenu } from "./VersionMenu";
import { VersionOrigin } from "./VersionOrigin";
import { cellText } from "./cell-text";

export function DatasetPage() {
  const { datasetId } = useParams({ from: "/app/datasets/$datasetId" });
  const query = useQuery(datasetQuery(datasetId));
  return (
    <Loaded page query={query} skeleton={<Skeleton height={400} aria-label="Loading" />}>
      {dataset => <Versions dataset={dataset} />}
    </Loaded>
  );
}

function Versions({ dataset }: { dataset: Dataset }) {
  const { version: wanted, against } = useSearch({ from: "/app/datasets/$datasetId" });
  const navigate = useNavigate({ from: "/datasets/$datasetId" });
  const editor = useCan("editor");
  const [opened, { open, close }] = useDisclosure(false);
  const [deriving, derivation] = useDisclosure(false);
  const versions = dataset.versions.filter(one => !one.deleted_at).sort((a, b) => b.number - a.number);
  const compared = versions.find(one => one.number === against);
  const version = versions.find(one => one.number === wanted) ?? dataset.latest_version;
  return (
    <>
      <Crumbs to="/datasets" label="Datasets" here={dataset.slug} />
      <PageHeader
        title={dataset.name}
        description={dataset.description}
        actions={
          editor && (
            <Group gap="sm">
              <Button variant="default" leftSection={<IconGitBranch size={15} />} onClick={derivation.open}>
                Filter or split
              </Button>
              <Button variant="default" leftSection={<IconUpload size={15} />} onClick={open}>
                Upload a new version
              </Button>
            </Group>
          )
        }
      />
      <Paper p="md" mb="md">
        <Group justify="space-between" mb="sm">
          <Select
            aria-label="Version"
            data={versions.map(one => ({ value: String(one.number), label: `Version ${one.number}` }))}
            value={String(version.number)}
            onChange={next => void navigate({ search: { version: next ? Number(next) : undefined }, replace: true })}
            allowDeselect={false}
            w={150}
          />
          <Group gap="sm">
            <CopyText value={version.ref} label="Copy the name for specs" />
            <VersionMenu dataset={dataset} version={version} />
          </Group>
        </Group>
        <VersionFacts version={version} />
        <VersionLineage version={version} />
      </Paper>
      <VersionOrigin origin={version.origin} />
      {compared && compared.number !== version.number ? (
        <VersionDiff
          key={`${version.number} ${compared.number}`}
          datasetId={dataset.id}
          version={version.number}
          against={compared.number}
          onClose={() => void navigate({ search: { version: version.number } })}
        />
      ) : (
        <Rows key={version.number} datasetId={dataset.id} version={version} />
      )}
      <Modal opened={deriving} onClose={derivation.close} title={`New version of ${version.ref}`} size="lg">
        <DeriveForm key={version.number} dataset={dataset} version={version} onDone={derivation.close} />
      </Modal>
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
        ["Made", formatAgo(version.created_at)],
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
  return (
    <section aria-label="Rows">
      <Loaded query={rows} skeleton={<TableSkeleton rows={10} />}>
        {({ pages }) => <RowTable found={pages.flatMap(page => page.data)} version={version} />}
      </Loaded>
      <ShowMore query={rows} label="Show 50 more" />
    </section>
  );
}

function RowTable({ found, version }: { found: Row[]; version: DatasetVersion }) {
  const columns = version.columns.map(column => column.name);
  return (
    <>
      <Group justify="space-between" mb="xs">
        <Title order={2}>Rows</Title>
        <Text size="xs" c="dimmed" className="num">
          {found.length.toLocaleString("en-GB")} of {version.rows.toLocaleString("en-GB")}
        </Text>
      </Group>
      <TableFrame label={`Rows of ${version.ref}`}>
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
            {found.map(({ index, id, row }) => (
              <Table.Tr key={index}>
                <Table.Td ta="right" c="dimmed" title={id}>
                  {index + 1}
                </Table.Td>
                {columns.map(column => (
                  <Table.Td key={column}>
                    <ScrollCell>{cellText(column, row[column])}</ScrollCell>
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </TableFrame>
    </>
  );
}
