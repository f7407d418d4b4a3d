/** Items that runs propose for the reward's rubrics, with their evidence, until a user decides. */
import { Group, SegmentedControl, Stack, Text } from "@mantine/core";
import { IconBulb } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { Reward } from "@/api/model";
import { EmptyState } from "@/ui/EmptyState";
import { Loaded } from "@/ui/Loaded";
import { TableSkeleton } from "@/ui/TableSkeleton";
import { ProposalCard } from "./ProposalCard";
import { proposalsQuery, type ProposalState } from "./queries";

const STATES: { value: ProposalState; label: string }[] = [
  { value: "proposed", label: "Open" },
  { value: "accepted", label: "Accepted" },
  { value: "retired", label: "Retired" },
];

export function ProposalsTab({ reward }: { reward: Reward }) {
  const search = useSearch({ from: "/app/rewards/$rewardId" });
  const navigate = useNavigate({ from: "/rewards/$rewardId" });
  const state = STATES.find(one => one.value === search.state)?.value ?? "proposed";
  const query = useQuery(proposalsQuery(reward.id, state));
  return (
    <Stack gap="sm">
      <Group justify="space-between" gap="xs">
        <SegmentedControl
          size="xs"
          aria-label="State of the proposals"
          data={STATES}
          value={state}
          onChange={next =>
            void navigate({
              search: previous => ({ ...previous, state: next === "proposed" ? undefined : next }),
              replace: true,
            })
          }
        />
        <Text size="xs" c="dimmed">
          Accepting creates the next version with the item. Runs keep the version they name.
        </Text>
      </Group>
      <Loaded query={query} skeleton={<TableSkeleton rows={5} />}>
        {({ data: rows }) =>
          rows.length === 0 ? (
            <EmptyState icon={<IconBulb size={40} stroke={1.3} />} title={`No ${label(state)} proposals`}>
              {state === "proposed"
                ? "A run whose spec sets reward.evolve contrasts good and bad rollouts of one prompt and proposes items for a rubric. They wait here for review."
                : "Decided proposals appear here with the reason."}
            </EmptyState>
          ) : (
            rows.map(proposal => <ProposalCard key={proposal.id} reward={reward} proposal={proposal} />)
          )
        }
      </Loaded>
    </Stack>
  );
}

function label(state: ProposalState): string {
  return state === "proposed" ? "open" : state;
}
