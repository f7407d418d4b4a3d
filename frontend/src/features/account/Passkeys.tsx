/** The account's passkeys: sign-in with a device's fingerprint, face or PIN. */
import { Button, Divider, Group, Stack, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import * as api from "@/api/client";
import type { Passkey } from "@/api/model";
import { createPasskey, hasPasskeys, refusalText } from "@/features/session/webauthn";
import { formatAgo, formatTime } from "@/lib/format";
import { Loaded } from "@/ui/Loaded";
import { ProofForm } from "./ProofForm";
import { passkeysQuery } from "./queries";

interface Props {
  /** The address of the console at which passkeys work, if any. */
  origin: string | null;
  onCodes: (codes: string[]) => void;
  onChanged: () => Promise<void>;
}

export function Passkeys({ origin, onCodes, onChanged }: Props) {
  const passkeys = useQuery(passkeysQuery);
  return (
    <Stack gap="xs">
      <Divider my="sm" label="Passkeys" labelPosition="left" />
      <Text size="sm" c="dimmed">
        Sign in with a device's fingerprint, face or PIN, instead of the password or after it.
      </Text>
      <Loaded query={passkeys}>
        {({ data: rows }) => rows.map(row => <Row key={row.id} passkey={row} onChanged={onChanged} />)}
      </Loaded>
      {hasPasskeys() && origin === window.location.origin ? (
        <Add onCodes={onCodes} onChanged={onChanged} />
      ) : (
        <Text size="sm">{whyNot(origin)}</Text>
      )}
    </Stack>
  );
}

function whyNot(origin: string | null): string {
  if (origin === null) return "Passkeys need HTTPS and a host name.";
  if (!hasPasskeys()) return "This browser does not support passkeys.";
  return `Passkeys work at ${origin}: open the console there to add one.`;
}

function Row({ passkey, onChanged }: { passkey: Passkey; onChanged: () => Promise<void> }) {
  const [removing, setRemoving] = useState(false);
  return (
    <Stack gap="xs">
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm" style={{ overflowWrap: "anywhere" }}>
          <strong>{passkey.name}</strong>, added {formatTime(passkey.created_at)},{" "}
          {passkey.last_used_at ? `used ${formatAgo(passkey.last_used_at)}` : "never used"}
        </Text>
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => setRemoving(true)}
          aria-label={`Remove ${passkey.name}`}
        >
          Remove
        </Button>
      </Group>
      {removing && (
        <ProofForm
          act={proof => api.removePasskey(passkey.id, proof)}
          label="Remove passkey"
          danger
          onDone={onChanged}
          onCancel={() => setRemoving(false)}
        />
      )}
    </Stack>
  );
}

function Add({ onCodes, onChanged }: Omit<Props, "origin">) {
  const [name, setName] = useState("");
  const [proving, setProving] = useState(false);
  const [refusal, setRefusal] = useState<string | null>(null);
  const add = async (proof: { current: string; code: string }) => {
    setRefusal(null);
    const { options } = await api.beginPasskey(proof);
    const credential = await createPasskey(options).catch((error: unknown) => {
      const text = refusalText(error);
      if (text === null) throw error;
      setRefusal(text);
      return null;
    });
    if (credential === null) return [];
    return (await api.addPasskey({ name: name.trim() || "Passkey", credential })).recovery_codes;
  };
  const done = async (codes: string[]) => {
    setProving(false);
    setName("");
    onCodes(codes);
    await onChanged();
  };
  if (!proving) {
    return (
      <>
        {refusal !== null && (
          <Text size="sm" c="red" role="alert">
            {refusal}
          </Text>
        )}
        <Group>
          <Button size="xs" variant="default" onClick={() => setProving(true)}>
            Add a passkey
          </Button>
        </Group>
      </>
    );
  }
  return (
    <>
      <TextInput
        label="Device name"
        value={name}
        maxLength={80}
        onChange={event => setName(event.currentTarget.value)}
      />
      <ProofForm act={add} label="Continue" onDone={done} onCancel={() => setProving(false)} />
    </>
  );
}
