import { createHmac, timingSafeEqual } from 'node:crypto'

/** Largest accepted distance between the issue time of a token and now, in both directions. @see execution-apis, engine/authentication.md */
export const jwtToleranceSec = 60

const encodeJson = (json: unknown): string => Buffer.from(JSON.stringify(json)).toString('base64url')
const signatureOf = (secret: Uint8Array, text: string): Buffer => createHmac('sha256', secret).update(text).digest()
const header = encodeJson({ alg: 'HS256', typ: 'JWT' })

/** Signs a JSON Web Token with HS256. Its only claim is the issue time in seconds. */
export function signJwt(secret: Uint8Array, issuedAtSec: number): string {
  const text = `${header}.${encodeJson({ iat: issuedAtSec })}`
  return `${text}.${signatureOf(secret, text).toString('base64url')}`
}

function decodeJson(part: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const json: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
    return typeof json === 'object' && json !== null && !Array.isArray(json) ? (json as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

/** Longest accepted token, in characters. */
const maxTokenLength = 8_192
const tokenPattern = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/

/**
 * Returns the reason to reject a token, or undefined when it is valid. The claims are read only after the signature is verified.
 * @param nowSec seconds since 1970
 */
export function jwtRefusal(secret: Uint8Array, token: string, nowSec: number): string | undefined {
  const [, head = '', claims = '', signature = ''] = (token.length <= maxTokenLength && tokenPattern.exec(token)) || []
  if (decodeJson(head)?.['alg'] !== 'HS256') return 'the token is not signed by HS256'
  const expected = signatureOf(secret, `${head}.${claims}`)
  const given = Buffer.from(signature, 'base64url')
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    return 'wrong token signature: the two sides have different secrets'
  }
  const issuedAt = decodeJson(claims)?.['iat']
  if (typeof issuedAt !== 'number' || !Number.isFinite(issuedAt)) return 'the token has no issue time (iat)'
  const awaySec = issuedAt - nowSec
  if (Math.abs(awaySec) <= jwtToleranceSec) return undefined
  return `the token was issued ${Math.abs(Math.round(awaySec))} s ${awaySec < 0 ? 'ago' : 'ahead'}: the clocks of the two sides differ`
}
