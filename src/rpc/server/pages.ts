import type { IncomingHttpHeaders } from 'node:http'

/** Origins whose web pages may send requests; `*`: all. */
export type Cors = '*' | readonly string[]

/** Headers of the answer to a preflight request. @see Fetch standard, "CORS-preflight request" */
const preflight: Readonly<Record<string, string>> = {
  'access-control-allow-methods': 'POST, GET',
  'access-control-allow-headers': '*, authorization',
  'access-control-max-age': '7200',
}

/**
 * Whether a web page sent a request that needs no CORS preflight. Pages may send such types without permission; JSON needs a preflight, which is
 * granted to configured origins only. The type before the parameters counts: `text/plain; json` needs no preflight.
 */
export function isFromForeignPage(headers: IncomingHttpHeaders): boolean {
  return headers.origin !== undefined && !/^application\/json *(?:;|$)/i.test(headers['content-type'] ?? '')
}

/** CORS headers of a response; empty when the origin has no permission. */
export function pageHeaders(cors: Cors | undefined, method: string | undefined, origin: string | undefined): Record<string, string> {
  if (cors === undefined) return {}
  const isListed = cors === '*' || (origin !== undefined && cors.includes(origin))
  const varies: Record<string, string> = cors === '*' ? {} : { vary: 'origin' }
  if (!isListed) return varies
  const granted = { ...varies, 'access-control-allow-origin': cors === '*' ? '*' : (origin ?? '') }
  return method === 'OPTIONS' ? { ...granted, ...preflight } : granted
}
