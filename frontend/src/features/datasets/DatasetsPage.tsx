import { Anchor, Button, Group, Modal, Table, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconArrowsShuffle, IconDatabase, IconUpload } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { datasetsQuery } from "@/entities/datasets/queries";
import { ImportList } from "@/features/datasets/imports/ImportList";
import { SavedMappings } from "@/features/datasets/mapping/SavedMappings";
import { SharedDatasets } from "@/features/datasets/sharing/SharedDatasets";
import { useCan } from "@/features/session/session";
import { formatAgo, formatBytes } from "@/lib/format";
import { DropZone } from "@/ui/DropZone";
import { EmptyState } from "@/ui/EmptyState";
import { Loaded } from "@/ui/Loaded";
import { PageHeader } from "@/ui/PageHeader";
import { TableFrame } from "@/ui/TableFrame";
import { UploadModal } from "./UploadModal";
import { UsageLine } from "./UsageLine";

export function DatasetsPage() {
  const datasets = useQuery(datasetsQuery);
  const editor = useCan("editor");
  const navigate = useNavigate();
  const [opened, { open, close }] = useDisclosure(false);
  const [keeping, kept] = useDisclosure(false);
  const [dropped, setDropped] = useState<File | null>(null);
  const upload = (file: File | null) => {
    setDropped(file);
    open();
  };
  const button = editor && (
    <Button leftSection={<IconUpload size={15} />} onClick={() => upload(null)} data-testid="upload-dataset">
      Upload a dataset
    </Button>
  );
  const actions = editor && (
    <Group gap="sm">
      <Button variant="default" leftSection={<IconArrowsShuffle size={15} />} onClick={kept.open}>
        Mappings
      </Button>
      {button}
    </Group>
  );
  return (
    <>
      <PageHeader title="Datasets" description="Prompts in immutable, hashed versions." actions={actions} />
      <UsageLine />
      <ImportList editor={editor} />
      <DropZone label="Drop the file to upload it" onFile={editor ? upload : undefined}>
        <Loaded query={datasets}>
          {({ data: rows }) =>
            rows.length === 0 ? (
              <EmptyState icon={<IconDatabase size={40} stroke={1.3} />} title="No datasets yet" action={button}>
                Upload JSON Lines, JSON, CSV, TSV or Parquet: your own prompts, or GSM8K, MATH, MBPP, verl, TRL and
                other known formats. Each row is checked, and versions never change.
              </EmptyState>
            ) : (
              <TableFrame label="Datasets">
                <Table highlightOnHover data-testid="datasets-table">
                  <Table.Thead>
                    <Table.Tr>
                      <Table.Th>Dataset</Table.Th>
                      <Table.Th>Reference</Table.Th>
                      <Table.Th ta="right">Rows</Table.Th>
                      <Table.Th ta="right">Size</Table.Th>
                      <Table.Th>Columns</Table.Th>
                      <Table.Th>Licence</Table.Th>
                      <Table.Th>Owner</Table.Th>
                      <Table.Th ta="right">Latest version</Table.Th>
                    </Table.Tr>
                  </Table.Thead>
                  <Table.Tbody>
                    {rows.map(dataset => (
                      <Table.Tr key={dataset.id}>
                        <Table.Td maw={360}>
                          <Anchor component={Link} to={`/datasets/${dataset.id}`} fw={550} size="sm" c="var(--c-text)">
                            {dataset.name}
                          </Anchor>
                          {dataset.description && (
                            <Text size="xs" c="dimmed" lineClamp={1}>
                              {dataset.description}
                            </Text>
                          )}
                        </Table.Td>
                        <Table.Td className="mono" style={{ whiteSpace: "nowrap" }}>
                          {dataset.latest_version.ref}
                        </Table.Td>
                        <Table.Td ta="right">{dataset.latest_version.rows.toLocaleString("en-GB")}</Table.Td>
                        <Table.Td ta="right">{formatBytes(dataset.latest_version.bytes)}</Table.Td>
                        <Table.Td className="mono">
                          {dataset.latest_version.columns.map(column => column.name).join(", ")}
                        </Table.Td>
                        <Table.Td maw={160}>{dataset.card.licence || "—"}</Table.Td>
                        <Table.Td maw={200} style={{ overflowWrap: "anywhere" }}>
                          {dataset.card.owner ? dataset.card.owner.name || dataset.card.owner.email : "—"}
                        </Table.Td>
                        <Table.Td ta="right" style={{ whiteSpace: "nowrap" }}>
                          {formatAgo(dataset.latest_version.created_at)}
                        </Table.Td>
                      </Table.Tr>
                    ))}
                  </Table.Tbody>
                </Table>
              </TableFrame>
            )
          }
        </Loaded>
      </DropZone>
      <SharedDatasets />
      <Modal opened={keeping} onClose={kept.close} title="Saved mappings">
        <SavedMappings />
      </Modal>
      <UploadModal
        opened={opened}
        onClose={close}
        title="Upload a dataset"
        size="xl"
        dropped={dropped}
        onDone={id => {
          close();
          void navigate({ to: "/datasets/$datasetId", params: { datasetId: id }, ignoreBlocker: true });
        }}
      />
    </>
  );
}
