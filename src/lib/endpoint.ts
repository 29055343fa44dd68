import { Buffer } from 'node:buffer'

/** An HTTP or WebSocket server to query. Only `name` may be logged, because the URL often holds an API key. */
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
    return text // a `%` that does not begin an escape
  }
}

/**
 * Parses a URL and moves its user and password into a header (RFC 7617). @returns undefined when the text is not a URL of one of the protocols
 * (`wss:`)
 */
export function parseEndpoint(text: string, protocols: readonly string[]): Endpoint | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !protocols.includes(url.protocol)) return undefined
  const secret = `${decoded(url.username)}:${decoded(url.password)}`
  url.username = ''
  url.password = ''
  const headers = secret === ':' ? {} : { authorization: `Basic ${Buffer.from(secret).toString('base64')}` }
  return { url: url.href, headers, name: url.host }
}
