/** One profile: running, ended without a result, or with its results. */
import { Alert, Button, Progress, Stack, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import * as api from "@/api/client";
import type { Dataset, Profile } from "@/api/model";
import { useCan } from "@/features/session/session";
import { formatCount, percentOf } from "@/lib/format";
import { useSubmit } from "@/lib/useSubmit";
import { ErrorState } from "@/ui/ErrorState";
import { Loaded } from "@/ui/Loaded";
import { Placeholder } from "@/ui/Placeholder";
import { ProfileOutcome } from "./ProfileOutcome";
import { isOpen, profileQuery } from "./queries";

interface Props {
  id: string;
  dataset: Dataset;
}

export function ProfileView({ id, dataset }: Props) {
  const found = useQuery(profileQuery(id));
  return (
    <Loaded query={found} skeleton={<Placeholder height={240} />}>
      {profile => (
        <div data-testid="profile" data-state={profile.state}>
          {isOpen(profile) && <Working profile={profile} />}
          {profile.state === "failed" && (
            <Alert color="red" role="alert" title="Measuring difficulty failed">
              {profile.error ?? "The worker gave no reason."}
            </Alert>
          )}
          {profile.state === "cancelled" && (
            <Text size="sm" c="dimmed" role="status">
              This profile was cancelled.
            </Text>
          )}
          {profile.report && <ProfileOutcome profile={profile} report={profile.report} dataset={dataset} />}
        </div>
      )}
    </Loaded>
  );
}

function Working({ profile }: { profile: Profile }) {
  const client = useQueryClient();
  const editor = useCan("editor");
  const cancel = useSubmit({
    mutationFn: () => api.cancelProfile(profile.id),
    onSuccess: ended => client.setQueryData(profileQuery(profile.id).queryKey, ended),
  });
  return (
    <Stack gap="xs" align="flex-start">
      <Text size="sm" role="status">
        {phaseOf(profile)}
      </Text>
      {profile.progress && profile.progress.total > 0 && (
        <Progress
          w="100%"
          value={percentOf(profile.progress.done, profile.progress.total)}
          aria-label="Samples so far, of the budget"
        />
      )}
      {editor && (
        <Button size="xs" variant="default" loading={cancel.isPending} onClick={() => cancel.mutate()}>
          Cancel profile
        </Button>
      )}
      {cancel.error !== null && <ErrorState error={cancel.error} />}
    </Stack>
  );
}

/** What a profile does at present. */
export function phaseOf({ state, ahead, progress }: Profile): string {
  if (state === "queued") return ahead > 0 ? `Queued: ${ahead} ahead` : "Waiting for a worker";
  if (progress?.phase !== "sampling") return "Loading the policy";
  return `${formatCount(progress.done)} of at most ${formatCount(progress.total)} samples`;
}
