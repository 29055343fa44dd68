import { encodeRlp } from 'ethers'
import fc from 'fast-check'
import type { Hex } from 'viem'
import type { SeenTransaction } from './transaction.ts'

/** Random transaction: its fields, and its EIP-2718 bytes encoded as its EIP defines. */
export type MadeTransaction = { readonly fields: SeenTransaction; readonly raw: Hex }
export type MadeBlock = {
  readonly number: number
  readonly hash: Hex
  readonly parentHash: Hex
  readonly timestamp: number
  readonly l1Origin: { readonly number: number; readonly hash: Hex }
  readonly sequenceNumber: number
  readonly transactions: readonly MadeTransaction[]
}
export type MadeChain = {
  readonly chainId: number
  readonly genesisTime: number
  readonly blockTime: number
  readonly blocks: readonly MadeBlock[]
}

type Rlp = Parameters<typeof encodeRlp>[0]

const hexOf = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString('hex')}`
const fixed = (byteCount: number): fc.Arbitrary<Hex> => fc.uint8Array({ minLength: byteCount, maxLength: byteCount }).map(hexOf)
const hash = fixed(32)
const address = fixed(20)

/** Integers: small, arbitrary, the largest, around 2^53, and around each length limit of a varint. */
function integer(bits: number): fc.Arbitrary<bigint> {
  const max = 2n ** BigInt(bits) - 1n
  const edges = [7, 14, 35, 53, 56, 63].filter((bit) => bit < bits).flatMap((bit) => [2n ** BigInt(bit) - 1n, 2n ** BigInt(bit)])
  return fc.oneof(fc.bigInt({ min: 0n, max: 300n }), fc.bigInt({ min: 0n, max }), fc.constantFrom(0n, max, ...edges))
}

const accessList = fc.array(fc.record({ address, storageKeys: fc.array(hash, { maxLength: 3 }) }), { maxLength: 3 })
const bytes = fc.oneof(fc.constant<Hex>('0x'), fc.uint8Array({ maxLength: 3 }).map(hexOf), fc.uint8Array({ maxLength: 400 }).map(hexOf))
const parity = fc.constantFrom<0 | 1>(0, 1)
const recipient = fc.option(address, { nil: undefined, freq: 4 })
const common = {
  nonce: integer(64),
  gas: integer(64),
  value: integer(256),
  data: bytes,
  yParity: parity,
  r: integer(256),
  s: integer(256),
}
const authorization = fc.record({
  chainId: integer(256),
  address,
  nonce: integer(64),
  yParity: parity,
  r: integer(256),
  s: integer(256),
})

/** Fees with a priority fee up to the fee cap: a block cannot contain others, and viem does not encode them. */
const fees = fc.tuple(integer(256), integer(256)).map(([a, b]) => ({ maxPriorityFeePerGas: a < b ? a : b, maxFeePerGas: a < b ? b : a }))

const legacy = fc.record({ ...common, to: recipient, gasPrice: integer(256), isProtected: fc.boolean() })
const withList = fc.record({ ...common, to: recipient, gasPrice: integer(256), accessList })
const withFees = fc.record({ ...common, to: recipient, accessList })
const withCode = fc.record({ ...common, to: address, accessList, authorizationList: fc.array(authorization, { maxLength: 3 }) })

/** Transaction of any type that a batch may contain. */
export const randomTransaction: fc.Arbitrary<SeenTransaction> = fc.oneof(
  legacy.map((tx) => ({ ...tx, type: 'legacy' as const })),
  withList.map((tx) => ({ ...tx, type: 'eip2930' as const })),
  fc.tuple(withFees, fees).map(([tx, fee]) => ({ ...tx, ...fee, type: 'eip1559' as const })),
  fc.tuple(withCode, fees).map(([tx, fee]) => ({ ...tx, ...fee, type: 'eip7702' as const })),
)

function scalar(value: bigint): Hex {
  if (value === 0n) return '0x'
  const digits = value.toString(16)
  return `0x${digits.padStart(digits.length + (digits.length % 2), '0')}`
}

/** EIP-2718 bytes: the fields in the order of EIP-155, 2930, 1559 and 7702. */
export function rawOf(tx: SeenTransaction, chainId: number): Hex {
  const id = scalar(BigInt(chainId))
  const [nonce, gas, value, r, s] = [tx.nonce, tx.gas, tx.value, tx.r, tx.s].map(scalar) as [Hex, Hex, Hex, Hex, Hex]
  const to = tx.to ?? '0x'
  const typed = (type: string, list: Rlp): Hex => `0x${type}${encodeRlp(list).slice(2)}`
  const signature = [scalar(BigInt(tx.yParity)), r, s]
  if (tx.type === 'legacy') {
    const v = BigInt(tx.yParity) + (tx.isProtected ? 2n * BigInt(chainId) + 35n : 27n)
    return typed('', [nonce, scalar(tx.gasPrice), gas, to, value, tx.data, scalar(v), r, s])
  }
  const list = tx.accessList.map((entry) => [entry.address, [...entry.storageKeys]])
  if (tx.type === 'eip2930') return typed('01', [id, nonce, scalar(tx.gasPrice), gas, to, value, tx.data, list, ...signature])
  const priced = [id, nonce, scalar(tx.maxPriorityFeePerGas), scalar(tx.maxFeePerGas), gas, to, value, tx.data, list]
  if (tx.type === 'eip1559') return typed('02', [...priced, ...signature])
  const authorizations = tx.authorizationList.map((one) => [
    scalar(one.chainId),
    one.address,
    scalar(one.nonce),
    ...[BigInt(one.yParity), one.r, one.s].map(scalar),
  ])
  return typed('04', [...priced, authorizations, ...signature])
}

const blockParts = fc.record({
  hash,
  originHash: hash,
  advances: fc.boolean(),
  transactions: fc.oneof(
    { weight: 1, arbitrary: fc.constant<SeenTransaction[]>([]) },
    { weight: 3, arbitrary: fc.array(randomTransaction, { maxLength: 5 }) },
  ),
})

/** Consecutive blocks from any position of a chain; about half of them are the first of their epoch. */
export const randomChain: fc.Arbitrary<MadeChain> = fc
  .record({
    chainId: fc.constantFrom(10, 901, 8453, 90_001, 2 ** 31 + 5),
    genesisTime: fc.integer({ min: 1_600_000_000, max: 1_800_000_000 }),
    blockTime: fc.constantFrom(1, 2),
    firstNumber: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 200_000_000 })),
    firstOrigin: fc.oneof(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 40_000_000 })),
    parent: hash,
    parts: fc.array(blockParts, { minLength: 1, maxLength: 24 }),
  })
  .map(({ chainId, genesisTime, blockTime, firstNumber, firstOrigin, parent, parts }) => {
    let origin = { number: firstOrigin, hash: parts[0]?.originHash ?? parent }
    let sequenceNumber = parts[0]?.advances ? 0 : 3
    const blocks = parts.map((part, at): MadeBlock => {
      if (at > 0) {
        sequenceNumber = part.advances ? 0 : sequenceNumber + 1
        if (part.advances) origin = { number: origin.number + 1, hash: part.originHash }
      }
      const number = firstNumber + at
      return {
        number,
        hash: part.hash,
        parentHash: parts[at - 1]?.hash ?? parent,
        timestamp: genesisTime + number * blockTime,
        l1Origin: origin,
        sequenceNumber,
        transactions: part.transactions.map((tx) => ({ fields: tx, raw: rawOf(tx, chainId) })),
      }
    })
    return { chainId, genesisTime, blockTime, blocks }
  })
