/** What the team has spent this week. */
import { Group, Paper, Text, Title } from "@mantine/core";
import type { Home } from "@/api/model";
import { formatCount, formatNumber } from "@/lib/format";

export function Spend({ spend }: { spend: Home["spend"] }) {
  return (
    <Paper p="md" component="section" aria-label="Spent in the last 7 days" data-testid="home-spend">
      <Title order={2} size="h4" mb="xs">
        Spent in the last 7 days
      </Title>
      <Group gap="xl">
        <Figure label="Tokens trained on" value={formatCount(spend.tokens)} />
        <Figure label="GPU hours" value={formatNumber(spend.gpu_hours, 3)} />
        <Figure label="Slot hours" value={formatNumber(spend.place_hours, 3)} />
        {spend.price !== null && spend.currency !== null && (
          <Figure label="Price of the GPU hours" value={`${spend.price.toFixed(2)} ${spend.currency}`} />
        )}
      </Group>
    </Paper>
  );
}

function Figure({ label, value }: { label: string; value: string }) {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Text fw={600} className="num">
        {value}
      </Text>
    </div>
  );
}
