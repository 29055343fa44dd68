import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { toHex } from '#lib/hex'
import { openIdentity } from './identity.ts'

const folder = mkdtempSync(join(tmpdir(), 'basalt-identity-'))
afterAll(() => rmSync(folder, { recursive: true }))

it('p2p/identity: makes a key at the first start that only the owner reads, and returns it at the next one', () => {
  const file = join(folder, 'p2p', 'identity.hex')
  const key = openIdentity(file)
  expect(key).toHaveLength(32)
  expect([statSync(file).mode & 0o777, statSync(join(folder, 'p2p')).mode & 0o777]).toEqual([0o600, 0o700])
  expect(toHex(openIdentity(file))).toBe(toHex(key))
  expect(`0x${readFileSync(file, 'utf8')}`).toBe(toHex(key))
  expect(toHex(openIdentity(join(folder, 'other', 'identity.hex')))).not.toBe(toHex(key))
})

it.each([
  ['is too short', 'abcd', '4 characters are not 64 hex digits'],
  ['has other characters', 'secret-'.repeat(9), '63 characters are not 64 hex digits'],
  ['is no key of the curve', '0'.repeat(64), 'not a key of secp256k1'],
])('p2p/identity: a file whose content %s is refused without its text (P2P_KEY)', (what, content, reason) => {
  const file = join(folder, `${what}.hex`)
  writeFileSync(file, content)
  const refusal = expect.objectContaining({ code: 'P2P_KEY', message: expect.stringContaining(reason) })
  expect(() => openIdentity(file)).toThrow(refusal)
  expect(() => openIdentity(file)).toThrow(expect.objectContaining({ message: expect.not.stringContaining(content) }))
})
