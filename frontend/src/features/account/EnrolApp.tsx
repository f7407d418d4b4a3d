import { Button, Group, PasswordInput, Stack, Text, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import * as api from "@/api/client";
import type { TotpKey } from "@/api/model";
import { fieldError, restError } from "@/api/problems";
import { useSubmit } from "@/lib/useSubmit";
import { CopyText } from "@/ui/CopyText";
import { ErrorState } from "@/ui/ErrorState";

interface Props {
  onCodes: (codes: string[]) => void;
  onChanged: () => Promise<void>;
}

/** Sets up an authenticator app: the password, the key, a first code. */
export function EnrolApp({ onCodes, onChanged }: Props) {
  const [key, setKey] = useState<TotpKey | null>(null);
  return key === null ? <Begin onKey={setKey} /> : <Confirm made={key} onCodes={onCodes} onChanged={onChanged} />;
}

function Begin({ onKey }: { onKey: (key: TotpKey) => void }) {
  const [current, setCurrent] = useState("");
  const begin = useSubmit({ mutationFn: () => api.beginTotp({ current }), onSuccess: onKey });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    begin.mutate();
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Text size="sm">Not set up. Any authenticator app works.</Text>
        {restError(begin.error, ["/current"]) !== null && <ErrorState error={begin.error} />}
        <PasswordInput
          label="Your password, to set up an app"
          autoComplete="current-password"
          value={current}
          onChange={event => setCurrent(event.currentTarget.value)}
          error={fieldError(begin.error, "/current")}
        />
        <Group justify="flex-end">
          <Button type="submit" loading={begin.isPending}>
            Set up an authenticator app
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function Confirm({ made, onCodes, onChanged }: Props & { made: TotpKey }) {
  const [code, setCode] = useState("");
  const confirm = useSubmit({
    mutationFn: () => api.confirmTotp({ code }),
    onSuccess: async ({ recovery_codes }) => {
      onCodes(recovery_codes);
      await onChanged();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    confirm.mutate();
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Text size="sm">Scan this with your app, or type the key. Then enter its code.</Text>
        <img
          src={`data:image/svg+xml;utf8,${encodeURIComponent(made.qr)}`}
          alt="QR code of the key"
          width={220}
          height={220}
        />
        <CopyText value={made.secret} label="Copy key" />
        {restError(confirm.error, ["/code"]) !== null && <ErrorState error={confirm.error} />}
        <TextInput
          label="Code"
          autoComplete="one-time-code"
          inputMode="numeric"
          maxLength={12}
          value={code}
          onChange={event => setCode(event.currentTarget.value)}
          error={fieldError(confirm.error, "/code")}
          data-autofocus
          required
        />
        <Group justify="flex-end">
          <Button type="submit" loading={confirm.isPending}>
            Turn on
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
