import { z } from 'zod'
import { parseRollupConfig } from '#chainspec/rollupConfig'
import {
  addressField,
  bloomField,
  bytes8Field,
  bytesField,
  hashField,
  parseFields,
  quantityField,
  safeField,
  withoutNulls,
} from '#engine/jsonFields'
import { parseAttributes } from '#engine/payloadJson'
import type { Evm } from '#evm/ports'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { stateFault } from '#state/faults'
import { witnessState } from '#state/witnessState'
import { type Header, hashHeader } from '#types/header'
import { type Hash, hashFromBytes, parseHash } from '#types/ids'
import { executeBlock } from './execution/executeBlock.ts'
import { createSenders } from './execution/senders.ts'
import { executionFault } from './faults.ts'
import { inputOfAttributes } from './validation/blockRules.ts'

const headerFields = z.object({
  parentHash: hashField,
  sha3Uncles: hashField,
  miner: addressField,
  stateRoot: hashField,
  transactionsRoot: hashField,
  receiptsRoot: hashField,
  logsBloom: bloomField,
  difficulty: quantityField(32),
  number: safeField,
  gasLimit: quantityField(8),
  gasUsed: quantityField(8),
  timestamp: safeField,
  extraData: bytesField,
  mixHash: hashField,
  nonce: bytes8Field,
  baseFeePerGas: quantityField(32).nullish(),
  withdrawalsRoot: hashField.nullish(),
  blobGasUsed: quantityField(8).nullish(),
  excessBlobGas: quantityField(8).nullish(),
  parentBeaconBlockRoot: hashField.nullish(),
  requestsHash: hashField.nullish(),
})

const fileFields = z.object({
  fixture: z.object({
    rollup_config: z.unknown(),
    parent_header: headerFields,
    executing_payload: z.unknown(),
    expected_block_hash: hashField,
  }),
  preimages: z.record(z.string().regex(/^(?:0x)?[0-9a-fA-F]{64}$/, { error: '32 hex bytes expected' }), z.string()),
})

function headerOf({ sha3Uncles, miner, ...fields }: z.output<typeof headerFields>): Header {
  const { baseFeePerGas, withdrawalsRoot, blobGasUsed, excessBlobGas, parentBeaconBlockRoot, requestsHash, ...common } = fields
  const optional = withoutNulls({ baseFeePerGas, withdrawalsRoot, blobGasUsed, excessBlobGas, parentBeaconBlockRoot, requestsHash })
  return { ...common, ommersHash: sha3Uncles, beneficiary: miner, ...optional }
}

const prefixed = (hex: string): string => (hex.startsWith('0x') ? hex : `0x${hex}`)

/** Checks that every preimage hashes to its key. @throws Fault WITNESS_INVALID (fatal) with the hash of the first wrong preimage */
function verifiedPreimages(entries: Readonly<Record<string, string>>): Map<Hash, Uint8Array> {
  const preimages = new Map<Hash, Uint8Array>()
  for (const [key, value] of Object.entries(entries)) {
    const hash = parseHash(prefixed(key))
    const bytes = fromHex(prefixed(value))
    if (hashFromBytes(keccak256(bytes)) !== hash) throw stateFault('WITNESS_INVALID', { hash })
    preimages.set(hash, bytes)
  }
  return preimages
}

/** Result of a stateless execution. */
export type StatelessResult = {
  readonly number: number
  readonly hash: Hash
  readonly expected: Hash
  /** gas */
  readonly gasUsed: bigint
  readonly transactions: number
}

/**
 * Executes one block from a self-contained file: rollup config, parent header, payload attributes and the preimages of all state that the block
 * touches. Every preimage is hashed before it is used. The withdrawals field, which the Engine API requires, may be absent from the attributes.
 * BLOCKHASH returns the hashes of the parent and of the grandparent only: the file has no other ancestors.
 * @returns the computed and the expected block hash; the caller compares them
 * @throws Fault MALFORMED_PAYLOAD, INVALID_CONFIG, WITNESS_INVALID, WITNESS_INCOMPLETE, INVALID_BLOCK (all fatal)
 */
export function executeStateless(evm: Evm, json: unknown): StatelessResult {
  const { fixture, preimages } = parseFields(fileFields, json, 'stateless block file')
  const { config } = parseRollupConfig(fixture.rollup_config)
  const header = headerOf(fixture.parent_header)
  const hash = hashHeader(header)
  const ancestors = new Map([
    [header.number, hash],
    [header.number - 1, header.parentHash],
  ])
  const state = witnessState(verifiedPreimages(preimages), header.stateRoot, (number) => ancestors.get(number))
  const deps = { evm, config, senders: createSenders({ maxBytes: 0 }) }
  const result = executeBlock(deps, { header, hash, state }, inputOfAttributes(config, parseAttributes(fixture.executing_payload)))
  if (result.kind === 'invalid') throw executionFault('INVALID_BLOCK', { number: header.number + 1, reason: result.reason })
  const { block } = result
  return {
    number: block.header.number,
    hash: block.hash,
    expected: fixture.expected_block_hash,
    gasUsed: block.header.gasUsed,
    transactions: block.transactions.length,
  }
}
