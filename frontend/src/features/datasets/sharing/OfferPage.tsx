/** Shows the offer behind another team's link, and accepts it. */
import { Alert, Button, Group, Paper, Stack, Text, TextInput } from "@mantine/core";
import { IconDatabase } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import * as api from "@/api/client";
import type { DatasetOffer } from "@/api/model";
import { fieldError, restError } from "@/api/problems";
import { useCan, useSession } from "@/features/session/session";
import { formatTime } from "@/lib/format";
import { useSubmit } from "@/lib/useSubmit";
import { EmptyState } from "@/ui/EmptyState";
import { ErrorState } from "@/ui/ErrorState";
import { Loaded } from "@/ui/Loaded";
import { PageHeader } from "@/ui/PageHeader";
import { Placeholder } from "@/ui/Placeholder";
import { offerQuery } from "./queries";

export function OfferPage() {
  const { secret } = useParams({ from: "/app/dataset-offers/$secret" });
  const admin = useCan("admin");
  const query = useQuery({ ...offerQuery(secret), enabled: admin });
  if (!admin)
    return (
      <EmptyState icon={<IconDatabase size={40} stroke={1.3} />} title="A dataset is offered to your team">
        A team admin must accept it. Send them the link, or switch to a team of which you are an admin.
      </EmptyState>
    );
  return (
    <Loaded page query={query} skeleton={<Placeholder height={240} />}>
      {offer => <Offer offer={offer} secret={secret} />}
    </Loaded>
  );
}

function Offer({ offer, secret }: { offer: DatasetOffer; secret: string }) {
  const [slug, setSlug] = useState(offer.slug);
  const { team } = useSession();
  const client = useQueryClient();
  const navigate = useNavigate();
  const accept = useSubmit({
    mutationFn: () => api.acceptDataset(encodeURIComponent(secret), { slug }),
    onSuccess: async made => {
      await client.invalidateQueries({ queryKey: ["datasets"] });
      await navigate({ to: "/datasets/$datasetId", params: { datasetId: made.dataset_id } });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    accept.mutate();
  };
  return (
    <>
      <PageHeader title={`${offer.name} of the team ${offer.team}`} description={offer.description} />
      <Paper p="md" maw={560} component="form" onSubmit={submit}>
        <Stack gap="sm">
          <Text size="sm">
            The team {offer.team} lets your team {team?.name} use this dataset: read its rows, train with them and
            derive datasets. The offer is valid until {formatTime(offer.expires_at)}.
          </Text>
          <Alert color="petrol">The other team sees your team’s name and can stop sharing at any time.</Alert>
          <TextInput
            label="Name in your specs"
            description="Lowercase letters, digits, hyphens and underscores. Cannot be reused."
            value={slug}
            maxLength={63}
            onChange={event => setSlug(event.currentTarget.value)}
            error={fieldError(accept.error, "/slug")}
            required
          />
          {restError(accept.error, ["/slug"]) !== null && <ErrorState error={accept.error} />}
          <Group justify="flex-end">
            <Button type="submit" loading={accept.isPending} disabled={!slug.trim()}>
              Accept
            </Button>
          </Group>
        </Stack>
      </Paper>
    </>
  );
}
