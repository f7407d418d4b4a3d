import type { AuditFilter } from "./queries";

/** Address of the audit log, or of the part that the filter leaves, as a file. */
export function auditFile(type: "csv" | "jsonl", filter: AuditFilter): string {
  const query = new URLSearchParams({ type });
  for (const [name, value] of Object.entries(filter)) if (value) query.set(name, value);
  return `/api/v1/audit/export?${query}`;
}
