import { IconActivity, IconBrain, IconDatabase, IconServer2, IconTarget, IconUsers } from "@tabler/icons-react";

export const NAV = [
  { to: "/runs", label: "Runs", icon: IconActivity },
  { to: "/datasets", label: "Datasets", icon: IconDatabase },
  { to: "/rewards", label: "Rewards", icon: IconTarget },
  { to: "/policies", label: "Policies", icon: IconBrain },
  { to: "/clusters", label: "Clusters", icon: IconServer2 },
  { to: "/team", label: "Team", icon: IconUsers },
] as const;
