import { z } from 'zod'
import { toHex, toQuantity } from '#lib/hex'
import { count, parseConfig } from './configJson.ts'
import type { Genesis } from './genesis.ts'
import { type ParsedGenesis, parseGethGenesis } from './genesisJson.ts'
import { networkOf } from './networks.ts'

const noteSchema = z.object({ config: z.unknown(), genesisTimestamp: count, extraAlloc: z.unknown() })

/** Returns whether a JSON document describes a genesis by its differences from Base mainnet's. */
export function isBaseGenesisNote(json: unknown): boolean {
  return typeof json === 'object' && json !== null && 'genesisTimestamp' in json && 'extraAlloc' in json
}

/**
 * Parses a genesis that equals Base mainnet's, predeploys included, except for its time, config and additional accounts:
 * `{config, genesisTimestamp (seconds), extraAlloc}`, with config and accounts as in geth's genesis.json. Other keys are ignored.
 * @throws Fault INVALID_CONFIG (fatal)
 */
export function parseBaseGenesisNote(json: unknown): ParsedGenesis {
  const { config, genesisTimestamp, extraAlloc } = parseConfig(noteSchema, json, 'genesis').value
  const base = networkOf('base').genesis()
  const { header } = base
  const { genesis, warnings } = parseGethGenesis({
    config,
    alloc: extraAlloc,
    timestamp: toQuantity(genesisTimestamp),
    gasLimit: toQuantity(header.gasLimit),
    difficulty: toQuantity(header.difficulty),
    mixHash: header.mixHash,
    coinbase: header.beneficiary,
    extraData: toHex(header.extraData),
    baseFeePerGas: toQuantity(header.baseFeePerGas),
    nonce: '0x0',
  })
  const merged: Genesis = { ...genesis, accounts: [...base.accounts, ...genesis.accounts] }
  return { genesis: merged, warnings }
}
