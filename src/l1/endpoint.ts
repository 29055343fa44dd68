import { Buffer } from 'node:buffer'

/** Server of an L1 API. Only `name` may be shown, because the URL often contains a key. */
export type Endpoint = {
  /** without credentials and trailing slash; still secret */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** host and port; numbered when a host occurs twice */
  readonly name: string
}

/** Decodes percent escapes; returns the text unchanged when one is invalid. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Returns the URL of a path below the endpoint's URL. The path may contain a query; the endpoint's own query is appended to it. */
export function urlAt({ url }: Endpoint, path: string): string {
  const [base = '', ...query] = url.split('?')
  if (path === '' || query.length === 0) return url + path
  return `${base.replace(/\/$/, '')}${path}${path.includes('?') ? '&' : '?'}${query.join('?')}`
}

/**
 * Creates endpoints from URLs, in the same order. User and password in a URL become an authorization header.
 * @throws TypeError on an invalid URL, which the command line refuses before
 */
export function endpointsOf(urls: readonly string[]): readonly Endpoint[] {
  const seen = new Map<string, number>()
  return urls.map((text) => {
    const url = new URL(text)
    const count = (seen.get(url.host) ?? 0) + 1
    seen.set(url.host, count)
    const secret = `${decoded(url.username)}:${decoded(url.password)}`
    const headers = secret === ':' ? {} : { authorization: `Basic ${Buffer.from(secret).toString('base64')}` }
    url.username = ''
    url.password = ''
    return { url: url.href.replace(/\/$/, ''), headers, name: count === 1 ? url.host : `${url.host} (${count})` }
  })
}
