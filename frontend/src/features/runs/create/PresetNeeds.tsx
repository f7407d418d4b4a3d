/** What a preset for a real model needs before it can start: policy, datasets and reward by the names in its spec. */
import { Alert, List, Text } from "@mantine/core";
import type { Recipe } from "@/api/model";
import { CopyText } from "@/ui/CopyText";

type Published = NonNullable<Recipe["published"]>;

export function PresetNeeds({ published, spec }: { published: Published; spec: Recipe["spec"] }) {
  const policy = spec.policy;
  const base = policy && typeof policy === "object" && !Array.isArray(policy) ? String(policy.base) : "";
  return (
    <Alert color="gray" p="xs" mt={8} title={`Requirements, on ${published.machine}`} data-testid="preset-needs">
      <List size="sm" spacing={4}>
        <List.Item>
          The policy <code className="mono">{base}</code>: {published.model} from the Hugging Face hub.
        </List.Item>
        {Object.entries(published.datasets).map(([slug, what]) => (
          <List.Item key={slug}>
            The dataset <code className="mono">{slug}</code>: {what}.
          </List.Item>
        ))}
        {Object.entries(published.rewards).map(([slug, definition]) => (
          <List.Item key={slug}>
            The reward <code className="mono">{slug}</code>:{" "}
            <CopyText value={JSON.stringify(definition)} label={`Copy the definition of ${slug}`} />
          </List.Item>
        ))}
      </List>
      <Text size="xs" c="dimmed" mt={4}>
        If yours have other names, choose them below.
      </Text>
    </Alert>
  );
}
