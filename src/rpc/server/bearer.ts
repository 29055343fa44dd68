import type { Clock } from '#lib/clock'
import { jwtRefusal } from '#lib/jwt'

/**
 * Lets in requests whose `Authorization` is a token signed with the secret within the last minute.
 * @param secret asked for at each request, so that a file may be replaced
 * @returns why a header is refused, or undefined
 * @see execution-apis, engine/authentication.md
 */
export function bearerRule(clock: Clock, secret: () => Uint8Array): (authorization: string | undefined) => string | undefined {
  return (authorization) => {
    if (authorization === undefined) return 'a token is needed: Authorization: Bearer …'
    const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1]
    return token === undefined ? 'Authorization is no bearer token' : jwtRefusal(secret(), token, clock.nowMs() / 1_000)
  }
}
