import { describe, expect, it } from 'vitest'
import { concatBytes } from '#lib/bytes'
import { toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { fieldsOf, namespaceRoot } from './slots.ts'
import { bytesOf, newWord, wordOf } from './word.ts'

const hex = (word: Parameters<typeof bytesOf>[0]): string => toHex(bytesOf(word)).slice(2)

describe('nativeContracts/kit/slots', () => {
  it.each([
    ['base.b20', 'c78b71fee795ddd74aff64ea9b2474194c938c3196430e10bb5f01ed48434000'],
    ['base.b20.asset', 'fdc6d4552d1286ade4d9facdbf0fb50d2ec9b89a90e104f26fd277585e374b00'],
    ['base.b20.stablecoin', '35827975a06ca0e9367ea3129b19441d45d0ca58e30b7693f09e73d0943d6200'],
    ['base.policy_registry', '00503aeb06982fa1fe3151dc68f90b3946c55c449dfd447e49dcaece71ba4a00'],
    ['base.activation_registry', '43ee1bbe25e988521cccd8b2c8fbd38c8287ebff8e074e825a70dfd3885cce00'],
    ['base.nonce_manager', '9d3ea32ad25774a46482ebbae019e8da4242109d164d324a59aa787515b9fe00'],
  ])('the root of %s is the published one', (name, root) => {
    expect(hex(namespaceRoot(name))).toBe(root)
  })

  it('slots of mappings are those of Solidity, also when they come from the cache', () => {
    const fields = fieldsOf('base.b20')
    const [key, other] = [wordOf(7), wordOf(8)]
    const base = bytesOf(fields.word(4))
    const expected = keccak256(concatBytes(bytesOf(key), base))
    for (let i = 0; i < 2; i++) expect(bytesOf(fields.mapping(4).slot(newWord(), key))).toEqual(expected)
    const nested = keccak256(concatBytes(bytesOf(other), expected))
    for (let i = 0; i < 2; i++) expect(bytesOf(fields.nested(4).slot(newWord(), key, other))).toEqual(nested)
  })
})
