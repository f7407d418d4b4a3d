/** One dataset: its versions, and the tabs of the shown version. */
import { Alert, Button, Group, Modal, Paper, Select } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconGitBranch, IconUpload } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import type { Dataset, DatasetVersion } from "@/api/model";
import { CardPanel } from "@/features/datasets/card/CardPanel";
import { datasetQuery } from "@/entities/datasets/queries";
import { ReadOnly } from "@/entities/datasets/read-only";
import { SharePanel } from "@/features/datasets/sharing/SharePanel";
import { useCan } from "@/features/session/session";
import { formatAgo, formatBytes } from "@/lib/format";
import { CopyText } from "@/ui/CopyText";
import { Crumbs } from "@/ui/Crumbs";
import { Facts } from "@/ui/Facts";
import { Loaded } from "@/ui/Loaded";
import { PageHeader } from "@/ui/PageHeader";
import { Placeholder } from "@/ui/Placeholder";
import { ImportList } from "@/features/datasets/imports/ImportList";
import { DeriveForm } from "./DeriveForm";
import { UploadModal } from "./UploadModal";
import { VersionDiff } from "./VersionDiff";
import { VersionLineage } from "./VersionLineage";
import { VersionMenu } from "./VersionMenu";
import { VersionTabs } from "./VersionTabs";

export function DatasetPage() {
  const { datasetId } = useParams({ from: "/app/datasets/$datasetId" });
  const query = useQuery(datasetQuery(datasetId));
  return (
    <Loaded page query={query} skeleton={<Placeholder height={400} />}>
      {dataset => (
        <ReadOnly.Provider value={dataset.shared_by !== null}>
          <Versions dataset={dataset} fetching={query.isFetching} />
        </ReadOnly.Provider>
      )}
    </Loaded>
  );
}

function Versions({ dataset, fetching }: { dataset: Dataset; fetching: boolean }) {
  const { version: wanted, against, tab } = useSearch({ from: "/app/datasets/$datasetId" });
  const navigate = useNavigate({ from: "/datasets/$datasetId" });
  const editor = useCan("editor");
  const admin = useCan("admin");
  const [opened, { open, close }] = useDisclosure(false);
  const [deriving, derivation] = useDisclosure(false);
  const versions = dataset.versions.filter(one => !one.deleted_at).sort((a, b) => b.number - a.number);
  const compared = versions.find(one => one.number === against);
  const version = versions.find(one => one.number === wanted) ?? dataset.latest_version;
  // A version that was just made is in the next answer.
  const gone = wanted !== undefined && version.number !== wanted && !fetching;
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
                Filter, split or rewrite
              </Button>
              {dataset.shared_by === null && (
                <Button variant="default" leftSection={<IconUpload size={15} />} onClick={open}>
                  Upload new version
                </Button>
              )}
            </Group>
          )
        }
      />
      {dataset.shared_by === null && <ImportList editor={editor} dataset={dataset.id} />}
      {dataset.shared_by !== null && (
        <Alert color="petrol" mb="md" data-testid="shared-by">
          The team {dataset.shared_by} shares this dataset with yours. You can read it, use it in runs and derive
          datasets from it, but not change it. When sharing ends, nothing new can use it.
        </Alert>
      )}
      {gone && (
        <Alert color="yellow" role="status" mb="md">
          {missing(dataset, wanted)} This is version {version.number}.
        </Alert>
      )}
      <Paper p="md" mb="md">
        <Group justify="space-between" mb="sm">
          <Select
            aria-label="Version"
            data={versions.map(one => ({ value: String(one.number), label: `Version ${one.number}` }))}
            value={String(version.number)}
            onChange={next => void navigate({ search: { version: Number(next), tab }, replace: true })}
            allowDeselect={false}
            w={150}
          />
          <Group gap="sm">
            <CopyText value={version.ref} label="Copy reference" />
            <VersionMenu dataset={dataset} version={version} />
          </Group>
        </Group>
        <VersionFacts version={version} />
        <VersionLineage version={version} />
      </Paper>
      <CardPanel dataset={dataset} />
      {admin && dataset.shared_by === null && <SharePanel dataset={dataset} />}
      {compared && compared.number !== version.number ? (
        <VersionDiff
          key={`${version.number} ${compared.number}`}
          datasetId={dataset.id}
          version={version.number}
          against={compared.number}
          onClose={() => void navigate({ search: { version: version.number } })}
        />
      ) : (
        <VersionTabs dataset={dataset} version={version} />
      )}
      <Modal opened={deriving} onClose={derivation.close} title={`New version of ${version.ref}`} size="lg">
        <DeriveForm key={version.number} dataset={dataset} version={version} onDone={derivation.close} />
      </Modal>
      <UploadModal
        opened={opened}
        onClose={close}
        title={`New version of ${dataset.name}`}
        size="lg"
        dataset={dataset}
        onDone={() => {
          close();
          void navigate({ search: {}, ignoreBlocker: true });
        }}
      />
    </>
  );
}

/** Why a version of the address is not shown. */
function missing(dataset: Dataset, number: number) {
  const found = dataset.versions.find(one => one.number === number);
  return found?.deleted_at
    ? `Version ${number} was deleted ${formatAgo(found.deleted_at)} by ${found.deleted_by}.`
    : `Version ${number} does not exist.`;
}

function VersionFacts({ version }: { version: DatasetVersion }) {
  return (
    <Facts
      facts={[
        ["Rows", version.rows.toLocaleString("en-GB")],
        ["Size", formatBytes(version.bytes)],
        ["Created", formatAgo(version.created_at)],
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
