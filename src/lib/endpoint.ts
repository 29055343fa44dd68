import { Buffer } from 'node:buffer'

/** A server to ask. Only `name` may be shown: the URL often holds a key. */
export type Endpoint = {
  /** without credentials */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** host and port */
  readonly name: string
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text // a `%` that begins no escape
  }
}

/** What a URL says, user and password in it as a header (RFC 7617). @returns undefined: no URL of one of these protocols, such as `wss:` */
export function parseEndpoint(text: string, protocols: readonly string[]): Endpoint | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !protocols.includes(url.protocol)) return undefined
  const secret = `${decoded(url.username)}:${decoded(url.password)}`
  url.username = ''
  url.password = ''
  const headers = secret === ':' ? {} : { authorization: `Basic ${Buffer.from(secret).toString('base64')}` }
  return { url: url.href, headers, name: url.host }
}
