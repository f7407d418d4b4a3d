/** Difficulty of a version's rows for a policy: results, and the form that starts a measurement. */
import { Button, Group, Modal, Select, Stack } from "@mantine/core";
import { IconChartHistogram } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Dataset, DatasetVersion } from "@/api/model";
import { useCan } from "@/features/session/session";
import { formatAgo } from "@/lib/format";
import { EmptyState } from "@/ui/EmptyState";
import { Loaded } from "@/ui/Loaded";
import { ProfileForm } from "./ProfileForm";
import { ProfileView } from "./ProfileView";
import { profilesQuery } from "./queries";

export function DifficultyTab({ dataset, version }: { dataset: Dataset; version: DatasetVersion }) {
  const [chosen, setChosen] = useState<string | null>(null);
  const [asking, setAsking] = useState(false);
  const editor = useCan("editor");
  const found = useQuery(profilesQuery(dataset.id, version.number));
  const ask = editor && (
    <Button onClick={() => setAsking(true)} data-testid="profile-new">
      Measure difficulty
    </Button>
  );
  return (
    <>
      <Loaded query={found}>
        {({ data }) => {
          const [newest] = data;
          if (!newest)
            return (
              <EmptyState icon={<IconChartHistogram size={32} />} title="Difficulty not measured yet" action={ask}>
                A policy answers the rows on the cluster, uncertain rows more often. You get a pass rate for each row,
                the band worth training on, and gold answers that look wrong.
              </EmptyState>
            );
          const shown = chosen ?? newest.id;
          return (
            <Stack gap="md">
              <Group justify="space-between" align="flex-end">
                <Select
                  label="Profile"
                  data={data.map(one => ({ value: one.id, label: `${one.policy}, ${formatAgo(one.created_at)}` }))}
                  value={shown}
                  onChange={next => setChosen(next)}
                  allowDeselect={false}
                />
                {ask}
              </Group>
              <ProfileView key={shown} id={shown} dataset={dataset} />
            </Stack>
          );
        }}
      </Loaded>
      <Modal opened={asking} onClose={() => setAsking(false)} title="Measure difficulty" size="lg">
        <ProfileForm
          dataset={dataset}
          version={version}
          onDone={id => {
            setAsking(false);
            setChosen(id);
          }}
        />
      </Modal>
    </>
  );
}
