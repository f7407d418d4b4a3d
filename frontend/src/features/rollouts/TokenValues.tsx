/** All that is known of one token. The place is kept while none is looked at. */
import { Text } from "@mantine/core";
import { DASH, formatNumber } from "@/lib/format";
import type { Tokens } from "./tokens";
import classes from "./tokens.module.css";

interface Props {
  tokens: Tokens;
  /** Advantage of the sample, which tokens have where none of their own is known. */
  advantage: number | null;
  token: number | null;
}

export function TokenValues({ tokens, advantage, token }: Props) {
  return (
    <div className={classes.values} data-testid="token-values">
      {token === null ? (
        <Text size="xs" c="dimmed">
          Point at a token, or move with the arrow keys.
        </Text>
      ) : (
        valuesOf(tokens, token, advantage).map(([label, value]) => (
          <div key={label}>
            <Text size="xs" c="dimmed">
              {label}
            </Text>
            <Text size="sm" className="num mono" truncate title={value}>
              {value}
            </Text>
          </div>
        ))
      )}
    </div>
  );
}

export function valuesOf(tokens: Tokens, token: number, advantage: number | null): [string, string][] {
  const number = (values: ArrayLike<number> | null) => (values ? formatNumber(values[token], 4) : DASH);
  const forced = tokens.sampled ? !tokens.sampled[token] : false;
  return [
    ["Token", JSON.stringify(tokens.texts[token] ?? "")],
    ["Id", String(tokens.ids[token] ?? DASH)],
    ["Position", `${token} of ${tokens.length}`],
    ["log p, engine", forced ? DASH : number(tokens.engine)],
    ["log p, learner", forced ? DASH : number(tokens.learner)],
    ["Gap", forced ? DASH : number(tokens.gap)],
    ["Entropy", forced ? DASH : number(tokens.entropy)],
    ["Advantage", tokens.advantages ? number(tokens.advantages) : formatNumber(advantage, 4)],
    ["Weight version", number(tokens.versions)],
    ["In the loss", tokens.inLoss ? (tokens.inLoss[token] ? "yes" : "no") : DASH],
    ["Sampled", forced ? "injected" : "yes"],
  ];
}
