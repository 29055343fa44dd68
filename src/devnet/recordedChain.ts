import { readFileSync } from 'node:fs'
import { zstdDecompressSync } from 'node:zlib'
import { agreeWithGenesis, type Genesis } from '#chainspec/genesis'
import { parseGethGenesis } from '#chainspec/genesisJson'
import { networkOf } from '#chainspec/networks'
import { parseRollupConfig, type RollupConfig } from '#chainspec/rollupConfig'
import { fromHex, toHex, toQuantity } from '#lib/hex'
import { type Hash, parseHash } from '#types/ids'
import type { L1Recording } from './recordedL1.ts'

export type RecordedL2Block = {
  readonly hash: Hash
  /** RLP */
  readonly raw: Uint8Array
  /** EIP-2718 bytes, including deposit fields */
  readonly receipts: readonly Uint8Array[]
}

/** Recorded chains of the package, and the clients that made them. */
export const recordedChains = {
  'op-bedrock-to-holocene': { clients: 'op-node + op-geth' },
  'op-ecotone-to-jovian': { clients: 'base-consensus + base-reth-node' },
} as const
export type RecordedChainName = keyof typeof recordedChains

/**
 * Small chain that other clients sequenced: its L1, and its L2 blocks. `rollupJson` and `genesisJson` are the files (op-node's and geth's format)
 * with which a node is started.
 */
export type RecordedChain = {
  readonly clients: string
  readonly l1: L1Recording
  readonly rollupJson: unknown
  readonly genesisJson: unknown
  readonly config: RollupConfig
  readonly genesis: Genesis
  /** genesis first */
  readonly blocks: readonly RecordedL2Block[]
  /** number of the safe head after each L1 block, by L1 number */
  readonly safeHeads: readonly number[]
  /** contracts deployed on L2 and L1, by name */
  readonly contracts: Readonly<Record<string, string>>
}

type L2File = {
  readonly rollup: unknown
  readonly config: unknown
  readonly genesisTimestamp: number
  readonly extraAlloc: Readonly<Record<string, unknown>>
  readonly contracts: Readonly<Record<string, string>>
  readonly blocks: readonly { readonly hash: string; readonly raw: string; readonly rawReceipts: readonly string[] }[]
  readonly safeHeads: readonly number[]
}

function readData(name: string): unknown {
  return JSON.parse(zstdDecompressSync(readFileSync(new URL(`./data/${name}`, import.meta.url))).toString())
}

/** Returns Base mainnet's genesis with another time and more accounts, as a geth genesis.json. */
function gethGenesis({ config, genesisTimestamp, extraAlloc }: L2File): unknown {
  const { header, accounts } = networkOf('base').genesis()
  const alloc: Record<string, unknown> = {}
  for (const { address, balance, nonce, code, storage } of accounts) {
    alloc[address] = {
      balance: toQuantity(balance),
      ...(nonce > 0n && { nonce: toQuantity(nonce) }),
      ...(code.length > 0 && { code: toHex(code) }),
      ...(storage.size > 0 && { storage: Object.fromEntries([...storage].map(([slot, value]) => [slot, toQuantity(value)])) }),
    }
  }
  return {
    config,
    number: '0x0',
    nonce: '0x0',
    timestamp: toQuantity(genesisTimestamp),
    gasLimit: toQuantity(header.gasLimit),
    gasUsed: toQuantity(header.gasUsed),
    difficulty: toQuantity(header.difficulty),
    mixHash: header.mixHash,
    coinbase: header.beneficiary,
    extraData: toHex(header.extraData),
    parentHash: header.parentHash,
    baseFeePerGas: toQuantity(header.baseFeePerGas),
    alloc: { ...alloc, ...extraAlloc },
  }
}

export function readRecordedChain(name: RecordedChainName = 'op-ecotone-to-jovian'): RecordedChain {
  const l2 = readData(`${name}.l2.json.zst`) as L2File
  const genesisJson = gethGenesis(l2)
  const { genesis } = parseGethGenesis(genesisJson)
  return {
    clients: recordedChains[name].clients,
    l1: readData(`${name}.l1.json.zst`) as L1Recording,
    rollupJson: l2.rollup,
    genesisJson,
    config: agreeWithGenesis(parseRollupConfig(l2.rollup), genesis),
    genesis,
    blocks: l2.blocks.map(({ hash, raw, rawReceipts }) => ({
      hash: parseHash(hash),
      raw: fromHex(raw),
      receipts: rawReceipts.map(fromHex),
    })),
    safeHeads: l2.safeHeads,
    contracts: l2.contracts,
  }
}
