import { Avatar, Menu, Text, UnstyledButton, VisuallyHidden } from "@mantine/core";
import { IconApi, IconKey, IconLogout, IconUserCog } from "@tabler/icons-react";
import { Link, useNavigate } from "@tanstack/react-router";
import { useSession, useSignOut } from "@/features/session/session";
import { toastError } from "@/ui/toast";

export function UserMenu() {
  const { user, role } = useSession();
  const signOut = useSignOut();
  const navigate = useNavigate();
  const leave = () =>
    signOut.mutate(undefined, {
      onSuccess: () => void navigate({ to: "/sign-in", search: {} }),
      onError: error => toastError("You are still signed in", error),
    });
  return (
    <Menu position="bottom-end" width={220}>
      <Menu.Target>
        <UnstyledButton data-testid="user-menu" style={{ borderRadius: 20 }}>
          <VisuallyHidden>Your account</VisuallyHidden>
          <Avatar aria-hidden="true" size={30} color="petrol" name={user?.name || user?.email} />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text size="sm" fw={550} c="var(--c-text)" truncate>
            {user?.name || user?.email}
          </Text>
          <Text size="xs" truncate>
            {user?.email} · {role}
          </Text>
        </Menu.Label>
        <Menu.Divider />
        <Menu.Item leftSection={<IconUserCog size={15} />} component={Link} to="/account">
          Account
        </Menu.Item>
        <Menu.Item leftSection={<IconKey size={15} />} component={Link} to="/team?tab=tokens">
          API tokens
        </Menu.Item>
        <Menu.Item leftSection={<IconApi size={15} />} component="a" href="/api/v1/docs" target="_blank">
          API reference
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={15} />} onClick={leave}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
