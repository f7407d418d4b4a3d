/** The charts of runs that learn from rows: supervised and preference training. */
import { type ChartSpec, lines, perSource } from "./chartSpec";
import type { LineStyle } from "./options";

const PARTS = /^eval\/(.+)\/loss\/(first|second|third|last)$/;

export const SUPERVISED_CHARTS: ChartSpec[] = [
  {
    id: "sft-loss",
    title: "Loss",
    hint: "Mean negative log-likelihood of the tokens that teach; by source if there are several.",
    unit: "nats",
    lines: names => {
      const sources = perSource(names, /^sft\/loss\/(.+)$/, { from: 1 });
      return [{ key: "sft/loss", label: "all", color: 0 }, ...(sources.length > 1 ? sources : [])];
    },
  },
  {
    id: "held-out-loss",
    title: "Held-out loss",
    hint: "The same on held-out rows. If it rises while the loss falls, the policy learns the rows by heart.",
    unit: "nats",
    lines: names => perSource(names, /^eval\/([^/]+)\/loss$/, { rare: true }),
  },
  {
    id: "held-out-loss-position",
    title: "Held-out loss by position",
    hint: "Held-out loss of the tokens in each quarter of their example. A last quarter far above the others: long examples are not learned.",
    unit: "nats",
    lines: byPosition,
  },
  {
    id: "example-tokens",
    title: "Tokens per step",
    hint: "Tokens of the step's examples, prompts included; passes over all rows on the right axis.",
    unit: "tokens",
    lines: lines(
      { key: "examples/tokens", label: "tokens", color: 0 },
      { key: "examples/epoch", label: "epoch", color: 3, axis: "right" },
    ),
  },
  {
    id: "taught-share",
    title: "Tokens that teach",
    hint: "Share of the step's tokens that the loss covers. The others are prompts and turns of others.",
    range: [0, 1],
    lines: lines({ key: "examples/taught_share", label: "share", color: 0 }),
  },
];

export const PREFERENCE_CHARTS: ChartSpec[] = [
  {
    id: "preference-loss",
    title: "Preference loss",
    hint: "Mean loss of the step's pairs.",
    lines: lines({ key: "preference/loss", label: "loss", color: 0 }),
  },
  {
    id: "preference-accuracy",
    title: "Pairs in the right order",
    hint: "Share of pairs whose better completion has the larger implicit reward. 0.5 is chance.",
    range: [0, 1],
    lines: lines({ key: "preference/accuracy", label: "train", color: 0 }),
  },
  {
    id: "preference-margin",
    title: "Margin",
    hint: "Mean implicit reward of the better completion minus that of the worse one; dots are held-out pairs.",
    lines: names => [
      { key: "preference/margin", label: "train", color: 0 },
      ...perSource(names, /^eval\/([^/]+)\/preference_margin$/, {
        rare: true,
        from: 1,
        label: source => `eval ${source}`,
      }),
    ],
  },
  {
    id: "preference-likelihood",
    title: "Likelihood of both completions",
    hint: "Mean log-probability per token of the better and the worse completions. If both fall, the policy moves away from the data: raise β or sft_coefficient.",
    unit: "nats",
    lines: lines(
      { key: "preference/chosen_logprob", label: "better", color: 0 },
      { key: "preference/rejected_logprob", label: "worse", color: 1 },
    ),
  },
  {
    id: "held-out-preference",
    title: "Held-out pairs in the right order",
    hint: "The share on held-out pairs. If it falls while that of training rises, the policy learns the pairs by heart.",
    range: [0, 1],
    lines: names => perSource(names, /^eval\/([^/]+)\/preference_accuracy$/, { rare: true }),
  },
];

/** One line per quarter, and per source if there are several. */
function byPosition(names: string[]): LineStyle[] {
  const found = names.flatMap(key => {
    const [, source, part] = PARTS.exec(key) ?? [];
    return source && part ? [{ key, source, part }] : [];
  });
  const several = new Set(found.map(one => one.source)).size > 1;
  const order = ["first", "second", "third", "last"];
  const sorted = found.sort(
    (a, b) => a.source.localeCompare(b.source) || order.indexOf(a.part) - order.indexOf(b.part),
  );
  return sorted.flatMap(({ key, source, part }) =>
    perSource([key], /^(.+)$/, {
      rare: true,
      from: sorted.findIndex(one => one.key === key),
      label: () => (several ? `${source}, ${part}` : part),
    }),
  );
}
