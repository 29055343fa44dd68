import { Buffer } from 'node:buffer'

/** A server to ask. Only `name` may be shown: the URL often holds a key. */
export type Endpoint = {
  /** without credentials and without a slash at the end; secret all the same */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** host and port; with a number when a host comes twice */
  readonly name: string
}

/**
 * Endpoints from URLs, in the same order. A user and password in a URL become a header.
 * @throws TypeError when one is no URL: the command line has checked them
 */
export function endpointsOf(urls: readonly string[]): readonly Endpoint[] {
  const seen = new Map<string, number>()
  return urls.map((text) => {
    const url = new URL(text)
    const count = (seen.get(url.host) ?? 0) + 1
    seen.set(url.host, count)
    const secret = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
    const headers = secret === ':' ? {} : { authorization: `Basic ${Buffer.from(secret).toString('base64')}` }
    url.username = ''
    url.password = ''
    return { url: url.href.replace(/\/$/, ''), headers, name: count === 1 ? url.host : `${url.host} (${count})` }
  })
}
