import { Button, Menu, Text } from "@mantine/core";
import { IconCheck, IconChevronDown } from "@tabler/icons-react";
import { useRouter } from "@tanstack/react-router";
import { useChooseTeam, useSession } from "@/features/session/session";
import { toastError } from "@/ui/toast";
import classes from "./shell.module.css";

/** The team, and a choice where the person belongs to several. */
export function TeamName() {
  const { team, teams } = useSession();
  const choose = useChooseTeam();
  const router = useRouter();
  if (teams.length < 2) {
    return (
      <Text size="sm" c="dimmed" className={classes.team} visibleFrom="sm" title="Team">
        {team?.name}
      </Text>
    );
  }
  const change = (id: string) =>
    choose.mutate(id, {
      onSuccess: () => void router.navigate({ to: "/runs" }).then(() => router.invalidate()),
      onError: error => toastError("The team was not changed", error),
    });
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="subtle" color="gray" size="xs" rightSection={<IconChevronDown size={14} />} visibleFrom="sm">
          <span className={classes.team}>{team?.name ?? "Choose a team"}</span>
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {teams.map(one => (
          <Menu.Item
            key={one.id}
            onClick={() => change(one.id)}
            rightSection={one.id === team?.id ? <IconCheck size={14} /> : null}
          >
            {one.name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
