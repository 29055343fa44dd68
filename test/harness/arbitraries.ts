import fc from 'fast-check'
import { spanColumns } from '#test/harness/derive/channels'
import type { Batch } from '../../src/derive/codec/batch.ts'
import type { Frame } from '../../src/derive/codec/frame.ts'
import type { SingularBatch } from '../../src/derive/codec/singularBatch.ts'
import type { SpanBatch } from '../../src/derive/codec/spanBatch.ts'
import { TransactionList } from '../../src/derive/codec/transactionList.ts'
import { type Hex, toHex } from '../../src/lib/hex.ts'
import { type Address, addressFromBytes, type Hash, hashFromBytes } from '../../src/types/ids.ts'
import { type AccessList, encodeTransaction, type SignedTransaction } from '../../src/types/transaction.ts'

export const arbitraryChainId = 90_001

const exactly = (length: number): fc.Arbitrary<Uint8Array> => fc.uint8Array({ minLength: length, maxLength: length })
const upTo = (bits: number): fc.Arbitrary<bigint> =>
  fc.oneof(fc.bigInt({ min: 0n, max: 300n }), fc.bigInt({ min: 0n, max: 2n ** BigInt(bits) - 1n }), fc.constant(2n ** BigInt(bits) - 1n))

/** Unsigned 64-bit integers: small ones, those around 2^53, the largest. */
export const u64: fc.Arbitrary<bigint> = fc.oneof(upTo(64), fc.bigInt({ min: 2n ** 53n - 2n, max: 2n ** 53n + 2n }))
const u256: fc.Arbitrary<bigint> = upTo(256)
export const hash: fc.Arbitrary<Hash> = exactly(32).map(hashFromBytes)
const address: fc.Arbitrary<Address> = exactly(20).map(addressFromBytes)
const recipient = fc.option(address, { nil: null })
const data = fc.uint8Array({ maxLength: 80 })
const parity = fc.constantFrom<0 | 1>(0, 1)
const chainId = fc.constant(BigInt(arbitraryChainId))
const accessList: fc.Arbitrary<AccessList> = fc.array(fc.record({ address, slots: fc.array(hash, { maxLength: 2 }) }), { maxLength: 2 })

const signed = { nonce: u64, gasLimit: u64, to: recipient, value: u256, data, yParity: parity, r: u256, s: u256 }
const feeMarket = { chainId, maxFeePerGas: u256, maxPriorityFeePerGas: u256, accessList }
const authorization = fc.record({ chainId: u256, address, nonce: u64, yParity: fc.nat(255), r: u256, s: u256 })

const legacy = fc.record({ ...signed, type: fc.constant(0 as const), gasPrice: u256 })
const protectedLegacy = fc.record({ ...signed, type: fc.constant(0 as const), gasPrice: u256, chainId })
const withAccessList = fc.record({ ...signed, type: fc.constant(1 as const), chainId, gasPrice: u256, accessList })
const withFees = fc.record({ ...signed, ...feeMarket, type: fc.constant(2 as const) })
const withBlobs = fc.record({
  ...signed,
  ...feeMarket,
  type: fc.constant(3 as const),
  to: address,
  maxFeePerBlobGas: u256,
  blobVersionedHashes: fc.array(hash, { maxLength: 3 }),
})
const withCode = fc.record({
  ...signed,
  ...feeMarket,
  type: fc.constant(4 as const),
  to: address,
  authorizationList: fc.array(authorization, { maxLength: 2 }),
})

/** Transaction of any type that a batch may contain. */
const batchTransaction: fc.Arbitrary<SignedTransaction> = fc.oneof(legacy, protectedLegacy, withAccessList, withFees, withCode)
export const signedTransaction: fc.Arbitrary<SignedTransaction> = fc.oneof(batchTransaction, withBlobs)

const rawTransactions = fc.array(batchTransaction.map(encodeTransaction), { maxLength: 4 })

export const singularBatch: fc.Arbitrary<SingularBatch> = fc.record({
  kind: fc.constant('singular' as const),
  parentHash: hash,
  epochNumber: u64,
  epochHash: hash,
  timestamp: u64,
  transactions: fc.oneof(rawTransactions, fc.array(data, { maxLength: 4 })).map(TransactionList.of),
})

const spanBlocks = fc.array(fc.record({ advancesOrigin: fc.boolean(), transactions: rawTransactions.map(TransactionList.of) }), {
  minLength: 1,
  maxLength: 20,
})

export const spanBatch: fc.Arbitrary<SpanBatch> = fc
  .record({
    kind: fc.constant('span' as const),
    relativeTimestamp: u64,
    l1OriginNumber: u64,
    parentCheck: exactly(20),
    l1OriginCheck: exactly(20),
    blocks: spanBlocks,
  })
  .map(({ blocks, ...head }) => ({ ...head, ...spanColumns(blocks) }))

export const batch: fc.Arbitrary<Batch> = fc.oneof(singularBatch, spanBatch)

export const frame: fc.Arbitrary<Frame> = fc.record({
  channelId: exactly(16).map((bytes): Hex => toHex(bytes)),
  number: fc.nat(0xffff),
  data: fc.uint8Array({ maxLength: 200 }),
  isLast: fc.boolean(),
})

type Damage = { readonly kind: 'flip' | 'insert' | 'remove' | 'cut'; readonly at: number; readonly value: number }

const damage: fc.Arbitrary<Damage> = fc.record({
  kind: fc.constantFrom('flip' as const, 'insert' as const, 'remove' as const, 'cut' as const),
  at: fc.nat(),
  value: fc.integer({ min: 1, max: 255 }),
})

function damaged(bytes: Uint8Array, { kind, at, value }: Damage): Uint8Array {
  if (bytes.length === 0) return Uint8Array.of(value)
  const place = at % bytes.length
  const all = [...bytes]
  if (kind === 'flip') all[place] = (all[place] ?? 0) ^ value
  if (kind === 'insert') all.splice(place, 0, value)
  if (kind === 'remove') all.splice(place, 1)
  if (kind === 'cut') all.length = place
  return Uint8Array.from(all)
}

/** Input for a decoder: random bytes, and valid bytes with one to three changes. */
export function hostile(good: fc.Arbitrary<Uint8Array>): fc.Arbitrary<Uint8Array> {
  const spoilt = fc.tuple(good, fc.array(damage, { minLength: 1, maxLength: 3 })).map(([bytes, faults]) => faults.reduce(damaged, bytes))
  return fc.oneof(fc.uint8Array({ maxLength: 300 }), spoilt, spoilt)
}
