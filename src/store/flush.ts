import { closeSync, fsyncSync, openSync } from 'node:fs'

/** Makes the content of a file, or the names in a directory, durable. Throws the system's error. */
export function flushPath(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
