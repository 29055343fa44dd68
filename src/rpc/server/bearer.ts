import type { Clock } from '#lib/clock'
import { jwtRefusal } from '#lib/jwt'

/**
 * Rule that accepts requests whose `Authorization` is a token signed with the secret within the last minute.
 * @param secret called at each request, so that the secret file may be replaced
 * @returns the reason to refuse a header, or undefined
 * @see execution-apis, engine/authentication.md
 */
export function bearerRule(clock: Clock, secret: () => Uint8Array): (authorization: string | undefined) => string | undefined {
  return (authorization) => {
    if (authorization === undefined) return 'missing token: send Authorization: Bearer …'
    const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1]
    return token === undefined ? 'Authorization is not a bearer token' : jwtRefusal(secret(), token, clock.nowMs() / 1_000)
  }
}
