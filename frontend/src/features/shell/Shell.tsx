/** The frame of every page: navigation, team, search, theme, user. A drawer on narrow screens. */
import { AppShell, Burger, Button, Drawer, Group, Kbd, Text, UnstyledButton } from "@mantine/core";
import { useDisclosure, useHotkeys } from "@mantine/hooks";
import { useSpotlight } from "@mantine/spotlight";
import { IconSearch } from "@tabler/icons-react";
import { Link, Outlet } from "@tanstack/react-router";
import { Suspense, useState } from "react";
import type { Session } from "@/api/model";
import { useSession } from "@/features/session/session";
import { lazily } from "@/ui/lazily";
import { Logo } from "@/ui/Logo";
import { Otherwise } from "@/ui/Otherwise";
import { TableSkeleton } from "@/ui/TableSkeleton";
import { ThemeToggle } from "@/ui/ThemeToggle";
import { search, searchStore } from "./commands";
import { FailedParts } from "./FailedParts";
import { NAV } from "./nav";
import classes from "./shell.module.css";
import { Shortcuts } from "./Shortcuts";
import { TeamName } from "./TeamName";
import { UserMenu } from "./UserMenu";

// Few people ever see it.
const TemporaryPasswordPage = lazily(() =>
  import("@/features/session/TemporaryPasswordPage").then(m => m.TemporaryPasswordPage),
);
const CommandPalette = lazily(() => import("./CommandPalette").then(m => m.CommandPalette));
const SEARCH_KEY = /Mac|iPhone|iPad/.test(navigator.userAgent) ? "⌘K" : "Ctrl K";

export function Shell() {
  const session = useSession();
  if (!session.user?.password_is_temporary) return <Frame session={session} />;
  return (
    <Suspense>
      <TemporaryPasswordPage />
    </Suspense>
  );
}

function Frame({ session }: { session: Session }) {
  const [drawer, { open, close }] = useDisclosure(false);
  const [help, keys] = useDisclosure(false);
  return (
    <AppShell header={{ height: 52 }} padding={0}>
      <a href="#main" className="skip-link">
        Skip to content
      </a>
      <AppShell.Header className={classes.header}>
        <Burger opened={drawer} onClick={open} hiddenFrom="sm" size="sm" aria-label="Open navigation" />
        <UnstyledButton component={Link} to="/" className={classes.brand} aria-label="Dressage, home">
          <Logo />
          <Text fw={650} size="lg" visibleFrom="xs" style={{ letterSpacing: "-0.01em" }}>
            Dressage
          </Text>
        </UnstyledButton>
        <nav aria-label="Main" className={classes.nav}>
          <NavLinks />
        </nav>
        <Group gap={6} ml="auto" wrap="nowrap">
          <Button
            variant="default"
            size="xs"
            className={classes.search}
            leftSection={<IconSearch size={14} />}
            rightSection={<Kbd size="xs">{SEARCH_KEY}</Kbd>}
            onClick={search.open}
            visibleFrom="md"
          >
            Search or jump to
          </Button>
          <TeamName />
          <ThemeToggle />
          <UserMenu />
        </Group>
      </AppShell.Header>
      <Drawer opened={drawer} onClose={close} size={260} title={session.team?.name ?? "Dressage"} hiddenFrom="sm">
        <nav aria-label="Main" className={classes.drawerNav}>
          <NavLinks onFollow={close} />
        </nav>
      </Drawer>
      <AppShell.Main id="main" tabIndex={-1} className={classes.main}>
        <Suspense fallback={<TableSkeleton />}>
          <Outlet />
        </Suspense>
      </AppShell.Main>
      <FailedParts />
      <Search onHelp={keys.open} />
      <Shortcuts opened={help} onOpen={keys.open} onClose={keys.close} />
    </AppShell>
  );
}

/** Mounted, with its queries, only while the search is open. */
function Search({ onHelp }: { onHelp: () => void }) {
  const { opened } = useSpotlight(searchStore);
  const [wanted, setWanted] = useState(opened);
  if (opened && !wanted) setWanted(true);
  useHotkeys([["mod+K", search.toggle]]);
  if (!wanted) return null;
  return (
    <Otherwise of={String(opened)} otherwise={null}>
      <Suspense fallback={null}>
        <CommandPalette onHelp={onHelp} />
      </Suspense>
    </Otherwise>
  );
}

function NavLinks({ onFollow }: { onFollow?: () => void }) {
  return NAV.map(({ to, label, icon: Icon }) => (
    <Link
      key={to}
      to={to}
      className={classes.link}
      activeOptions={{ exact: to === "/" }}
      activeProps={{ "data-active": true }}
      onClick={onFollow}
    >
      <Icon size={16} stroke={1.7} aria-hidden="true" />
      {label}
    </Link>
  ));
}
