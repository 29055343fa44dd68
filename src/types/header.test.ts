import { expect, it } from 'vitest'
import { fromHex } from '#lib/hex'
import { decodeRlp, encodeRlp, RlpError, type RlpItem } from '#lib/rlp'
import { decodeHeader, encodeHeader, type Header, hashHeader } from './header.ts'
import { emptyOmmersHash, emptyRequestsHash, emptyRoot, type Hash, zeroAddress, zeroHash } from './ids.ts'

/** Ethereum's genesis header. */
const genesis: Header = {
  parentHash: zeroHash,
  ommersHash: emptyOmmersHash,
  beneficiary: zeroAddress,
  stateRoot: '0xd7f8974fb5ac78d9ac099b9ad5018bedc2ce0a72dad1827a1709da30580f0544' as Hash,
  transactionsRoot: emptyRoot,
  receiptsRoot: emptyRoot,
  logsBloom: new Uint8Array(256),
  difficulty: 0x400000000n,
  number: 0,
  gasLimit: 5_000n,
  gasUsed: 0n,
  timestamp: 0,
  extraData: fromHex('0x11bbe8db4e347b4e8c937c1c8370e4b5ed33adb3db69cbdb7a38e1e50b1b82fa'),
  mixHash: zeroHash,
  nonce: fromHex('0x0000000000000042'),
}
const jovian: Header = {
  ...genesis,
  baseFeePerGas: 5_000_000n,
  withdrawalsRoot: emptyRoot,
  blobGasUsed: 2n ** 60n,
  excessBlobGas: 0n,
  parentBeaconBlockRoot: zeroHash,
  requestsHash: emptyRequestsHash,
}

it('types/header: hashes a known block', () => {
  expect(hashHeader(genesis)).toBe('0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3')
})

it('types/header: round-trips at every fork, also with fields of an unknown fork', () => {
  const later = { ...jovian, extra: [Uint8Array.of(1, 2, 3)] }
  for (const header of [genesis, { ...genesis, baseFeePerGas: 7n }, jovian, later])
    expect(decodeHeader(encodeHeader(header))).toEqual(header)
})

it('types/header: encodeHeader rejects a later field without an earlier one', () => {
  expect(() => encodeHeader({ ...genesis, requestsHash: emptyRequestsHash })).toThrow(RangeError)
})

it('types/header: rejects a header with missing or malformed fields', () => {
  const fields = decodeRlp(encodeHeader(genesis)) as readonly RlpItem[]
  expect(() => decodeHeader(encodeRlp(fields.slice(0, 14)))).toThrow(RlpError)
  expect(() => decodeHeader(encodeRlp([...fields.slice(0, 14), Uint8Array.of(1)]))).toThrow(RlpError)
  expect(() => decodeHeader(encodeRlp(fields.map((field, at) => (at === 8 ? new Uint8Array(8).fill(255) : field))))).toThrow(RlpError)
})
