import { parseBaseGenesisNote } from '#chainspec/baseGenesis'
import { type BlobParams, cancunBlobs, pragueBlobs } from '#chainspec/blobSchedule'
import type { Genesis, GenesisAccount } from '#chainspec/genesis'
import { ethereumBlockKeys } from '#chainspec/genesisJson'
import { bytesFromBigint } from '#lib/bytes'
import { toHex, toQuantity } from '#lib/hex'
import type { DevnetChainFiles } from './devnetChain.ts'

type JsonObject = Readonly<Record<string, unknown>>

const merged: JsonObject = { ...Object.fromEntries(ethereumBlockKeys.map((key) => [key, 0])), terminalTotalDifficulty: 0 }

/** Returns the entries whose value is defined. */
const withoutAbsent = (json: JsonObject): JsonObject => Object.fromEntries(Object.entries(json).filter(([, value]) => value !== undefined))

/** Returns the `config` of a genesis file. Clients read Ethereum's forks under their own names. */
function executionConfig(config: JsonObject): JsonObject {
  const { azul } = (config['base'] ?? {}) as JsonObject
  return withoutAbsent({
    ...merged,
    ...config,
    shanghaiTime: config['canyonTime'],
    cancunTime: config['ecotoneTime'],
    pragueTime: config['isthmusTime'],
    osakaTime: azul,
  })
}

const wordOf = (value: bigint): string => toHex(bytesFromBigint(value, 32))

function accountJson({ nonce, balance, code, storage }: GenesisAccount): JsonObject {
  return {
    balance: toQuantity(balance),
    ...(nonce !== 0n && { nonce: toQuantity(nonce) }),
    ...(code.length > 0 && { code: toHex(code) }),
    ...(storage.size > 0 && { storage: Object.fromEntries([...storage].map(([slot, value]) => [slot, wordOf(value)])) }),
  }
}

/** Formats a genesis like geth's genesis.json. */
function genesisJson({ header, accounts }: Genesis, config: JsonObject): JsonObject {
  return {
    config,
    nonce: toHex(header.nonce),
    timestamp: toQuantity(header.timestamp),
    extraData: toHex(header.extraData),
    gasLimit: toQuantity(header.gasLimit),
    difficulty: toQuantity(header.difficulty),
    mixHash: header.mixHash,
    coinbase: header.beneficiary,
    alloc: Object.fromEntries(accounts.map((account) => [account.address.slice(2), accountJson(account)])),
    number: toQuantity(header.number),
    gasUsed: toQuantity(header.gasUsed),
    parentHash: header.parentHash,
    baseFeePerGas: toQuantity(header.baseFeePerGas),
  }
}

/** Returns the system config without empty values, and without the minimum base fee on a chain that never has one. */
function systemConfigJson(systemConfig: JsonObject, hasMinBaseFee: boolean): JsonObject {
  const { minBaseFee, ...rest } = systemConfig
  const set = Object.entries(rest).filter(([, value]) => value !== null)
  return { ...Object.fromEntries(set), ...(hasMinBaseFee && { minBaseFee }) }
}

/**
 * Returns the rollup config. op-node refuses keys that it does not know: it has the channel timeout of Granite as a constant, the values of later forks
 * in later versions only. The `base` of Base's client has times only.
 */
function rollupJson(rollup: JsonObject): JsonObject {
  const {
    base = {},
    granite_channel_timeout: _,
    genesis,
    ...rest
  } = rollup as {
    readonly base?: JsonObject
    readonly genesis: { readonly system_config: JsonObject } & JsonObject
  } & JsonObject
  const { activation_admin: __, ...times } = base
  const hasMinBaseFee = rest['jovian_time'] !== undefined
  return {
    genesis: { ...genesis, system_config: systemConfigJson(genesis.system_config, hasMinBaseFee) },
    ...rest,
    ...(Object.keys(times).length > 0 && { base: times }),
  }
}

const blobJson = ({ target, max, updateFraction }: BlobParams): JsonObject => ({
  target,
  max,
  baseFeeUpdateFraction: Number(updateFraction),
})

/** Returns the chain config of the devnet's L1, which runs Prague from genesis on, in geth's format. */
const l1ChainConfig = (chainId: number): JsonObject => ({
  chainId,
  ...merged,
  shanghaiTime: 0,
  cancunTime: 0,
  pragueTime: 0,
  blobSchedule: { cancun: blobJson(cancunBlobs), prague: blobJson(pragueBlobs) },
})

/** Files of a chain for other clients. */
export type ExportedChain = Readonly<Record<'genesis' | 'rollup' | 'l1ChainConfig', JsonObject>>

/** Formats a devnet's chain as clients of geth's, op-node's and Base's families read it. Fault INVALID_CONFIG (fatal) when it is no devnet's. */
export function exportedChain({ genesis, rollup }: DevnetChainFiles, l1ChainId: number): ExportedChain {
  const { config } = genesis as { readonly config: JsonObject }
  return {
    genesis: genesisJson(parseBaseGenesisNote(genesis).genesis, executionConfig(config)),
    rollup: rollupJson(rollup as JsonObject),
    l1ChainConfig: l1ChainConfig(l1ChainId),
  }
}
