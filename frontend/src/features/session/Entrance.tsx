import { Center, Group, Paper, Stack, Text, Title } from "@mantine/core";
import { type FormEvent, type ReactNode, useEffect } from "react";
import { Logo } from "@/ui/Logo";
import { ThemeToggle } from "@/ui/ThemeToggle";

interface Props {
  title: string;
  /** Makes a form of the page. */
  onSubmit?: () => void;
  children: ReactNode;
}

/** A page outside of any team: one small sheet. */
export function Entrance({ title, onSubmit, children }: Props) {
  useEffect(() => {
    document.title = `${title} · Dressage`;
  }, [title]);
  const contents = (
    <Stack gap="sm">
      <Title order={2}>{title}</Title>
      {children}
    </Stack>
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit?.();
  };
  return (
    <Center mih="100vh" p="md" component="main">
      <Stack w="100%" maw={380} gap="lg">
        <Group gap="sm" justify="center">
          <Logo size={34} />
          <Title order={1} fz={24}>
            Dressage
          </Title>
        </Group>
        {onSubmit ? (
          <Paper p="lg" component="form" onSubmit={submit}>
            {contents}
          </Paper>
        ) : (
          <Paper p="lg">{contents}</Paper>
        )}
        <Group justify="center" gap={4}>
          <Text size="xs" c="dimmed">
            Reinforcement learning, steered while it runs
          </Text>
          <ThemeToggle />
        </Group>
      </Stack>
    </Center>
  );
}
