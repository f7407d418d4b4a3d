import { Button, Group, PasswordInput, Stack, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { fieldError, restError } from "@/api/problems";
import { useSubmit } from "@/lib/useSubmit";
import { ErrorState } from "@/ui/ErrorState";

interface Props<T> {
  act: (proof: { current: string; code: string }) => Promise<T>;
  label: string;
  /** For destructive actions. */
  danger?: boolean;
  onDone: (made: T) => Promise<void>;
  onCancel: () => void;
}

/** Requests password and code before an action. */
export function ProofForm<T>({ act, label, danger, onDone, onCancel }: Props<T>) {
  const [current, setCurrent] = useState("");
  const [code, setCode] = useState("");
  const prove = useSubmit({ mutationFn: () => act({ current, code }), onSuccess: onDone });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    prove.mutate();
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        {restError(prove.error, ["/current", "/code"]) !== null && <ErrorState error={prove.error} />}
        <PasswordInput
          label="Current password"
          autoComplete="current-password"
          value={current}
          onChange={event => setCurrent(event.currentTarget.value)}
          error={fieldError(prove.error, "/current")}
          data-autofocus
        />
        <TextInput
          label="Code"
          description="From the app, or a recovery code. Leave empty if you have no second factor."
          autoComplete="one-time-code"
          maxLength={40}
          value={code}
          onChange={event => setCode(event.currentTarget.value)}
          error={fieldError(prove.error, "/code")}
        />
        <Group justify="flex-end">
          <Button variant="default" onClick={onCancel}>
            Cancel
          </Button>
          <Button type="submit" color={danger ? "red" : undefined} loading={prove.isPending}>
            {label}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
