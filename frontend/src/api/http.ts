/** The only HTTP client: session cookie, CSRF header, idempotency key, problem documents as errors. */
import type { FieldError } from "./model";
import { newKey } from "@/lib/key";

/** An RFC 9457 problem document, the form of every error of the platform. */
export class Problem extends Error {
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  readonly code: string;
  readonly errors: FieldError[];
  readonly requestId: string | null;
  readonly document: Record<string, unknown>;

  constructor(status: number, document: Record<string, unknown>, requestId: string | null = null) {
    const detail = typeof document.detail === "string" ? document.detail : `The platform returned ${status}.`;
    super(detail);
    this.name = "Problem";
    this.status = status;
    this.title = typeof document.title === "string" ? document.title : "Request failed";
    this.detail = detail;
    const error = document.error as { code?: unknown } | undefined;
    this.code = typeof error?.code === "string" ? error.code : "";
    this.errors = Array.isArray(document.errors) ? (document.errors as FieldError[]) : [];
    this.requestId = requestId;
    this.document = document;
  }
}

/** The message of any error for users. */
export function errorText(error: unknown): string {
  if (error instanceof Problem) return error.detail;
  if (error instanceof TypeError) return "The platform cannot be reached. Check your connection and try again.";
  return error instanceof Error ? error.message : String(error);
}

export interface RequestConfig {
  url: string;
  method: string;
  params?: Record<string, unknown>;
  data?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  responseType?: string;
}

/** Called when the session has ended; the router goes to the sign-in page. */
let onSignedOut: () => void = () => {};
export function setSignedOutHandler(handler: () => void): void {
  onSignedOut = handler;
}

/** Sends one request. Throws a {@link Problem} for every answer that is not a success. */
export async function http<T>(config: RequestConfig, options?: RequestInit): Promise<T> {
  const headers = new Headers({ Accept: "application/json", ...config.headers, ...(options?.headers as object) });
  let body: BodyInit | undefined;
  if (config.data instanceof FormData) {
    body = config.data;
    headers.delete("Content-Type"); // the browser sets it with the boundary
  } else if (config.data instanceof Blob) {
    body = config.data;
  } else if (config.data !== undefined) {
    body = JSON.stringify(config.data);
    headers.set("Content-Type", "application/json");
  }
  const method = config.method.toUpperCase();
  if (method !== "GET" && method !== "HEAD") headers.set("X-CSRFToken", csrfToken());
  // Callers that repeat a request give the key of its first try. Operations that make nothing ignore the header.
  if (method === "POST" && !headers.has("Idempotency-Key")) headers.set("Idempotency-Key", newKey());
  const response = await fetch(config.url + query(config.params), {
    ...options,
    method,
    headers,
    body,
    credentials: "same-origin",
    signal: config.signal ?? options?.signal,
  });
  if (response.ok) {
    const text = await response.text();
    return (text ? JSON.parse(text) : undefined) as T;
  }
  const problem = new Problem(response.status, await problemDocument(response), response.headers.get("x-request-id"));
  if (response.status === 401 && !config.url.endsWith("/session")) onSignedOut();
  throw problem;
}

async function problemDocument(response: Response): Promise<Record<string, unknown>> {
  if (response.headers.get("content-type")?.includes("json")) {
    return (await response.json()) as Record<string, unknown>;
  }
  return { title: response.statusText, detail: `The platform returned ${response.status} ${response.statusText}.` };
}

function query(params: Record<string, unknown> | undefined): string {
  const entries = Object.entries(params ?? {}).filter(([, value]) => value !== undefined && value !== null);
  if (entries.length === 0) return "";
  return `?${new URLSearchParams(entries.map(([key, value]) => [key, String(value)])).toString()}`;
}

/** Under https the cookie's name has a prefix; see the platform's settings. */
const csrfToken = () => cookie("__Host-csrftoken") || cookie("csrftoken");

function cookie(name: string): string {
  const found = document.cookie.split("; ").find(pair => pair.startsWith(`${name}=`));
  return found ? decodeURIComponent(found.slice(name.length + 1)) : "";
}
