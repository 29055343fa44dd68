import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jwtRefusal, jwtToleranceSec, signJwt } from './jwt.ts'

const secret = new Uint8Array(32).fill(7)
const nowSec = 1_800_000_000
const base64 = (json: unknown) => Buffer.from(JSON.stringify(json)).toString('base64url')
const signed = (header: unknown, claims: unknown, key: Uint8Array = secret) => {
  const text = `${base64(header)}.${base64(claims)}`
  return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`
}
const hs256 = { alg: 'HS256', typ: 'JWT' }

describe('lib/jwt', () => {
  it('signs as in RFC 7515, appendix A.1', () => {
    const key = Buffer.from('AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow', 'base64url')
    const token =
      'eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
    expect(jwtRefusal(key, token, nowSec)).toMatch('no issue time')
    expect(jwtRefusal(secret, token, nowSec)).toMatch('different secrets')
  })

  it('accepts its own token up to the tolerance (60 s) in both directions', () => {
    for (const away of [0, -jwtToleranceSec, jwtToleranceSec])
      expect(jwtRefusal(secret, signJwt(secret, nowSec + away), nowSec)).toBeUndefined()
  })

  it('ignores unknown claims and header fields', () => {
    expect(jwtRefusal(secret, signed({ ...hs256, kid: 'x' }, { iat: nowSec, id: 'a', clv: 'b/1', exp: 1 }), nowSec)).toBeUndefined()
  })

  it.each([
    ['too old', signJwt(secret, nowSec - 61), '61 s ago'],
    ['from the future', signJwt(secret, nowSec + 61), '61 s ahead'],
    ['of another secret', signJwt(new Uint8Array(32), nowSec), 'different secrets'],
    ['without issue time', signed(hs256, {}), 'iat'],
    ['with a text as issue time', signed(hs256, { iat: String(nowSec) }), 'iat'],
    ['whose claims are a list', signed(hs256, [nowSec]), 'iat'],
    ['of algorithm none', `${base64({ alg: 'none' })}.${base64({ iat: nowSec })}.`, 'not signed by HS256'],
    ['of algorithm none, with a signature', signed({ alg: 'none' }, { iat: nowSec }), 'not signed by HS256'],
    ['of HS512', signed({ alg: 'HS512' }, { iat: nowSec }), 'not signed by HS256'],
    ['cut short', signJwt(secret, nowSec).slice(0, -3), 'different secrets'],
    ['of two parts', signJwt(secret, nowSec).split('.').slice(0, 2).join('.'), 'not signed'],
    ['of 100,000 characters', `${signJwt(secret, nowSec)}${'A'.repeat(100_000)}`, 'not signed'],
    ['empty', '', 'not signed'],
  ])('rejects a token %s', (_what, token, reason) => {
    expect(jwtRefusal(secret, token, nowSec)).toMatch(reason)
  })

  it('rejects any text without throwing', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string().map((text) => `${text}.${text}.${text}`),
        ),
        (token) => jwtRefusal(secret, token, nowSec) !== undefined,
      ),
    )
  })
})
