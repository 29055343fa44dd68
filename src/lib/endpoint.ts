import { Buffer } from 'node:buffer'

/** An HTTP or WebSocket server to query. Only `name` may be logged, because the URL often holds an API key. */
export type Endpoint = {
  /** without credentials */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** host and port; may be numbered to tell endpoints of one host apart */
  readonly name: string
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text // a `%` that does not begin an escape
  }
}

/** Returns the endpoint of a URL. User and password become an authorization header (RFC 7617). */
export function endpointOf(from: URL): Endpoint {
  const url = new URL(from)
  const secret = `${decoded(url.username)}:${decoded(url.password)}`
  url.username = ''
  url.password = ''
  const headers = secret === ':' ? {} : { authorization: `Basic ${Buffer.from(secret).toString('base64')}` }
  return { url: url.href, headers, name: url.host }
}

/** Returns the name of a file on a server, `state.tar.zst at HOST`. The other parts of its URL may be secrets. */
export function fileNameOf(url: string): string {
  const { host, pathname } = new URL(url)
  return `${pathname.slice(pathname.lastIndexOf('/') + 1)} at ${host}`
}

/** Parses the URL of an endpoint. Returns undefined when the text is not a URL of one of the protocols (`wss:`). */
export function parseEndpoint(text: string, protocols: readonly string[]): Endpoint | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url && protocols.includes(url.protocol) ? endpointOf(url) : undefined
}
