import { type Endpoint, endpointOf } from '#lib/endpoint'

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
    const endpoint = endpointOf(new URL(text))
    const count = (seen.get(endpoint.name) ?? 0) + 1
    seen.set(endpoint.name, count)
    // without trailing slash, because paths are appended
    return { ...endpoint, url: endpoint.url.replace(/\/$/, ''), name: count === 1 ? endpoint.name : `${endpoint.name} (${count})` }
  })
}
