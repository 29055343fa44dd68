import { keccak_256 } from '@noble/hashes/sha3.js'
import { checksumAddress, sha256 } from 'viem'
import { expect, it } from 'vitest'
import { toHex } from '#lib/hex'
import {
  addressFromBytes,
  emptyCodeHash,
  emptyOmmersHash,
  emptyRequestsHash,
  emptyRoot,
  hashFromBytes,
  parseAddress,
  parseHash,
  zeroAddress,
  zeroHash,
} from './ids.ts'

const hash = `0x${'aBcD'.repeat(16)}`

it('types/ids: parses text of any letter case to lower case, so that equal ids are equal texts', () => {
  expect(parseHash(hash)).toBe(hash.toLowerCase())
  const address = '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed'
  expect(checksumAddress(address)).not.toBe(address)
  expect(parseAddress(checksumAddress(address))).toBe(address)
  expect(addressFromBytes(new Uint8Array(20))).toBe(zeroAddress)
  expect(hashFromBytes(new Uint8Array(32))).toBe(zeroHash)
})

it.each(['', '0x', hash.slice(2), `${hash}00`, hash.slice(0, -2), hash.slice(0, -1), `${hash.slice(0, -1)}g`, ` ${hash}`, `${hash}\n`])(
  'types/ids: rejects %j as a hash',
  (text) => {
    expect(() => parseHash(text)).toThrow(SyntaxError)
  },
)

it('types/ids: rejects bytes and text of another length', () => {
  expect(() => hashFromBytes(new Uint8Array(31))).toThrow(SyntaxError)
  expect(() => addressFromBytes(new Uint8Array(32))).toThrow(SyntaxError)
  expect(() => parseAddress(hash)).toThrow(SyntaxError)
})

it('types/ids: the hash constants of empty inputs match other implementations', () => {
  expect(emptyCodeHash).toBe(toHex(keccak_256(new Uint8Array(0))))
  expect(emptyRoot).toBe(toHex(keccak_256(Uint8Array.of(0x80))))
  expect(emptyOmmersHash).toBe(toHex(keccak_256(Uint8Array.of(0xc0))))
  expect(emptyRequestsHash).toBe(sha256('0x'))
})
