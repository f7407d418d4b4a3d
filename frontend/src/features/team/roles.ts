import type { Role } from "@/api/model";

export const ROLES: { value: Role; label: string; can: string }[] = [
  { value: "viewer", label: "Viewer", can: "sees everything of the team" },
  { value: "editor", label: "Editor", can: "also makes datasets, rewards, policies and draft runs" },
  { value: "operator", label: "Operator", can: "also starts, stops and steers runs" },
  { value: "admin", label: "Admin", can: "also manages members, tokens and reads the audit log" },
];
