/** The effect of a drafted band on the next batch, next to the current one. */
import { Text } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import { errorText } from "@/api/http";
import type { CurriculumPreview } from "@/api/model";
import { formatNumber, formatPercent } from "@/lib/format";
import type { Sources } from "./band";
import classes from "./band.module.css";

export function BandFigures({ sources, query }: { sources: Sources; query: UseQueryResult<CurriculumPreview> }) {
  const { data, error, isPlaceholderData } = query;
  const found = (which: "now" | "draft", name: string) => data?.[which].sources.find(one => one.name === name);
  const pair = (now: string, draft: string) => (now === draft ? now : `${now} → ${draft}`);
  return (
    <div data-testid="band-preview" data-settled={!isPlaceholderData && !query.isFetching}>
      <table className={`${classes.figures} num`}>
        <caption className="sr-only">The next batch, current and drafted</caption>
        <thead>
          <tr>
            <th scope="col">Source</th>
            <th scope="col">prompts inside</th>
            <th scope="col">share of batch</th>
          </tr>
        </thead>
        <tbody>
          {sources.map(({ name }, index) => {
            const [now, draft] = [found("now", name), found("draft", name)];
            return (
              <tr key={name} data-source={name}>
                <th scope="row" title={name}>
                  <span className={classes.swatch} style={{ background: `var(--c-s${index % 6})` }} />
                  {name}
                </th>
                <td>{pair(formatNumber(now?.inside), formatNumber(draft?.inside))}</td>
                <td>{pair(formatPercent(now?.share), formatPercent(draft?.share))}</td>
              </tr>
            );
          })}
          <tr data-source="">
            <th scope="row" colSpan={2}>
              Groups with zero variance
            </th>
            <td data-testid="band-dead">
              {pair(formatPercent(data?.now.dead_share, 1), formatPercent(data?.draft.dead_share, 1))}
            </td>
          </tr>
        </tbody>
      </table>
      <Text size="xs" mt={2} mih={18} c={error || data?.draft.empty.length ? "var(--c-bad)" : "dimmed"} role="status">
        {error ? errorText(error) : data ? told(data) : "Computing next batch."}
      </Text>
    </div>
  );
}

function told({ step, draft }: CurriculumPreview): string {
  if (draft.empty.length > 0)
    return `${draft.empty.join(", ")}: no prompt inside. Its prompts are drawn from outside the band.`;
  return `Outline: batch at step ${step}. Assumes constant pass rates.`;
}
