import { Button, Group, PasswordInput, Stack, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { account } from "@/api/client";
import { fieldError, restError } from "@/api/problems";
import { useSubmit } from "@/lib/useSubmit";
import { ErrorState } from "@/ui/ErrorState";

interface Props {
  act: "off" | "codes";
  /** Called with the new recovery codes, if any. */
  onDone: (codes: string[]) => Promise<void>;
  onCancel: () => void;
}

/** Asks for password and code before it turns the app off or makes new recovery codes. */
export function ProofForm({ act, onDone, onCancel }: Props) {
  const [current, setCurrent] = useState("");
  const [code, setCode] = useState("");
  const prove = useSubmit({
    mutationFn: async () => {
      if (act === "codes") return (await account.renewRecoveryCodes({ current, code })).recovery_codes;
      await account.turnTotpOff({ current, code });
      return [];
    },
    onSuccess: onDone,
  });
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
          description="Of the app, or a recovery code."
          autoComplete="one-time-code"
          maxLength={40}
          value={code}
          onChange={event => setCode(event.currentTarget.value)}
          error={fieldError(prove.error, "/code")}
          required
        />
        <Group justify="flex-end">
          <Button variant="default" onClick={onCancel}>
            Cancel
          </Button>
          <Button type="submit" color={act === "off" ? "red" : undefined} loading={prove.isPending}>
            {act === "off" ? "Turn the app off" : "Make new codes"}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
