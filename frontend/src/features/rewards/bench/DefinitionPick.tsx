import { Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { errorText } from "@/api/http";
import type { Reward, RewardVersion } from "@/api/model";
import { fieldError } from "@/api/problems";
import { rewardsQuery } from "@/entities/rewards/queries";
import type { Draft } from "@/features/rewards/definition/useDraft";
import { DRAFT } from "./bench";

interface Props {
  reward: Reward;
  versions: RewardVersion[];
  draft: Draft;
  first: string;
  second: string | null;
  onFirst: (next: string) => void;
  onSecond: (next: string | null) => void;
  error: unknown;
}

/** One definition, and maybe another to compare it with: stored versions of any reward, or the draft. */
export function DefinitionPick({ reward, versions, draft, first, second, onFirst, onSecond, error }: Props) {
  const rewards = useQuery(rewardsQuery);
  const own = versions.map(one => ({ value: one.ref, label: `${one.ref}${one.note ? ` · ${one.note}` : ""}` }));
  const others = (rewards.data?.data ?? [])
    .filter(one => one.id !== reward.id)
    .flatMap(one => one.versions.map(({ ref }) => ({ value: ref, label: ref })));
  const data = [
    {
      group: "This reward",
      items: [{ value: DRAFT, label: draft.changed ? "the draft" : "the draft (no changes yet)" }, ...own],
    },
    ...(others.length > 0 ? [{ group: "Other rewards", items: others }] : []),
  ];
  const fault = (index: number) =>
    fieldError(error, `/definitions/${index}`) ?? fieldError(error, `/definitions/${index}/ref`);
  return (
    <>
      <Select
        label="Definition"
        data={data}
        value={first}
        onChange={next => next && onFirst(next)}
        allowDeselect={false}
        searchable
        error={fault(0) ?? (rewards.isError ? errorText(rewards.error) : undefined)}
        data-testid="bench-first"
      />
      <Select
        label="Compare with"
        placeholder="nothing"
        data={data}
        value={second}
        onChange={onSecond}
        clearable
        searchable
        error={fault(1)}
        data-testid="bench-second"
      />
    </>
  );
}
