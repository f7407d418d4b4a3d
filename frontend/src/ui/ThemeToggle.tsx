import { ActionIcon, Tooltip, useMantineColorScheme } from "@mantine/core";
import { IconDeviceDesktop, IconMoon, IconSun } from "@tabler/icons-react";

const NEXT = { auto: "light", light: "dark", dark: "auto" } as const;
const ICONS = { auto: IconDeviceDesktop, light: IconSun, dark: IconMoon };
const NAMES = { auto: "follows the system", light: "light", dark: "dark" };

/** System → light → dark. */
export function ThemeToggle() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const Icon = ICONS[colorScheme];
  return (
    <Tooltip label={`Theme: ${NAMES[colorScheme]}`}>
      <ActionIcon
        size="lg"
        aria-label={`Theme: ${NAMES[colorScheme]}. Change to ${NAMES[NEXT[colorScheme]]}`}
        onClick={() => setColorScheme(NEXT[colorScheme])}
        data-testid="theme-toggle"
      >
        <Icon size={17} stroke={1.7} />
      </ActionIcon>
    </Tooltip>
  );
}
