/** Previews of what a choice names, below its field, so that users need not leave the form. */
import { Anchor, Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import * as api from "@/api/client";
import type { Dataset, DatasetVersion, Json, Policy, Reward, RewardVersion, SharedDataset } from "@/api/model";
import { formatBytes, formatCount, formatNumber } from "@/lib/format";
import { ErrorState } from "@/ui/ErrorState";
import { Pre } from "@/ui/Pre";
import classes from "./pickers.module.css";

/** Rows that a preview shows. */
const FEW = 3;
const COLUMNS_SHOWN = 8;

interface PreviewProps {
  /** What is told at once, in short. */
  facts: (string | false | undefined)[];
  /** Where all of it stands. Another tab, so that the form stays as it is. */
  href?: string;
  children?: ReactNode;
}

function Preview({ facts, href, children }: PreviewProps) {
  return (
    <div className={classes.preview} data-testid="choice-preview">
      <span className="num">{facts.filter(Boolean).join(" · ")}</span>
      {href && (
        <>
          {" · "}
          <Anchor href={href} target="_blank" rel="noopener" fz="inherit" underline="always">
            Open
          </Anchor>
        </>
      )}
      {children}
    </div>
  );
}

export function VersionPreview({ dataset, version }: { dataset: Dataset; version: DatasetVersion }) {
  const names = version.columns.map(column => column.name);
  const more = names.length - COLUMNS_SHOWN;
  const columns = names.slice(0, COLUMNS_SHOWN).join(", ") + (more > 0 ? ` and ${more} more` : "");
  return (
    <Preview
      facts={[rowsText(version.rows), formatBytes(version.bytes), columns]}
      href={`/datasets/${dataset.id}?version=${version.number}`}
    >
      <FirstRows id={dataset.id} number={version.number} />
    </Preview>
  );
}

export function SharedPreview({ shared }: { shared: SharedDataset }) {
  return (
    <Preview facts={[rowsText(shared.rows), formatBytes(shared.bytes), `of the team ${shared.shared_by}`]}>
      <FirstRows id={shared.dataset_id} number={shared.number} />
    </Preview>
  );
}

const rowsText = (rows: number) => (rows === 1 ? "1 row" : `${rows.toLocaleString("en-GB")} rows`);

/** The first rows, which are read when a user looks. */
function FirstRows({ id, number }: { id: string; number: number }) {
  const [open, setOpen] = useState(false);
  const rows = useQuery({
    queryKey: ["datasets", id, "first", number],
    queryFn: ({ signal }) => api.listDatasetRows(id, number, { limit: FEW }, { signal }),
    enabled: open,
    staleTime: Infinity, // versions never change
  });
  return (
    <details onToggle={event => setOpen(event.currentTarget.open)}>
      <summary>First rows</summary>
      {rows.isError ? (
        <ErrorState error={rows.error} retry={() => void rows.refetch()} />
      ) : rows.data ? (
        <ol className={classes.rows} aria-label="First rows">
          {rows.data.data.map(row => (
            <li key={row.index}>
              <span>{row.prompt}</span>
              <span className="mono">{row.answer ?? "no answer"}</span>
            </li>
          ))}
        </ol>
      ) : (
        open && <Skeleton height={60} mt={6} />
      )}
    </details>
  );
}

export function RewardPreview({ reward, version }: { reward: Reward; version: RewardVersion }) {
  const { components, success_threshold: threshold } = version.definition as {
    components?: { name: string; weight?: number; grader?: { type?: string } }[];
    success_threshold?: number;
  };
  const parts = (components ?? []).map(
    ({ name, weight = 1, grader }) => `${formatNumber(weight)} × ${name} (${grader?.type ?? "?"})`,
  );
  return (
    <Preview
      facts={[parts.join(" + "), `correct from ${formatNumber(threshold ?? 0.5)}`, version.note]}
      href={`/rewards/${reward.id}`}
    >
      <details>
        <summary>Definition</summary>
        <Pre label={`Definition of ${version.ref}`} className={classes.code}>
          {JSON.stringify(version.definition as Json, null, 2)}
        </Pre>
      </details>
    </Preview>
  );
}

export function PolicyPreview({ policy }: { policy: Policy }) {
  return (
    <Preview
      facts={[
        policy.architecture,
        `${formatCount(policy.parameters)} parameters`,
        `${policy.max_position_embeddings.toLocaleString("en-GB")} positions`,
        formatBytes(policy.bytes),
      ]}
      href={`/policies/${policy.id}`}
    />
  );
}
