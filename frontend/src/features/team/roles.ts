import type { Role } from "@/api/model";

export const ROLES: { value: Role; label: string; can: string }[] = [
  { value: "viewer", label: "Viewer", can: "view everything in the team" },
  { value: "editor", label: "Editor", can: "also create datasets, rewards, policies and draft runs" },
  { value: "operator", label: "Operator", can: "also start, stop and steer runs" },
  { value: "admin", label: "Admin", can: "also manage members and tokens, and read the audit log" },
];
