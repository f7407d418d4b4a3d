/** Teams that read a dataset, and offers that none has accepted yet; for the admins of the team that owns it. */
import { Alert, Button, Group, Paper, Stack, Text, TextInput, Title } from "@mantine/core";
import { modals } from "@mantine/modals";
import { IconKey, IconShare } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import * as api from "@/api/client";
import type { Dataset, DatasetShare } from "@/api/model";
import { fieldError, restError } from "@/api/problems";
import { formatAgo, formatTime } from "@/lib/format";
import { useNow } from "@/lib/useNow";
import { useSubmit } from "@/lib/useSubmit";
import { CopyText } from "@/ui/CopyText";
import { ErrorState } from "@/ui/ErrorState";
import { Loaded } from "@/ui/Loaded";
import { toastError } from "@/ui/toast";
import { sharesQuery } from "./queries";

export function SharePanel({ dataset }: { dataset: Dataset }) {
  const shares = useQuery(sharesQuery(dataset.id));
  return (
    <Paper p="md" mb="md" component="section" aria-label="Sharing" data-testid="dataset-shares">
      <Title order={2} fz="md" mb="xs">
        Sharing
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        Another team can read the rows, train with them and derive datasets. It cannot change anything, or see your
        team’s members, notes or other datasets.
      </Text>
      <OfferForm dataset={dataset} />
      <Loaded query={shares} skeleton={null}>
        {({ data }) => (
          <Stack gap="xs">
            {data.map(share => (
              <Share key={share.id} dataset={dataset} share={share} />
            ))}
          </Stack>
        )}
      </Loaded>
    </Paper>
  );
}

function OfferForm({ dataset }: { dataset: Dataset }) {
  const [note, setNote] = useState("");
  const [link, setLink] = useState<string | null>(null);
  const client = useQueryClient();
  const offer = useSubmit({
    mutationFn: () => api.offerDataset(dataset.id, { note }),
    onSuccess: made => {
      setLink(made.link);
      setNote("");
      void client.invalidateQueries({ queryKey: ["dataset-shares"] });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    offer.mutate();
  };
  return (
    <>
      {link && (
        <Alert
          color="yellow"
          icon={<IconKey size={18} />}
          title="Link for an admin of the other team"
          mb="sm"
          withCloseButton
          onClose={() => setLink(null)}
          closeButtonLabel="Hide permanently"
          data-testid="share-link"
        >
          <CopyText value={link} label="Copy link" />
          <Text size="xs" mt={6}>
            Shown only once. Valid for one team, for seven days.
          </Text>
        </Alert>
      )}
      {restError(offer.error, ["/note"]) !== null && <ErrorState error={offer.error} />}
      <Group component="form" onSubmit={submit} gap="xs" mb="sm" align="flex-start">
        <TextInput
          aria-label="Recipient of the offer"
          placeholder="recipient"
          value={note}
          maxLength={200}
          onChange={event => setNote(event.currentTarget.value)}
          error={fieldError(offer.error, "/note")}
          w={{ base: "100%", xs: 260 }}
        />
        <Button type="submit" variant="default" leftSection={<IconShare size={15} />} loading={offer.isPending}>
          Share with a team
        </Button>
      </Group>
    </>
  );
}

function Share({ dataset, share }: { dataset: Dataset; share: DatasetShare }) {
  const now = useNow();
  const client = useQueryClient();
  const revoke = useSubmit({
    mutationFn: () => api.revokeDatasetShare(dataset.id, share.id),
    onError: error => toastError("Sharing was not stopped", error),
    onSettled: () => client.invalidateQueries({ queryKey: ["dataset-shares"] }),
  });
  const who = share.guest ?? (share.note || "an offer");
  const confirm = () =>
    modals.openConfirmModal({
      title: share.guest ? `Stop sharing with ${share.guest}?` : "Withdraw the offer?",
      children: (
        <Text size="sm">
          {share.guest
            ? "The team can start nothing new with the rows. Its started runs continue, and it keeps the datasets it has derived."
            : "Its link stops working immediately."}
        </Text>
      ),
      labels: { confirm: share.guest ? "Stop sharing" : "Withdraw", cancel: "Cancel" },
      confirmProps: { color: "red" },
      onConfirm: () => revoke.mutate(),
    });
  return (
    <Group justify="space-between" wrap="nowrap">
      <div style={{ minWidth: 0 }}>
        <Text size="sm" fw={550} style={{ overflowWrap: "anywhere" }}>
          {share.guest ? `Team ${share.guest}` : who}
        </Text>
        <Text size="xs" c="dimmed">
          {stateText(share, now)}
        </Text>
      </div>
      <Button size="xs" variant="default" color="red" onClick={confirm} aria-label={`Stop sharing: ${who}`}>
        {share.guest ? "Stop sharing" : "Withdraw"}
      </Button>
    </Group>
  );
}

/** How far a share has come. */
export function stateText(share: Pick<DatasetShare, "accepted_at" | "expires_at" | "note">, now: number): string {
  if (share.accepted_at) return `can read since ${formatAgo(share.accepted_at)}${share.note ? `, ${share.note}` : ""}`;
  if (Date.parse(share.expires_at) <= now) return "expired: offer it again";
  return `not accepted yet, valid until ${formatTime(share.expires_at)}`;
}
