/** A step, current and drafted: figures with intervals, their basis and their assumptions. */
import { Skeleton, Text } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import { Problem } from "@/api/http";
import type { BatchPreview } from "@/api/model";
import { ErrorState } from "@/ui/ErrorState";
import band from "./band.module.css";
import { basisText, figures } from "./batch";
import classes from "./controls.module.css";

export function BatchFigures({ query }: { query: UseQueryResult<BatchPreview> }) {
  const { data, error, isPlaceholderData } = query;
  return (
    <div data-testid="batch-preview" data-settled={!isPlaceholderData && !query.isFetching}>
      {error ? (
        <Refused error={error} retry={() => void query.refetch()} />
      ) : data ? (
        <Told preview={data} />
      ) : (
        <Skeleton height={200} data-testid="batch-pending" />
      )}
    </div>
  );
}

function Refused({ error, retry }: { error: Error; retry: () => void }) {
  if (error instanceof Problem && error.code === "no_groups")
    return (
      <Text size="xs" c="dimmed" role="status">
        {error.detail}
      </Text>
    );
  // What is typed makes no spec: the person types on.
  if (error instanceof Problem && error.status === 422)
    return (
      <Text size="xs" c="var(--c-bad)" role="alert">
        {error.errors[0]?.detail ?? error.detail}
      </Text>
    );
  return <ErrorState error={error} retry={retry} />;
}

function Told({ preview }: { preview: BatchPreview }) {
  return (
    <>
      <table className={`${band.figures} ${classes.forecast} num`}>
        <caption className="sr-only">A step, current and drafted, with 95 % intervals</caption>
        <tbody>
          {figures(preview).map(({ key, title, text, range }) => (
            <tr key={key} data-figure={key}>
              <th scope="row">{title}</th>
              <td>
                {text}
                {range && <small>{range}</small>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <Text size="xs" c="dimmed" mt={6} role="status">
        {basisText(preview)}
      </Text>
      <Text size="xs" c="dimmed" mt={6} component="div">
        This assumes:
        <ul className={classes.assumptions}>
          {preview.assumptions.map(one => (
            <li key={one}>{one}</li>
          ))}
        </ul>
      </Text>
    </>
  );
}
