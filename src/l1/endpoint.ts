import { Buffer } from 'node:buffer'

/** A server to ask. Only `name` may be shown: the URL often holds a key. */
export type Endpoint = {
  /** without credentials and without a slash at the end; secret all the same */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** host and port; with a number when a host comes twice */
  readonly name: string
  /** what the URL holds besides the host, piece by piece, as written and decoded */
  readonly secrets: readonly string[]
}

/** As written where a `%` begins no escape. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Shorter pieces of a URL are versions and names of services. */
const minSecretLength = 5

function secretsOf({ username, password, pathname, searchParams, search }: URL): readonly string[] {
  const written = [username, password, ...pathname.split('/'), ...search.split(/[?&=]/)]
  const pieces = [...written, ...searchParams.values(), ...[username, password].map(decoded)]
  return pieces.filter(({ length }) => length >= minSecretLength).toSorted((a, b) => b.length - a.length)
}

/** A text of the endpoint's making, without the pieces of its URL that it may quote. */
export function withoutSecrets({ secrets }: Endpoint, text: string): string {
  return secrets.reduce((left, secret) => left.replaceAll(secret, '…'), text)
}

/** The URL of a path, which may hold a query, below the endpoint's own; the endpoint's own query stands last. */
export function urlAt({ url }: Endpoint, path: string): string {
  const [base = '', ...query] = url.split('?')
  if (path === '' || query.length === 0) return url + path
  return `${base.replace(/\/$/, '')}${path}${path.includes('?') ? '&' : '?'}${query.join('?')}`
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
    const secrets = secretsOf(url)
    const secret = `${decoded(url.username)}:${decoded(url.password)}`
    const headers = secret === ':' ? {} : { authorization: `Basic ${Buffer.from(secret).toString('base64')}` }
    url.username = ''
    url.password = ''
    return { url: url.href.replace(/\/$/, ''), headers, name: count === 1 ? url.host : `${url.host} (${count})`, secrets }
  })
}
