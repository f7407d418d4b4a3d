import { Button, Group, TextInput } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { auditFile } from "./auditFile";
import type { AuditFilter } from "./queries";

/** Narrows the log, and gives what is left of it as a file. */
export function AuditFilterForm({ filter }: { filter: AuditFilter }) {
  const [actor, setActor] = useState(filter.actor ?? "");
  const [action, setAction] = useState(filter.action ?? "");
  const navigate = useNavigate({ from: "/team" });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const search = { tab: "audit" as const, actor: actor.trim() || undefined, action: action.trim() || undefined };
    void navigate({ search, replace: true });
  };
  return (
    <Group component="form" onSubmit={submit} gap="xs" mb="sm">
      <TextInput
        size="xs"
        aria-label="Who"
        placeholder="Who: address or name"
        value={actor}
        onChange={event => setActor(event.currentTarget.value)}
        maxLength={300}
        w={220}
      />
      <TextInput
        size="xs"
        aria-label="What"
        placeholder="What: member, token.create, …"
        value={action}
        onChange={event => setAction(event.currentTarget.value)}
        maxLength={80}
        w={220}
      />
      <Button type="submit" size="xs" variant="default">
        Filter
      </Button>
      <Group gap="xs" ml="auto">
        {(["csv", "jsonl"] as const).map(type => (
          <Button
            key={type}
            size="xs"
            variant="subtle"
            component="a"
            href={auditFile(type, filter)}
            download
            leftSection={<IconDownload size={14} />}
          >
            {type === "csv" ? "CSV" : "JSON lines"}
          </Button>
        ))}
      </Group>
    </Group>
  );
}
