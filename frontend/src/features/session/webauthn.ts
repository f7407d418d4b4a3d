/** Requests passkeys from the browser. Options and responses are JSON, as the platform uses them. */
import type { Json } from "@/api/model";

type Answer = { [key: string]: Json };

/** Whether this browser has passkeys, and can read and write them as JSON. */
export function hasPasskeys(): boolean {
  return typeof PublicKeyCredential !== "undefined" && "parseRequestOptionsFromJSON" in PublicKeyCredential;
}

/** A new passkey. Throws a DOMException where the person or the browser refuses. */
export async function createPasskey(options: Answer): Promise<Answer> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    options as never as PublicKeyCredentialCreationOptionsJSON,
  );
  return asJson(await navigator.credentials.create({ publicKey }));
}

/** The answer of a passkey that is there. Throws as `createPasskey` does. */
export async function askPasskey(options: Answer): Promise<Answer> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    options as never as PublicKeyCredentialRequestOptionsJSON,
  );
  return asJson(await navigator.credentials.get({ publicKey }));
}

/** What a refusal of the browser means. */
export function refusalText(error: unknown): string | null {
  if (!(error instanceof DOMException)) return null;
  if (error.name === "InvalidStateError") return "This device already has a passkey of yours.";
  if (error.name === "SecurityError") return "The browser does not allow passkeys at this address.";
  return "No passkey was provided.";
}

function asJson(credential: Credential | null): Answer {
  if (!(credential instanceof PublicKeyCredential))
    throw new DOMException("No passkey was provided.", "NotAllowedError");
  return credential.toJSON() as never as Answer;
}
