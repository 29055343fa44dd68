import type { L1Block } from '#derive/ports'
import { bytesFromBigint, concatBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256Of } from '#lib/keccak'
import { addressOfKey, signDigest } from '#lib/secp256k1'
import { type Header, hashHeader } from '#types/header'
import { type Address, addressFromBytes, type Hash, hashFromBytes, parseHash, zeroHash } from '#types/ids'
import type { Log } from '#types/log'
import { createReceipt, encodeReceipt, type Receipt } from '#types/receipt'
import { encodeTransaction, type SignedTransaction, signingDigest } from '#types/transaction'
import { headerOf } from '../chain/headers.ts'

const word = (value: bigint | number | Uint8Array): Uint8Array => {
  const out = new Uint8Array(32)
  if (value instanceof Uint8Array) out.set(value, 32 - value.length)
  else out.set(bytesFromBigint(BigInt(value), 32))
  return out
}
const topic = (value: bigint | number | Uint8Array): Hash => hashFromBytes(word(value))

/** Returns a private key for a name such as 'batcher' or 'other'; distinct for each name. */
export const keyOf = (name: string): Uint8Array => {
  const key = new Uint8Array(32).fill(1)
  key.set(new TextEncoder().encode(name).subarray(0, 31))
  return key
}
export const addressOf = (name: string): Address => addressFromBytes(addressOfKey(keyOf(name)))

export function sign(tx: Omit<SignedTransaction, 'yParity' | 'r' | 's'>, key: Uint8Array): Uint8Array {
  const unsigned = { ...tx, yParity: 0, r: 0n, s: 0n } as SignedTransaction
  const { signature, yParity } = signDigest(signingDigest(unsigned), key)
  const half = (from: number): bigint => BigInt(`0x${Buffer.from(signature.subarray(from, from + 32)).toString('hex')}`)
  return encodeTransaction({ ...unsigned, yParity, r: half(0), s: half(32) })
}

type Sent = {
  readonly to: Address
  readonly from?: string
  readonly data?: Uint8Array
  readonly blobs?: readonly Hash[]
  readonly type?: 0 | 1 | 2
}

/** Returns a signed L1 transaction: type 3 with blobs, else the given type, by default 2. */
export function l1Transaction({ to, from = 'batcher', data = new Uint8Array(0), blobs, type = 2 }: Sent): Uint8Array {
  const base = { nonce: 0n, gasLimit: 1_000_000n, to, value: 0n, data, chainId: 900n }
  const fees = { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n, accessList: [] }
  if (blobs) return sign({ ...base, ...fees, type: 3, maxFeePerBlobGas: 1n, blobVersionedHashes: blobs } as never, keyOf(from))
  if (type === 2) return sign({ ...base, ...fees, type } as never, keyOf(from))
  return sign({ ...base, type, gasPrice: 1n, accessList: [] } as never, keyOf(from))
}

export type MinedBlock = {
  readonly transactions?: readonly Uint8Array[]
  readonly receipts?: readonly Receipt[]
  readonly header?: Partial<Header>
}

/** Returns a child of a block. Its roots cover the content but are no trie roots: derivation does not verify L1 blocks. */
export function mineL1(parent: L1Block | undefined, timestamp: number, { transactions = [], receipts = [], header }: MinedBlock): L1Block {
  const full = headerOf({
    parentHash: parent?.ref.hash ?? zeroHash,
    transactionsRoot: hashFromBytes(keccak256Of(...transactions)),
    receiptsRoot: hashFromBytes(keccak256Of(...receipts.map(encodeReceipt))),
    number: (parent?.ref.number ?? -1) + 1,
    timestamp,
    baseFeePerGas: 7n,
    ...header,
  })
  const hash = hashHeader(full)
  return { ref: { hash, number: full.number, parentHash: full.parentHash, timestamp }, header: full, transactions, receipts }
}

export function receiptOf(logs: readonly Log[], succeeded = true): Receipt {
  return createReceipt({ type: 2, succeeded, cumulativeGasUsed: 21_000n, logs })
}

/** ConfigUpdate log of a kind; `data` is the content of its ABI-encoded bytes. */
export function configUpdate(contract: Address, kind: number, data: readonly (bigint | number | Uint8Array)[]): Log {
  const event = parseHash('0x1d2b0bda21d56b8bd12d4f94ebacffdfb35f5e226f84b461103bb8beab6353be')
  const content = concatBytes(...data.map(word))
  return { address: contract, topics: [event, topic(0), topic(kind)], data: concatBytes(word(32), word(content.length), content) }
}

export const batcherUpdate = (contract: Address, batcher: string): Log => configUpdate(contract, 0, [fromHex(addressOf(batcher))])

/** TransactionDeposited log: a call with the given mint and value. */
export function depositLog(portal: Address, from: string, mint: bigint): Log {
  const event = parseHash('0xb3813568d9991fc951961fcb4c784893574240a28925604d09fc577c55bb7c32')
  const opaque = concatBytes(word(mint), word(mint), bytesFromBigint(100_000n, 8), Uint8Array.of(0))
  const padded = new Uint8Array(Math.ceil(opaque.length / 32) * 32)
  padded.set(opaque)
  const sender = topic(fromHex(addressOf(from)))
  return { address: portal, topics: [event, sender, sender, topic(0)], data: concatBytes(word(32), word(opaque.length), padded) }
}
