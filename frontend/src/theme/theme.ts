/** The look of the console: warm stone neutrals, one petrol accent, tabular numerals. */
import {
  ActionIcon,
  Alert,
  Badge,
  Button,
  Card,
  createTheme,
  Drawer,
  type MantineColorsTuple,
  Modal,
  Paper,
  Table,
  Tabs,
  TextInput,
  Tooltip,
} from "@mantine/core";

const petrol: MantineColorsTuple = [
  "#e9f5f8",
  "#d3e8ee",
  "#a6d1dd",
  "#74b8cb",
  "#4ca3bc",
  "#3195b2",
  "#1f7f9b",
  "#17627a",
  "#0f5065",
  "#073d4f",
];
/** Dark neutrals: slightly warm, text first, deepest background last. */
const dark: MantineColorsTuple = [
  "#e6e4e0",
  "#c9c6c0",
  "#a3a09a",
  "#7d7a75",
  "#3d3c3a",
  "#32312f",
  "#272624",
  "#1e1d1c",
  "#181716",
  "#121110",
];
const gray: MantineColorsTuple = [
  "#faf9f7",
  "#f4f2ef",
  "#eae7e2",
  "#dedad4",
  "#cbc6be",
  "#a8a299",
  "#7f7a72",
  "#5d5952",
  "#3b3834",
  "#1f1d1b",
];

/** Deep enough for white text on filled buttons. */
const red: MantineColorsTuple = [
  "#fdecea",
  "#f9d3cf",
  "#f2aaa3",
  "#ea7d74",
  "#e25a4f",
  "#d6443a",
  "#c5362d",
  "#b3261e",
  "#93201a",
  "#741a15",
];

const sans = "'Inter Variable', system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";
const mono = "'JetBrains Mono Variable', ui-monospace, SFMono-Regular, Menlo, 'DejaVu Sans Mono', monospace";

/** The cross that closes them, which is a picture alone. */
const CLOSE = { "aria-label": "Close" };

/** Modals and drawers: one surface, with a title that reads as one. */
const SHEET = {
  content: { background: "var(--c-surface)" },
  header: { background: "var(--c-surface)" },
  title: { fontWeight: 600 },
};

/** The head of a sheet is none of the page's: without this its element would be a second banner. */
const HEAD = { header: { role: "none" } };

export const theme = createTheme({
  primaryColor: "petrol",
  primaryShade: { light: 7, dark: 6 },
  autoContrast: true,
  colors: { petrol, dark, gray, red },
  white: "#ffffff",
  black: "#1f1d1b",
  fontFamily: sans,
  fontFamilyMonospace: mono,
  headings: {
    fontFamily: sans,
    fontWeight: "620",
    sizes: {
      h1: { fontSize: "1.375rem", lineHeight: "1.3" },
      h2: { fontSize: "1.0625rem", lineHeight: "1.35" },
      h3: { fontSize: "0.875rem", lineHeight: "1.4" },
      h4: { fontSize: "0.8125rem", lineHeight: "1.4" },
    },
  },
  fontSizes: { xs: "0.75rem", sm: "0.8125rem", md: "0.875rem", lg: "1rem", xl: "1.125rem" },
  spacing: { xs: "0.5rem", sm: "0.75rem", md: "1rem", lg: "1.5rem", xl: "2rem" },
  defaultRadius: "sm",
  radius: { xs: "3px", sm: "6px", md: "8px", lg: "12px", xl: "20px" },
  cursorType: "pointer",
  respectReducedMotion: true,
  focusRing: "auto",
  components: {
    Alert: Alert.extend({ styles: { title: { color: "var(--c-text)" }, message: { color: "var(--c-text)" } } }),
    Button: Button.extend({ defaultProps: { size: "sm" }, styles: { root: { fontWeight: 550 } } }),
    ActionIcon: ActionIcon.extend({ defaultProps: { variant: "subtle", color: "gray" } }),
    Card: Card.extend({ defaultProps: { withBorder: true, padding: "md" } }),
    Paper: Paper.extend({ defaultProps: { withBorder: true } }),
    TextInput: TextInput.extend({ defaultProps: { size: "sm" } }),
    Badge: Badge.extend({
      defaultProps: { variant: "light", radius: "sm", size: "sm" },
      styles: { label: { textTransform: "none", fontWeight: 550, letterSpacing: 0 } },
    }),
    Table: Table.extend({ defaultProps: { verticalSpacing: 8, horizontalSpacing: 12, fz: "sm" } }),
    Tabs: Tabs.extend({ styles: { tab: { fontSize: "0.8125rem", fontWeight: 530 } } }),
    Modal: Modal.extend({
      defaultProps: { centered: true, transitionProps: { duration: 120 }, closeButtonProps: CLOSE, attributes: HEAD },
      styles: SHEET,
    }),
    Drawer: Drawer.extend({
      defaultProps: { transitionProps: { duration: 150 }, closeButtonProps: CLOSE, attributes: HEAD },
      styles: SHEET,
    }),
    Tooltip: Tooltip.extend({ defaultProps: { openDelay: 250, multiline: true, maw: 340, fz: "xs", withArrow: true } }),
  },
});
