import {
  IconActivity,
  IconBrain,
  IconDatabase,
  IconFileText,
  IconHome,
  IconServer2,
  IconTarget,
  IconUsers,
} from "@tabler/icons-react";

export const NAV = [
  { to: "/", label: "Home", key: "h", icon: IconHome },
  { to: "/runs", label: "Runs", key: "r", icon: IconActivity },
  { to: "/reports", label: "Reports", key: "e", icon: IconFileText },
  { to: "/datasets", label: "Datasets", key: "d", icon: IconDatabase },
  { to: "/rewards", label: "Rewards", key: "w", icon: IconTarget },
  { to: "/policies", label: "Policies", key: "p", icon: IconBrain },
  { to: "/clusters", label: "Clusters", key: "c", icon: IconServer2 },
  { to: "/team", label: "Team", key: "t", icon: IconUsers },
] as const;
