/** The dataset card: source of the rows, licence, purpose and owner. */
import { Anchor, Button, Group, Modal, Paper, Text, Title } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconPencil } from "@tabler/icons-react";
import type { ReactNode } from "react";
import type { Dataset, DatasetCard } from "@/api/model";
import { useMayEdit } from "@/entities/datasets/read-only";
import { formatAgo } from "@/lib/format";
import { Facts } from "@/ui/Facts";
import { CardForm } from "./CardForm";
import { keptText, missingFacts, ownerText } from "./card-text";

export function CardPanel({ dataset }: { dataset: Dataset }) {
  const { card } = dataset;
  const editor = useMayEdit();
  const [opened, { open, close }] = useDisclosure(false);
  const missing = missingFacts(card);
  return (
    <Paper p="md" mb="md" component="section" aria-label="Card" data-testid="dataset-card">
      <Group justify="space-between" mb="sm" wrap="nowrap">
        <Title order={2} fz="md">
          Card
        </Title>
        {editor && (
          <Button variant="default" size="xs" leftSection={<IconPencil size={14} />} onClick={open}>
            Edit card
          </Button>
        )}
      </Group>
      <Facts
        facts={[
          ["Owner", ownerText(card)],
          ["Licence", <Licence key="licence" card={card} />],
          ["Source", <Source key="source" text={card.source} />],
          ["Replaced versions", keptText(card)],
          ["Purpose", card.purpose ? <Written key="purpose">{card.purpose}</Written> : <NotSaid key="purpose" />],
        ]}
      />
      {card.caveats && (
        <>
          <Text size="xs" c="dimmed" mt="sm">
            Caveats
          </Text>
          <Written>{card.caveats}</Written>
        </>
      )}
      {missing.length > 0 && (
        <Text size="xs" c="dimmed" mt="sm" data-testid="card-missing">
          The card does not state the {missing.join(", ")} yet.
          {editor && " People who use this data will need it."}
        </Text>
      )}
      {card.updated_at && card.revision > 1 && (
        <Text size="xs" c="dimmed" mt="sm">
          Written by {card.updated_by}, {formatAgo(card.updated_at)}.
        </Text>
      )}
      <Modal opened={opened} onClose={close} title={`Card of ${dataset.name}`} size="lg">
        <CardForm dataset={dataset} onDone={close} />
      </Modal>
    </Paper>
  );
}

const NotSaid = () => (
  <Text component="span" size="sm" c="dimmed">
    Not set
  </Text>
);

function Licence({ card }: { card: DatasetCard }) {
  if (!card.licence) return <NotSaid />;
  return card.licence_is_spdx ? <span className="mono">{card.licence}</span> : <>{card.licence}</>;
}

function Source({ text }: { text: string }) {
  if (!text) return <NotSaid />;
  // Nothing but the web is a link: a source is text that others have written.
  if (!/^https?:\/\/\S+$/.test(text)) return <Written>{text}</Written>;
  return (
    <Anchor size="sm" href={text} target="_blank" rel="noopener noreferrer nofollow">
      {text}
    </Anchor>
  );
}

function Written({ children }: { children: ReactNode }) {
  return (
    <Text component="span" size="sm" display="block" style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
      {children}
    </Text>
  );
}
