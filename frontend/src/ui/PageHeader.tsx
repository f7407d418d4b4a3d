import { Group, Text, Title } from "@mantine/core";
import { type ReactNode, useEffect } from "react";

interface Props {
  title: string;
  /** Shown instead of the plain title, where it may be edited or decorated. */
  heading?: ReactNode;
  description?: ReactNode;
  actions?: ReactNode;
}

/** Title of a page, in the document too. */
export function PageHeader({ title, heading, description, actions }: Props) {
  useEffect(() => {
    document.title = `${title} · Dressage`;
  }, [title]);
  return (
    <Group justify="space-between" align="flex-start" mb="md" gap="sm">
      <div style={{ minWidth: 0 }}>
        <Title order={1}>{heading ?? title}</Title>
        {description && (
          <Text c="dimmed" size="sm" mt={2}>
            {description}
          </Text>
        )}
      </div>
      {actions && <Group gap="xs">{actions}</Group>}
    </Group>
  );
}
