import { Buffer } from 'node:buffer'
import { Transform } from 'node:stream'

const hidden = '(secret)'

/** Forms of a secret inside JSON text: itself, and with the escapes of JSON. */
const formsOf = (secret: string): readonly string[] => [...new Set([secret, JSON.stringify(secret).slice(1, -1)])]

/** Returns the secrets as they may occur in a file, longer ones first. */
const formsOfAll = (secrets: readonly string[]): readonly string[] =>
  secrets
    .flatMap(formsOf)
    .filter((form) => form !== '')
    .toSorted((a, b) => b.length - a.length)

/** Replaces each secret in a text. */
export function masked(text: string, secrets: readonly string[]): string {
  return formsOfAll(secrets).reduce((rest, secret) => rest.replaceAll(secret, hidden), text)
}

/** Stream that replaces each secret, also one that two chunks share, and fails when more than `maxBytes` have passed. */
export function maskedStream(secrets: readonly string[], maxBytes: number): Transform {
  // one character for each byte: chunks may split a character of more bytes
  const forms = formsOfAll(secrets).map((form) => Buffer.from(form, 'utf8').toString('latin1'))
  const keptChars = Math.max(0, ...forms.map((form) => form.length - 1))
  let rest = ''
  let bytes = 0
  const replaced = (text: string): string => forms.reduce((masking, secret) => masking.replaceAll(secret, hidden), text)
  return new Transform({
    transform(chunk: Buffer | string, _encoding, done): void {
      bytes += chunk.length
      if (bytes > maxBytes) {
        done(new RangeError(`larger than ${maxBytes} bytes`))
        return
      }
      const text = replaced(rest + Buffer.from(chunk as string, 'utf8').toString('latin1'))
      const cut = Math.max(0, text.length - keptChars)
      rest = text.slice(cut)
      done(null, Buffer.from(text.slice(0, cut), 'latin1'))
    },
    flush(done): void {
      done(null, Buffer.from(rest, 'latin1'))
    },
  })
}
