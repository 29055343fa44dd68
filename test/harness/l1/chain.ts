import type { L1Label, L1Source } from '#consensus/ports'
import type { L1Block } from '#derive/ports'
import type { L1Recording } from '#devnet/recordedL1'
import { toHex } from '#lib/hex'
import { versionedHashOfBlob } from '#lib/kzg/kzg'
import { orderedRoot } from '#trie/orderedRoot'
import { type Header, hashHeader } from '#types/header'
import { emptyRoot, type Hash, hashFromBytes, zeroHash } from '#types/ids'
import { bloomOf, type Log } from '#types/log'
import { createReceipt, encodeReceipt, type Receipt } from '#types/receipt'
import { headerOf } from '../chain/headers.ts'
import { recordedBlockOf } from './json.ts'

/** Content of a block. Missing receipts default to successes with the given logs. */
export type Mined = {
  readonly transactions?: readonly Uint8Array[]
  /** Logs of each transaction. */
  readonly logs?: readonly (readonly Log[])[]
  readonly receipts?: readonly Receipt[]
  readonly header?: Partial<Header>
}

/** L1 chain that a test extends and reorganizes. Every hash and root is valid. */
export interface L1Chain {
  readonly blocks: readonly L1Block[]
  mine(mined?: Mined): L1Block
  /** Removes the last blocks. The blocks mined in their place have other hashes. */
  drop(count: number): void
  /** Stores a blob. @returns its versioned hash, for a transaction of type 3 */
  addBlob(blob: Uint8Array): Hash
  /** The chain as a recording for a server to replay. */
  recording(): L1Recording
  /** The chain as a source in this process. */
  source(): L1Source
}

export type L1ChainOptions = { readonly chainId: number; readonly genesisTimeSec: number; readonly blockTimeSec: number }

/** Distance of each label from the head, in blocks. */
const lag: Readonly<Record<L1Label, number>> = { latest: 0, safe: 3, finalized: 5 }

function receiptsOf({ transactions = [], logs = [] }: Mined): Receipt[] {
  return transactions.map((raw, i) => {
    const type = (raw[0] ?? 0) >= 0xc0 ? 0 : (raw[0] ?? 0)
    return createReceipt({ type, succeeded: true, cumulativeGasUsed: BigInt(i + 1) * 21_000n, logs: logs[i] ?? [] })
  })
}

export function createL1Chain({ chainId, genesisTimeSec, blockTimeSec }: L1ChainOptions): L1Chain {
  const blocks: L1Block[] = []
  const blobs = new Map<Hash, Uint8Array>()
  let branch = 0

  function mine(mined: Mined = {}): L1Block {
    const { transactions = [], receipts = receiptsOf(mined) } = mined
    const parent = blocks.at(-1)
    const number = blocks.length
    const timestamp = genesisTimeSec + number * blockTimeSec
    const parentHash = parent?.ref.hash ?? zeroHash
    const header = headerOf({
      parentHash,
      number,
      timestamp,
      transactionsRoot: orderedRoot(transactions),
      receiptsRoot: orderedRoot(receipts.map(encodeReceipt)),
      logsBloom: bloomOf(receipts.flatMap(({ logs }) => logs)),
      extraData: Uint8Array.of(branch >> 8, branch & 0xff),
      withdrawalsRoot: emptyRoot,
      blobGasUsed: 0n,
      excessBlobGas: 0n,
      parentBeaconBlockRoot: parentHash,
      ...mined.header,
    })
    const block: L1Block = {
      ref: { hash: hashHeader(header), number, parentHash, timestamp: header.timestamp },
      header,
      transactions,
      receipts,
    }
    blocks.push(block)
    return block
  }

  function labelled(label: L1Label): L1Block | undefined {
    return blocks[Math.max(0, blocks.length - 1 - lag[label])]
  }

  mine()
  return {
    blocks,
    mine,
    drop(count) {
      blocks.splice(Math.max(1, blocks.length - count))
      branch++
    },
    addBlob(blob) {
      const hash = versionedHashOfBlob(blob)
      if (!hash) throw new RangeError('addBlob: data is not a blob')
      blobs.set(hashFromBytes(hash), blob)
      return hashFromBytes(hash)
    },
    recording: () => ({
      chainId,
      genesisTime: genesisTimeSec,
      secondsPerSlot: blockTimeSec,
      blocks: blocks.map(recordedBlockOf),
      blobs: Object.fromEntries([...blobs].map(([hash, blob]) => [hash, { commitment: '0x', proof: '0x', data: toHex(blob) }])),
    }),
    source: () => ({
      head: async (label) => labelled(label)?.ref,
      ref: async (number) => blocks[number]?.ref,
      block: async (at) => (typeof at === 'number' ? blocks[at] : blocks.find(({ ref }) => ref.hash === at)),
      blobs: async (_block, hashes) => {
        const found = hashes.flatMap((hash) => blobs.get(hash) ?? [])
        return found.length === hashes.length ? found : 'missing'
      },
    }),
  }
}
