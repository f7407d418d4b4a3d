/** What can be done with a version as a whole: download, comparison, deletion. */
import { Button, Menu, Text } from "@mantine/core";
import { modals } from "@mantine/modals";
import { IconChevronDown, IconDownload, IconGitCompare, IconPlayerPlay, IconTrash } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import * as api from "@/api/client";
import type { Dataset, DatasetVersion } from "@/api/model";
import { objectiveFor } from "@/entities/runs/objective";
import { useMayEdit } from "@/entities/datasets/read-only";
import { useCan } from "@/features/session/session";
import { toastError } from "@/ui/toast";

const FORMATS = [
  ["jsonl", "JSON Lines"],
  ["json", "JSON array"],
  ["csv", "CSV"],
  ["csv&raw=true", "CSV, raw: spreadsheets may run formulas in it"],
  ["parquet", "Parquet"],
] as const;

export function VersionMenu({ dataset, version }: { dataset: Dataset; version: DatasetVersion }) {
  const editor = useMayEdit();
  const mayRun = useCan("editor");
  const navigate = useNavigate({ from: "/datasets/$datasetId" });
  const remove = useRemoval(dataset, version);
  const others = dataset.versions.filter(one => one.number !== version.number && !one.deleted_at).reverse();
  const address = `/api/v1/datasets/${dataset.id}/versions/${version.number}/download`;
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <Button variant="default" size="xs" rightSection={<IconChevronDown size={14} />} data-testid="version-menu">
          Actions
        </Button>
      </Menu.Target>
      <Menu.Dropdown mah={420} style={{ overflowY: "auto" }}>
        {mayRun && (
          <>
            <Menu.Label>Use</Menu.Label>
            <Menu.Item
              leftSection={<IconPlayerPlay size={14} />}
              onClick={() =>
                void navigate({
                  to: "/runs/new",
                  search: { dataset: version.ref, objective: objectiveFor(version.columns) },
                })
              }
            >
              New run with this version
            </Menu.Item>
          </>
        )}
        <Menu.Label>Download</Menu.Label>
        {FORMATS.flatMap(([format, label]) => [
          <Menu.Item
            key={format}
            component="a"
            href={`${address}?type=${format}`}
            download
            leftSection={<IconDownload size={14} />}
          >
            {label}
          </Menu.Item>,
          <Menu.Item
            key={`${format}.gz`}
            component="a"
            href={`${address}?type=${format}&gzip=true`}
            download
            leftSection={<IconDownload size={14} />}
          >
            {label}, compressed with gzip
          </Menu.Item>,
          <Menu.Item
            key={`${format}.zst`}
            component="a"
            href={`${address}?type=${format}&zstd=true`}
            download
            leftSection={<IconDownload size={14} />}
          >
            {label}, compressed with Zstandard
          </Menu.Item>,
        ])}
        {others.length > 0 && <Menu.Label>Compare</Menu.Label>}
        {others.map(({ number }) => (
          <Menu.Item
            key={number}
            leftSection={<IconGitCompare size={14} />}
            onClick={() => void navigate({ search: { version: version.number, against: number } })}
          >
            With version {number}
          </Menu.Item>
        ))}
        {editor && (
          <>
            <Menu.Label>Delete</Menu.Label>
            {others.length > 0 && (
              <Menu.Item color="red" leftSection={<IconTrash size={14} />} onClick={remove.version}>
                Delete version {version.number}
              </Menu.Item>
            )}
            <Menu.Item color="red" leftSection={<IconTrash size={14} />} onClick={remove.dataset}>
              Delete dataset
            </Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}

function useRemoval(dataset: Dataset, version: DatasetVersion) {
  const client = useQueryClient();
  const navigate = useNavigate({ from: "/datasets/$datasetId" });
  const removeVersion = useMutation({
    mutationFn: () => api.deleteDatasetVersion(dataset.id, version.number),
    onSuccess: async () => {
      await navigate({ search: {}, replace: true });
      await client.invalidateQueries({ queryKey: ["datasets"] });
    },
    onError: error => toastError("The version was not deleted", error),
  });
  const removeDataset = useMutation({
    mutationFn: () => api.deleteDataset(dataset.id),
    onSuccess: async () => {
      await navigate({ to: "/datasets" });
      client.removeQueries({ queryKey: ["datasets", dataset.id] });
      await client.invalidateQueries({ queryKey: ["datasets"] });
    },
    onError: error => toastError("The dataset was not deleted", error),
  });
  const ask = (title: string, text: string, onConfirm: () => void) => () =>
    modals.openConfirmModal({
      title,
      children: <Text size="sm">{text}</Text>,
      labels: { confirm: "Delete", cancel: "Cancel" },
      confirmProps: { color: "red" },
      onConfirm,
    });
  return {
    version: ask(
      `Delete ${version.ref}?`,
      "Its rows are deleted permanently. It stays in the lineage of other versions.",
      removeVersion.mutate,
    ),
    dataset: ask(
      `Delete ${dataset.name} with all versions?`,
      `All rows are deleted permanently. The name ${dataset.slug} cannot be reused.`,
      removeDataset.mutate,
    ),
  };
}
