/** Uploads that this browser started, by file: choosing the same file again resumes its upload. */

const PREFIX = "dressage.upload:";

/** What tells a file from others without reading it. */
export const fingerprint = (file: File) => `${file.name}\0${file.size}\0${file.lastModified}`;

export function remembered(file: File): string | null {
  try {
    return localStorage.getItem(PREFIX + fingerprint(file));
  } catch {
    return null; // storage may be closed to the page; then an upload does not outlive it
  }
}

export function remember(file: File, id: string): void {
  try {
    localStorage.setItem(PREFIX + fingerprint(file), id);
  } catch {
    // as above
  }
}

export function forget(file: File): void {
  try {
    localStorage.removeItem(PREFIX + fingerprint(file));
  } catch {
    // as above
  }
}
